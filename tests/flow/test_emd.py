"""The earth mover's distance against POT and HiGHS, its laws, its bracket, its norm, and its proofs."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction

import numpy as np
import ot
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse
from scipy.optimize import linprog

from dpheatmap.errors import ParameterError
from dpheatmap.evaluate.metrics import emd, emd_norm, kl, similarity
from dpheatmap.flow import emd as solvers
from dpheatmap.flow import masses, multilevel, network_simplex, proof
from dpheatmap.flow.network_simplex import Flow, Grid, Tree, bits_of_perturbation
from dpheatmap.heatmap.smoothing import gaussian_filter
from dpheatmap.place.domain import Domain, Floats
from dpheatmap.place.quadtree import Ints
from helpers.grids import maps

shapes = st.tuples(st.integers(1, 8), st.integers(1, 8))


def distances(rows: int, columns: int) -> Floats:
    """Between all pixels, in sides."""
    row, column = np.divmod(np.arange(rows * columns), columns)
    apart: Floats = (np.abs(row[:, None] - row) + np.abs(column[:, None] - column)) / max(rows, columns)
    return apart


def by_pot(a: Floats, b: Floats) -> float:
    return float(ot.emd2(a.ravel() / a.sum(), b.ravel() / b.sum(), distances(*a.shape), numItermax=10**7))


def point(shape: tuple[int, int], row: int, column: int) -> Floats:
    one = np.zeros(shape)
    one[row, column] = 1
    return one


def bells(rng: np.random.Generator, rows: int, columns: int, number: int) -> Floats:
    """A smooth map."""
    y, x = np.mgrid[:rows, :columns] / max(rows, columns)
    at = rng.random((number, 3))
    return sum((c * np.exp(-((y - a) ** 2 + (x - b) ** 2) / 0.01) for a, b, c in at), np.full((rows, columns), 1e-9))


def nasty_pairs() -> Iterator[tuple[Floats, Floats]]:
    rng = np.random.default_rng(1)
    board = np.indices((12, 12)).sum(axis=0) % 2
    yield board, 1 - board
    yield point((9, 14), 0, 0), point((9, 14), 8, 13)
    yield point((9, 14), 0, 0), np.ones((9, 14))
    yield np.eye(11), np.eye(11)[::-1]
    yield bells(rng, 20, 24, 5), bells(rng, 20, 24, 5)
    yield bells(rng, 24, 24, 3), rng.random((24, 24))
    yield rng.random((13, 1)), rng.random((13, 1))
    yield rng.random((1, 21)) ** 20, rng.random((1, 21)) ** 20
    for density in (0.02, 0.1, 0.5):
        a, b = ((rng.random((22, 17)) < density) * rng.random((22, 17)) + point((22, 17), 3, 3) for _ in "ab")
        yield a, b
    left = np.zeros((16, 16))
    left[:, :5] = rng.random((16, 5))
    yield left, left[:, ::-1]
    yield rng.integers(1, 3, (15, 15)).astype(float), np.ones((15, 15))


NASTY = list(nasty_pairs())


@pytest.mark.parametrize(("a", "b"), NASTY)
def test_same_as_pot_and_within_its_bracket(a: Floats, b: Floats) -> None:
    found = emd(a, b)
    assert found == pytest.approx(by_pot(a, b), rel=1e-8, abs=1e-9)
    assert found == emd(b, a)
    for tolerance in (1e-6, 1e-3, 0.1, 10.0):
        lower, upper = emd(a, b, tolerance)
        assert lower <= found <= upper <= (1 + tolerance) * lower


@settings(deadline=None)
@given(shapes.flatmap(lambda shape: st.tuples(maps(shape), maps(shape), maps(shape))))
def test_it_is_a_metric(three: tuple[Floats, Floats, Floats]) -> None:
    a, b, c = three
    assert emd(a, a) == emd(a, 2 * a) == 0
    assert emd(a, b) == emd(b, a)
    assert emd(a, c) <= (emd(a, b) + emd(b, c)) * (1 + 1e-9) + 1e-12
    assert emd(a, b) == pytest.approx(by_pot(a, b), rel=1e-7, abs=1e-9)


@settings(deadline=None)
@given(shapes.flatmap(lambda shape: st.tuples(maps(shape), maps(shape))), st.floats(-6, 0))
def test_brackets_hold(pair: tuple[Floats, Floats], exponent: float) -> None:
    a, b = pair
    tolerance = 10**exponent
    lower, upper = emd(a, b, tolerance)
    assert 0 <= lower <= emd(a, b) <= upper <= (1 + tolerance) * lower


@settings(deadline=None)
@given(shapes.flatmap(lambda s: st.tuples(st.just(s), *(st.integers(0, n - 1) for n in (*s, *s)))))
def test_a_single_point_moves_by_its_distance(drawn: tuple[tuple[int, int], int, int, int, int]) -> None:
    shape, i, j, k, m = drawn
    assert emd(point(shape, i, j), 7 * point(shape, k, m)) == (abs(i - k) + abs(j - m)) / max(shape)


def test_one_line_is_the_area_between_cumulative_sums() -> None:
    rng = np.random.default_rng(2)
    a, b = rng.random((2, 1, 500))
    area = np.abs(np.cumsum(a / a.sum() - b / b.sum())).sum() / 500
    assert emd(a, b) == pytest.approx(area, rel=1e-10)
    assert emd(a.T, b.T) == pytest.approx(area, rel=1e-10)


def test_identical_maps_have_an_empty_bracket() -> None:
    a = np.arange(1.0, 13).reshape(3, 4)
    assert emd(a, a, tolerance=0.001) == emd(a, 4 * a, tolerance=0.001) == (0, 0)
    assert emd([[3.0]], [[2.0]]) == 0


@pytest.mark.parametrize("noise", [1e-3, 1e-9, 1e-13, 1e-15])
def test_close_maps_are_told_apart(noise: float) -> None:
    """Against the area between cumulative sums in exact fractions."""
    rng = np.random.default_rng(3)
    a = rng.random((1, 40))
    b = a * (1 + noise * rng.normal(size=a.shape))
    x, y = ([Fraction(value) for value in values.flat] for values in (a, b))
    area, so_far = Fraction(0), Fraction(0)
    for ours, theirs in zip(x, y, strict=True):
        so_far += ours / sum(x) - theirs / sum(y)
        area += abs(so_far) / 40
    assert emd(a, b) == pytest.approx(float(area), rel=1e-7)
    lower, upper = emd(a, b, tolerance=1e-6)
    assert lower <= area <= upper <= (1 + 1e-6) * lower


def test_smooth_maps_are_bracketed_without_the_finest_optimum(monkeypatch: pytest.MonkeyPatch) -> None:
    """A few percent are proved on coarse grids: no pivot happens on the finest one."""
    rng = np.random.default_rng(4)
    a, b = (bells(rng, 128, 120, 8) for _ in "ab")
    found, visited = emd(a, b), []

    def watched(tree: Tree, grid: Grid) -> int:
        visited.append(grid.rows)
        return int(network_simplex.sweep(tree, grid))

    monkeypatch.setattr(solvers, "sweep", watched)
    lower, upper = emd(a, b, tolerance=0.03)
    assert lower <= found <= upper <= 1.03 * lower
    assert max(visited) < 128
    visited.clear()
    lower, upper = emd(a, b, tolerance=1e-5)
    assert lower <= found <= upper <= 1.00001 * lower
    assert max(visited) == 128


def test_a_bracket_that_rounding_makes_too_wide_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on maps of very many pixels: here the masses are rounded to 1 / 4096."""
    monkeypatch.setattr(masses, "_power_for", lambda exponent, pixels: 12)
    a, b = np.random.default_rng(11).random((2, 5, 5))
    with pytest.raises(
        ParameterError, match=r"tolerance must be at least 0\.0\d+ for these maps; it was 0\.001\. They"
    ):
        emd(a, b, tolerance=0.001)
    lower, upper = emd(a, b, tolerance=0.5)
    assert lower <= by_pot(a, b) <= upper


def norm_by_highs(v: Floats) -> float:
    """The definition: a plan from p to q, and made (or destroyed) mass r - s, at 2 each."""
    n = v.size
    sent = sparse.kron(sparse.eye_array(n), np.ones((1, n)))
    received = sparse.kron(np.ones((1, n)), sparse.eye_array(n))
    one = sparse.eye_array(n)
    prices = np.concatenate([distances(*v.shape).ravel(), np.full(2 * n, 2.0)])
    result = linprog(prices, A_eq=sparse.hstack([sent - received, one, -one]).tocsc(), b_eq=v.ravel(), method="highs")
    assert result.status == 0
    return float(result.fun)


@pytest.mark.parametrize("shape", [(1, 1), (1, 6), (5, 1), (3, 4), (5, 5)])
def test_norm_is_its_definition(shape: tuple[int, int]) -> None:
    rng = np.random.default_rng(5)
    for v in (rng.normal(size=shape), rng.normal(1, 1, shape), rng.integers(-2, 2, shape), -rng.random(shape)):
        assert emd_norm(v) == pytest.approx(norm_by_highs(np.asarray(v, float)), rel=1e-8, abs=1e-9)


@settings(deadline=None)
@given(shapes.flatmap(lambda s: st.tuples(*[arrays(np.float64, s, elements=st.floats(-1e3, 1e3))] * 2)))
def test_norm_is_a_norm(pair: tuple[Floats, Floats]) -> None:
    v, w = pair
    size = np.abs(v).sum() + np.abs(w).sum()
    assert emd_norm(-v) == emd_norm(v) == emd_norm(2 * v) / 2
    assert emd_norm(v + w) <= emd_norm(v) + emd_norm(w) + 1e-9 * size
    assert 2 * abs(v.sum()) - 1e-9 * size <= emd_norm(v) <= 2 * np.abs(v).sum() + 1e-9 * size


def test_norm_of_a_difference_of_maps_is_their_distance() -> None:
    rng = np.random.default_rng(6)
    for shape in ((9, 9), (4, 13), (30, 20)):
        a, b = (x / x.sum() for x in rng.random((2, *shape)))
        assert emd_norm(a - b) == pytest.approx(emd(a, b), rel=1e-9)
        assert emd_norm(3 * a) == pytest.approx(6)
    assert emd_norm(np.zeros((3, 3))) == 0


def test_smoothing_brings_maps_closer() -> None:
    rng, domain = np.random.default_rng(7), Domain.unit(5)
    for _ in range(5):
        a, b = (x / x.sum() for x in rng.random((2, 32, 32)) ** 30)
        smooth = [gaussian_filter(x, domain, 0.05) for x in (a, b)]
        assert emd(*smooth) <= emd(a, b) * (1 + 1e-9)


def test_divergence_and_similarity_of_infinite_heatmaps_are_bounded_by_the_distance() -> None:
    """KL <= EMD / 2 s^2, TV <= sqrt(EMD) / 2 s and SIM >= 1 - that, where no edge cuts the bells of width s off."""
    rng, sigma, side, margin = np.random.default_rng(8), 0.1, 20, 13
    at = np.arange(-margin, side + margin)
    bell = np.exp(-0.5 * ((at[:, None] - np.arange(side)) / (sigma * side)) ** 2)
    bell /= bell.sum(axis=0)
    for power in (1, 10, 100):
        a, b = (x / x.sum() for x in rng.random((2, side, side)) ** power)
        near = np.roll(a, 1, axis=0)
        for other in (b, near):
            distance = emd(a, other)
            heat, other_heat = bell @ a @ bell.T, bell @ other @ bell.T
            assert kl(heat, other_heat) <= distance / (2 * sigma**2) + 1e-9
            variation = np.abs(heat - other_heat).sum() / 2
            assert variation <= math.sqrt(distance) / (2 * sigma)
            assert similarity(heat, other_heat) >= 1 - math.sqrt(distance) / (2 * sigma)


def planted(monkeypatch: pytest.MonkeyPatch, spoil: str) -> None:
    """Spoil the optimal tree before it is proved."""
    solve = multilevel.optimal_tree

    def spoiled(supply: Ints, grid: Grid) -> Tree:
        tree = solve(supply, grid)
        v = int(np.flatnonzero(tree.parent >= 0)[0])
        scaled = 1 << 20
        if spoil == "flow":
            tree.flow[v] += scaled
        elif spoil == "steep potential":
            tree.potential[v] += 3
        else:  # feasible, but not optimal
            tree.potential[:] = 0
        return tree

    monkeypatch.setattr(multilevel, "optimal_tree", spoiled)


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        ("flow", "the flow leaves supplies behind"),
        ("steep potential", "the potential is not feasible"),
        ("flat potential", "the flow costs .*, the potential is worth 0"),
    ],
)
def test_a_wrong_optimum_is_noticed(monkeypatch: pytest.MonkeyPatch, spoil: str, words: str) -> None:
    a, b = np.random.default_rng(9).random((2, 6, 7))
    planted(monkeypatch, spoil)
    with pytest.raises(AssertionError, match=f"failed its own proof: {words}.* please report it"):
        emd(a, b)
    with pytest.raises(AssertionError, match="failed its own proof"):
        emd_norm(a - b)


def test_flows_must_stay_on_the_grid() -> None:
    none = np.zeros(4, np.int64)
    supply, grid = np.array([0, 1, -1, 0]), Grid(2, 2)
    around = np.array([0, 1, 0, 0])  # from the end of the first row to the start of the second
    with pytest.raises(AssertionError, match="the flow leaves the grid"):
        proof.cost(Flow(around, none, none), supply, grid)
    with pytest.raises(AssertionError, match="the flow leaves the grid"):
        proof.cost(Flow(none, none, supply), supply, grid)  # to a bank that is not there
    with pytest.raises(AssertionError, match="the flow leaves supplies behind"):
        proof.cost(Flow(none, none, none), supply, grid)


def test_potentials_must_be_feasible_at_the_bank() -> None:
    grid = Grid(1, 2, banked=True, out=2, into=3)
    supply = np.array([1, 1, -2])
    assert proof.value(np.array([2, 1, 0]), supply, grid) == 3
    assert proof.value(np.array([-3, -3, 0]), supply, grid) == -6
    for wrong in ([3, 2, 0], [-4, -3, 0], [0, 2, 0]):
        with pytest.raises(AssertionError, match="not feasible"):
            proof.value(np.array(wrong), supply, grid)


def test_a_spoiled_flow_or_potential_never_becomes_a_bracket(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(10)
    a, b = (bells(rng, 32, 32, 4) for _ in "ab")

    def wrong_ease(flow: Flow, grid: Grid) -> None:
        flow.right[0] += 1

    def wrong_stretch(potential: Ints, supply: Ints, grid: Grid) -> None:
        potential[5] += 99

    for name, wrong in (("ease", wrong_ease), ("stretch", wrong_stretch)):
        with monkeypatch.context() as patch:
            patch.setattr(multilevel, name, wrong)
            with pytest.raises(AssertionError, match="failed its own proof"):
                emd(a, b, tolerance=1e-3)


@settings(deadline=None)
@given(shapes.flatmap(lambda shape: st.tuples(maps(shape), maps(shape))))
def test_rounding_moves_mass_by_half_a_unit_and_step_a_pixel(pair: tuple[Floats, Floats]) -> None:
    a, b = pair
    for supply in (masses.supply_of_difference(a, b), masses._difference_of_close(a, b)):
        assert supply.units.sum() == 0
        assert supply.slack >= 0
        totals = [sum(Fraction(x) for x in values.flat) for values in (a, b)]
        off = [
            abs(Fraction(x) / totals[0] - Fraction(y) / totals[1] - Fraction(int(u)) / 2**supply.power)
            for x, y, u in zip(a.flat, b.flat, supply.units, strict=True)
        ]
        assert max(off) <= 1.1 / 2**supply.power + 1e-14
        assert int(np.abs(supply.units).sum()) // 2 << bits_of_perturbation(a.size + 1) <= 2**61 + 2**40


def test_nothing_overflows_on_the_longest_way() -> None:
    """All mass from end to end of a line: the largest costs and potentials for the number of pixels."""
    for pixels in (2, 3, 16, 1000, 5000):
        a, b = point((1, pixels), 0, 0), point((1, pixels), 0, pixels - 1)
        assert emd(a, b) == emd(a.T, b.T) == (pixels - 1) / pixels
        lower, upper = emd(a, b, tolerance=1e-6)
        assert lower <= (pixels - 1) / pixels <= upper <= (1 + 1e-6) * lower
        assert emd_norm(a + b) == 4


def test_floats_become_integers_by_one_power_of_two() -> None:
    assert masses._as_integers(np.array([0.0, 0.75, 3.0])) == [0, 3 << 51, 3 << 53]
    tiny, huge = masses._as_integers(np.array([5e-324, 1e308]))
    assert Fraction(huge, tiny) == Fraction(1e308) / Fraction(5e-324)
