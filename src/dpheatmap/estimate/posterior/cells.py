"""The cells of a posterior: measured cells, the cells that join them to one root, and the binary splits between them.

The tree holds every measured cell, its siblings, and all cells above it, up to the smallest cell that holds them all. A
cell with children splits in x, and each half in y: 1 + 2 binary splits for four children. Cells that do not meet the
domain have no mass and are left out, so near the domain's edge some splits are missing. A cell whose mass all lies in
one child *is* that child: they share a node of the binary tree.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dpheatmap.place.base_measure import BaseMeasure
from dpheatmap.place.domain import Domain, Floats
from dpheatmap.place.quadtree import Ints, decode


@dataclass(frozen=True, eq=False)
class CellTree:
    """Cells of the levels ``top, top + 1, ..``, codes ascending in each, and the binary tree of their splits.

    ``kids[i]`` holds, for each cell of the i-th level, the positions of its four children on the next one, -1 for
    missing ones; ``node[i]`` holds the binary nodes of the cells. ``left`` and ``right`` are the binary children, -1 at
    leaves; children come after their parents. ``measure`` spreads mass where nothing is known: area by default.
    """

    domain: Domain
    measure: BaseMeasure
    top: int
    codes: list[Ints]
    kids: list[Ints]
    node: list[Ints]
    left: Ints
    right: Ints

    @cached_property
    def area(self) -> list[Floats]:
        """The base measure of each cell."""
        return [self.measure.weight(self.top + i, codes) for i, codes in enumerate(self.codes)]

    def shares(self, weights: list[Floats]) -> Floats:
        """Compute the left child's share at each binary node, from the weights of all cells by level.

        Only the proportions of the weights among the children of one cell matter.
        """
        share = np.full(len(self.left), 0.5)
        for kids, node, below in zip(self.kids[:-1], self.node[:-1], weights[1:], strict=True):
            w = np.where(kids >= 0, below[kids], 0.0)
            here = (kids >= 0).sum(axis=1) > 1
            west, east = w[:, 0] + w[:, 2], w[:, 1] + w[:, 3]
            north, south = w[:, 0] + w[:, 1], w[:, 2] + w[:, 3]
            both = ((kids[:, 0] >= 0) | (kids[:, 2] >= 0)) & ((kids[:, 1] >= 0) | (kids[:, 3] >= 0))
            share[node[here]] = np.where(both, share_of(west, east), share_of(north, south))[here]
            for half, (a, b) in ((self.left, (0, 2)), (self.right, (1, 3))):
                split = both & (kids[:, a] >= 0) & (kids[:, b] >= 0)
                share[half[node[split]]] = share_of(w[:, a], w[:, b])[split]
        return share


def share_of(a: Floats, b: Floats) -> Floats:
    """a / (a + b), and a half where both are 0."""
    total = a + b
    share: Floats = np.where(total > 0.0, a, 0.5) / np.where(total > 0.0, total, 1.0)
    return share


def cell_tree(domain: Domain, levels: Ints, codes: Ints, measure: BaseMeasure | None = None) -> CellTree:
    """Build the tree of the measured cells, given by level and code."""
    deepest, first = int(levels.max()), int(levels.min())
    need = {deepest: np.unique(codes[levels == deepest])}
    for level in range(deepest - 1, -1, -1):
        need[level] = np.union1d(need[level + 1] >> 2, codes[levels == level])
    top = max(level for level in range(first + 1) if len(need[level]) == 1)
    there = [need[top]]
    for level in range(top + 1, deepest + 1):
        four = (np.unique(need[level] >> 2)[:, None] * 4 + np.arange(4)).ravel()
        there.append(four[domain.meets(level, *decode(four))])
    kids = [_positions(here, below) for here, below in zip(there, [*there[1:], there[0][:0]], strict=True)]
    return _with_splits(domain, domain if measure is None else measure, top, there, kids)


def _positions(above: Ints, below: Ints) -> Ints:
    """The positions in ``below`` of the four children of each cell, -1 for missing ones."""
    four = above[:, None] * 4 + np.arange(4)
    if len(below) == 0:
        return np.full(four.shape, -1)
    at = np.minimum(np.searchsorted(below, four), len(below) - 1)
    return np.where(below[at] == four, at, -1)


def _with_splits(domain: Domain, measure: BaseMeasure, top: int, codes: list[Ints], kids: list[Ints]) -> CellTree:
    """Number the binary nodes, parents first, and link them."""
    node: list[Ints] = []
    halves: list[Ints] = []
    total = 0
    for of_cells in kids:
        there = of_cells >= 0
        alone = there.sum(axis=1) == 1
        ids = np.full(len(of_cells), -1)
        ids[~alone] = total + np.arange((~alone).sum())
        total += int((~alone).sum())
        across = (there[:, 0] | there[:, 2]) & (there[:, 1] | there[:, 3])
        split = np.stack([across & there[:, 0] & there[:, 2], across & there[:, 1] & there[:, 3]], axis=1)
        half = np.full(split.shape, -1)
        half[split] = total + np.arange(split.sum())
        total += int(split.sum())
        node.append(ids)
        halves.append(half)
    left, right = np.full(total, -1), np.full(total, -1)
    for i in range(len(kids) - 2, -1, -1):
        child = np.where(kids[i] >= 0, node[i + 1][kids[i]], -1)
        _link(node[i], halves[i], child, left, right)
    return CellTree(domain, measure, top, codes, kids, node, left, right)


def _link(node: Ints, halves: Ints, child: Ints, left: Ints, right: Ints) -> None:
    """Set the binary children of the cells of one level and of their halves; a cell with one child becomes it."""
    there = child >= 0
    alone = there.sum(axis=1) == 1
    node[alone] = child[alone].max(axis=1)
    for side, (a, b) in enumerate(((0, 2), (1, 3))):
        half = halves[:, side]
        split = half >= 0
        left[half[split]], right[half[split]] = child[split, a], child[split, b]
    west = np.where(halves[:, 0] >= 0, halves[:, 0], np.maximum(child[:, 0], child[:, 2]))
    east = np.where(halves[:, 1] >= 0, halves[:, 1], np.maximum(child[:, 1], child[:, 3]))
    across = (west >= 0) & (east >= 0)
    left[node[across]], right[node[across]] = west[across], east[across]
    down = ~across & (there.sum(axis=1) == 2)  # one column only: the cell itself splits in y
    left[node[down]] = np.maximum(child[down, 0], child[down, 1])
    right[node[down]] = np.maximum(child[down, 2], child[down, 3])
