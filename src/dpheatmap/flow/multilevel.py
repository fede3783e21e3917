"""Refinement from coarse to fine grids: starts for the network simplex method, and flows and potentials as bounds.

*Trees.* Blocks of 2 x 2 pixels make a grid of half the size, on which the problem is solved first, in the same way.
Its tree becomes a tree of the pixels: a tree edge between blocks joins their first rows or first columns, and within
each block the first pixel is joined to its neighbours, the second to the fourth:

    0 - 1 -- 0 - 1
    |   |    |   |        The path between two first pixels has the right length, two steps for each block,
    2   3    2   3        so most pivots that remain are local.
    |
    0 - 1

*Flows.* Between two blocks, half of the flow goes on each of the two edges. Inside a block, the supplies then determine
the flows on its four edges, up to a circulation: the cheapest circulation is minus the median of the flows along it.
Afterwards the same is done around every square of four pixels. A median of four numbers is an interval, and its middle
is taken: this spreads the flow, so that later squares save more.

*Potentials.* The coarse potential, doubled and interpolated between the middles of the blocks, is feasible: its
differences along a row are weighted means of halves of doubled differences, of which none exceeds 1. So is its
rounding down. Then each potential is raised where the supply is positive and lowered where it is negative, as far as
its neighbours allow. A potential of a tree that is not optimal yet becomes feasible when each value is replaced by the
least of pi_u + distance(u, v), or the greatest of pi_u - distance(u, v).

On smooth maps both bounds are within a few tenths of a percent of the optimum before any pivot on the fine grid, four
times closer for each doubling of the resolution. This module imports numba, so it is imported late.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dpheatmap._util.jit import njit
from dpheatmap.flow.network_simplex import Edges, Flow, Grid, Nodes, Tree, perturb, plant_tree, sweep
from dpheatmap.place.quadtree import Ints

SCALE = 16
"""Interpolated potentials are multiples of 1 / 16."""


class Level(NamedTuple):
    """The problem on one grid: the supplies of its pixels and, if there is one, of the bank."""

    supply: Ints
    grid: Grid


def pyramid(supply: Ints, grid: Grid) -> list[Level]:
    """The problem, and coarser ones down to a single pixel."""
    levels = [Level(supply, grid)]
    while levels[-1].grid.rows * levels[-1].grid.columns > 1:
        levels.append(_coarser_level(*levels[-1]))
    return levels


def optimal_tree(supply: Ints, grid: Grid) -> Tree:
    """Find an optimal tree, on ever finer grids."""
    levels = pyramid(supply, grid)
    tree = root_tree(levels[-1])
    for k in range(len(levels) - 2, -1, -1):
        tree = finer_tree(tree, levels[k + 1].grid, levels[k])
        while sweep(tree, levels[k].grid):
            pass
    return tree


def root_tree(level: Level) -> Tree:
    """The only tree of a single pixel, with the bank if there is one."""
    none = np.zeros(1, np.bool_)
    tree: Tree = plant_tree(Edges(none, none, np.array([level.grid.banked])), perturb(level.supply), level.grid)
    return tree


def finer_tree(tree: Tree, coarse: Grid, level: Level) -> Tree:
    """Refine the tree of the blocks to a tree of the pixels."""
    refined: Tree = plant_tree(_refined_edges(tree.parent, coarse, level.grid), perturb(level.supply), level.grid)
    return refined


def _coarser_level(supply: Ints, grid: Grid) -> Level:
    """The supplies of blocks of 2 x 2 pixels, fewer at the edges, and their grid, with steps twice as long."""
    rows, columns, pixels = (grid.rows + 1) // 2, (grid.columns + 1) // 2, grid.rows * grid.columns
    padded = np.zeros((2 * rows, 2 * columns), np.int64)
    padded[: grid.rows, : grid.columns] = supply[:pixels].reshape(grid.rows, grid.columns)
    blocks = padded.reshape(rows, 2, columns, 2).sum(axis=(1, 3)).ravel()
    coarse = Grid(rows, columns, grid.banked, (grid.out + 1) // 2, (grid.into + 1) // 2)
    return Level(np.append(blocks, supply[pixels:]), coarse)


@njit(cache=True)
def _refined_edges(parent: Nodes, coarse: Grid, grid: Grid) -> Edges:
    """The edges between pixels that replace those of the tree of the blocks with these parents."""
    pixels, bank = grid.rows * grid.columns, coarse.rows * coarse.columns
    right, down, to_bank = np.zeros(pixels, np.bool_), np.zeros(pixels, np.bool_), np.zeros(pixels, np.bool_)
    for i in range(grid.rows):
        for j in range(grid.columns):
            v, block = i * grid.columns + j, i // 2 * coarse.columns + j // 2
            if j + 1 < grid.columns and i % 2 == 0:
                right[v] = j % 2 == 0 or parent[block] == block + 1 or parent[block + 1] == block
            if i + 1 < grid.rows:
                below = block + coarse.columns
                down[v] = i % 2 == 0 or (j % 2 == 0 and (parent[block] == below or parent[below] == block))
            if grid.banked and i % 2 == 0 and j % 2 == 0:
                to_bank[v] = parent[block] == bank or parent[bank] == block
    return Edges(right, down, to_bank)


@njit(cache=True)
def finer_flow(flow: Flow, coarse: Grid, supply: Ints, grid: Grid) -> Flow:
    """Refine a flow of the blocks to a flow of the pixels; without a bank."""
    rows, columns = grid.rows, grid.columns
    right, down = np.zeros(rows * columns, np.int64), np.zeros(rows * columns, np.int64)
    for i in range(rows):
        for j in range(columns):
            v, block = i * columns + j, i // 2 * coarse.columns + j // 2
            if j % 2 == 1 and j + 1 < columns:
                half = flow.right[block] // 2 if 2 * (i // 2) + 1 < rows else 0
                right[v] = half if i % 2 == 1 else flow.right[block] - half
            if i % 2 == 1 and i + 1 < rows:
                half = flow.down[block] // 2 if 2 * (j // 2) + 1 < columns else 0
                down[v] = half if j % 2 == 1 else flow.down[block] - half
    for i in range(0, rows, 2):
        for j in range(0, columns, 2):
            v = i * columns + j
            if j + 1 < columns:
                right[v] = -_surplus(v + 1, right, down, supply, grid)
                if i + 1 < rows:
                    right[v + columns] = -_surplus(v + columns + 1, right, down, supply, grid)
            if i + 1 < rows:
                down[v] = _surplus(v, right, down, supply, grid)
    return Flow(right, down, np.zeros(rows * columns, np.int64))


@njit(cache=True)
def _surplus(v: int, right: Ints, down: Ints, supply: Ints, grid: Grid) -> int:
    """The supply of a pixel that the flow leaves there."""
    rest: int = supply[v] - right[v] - down[v]
    if v % grid.columns > 0:
        rest += right[v - 1]
    if v >= grid.columns:
        rest += down[v - grid.columns]
    return rest


@njit(cache=True)
def ease(flow: Flow, grid: Grid) -> None:
    """Send the cheapest circulation around every square of four pixels, once."""
    right, down, columns = flow.right, flow.down, grid.columns
    for i in range(grid.rows - 1):
        for j in range(columns - 1):
            v = i * columns + j
            a, b, c, d = -right[v], -down[v + 1], right[v + columns], down[v]
            # The two middle values of the four, in any order, and their mean.
            x = (max(min(a, b), min(c, d)) + min(max(a, b), max(c, d))) // 2
            right[v] += x
            down[v + 1] += x
            right[v + columns] -= x
            down[v] -= x


def finer_potential(potential: Ints, coarse: Grid, grid: Grid) -> Ints:
    """Interpolate the doubled potential of the blocks between their middles: 3/4 own block, 1/4 next block."""
    values = potential.reshape(coarse.rows, coarse.columns)
    for _ in range(2):  # down, then across
        padded = np.pad(values, ((1, 1), (0, 0)), mode="edge")
        pairs = np.stack([3 * values + padded[:-2], 3 * values + padded[2:]], axis=1)
        values = pairs.reshape(-1, values.shape[1]).T
    return values[: grid.rows, : grid.columns].ravel() // 8


@njit(cache=True)
def stretch(potential: Ints, supply: Ints, grid: Grid) -> None:
    """Raise a feasible potential (in multiples of 1 / SCALE) at supplies and lower it at demands, forwards and back."""
    rows, columns = grid.rows, grid.columns
    for k in range(2 * rows * columns):
        v = k if k < rows * columns else 2 * rows * columns - 1 - k
        if supply[v] == 0:
            continue
        i, j, sign = v // columns, v % columns, 1 if supply[v] > 0 else -1
        least = np.int64(1) << 62
        if i > 0:
            least = min(least, sign * potential[v - columns])
        if j > 0:
            least = min(least, sign * potential[v - 1])
        if i + 1 < rows:
            least = min(least, sign * potential[v + columns])
        if j + 1 < columns:
            least = min(least, sign * potential[v + 1])
        potential[v] = sign * (least + SCALE)


@njit(cache=True)
def tighten(potential: NDArray[np.int32], grid: Grid) -> Ints:
    """Compute the least of potential_u + distance(u, v) for each pixel v: one pass forwards and one back."""
    values, rows, columns = potential.astype(np.int64), grid.rows, grid.columns
    for i in range(rows):
        for j in range(columns):
            v = i * columns + j
            if i > 0:
                values[v] = min(values[v], values[v - columns] + 1)
            if j > 0:
                values[v] = min(values[v], values[v - 1] + 1)
    for i in range(rows - 1, -1, -1):
        for j in range(columns - 1, -1, -1):
            v = i * columns + j
            if i + 1 < rows:
                values[v] = min(values[v], values[v + columns] + 1)
            if j + 1 < columns:
                values[v] = min(values[v], values[v + 1] + 1)
    return values
