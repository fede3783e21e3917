"""Talking to the parties of a collection over HTTP; and the processes that listen.

Addresses with https are checked against the system's authorities, or those of a file. No proxy and no environment
variable is asked, nothing is logged: who sent what, and from where, is not written down anywhere.
"""

from __future__ import annotations

import ssl
import time
from dataclasses import dataclass
from functools import cached_property
from os import PathLike, fspath
from typing import Any

from dpheatmap.collect.collection import Party
from dpheatmap.errors import DataError, DpheatmapError, MissingDependency, PrivacyRefusal

TIMEOUT = 30.0
PAUSE = 0.5


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
            if answer is not None and answer.status_code == 200:
                return
            if answer is not None and answer.status_code < 500:
                raise DataError(f"{party.address} refused it: {_sentence(answer)}")
            if time.monotonic() > end:
                raise UnreachableError(f"{party.address} does not answer. Check the address, or try again later.")
            time.sleep(PAUSE)

    def offer(self, party: Party, path: str, body: bytes) -> bool:
        """Send something once; whether it was taken."""
        answer = self._request("POST", party, path, body)
        return answer is not None and answer.status_code == 200

    def fetch(self, party: Party, path: str) -> bytes | None:
        """Ask once; None if there is nothing yet. What there will never be is an error."""
        answer = self._request("GET", party, path)
        if answer is not None and answer.status_code == 410:
            raise PrivacyRefusal(f"{party.address}: {_sentence(answer)}")
        return answer.content if answer is not None and answer.status_code == 200 else None

    def _request(self, method: str, party: Party, path: str, body: bytes | None = None) -> Any:
        import httpx

        try:
            return self._client.request(method, party.address.rstrip("/") + path, content=body)
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
        return httpx.Client(verify=context, timeout=TIMEOUT, trust_env=False, limits=one_each)


def _refuse_forever(party: Party, reason: str) -> None:
    """An error for what trying again can't mend."""
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


def _sentence(answer: Any) -> str:
    """What a party said, as far as it is something to print."""
    text = "".join(c for c in answer.text[:300] if c.isprintable())
    return text or f"status {answer.status_code}."
