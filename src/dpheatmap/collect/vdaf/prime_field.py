"""Prime fields: numbers modulo a prime p, whose nonzero numbers have subgroups of orders that are powers of two.

`FIELD64` and `FIELD128` are those of the VDAF draft (draft-irtf-cfrg-vdaf, section 6.1). Their numbers are encoded as
8 or 16 bytes, the lowest first. Elements of a field are arrays of two words each (`residues.py`).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from dpheatmap.collect.vdaf import residues
from dpheatmap.collect.vdaf.residues import Residues
from dpheatmap.errors import DataError

Ints = NDArray[np.int64]
_MASK = (1 << 64) - 1


class BadEncoding(Exception):  # noqa: N818
    """Bytes that encode no elements of the field."""


@dataclass(frozen=True)
class PrimeField:
    """The field of numbers modulo a prime below 2^128.

    ``generator`` generates a subgroup of the order ``2**two_adicity``.
    """

    modulus: int
    generator: int
    two_adicity: int

    @cached_property
    def encoded_size(self) -> int:
        """The number of bytes of an element."""
        return 8 if self.modulus <= 1 << 64 else 16

    @cached_property
    def constants(self) -> Residues:
        """What the kernels need to know."""
        return residues.constants_of(self.modulus)

    def zeros(self, *shape: int) -> Residues:
        """Zeros."""
        return np.zeros((*shape, 2), dtype=np.uint64)

    def of(self, values: Iterable[int]) -> Residues:
        """Elements of integers, of which negative ones stand for their distance below p.

        >>> FIELD64.integers(FIELD64.of([5, -1])) == [5, FIELD64.modulus - 1]
        True
        """
        numbers = [value % self.modulus for value in values]
        return np.array([(n & _MASK, n >> 64) for n in numbers], dtype=np.uint64).reshape(-1, 2)

    def of_array(self, values: Ints) -> Residues:
        """Elements of an array of integers above -p and below p."""
        out = self.zeros(len(values))
        out[:, 0] = np.abs(values)
        return np.where((values < 0)[:, None], self.subtract(self.zeros(len(values)), out), out)

    def integers(self, elements: Residues) -> list[int]:
        """The integers 0 to p - 1 that elements are."""
        return [low | high << 64 for low, high in elements.reshape(-1, 2).tolist()]

    def signed_integers(self, elements: Residues) -> Ints:
        """The integers of less than 63 bits, positive or negative, that elements stand for.

        Sums of shares of which one is missing or spoilt are uniform, and in a field of 128 bits hardly ever so small.
        """
        negative = self.subtract(self.zeros(len(elements)), elements)
        small, minus = ((one[:, 1] == 0) & (one[:, 0] < 1 << 62) for one in (elements, negative))
        if not np.all(small | minus):
            raise DataError(
                "The sums of all servers' shares are no counts, so a share is missing or wrong. Collect again."
            )
        return np.where(small, elements[:, 0].astype(np.int64), -negative[:, 0].astype(np.int64))

    def encode(self, elements: Residues) -> bytes:
        """The bytes of elements."""
        return elements.reshape(-1, 2)[:, : self.encoded_size // 8].astype("<u8").tobytes()

    def decode(self, encoded: bytes) -> Residues:
        """The elements that bytes encode."""
        words = self._words(encoded)
        if not np.array_equal(residues.keep_residues(words, self._all_bits, self.constants), words):
            raise BadEncoding
        return words

    def accept(self, drawn: bytes) -> Residues:
        """Of uniform bytes the elements that they encode, cut to the bits of p: those from p on are left out."""
        return residues.keep_residues(self._words(drawn), self._p_bits, self.constants)

    def add(self, a: Residues, b: Residues) -> Residues:
        """Sums, one by one."""
        return self._pairwise(residues.add_pairs, a, b)

    def subtract(self, a: Residues, b: Residues) -> Residues:
        """Differences, one by one."""
        return self._pairwise(residues.subtract_pairs, a, b)

    def multiply(self, a: Residues, b: Residues) -> Residues:
        """Products, one by one."""
        return self._pairwise(residues.multiply_pairs, a, b)

    def combine(self, weights: Residues, rows: Residues) -> Residues:
        """The sum of rows, each times its weight."""
        return residues.combine_rows(weights, np.ascontiguousarray(rows), self.constants)

    def sum(self, elements: Residues) -> Residues:
        """The sum of all elements, as a list of one."""
        return residues.add_up(elements, self.constants)[-1:]

    def sum_ranges(self, elements: Residues, starts: Ints, stops: Ints) -> Residues:
        """The sums of the elements ``start .. stop - 1`` of each range.

        >>> FIELD64.integers(FIELD64.sum_ranges(FIELD64.of([1, 2, 3]), np.array([0, 1]), np.array([2, 1])))
        [3, 0]
        """
        sums = residues.add_up(elements, self.constants)
        return self.subtract(sums[stops], sums[starts])

    def root(self, order: int) -> int:
        """The root of unity whose order is this power of two."""
        return pow(self.generator, (1 << self.two_adicity) // order, self.modulus)

    def powers(self, bases: Residues, count: int) -> Residues:
        """The powers 1, b, b^2, ... of each base: so many, in a row for each base."""
        return residues.power_series(bases, count, self.constants)

    def transform(self, rows: Residues, root: int) -> Residues:
        """The values at the powers of a root of unity of polynomials whose coefficients are the columns."""
        out = np.array(rows, order="C")
        residues.transform_rows(out, self.powers(self.of([root]), len(rows))[0], self.constants)
        return out

    def basis(self, order: int, point: Residues) -> Residues:
        """The factors by which values at the powers of a root w of this order make a polynomial's value at a point t.

        For the i-th power that is ``w^i / N`` times the product of ``t - w^j`` over all other j: it is 0 at these, and
        1 at w^i, where the product is ``N / w^i``, the derivative of ``x^N - 1``.
        """
        powers = self.powers(self.of([self.root(order)]), order)[0]
        scale = self.multiply(powers, self.of([pow(order, -1, self.modulus)]))
        return self.multiply(scale, residues.products_of_others(self.subtract(point, powers), self.constants))

    def _words(self, encoded: bytes) -> Residues:
        if len(encoded) % self.encoded_size:
            raise BadEncoding
        read = np.frombuffer(encoded, dtype="<u8").reshape(-1, self.encoded_size // 8)
        words = self.zeros(len(read))
        words[:, : read.shape[1]] = read
        return words

    def _pairwise(self, kernel: residues.Kernel, a: Residues, b: Residues) -> Residues:
        left, right = (np.ascontiguousarray(one).reshape(-1, 2) for one in np.broadcast_arrays(a, b))
        return kernel(left, right, self.constants).reshape(np.broadcast_shapes(a.shape, b.shape))

    @cached_property
    def _all_bits(self) -> Residues:
        return np.array([_MASK, _MASK], dtype=np.uint64)

    @cached_property
    def _p_bits(self) -> Residues:
        mask = (1 << (self.modulus - 1).bit_length()) - 1
        return np.array([mask & _MASK, mask >> 64], dtype=np.uint64)


FIELD64 = PrimeField(2**32 * 4294967295 + 1, pow(7, 4294967295, 2**32 * 4294967295 + 1), 32)
FIELD128 = PrimeField(2**66 * 4611686018427387897 + 1, pow(7, 4611686018427387897, 2**66 * 4611686018427387897 + 1), 66)
