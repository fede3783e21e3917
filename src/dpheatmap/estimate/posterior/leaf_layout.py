"""Layout of the mass of a leaf over finer cells inside it.

A leaf is cut in four a few times, each time by the bilinear shares of its neighbours, so that the map has next to no
block edges. For draws, the shares are random about these. No cell is finer than the finest that was measured.

The first cut is between cells that were measured. The later ones are between guesses, from which less can be told: on
the maps used for tuning, the odds between halves were the interpolated odds to the power 0.98, 0.63 and 0.50 at the
three cuts. So the later cuts have a shorter reach (`smoothness.py`). The first has a slightly longer one: without
it, EMD lost what KL gained.

A leaf into which finer measurements were folded is cut by these instead (`folding.py`), in every draw alike: it is
smaller than the map can show.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dpheatmap.estimate.posterior.cells import CellTree, share_of
from dpheatmap.estimate.posterior.folding import Inside
from dpheatmap.estimate.posterior.randomness import Randomness
from dpheatmap.estimate.posterior.smoothness import Layer, layers_of, quarter_weights
from dpheatmap.place.domain import Floats
from dpheatmap.place.quadtree import Ints

_REACHES = np.array([0.32, 0.22, 0.15])  # of the first cut of a leaf, the second and the third
_MOST_CUTS = len(_REACHES)  # of a leaf: 64 cells
_WORTH = 1e-4  # of all mass: a cell with less is not cut, which bounds the number of cells by that of leaves + 40,000
_WORTH_MEASURED = 1e-5  # the same where quarters were measured: above it, hot spots moved by more than the noise


class _Cells(NamedTuple):
    """Cells of one level, how often each may still be cut, and their masses."""

    codes: Ints
    cuts: Ints
    mass: Floats


class _Step(NamedTuple):
    """One level: the leaves that join, the cells so far that are cut, and the weights of their quarters.

    Weights that were ``measured`` are not random in draws.
    """

    leaves: Ints
    cut: Ints
    kept: Ints
    weights: Floats
    measured: NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Layout:
    """Disjoint cells inside the leaves of a tree, and the shares by which mass is passed to them."""

    levels: Ints
    codes: Ints
    steps: list[_Step]

    def masses(self, nodes: Floats) -> Floats:
        """Compute the masses of the cells from those of the binary nodes."""
        return self._pass_down(nodes, lambda step: step.weights)

    def random_masses(self, nodes: Floats, concentration: float, rng: Randomness) -> Floats:
        """Draw masses, with splits in x, then y, from Beta laws of a concentration."""

        def splits(step: _Step) -> Floats:
            weights = step.weights[~step.measured]
            x = _beta(2.0 * concentration, weights[:, 0] + weights[:, 2], rng)
            north_west = _beta(2.0 * concentration, share_of(weights[:, 0], weights[:, 2]), rng)
            north_east = _beta(2.0 * concentration, share_of(weights[:, 1], weights[:, 3]), rng)
            four = (x * north_west, (1 - x) * north_east, x * (1 - north_west), (1 - x) * (1 - north_east))
            drawn = step.weights.copy()
            drawn[~step.measured] = np.stack(four, axis=-1)
            return drawn

        return self._pass_down(nodes, splits)

    def _pass_down(self, nodes: Floats, shares: Callable[[_Step], Floats]) -> Floats:
        masses = np.zeros(0)
        done = []
        for step in self.steps:
            masses = np.concatenate([masses, nodes[step.leaves]])
            done.append(masses[step.kept])
            given = masses[step.cut, None] * shares(step)
            masses = given[step.weights > 0]
        return np.concatenate(done)


def _beta(twice_concentration: float, share: Floats, rng: Randomness) -> Floats:
    """Draw fractions of mean ``share``; a share of 0 or 1, at the domain's edge, is certain."""
    inner = np.clip(share, 1e-3, 1.0 - 1e-3)
    drawn = rng.beta(twice_concentration * inner, twice_concentration * (1.0 - inner))
    return np.where((share > 0) & (share < 1), drawn, share)


def layout(tree: CellTree, means: Floats, inside: Mapping[int, Inside], finest: int) -> Layout:
    """Cut the leaves of a tree up, by the posterior means of the binary nodes, and by what was folded into them.

    Guessed cells are of the level ``finest`` at most.
    """
    layers, people = layers_of(tree, means), float(means[0])
    levels, codes, steps = [], [], []
    new = _Cells(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0))
    for depth in range(tree.domain.depth - tree.top + 1):
        level = tree.top + depth
        leaves = _leaves(tree, means, depth)
        here = _Cells(*(np.concatenate(pair) for pair in zip(new, leaves[1], strict=True)))
        measured = np.zeros(len(here.codes), np.bool_)
        if level + 1 in inside:
            measured = inside[level + 1].has_children_of(here.codes)
        cutting = (here.cuts > 0) & (level < finest) & (here.mass > _WORTH * people)
        cutting |= measured & (here.mass > _WORTH_MEASURED * people)
        cut, kept = np.flatnonzero(cutting), np.flatnonzero(~cutting)
        known = measured[cut]
        weights = np.zeros((len(cut), 4))
        if known.any():
            weights[known] = inside[level + 1].quarter_weights(here.codes[cut][known], here.mass[cut][known])
        if not known.all():
            guessed = cut[~known]
            reach = _REACHES[_MOST_CUTS - here.cuts[guessed]]
            weights[~known] = quarter_weights(tree, layers, depth, here.codes[guessed], reach)
        steps.append(_Step(leaves[0], cut, kept, weights, known))
        levels.append(np.full(len(kept), level))
        codes.append(here.codes[kept])
        within = weights.ravel() > 0
        new = _Cells(
            (here.codes[cut, None] * 4 + np.arange(4)).ravel()[within],
            np.repeat(np.where(known, 0, here.cuts[cut] - 1), 4)[within],
            (here.mass[cut, None] * weights).ravel()[within],
        )
        if len(cut):
            _join(tree, layers, depth + 1, new)
        elif depth + 1 >= len(tree.codes):
            break
    return Layout(np.concatenate(levels), np.concatenate(codes), steps)


def _leaves(tree: CellTree, means: Floats, depth: int) -> tuple[Ints, _Cells]:
    """The leaves of the tree on one level: their binary nodes, and their cells."""
    if depth >= len(tree.codes):
        nothing = np.zeros(0, np.int64)
        return nothing, _Cells(nothing, nothing, np.zeros(0))
    leaf = (tree.kids[depth] < 0).all(axis=1)
    node = tree.node[depth][leaf]
    return node, _Cells(tree.codes[depth][leaf], np.full(len(node), _MOST_CUTS), means[node])


def _join(tree: CellTree, layers: list[Layer], depth: int, cells: _Cells) -> None:
    """Put new cells into a layer, which may be the first below the tree."""
    density = cells.mass / tree.measure.weight(tree.top + depth, cells.codes)
    there = layers[depth] if depth < len(layers) else Layer(cells.codes[:0], density[:0])
    codes, densities = np.concatenate([there.codes, cells.codes]), np.concatenate([there.density, density])
    order = np.argsort(codes)
    layers[depth : depth + 1] = [Layer(codes[order], densities[order])]
