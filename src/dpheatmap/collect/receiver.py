"""The receivers, shuffler and servers, which admit contributions until the collection is closed.

A contribution that is malformed, late, beyond n_max, or of a used ticket is refused with a sentence and changes
nothing. The same contribution may be sent again, for example by a device that got no answer: it is told that it was
admitted, also after the end.
"""

from __future__ import annotations

import hashlib
import json
import time
from abc import ABC, abstractmethod
from datetime import UTC, datetime
from typing import Any

from dpheatmap.collect.client import NONCE, body_size, contribution_info
from dpheatmap.collect.collection import Collection, Party
from dpheatmap.collect.keys import BadSeal, PrivateKey, PublicKey
from dpheatmap.collect.network import Network, UnreachableError
from dpheatmap.collect.process_state import State
from dpheatmap.collect.tickets import SIZE, serial_of

CLOSE, STATUS = "close", "status"
_FRESH = 300  # seconds for which a request for the progress is valid
_TIME = 8  # bytes of the time in it
ENTRY = 24


class Refused(Exception):  # noqa: N818
    """The answer to something that can't be taken: an HTTP status, and a sentence."""

    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status


class Role(ABC):
    """A process with a key and a state, and an outcome in the end. ``waiting`` tells its operator what it waits for."""

    name: str
    waiting: str = ""

    def __init__(self, collection: Collection, key: PrivateKey, state: State, network: Network) -> None:
        self.collection, self.key, self.state, self.network = collection, key, state, network
        self.number = collection.index_of(key.public, self.name)

    @abstractmethod
    def step(self) -> bool:
        """Do what can be done now, and tell whether all is done."""

    def publish(self, payload: bytes) -> None:
        """Store the result that everybody may have, for good."""
        self.state.learn("outcome", b"+" + self.key.sign(payload, self.collection.purpose("sum")))

    def give_up(self, sentence: str) -> None:
        """Store the reason why there will be no result, for good."""
        self.state.learn("outcome", b"-" + sentence.encode())

    def outcome(self) -> bytes:
        """The published result; refused while there is none, or if there will be none."""
        found = self.state.fact("outcome")
        if found is None:
            raise Refused(404, "There is no result yet. Ask again later.")
        if found[:1] == b"-":
            raise Refused(410, found[1:].decode())
        return found[1:]

    def status(self) -> dict[str, Any]:
        """What everybody may know of the process."""
        return {"role": self.name, "phase": self.phase()}

    def progress(self, body: bytes) -> dict[str, Any]:
        """What the operator and the parties may know besides, if one of them has signed the request just now."""
        purpose, known = self.collection.purpose(STATUS), (self.collection.operator, *self._party_keys)
        signed = next((text for text in (key.verify(body, purpose) for key in known) if text is not None), b"")
        if len(signed) != _TIME or abs(int.from_bytes(signed, "little") - time.time()) > _FRESH:
            raise Refused(403, "Only the operator and the parties can ask for this, with clocks that are right.")
        return {**self.status(), "n_min": self.collection.terms.n_min, "n_max": self.collection.terms.n_max}

    @property
    def _party_keys(self) -> tuple[PublicKey, ...]:
        return tuple(party.key for party in self.collection.parties)

    def phase(self) -> str:
        """The public phase of the process."""
        found = self.state.fact("outcome")
        return "working" if found is None else "refused" if found[:1] == b"-" else "published"


class Receiver(Role):
    """A role that devices send to."""

    def __init__(self, collection: Collection, key: PrivateKey, state: State, network: Network) -> None:
        super().__init__(collection, key, state, network)
        self.largest_body = body_size(collection, collection.receivers.index(collection.parties[self.number]))

    def step(self) -> bool:
        """Wait until the collection is closed, then conclude it."""
        if self.state.fact("outcome") is not None:
            return True
        return self.closed() and self._conclude()

    @abstractmethod
    def _conclude(self) -> bool:
        """Do what can be done after the closing, and tell whether all is done."""

    def accept(self, body: bytes, serial: int | None = None) -> None:
        """Take one contribution; ``serial`` is the number of its ticket, if that was read already."""
        if len(body) != self.largest_body:
            raise Refused(
                400, f"A contribution to this collection has {self.largest_body} bytes; this one had {len(body)}."
            )
        ticket, nonce = body[:SIZE], body[SIZE : SIZE + NONCE]
        number = self.serial_of(body) if serial is None else serial
        digest, content = hashlib.sha256(body).digest(), self._open(ticket, nonce, body[SIZE + NONCE :])
        self.state.together(lambda: self._admit(number, digest, entry_of(number, nonce), content), Refused)

    def serial_of(self, body: bytes) -> int:
        """The number of the ticket that a contribution begins with; refused if it is not valid."""
        serial = serial_of(self.collection, body[:SIZE])
        if serial is None:
            raise Refused(403, "The operator has not signed this ticket. Ask for another one.")
        return serial

    def _open(self, ticket: bytes, nonce: bytes, sealed: bytes) -> bytes:
        """Open a contribution, which must be sealed for this receiver, with this ticket and nonce."""
        try:
            return self.key.opener(contribution_info(self.collection, ticket, nonce))(sealed)
        except BadSeal:
            raise Refused(400, "This contribution is damaged or was sealed for somebody else. Make it again.") from None

    def _admit(self, serial: int, digest: bytes, entry: bytes, content: bytes) -> None:
        if self._knows(serial, digest):
            return
        self._refuse_if_closed()
        if self.state.count_contributions() >= self.collection.terms.n_max:
            raise Refused(409, "The collection is full. Take part in the next one.")
        self.state.add_contribution(serial, digest, entry, content)

    def _knows(self, serial: int, digest: bytes) -> bool:
        """Whether this very contribution was admitted; refused if another one of the same ticket was."""
        known = self.state.rows("SELECT digest FROM contributions WHERE serial = ?", serial)
        if known and known != [(digest,)]:
            raise Refused(409, "This ticket was used for another contribution. One ticket is for one.")
        return bool(known or self.state.rows("SELECT 1 FROM admitted WHERE digest = ?", digest))

    def _refuse_if_closed(self) -> None:
        if self.closed():
            now, end = datetime.now(UTC).replace(microsecond=0), self.collection.closes
            why = (
                f"its time was {end.isoformat()}, and here it is {now.isoformat()}"
                if now >= end
                else "so its operator said"
            )
            raise Refused(410, f"The collection is closed: {why}. Take part in the next one.")

    def close(self, body: bytes) -> None:
        """Close early, if the operator says so."""
        if self.collection.operator.verify(body, self.collection.purpose(CLOSE)) is None:
            raise Refused(403, "Only the operator can close a collection early.")
        self.state.learn("closed", b"")

    def closed(self) -> bool:
        """Whether it takes no more contributions."""
        return self.state.fact("closed") is not None or datetime.now(UTC) >= self.collection.closes

    def phase(self) -> str:
        """The phase: open until it is closed."""
        return super().phase() if self.closed() else "open"

    def progress(self, body: bytes) -> dict[str, Any]:
        """Also the number of contributions that were admitted."""
        found = super().progress(body)
        ((forgotten,),) = self.state.rows("SELECT count(*) FROM admitted")
        return {**found, "contributions": self.state.count_contributions() + forgotten}

    def too_few(self, there: int) -> bool:
        """Tell whether there are too few contributions; then delete all, and there will be no result."""
        if there >= self.collection.terms.n_min:
            return False
        with self.state.transaction():
            self.give_up(
                f"The collection was closed with {there} contributions and needs {self.collection.terms.n_min}: "
                "nothing is published, and what was sent is deleted. Collect again, for longer."
            )
            self.forget()
        return True

    def forget(self) -> None:
        """Delete all contributions."""
        self.state.forget_contributions()


def entry_of(serial: int, nonce: bytes) -> bytes:
    """The entry of a contribution in a server's list, which everybody may fetch.

    Devices and their receivers know the random nonce and can recognise it; to others it does not reveal whose it is.
    """
    return hashlib.sha256(serial.to_bytes(8, "little") + nonce).digest()[:ENTRY]


def ask_progress(collection: Collection, party: Party, key: PrivateKey, network: Network) -> dict[str, Any] | None:
    """Ask a party, as the operator or another party, how far it is; None if it does not answer."""
    now = int(time.time()).to_bytes(_TIME, "little")
    found = network.ask(party, "/status", key.sign(now, collection.purpose(STATUS)))
    return None if found is None else dict(json.loads(found))


def close_early(collection: Collection, key: PrivateKey, network: Network) -> None:
    """Tell all receivers, as the operator, to close now; then name those that did not answer."""
    silent = []
    for party in collection.receivers:
        try:
            network.deliver(party, "/close", key.sign(b"", collection.purpose(CLOSE)))
        except UnreachableError:
            silent.append(party.address)
    if silent:
        raise UnreachableError(f"{' and '.join(silent)} could not be told. Close it again when all are up.")
