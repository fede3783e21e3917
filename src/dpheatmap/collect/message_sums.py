"""Sums of shuffled messages by coordinate. A message is ``coordinate * Q + share`` for a power of two Q."""

from __future__ import annotations

import numpy as np

from dpheatmap._util.jit import njit
from dpheatmap.collect.additive_shares import Words, signed_integers
from dpheatmap.collect.shuffle_terms import ShuffleTerms
from dpheatmap.errors import DataError
from dpheatmap.place.quadtree import Ints


class MessageSums:
    """Sums of messages by coordinate, for the reader of shuffled messages."""

    def __init__(self, terms: ShuffleTerms) -> None:
        self.terms = terms
        self._sums = np.zeros(terms.tree.size, dtype=np.uint64)
        self._numbers = np.zeros(terms.tree.size, dtype=np.int64)

    def add(self, found: Words) -> None:
        """Add messages in any order."""
        add_messages(found, self.terms.modulus_bits, self._sums, self._numbers)

    def participants(self) -> int:
        """The number of people whose messages were added; an error if some messages are missing.

        A missing share leaves the sum of its coordinate uniform, and nobody can tell whose it was.
        """
        people, rest = divmod(int(self._numbers[0]), self.terms.shares)
        if rest or np.any(self._numbers != self._numbers[0]):
            raise DataError(
                "Some messages of a contribution are missing or too many, so the sums can't be decoded. "
                "Collect again; a ticket for each device keeps strangers out."
            )
        return people

    def decode(self) -> Ints:
        """The noisy sums."""
        return signed_integers(self._sums, self.terms.modulus_bits, self.terms.largest_sum)


@njit(cache=True)
def add_messages(messages: Words, modulus_bits: int, sums: Words, numbers: Ints) -> None:
    """Add shares to the sums of their coordinates, mod 2^64, and count them; invalid coordinates are ignored."""
    mask = (np.uint64(1) << np.uint64(modulus_bits)) - np.uint64(1)
    for message in messages:
        coordinate = message >> np.uint64(modulus_bits)
        if coordinate < len(sums):
            sums[coordinate] += message & mask
            numbers[coordinate] += 1
