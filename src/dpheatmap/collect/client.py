"""The device, which turns one person's points into a contribution that reveals nothing, and sends it.

A contribution is sealed for each receiver, with the ticket and a nonce. Each server gets its share, which looks
uniform. The shuffler gets all messages (coordinate, share). Each message is first sealed for the analyser by itself,
because two messages in one text would be known to come from one person. TLS alone is not enough: it may end at somebody
else's machine, and whoever watches the line there could tell the analyser whose messages are whose.

In the local model a contribution is a report that anybody might read, and that must be made *once*: epsilon is the
price of one report, and a second one costs epsilon again. So a contribution can be kept in a file and sent again from
there.
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
from dpheatmap.collect.server_terms import ServerTerms
from dpheatmap.curator import Source
from dpheatmap.errors import DataError, ParameterError
from dpheatmap.place.quadtree import Ints

if TYPE_CHECKING:
    from dpheatmap.collect.device_account import DeviceAccount
    from dpheatmap.collect.keys import PublicKey
    from dpheatmap.collect.network import Network
    from dpheatmap.curator import Counts

NONCE = 16


class Client:
    """One person's device in a collection.

    Parameters
    ----------
    collection : Collection
        The collection that it takes part in.
    ticket : str
        The ticket that it was given.
    parties : iterable of str or PublicKey, default ()
        Public keys of the organisations that run the parties, as they themselves publish them; see
        `trusted_parties.py`. In the local model none are needed.
    account : DeviceAccount or None
        What limits the epsilon of all collections together; None only for devices that take part once, as in a test.

    Attributes
    ----------
    collection : Collection
        The collection that it takes part in.

    Raises
    ------
    PrivacyRefusal
        If it is not known who runs one of the parties.

    Examples
    --------
    >>> import dpheatmap as dph
    >>> from datetime import datetime, timedelta, UTC
    >>> from dpheatmap.collect.keys import PrivateKey
    >>> from dpheatmap.collect.tickets import make_tickets
    >>> operator, one, two = (PrivateKey.make() for _ in range(3))
    >>> terms = dph.collect.ServerTerms.of(dph.Domain.unit(5), epsilon=1, n_min=10, n_max=100)
    >>> parties = {"https://one.example": one.public, "https://two.example": two.public}
    >>> tomorrow = datetime.now(UTC) + timedelta(days=1)
    >>> collection = dph.collect.Collection.open(terms, parties, tomorrow, operator)
    >>> ticket = make_tickets(collection, operator, 1)[0]
    >>> client = dph.collect.Client(collection, ticket, parties=[one.public, two.public], account=None)
    >>> [len(body) for body in client.contribution([0.3, 0.5], [0.1, 0.7])]  # one for each server
    [8328, 168]
    """

    def __init__(
        self,
        collection: Collection,
        ticket: str,
        *,
        parties: Iterable[str | PublicKey] = (),
        account: DeviceAccount | None,
    ) -> None:
        from dpheatmap.collect.tickets import ticket_bytes
        from dpheatmap.collect.trusted_parties import check_parties, keys_of

        check_parties(collection, keys_of(parties))
        self.collection = collection
        self._ticket = ticket_bytes(ticket)
        self._account = account

    def contribution(self, x: ArrayLike, y: ArrayLike, source: Source = os.urandom) -> list[bytes]:
        """Make the contribution of one person's points.

        Parameters
        ----------
        x, y : array of float
            The points, in the domain's coordinates; those outside the domain count for nothing.
        source : callable, default os.urandom
            The source of random bytes.

        Returns
        -------
        list of bytes
            What to send to each receiver.
        """
        return self._seal(*self.collection.terms.tree.leaves(x, y), source)

    def contribution_of(self, counts: Counts, source: Source = os.urandom) -> list[bytes]:
        """Make the contribution of one person's counts.

        Parameters
        ----------
        counts : Counts
            What :func:`dpheatmap.aggregate` made of the person's table, for the collection's domain.
        source : callable, default os.urandom
            The source of random bytes.

        Returns
        -------
        list of bytes
            What to send to each receiver.

        Raises
        ------
        ParameterError
            If the counts are of another domain.
        """
        tree = self.collection.terms.tree
        if counts.domain != tree.domain:
            raise ParameterError(
                "Counts must be of the collection's domain, and these are not. Aggregate for that one."
            )
        codes, weights = counts.codes >> 2 * (counts.domain.depth - tree.last), np.diff(counts.sums)
        return self._seal(codes, weights // max(1, int(np.gcd.reduce(weights))), source)

    def send(self, bodies: Iterable[bytes], network: Network) -> None:
        """Send a contribution to all receivers; one that does not reach all of them is left out by all of them.

        It is charged to the device's account before anything is sent. If it fails, send the same contribution again: a
        receiver that the first one reached refuses another one with the same ticket.

        Parameters
        ----------
        bodies : iterable of bytes
            The contribution, by :meth:`contribution` or :meth:`kept`.
        network : Network
            How to reach the receivers.

        Raises
        ------
        PrivacyRefusal
            If the device's limit has no room for it.
        """
        bodies = list(bodies)
        if self._account is not None:
            self._account.charge(self.collection, bodies)
        for party, body in zip(self.collection.receivers, bodies, strict=True):
            network.deliver(party, "/contributions", body)

    def keep(self, bodies: list[bytes], path: str | PathLike[str]) -> list[bytes]:
        """Write a contribution to a file, sealed as it is, unless the file holds one already.

        Two runs at the same time thus send one contribution, and nobody receives two reports.

        Parameters
        ----------
        bodies : list of bytes
            The contribution.
        path : path
            The file.

        Returns
        -------
        list of bytes
            What to send: the contribution that was written there first.
        """
        try:
            with replace_whole(path, private=True, anew=True) as temporary:
                temporary.write_bytes(b"".join(bodies))
        except FileExistsError:
            return self.kept(path) or self.keep(bodies, path)  # again, if the file is gone by now
        return bodies

    def kept(self, path: str | PathLike[str]) -> list[bytes] | None:
        """Read the contribution that :meth:`keep` wrote.

        Parameters
        ----------
        path : path
            The file.

        Returns
        -------
        list of bytes or None
            The contribution, or None if there is no file.

        Raises
        ------
        DataError
            If the file can't be read, or holds something else. A contribution starts with its ticket, which is signed
            for one collection.
        """
        sizes = [body_size(self.collection, number) for number in range(len(self.collection.receivers))]
        try:
            with Path(path).open("rb") as file:
                found = [file.read(size) for size in sizes]
                rest = file.read(1)
        except FileNotFoundError:
            return None
        except OSError:
            raise DataError(
                f"{fspath(path)!r} can't be read. Give the file that the contribution is kept in."
            ) from None
        if rest or [len(body) for body in found] != sizes or any(not body.startswith(self._ticket) for body in found):
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
        """The texts that are sealed for each receiver."""
        terms = self.collection.terms
        if isinstance(terms, LocalTerms):
            return [report_of(terms, codes, weights, source).to_padded_bytes(terms)]
        if isinstance(terms, ServerTerms):
            return self._shares(terms, codes, weights, source)
        return [b"".join(self._messages(codes, weights, source))]

    def _shares(self, terms: ServerTerms, codes: Ints, weights: Ints, source: Source) -> list[bytes]:
        from dpheatmap.collect.contribution import vector_of
        from dpheatmap.collect.seed_shares import split_by_seeds

        return split_by_seeds(vector_of(terms, codes, weights, source), terms.servers, source)

    def _messages(self, codes: Ints, weights: Ints, source: Source) -> Iterable[bytes]:
        from dpheatmap.collect.contribution import messages, noisy_vector, vector_of

        terms, analyser = self.collection.shuffled, self.collection.parties[1]
        size, info = message_size(self.collection), self.collection.purpose("message")
        vector = noisy_vector(terms, vector_of(terms, codes, weights, source), source)
        for message in messages(terms, vector, source).tolist():
            yield analyser.key.seal(message.to_bytes(size, "little"), info)


def contribution_info(collection: Collection, ticket: bytes, nonce: bytes) -> bytes:
    """The context that a contribution is sealed with, so that no part of it passes as a part of another."""
    return collection.purpose("contribution") + ticket + nonce


def message_size(collection: Collection) -> int:
    """The number of bytes of a message before it is sealed."""
    return -(-collection.shuffled.message_bits // 8)


def body_size(collection: Collection, number: int) -> int:
    """The number of bytes that the receiver of that number, from 0, gets of a contribution: the same of everybody."""
    from dpheatmap.collect.keys import OVERHEAD
    from dpheatmap.collect.tickets import SIZE

    return SIZE + NONCE + _content_size(collection, number) + OVERHEAD


def _content_size(collection: Collection, number: int) -> int:
    """The number of bytes that are sealed for a receiver."""
    from dpheatmap.collect.keys import OVERHEAD
    from dpheatmap.collect.seed_shares import share_bytes

    terms = collection.terms
    if isinstance(terms, LocalTerms):
        return terms.payload_bytes
    if isinstance(terms, ServerTerms):
        return share_bytes(number, terms.tree.size)
    return terms.shares * terms.tree.size * (message_size(collection) + OVERHEAD)
