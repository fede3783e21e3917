"""Open to the internet: what strangers hold open, send slowly or break off keeps no honest device out."""

from __future__ import annotations

import asyncio
import socket
import ssl
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import uvicorn
from starlette.types import ASGIApp

from dpheatmap.collect import incoming
from dpheatmap.collect.certificates import make_certificates
from dpheatmap.collect.demo import Stage
from dpheatmap.collect.network import Network
from dpheatmap.collect.open_protocol import IN_ALL, PER_ADDRESS, open_protocol
from dpheatmap.collect.web_process import application, serve
from helpers.collecting import CORNER, Cast, cast, local_terms
from helpers.served import PATIENCE, is_open, until

IDLE, SLOW = 510, 400


def connected(stack: ExitStack, where: tuple[str, int], source: str = "127.0.0.1") -> socket.socket:
    return stack.enter_context(socket.create_connection(where, PATIENCE, source_address=(source, 0)))


@contextmanager
def served(app: ASGIApp, context: ssl.SSLContext | None = None, **limits: float) -> Iterator[tuple[str, int]]:
    """An app behind the protocol, with limits of its own, in a thread."""
    listening = socket.create_server(("127.0.0.1", 0), backlog=256)
    protocol = open_protocol(context, **limits)  # type: ignore[arg-type]
    server = uvicorn.Server(uvicorn.Config(app, http=protocol, ws="none", lifespan="off", log_level="critical"))
    thread = threading.Thread(target=lambda: asyncio.run(server.serve(sockets=[listening])))
    thread.start()
    try:
        yield listening.getsockname()
    finally:
        server.should_exit = True
        thread.join(PATIENCE)
        listening.close()
    assert (protocol.idle, protocol.everybody) == ({}, {}), "nothing is kept of those that are gone"


def head(body: bytes, path: str = "/contributions", size: int | None = None) -> bytes:
    length = len(body) if size is None else size
    return f"POST {path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n".encode()


def answer_of(connection: socket.socket) -> bytes:
    connection.settimeout(PATIENCE)
    found = b""
    while piece := connection.recv(2**16):
        found += piece
    return found


def role_app(stage: Cast) -> ASGIApp:
    return application(stage.role(0), lambda role: None)


def test_floods_of_idle_connections_and_slow_bodies_keep_nobody_out(tmp_path: Path) -> None:
    """Idle before TLS, and bodies that never end, of many addresses: the first try of a device succeeds."""
    with Stage(tmp_path, local_terms(n_max=20), tickets=20) as stage, ExitStack() as stack:
        url = urlsplit(stage.collection.parties[0].address)
        where = ("127.0.0.1", url.port or 0)
        trusting = ssl.create_default_context(cafile=tmp_path / "authority.pem")
        sources = [f"127.0.1.{number}" for number in range(1, 17)]
        opened = [connected(stack, where, sources[number % 16]) for number in range(IDLE)]
        once = Network(tmp_path / "authority.pem", patience=0.0)
        for number in range(3):
            device = stage.device(number)
            device.send(device.contribution(*CORNER), once)
        slow: list[socket.socket] = []
        for number in range(SLOW):
            with suppress(OSError):
                raw = connected(stack, where, sources[number % 16])
                slow.append(stack.enter_context(trusting.wrap_socket(raw, server_hostname="127.0.0.1")))
                slow[-1].sendall(head(b"", size=145) + bytes(number % 72))
            if number % 100 == 99:
                device = stage.device(3 + number // 100)
                device.send(device.contribution(*CORNER), once)
        assert len(slow) > SLOW // 2
        device = stage.device(10)
        device.send(device.contribution(*CORNER), once)
        assert sum(map(is_open, opened + slow)) < 600
        stage.close()
        assert stage.result().trust.participants == 8
        assert "Traceback" not in (stage.folder_of(0) / "log").read_text()


@pytest.mark.parametrize("secure", [False, True], ids=["plain", "tls"])
@pytest.mark.parametrize("drip", [b"", b"POST /con", head(b"", size=145)], ids=["nothing", "a head", "a body"])
def test_what_drips_is_cut_off_in_time(secure: bool, drip: bytes, tmp_path: Path) -> None:
    """Each byte that comes does not buy more time, before a ticket was shown."""
    made = make_certificates(tmp_path)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(made.certificate, made.key)
    trusting = ssl.create_default_context(cafile=made.authority)
    app = role_app(cast(tmp_path, "local"))
    with served(app, context if secure else None, seconds=0.5) as where, ExitStack() as stack:
        slow = connected(stack, where)
        if secure and drip:
            slow = stack.enter_context(trusting.wrap_socket(slow, server_hostname="127.0.0.1"))
        begun = time.monotonic()
        slow.sendall(drip)
        while is_open(slow):
            slow.setblocking(True)
            with suppress(OSError):
                slow.sendall(b"x" if drip else b"")
            time.sleep(0.05)
            assert time.monotonic() - begun < PATIENCE / 2
        assert time.monotonic() - begun >= 0.3


def test_who_has_shown_a_ticket_has_time_for_the_body(tmp_path: Path) -> None:
    stage = cast(tmp_path, "local")
    body = stage.client(0).contribution(*CORNER)[0]
    with served(role_app(stage), seconds=0.3, most=1) as where, ExitStack() as stack:
        slow = connected(stack, where)
        slow.sendall(head(body) + body[:-5])
        others = [connected(stack, where) for _ in range(5)]
        time.sleep(1)
        assert is_open(slow)
        until(lambda: any(map(is_open, others)), lambda found: not found)
        slow.setblocking(True)
        slow.sendall(body[-5:])
        assert b"200 OK" in answer_of(slow)
    assert stage.role(0).state.count_contributions() == 1


def test_even_with_a_ticket_there_is_an_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(incoming, "PATIENCE", 0.3)
    stage = cast(tmp_path, "local")
    body = stage.client(0).contribution(*CORNER)[0]
    with served(role_app(stage)) as where, ExitStack() as stack:
        slow = connected(stack, where)
        slow.sendall(head(body) + body[:-5])
        until(lambda: is_open(slow), lambda found: not found)
    assert stage.role(0).state.count_contributions() == 0


def test_of_one_address_the_oldest_goes(tmp_path: Path) -> None:
    stage = cast(tmp_path, "local")
    body = stage.client(0).contribution(*CORNER)[0]
    with served(role_app(stage), per_address=3) as where, ExitStack() as stack:
        other = connected(stack, where, "127.0.0.9")
        ticketed = connected(stack, where)
        ticketed.sendall(head(body) + body[:-5])
        time.sleep(0.3)
        mine = [connected(stack, where) for _ in range(5)]
        until(lambda: [is_open(one) for one in mine], lambda found: found == [False, False, False, True, True])
        assert is_open(other), "another address has room of its own"
        assert is_open(ticketed), "who has shown a ticket stays"


@pytest.mark.parametrize(("address", "most"), [("https://127.0.0.1:1", IN_ALL), ("http://127.0.0.1:1", PER_ADDRESS)])
def test_who_stands_in_front_is_not_limited(
    address: str, most: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All connections come from what speaks https for a process without a certificate."""
    role = cast(tmp_path, "local").role(0)
    role.collection = replace(role.collection, parties=(role.collection.parties[0]._replace(address=address),))
    made: list[uvicorn.Config] = []
    monkeypatch.setattr(uvicorn.Server, "run", lambda server, sockets: made.append(server.config))
    serve(
        role, host="127.0.0.1", port=0, certificate=None, key=None, listening=lambda: None, finished=lambda role: None
    )
    assert made[0].http.per_address == most  # type: ignore[union-attr]


def test_a_ticket_holds_one_body_the_newest(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """A device whose connection hangs begins again; and somebody with one ticket can't fill the memory."""
    stage = cast(tmp_path, "local")
    body = stage.client(0).contribution(*CORNER)[0]
    with served(role_app(stage)) as where, ExitStack() as stack:
        hanging = [connected(stack, where) for _ in range(5)]
        for one in hanging:
            one.sendall(head(body) + body[:-5])
            time.sleep(0.1)
        until(lambda: [is_open(one) for one in hanging], lambda found: found == [False] * 4 + [True])
        last = connected(stack, where)
        last.sendall(head(body) + body)
        assert b"200 OK" in answer_of(last)
    assert stage.role(0).state.count_contributions() == 1
    assert "Traceback" not in capfd.readouterr().err


def test_bodies_have_bounded_room_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(incoming, "TOGETHER", 1)
    stage = cast(tmp_path, "shuffle")
    bodies = [stage.client(number).contribution(*CORNER)[0] for number in range(5)]
    with served(role_app(stage)) as where, ExitStack() as stack:
        held = [connected(stack, where) for _ in range(4)]
        for one, body in zip(held, bodies, strict=False):
            one.sendall(head(body) + body[:100])
        time.sleep(0.3)
        more = connected(stack, where)
        more.sendall(head(bodies[4]) + bodies[4])
        assert b"503 Service Unavailable" in answer_of(more)
        held[0].sendall(bodies[0][100:])
        assert b"200 OK" in answer_of(held[0])
        again = connected(stack, where)
        again.sendall(head(bodies[4]) + bodies[4])
        assert b"200 OK" in answer_of(again)


def test_a_connection_that_breaks_off_is_one_line(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    stage = cast(tmp_path, "local")
    body = stage.client(0).contribution(*CORNER)[0]
    capfd.readouterr()
    with served(role_app(stage)) as where:
        for size in (0, 10, 100):
            with socket.create_connection(where, PATIENCE) as one:
                one.sendall(head(body) + body[:size])
                time.sleep(0.2)
        time.sleep(0.2)
    lines = capfd.readouterr().err.splitlines()
    assert lines == [f"A connection broke off after {size} bytes." for size in (0, 10, 100)]
    assert "127.0.0.1" not in "".join(lines), "nor does it tell whose"


def test_a_full_disk_is_told_once_and_devices_may_try_again(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    stage = cast(tmp_path, "local")
    bodies = [stage.client(number).contribution(*CORNER)[0] for number in range(2)]
    with served(role_app(stage)) as where, ExitStack() as stack:
        for full, status in (("ON", b"503"), ("OFF", b"200")):
            stage.role(0).state.rows(f"PRAGMA query_only = {full}")
            for body in bodies:
                asking = connected(stack, where)
                asking.sendall(head(body) + body)
                assert answer_of(asking).startswith(b"HTTP/1.1 " + status)
    assert stage.role(0).state.count_contributions() == 2
    assert capfd.readouterr().err.count("Nothing can be stored") == 1


def test_a_large_answer_is_sent_as_it_is_read(tmp_path: Path) -> None:
    """Of an answer that nobody reads, little is held for each who asks."""
    stage = cast(tmp_path, "local")
    large = bytes(range(256)) * 2**14
    stage.role(0).outcome = lambda: large
    with served(role_app(stage)) as where, ExitStack() as stack:
        asking = connected(stack, where)
        asking.sendall(b"GET /sum HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        head_, _, content = answer_of(asking).partition(b"\r\n\r\n")
        assert content == large
        assert f"content-length: {len(large)}".encode() in head_
