"""A device: one person's points to a contribution that nobody learns anything from, and its way to the receivers.

What leaves the device is sealed for whom it is sent to, with the ticket and a nonce: for each server its uniform share;
for the shuffler all messages (coordinate, share), each of which is sealed for the analyser before, because two in one
text would be known to come from one person. Whoever watches the line could otherwise tell the analyser whose messages
are whose: encryption by TLS ends wherever that does, which may be at somebody else's machine.

In the local model it is a report that anybody might read, and that must be made *once*: epsilon is the price of one
report, and what a second one tells adds to it. So a contribution can be kept in a file, and is sent again from there.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterable
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from dpheatmap._util.files import replace_whole
from dpheatmap.collect.collection import Collection
from dpheatmap.collect.local import LocalTerms, report_of
from dpheatmap.collect.terms import WORD
from dpheatmap.curator import Source
from dpheatmap.errors import DataError, ParameterError
from dpheatmap.place.quadtree import Ints

if TYPE_CHECKING:
    from dpheatmap.collect.network import Network
    from dpheatmap.curator import Counts

NONCE = 16


class Client:
    """One person's device in a collection, with the ticket that it was given.

    >>> import dpheatmap as dph
    >>> from datetime import datetime, timedelta, UTC
    >>> from dpheatmap.collect.keys import PrivateKey
    >>> from dpheatmap.collect.tickets import make_tickets
    >>> operator, one, two = (PrivateKey.make() for _ in range(3))
    >>> terms = dph.collect.Terms.of("servers", dph.Domain.unit(5), epsilon=1, n_min=10, n_max=100)
    >>> parties = {"https://one.example": one.public, "https://two.example": two.public}
    >>> tomorrow = datetime.now(UTC) + timedelta(days=1)
    >>> collection = dph.collect.Collection.open(terms, parties, tomorrow, operator)
    >>> client = dph.collect.Client(collection, make_tickets(collection, operator, 1)[0])
    >>> [len(body) for body in client.contribution([0.3, 0.5], [0.1, 0.7])]  # one for each server
    [11016, 11016]
    """

    def __init__(self, collection: Collection, ticket: str) -> None:
        from dpheatmap.collect.tickets import ticket_bytes

        self.collection = collection
        self._ticket = ticket_bytes(ticket)

    def contribution(self, x: ArrayLike, y: ArrayLike, source: Source = os.urandom) -> list[bytes]:
        """What to send to each receiver, for one person's points; points outside the domain count for nothing."""
        return self._seal(*self.collection.terms.tree.leaves(x, y), source)

    def contribution_of(self, counts: Counts, source: Source = os.urandom) -> list[bytes]:
        """The same for one person's counts, as `aggregate` makes them of a table for the collection's domain."""
        tree = self.collection.terms.tree
        if counts.domain != tree.domain:
            raise ParameterError(
                "Counts must be of the collection's domain, and these are not. Aggregate for that one."
            )
        codes, weights = counts.codes >> 2 * (counts.domain.depth - tree.last), np.diff(counts.sums)
        return self._seal(codes, weights // max(1, int(np.gcd.reduce(weights))), source)

    def send(self, bodies: Iterable[bytes], network: Network) -> None:
        """Send a contribution to all receivers; one that does not reach all of them is left out by all of them.

        If it fails, send the same again: another one with the same ticket is refused by whom the first one reached.
        """
        for party, body in zip(self.collection.receivers, bodies, strict=True):
            network.deliver(party, "/contributions", body)

    def keep(self, bodies: list[bytes], path: str | PathLike[str]) -> list[bytes]:
        """Write a contribution down, sealed as it is, and return what to send: the one that was written there first.

        So two runs at the same time send one contribution, and nobody hears two reports.
        """
        try:
            with replace_whole(path, private=True, anew=True) as temporary:
                temporary.write_bytes(b"".join(bodies))
        except FileExistsError:
            return self.kept(path) or self.keep(bodies, path)  # again, if it is gone by now
        return bodies

    def kept(self, path: str | PathLike[str]) -> list[bytes] | None:
        """The contribution that was written down, or None if there is no file; a file of something else is an error.

        A ticket is signed for one collection, so that what starts with it is for that collection.
        """
        size, count = body_size(self.collection), len(self.collection.receivers)
        try:
            with Path(path).open("rb") as file:
                found = [file.read(size) for _ in range(count)]
                rest = file.read(1)
        except FileNotFoundError:
            return None
        except OSError:
            raise DataError(
                f"{fspath(path)!r} can't be read. Give the file that the contribution is kept in."
            ) from None
        if rest or any(len(body) != size or not body.startswith(self._ticket) for body in found):
            raise DataError(
                f"{Path(path).name} is not a contribution of this ticket to this collection. Give the file that it was "
                "kept in, or a new name."
            )
        return found

    def _seal(self, codes: Ints, weights: Ints, source: Source) -> list[bytes]:
        nonce = secrets.token_bytes(NONCE)
        info = contribution_info(self.collection, self._ticket, nonce)
        return [
            self._ticket + nonce + party.key.seal(content, info)
            for party, content in zip(self.collection.receivers, self._contents(codes, weights, source), strict=True)
        ]

    def _contents(self, codes: Ints, weights: Ints, source: Source) -> list[bytes]:
        """What is sealed for each receiver."""
        terms = self.collection.terms
        if isinstance(terms, LocalTerms):
            return [report_of(terms, codes, weights, source).to_padded_bytes(terms)]
        if terms.model == "servers":
            return self._shares(codes, weights, source)
        return [b"".join(self._messages(codes, weights, source))]

    def _shares(self, codes: Ints, weights: Ints, source: Source) -> list[bytes]:
        from dpheatmap.collect.contribution import vector_of
        from dpheatmap.collect.shares import split

        terms = self.collection.summed
        rows = split(vector_of(terms, codes, weights, source), terms.servers, WORD, source)
        return [row.astype("<u8").tobytes() for row in rows]

    def _messages(self, codes: Ints, weights: Ints, source: Source) -> Iterable[bytes]:
        from dpheatmap.collect.contribution import messages, noisy_vector, vector_of

        terms, analyser = self.collection.summed, self.collection.parties[1]
        size, info = message_size(self.collection), self.collection.purpose("message")
        vector = noisy_vector(terms, vector_of(terms, codes, weights, source), source)
        for message in messages(terms, vector, source).tolist():
            yield analyser.key.seal(message.to_bytes(size, "little"), info)


def contribution_info(collection: Collection, ticket: bytes, nonce: bytes) -> bytes:
    """What a contribution is sealed with, so that no part of it can be taken for another's, or of another one."""
    return collection.purpose("contribution") + ticket + nonce


def message_size(collection: Collection) -> int:
    """The bytes of a message before it is sealed."""
    return -(-collection.summed.message_bits // 8)


def body_size(collection: Collection) -> int:
    """The bytes of a contribution, which are the same for everybody."""
    from dpheatmap.collect.keys import OVERHEAD
    from dpheatmap.collect.tickets import SIZE

    content = collection.terms.payload_bytes
    if collection.terms.model == "shuffle":
        terms = collection.summed
        content = terms.shares * terms.tree.size * (message_size(collection) + OVERHEAD)
    return SIZE + NONCE + content + OVERHEAD
