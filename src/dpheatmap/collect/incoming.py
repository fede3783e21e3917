"""What is sent to a process: read into memory piece by piece, within bounds for one body and for all together.

A body is refused by its first bytes if they show no ticket, so nobody without one makes a process hold much. A ticket
holds one body at a time: whoever begins another one with it ends the first, as a device does that lost its connection.
Those that there is no room for are told to try again later.
"""

from __future__ import annotations

import sqlite3
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import contextmanager
from typing import Any, NamedTuple

from dpheatmap.collect.open_protocol import NAME
from dpheatmap.collect.receiver import Refused
from dpheatmap.errors import MissingDependency

try:
    from starlette.concurrency import run_in_threadpool
    from starlette.requests import ClientDisconnect, Request
    from starlette.responses import JSONResponse, PlainTextResponse, Response, StreamingResponse
except ImportError as error:
    raise MissingDependency("starlette", "Collecting", "collect") from error

TOGETHER = 2**28
"""Bytes of all bodies that are in memory at a time, or four of the largest if that is more."""

SLOWEST = 2**14
"""Bytes a second that a device sends at least, after `PATIENCE` seconds."""
PATIENCE = 30.0
_PIECE = 2**16


class Upload(NamedTuple):
    """What is sent to one address: by ``start`` bytes ``begin`` knows whose it is, or refuses it."""

    largest: int
    start: int
    begin: Callable[[bytes], Any]
    take: Callable[[bytes, Any], Any]


class Incoming:
    """The bodies that are on the way to one process."""

    def __init__(self, largest: int) -> None:
        self._room = max(TOGETHER, 4 * largest)
        self._held: dict[object, Any] = {}
        self._said: set[str] = set()

    async def receive(self, request: Request, upload: Upload) -> Response:
        """Read a body and answer it."""
        body = bytearray()
        try:
            return await self._read(request, upload, body)
        except Refused as refusal:
            return PlainTextResponse(str(refusal), refusal.status)
        except ClientDisconnect:
            print(f"A connection broke off after {len(body):,} bytes.", file=sys.stderr, flush=True)
            return Response(status_code=400)

    async def _read(self, request: Request, upload: Upload, body: bytearray) -> Response:
        connection = request.scope.get("extensions", {}).get(NAME, {}).get("connection")
        stream = request.stream()
        await _fill(stream, body, upload.start, upload.largest)
        whose = upload.begin(bytes(body[: upload.start]))
        if connection is not None:
            connection.allow(PATIENCE + upload.largest / SLOWEST)
        with self._hold(whose, connection, upload.largest):
            await _fill(stream, body, upload.largest + 1, upload.largest)
            return await self.answer(lambda: upload.take(bytes(body), whose))

    @contextmanager
    def _hold(self, whose: object, connection: Any, size: int) -> Any:
        """Hold room for a body, in place of another one of the same ticket."""
        before = self._held.pop(whose, None)
        if before is not None:
            before.drop()
        if self._room < size:
            raise Refused(503, "Too much is on the way to here. Try again.")
        self._room -= size
        if connection is not None:
            self._held[whose] = connection
        try:
            yield
        finally:
            self._room += size
            if self._held.get(whose) is connection:
                self._held.pop(whose, None)

    async def answer(self, make: Callable[[], Any]) -> Response:
        """The answer that a function makes in another thread."""
        try:
            found = await run_in_threadpool(make)
        except Refused as refusal:
            return PlainTextResponse(str(refusal), refusal.status)
        except sqlite3.Error as problem:  # for example a full disk
            if str(problem) not in self._said:
                self._said.add(str(problem))
                print(f"Nothing can be stored: {problem}. Check the disk.", file=sys.stderr, flush=True)
            return PlainTextResponse("Nothing can be stored here now. Try again later.", 503)
        if found is None:
            return Response()
        if not isinstance(found, bytes):
            return JSONResponse(found)
        size = {"content-length": str(len(found))}
        return StreamingResponse(_pieces(found), media_type="application/octet-stream", headers=size)


async def _fill(stream: AsyncIterator[bytes], body: bytearray, wanted: int, largest: int) -> None:
    """Read until there are as many bytes as wanted, or no more; refuse more than the largest number."""
    while len(body) < wanted:
        try:
            body += await anext(stream)
        except StopAsyncIteration:
            return
        if len(body) > largest:
            raise Refused(413, f"What is sent here has at most {largest} bytes.")


async def _pieces(found: bytes) -> AsyncIterator[bytes]:
    """An answer piece by piece: the next one when the one before has left."""
    for at in range(0, len(found), _PIECE):
        yield found[at : at + _PIECE]
