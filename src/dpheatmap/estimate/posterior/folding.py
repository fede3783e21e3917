"""Folding of measurements that are finer than a map can show into the cells that hold them.

A map smoothed by sigma shows next to nothing of what is smaller than a quarter of it. Of measurements in cells below
that size it shows two things: how many people a cell of that size holds, and about where in it they are.

**How many.** From the bottom up, each cell has an estimate: the mean of its own measurements and of the sum of its
children's estimates, weighted by their precisions. At the level folded to, that sum joins the measurements, as one more
of the same law and of its own variance. The exact law would be a message of the tree (`messages.py`). It has the same
centre and width up to two things: the prior of the splits, and masses that can't be negative. Both matter where
children are near the noise. `benchmarks/folding.py` measures what that does to maps: a quarter of sigma changes them by
a tenth of their noise.

**Where.** From the top down, a cell's mass is passed to its children: each has its estimate, and its part, by variance,
of what is left over. Negative masses become 0. Without this step a hot spot would move to the middle of its cell.

Cells are folded only where every child of a cell was measured, since the sum needs all of them.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dpheatmap.estimate.posterior.observations import Observations
from dpheatmap.place.domain import Domain, Floats
from dpheatmap.place.quadtree import Ints, decode

SIGMA_ABOVE = 2
"""Levels between cells of a quarter of sigma and cells of sigma."""


class Inside(NamedTuple):
    """Estimates in cells of one level, codes ascending, that lie in folded cells; all children of their parents."""

    codes: Ints
    people: Floats
    variances: Floats

    def has_children_of(self, parents: Ints) -> NDArray[np.bool_]:
        """Tell which cells of the level above have children here."""
        at = np.minimum(np.searchsorted(self.codes >> 2, parents), len(self.codes) - 1)
        there: NDArray[np.bool_] = self.codes[at] >> 2 == parents
        return there

    def quarter_weights(self, parents: Ints, masses: Floats) -> Floats:
        """Compute the relative masses of the quarters of cells with children here; rows add up to 1."""
        four = parents[:, None] * 4 + np.arange(4)
        at = np.minimum(np.searchsorted(self.codes, four), len(self.codes) - 1)
        there = self.codes[at] == four
        people, variances = np.where(there, self.people[at], 0.0), np.where(there, self.variances[at], 0.0)
        gap = masses - people.sum(axis=1)
        weights = people + variances * (gap / variances.sum(axis=1))[:, None]
        weights = np.where(there, np.maximum(weights, 1e-9 * variances), 0.0)
        weights /= weights.sum(axis=1, keepdims=True)
        return weights


def finest_level(domain: Domain, sigma: float) -> int:
    """The first level whose cells have sides of at most a quarter of sigma, on the ground."""
    for level in range(domain.depth):
        around = domain.cells(level)
        if domain.lengths_of_cells(level, np.arange(around.y0, around.y1 + 1)).max() * 2**SIGMA_ABOVE <= sigma:
            return level
    return domain.depth


def fold(observed: Observations, level: int | None) -> tuple[Observations, dict[int, Inside]]:
    """Fold what was measured below a level into it; returns what is left, and what was inside, by level.

    >>> quarters = np.arange(4)
    >>> seen = Observations(
    ...     Domain.unit(3), np.ones(4, np.int64), quarters, quarters + 1.0, np.full(4, 0.5), np.ones(1)
    ... )
    >>> left, inside = fold(seen, 0)
    >>> left.people, left.scales, inside[1].quarter_weights(np.zeros(1, np.int64), np.array([10.0]))
    (array([10.]), array([1.]), array([[0.1, 0.2, 0.3, 0.4]]))
    """
    if level is None or int(observed.levels.max()) <= level:
        return observed, {}
    inside: dict[int, Inside] = {}
    sums = Inside(np.zeros(0, np.int64), np.zeros(0), np.zeros(0))
    for below in range(int(observed.levels.max()), level, -1):
        here = _with_own(observed, below, sums)
        if not _is_complete(observed.domain, below, here.codes):
            return observed, {}
        inside[below] = here
        parents, first = np.unique(here.codes >> 2, return_index=True)
        sums = Inside(parents, np.add.reduceat(here.people, first), np.add.reduceat(here.variances, first))
    kept = observed.levels <= level
    per_deviation = observed.scales[0] / observed.deviations[0]
    left = replace(
        observed,
        levels=np.concatenate([observed.levels[kept], np.full(len(sums.codes), level)]),
        codes=np.concatenate([observed.codes[kept], sums.codes]),
        people=np.concatenate([observed.people[kept], sums.people]),
        scales=np.concatenate([observed.scales[kept], per_deviation * np.sqrt(sums.variances)]),
    )
    return left, inside


def _with_own(observed: Observations, level: int, sums: Inside) -> Inside:
    """The estimates in all measured cells of a level: means of their own measurements and of their children's sums."""
    own = observed.levels == level
    codes, where = np.unique(np.concatenate([sums.codes, observed.codes[own]]), return_inverse=True)
    people = np.concatenate([sums.people, observed.people[own]])
    precisions = np.concatenate([sums.variances, observed.deviations[own] ** 2]) ** -1.0
    trust = np.bincount(where, precisions)
    return Inside(codes, np.bincount(where, precisions * people) / trust, 1.0 / trust)


def _is_complete(domain: Domain, level: int, codes: Ints) -> bool:
    """Whether cells of a level have all their siblings with them, as far as these meet the domain."""
    four = (np.unique(codes >> 2)[:, None] * 4 + np.arange(4)).ravel()
    return int(domain.meets(level, *decode(four)).sum()) == len(codes)
