"""A device: one person's points to a contribution that nobody learns anything from, and its way to the receivers.

What leaves the device is `sealed` for those who may read it: for servers one uniform share each, for the shuffle model
one text for each message (coordinate, share), because two messages in one text would be known to come from one person.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from dpheatmap.collect.collection import Collection
from dpheatmap.collect.terms import WORD
from dpheatmap.curator.noise import Source
from dpheatmap.quadtree import Ints

if TYPE_CHECKING:
    from dpheatmap.collect.network import Network
    from dpheatmap.curator.counts import Counts

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
        return self._sealed(*self.collection.terms.tree.leaves(x, y), source)

    def contribution_of(self, counts: Counts, source: Source = os.urandom) -> list[bytes]:
        """The same for one person's counts, as `aggregate` makes them of a table."""
        tree = self.collection.terms.tree
        codes, weights = counts.codes >> 2 * (counts.domain.depth - tree.last), np.diff(counts.sums)
        return self._sealed(codes, weights // max(1, int(np.gcd.reduce(weights))), source)

    def send(self, bodies: Iterable[bytes], network: Network) -> None:
        """Send a contribution to all receivers; one that does not reach all of them is left out by all of them."""
        for party, body in zip(self.collection.receivers, bodies, strict=True):
            network.deliver(party, "/contributions", body)

    def _sealed(self, codes: Ints, weights: Ints, source: Source) -> list[bytes]:
        nonce = secrets.token_bytes(NONCE)
        if self.collection.terms.model == "servers":
            return [self._ticket + nonce + share for share in self._shares(codes, weights, nonce, source)]
        return [self._ticket + nonce + b"".join(self._messages(codes, weights, source))]

    def _shares(self, codes: Ints, weights: Ints, nonce: bytes, source: Source) -> Iterable[bytes]:
        from dpheatmap.collect.contribution import vector_of
        from dpheatmap.collect.shares import split

        terms = self.collection.terms
        info = share_info(self.collection, self._ticket, nonce)
        rows = split(vector_of(terms, codes, weights, source), terms.servers, WORD, source)
        for party, row in zip(self.collection.parties, rows, strict=True):
            yield party.key.seal(row.astype("<u8").tobytes(), info)

    def _messages(self, codes: Ints, weights: Ints, source: Source) -> Iterable[bytes]:
        from dpheatmap.collect.contribution import messages, noisy, vector_of

        terms, analyser = self.collection.terms, self.collection.parties[1]
        size, info = message_size(self.collection), self.collection.purpose("message")
        for message in messages(terms, noisy(terms, vector_of(terms, codes, weights, source), source), source).tolist():
            yield analyser.key.seal(message.to_bytes(size, "little"), info)


def share_info(collection: Collection, ticket: bytes, nonce: bytes) -> bytes:
    """What a share is sealed with, so that it can't be taken for anybody else's or of another contribution."""
    return collection.purpose("share") + ticket + nonce


def message_size(collection: Collection) -> int:
    """The bytes of a message before it is sealed."""
    return -(-collection.terms.message_bits // 8)


def body_size(collection: Collection) -> int:
    """The bytes of a contribution, which are the same for everybody."""
    from dpheatmap.collect.keys import OVERHEAD
    from dpheatmap.collect.tickets import SIZE

    terms = collection.terms
    if terms.model == "servers":
        return SIZE + NONCE + terms.payload_bytes + OVERHEAD
    return SIZE + NONCE + terms.shares * terms.tree.size * (message_size(collection) + OVERHEAD)
