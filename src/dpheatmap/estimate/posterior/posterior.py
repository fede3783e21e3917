"""The posterior of where people are, given a noisy tree: it uses every measurement, and masses are not negative.

**Model.** The measurements are masses of a tree plus noise. The total has a flat prior on 0 .. infinity. Each cell
splits in x, then each half in y, with fractions Beta(2 a s, 2 a (1 - s)). Here s is the left half's expected share, and
a is one *concentration* for the whole tree: below 1, mass is in few places; above, it is spread. There is no mass
outside the domain.

**Two passes.** In the first pass, s is the left half's share of the area. In the second, it comes from the first
posterior mean by bilinear interpolation between neighbours (`smoothness.py`), so that the map has no block edges.

**Concentration.** It maximises the evidence, the probability of all measurements given a, at a few values of a, with a
weak prior, log-normal about 1/2. The shares used are those of the area: those of the second pass have seen the data.

**Prior.** A public measure m may take the place of area (`public_measure.py`). It is mixed with area by a few beliefs
t, (1 - t) area + t m, and the belief and concentration of the highest evidence are used; a good m has a high
concentration. So a wrong m is not believed. There is no second pass with m: its shares are better than neighbours'.

The integrals are exact up to quadrature, by messages up the tree (`messages.py`) and means, variances or draws down
(`descent.py`).

**Large trees.** For a map, measurements finer than it can show are folded first (`folding.py`). A tree of more than
_LARGE measurements has its concentration sought on its upper levels, which hold plenty of evidence, and somewhat
coarser tables: means move by less than 0.03 of their deviations.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dpheatmap._util.threads import in_threads
from dpheatmap.estimate.distribution import Distribution
from dpheatmap.estimate.posterior.cells import CellTree, cell_tree
from dpheatmap.estimate.posterior.descent import draw, moments
from dpheatmap.estimate.posterior.folding import SIGMA_ABOVE, Inside, fold
from dpheatmap.estimate.posterior.leaf_layout import Layout, layout
from dpheatmap.estimate.posterior.likelihood import REACH
from dpheatmap.estimate.posterior.message_tree import Messages, Tree
from dpheatmap.estimate.posterior.messages import log_evidence, upward_messages
from dpheatmap.estimate.posterior.observations import Observations
from dpheatmap.estimate.posterior.public_measure import MixedMeasure, PublicMeasure
from dpheatmap.estimate.posterior.randomness import Randomness
from dpheatmap.estimate.posterior.smoothness import neighbourly_shares
from dpheatmap.place.domain import Floats
from dpheatmap.place.quadtree import Ints
from dpheatmap.releases.release import Release

_CONCENTRATIONS = np.array([0.15, 0.3, 0.6, 1.2, 2.4])
_WIDE = np.array([0.15, 0.3, 0.6, 1.2, 2.4, 4.8, 9.6, 19.2, 38.4, 76.8])
_BELIEFS = 0.5, 1.0  # in a prior, besides none
_PRIOR_MEDIAN, _PRIOR_SPREAD = 0.5, 1.0  # of the concentration: log-normal
_BOUNDS = 0.1, 2.5
_INSIDE, _INSIDE_SPREAD = 0.6, 0.7  # of the concentration inside leaves: the largest median, and the spread of its log


class Fineness(NamedTuple):
    """Numbers of points of a message's table, cells of an integral, and bins of a posterior in the downward pass."""

    points: int
    cells: int
    bins: int


COARSE = Fineness(14, 10, 5)
FINE = Fineness(32, 20, 8)
MEDIUM = Fineness(24, 16, 6)
_LARGE = 20_000


class _Likeliest(NamedTuple):
    """The likeliest concentration, the messages at the nearest value tried, and the log of its evidence times prior."""

    concentration: float
    rough: tuple[Tree, Messages]
    height: float


class Draws(NamedTuple):
    """Draws of the masses of disjoint cells that cover the domain, computed while they are read."""

    levels: Ints
    codes: Ints
    masses: Iterator[Floats]


@dataclass(frozen=True, eq=False)
class Posterior:
    """The posterior given one concentration: means and variances of all cells of the tree, and the data for draws.

    ``level`` is the finest level that a map can show, None for all; what was folded into it is ``inside``.
    """

    cells: CellTree
    tree: Tree
    messages: Messages
    fineness: Fineness
    concentration: float
    node_means: Floats
    node_variances: Floats
    inside: Mapping[int, Inside]
    level: int | None = None

    @property
    def total(self) -> float:
        """The posterior mean of the number of people."""
        return float(self.node_means[0])

    @cached_property
    def levels(self) -> Ints:
        """The levels of all cells of the tree."""
        return np.repeat(self.cells.top + np.arange(len(self.cells.codes)), [len(c) for c in self.cells.codes])

    @cached_property
    def codes(self) -> Ints:
        """The codes of all cells of the tree."""
        return np.concatenate(self.cells.codes)

    @cached_property
    def means(self) -> Floats:
        """The posterior means of the numbers of people in all cells of the tree."""
        return self.node_means[np.concatenate(self.cells.node)]

    @cached_property
    def variances(self) -> Floats:
        """The posterior variances of the numbers of people in all cells of the tree."""
        return self.node_variances[np.concatenate(self.cells.node)]

    @cached_property
    def leaves(self) -> tuple[Ints, Ints, Floats]:
        """Levels, codes and posterior means of the disjoint cells at the bottom of the tree."""
        return self.levels[self._bottom], self.codes[self._bottom], self.means[self._bottom]

    @property
    def leaf_variances(self) -> Floats:
        """The posterior variances of the leaves."""
        return self.variances[self._bottom]

    @property
    def _bottom(self) -> NDArray[np.bool_]:
        return np.concatenate([(kids < 0).all(axis=1) for kids in self.cells.kids])

    @cached_property
    def layout(self) -> Layout:
        """The cells that the leaves are laid out over."""
        finest = self.cells.domain.depth if self.level is None else self.level
        return layout(self.cells, self.node_means, self.inside, finest)

    def distribution(self) -> Distribution:
        """The posterior mean as a distribution."""
        inside = self.layout
        return Distribution.from_people(self.cells.domain, inside.levels, inside.codes, inside.masses(self.node_means))

    def draw(self, rng: Randomness) -> Floats:
        """Draw the masses of all binary nodes."""
        spread = self.node_means, self.node_variances
        return draw(self.tree, self.messages, spread, self._exact_splits, rng, self.fineness.cells)

    @property
    def _exact_splits(self) -> int:
        """The number of splits that are drawn by their own law: for a map, those of cells wider than sigma."""
        if self.level is None or self.level - SIGMA_ABOVE >= self.cells.top + len(self.cells.node):
            return len(self.tree.left)
        return max(1, int(self.cells.node[max(self.level - SIGMA_ABOVE - self.cells.top, 0)].min()))

    def draws(self, count: int, rng: Randomness) -> Draws:
        """Draw masses of the cells of :meth:`distribution`.

        Inside leaves, the splits are random too, with a concentration of their own, because the concentration is less
        certain inside leaves than where cells were measured. A map that is even at the scale of the leaves may have hot
        spots inside them, so it is at most about _INSIDE there. With a generator seeded by :func:`seed_of`, the same
        release gives the same draws.
        """
        inside = self.layout

        def one(own: Randomness) -> Floats:
            inner = min(self.concentration, _INSIDE) * math.exp(_INSIDE_SPREAD * float(own.standard_normal(1)[0]))
            return inside.random_masses(self.draw(own), inner, own)

        return Draws(inside.levels, inside.codes, in_threads(one, rng.spawn(count)))


def reconstruct(release: Release, prior: PublicMeasure | None = None) -> Distribution:
    """Estimate where people are by the posterior mean. Its ``total`` is the posterior mean of their number."""
    return posterior(release, prior).distribution()


def posterior(release: Release, prior: PublicMeasure | None = None, level: int | None = None) -> Posterior:
    """Compute the posterior of a release's masses; with a level, of those down to it (`folding.py`)."""
    return _posterior(release, prior, level)


@lru_cache(maxsize=3)
def _posterior(release: Release, prior: PublicMeasure | None, level: int | None) -> Posterior:
    if level is not None and level >= int(release.measurements.levels.max()):
        return replace(_posterior(release, prior, None), level=level)  # nothing is folded
    return infer(Observations.of(release), prior=prior, level=level)


def infer(
    observed: Observations,
    *,
    prior: PublicMeasure | None = None,
    level: int | None = None,
    fineness: Fineness | None = None,
    concentration: float | None = None,
    neighbours: bool = True,
) -> Posterior:
    """Compute the posterior of the masses given any observations, with a given concentration or the most likely one.

    What was measured below ``level`` is folded. Without ``neighbours`` there is no second pass: expected shares are
    those of the area. A prior is believed as far as the evidence says.
    """
    observed, inside = fold(observed, level)
    large = len(observed.levels) > _LARGE
    fineness = fineness or (MEDIUM if large else FINE)
    cells, tree = _trees(observed)
    if concentration is None and large:
        upper, (concentration, _, _) = _likeliest_measure(*_trees(_upper_levels(observed)), prior)
        cells = replace(cells, measure=upper.measure)
    if concentration is None:
        cells, (concentration, rough, _) = _likeliest_measure(cells, tree, prior)
    else:
        rough = _coarse_messages(tree, cells.shares(cells.area), concentration)
    shares = cells.shares(cells.area)
    if neighbours and cells.measure is cells.domain:
        means, _ = moments(*rough, COARSE.bins, COARSE.cells)
        shares = neighbourly_shares(cells, means)
    tree = _with_prior(tree, shares, concentration)
    messages = upward_messages(tree, fineness.points, fineness.cells)
    means, variances = moments(tree, messages, fineness.bins, fineness.cells)
    return Posterior(cells, tree, messages, fineness, concentration, means, variances, inside, level)


def _likeliest_measure(cells: CellTree, tree: Tree, prior: PublicMeasure | None) -> tuple[CellTree, _Likeliest]:
    """Find the belief in a prior of the highest evidence, and the concentration for it: area alone without one."""
    found = [(cells, likeliest_concentration(tree, cells.shares(cells.area)))]
    for belief in _BELIEFS:
        if prior is None:
            break
        mixed = replace(cells, measure=MixedMeasure(prior, belief))
        found.append((mixed, likeliest_concentration(tree, mixed.shares(mixed.area), _WIDE)))
    return max(found, key=lambda each: each[1].height)


def likeliest_concentration(tree: Tree, shares: Floats, values: Floats = _CONCENTRATIONS) -> _Likeliest:
    """Find the concentration of the highest evidence times prior, among some values.

    The search climbs from the middle value. The answer is the top of the parabola, over log a, through the best value
    and its neighbours.
    """
    logs, heights = np.log(values), np.full(len(values), -np.inf)
    found: dict[int, tuple[Tree, Messages]] = {}

    def height(k: int) -> float:
        if k not in found:
            found[k] = _coarse_messages(tree, shares, float(values[k]))
            heights[k] = log_evidence(*found[k]) - 0.5 * ((logs[k] - np.log(_PRIOR_MEDIAN)) / _PRIOR_SPREAD) ** 2
        return float(heights[k])

    best = len(_CONCENTRATIONS) // 2
    step = 1 if height(best + 1) > height(best) else -1
    while 0 <= best + step < len(logs) and height(best + step) > height(best):
        best += step
    middle = min(max(best, 1), len(logs) - 2)
    near = slice(middle - 1, middle + 2)
    bend, slope, _ = np.polyfit(logs[near], heights[near], 2)
    top = -slope / (2.0 * bend) if bend < 0 else logs[best]
    bounds = _BOUNDS[0], values[-1] * _BOUNDS[1] / _CONCENTRATIONS[-1]
    return _Likeliest(float(np.clip(np.exp(top), *bounds)), found[best], float(heights[best]))


def _coarse_messages(tree: Tree, shares: Floats, concentration: float) -> tuple[Tree, Messages]:
    """Compute messages for the evidence and the first pass, on coarse tables."""
    given = _with_prior(tree, shares, concentration)
    return given, upward_messages(given, COARSE.points, COARSE.cells)


def _upper_levels(observed: Observations) -> Observations:
    """Fold observations to as many levels as make no large tree."""
    so_far = np.cumsum(np.bincount(observed.levels))
    return fold(observed, max(int(observed.levels.min()), int(np.searchsorted(so_far, _LARGE)) - 1))[0]


def _trees(observed: Observations) -> tuple[CellTree, Tree]:
    """The cells, and the binary tree with the observations at its nodes; its splits are not set yet."""
    cells = cell_tree(observed.domain, observed.levels, observed.codes)
    node = np.zeros(len(observed.levels), np.int64)
    for depth, codes in enumerate(cells.codes):
        here = np.flatnonzero(observed.levels == cells.top + depth)
        node[here] = cells.node[depth][np.searchsorted(codes, observed.codes[here])]
    order = np.argsort(node, kind="stable")
    start = np.concatenate([[0], np.cumsum(np.bincount(node, minlength=len(cells.left)))])
    first = observed.levels == observed.levels.min()
    bound = float((np.maximum(observed.people, 0.0) + REACH * observed.scales)[first].sum())
    unset = np.ones(len(cells.left))
    values, scales = observed.people[order], observed.scales[order]
    return cells, Tree(cells.left, cells.right, unset, unset, start, values, scales, observed.law, bound)


def _with_prior(tree: Tree, shares: Floats, concentration: float) -> Tree:
    """The tree with the splits' prior."""
    return tree._replace(left_power=2.0 * concentration * shares, right_power=2.0 * concentration * (1.0 - shares))


def seed_of(release: Release) -> list[int]:
    """A seed made of the release's own numbers."""
    m = release.measurements
    return [int(abs(column).sum() & 0x7FFFFFFF) for column in (m.levels, m.codes, m.counts, m.shares)]
