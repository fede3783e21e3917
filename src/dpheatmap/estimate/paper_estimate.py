"""The paper's reconstruction (Algorithm 2): from a noisy tree to a distribution.

S_q is every cell of the first measured level. Below it, T_i is the children of S_(i-1) that meet the domain (a curator
measures these alone), and S_i the ``width`` largest of them. Cells of T_i outside S_i are *left out*: nothing below
them was measured. The estimate is the non-negative vector whose sums over cells, weighted by 2^-i on level i, are
nearest in L1 to the noisy values on the S_i and to 0 everywhere else. It has one variable for each left-out cell and
one for each cell of S_L; these are disjoint and cover the domain.
:mod:`dpheatmap.estimate.forest` solves it exactly.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from dpheatmap.design.paper import PaperDesign
from dpheatmap.estimate.distribution import Distribution
from dpheatmap.place.domain import Floats
from dpheatmap.place.quadtree import Ints, largest
from dpheatmap.releases.release import Release


class _Cells(NamedTuple):
    """The measured cells of one level: S_i with its noisy values in people, and T_i without S_i."""

    kept: Ints
    people: Floats
    left_out: Ints


_NOTHING = _Cells(np.zeros(0, np.int64), np.zeros(0), np.zeros(0, np.int64))


def reconstruct(release: Release) -> Distribution:
    """Estimate where people are by the paper's Algorithm 2; the flagged uniform map if the estimate is zero everywhere.

    The optimum is not unique. Surplus that the measurements don't place is shared equally among the children of a
    cell, and the mass of a left-out cell lies evenly on it; both are nearer to the truth than an arbitrary optimum.
    """
    from dpheatmap.estimate import forest

    assert isinstance(release.design, PaperDesign), "Algorithm 2 needs its own design"
    levels = range(release.design.first, release.design.last + 1)
    tree: list[_Cells] = []
    for level in levels:
        tree.append(_select(release, level, tree[-1].kept if tree else None, release.design.width))
    nodes = [forest.Level(above.people, *_link(above, below)) for above, below in pairwise([*tree, _NOTHING])]
    solution = forest.solve(nodes)

    shared = [np.repeat(masses.left_out, level.left_out) for masses, level in zip(solution, nodes, strict=True)]
    people = np.concatenate([*shared, solution[-1].nodes])
    codes = [*(cells.left_out for cells in tree[1:]), tree[-1].kept]
    level_of_cells = np.repeat([*levels[1:], levels[-1]], [len(c) for c in codes])
    return Distribution.from_people(release.domain, level_of_cells, np.concatenate(codes), people)


def _select(release: Release, level: int, above: Ints | None, width: int) -> _Cells:
    """Select S_i (all of T_i on the first level) and the rest of T_i, by the rule that chose the next measurements.

    Where all cells of a level were measured at once, T_i is those that lie in the cells kept ``above``.
    """
    codes, counts = release.measurements.at(level)
    if above is None:
        width = len(codes)
    else:
        reached = np.isin(codes >> 2, above)
        codes, counts = codes[reached], counts[reached]
    kept = np.zeros(len(codes), np.bool_)
    kept[largest(codes, counts, width)] = True
    return _Cells(codes[kept], counts[kept] / release.units, codes[~kept])


def _link(above: _Cells, below: _Cells) -> tuple[Ints, Ints]:
    """Find the start of each kept cell's kept children on the next level, and the number of its left-out children.

    Codes ascend, so the children of consecutive cells are consecutive.
    """
    kids = np.append(np.searchsorted(below.kept >> 2, above.kept), len(below.kept))
    rest = np.append(np.searchsorted(below.left_out >> 2, above.kept), len(below.left_out))
    return kids, np.diff(rest)
