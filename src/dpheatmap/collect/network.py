"""HTTP requests to the parties of a collection.

Addresses with https are checked against the system's authorities, or those of a file. No proxy and no environment
variable is used. Nothing is logged: who sent what, and from where, is not written down anywhere.
"""

from __future__ import annotations

import socket
import ssl
import threading
import time
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from os import PathLike, fspath
from typing import Any, NamedTuple

from dpheatmap.collect.collection import Party
from dpheatmap.errors import DataError, DpheatmapError, MissingDependency, PrivacyRefusal

TIMEOUT = 30.0
LONGEST = 300.0
"""Seconds that an answer may take in total, however slowly it comes."""
PAUSE = 0.5
LARGEST = 2**26
"""Bytes of the largest answer: sums of the most coordinates that are allowed take half of that."""


class Answer(NamedTuple):
    """The answer of a party."""

    status: int
    content: bytes


class UnreachableError(DpheatmapError):
    """A party does not answer."""


@dataclass
class Network:
    """Requests to parties. ``authority`` is a file of certificates to trust; ``patience`` the seconds to try for."""

    authority: str | PathLike[str] | None = None
    patience: float = 60.0

    def deliver(self, party: Party, path: str, body: bytes) -> None:
        """Send something until it is taken; an error if it is refused, or if nobody answers for too long."""
        end = time.monotonic() + self.patience
        while True:
            answer = self._request("POST", party, path, body)
            if answer is not None and answer.status == 200:
                return
            if answer is not None and answer.status < 500 and answer.status != 408:
                raise DataError(f"{party.address} refused it: {_sentence(answer)}")
            if time.monotonic() > end:
                raise UnreachableError(f"{party.address} does not answer. Check the address, or try again later.")
            time.sleep(PAUSE)

    def offer(self, party: Party, path: str, body: bytes) -> bool:
        """Send something once, and tell whether it was taken."""
        answer = self._request("POST", party, path, body)
        return answer is not None and answer.status == 200

    def ask(self, party: Party, path: str, body: bytes) -> bytes | None:
        """Send something once for an answer; None if there is none, and an error if it is refused."""
        answer = self._request("POST", party, path, body)
        if answer is not None and 400 <= answer.status < 500:
            raise DataError(f"{party.address} refused it: {_sentence(answer)}")
        return answer.content if answer is not None and answer.status == 200 else None

    def fetch(self, party: Party, path: str) -> bytes | None:
        """Ask once; None if there is nothing yet, and an error if there will never be anything."""
        answer = self._request("GET", party, path)
        if answer is not None and answer.status == 410:
            raise PrivacyRefusal(f"{party.address}: {_sentence(answer)}")
        return answer.content if answer is not None and answer.status == 200 else None

    def _request(self, method: str, party: Party, path: str, body: bytes | None = None) -> Answer | None:
        """Send a request; the raw answer, or None if there is none, or one that does not end."""
        import httpx

        deadline, content, address = _Deadline(), bytearray(), party.address.rstrip("/") + path
        try:
            with (
                deadline,
                self._client.stream(method, address, content=body, extensions={"trace": deadline.note}) as answer,
            ):
                for piece in answer.iter_raw():
                    content += piece
                    if len(content) > LARGEST or deadline.is_over:
                        return None
                return None if deadline.is_over else Answer(answer.status_code, bytes(content))
        except httpx.HTTPError as error:
            _refuse_forever(party, str(error))
            return None

    @cached_property
    def _client(self) -> Any:
        try:
            import httpx
        except ImportError as error:
            raise MissingDependency("httpx", "Collecting", "collect") from error
        try:
            context = ssl.create_default_context(cafile=None if self.authority is None else fspath(self.authority))
        except (OSError, ssl.SSLError):
            raise DataError(f"{self.authority} is not a file of certificates in PEM. Check the path.") from None
        one_each = httpx.Limits(max_keepalive_connections=0)
        plain = {"accept-encoding": "identity"}  # no compression, by which few bytes could become many
        return httpx.Client(verify=context, timeout=TIMEOUT, trust_env=False, limits=one_each, headers=plain)


class _Deadline:
    """Cuts a connection off `LONGEST` seconds after the request was sent, which may itself take longer.

    Otherwise a head, or words before it or between pieces, could come for ever, each in time for the next.
    """

    def __init__(self) -> None:
        self.is_over = False
        self._connection: socket.socket | None = None
        self._timer = threading.Timer(LONGEST, self._cut)
        self._timer.daemon = True

    def __enter__(self) -> None:
        pass

    def __exit__(self, *error: object) -> None:
        self._timer.cancel()

    def note(self, event: str, told: dict[str, Any]) -> None:
        """Take note of what httpx tells of a request."""
        if event in ("connection.connect_tcp.complete", "connection.start_tls.complete"):
            self._connection = told["return_value"].get_extra_info("socket")
        elif event == "http11.receive_response_headers.started":
            self._timer.start()

    def _cut(self) -> None:
        self.is_over = True
        if self._connection is not None:
            with suppress(OSError):  # it may be closed by now
                socket.socket.shutdown(self._connection, socket.SHUT_RDWR)  # below TLS, which goes on for who reads


def _refuse_forever(party: Party, reason: str) -> None:
    """Raise the error for what trying again can't mend."""
    if "CERTIFICATE_VERIFY_FAILED" in reason:
        why = reason.rpartition("failed: ")[2].partition(" (")[0]
        raise DataError(
            f"The certificate of {party.address} can't be trusted: {why}. Give the authority that signed it with "
            "--authority, and check this machine's clock."
        )
    if "WRONG_VERSION_NUMBER" in reason:
        raise DataError(
            f"What listens at {party.address} does not speak https. Start it with --certificate, or put something that "
            "does in front of it."
        )


def _sentence(answer: Answer) -> str:
    """The text of a party's answer, as far as it can be printed."""
    text = "".join(c for c in answer.content[:300].decode("utf-8", "replace") if c.isprintable())
    return text or f"status {answer.status}."
