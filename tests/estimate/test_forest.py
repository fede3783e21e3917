"""The tree solver against HiGHS on random forests, and its rules on cases small enough to do by hand."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.optimize import linprog

from dpheatmap.estimate import forest
from dpheatmap.estimate.forest import Level, Masses, solve
from dpheatmap.place.domain import Floats


def level(values: Sequence[float] | Floats, kids: Sequence[int], left_out: Sequence[int]) -> Level:
    """A level from the number of kept and of left-out children of each node."""
    return Level(np.array(values, np.float64), np.cumsum([0, *kids]), np.array(left_out, np.int64))


def leaves(*values: float) -> Level:
    """The last level."""
    return level(values, [0] * len(values), [0] * len(values))


def random_forest(rng: np.random.Generator) -> list[Level]:
    """A forest of 1 to 6 levels; every node above the last has one to four children, some of them left out."""
    levels: list[Level] = []
    size, count = int(rng.integers(1, 5)), int(rng.integers(1, 7))
    for remaining in range(count - 1, -1, -1):
        values = [
            rng.normal(2, 5, size),
            rng.integers(-1, 3, size).astype(np.float64),
            rng.laplace(0, 1, size) + rng.pareto(1, size),
            np.full(size, 1.5),
        ][rng.integers(4)]
        if remaining == 0:
            return [*levels, leaves(*values)]
        children = rng.integers(1, 5, size)
        kept = np.minimum(rng.integers(0, 4, size), children)
        kept[0] = max(kept[0], 1)
        levels.append(level(values, kept.tolist(), (children - kept).tolist()))
        size = int(kept.sum())
    raise AssertionError("not reached")


def optimum(levels: list[Level], roots: Floats | None = None) -> float:
    """The least cost by HiGHS, in multiples of 2^-L: t >= |y - mass| for each node; optionally with given root masses.

    Variables are the leaves and, for each node, the sum over its left-out children (they cost the same), then the t.
    """
    first = np.cumsum([0, *(len(one.values) for one in levels)])
    nodes, last = int(first[-1]), len(levels) - 1
    sums = sparse.lil_array((nodes, nodes))
    for depth in range(last, -1, -1):
        for v in range(len(levels[depth].values)):
            row = first[depth] + v
            sums[row, row] = float(depth == last or levels[depth].left_out[v] > 0)
            for u in range(levels[depth].kids[v], levels[depth].kids[v + 1]):
                sums[[row]] += sums[[first[depth + 1] + u]]
    weights = np.concatenate([np.full(len(one.values), 2.0 ** (last - depth)) for depth, one in enumerate(levels)])
    prices = np.where(np.arange(nodes) < first[last], weights - 1, 0.0)  # c_(i+1) + ... + c_L = c_i - 1
    y, one = np.concatenate([x.values for x in levels]), sparse.eye_array(nodes)
    bounds = sparse.vstack([sparse.hstack([sums, -one]), sparse.hstack([-sums, -one])]).tocsc()
    fixed = {} if roots is None else {"A_eq": sparse.hstack([sums, 0 * one]).tocsr()[: len(roots)], "b_eq": roots}
    result = linprog(np.concatenate([prices, weights]), A_ub=bounds, b_ub=np.concatenate([y, -y]), **fixed)
    assert result.status == 0
    return float(result.fun)


def cost(levels: list[Level], solution: list[Masses]) -> float:
    """The objective in multiples of 2^-L."""
    total = 0.0
    for height, one, masses in zip(range(len(levels))[::-1], levels, solution, strict=True):
        total += 2.0**height * np.abs(one.values - masses.nodes).sum()
        total += (2.0**height - 1) * (one.left_out * masses.left_out).sum()
    return total


def assert_feasible(levels: list[Level], solution: list[Masses]) -> None:
    """No mass is negative, and each node's mass is that of its children."""
    for masses in solution:
        assert masses.nodes.min(initial=0) >= 0
        assert masses.left_out.min(initial=0) >= 0
    for above, masses, below in zip(levels, solution, solution[1:], strict=False):
        kept = np.diff(np.append(0.0, np.cumsum(below.nodes))[above.kids])
        np.testing.assert_allclose(masses.nodes, kept + above.left_out * masses.left_out, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("batch", range(10))
def test_same_optimum_as_highs(batch: int) -> None:
    rng = np.random.default_rng([5, batch])
    for _ in range(15):
        levels = random_forest(rng)
        solution = solve(levels)
        assert_feasible(levels, solution)
        assert cost(levels, solution) == pytest.approx(optimum(levels), rel=1e-9, abs=1e-9)


def test_costs_are_the_least_costs_of_given_masses() -> None:
    """The function f of a root is what HiGHS finds when the root's mass is fixed."""
    rng = np.random.default_rng(6)
    for _ in range(20):
        levels = random_forest(rng)
        roots = forest._costs(levels)[0]
        at = rng.uniform(0, 10, len(levels[0].values))
        found = optimum(levels, np.zeros(len(at)))
        for v, mass in enumerate(at):
            segments = slice(roots.start[v], roots.start[v + 1])
            ends = np.append(0.0, np.cumsum(roots.length[segments]))
            slopes = np.append(roots.slope[segments], 2 ** len(levels) - 1)
            found += float(np.sum(slopes * np.diff(np.minimum(np.append(ends, np.inf), mass))))
        assert found == pytest.approx(optimum(levels, at), rel=1e-9)


def test_slopes_are_odd_ascending_and_below_the_last_one() -> None:
    rng = np.random.default_rng(7)
    for _ in range(100):
        levels = random_forest(rng)
        for height, costs in zip(range(len(levels))[::-1], forest._costs(levels), strict=True):
            assert np.all(costs.slope % 2 == 1)
            last = 2 ** (height + 1) - 1
            assert np.all((costs.slope >= -last) & (costs.slope < last))
            assert np.all(costs.length > 0)
            for v in range(len(costs.start) - 1):
                assert np.all(np.diff(costs.slope[costs.start[v] : costs.start[v + 1]]) > 0)


def test_roots_keep_their_values() -> None:
    levels = random_forest(np.random.default_rng(8))
    np.testing.assert_array_equal(solve(levels)[0].nodes, np.maximum(levels[0].values, 0))


def test_one_level_is_clipped() -> None:
    (masses,) = solve([leaves(2.0, -1.0, 0.0)])
    assert masses.nodes.tolist() == [2, 0, 0]
    assert masses.left_out.tolist() == [0, 0, 0]


def test_surplus_goes_equally_to_kept_and_left_out() -> None:
    above, below = solve([level([8], [1], [3]), leaves(5)])
    assert below.nodes.tolist() == [5.75]
    assert above.left_out.tolist() == [0.75]


def test_surplus_goes_to_nodes_without_people_too() -> None:
    _, below = solve([level([8], [4], [0]), leaves(3, 1, 0, -2)])
    assert below.nodes.tolist() == [4, 2, 1, 1]


def test_deficit_is_shared_equally_up_to_the_values() -> None:
    """Mass 2 for leaves that ask for 3, 0.5 and 5: a third each would be more than the second asks for."""
    above, below = solve([level([2], [3], [1]), leaves(3, 0.5, 5)])
    assert below.nodes.tolist() == [0.75, 0.5, 0.75]
    assert above.left_out.tolist() == [0]


def test_cheapest_mass_goes_first() -> None:
    """Two nodes with leaves, c = 4, 2, 1, under a root of mass 4.

    The first, y = 1 over leaves 3 + 0, has the slopes -3 up to 1 and +1 up to 3; the second, y = 4 over a leaf of 1,
    has -3 up to 1 and -1 up to 4. So both get 1 at -3, the second gets the other 2 at -1, and these are surplus for
    its leaf and three left-out cells.
    """
    levels = [level([4], [2], [2]), level([1, 4], [2, 1], [2, 3]), leaves(3, 0, 1)]
    root, middle, below = solve(levels)
    assert root.left_out.tolist() == [0]
    assert middle.nodes.tolist() == [1, 3]
    assert middle.left_out.tolist() == [0, 0.5]
    assert below.nodes.tolist() == [1, 0, 1.5]
    assert cost(levels, [root, middle, below]) == pytest.approx(optimum(levels))


def test_nothing_positive_gives_nothing() -> None:
    for masses in solve([level([-1, 0], [1, 1], [3, 3]), leaves(7, -7)]):
        assert not masses.nodes.any()
        assert not masses.left_out.any()


@settings(deadline=None)
@given(st.floats(0, 1e9), st.lists(st.floats(0, 1e9), min_size=1, max_size=6))
def test_water_level(rest: float, rooms: list[float]) -> None:
    room = np.array(rooms)
    height = forest._water_level(rest, 0, len(room), room)
    assert np.minimum(room, height).sum() == pytest.approx(min(rest, room.sum()), rel=1e-12)


@settings(deadline=None)
@given(st.integers(0, 2**32), st.integers(-20, 20))
def test_solution_scales_with_the_values(seed: int, power: int) -> None:
    """Powers of two scale without rounding, so the scaled problem has the scaled solution to the last bit."""
    levels = random_forest(np.random.default_rng(seed))
    scaled = solve([one._replace(values=one.values * 2.0**power) for one in levels])
    for masses, other in zip(solve(levels), scaled, strict=True):
        np.testing.assert_array_equal(masses.nodes * 2.0**power, other.nodes)
        np.testing.assert_array_equal(masses.left_out * 2.0**power, other.left_out)
