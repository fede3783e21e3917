"""The engine's answer to the aggregation query, sorted in tree order, and its conversion to counts.

The statement of `query.py` returns the occupied cells and, marked by a column of -1, a few counters. In tree order they
are rows (group_number, code, weight): counters first, with codes below zero, then the cells of each group by Morton
code. A long answer of DuckDB is encoded as it is read, and sorted in place, by `engines/tree_order.py`. `Answer.of`
sorts all others. Hours and groups make a long answer, for which an engine hashes every event. Where all cells fit into
an array, DuckDB's events are added up there instead (`AddedUp`), which takes neither hashes nor an order.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from dpheatmap.curator.core.counts import Counts
from dpheatmap.curator.core.query import COUNTERS
from dpheatmap.place.domain import Domain
from dpheatmap.place.quadtree import Ints, encode

MOST_CELLS = 2**24
"""The most cells, in all groups, that are added up in an array: 128 megabytes."""
FIRST_COUNTER = -64
"""The code of the first counter. Those of the others follow, and all are below zero."""


@dataclass(frozen=True, eq=False, repr=False)
class Answer:
    """Rows in tree order; ``groups`` is None if there is only one place. Private."""

    codes: Ints
    weights: Ints
    groups: Ints | None = None

    @classmethod
    def of(cls, columns: Mapping[str, Ints]) -> Answer:
        """Make the answer of the statement's rows (cx, cy, weight, perhaps group_number), which come in any order."""
        cells = columns["cx"] >= 0
        codes = np.where(cells, encode(np.where(cells, columns["cx"], 0), columns["cy"]), FIRST_COUNTER + columns["cy"])
        groups = columns.get("group_number")
        order = np.argsort(codes) if groups is None else np.lexsort((codes, groups))
        return cls(codes[order], columns["weight"][order], None if groups is None else groups[order])

    @property
    def counters(self) -> list[int]:
        """The counters, in the order of `query.COUNTERS`."""
        first = np.searchsorted(self.codes[:-FIRST_COUNTER], 0) if self.groups is None else self._until(0)
        return [int(weight) for weight in self.weights[:first]]

    def counts(self, domain: Domain, groups: int) -> list[Counts]:
        """The counts of each of ``groups`` groups, or of the one place."""
        if self.groups is None:
            starts = [len(self.counters), len(self.codes)]
        else:
            starts = [self._until(number) for number in range(groups + 1)]
        return [
            Counts.in_order(domain, self.codes[start:end], self.weights[start:end]) for start, end in pairwise(starts)
        ]

    def _until(self, number: int) -> int:
        assert self.groups is not None
        return int(np.searchsorted(self.groups, number))


def cells_to_add_up(domain: Domain, groups: int) -> int | None:
    """The number of cells in all groups, if they are few enough to be added up in an array: a public fact."""
    of = domain.cells(domain.depth)
    size = (of.x1 - of.x0) * (of.y1 - of.y0) * groups
    return size if size <= MOST_CELLS else None


@dataclass(frozen=True, eq=False, repr=False)
class AddedUp:
    """The sums of all numbers of a statement that is not summed: counters, then cells. Private."""

    sums: Ints

    @property
    def counters(self) -> list[int]:
        """The counters, in the order of `query.COUNTERS`."""
        return [int(value) for value in self.sums[: len(COUNTERS)]]

    def counts(self, domain: Domain, groups: int) -> list[Counts]:
        """The counts of each group."""
        of = domain.cells(domain.depth)
        y, x = np.mgrid[of.y0 : of.y1, of.x0 : of.x1].reshape(2, -1)
        codes = encode(x, y)
        order = np.argsort(codes)
        codes = codes[order]
        found = []
        for cells in self.sums[len(COUNTERS) :].reshape(groups, -1):
            weights = cells[order]
            occupied = np.flatnonzero(weights)
            found.append(Counts.in_order(domain, codes[occupied], weights[occupied]))
        return found
