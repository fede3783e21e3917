"""Sums over servers of vectors whose L1 norm each device proves to be bounded: Prio3L1BoundSum.

A device weighs at most 1, which is ``bound`` units. It sends shares of the cells of the finest level only. A server's
share of the count of a larger cell is the sum of its shares of the cells in it: in Morton order a range.

1. A device calls `shard` with a fresh random nonce, and sends each server its share and the public share.
2. Each server calls `verify_init` **once** for a contribution, with the key that all servers have and devices have not,
   and tells the others what it returns.
3. `verifier_shares_to_message` decides. It takes what all servers told, and anybody can compute it.
4. `verify_next` returns the server's share of a valid contribution. `sum_shares` adds them up.
5. `noisy_sums` is what a server publishes of cells. `decode` adds up what all servers published.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from dpheatmap.collect.vdaf.l1_bound import L1BoundSum
from dpheatmap.collect.vdaf.prime_field import FIELD128, BadEncoding, Ints
from dpheatmap.collect.vdaf.prio3 import Prio3
from dpheatmap.collect.vdaf.residues import Residues
from dpheatmap.errors import DataError

IDENTIFIER = 7
"""The number of Prio3L1BoundSum among VDAFs."""


class BoundedSum(Prio3):
    """Sums of vectors of ``length`` integers from 0 on, with a sum of at most ``bound`` each, by so many servers.

    Prio3 does not bind contributions to these parameters. ``context`` must do so: it names the collection, and whatever
    names it must determine its terms.

    >>> import os
    >>> import numpy as np
    >>> sums, nonce, key = BoundedSum(4, 16, 2, b"the collection"), os.urandom(16), os.urandom(32)
    >>> public, shares = sums.shard(np.array([0, 9, 0, 7]), nonce, os.urandom(sums.rand_size))
    >>> begun = [sums.verify_init(key, server, nonce, public, share) for server, share in enumerate(shares)]
    >>> message = sums.verifier_shares_to_message([told for _, told in begun])
    >>> outputs = [sums.verify_next(state, message) for state, _ in begun]
    >>> starts, stops = np.array([0, 0]), np.array([4, 2])
    >>> noise = [sums.field.of_array(np.array(drawn)) for drawn in ([-20, 1], [1, 2])]
    >>> published = [sums.noisy_sums(share, starts, stops, drawn) for share, drawn in zip(outputs, noise)]
    >>> sums.decode(published).tolist()
    [-3, 12]
    """

    def __init__(self, length: int, bound: int, servers: int, context: bytes) -> None:
        super().__init__(L1BoundSum(FIELD128, length, bound), servers, IDENTIFIER, context)

    @property
    def upload_size(self) -> int:
        """The number of bytes that a device sends to all servers, before any sealing."""
        return sum(self.share_size(server) + self.public_size for server in range(self.servers))

    def noisy_sums(self, share: Residues, starts: Ints, stops: Ints, noise: Residues) -> bytes:
        """A server's shares of the sums of ranges of cells, with its noise, mod p.

        The noise is drawn as integers of any size, which are elements by ``field.of_array``. What is published is a
        function of the integers ``sum + noise``, so it is as private as these.
        """
        return self.field.encode(self.field.add(self.field.sum_ranges(share, starts, stops), noise))

    def decode(self, published: Sequence[bytes]) -> Ints:
        """The noisy sums of all servers' shares of them; an error if these are not what servers would publish."""
        if len(published) != self.servers or len({len(one) for one in published}) > 1:
            raise DataError("Each server publishes as many sums as the others, and these did not. Fetch them again.")
        try:
            shares = [self.field.decode(one) for one in published]
        except BadEncoding:
            raise DataError("A server has published what are no numbers of the field. Ask its operator.") from None
        return self.field.signed_integers(reduce(self.field.add, shares))
