"""What an engine answers to the one aggregation, in the order of the tree, and the counts it is turned into.

The statement of `query.py` ends with occupied cells and, marked by a column of -1, a few counters. In the order of the
tree they are rows (group_number, code, weight): counters come first, with codes below zero, then the cells of each
group by their Morton codes. An engine that can sort out of core hands its rows over like this, so that nothing of the
size of the answer is sorted or masked here; for others `Answer.of` does it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from dpheatmap.curator.core.counts import Counts
from dpheatmap.place.domain import Domain
from dpheatmap.place.quadtree import SPREAD, Ints, encode

FIRST_COUNTER = -64
"""The code of the first counter; those of the others follow, and all are below zero."""


def in_tree_order(sql: str, *, grouped: bool) -> str:
    """The statement of `query.py` as one that gives (group_number, code, weight) in the tree's order; for DuckDB."""
    place = "group_number, " if grouped else ""
    # The bits of a counter's column, -1, could not be shifted.
    bits = "CAST(CASE WHEN cx < 0 THEN 0 ELSE cx END AS BIGINT) AS a, CAST(cy AS BIGINT) AS b"
    query = f"SELECT {place}cx < 0 AS counter, cy, {bits}, weight FROM ({sql})"
    for shift, mask in SPREAD:
        spread = ", ".join(f"({bits} | ({bits} << {shift})) & {mask} AS {bits}" for bits in "ab")
        query = f"SELECT {place}counter, cy, {spread}, weight FROM ({query})"
    code = f"CASE WHEN counter THEN {FIRST_COUNTER} + cy ELSE a | (b << 1) END AS code"
    return f"SELECT {place}{code}, weight FROM ({query}) ORDER BY {place}code"


@dataclass(frozen=True, eq=False, repr=False)
class Answer:
    """Rows in the order of the tree; ``groups`` is None if there is one place alone. Private."""

    codes: Ints
    weights: Ints
    groups: Ints | None = None

    @classmethod
    def of(cls, columns: Mapping[str, Ints]) -> Answer:
        """The rows cx, cy, weight and perhaps group_number, in any order, as the statement gives them."""
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
        """The counts of each group, of which there are so many, or of the one place."""
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
