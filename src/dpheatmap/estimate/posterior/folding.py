"""Folding of measurements that are finer than a map can show into the cells that hold them.

A map smoothed by sigma shows next to nothing of what is smaller than a quarter of it. Of measurements in cells below
that size it shows two things: how many people a cell of that size holds, and about where in it they are.

**How many.** From the bottom up, each cell has an estimate: the mean of its own measurements and of the estimate by its
children, weighted by their precisions. At the level folded to, the estimate by the children joins the measurements, as
one more of the same law and of its own variance. The exact law would be a message of the tree (`messages.py`), with
splits from Beta laws and masses that are not negative. Here all laws are normal: of two halves c and d with variances
v and w, the mass m is estimated by least squares from

    E (c, d) = (s m, (1 - s) m),    cov (c, d) = ((v + u, -u), (-u, w + u)),    u = m^2 s (1 - s) / (2 a + 1),

with s the left half's share of the area and u the variance of the split. A plain sum of the children, which is the
limit of many unlike halves, would be too large by half its deviation: a cell is opened, and its children are published,
where the noise is high. The concentration a is that of each level, by moments: of the squared differences of halves,
what is not noise. `benchmarks/country.py` measures what folding does to maps.

**Where.** From the top down, a cell's mass is passed to its children: each has its estimate, and its part, by variance,
of what is left over. Negative masses become 0. Without this step a hot spot would move to the middle of its cell.

Cells are folded only where every child of a cell was measured, since the sum needs all of them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dpheatmap.estimate.posterior.observations import Observations
from dpheatmap.place.domain import Domain, Floats
from dpheatmap.place.quadtree import Ints, decode

_CONCENTRATIONS = 0.1, 100.0  # the least and the largest
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
    >>> left.people.round(3), left.scales.round(3), inside[1].quarter_weights(np.zeros(1, np.int64), np.array([10.0]))
    (array([10.]), array([1.]), array([[0.1, 0.2, 0.3, 0.4]]))
    """
    if level is None or int(observed.levels.max()) <= level:
        return observed, {}
    inside: dict[int, Inside] = {}
    by_children = Inside(np.zeros(0, np.int64), np.zeros(0), np.zeros(0))
    for below in range(int(observed.levels.max()), level, -1):
        here = _with_own(observed, below, by_children)
        if not _is_complete(observed.domain, below, here.codes):
            return observed, {}
        inside[below] = here
        by_children = _estimate_by_children(observed.domain, below, here)
    kept = observed.levels <= level
    per_deviation = observed.scales[0] / observed.deviations[0]
    left = replace(
        observed,
        levels=np.concatenate([observed.levels[kept], np.full(len(by_children.codes), level)]),
        codes=np.concatenate([observed.codes[kept], by_children.codes]),
        people=np.concatenate([observed.people[kept], by_children.people]),
        scales=np.concatenate([observed.scales[kept], per_deviation * np.sqrt(by_children.variances)]),
    )
    return left, inside


def _with_own(observed: Observations, level: int, by_children: Inside) -> Inside:
    """The estimates in all measured cells of a level: means of their own measurements and those by their children."""
    own = observed.levels == level
    codes, where = np.unique(np.concatenate([by_children.codes, observed.codes[own]]), return_inverse=True)
    people = np.concatenate([by_children.people, observed.people[own]])
    precisions = np.concatenate([by_children.variances, observed.deviations[own] ** 2]) ** -1.0
    trust = np.bincount(where, precisions)
    return Inside(codes, np.bincount(where, precisions * people) / trust, 1.0 / trust)


class _Part(NamedTuple):
    """Estimates in some parts of cells, and their areas; a part outside of the domain has none."""

    people: Floats
    variances: Floats
    areas: Floats


def _estimate_by_children(domain: Domain, level: int, here: Inside) -> Inside:
    """The estimates in the parents of all cells of a level."""
    parents = np.unique(here.codes >> 2)
    four = parents[:, None] * 4 + np.arange(4)
    at = np.minimum(np.searchsorted(here.codes, four), len(here.codes) - 1)
    there = here.codes[at] == four
    columns = here.people[at], here.variances[at], domain.weight(level, four.ravel()).reshape(four.shape)
    quarters = [_Part(*(np.where(there, column, 0.0)[:, k] for column in columns)) for k in range(4)]
    columns_of_two = (quarters[0], quarters[2]), (quarters[1], quarters[3])
    concentration = _concentration(columns_of_two)
    west, east = (_join_halves(north, south, concentration) for north, south in columns_of_two)
    whole = _join_halves(west, east, concentration)
    return Inside(parents, whole.people, whole.variances)


def _concentration(pairs: Iterable[tuple[_Part, _Part]]) -> float:
    """The concentration of splits by moments: the squared difference of halves is that of the split, and noise."""
    squares = of_splits = 0.0
    for first, second in pairs:
        both = (first.areas > 0) & (second.areas > 0)
        c, d = (_Part(*(column[both] for column in part)) for part in (first, second))
        s = c.areas / (c.areas + d.areas)
        noise = (1.0 - s) ** 2 * c.variances + s**2 * d.variances
        squared_mass = np.maximum((c.people + d.people) ** 2 - c.variances - d.variances, 0.0)
        at_most = squared_mass * s * (1.0 - s)  # the variance of a split of concentration 0
        weight = (noise + 0.1 * at_most) ** -2.0
        squares += float((weight * at_most**2).sum())
        of_splits += float((weight * at_most * (((1.0 - s) * c.people - s * d.people) ** 2 - noise)).sum())
    low, high = _CONCENTRATIONS
    return low if squares == 0.0 else min(max(0.5 * (squares / max(of_splits, 1e-9 * squares) - 1.0), low), high)


def _join_halves(first: _Part, second: _Part, concentration: float) -> _Part:
    """The estimates in cells by their two halves; a half outside of the domain has no mass."""
    areas = first.areas + second.areas
    s = np.where(areas > 0, first.areas / np.where(areas > 0, areas, 1.0), 0.5)
    split = np.maximum(first.people + second.people, 0.0) ** 2 * s * (1.0 - s) / (2.0 * concentration + 1.0)
    v, w = first.variances, second.variances
    both = (first.areas > 0) & (second.areas > 0)
    trust = np.where(both, (1.0 - s) ** 2 * v + s**2 * w + split, 1.0)
    weighted = (s * w + split) * first.people + ((1.0 - s) * v + split) * second.people
    people = np.where(both, weighted / trust, first.people + second.people)
    variances = np.where(both, (v * w + split * (v + w)) / trust, v + w)
    return _Part(people, variances, areas)


def _is_complete(domain: Domain, level: int, codes: Ints) -> bool:
    """Whether cells of a level have all their siblings with them, as far as these meet the domain."""
    four = (np.unique(codes >> 2)[:, None] * 4 + np.arange(4)).ravel()
    return int(domain.meets(level, *decode(four)).sum()) == len(codes)
