"""Expected shares of a cell's quarters, by bilinear interpolation between neighbours.

The density of a quarter is guessed from those of the cell itself, of the neighbours on its two sides and of the one
across the corner. The interpolation is of fourth roots of densities, since densities of people differ by factors: next
to a place ten thousand times as busy, a cell is ten times, not ten thousand times, busier on that side.

Bilinear interpolation between the middles of cells is read at a *reach* from the cell's own middle, across and down. By
default it is 2/7 of a cell, which gives the weights 25, 10, 10 and 4 of 49. The middle of a quarter is 1/4 away; a
little more was better in trials. Repeated, the interpolation gives a surface with next to no block edges. A neighbour
not cut as finely has the density of the cell that holds it. Outside of the domain, densities are mirrored.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dpheatmap.estimate.posterior.cells import CellTree
from dpheatmap.place.domain import Floats
from dpheatmap.place.quadtree import Ints, decode, encode

REACH = 2.0 / 7.0
_LEAST = 0.02  # the least share: neighbours may be wrong, so no side of a split is ruled out


class Layer(NamedTuple):
    """Cells of one level, codes ascending, and their densities: mass by area inside the domain."""

    codes: Ints
    density: Floats


def _density(layers: list[Layer], depth: int, codes: Ints) -> Floats:
    """The densities at cells of the layer ``depth``, each from the finest layer up to it that holds the cell."""
    layer = layers[depth]
    at = np.minimum(np.searchsorted(layer.codes, codes), len(layer.codes) - 1)
    found = layer.density[at]
    missing = np.flatnonzero(layer.codes[at] != codes)
    if depth > 0 and len(missing):
        found[missing] = _density(layers, depth - 1, codes[missing] >> 2)
    return found


def quarter_weights(
    tree: CellTree, layers: list[Layer], depth: int, codes: Ints, reach: Floats | float = REACH
) -> Floats:
    """Compute the relative masses of the quarters of cells of layer ``depth``, in order of their codes; rows sum to 1.

    The first layer is that of the tree's top level, and must cover the domain. ``reach`` may differ between cells.
    """
    x, y = decode(codes)
    level = tree.top + depth
    around = tree.domain.cells(level)
    roots = np.empty((3, 3, len(codes)))
    for dy in (-1, 0, 1):
        for dx in (-1, 0, 1):
            at = encode(np.clip(x + dx, around.x0, around.x1 - 1), np.clip(y + dy, around.y0, around.y1 - 1))
            if tree.domain.runs is not None:
                at = np.where(tree.domain.meets(level, *decode(at)), at, codes)
            roots[1 + dy, 1 + dx] = np.sqrt(np.sqrt(_density(layers, depth, at)))
    own, side, corner = (1.0 - reach) ** 2, reach * (1.0 - reach), reach**2
    four = codes[:, None] * 4 + np.arange(4)
    weights = np.empty((len(codes), 4))
    for quarter in range(4):
        across, down = 2 * (quarter & 1), 2 * (quarter >> 1)
        sides = roots[1, across] + roots[down, 1]
        guess = (own * roots[1, 1] + side * sides + corner * roots[down, across]) ** 4
        area = tree.measure.weight(level + 1, four[:, quarter])
        weights[:, quarter] = np.where(area > 0, np.maximum(guess, 1e-300), 0.0) * area
    weights /= weights.sum(axis=1, keepdims=True)
    return weights


def neighbourly_shares(tree: CellTree, means: Floats) -> Floats:
    """Compute the left child's expected share at each binary node from the posterior means of the nodes."""
    layers = layers_of(tree, means)
    weights = [np.ones(len(codes)) for codes in tree.codes]
    for depth, kids in enumerate(tree.kids[:-1]):
        open_cells = (kids >= 0).any(axis=1)
        found = quarter_weights(tree, layers, depth, tree.codes[depth][open_cells])
        there = kids[open_cells] >= 0
        weights[depth + 1][kids[open_cells][there]] = found[there]
    return np.clip(tree.shares(weights), _LEAST, 1.0 - _LEAST)


def layers_of(tree: CellTree, means: Floats) -> list[Layer]:
    """Compute the densities of all cells of the tree."""
    return [
        Layer(codes, means[node] / area) for codes, node, area in zip(tree.codes, tree.node, tree.area, strict=True)
    ]
