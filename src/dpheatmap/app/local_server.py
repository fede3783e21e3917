"""Start and stop of the app's server."""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Callable
from pathlib import Path

import uvicorn

from dpheatmap._util.idle_connections import hurried_protocol
from dpheatmap.app.endpoints.services import Parts
from dpheatmap.app.release_shelf import hold_folder
from dpheatmap.app.request_guard import Guard
from dpheatmap.app.routes import application
from dpheatmap.app.session import Session
from dpheatmap.app.texts import say
from dpheatmap.app.uploads import LIMIT
from dpheatmap.app.way_back import leave_address, remove_address
from dpheatmap.errors import DpheatmapError, ParameterError, PrivacyRefusal

LOOPBACK = "127.0.0.1"
SHORTEST_PASSWORD = 12


def check_address(host: str, *, allowed: bool, password: str | None) -> None:
    """Refuse an address that others can reach, unless that is allowed explicitly and there is a password."""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        raise ParameterError(say("no_address", host=host)) from None
    if address.is_unspecified:
        raise ParameterError(say("every_address", host=host))
    if address.is_loopback:
        return
    if not allowed:
        raise PrivacyRefusal(say("not_loopback", host=host))
    if password is None or len(password) < SHORTEST_PASSWORD:
        raise PrivacyRefusal(say("no_password", least=SHORTEST_PASSWORD))


def serve(
    folder: Path,
    ledger: str,
    ready: Callable[[str], None],
    *,
    host: str = LOOPBACK,
    port: int = 0,
    password: str | None = None,
) -> None:
    """Run until stopped. ``ready`` is called with the address to open, which works once.

    Raises `AlreadyRunning` if another app uses the folder; `fresh_link` then gives an address of that one.
    """
    with hold_folder(folder), _listening_socket(host, port) as listening:
        remove_address(folder)
        port = listening.getsockname()[1]
        session = Session(port, password)
        here = f"[{host}]" if ":" in host else host
        names = {here, "localhost"} if ipaddress.ip_address(host).is_loopback else {here}
        hosts = {f"{name}:{port}" for name in names} | (names if port == 80 else set())
        parts = Parts(session, folder, ledger, LIMIT)
        guarded = Guard(application(parts), session, hosts)
        config = uvicorn.Config(
            guarded,
            http=hurried_protocol(),
            ws="none",
            access_log=False,  # it would contain the link
            log_level="critical",  # tracebacks may quote data
            server_header=False,
            proxy_headers=False,  # anybody on this machine could send them, and name another machine
            timeout_graceful_shutdown=1,
        )
        origin = f"http://{here}:{port}"
        with leave_address(folder, origin, session.owner):
            ready(f"{origin}/open?token={session.link}")
            uvicorn.Server(config).run(sockets=[listening])


def _listening_socket(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=128)
    except (OSError, OverflowError):
        raise DpheatmapError(say("port_taken", host=host, port=port)) from None
