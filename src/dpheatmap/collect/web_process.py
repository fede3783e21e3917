"""The processes of the roles: a small web application each, and a thread that takes the next step when it can."""

from __future__ import annotations

import socket
import sqlite3
import ssl
import sys
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any

from dpheatmap.collect.analyser import Analyser
from dpheatmap.collect.collection import Collection
from dpheatmap.collect.collector import Collector
from dpheatmap.collect.network import UnreachableError
from dpheatmap.collect.receiver import Receiver, Refused, Role
from dpheatmap.collect.server import Server
from dpheatmap.collect.shuffler import BATCH, Shuffler
from dpheatmap.collect.tickets import SIZE
from dpheatmap.errors import DataError, DpheatmapError, MissingDependency

try:
    import uvicorn
    from starlette.applications import Starlette
    from starlette.concurrency import run_in_threadpool
    from starlette.requests import Request
    from starlette.responses import JSONResponse, PlainTextResponse, Response
    from starlette.routing import Route
except ImportError as error:
    raise MissingDependency("starlette", "Collecting", "collect") from error

PAUSE = 0.25
_SIGNED_CLOSE = 2**10
MOST_CONNECTIONS = 500
"""The most connections; further devices are told to try again."""

Finished = Callable[[Role], None]


def kind_of(name: str, collection: Collection) -> type[Role]:
    """The class of a shuffler, analyser or server of this collection."""
    server = Collector if collection.terms.model == "local" else Server
    return {"shuffler": Shuffler, "analyser": Analyser, "server": server}[name]


def application(role: Role, finished: Finished) -> Starlette:
    """The web application of a role, for devices, other parties, and whoever asks for its phase."""
    routes = [
        Route("/status", _answering_endpoint(lambda: {"role": role.name, "phase": role.phase()})),
        Route("/sum", _answering_endpoint(role.outcome)),
    ]
    if isinstance(role, Receiver):
        routes += [
            _upload_route("/contributions", role.accept, role.largest_body, role.serial_of),
            _upload_route("/close", role.close, _SIGNED_CLOSE),
        ]
    if isinstance(role, Server):
        routes += [Route("/entries", _answering_endpoint(role.entries)), _answers_route(role)]
    if isinstance(role, Analyser):
        routes.append(_upload_route("/batches", role.accept, 2 * BATCH))

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        stop = threading.Event()
        worker = threading.Thread(target=_work, args=(role, stop, finished))
        worker.start()
        yield
        stop.set()
        await run_in_threadpool(worker.join)

    return Starlette(routes=routes, lifespan=lifespan)


def serve(
    role: Role,
    *,
    host: str,
    port: int,
    certificate: str | None,
    key: str | None,
    listening: Callable[[], None],
    finished: Finished,
) -> None:
    """Serve a role until told to stop; ``listening`` is called once devices can connect."""
    if certificate is not None:
        try:
            ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(certificate, key)
        except OSError as error:  # errors of SSL are OSErrors, too
            raise DataError(
                f"{certificate} and its key are no certificate that can be used: {error}. Give both, in PEM."
            ) from None
    try:
        bound = socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET)
    except OSError as error:
        why = (error.strerror or str(error)).partition(" (")[0]
        raise UnreachableError(
            f"Nothing can listen at {host}:{port}: {why}. Stop what is there, or give another --host or --port."
        ) from None
    listening()
    config = uvicorn.Config(
        application(role, finished), ssl_certfile=certificate, ssl_keyfile=key,
        log_level="warning", access_log=False, server_header=False, limit_concurrency=MOST_CONNECTIONS,
    )  # fmt: skip
    with bound, suppress(KeyboardInterrupt):  # Ctrl-C stops it
        uvicorn.Server(config).run(sockets=[bound])


def _work(role: Role, stop: threading.Event, finished: Finished) -> None:
    """Take steps until all is done; a failure or a wait is reported once, and the step tried again."""
    said = {""}
    while not stop.is_set():
        try:
            if role.step():
                finished(role)
                return
            news = role.waiting
        except (DpheatmapError, sqlite3.Error) as problem:  # for example another party that lies, or a full disk
            news = str(problem)
        if news not in said:
            print(news, file=sys.stderr, flush=True)
            said.add(news)
        stop.wait(PAUSE)


def _answering_endpoint(make: Callable[[], Any]) -> Callable[[Request], Any]:
    async def endpoint(request: Request) -> Response:
        return await _response_of(make)

    return endpoint


def _answers_route(server: Server) -> Route:
    """A route to the stored answers, each by its number and the hash of its question."""

    async def endpoint(request: Request) -> Response:
        number, digest = request.path_params["number"], request.path_params["digest"]
        return await _response_of(lambda: server.answer(number, digest))

    return Route("/answers/{number:int}/{digest}", endpoint)


def _upload_route(
    path: str, take: Callable[[bytes], None], largest: int, begin: Callable[[bytes], object] = len
) -> Route:
    """A route that takes bodies of at most ``largest`` bytes; ``begin`` may refuse one by its first bytes.

    So nobody without a ticket can make a receiver hold a large contribution in memory.
    """

    async def endpoint(request: Request) -> Response:
        body, begun = bytearray(), False
        async for chunk in request.stream():
            body += chunk
            if len(body) > largest:
                return PlainTextResponse(f"What is sent here has at most {largest} bytes.", 413)
            if not begun and len(body) >= SIZE:
                try:
                    begun = begin(bytes(body[:SIZE])) is not None
                except Refused as refusal:
                    return PlainTextResponse(str(refusal), refusal.status)
        return await _response_of(lambda: take(bytes(body)))

    return Route(path, endpoint, methods=["POST"])


async def _response_of(make: Callable[[], Any]) -> Response:
    try:
        found = await run_in_threadpool(make)
    except Refused as refusal:
        return PlainTextResponse(str(refusal), refusal.status)
    return Response(found, media_type="application/octet-stream") if isinstance(found, bytes) else JSONResponse(found)
