"""Connections on which nothing is being answered: for how long, and how many of them, are kept.

The server that the app is built on waits forever for the head of a request, and refuses everybody once some hundreds
of connections are open. So anybody on this machine could keep its owner out by opening connections and sending half a
line. Here a connection may be idle for a while only, from its beginning or from its last answer to the next whole head,
however slowly bytes arrive; and of too many idle ones the oldest are closed, after a moment in which what they have
sent is read. Whoever sends whole requests is not concerned, nor is a long upload: it is being answered.
"""

from __future__ import annotations

import asyncio
from typing import Any, ClassVar

from uvicorn.protocols.http.h11_impl import H11Protocol

SECONDS = 10.0
"""How long a connection may be idle: a browser sends its request at once."""

MOST = 100
"""How many may be idle at a time: a browser has some six."""

MOMENT = 0.2
"""Seconds for which a connection is never closed, however many there are: its request may be on the way."""


class HurriedProtocol(H11Protocol):
    """HTTP for clients that send their requests without delay."""

    seconds: ClassVar[float]
    most: ClassVar[int]
    idle: ClassVar[dict[HurriedProtocol, tuple[float, asyncio.TimerHandle]]]
    """Idle connections, the oldest first: since when, and the timer that closes it."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Expect the head of a request."""
        super().connection_made(transport)
        self._note()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        super().connection_lost(exc)
        self._forget()

    def handle_events(self) -> None:
        """Handle what arrived, which may complete a head."""
        super().handle_events()
        self._note()

    def on_response_complete(self) -> None:
        """Expect the head of the next request."""
        super().on_response_complete()
        self._note()

    def _note(self) -> None:
        """Note whether the connection is idle, from now on or still."""
        if self.cycle is not None and not self.cycle.response_complete:
            self._forget()
        elif self not in self.idle and not self.transport.is_closing():
            self.idle[self] = self.loop.time(), self.loop.call_later(self.seconds, self.transport.abort)
            if len(self.idle) > self.most:
                self.loop.call_later(MOMENT, self._close_oldest)

    def _close_oldest(self) -> None:
        """Close the oldest idle connections beyond the limit, but none in its first moment."""
        for connection, (since, _) in list(self.idle.items())[: max(0, len(self.idle) - self.most)]:
            if self.loop.time() - since >= MOMENT:
                connection.transport.abort()
                connection._forget()

    def _forget(self) -> None:
        _, timer = self.idle.pop(self, (0.0, None))
        if timer is not None:
            timer.cancel()


def hurried_protocol(seconds: float = SECONDS, most: int = MOST) -> type[HurriedProtocol]:
    """The protocol of one server, with its limits."""
    limits: dict[str, Any] = {"seconds": seconds, "most": most, "idle": {}}
    return type("LimitedProtocol", (HurriedProtocol,), limits)
