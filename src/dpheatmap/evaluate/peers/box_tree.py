"""Binary trees of boxes on a grid, and least squares on the noisy counts of their boxes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpheatmap.place.domain import Floats
from dpheatmap.place.quadtree import Ints


@dataclass(frozen=True, eq=False)
class Boxes:
    """Disjoint boxes of a grid's cells: rows ``y0`` to ``y1 - 1`` and columns ``x0`` to ``x1 - 1``."""

    y0: Ints
    y1: Ints
    x0: Ints
    x1: Ints

    @classmethod
    def whole(cls, rows: int, columns: int) -> Boxes:
        """One box, the whole grid."""
        return cls(np.array([0]), np.array([rows]), np.array([0]), np.array([columns]))

    def __len__(self) -> int:
        return len(self.y0)

    @property
    def rows(self) -> Ints:
        """The number of rows of each box."""
        return self.y1 - self.y0

    @property
    def columns(self) -> Ints:
        """The number of columns of each box."""
        return self.x1 - self.x0

    def at(self, values: Ints) -> Ints:
        """The values of a raster in the boxes' first cells."""
        found: Ints = values[self.y0, self.x0]
        return found

    def only(self, chosen: NDArray[np.bool_]) -> Boxes:
        """The chosen boxes."""
        return Boxes(self.y0[chosen], self.y1[chosen], self.x0[chosen], self.x1[chosen])

    def cut(self, at: Ints, down: NDArray[np.bool_]) -> Boxes:
        """The two parts of each box, one after the other: cut below so many rows if ``down``, else after columns.

        >>> parts = Boxes.whole(4, 6).cut(np.array([1]), np.array([True]))
        >>> parts.rows.tolist(), parts.columns.tolist()
        ([1, 3], [6, 6])
        """
        row, column = np.where(down, self.y0 + at, self.y1), np.where(down, self.x1, self.x0 + at)
        first = (self.y0, row, self.x0, column)
        second = (np.where(down, row, self.y0), self.y1, np.where(down, self.x0, column), self.x1)
        return Boxes(*(np.stack(pair, axis=1).ravel() for pair in zip(first, second, strict=True)))

    def labels(self, shape: tuple[int, ...]) -> Ints:
        """For each cell of the grid the number of its box, or -1.

        A box adds its number at one corner and takes it back at the others, so that running sums fill it.
        """
        edges = np.zeros((shape[0] + 1, shape[1] + 1), np.int64)
        number = np.arange(1, len(self) + 1)
        for y, x, sign in (
            (self.y0, self.x0, 1),
            (self.y0, self.x1, -1),
            (self.y1, self.x0, -1),
            (self.y1, self.x1, 1),
        ):
            np.add.at(edges, (y, x), sign * number)
        labels: Ints = edges.cumsum(axis=0).cumsum(axis=1)[:-1, :-1] - 1
        return labels


@dataclass(frozen=True, eq=False)
class Level:
    """The boxes of one depth of a tree, with noisy counts. Those that are split have two children each, in order."""

    boxes: Boxes
    people: Floats
    variance: Floats
    split: NDArray[np.bool_]


def consistent_leaves(levels: list[Level], shape: tuple[int, ...]) -> tuple[Floats, Ints]:
    """The people in each leaf, by least squares on all counts of a tree, and for each cell the number of its leaf.

    From the bottom up, a box's count and the sum of its children's are averaged, weighted by their precision. From the
    top down, the difference between a box and the sum of its children is shared by them in proportion to their
    variances.
    """
    best, spread = [level.people.copy() for level in levels], [level.variance.copy() for level in levels]
    for k in range(len(levels) - 2, -1, -1):
        split, sums, variance = levels[k].split, _pairs(best[k + 1]).sum(axis=1), _pairs(spread[k + 1]).sum(axis=1)
        weight = spread[k][split] / (spread[k][split] + variance)
        best[k][split] += weight * (sums - best[k][split])
        spread[k][split] = weight * variance
    for k in range(1, len(levels)):
        missing = best[k - 1][levels[k - 1].split] - _pairs(best[k]).sum(axis=1)
        shares = _pairs(spread[k]) / _pairs(spread[k]).sum(axis=1, keepdims=True)
        best[k] += (shares * missing[:, None]).ravel()
    label, leaves = np.full(shape, -1), 0
    for level in levels:
        here = level.boxes.only(~level.split).labels(shape)
        label[here >= 0] = here[here >= 0] + leaves
        leaves += int(np.count_nonzero(~level.split))
    return np.concatenate([values[~level.split] for values, level in zip(best, levels, strict=True)]), label


def _pairs(values: Floats) -> Floats:
    return values.reshape(-1, 2)
