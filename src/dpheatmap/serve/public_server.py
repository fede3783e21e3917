"""Start and stop of the public server: everything is drawn first, then requests are answered."""

from __future__ import annotations

import ipaddress
import re
import socket
from collections.abc import Callable, Sequence

import uvicorn

from dpheatmap._util.idle_connections import hurried_protocol
from dpheatmap._util.worker import Worker
from dpheatmap.errors import DpheatmapError, ParameterError
from dpheatmap.serve.catalogue import Listed
from dpheatmap.serve.public_maps import PublicMap, draw
from dpheatmap.serve.public_routes import PublicRoutes, application

LOOPBACK = "127.0.0.1"
CONNECTIONS = 400
"""The most connections at a time; more are told to come back."""


def is_public(host: str) -> bool:
    """Whether others than this machine can reach an address."""
    try:
        return not ipaddress.ip_address(host).is_loopback
    except ValueError:
        raise ParameterError(
            f"--host is an address such as {LOOPBACK} or 0.0.0.0; it was {host!r}. Give one."
        ) from None


def check_url(url: str) -> str:
    """The address that readers know the server by, without a slash at its end."""
    if not re.fullmatch(r"https?://[A-Za-z0-9._:\[\]-]+(/[A-Za-z0-9._~/-]*)?", url):
        raise ParameterError(
            f"--url is where readers find the server, as in https://maps.example.org; it was {url!r}. Give it so."
        )
    return url.rstrip("/")


def listen(host: str, port: int) -> socket.socket:
    """Take the port, before anything is drawn; requests wait until everything is."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=128)
    except OSError:
        raise DpheatmapError(
            f"Port {port} of {host} is taken or not yours to use. Give another one with --port; 0 takes a free one."
        ) from None


def draw_all(catalogue: Sequence[Listed], tell: Callable[[int, str], None]) -> list[PublicMap]:
    """Draw every release, in a process whose memory is given back; ``tell`` is told its number and name before."""
    worker = Worker("The drawing was interrupted: perhaps there was too little memory. Serve fewer releases.")
    try:
        found = []
        for number, listed in enumerate(catalogue):
            tell(number, listed.name)
            found.append(worker.run(draw, listed))
        return found
    finally:
        worker.close()


def address_of(listening: socket.socket) -> str:
    """The address of a socket for a browser on this machine."""
    host, port = listening.getsockname()[:2]
    if ipaddress.ip_address(host).is_unspecified:
        host = LOOPBACK
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def serve(
    listening: socket.socket, catalogue: Sequence[Listed], maps: Sequence[PublicMap], url: str | None = None
) -> None:
    """Answer requests until stopped."""
    config = uvicorn.Config(
        application(PublicRoutes(catalogue, maps, url)),
        http=hurried_protocol(),
        ws="none",
        access_log=False,
        log_level="critical",
        server_header=False,
        proxy_headers=False,
        limit_concurrency=CONNECTIONS,
        timeout_graceful_shutdown=1,
    )
    uvicorn.Server(config).run(sockets=[listening])
