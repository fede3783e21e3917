"""Integer weights per cell, as a sparse quadtree sized by the occupied cells. Private: never publish it.

The tree is two sorted arrays. All descendants of a cell are one range of Morton codes, so the weight of any cell of
any level is a difference of two prefix sums found by bisection: nothing is stored per level or per empty cell.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from dpheatmap.budget import UNITS
from dpheatmap.domain import Domain
from dpheatmap.errors import DataError, MissingDependency
from dpheatmap.quadtree import Ints, decode, encode

if TYPE_CHECKING:
    from dpheatmap.curator.engines import RowReport
    from dpheatmap.curator.ledger_chain import Part


@dataclass(frozen=True, eq=False, repr=False)
class Counts:
    """Weights of the occupied cells at the finest level, in units of 1/W of a person.

    Contract: the weights are integers >= 0, and adding one person's data to the table adds non-negative integers
    to them whose sum is at most W. Then every level, as a vector over its cells, changes by at most W in L1 norm.
    With a ``part`` they are about the people of that part alone: adding anybody else adds nothing.
    """

    domain: Domain
    codes: Ints
    sums: Ints
    report: RowReport | None = None
    part: Part | None = None

    @classmethod
    def from_cells(cls, domain: Domain, x: Ints, y: Ints, weight: Ints, report: RowReport | None = None) -> Counts:
        """Sort the cells of the finest level, which must be distinct, by Morton code and add their weights up."""
        weight = np.asarray(weight, dtype=np.int64)
        if int((weight >> 31).sum()) >= 2**31:
            raise DataError("The weights are those of over four billion people, more than can be added up. Split them.")
        codes = encode(x, y)
        order = np.argsort(codes)
        sums = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(weight[order])])
        return cls(domain, codes[order], sums, report)

    def at(self, level: int, codes: Ints) -> Ints:
        """The weights of cells of a level, given by their Morton codes."""
        shift = 2 * (self.domain.depth - level)
        low = np.searchsorted(self.codes, codes << shift)
        high = np.searchsorted(self.codes, (codes + 1) << shift)
        return self.sums[high] - self.sums[low]

    def to_arrow(self) -> Any:
        """The occupied cells as an Arrow table: x, y, weight. Private: exact weights of people."""
        try:
            import pyarrow as pa
        except ImportError as error:
            raise MissingDependency("pyarrow", "to_arrow") from error
        x, y = decode(self.codes)
        return pa.table({"x": x, "y": y, "weight": np.diff(self.sums)})

    def __repr__(self) -> str:
        return f"<Counts of a {self.domain.kind} domain, private: {UNITS} units a person>"
