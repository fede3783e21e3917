"""The coordinates of all cells of all levels, over which contributions, shares and sums are vectors.

Nobody sees a noisy value before all contributions are in, so no level can be chosen by looking at the one above: every
cell of every level that meets the domain has a coordinate. They are ordered by level, then by Morton code.
"""

from __future__ import annotations

import os
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike

from dpheatmap.collect.polya import uniform_below
from dpheatmap.curator import Source
from dpheatmap.errors import ParameterError
from dpheatmap.place.domain import Domain
from dpheatmap.place.quadtree import Ints, encode


class Tree:
    """The coordinates of the levels ``first .. last`` of a domain."""

    def __init__(self, domain: Domain, first: int, last: int) -> None:
        self.domain, self.first, self.last = domain, first, last
        self._codes = [domain.codes(level) for level in range(first, last + 1)]
        self._starts = np.cumsum([0, *map(len, self._codes)])

    @property
    def size(self) -> int:
        """The number of coordinates."""
        return int(self._starts[-1])

    def part(self, level: int) -> slice:
        """The slice of a level in the vector."""
        return slice(int(self._starts[level - self.first]), int(self._starts[level - self.first + 1]))

    def leaves(self, x: ArrayLike, y: ArrayLike) -> tuple[Ints, Ints]:
        """The cells of the last level that points lie in: Morton codes, ascending, and the number of points in each.

        >>> codes, points = Tree(Domain.unit(3), 0, 2).leaves([0.1, 0.9, 0.9, 7.0], [0.1, 0.9, 0.9, 7.0])
        >>> codes.tolist(), points.tolist()
        ([0, 15], [1, 2])
        """
        try:
            columns, rows, inside = self.domain.locate(x, y)
            if np.shape(x) != np.shape(y) or inside.ndim != 1:
                raise ValueError
        except (TypeError, ValueError):
            raise ParameterError(
                "x and y must be two lists of numbers, equally long. Give one of each for a point."
            ) from None
        codes = encode(columns[inside], rows[inside]) >> 2 * (self.domain.depth - self.last)
        found, points = np.unique(codes, return_counts=True)
        return found, points.astype(np.int64)

    def sum_levels(self, codes: Ints, values: Ints) -> Ints:
        """Sum values of cells of the last level up to every level: a vector over all coordinates."""
        vector = np.zeros(self.size, dtype=np.int64)
        for level in range(self.first, self.last + 1):
            at = np.searchsorted(self._codes[level - self.first], codes >> 2 * (self.last - level))
            np.add.at(vector[self.part(level)], at, values)
        return vector


@lru_cache(maxsize=16)
def tree_of(domain: Domain, first: int, last: int) -> Tree:
    """The coordinates of these levels, cached."""
    return Tree(domain, first, last)


def round_weights(weights: Ints, units: int, source: Source = os.urandom) -> Ints:
    """Round weights of cells to whole units with the sum ``units`` exactly; no weights at all stay nothing.

    *Systematic rounding.* Lay the cells along a line, each as long as its part of ``units``, and count the marks
    ``k + U`` in each, one random U for all: with prefix sums C of the weights and T their sum, cell c gets
    ``ceil(units C_c / T - U) - ceil(units C_(c-1) / T - U)``. With U in steps of 1/T that is integer arithmetic, and

    * the sum is ``ceil(units - U) - ceil(-U) = units``, as 0 <= U < 1;
    * each *range* of cells gets its exact part on average, and always to within less than 1. In Morton order every
      cell of a coarser level is a range of the finest: no level loses mass, however deep.

    >>> int(round_weights(np.array([1, 1, 1]), 256).sum())
    256
    """
    total = int(weights.sum())
    if total == 0:
        return np.zeros(len(weights), dtype=np.int64)
    sums = np.cumsum(weights)
    if total * units >= 2**63:  # beyond 64 bits: a table's weights in a curator's units, not numbers of points
        sums = sums.astype(object)
    ends = sums * units - uniform_below(np.array([total]), source)
    whole: Ints = np.diff(-(-ends // total), prepend=0).astype(np.int64)
    return whole
