"""HTTP and TLS for strangers on the internet: what they may hold open, and for how long.

Nobody is asked who they are before they have sent a ticket, so up to there a connection is worth nothing. It has
`SECONDS` for its handshake, and as many for its head and the first bytes of its body, however slowly they arrive. If
there are too many such connections, in all or of one address, the oldest is cut off, not the newest refused: a device
that arrives while thousands of connections are held open has its turn. Whoever has shown a ticket has time for the
whole body, by its size (`allow`), and is not cut off for others.

TLS is begun here rather than by the server, which would let handshakes wait for a minute, uncounted.
"""

from __future__ import annotations

import asyncio
import ipaddress
import ssl
from contextlib import suppress
from typing import Any, ClassVar

from dpheatmap._util.idle_connections import HurriedProtocol

SECONDS = 10.0
"""How long a connection may take to show that it is a device's."""

MOST = 200
"""How many may be at it at a time."""

PER_ADDRESS = 64
"""How many connections one address may have: devices behind one router send from one address."""

IN_ALL = 600
"""How many connections there may be."""

NAME = "dpheatmap"
"""The name under which a request finds its connection, among the extensions of its scope."""


class OpenProtocol(HurriedProtocol):
    """HTTP for whoever connects."""

    context: ClassVar[ssl.SSLContext | None]
    per_address: ClassVar[int]
    everybody: ClassVar[dict[OpenProtocol, str]]
    """All connections, the oldest first, and where they come from."""

    def __init__(self, *settings: Any, **more: Any) -> None:
        super().__init__(*settings, **more)
        self._raw: asyncio.Transport | None = None
        self._begun, self._early = False, list[bytes]()
        self._allowed: object = None
        self._deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Count the connection, make room for it, and begin TLS."""
        self._raw = transport
        self.everybody[self] = source_of(transport.get_extra_info("peername"))
        self._make_room()
        if self.context is None:
            self._begin(transport)
        else:
            task = self.loop.create_task(self._begin_tls(transport, self.context))
            self.tasks.add(task)
            task.add_done_callback(self.tasks.discard)

    async def _begin_tls(self, raw: asyncio.Transport, context: ssl.SSLContext) -> None:
        secure = None
        with suppress(TimeoutError, OSError):  # errors of SSL are OSErrors
            if not raw.is_closing():
                secure = await self.loop.start_tls(
                    raw, self, context, server_side=True, ssl_handshake_timeout=self.seconds, ssl_shutdown_timeout=1.0
                )
        if secure is None or secure.is_closing():
            raw.abort()
            self.everybody.pop(self, None)
            return
        self._begin(secure)

    def _begin(self, transport: asyncio.Transport) -> None:
        """Begin with HTTP, and with what of it has arrived."""
        self._begun = True
        super().connection_made(transport)
        for data in self._early:
            super().data_received(data)
        self._early.clear()

    def data_received(self, data: bytes) -> None:
        """Handle what arrived, or keep it for the end of the handshake, with which it came."""
        if self._begun:
            super().data_received(data)
        else:
            self._early.append(data)

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        self.everybody.pop(self, None)
        self._stop_clock()
        if self._begun:
            super().connection_lost(exc)

    def handle_events(self) -> None:
        """Handle what arrived, and let a request find its connection."""
        super().handle_events()
        if self.scope is not None:
            self.scope["extensions"] = {NAME: {"connection": self}}
        if self.cycle is not None and not self.cycle.more_body:
            self._stop_clock()

    def allow(self, seconds: float) -> None:
        """Give the body of the present request so many seconds: its sender has shown a ticket."""
        self._allowed = self.cycle
        self._stop_clock()
        if self.cycle.more_body:
            self._deadline = self.loop.call_later(seconds, self.drop)
        self._note()

    def drop(self) -> None:
        """Cut the connection off."""
        if self._raw is not None:
            self._raw.abort()

    @property
    def is_answering(self) -> bool:
        """Whether it is this side's turn, or a body is on the way whose sender has shown a ticket."""
        return super().is_answering and (not self.cycle.more_body or self._allowed is self.cycle)

    def _make_room(self) -> None:
        """Cut off the oldest connection that has shown nothing, of this address or of all, if there are too many."""
        mine = self.everybody[self]
        same = [one for one, source in self.everybody.items() if source == mine]
        for there, most in ((same, self.per_address), (list(self.everybody), IN_ALL)):
            if len(there) > most:
                chosen = next((one for one in there if not one.is_answering), self)
                self.everybody.pop(chosen, None)
                chosen.drop()

    def _stop_clock(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None


def source_of(peer: Any) -> str:
    """What counts as one address: an address of IPv4, or a network of 64 bits of IPv6, as one household has.

    >>> source_of(("2001:db8:0:1:2::3", 443, 0, 0)), source_of(("::ffff:192.0.2.7", 443, 0, 0)), source_of(None)
    ('2001:db8:0:1::', '192.0.2.7', '')
    """
    if not peer:
        return ""
    address = ipaddress.ip_address(str(peer[0]).partition("%")[0])
    if isinstance(address, ipaddress.IPv4Address):
        return str(address)
    if address.ipv4_mapped is not None:
        return str(address.ipv4_mapped)
    return str(ipaddress.IPv6Address(int(address) >> 64 << 64))


def open_protocol(
    context: ssl.SSLContext | None, *, seconds: float = SECONDS, most: int = MOST, per_address: int = PER_ADDRESS
) -> type[OpenProtocol]:
    """The protocol of one process, with its limits; without a context it speaks plain HTTP."""
    limits: dict[str, Any] = {
        "context": context, "seconds": seconds, "most": most, "per_address": per_address, "idle": {}, "everybody": {},
    }  # fmt: skip
    return type("LimitedProtocol", (OpenProtocol,), limits)
