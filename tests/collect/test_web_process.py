"""What the roles and those who ask them take from strangers: no more than there is use for."""

from __future__ import annotations

import asyncio
import socket
import ssl
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from starlette.types import Message

from dpheatmap.collect import network
from dpheatmap.collect.certificates import make_certificates
from dpheatmap.collect.collection import Party
from dpheatmap.collect.keys import PrivateKey, as_text
from dpheatmap.collect.network import Network
from dpheatmap.collect.receiver import Receiver
from dpheatmap.collect.tickets import SIZE
from dpheatmap.collect.web_process import application
from helpers.collecting import Cast, client_of, terms_of


class Endless(BaseHTTPRequestHandler):
    """A party whose answers go on for ever, or whose few bytes would become many."""

    def do_GET(self) -> None:
        self.send_response(200)
        if self.path == "/packed":
            self.send_header("content-encoding", "gzip")
            self.send_header("content-length", "3")
            self.end_headers()
            self.wfile.write(b"abc")
            return
        self.end_headers()
        try:
            while True:
                self.wfile.write(bytes(2**16))
        except OSError:
            pass

    def log_message(self, *words: Any) -> None:
        """Nothing."""


@pytest.fixture
def endless() -> Iterator[Party]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Endless)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield Party(f"http://127.0.0.1:{server.server_port}", PrivateKey.make().public)
    server.shutdown()
    server.server_close()


def test_an_answer_without_end_is_none(endless: Party, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(network, "LARGEST", 2**20)
    assert Network(patience=0).fetch(endless, "/sum") is None
    monkeypatch.setattr(network, "LARGEST", 2**62)
    monkeypatch.setattr(network, "LONGEST", 0.0)
    assert Network(patience=0).fetch(endless, "/sum") is None


DRIPS = {
    "a head": (b"HTTP/1.1 200 OK\r\nA: ", b"x"),
    "words before the head": (b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
    "words between pieces": (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;", b"x"),
    "a body": (b"HTTP/1.1 200 OK\r\n\r\n", b"x"),
}


@pytest.mark.parametrize("secure", [False, True])
@pytest.mark.parametrize("name", DRIPS)
def test_an_answer_that_drips_is_cut_off(
    name: str, secure: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(network, "LONGEST", 0.5)
    made, (first, drip), gone = make_certificates(tmp_path), DRIPS[name], threading.Event()
    listening = socket.create_server(("127.0.0.1", 0))

    def answer() -> None:
        connection, _ = listening.accept()
        if secure:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(made.certificate, made.key)
            connection = context.wrap_socket(connection, server_side=True)
        with connection, suppress(OSError):
            connection.recv(2**16)
            connection.sendall(first)
            for _ in range(200):
                connection.sendall(drip)
                gone.wait(0.05)

    thread = threading.Thread(target=answer)
    thread.start()
    began = time.monotonic()
    address = f"http{'s' if secure else ''}://127.0.0.1:{listening.getsockname()[1]}"
    assert Network(made.authority, patience=0).fetch(Party(address, PrivateKey.make().public), "/sum") is None
    assert time.monotonic() - began < 5
    gone.set()
    thread.join()
    listening.close()


def test_a_request_may_take_longer_than_its_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(network, "LONGEST", 0.5)
    listening = socket.create_server(("127.0.0.1", 0))
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2**16)
    size = 2**24

    def answer() -> None:
        connection, _ = listening.accept()
        with connection:
            time.sleep(1)
            left = size
            while left > 0:
                left -= len(connection.recv(2**20))
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ndone")

    thread = threading.Thread(target=answer)
    thread.start()
    party = Party(f"http://127.0.0.1:{listening.getsockname()[1]}", PrivateKey.make().public)
    assert Network(patience=0).ask(party, "/contributions", bytes(size)) == b"done"
    thread.join()
    listening.close()


def test_nothing_is_unpacked(endless: Party) -> None:
    """Asked for plain bytes, a party that sends packed ones gets them taken as they are."""
    assert Network(patience=0).fetch(endless, "/packed") == b"abc"


def posted(
    role: Receiver, pieces: list[bytes], path: str = "/contributions", method: str = "POST"
) -> tuple[int, bytes, int]:
    """What a role answers to a contribution that arrives in pieces: status, text, and how many pieces it took."""
    waiting = list(pieces)
    answer: list[Message] = []

    async def receive() -> Message:
        return {"type": "http.request", "body": waiting.pop(0), "more_body": bool(waiting)}

    async def send(message: Message) -> None:
        answer.append(message)

    scope = {"type": "http", "method": method, "path": path, "headers": [], "query_string": b""}
    app = application(role, lambda role: None)
    with ThreadPoolExecutor(1) as thread:  # a browser test before may have left a loop running in this one
        thread.submit(lambda: asyncio.run(app(scope, receive, send))).result()
    return answer[0]["status"], answer[1]["body"], len(pieces) - len(waiting)


def test_who_has_no_ticket_is_refused_before_the_rest_is_read(tmp_path: Path) -> None:
    stage = Cast(tmp_path, terms_of("servers"))
    role = stage.role(0)
    refusal = b"The operator has not signed this ticket. Ask for another one."
    assert posted(role, [bytes(SIZE - 1), bytes(1), bytes(100), bytes(100)]) == (403, refusal, 2)
    good = stage.client(0).contribution([0.1], [0.1])[0]
    assert posted(role, [good[:10], good[10:90], good[90:]])[0] == 200
    assert role.state.count_contributions() == 1
    assert posted(role, [good, b"x", b"y"])[::2] == (413, 2)


@pytest.mark.parametrize("number", ["9" * 5000, "9" * 19, "-1", "1e3", "\u0663", "\u00b2", "", "1/2"])
def test_a_question_of_any_number_is_answered_without_a_fault(number: str, tmp_path: Path) -> None:
    role = Cast(tmp_path, terms_of("servers")).role(0)
    assert posted(role, [b""], f"/answers/{number}/00", "GET")[0] == 404


def test_nobody_is_sent_elsewhere(tmp_path: Path) -> None:
    assert posted(Cast(tmp_path, terms_of("servers")).role(0), [b""], "/status/", "GET")[0] == 404


def test_a_ticket_whose_number_can_not_be_stored_is_refused_alone(tmp_path: Path) -> None:
    stage = Cast(tmp_path, terms_of("servers"))
    purpose = stage.collection.purpose("ticket")
    for serial, status in ((2**64 - 1, 403), (2**63, 403), (2**63 - 1, 200)):
        ticket = as_text(stage.operator.sign(serial.to_bytes(8, "little"), purpose))
        body = client_of(stage.collection, ticket).contribution([0.1], [0.1])[0]
        assert posted(stage.role(0), [body])[0] == status
