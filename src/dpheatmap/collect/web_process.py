"""The processes of the roles: a small web application each, and a thread that takes the next step when it can."""

from __future__ import annotations

import socket
import sqlite3
import ssl
import sys
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from functools import partial
from typing import Any

from dpheatmap.collect.analyser import START, Analyser
from dpheatmap.collect.collection import Collection
from dpheatmap.collect.collector import Collector
from dpheatmap.collect.incoming import Incoming, Upload
from dpheatmap.collect.network import UnreachableError
from dpheatmap.collect.open_protocol import IN_ALL, PER_ADDRESS, open_protocol
from dpheatmap.collect.receiver import Receiver, Role
from dpheatmap.collect.server import Server
from dpheatmap.collect.shuffler import BATCH, Shuffler
from dpheatmap.collect.tickets import SIZE
from dpheatmap.errors import DataError, DpheatmapError, MissingDependency

try:
    import uvicorn
    from starlette.applications import Starlette
    from starlette.concurrency import run_in_threadpool
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.routing import Route
except ImportError as error:
    raise MissingDependency("starlette", "Collecting", "collect") from error

PAUSE = 0.25
_SIGNED = 2**10  # bytes of a signed request without content, at most

Finished = Callable[[Role], None]


def kind_of(name: str, collection: Collection) -> type[Role]:
    """The class of a shuffler, analyser or server of this collection."""
    server = Collector if collection.terms.model == "local" else Server
    return {"shuffler": Shuffler, "analyser": Analyser, "server": server}[name]


def application(role: Role, finished: Finished) -> Starlette:
    """The web application of a role, for devices, other parties, and whoever asks for its phase."""
    uploads = {"/status": _signed_request(role.progress)}
    answers: dict[str, Callable[..., Any]] = {"/status": role.status, "/sum": role.outcome}
    if isinstance(role, Receiver):
        uploads["/contributions"] = Upload(role.largest_body, SIZE, role.serial_of, role.accept)
        uploads["/close"] = _signed_request(role.close)
    if isinstance(role, Server):
        answers["/entries"] = role.entries
        answers["/answers/{number}/{digest}"] = lambda number, digest: role.answer(_question_number(number), digest)
    if isinstance(role, Analyser):
        uploads["/batches"] = Upload(START + 2 * BATCH, START, role.header_of, lambda body, _: role.accept(body))
    incoming = Incoming(max(upload.largest for upload in uploads.values()))

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        stop = threading.Event()
        worker = threading.Thread(target=_work, args=(role, stop, finished))
        worker.start()
        yield
        stop.set()
        await run_in_threadpool(worker.join)

    routes = [_answer_route(path, incoming, make) for path, make in answers.items()]
    routes += [_upload_route(path, incoming, upload) for path, upload in uploads.items()]
    app = Starlette(routes=routes, lifespan=lifespan)
    app.router.redirect_slashes = False  # to whatever host the request names
    return app


def _question_number(text: str) -> int:
    """The number of a question; -1, which none has, for anything else, however long."""
    return int(text) if text.isdecimal() and len(text) < 10 else -1


def _signed_request(take: Callable[[bytes], Any]) -> Upload:
    """Small, and its signature is checked once it is there."""
    return Upload(_SIGNED, _SIGNED + 1, lambda body: object(), lambda body, _: take(body))


def _answer_route(path: str, incoming: Incoming, make: Callable[..., Any]) -> Route:
    async def endpoint(request: Request) -> Response:
        return await incoming.answer(partial(make, **request.path_params))

    return Route(path, endpoint, methods=["GET"])


def _upload_route(path: str, incoming: Incoming, upload: Upload) -> Route:
    async def endpoint(request: Request) -> Response:
        return await incoming.receive(request, upload)

    return Route(path, endpoint, methods=["POST"])


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
    """Serve a role until told to stop; ``listening`` is called once devices can connect.

    Something in front of it that speaks https has all connections of devices, and limits those of one address itself.
    """
    context = None if certificate is None else _tls(certificate, key)
    behind = context is None and role.collection.parties[role.number].address.startswith("https:")
    protocol = open_protocol(context, per_address=IN_ALL if behind else PER_ADDRESS)
    try:
        bound = socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET)
    except OSError as error:
        why = (error.strerror or str(error)).partition(" (")[0]
        raise UnreachableError(
            f"Nothing can listen at {host}:{port}: {why}. Stop what is there, or give another --host or --port."
        ) from None
    listening()
    config = uvicorn.Config(
        application(role, finished), http=protocol, ws="none", log_level="warning", access_log=False,
        server_header=False, proxy_headers=False, headers=[("access-control-allow-origin", "*")],
    )  # fmt: skip
    _raise_limit()
    with bound, suppress(KeyboardInterrupt):  # Ctrl-C stops it
        uvicorn.Server(config).run(sockets=[bound])


def _raise_limit() -> None:
    """Let the process have as many files open as there may be connections, where the system lets it."""
    if sys.platform == "win32":
        return
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, min(hard, 4 * IN_ALL)), hard))


def _tls(certificate: str, key: str | None) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.num_tickets = 0  # of TLS, for coming back: a device comes once
    try:
        context.load_cert_chain(certificate, key)
    except OSError as error:  # errors of SSL are OSErrors, too
        raise DataError(
            f"{certificate} and its key are no certificate that can be used: {error}. Give both, in PEM."
        ) from None
    return context


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
