"""Tickets, each valid for one contribution. The operator signs one for each device and hands them out.

Without them anybody could send any number of contributions, outnumber the others, or fake the n_min that the shuffler
waits for. A ticket shows the receivers, who see the sender's address anyhow, that the sender is enrolled. It is never
forwarded.
"""

from __future__ import annotations

from dpheatmap.collect.collection import Collection
from dpheatmap.collect.keys import SIGNATURE, PrivateKey, as_text, from_text
from dpheatmap.errors import DataError

SIZE = SIGNATURE + 8
_PURPOSE = "ticket"
_MOST = 2**63
"""Numbers from this one on can't be stored."""


def make_tickets(collection: Collection, key: PrivateKey, count: int) -> list[str]:
    """Make so many tickets for a collection, as text."""
    purpose = collection.purpose(_PURPOSE)
    return [as_text(key.sign(serial.to_bytes(8, "little"), purpose)) for serial in range(count)]


def ticket_bytes(ticket: str) -> bytes:
    """The bytes of a ticket, as it is sent."""
    try:
        raw = from_text(ticket.strip())
    except (ValueError, UnicodeError):
        raw = b""
    if len(raw) != SIZE:
        raise DataError("A ticket is 96 letters and digits, and this is none. Copy it again.")
    return raw


def serial_of(collection: Collection, raw: bytes) -> int | None:
    """The number of a ticket, or None if the operator did not sign it for this collection."""
    signed = collection.operator.verify(raw, collection.purpose(_PURPOSE))
    serial = _MOST if signed is None else int.from_bytes(signed, "little")
    return serial if serial < _MOST else None
