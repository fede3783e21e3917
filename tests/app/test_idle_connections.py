"""Hundreds of connections that never send a whole request don't keep the app's owner out."""

from __future__ import annotations

import asyncio
import socket
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from typing import Any

import httpx
import pytest
import uvicorn
from uvicorn.server import ServerState

from dpheatmap._util.idle_connections import MOMENT, MOST, hurried_protocol
from helpers.served import PATIENCE, Served, is_open, until

MANY = 600


def address(served: Served) -> tuple[str, int]:
    host, _, port = served.origin.removeprefix("http://").partition(":")
    return host, int(port)


@pytest.mark.parametrize(
    "sent",
    [
        "",
        "GET / HT",
        "GET /api/start HTTP/1.1\r\nHost: {host}\r\nX-Slow: ",
        "POST /api/limit HTTP/1.1\r\nHost: {host}\r\nOrigin: http://{host}\r\nContent-Length: 100\r\n\r\n",
        "POST /open?token=guess HTTP/1.1\r\nHost: {host}\r\nOrigin: http://{host}\r\nContent-Length: 100\r\n\r\n",
        "POST /again HTTP/1.1\r\nHost: {host}\r\nContent-Length: 100\r\n\r\nx",
    ],
    ids=["nothing", "half a line", "half a head", "no body", "no password", "no body for a link"],
)
def test_hundreds_of_half_requests_leave_the_owner_in(served: Served, client: httpx.Client, sent: str) -> None:
    host = served.origin.removeprefix("http://")
    with ExitStack() as stack:
        opened = [stack.enter_context(socket.create_connection(address(served), PATIENCE)) for _ in range(MANY)]
        for one in opened:
            one.sendall(sent.format(host=host).encode())
        for _ in range(5):
            begun = time.monotonic()
            assert client.get("/api/start").status_code == 200
            assert time.monotonic() - begun < 5
        open_still = until(lambda: sum(is_open(one) for one in opened), lambda count: count <= MOST)
        if sent in ("", "GET / HT"):
            assert open_still > 0, "the newest may still become requests"
            assert not is_open(opened[0]), "the oldest goes first"


def is_alive(connection: socket.socket) -> bool:
    """Whether the server has not broken off a connection, of which nothing is read."""
    connection.setblocking(False)
    try:
        connection.send(b"x")
    except BlockingIOError:
        return True
    except ConnectionError:
        return False
    return True


def never_reading(stack: ExitStack, where: tuple[str, int], requests: bytes) -> socket.socket:
    """A connection with little room for answers, on which as many requests were sent as it takes."""
    connection = stack.enter_context(socket.socket())
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
    connection.settimeout(0.5)
    connection.connect(where)
    with suppress(TimeoutError, ConnectionError):
        connection.sendall(requests)
    return connection


@pytest.mark.parametrize("body", ["", "Content-Length: 1\r\n\r\nx"], ids=["no body", "a body"])
def test_strangers_who_never_read_are_cut_off(served: Served, client: httpx.Client, body: str) -> None:
    """Many requests in a row on one connection, as of a browser: each refusal is a page."""
    host = served.origin.removeprefix("http://")
    request = f"POST /x HTTP/1.1\r\nHost: {host}\r\nSec-Fetch-Mode: navigate\r\n{body or (chr(13) + chr(10))}"
    with ExitStack() as stack:
        opened = [never_reading(stack, address(served), request.encode() * 3000) for _ in range(3)]
        assert not any(until(lambda: [is_alive(one) for one in opened], lambda found: not any(found)))
        assert client.get("/api/start").status_code == 200


def test_a_refusal_ends_the_connection(served: Served) -> None:
    with served.client() as stranger:
        assert stranger.get("/api/start").headers["connection"] == "close"
        assert stranger.post("/api/limit").headers["connection"] == "close"
        assert "connection" not in stranger.post("/api/limit", json={}).headers, "the body is on the way"


class Uploads:
    """An app that reads the whole body of a request, however long it takes."""

    def __init__(self, answers: int = 1) -> None:
        self._answers = answers

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            return
        size = 0
        while (message := await receive())["type"] == "http.request":
            size += len(message["body"])
            if not message["more_body"]:
                break
        length = b"%d" % (4 * self._answers)
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", length)]})
        await send({"type": "http.response.body", "body": b"%04d" % size * self._answers})


@contextmanager
def hurried(seconds: float, most: int = MOST, answers: int = 1) -> Iterator[tuple[str, int]]:
    """A server of its own with other limits, in a thread."""
    listening = socket.create_server(("127.0.0.1", 0))
    protocol = hurried_protocol(seconds, most)
    config = uvicorn.Config(Uploads(answers), http=protocol, ws="none", lifespan="off", log_level="critical")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=lambda: asyncio.run(server.serve(sockets=[listening])))
    thread.start()
    try:
        yield listening.getsockname()
    finally:
        server.should_exit = True
        thread.join(PATIENCE)
        listening.close()
    assert protocol.idle == {}


def test_a_head_that_drips_is_cut_off_in_time() -> None:
    """Each byte that comes does not buy more time."""
    with hurried(0.5) as where, socket.create_connection(where, PATIENCE) as slow:
        begun, sent = time.monotonic(), 0
        while is_open(slow):
            with suppress(ConnectionError):
                slow.sendall(b"G")
            sent += 1
            time.sleep(0.05)
        assert time.monotonic() - begun >= 0.4
        assert 1 < sent < 100


def test_a_whole_request_may_take_its_time() -> None:
    """An upload that is slower than a head may be, and a second request on the same connection."""
    with hurried(0.3) as where, socket.create_connection(where, PATIENCE) as slow:
        slow.sendall(b"PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 20\r\n\r\n")
        for _ in range(20):
            slow.sendall(b"x")
            time.sleep(0.05)
        assert b"0020" in answer_of(slow)
        slow.sendall(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        assert b"0000" in answer_of(slow)
        assert slow.recv(10) == b"", "idle again, and ended"


def answer_of(connection: socket.socket) -> bytes:
    found = b""
    while b"\r\n\r\n" not in found or len(found.partition(b"\r\n\r\n")[2]) < 4:
        found += connection.recv(1000)
    return found


def test_answers_are_not_held_back() -> None:
    """The fastest of many answers in a row: a body that waits for a receipt of its head takes 40 ms each time."""
    with hurried(PATIENCE) as where, socket.create_connection(where, PATIENCE) as connection:
        taken = []
        for _ in range(50):
            begun = time.monotonic()
            connection.sendall(REQUEST)
            answer_of(connection)
            taken.append(time.monotonic() - begun)
    assert min(taken[10:]) < 0.02


def test_of_too_many_idle_ones_the_oldest_goes() -> None:
    with hurried(PATIENCE, most=3) as where, ExitStack() as stack:
        opened = []
        for _ in range(5):
            opened.append(stack.enter_context(socket.create_connection(where, PATIENCE)))
            opened[-1].sendall(b"GET")
            time.sleep(0.05)
        until(lambda: [is_open(one) for one in opened], lambda found: found == [False, False, True, True, True])
        opened[2].setblocking(True)
        opened[2].sendall(b" / HTTP/1.1\r\nHost: a\r\n\r\n")
        assert b"0000" in answer_of(opened[2])


REQUEST = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"
LARGE = 10_000_000  # bytes of an answer: more than the system keeps for a connection


@pytest.mark.parametrize("requests", [1, 100], ids=["one request", "a row of requests"])
def test_an_answer_that_nobody_reads_is_not_kept(requests: int) -> None:
    with hurried(0.5, answers=LARGE // 4) as where, ExitStack() as stack:
        deaf = never_reading(stack, where, REQUEST * requests)
        assert not until(lambda: is_alive(deaf), lambda alive: not alive)


def test_of_too_many_that_read_nothing_the_oldest_goes() -> None:
    with hurried(PATIENCE, most=2, answers=LARGE // 4) as where, ExitStack() as stack:
        deaf = []
        for _ in range(3):
            deaf.append(never_reading(stack, where, REQUEST))
            time.sleep(0.05)
        gone = [False, True, True]
        assert until(lambda: [is_alive(one) for one in deaf], lambda found: found == gone) == gone


def test_a_request_that_a_busy_server_has_not_read_is_answered() -> None:
    """All of a connection's first moment may pass before the server looks at what was sent."""
    seen: list[str] = []

    class Transport(asyncio.Transport):
        def __init__(self, name: str) -> None:
            super().__init__()
            self._name = name

        def get_write_buffer_size(self) -> int:
            return 0

        def write(self, data: Any) -> None:
            if data.endswith(b"0000"):
                seen.append(f"{self._name} is answered")

        def abort(self) -> None:
            seen.append(f"{self._name} is closed")

        def is_closing(self) -> bool:
            return False

    async def be_busy(far: socket.socket) -> None:
        loop = asyncio.get_running_loop()
        config = uvicorn.Config(Uploads(), log_level="critical")
        kind = hurried_protocol(PATIENCE, most=0)
        silent, owner = (kind(config, ServerState(), {}) for _ in range(2))

        def accept() -> None:
            owner.connection_made(Transport("the owner"))
            loop.add_reader(far, read)
            time.sleep(MOMENT)

        def read() -> None:
            loop.remove_reader(far)
            owner.data_received(far.recv(1000))

        # Both are due when the server goes on: the connection that arrived, and the look at those that are idle.
        loop.call_later(MOMENT / 2, accept)
        silent.connection_made(Transport("the silent one"))
        time.sleep(2 * MOMENT)
        while "the owner is closed" not in seen:
            await asyncio.sleep(0.01)
        for one in (silent, owner):
            one.connection_lost(ConnectionAbortedError())
        assert kind.idle == {}

    near, far = socket.socketpair()
    with near, far, ThreadPoolExecutor(1) as pool:
        near.sendall(REQUEST)
        pool.submit(asyncio.run, asyncio.wait_for(be_busy(far), PATIENCE)).result()
    assert seen == ["the silent one is closed", "the owner is answered", "the owner is closed"]


def test_whoever_reads_slowly_gets_the_whole_answer() -> None:
    """A connection is kept as long as something of an answer leaves between two looks."""
    sizes = [900, 500, 500, 100, 100, 100]  # bytes that wait, as the transport tells when it is asked
    seen: list[str] = []

    class Transport(asyncio.Transport):
        def get_write_buffer_size(self) -> int:
            return sizes.pop(0)

        def abort(self) -> None:
            seen.append(f"{len(sizes)} sizes are left")
            ended.set()

        def is_closing(self) -> bool:
            return False

    async def read_slowly() -> None:
        config = uvicorn.Config(Uploads(), log_level="critical")
        protocol = hurried_protocol(0.01)(config, ServerState(), {})
        protocol.connection_made(Transport())
        protocol.pause_writing()
        await asyncio.wait_for(ended.wait(), PATIENCE)
        protocol.connection_lost(ConnectionAbortedError())
        assert protocol.idle == {}

    ended = asyncio.Event()
    with ThreadPoolExecutor(1) as pool:
        pool.submit(asyncio.run, read_slowly()).result()
    assert seen == ["0 sizes are left"]
