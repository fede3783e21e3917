"""Connections on which nothing goes on: for how long, and how many of them, are kept.

The server that ours are built on waits forever for the head of a request, and refuses everybody once some hundreds of
connections are open. So anybody could keep others out by opening connections and sending half a line. Here a
connection may be idle for a while only, from its beginning or from its last answer to the next whole head, however
slowly bytes arrive; and of too many idle ones the oldest are closed, after a moment in which what they have sent is
read. A connection whose answers pile up unread is idle, too; it is kept for as long as some of them leave. Whoever
sends whole requests and reads the answers is not concerned, nor is a long upload: it is being answered.
"""

from __future__ import annotations

import asyncio
import socket
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
    """Idle connections, the oldest first: since when, and the timer that looks whether it still is."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Expect the head of a request; answers are sent at once, not when what went before was received.

        asyncio sees to that only for sockets that were made for TCP by name, and ours are not. Without it, the body of
        an answer waits 40 ms for a receipt of its head.
        """
        super().connection_made(transport)
        accepted: socket.socket | None = transport.get_extra_info("socket")
        if accepted is not None:
            accepted.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
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

    def pause_writing(self) -> None:
        """Expect the client to read: there are more answers than the connection takes."""
        super().pause_writing()
        self._note()

    def resume_writing(self) -> None:
        """Go on with the answers, which the client reads."""
        super().resume_writing()
        self._note()

    @property
    def is_answering(self) -> bool:
        """Whether a request has arrived that is not answered yet."""
        return self.cycle is not None and not self.cycle.response_complete

    def _note(self) -> None:
        """Note whether the connection is idle, from now on or still."""
        if self.is_answering and not self.flow.write_paused:
            self._forget()
        elif self not in self.idle and self in self.connections:
            self.idle[self] = self.loop.time(), self._look_later()
            if len(self.idle) > self.most:
                self.loop.call_later(MOMENT, self._choose_oldest)

    def _look_later(self) -> asyncio.TimerHandle:
        unread = self.transport.get_write_buffer_size()
        return self.loop.call_later(self.seconds, self._close_if_stuck, unread)

    def _close_if_stuck(self, unread: int) -> None:
        """Close the connection, unless some of the answers that were waiting have left since."""
        if self.transport.get_write_buffer_size() < unread:
            self.idle[self] = self.idle[self][0], self._look_later()
        else:
            self.transport.abort()

    def _choose_oldest(self) -> None:
        """Choose the oldest idle connections beyond the limit, but none in its first moment, and close them soon.

        A busy server may have read nothing in all of that moment. So it looks first at what has arrived by now: it
        does so between a next callback and the one after that.
        """
        beyond = list(self.idle.items())[: max(0, len(self.idle) - self.most)]
        chosen = {one: since for one, (since, _) in beyond if self.loop.time() - since >= MOMENT}
        self.loop.call_soon(self.loop.call_soon, self._close_still_idle, chosen)

    def _close_still_idle(self, chosen: dict[HurriedProtocol, float]) -> None:
        """Close those that have sent no whole head since they were chosen, as long as there are too many."""
        for connection, since in chosen.items():
            if len(self.idle) > self.most and connection.idle_since == since:
                connection.transport.abort()
                connection._forget()

    @property
    def idle_since(self) -> float | None:
        """The loop's time at which the connection became idle, if it is."""
        return self.idle[self][0] if self in self.idle else None

    def _forget(self) -> None:
        _, timer = self.idle.pop(self, (0.0, None))
        if timer is not None:
            timer.cancel()


def hurried_protocol(seconds: float = SECONDS, most: int = MOST) -> type[HurriedProtocol]:
    """The protocol of one server, with its limits."""
    limits: dict[str, Any] = {"seconds": seconds, "most": most, "idle": {}}
    return type("LimitedProtocol", (HurriedProtocol,), limits)
