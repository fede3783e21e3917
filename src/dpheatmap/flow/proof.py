"""Optimal flows with a certificate: a potential of the same value, checked in whole numbers."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dpheatmap.flow import multilevel
from dpheatmap.flow.network_simplex import Flow, Grid, flow_of
from dpheatmap.place.quadtree import Ints

_FLAW = "The least cost of a flow failed its own proof: {}. This is a fault of dpheatmap; please report it."


class Optimum(NamedTuple):
    """A flow of the least cost."""

    flow: Flow
    cost: int


def optimum(supply: Ints, grid: Grid) -> Optimum:
    """Find an optimal flow, which a potential of the same value proves optimal."""
    tree = multilevel.optimal_tree(supply, grid)
    flow = flow_of(tree, grid)
    spent, proved = cost(flow, supply, grid), value(tree.potential, supply, grid)
    if spent != proved:
        raise AssertionError(_FLAW.format(f"the flow costs {spent}, the potential is worth {proved}"))
    return Optimum(flow, spent)


def cost(flow: Flow, supply: Ints, grid: Grid) -> int:
    """Compute the cost of a flow; raises unless it carries all supplies and stays on the grid."""
    shape, pixels = (grid.rows, grid.columns), grid.rows * grid.columns
    right, down = flow.right.reshape(shape), flow.down.reshape(shape)
    balance = supply[:pixels].reshape(shape) - right - down - flow.bank.reshape(shape)
    balance[:, 1:] += right[:, :-1]
    balance[1:] += down[:-1]
    if right[:, -1].any() or down[-1].any() or (flow.bank.any() and not grid.banked):
        raise AssertionError(_FLAW.format("the flow leaves the grid"))
    if balance.any() or flow.bank.sum() != -supply[pixels:].sum():
        raise AssertionError(_FLAW.format("the flow leaves supplies behind"))
    at_bank = grid.out * int(flow.bank[flow.bank > 0].sum()) - grid.into * int(flow.bank[flow.bank < 0].sum())
    return int(np.abs(right).sum()) + int(np.abs(down).sum()) + at_bank


def value(potential: NDArray[np.int32] | Ints, supply: Ints, grid: Grid, scale: int = 1) -> int:
    """Compute the lower bound on every flow's cost by a potential, in multiples of 1 / scale; raises if not feasible.

    Costs are integers, so the bound may be rounded up. Supplies are multiplied in two parts, since the sum may be long.
    """
    wide = potential.astype(np.int64)
    pixels = wide[: grid.rows * grid.columns].reshape(grid.rows, grid.columns)
    steepest = max(int(np.abs(np.diff(pixels, axis=axis)).max(initial=0)) for axis in (0, 1))
    to_bank = pixels - wide[-1] if grid.banked else np.zeros((1, 1), np.int64)
    if steepest > scale or not -scale * grid.into <= to_bank.min() <= to_bank.max() <= scale * grid.out:
        raise AssertionError(_FLAW.format("the potential is not feasible"))
    parts = (int((wide - wide[0]) @ part) for part in (supply >> 24, supply & (2**24 - 1)))
    return -(-((next(parts) << 24) + next(parts)) // scale)
