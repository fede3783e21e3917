"""The earth mover's distance on a grid as a minimum-cost flow: exactly, between two bounds, and as the EMD norm.

With distances along the axes, mass that moves from one pixel to another can go step by step through neighbours. So the
distance is the least cost of a flow (Ling and Okada 2007): n pixels and 2 n edges, not n^2 pairs. Every answer is
proved before it is returned. The flow is checked to carry the supplies and the potential to be feasible, both in whole
numbers. Then no flow costs less than the value of the potential.
"""

from __future__ import annotations

from itertools import count

import numpy as np

from dpheatmap.errors import ParameterError
from dpheatmap.flow import multilevel
from dpheatmap.flow.masses import Supply, signed_supply, supply_of_difference
from dpheatmap.flow.multilevel import SCALE, Level
from dpheatmap.flow.network_simplex import Grid, Tree, flow_of, sweep
from dpheatmap.flow.proof import cost, optimum, value
from dpheatmap.place.domain import Floats

_ALPHA = 2  # the price, in sides, of making or destroying a unit of mass
_TRIALS = 3  # the number of levels above the finest one that may prove the bounds
_EASINGS = 16  # rounds of circulations at a time
_WORTHWHILE = 1.15  # the factor by which they must shrink the gap to go on
_SWEEPS = 4  # between two checks of the bounds


def exact(a: Floats, b: Floats) -> float:
    """Compute the distance between two normalised maps: the optimum for their masses, rounded to whole units."""
    supply = supply_of_difference(a, b)
    if not supply.units.any():
        return 0.0
    return float(supply.in_sides(optimum(supply.units, Grid(*a.shape)).cost, max(a.shape)))


def norm(v: Floats) -> float:
    """Compute the EMD norm: the least of EMD(p, q) + alpha |v - (p - q)| over p, q >= 0 of equal totals.

    It is a flow: the steps carry p - q, and the rest r = v - (p - q) goes to the bank, where r > 0, or comes from it,
    where r < 0, at alpha a unit. With W the sum of v, the cost is alpha |W| plus that of the cheapest flow whose bank
    takes W in at no cost. The reason: a unit that comes from the bank and one that goes there cost 2 alpha = 4 sides,
    and a path between the two places is shorter than 2 sides, so in an optimal flow they meet without the bank. Hence
    all bank edges point one way, and together they carry |W|.
    """
    if not v.any():
        return 0.0
    supply, side = signed_supply(v), max(v.shape)
    rows, columns = v.shape
    with_bank = np.append(supply.units, -supply.units.sum())
    grid = Grid(rows, columns, banked=True, out=_ALPHA * side, into=_ALPHA * side)
    return float(supply.in_sides(optimum(with_bank, grid).cost, side))


def bracket(a: Floats, b: Floats, tolerance: float) -> tuple[float, float]:
    """Compute bounds of the distance, the upper one at most 1 + tolerance times the lower one.

    From the coarsest grid on, the optimum of each grid is found and carried over to the finest, where it gives a flow
    and a potential, until these are close enough. If they never are, the optimum of the finest grid is sought in the
    same way. The search stops as soon as the current flow and a potential made from its tree's are close enough. On
    smooth maps the gap shrinks to a quarter from level to level, so levels whose gap is expected to be too large are
    skipped. The gap is first measured on coarse grids, where that costs little.
    """
    supply = supply_of_difference(a, b)
    if not supply.units.any():
        return 0.0, 0.0
    levels, proof = multilevel.pyramid(supply.units, Grid(*a.shape)), _Proof(supply, max(a.shape))
    tree, promised = multilevel.root_tree(levels[-1]), np.inf
    for k in range(len(levels) - 1, 0, -1):
        while sweep(tree, levels[k].grid):
            pass
        if k == min(_TRIALS, len(levels) - 1):
            promised = _gap(*_refined_bounds(tree, [levels[k], levels[k - 1]], tolerance))
        if promised <= 2 * tolerance:
            proof.add(*_refined_bounds(tree, levels[k::-1], tolerance))
            promised = proof.gap
            if proof.gap <= tolerance:
                return proof.bounds
        promised /= 4
        tree = multilevel.finer_tree(tree, levels[k].grid, levels[k - 1])
    for sweeps in count(1):
        pivots = sweep(tree, levels[0].grid)
        if pivots == 0 or (pivots <= tolerance * a.size and sweeps % _SWEEPS == 0):
            proof.add(*_bounds_of(tree, levels[0]))
            if pivots == 0 or proof.gap <= tolerance:
                break
    if proof.gap > tolerance:
        raise ParameterError(
            f"tolerance must be at least {proof.gap:.2g} for these maps; it was {tolerance:g}. They are too large and "
            "too close for the whole numbers used; give a larger one."
        )
    return proof.bounds


class _Proof:
    """The best bounds so far, in units x steps."""

    def __init__(self, supply: Supply, side: int) -> None:
        self._supply, self._side = supply, side
        self._lower, self._upper = 0, int(np.iinfo(np.int64).max)

    def add(self, lower: int, upper: int) -> None:
        """Add two bounds."""
        self._lower, self._upper = max(self._lower, lower), min(self._upper, upper)

    @property
    def bounds(self) -> tuple[float, float]:
        """The bounds in sides, widened by the error of rounding the masses, as floats rounded outwards."""
        wide = self._lower - self._supply.slack, self._upper + self._supply.slack
        low, high = (float(self._supply.in_sides(bound, self._side)) for bound in wide)
        return max(0.0, float(np.nextafter(low, -np.inf))), float(np.nextafter(high, np.inf))

    @property
    def gap(self) -> float:
        """The distance of the bounds relative to the lower one."""
        return _gap(*self.bounds)


def _gap(lower: float, upper: float) -> float:
    """The distance of the bounds relative to the lower one, rounded up."""
    return float(np.nextafter(np.nextafter(upper / lower, np.inf) - 1, np.inf)) if lower > 0 else np.inf


def _refined_bounds(tree: Tree, levels: list[Level], tolerance: float) -> tuple[int, int]:
    """Bounds on the last of the levels, each twice as fine as the one before, from an optimal tree of the first.

    On the last level the flow is improved as long as that removes a good part of the gap.
    """
    flow, potential = flow_of(tree, levels[0].grid), SCALE * tree.potential.astype(np.int64)
    for k in range(1, len(levels)):
        supply, grid = levels[k]
        for _ in range(_EASINGS if k > 1 else 0):
            multilevel.ease(flow, levels[k - 1].grid)
        flow = multilevel.finer_flow(flow, levels[k - 1].grid, supply, grid)
        potential = multilevel.finer_potential(potential, levels[k - 1].grid, grid)
        multilevel.stretch(potential, supply, grid)
    lower, upper = value(potential, *levels[-1], SCALE), cost(flow, *levels[-1])
    before = upper * _WORTHWHILE
    while upper > lower * (1 + tolerance / 2) and (before - lower) >= _WORTHWHILE * (upper - lower):
        for _ in range(_EASINGS):
            multilevel.ease(flow, levels[-1].grid)
        before, upper = upper, cost(flow, *levels[-1])
    return lower, upper


def _bounds_of(tree: Tree, level: Level) -> tuple[int, int]:
    """Compute bounds from a tree that may not be optimal; if it is, its potential is feasible, and they are equal."""
    grid = level.grid
    feasible = -multilevel.tighten(-tree.potential, grid), multilevel.tighten(tree.potential, grid)
    return max(value(potential, *level) for potential in feasible), cost(flow_of(tree, grid), *level)
