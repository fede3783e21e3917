"""The k-median solver against exact ones, and its parts against what they stand for."""

from __future__ import annotations

from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize

from dpheatmap.estimate.median import assign, exchange, initial_assignment, k_median, reassign
from dpheatmap.place.domain import Floats


def cost_of(x: Floats, y: Floats, weight: Floats, centres: Floats, *, euclidean: bool = False) -> float:
    """The cost by the definition."""
    dx, dy = x[:, None] - centres[:, 0], y[:, None] - centres[:, 1]
    away = np.hypot(dx, dy) if euclidean else np.abs(dx) + np.abs(dy)
    return float(weight @ away.min(axis=1))


def exact(x: Floats, y: Floats, weight: Floats, k: int) -> float:
    """The least cost in L1 by HiGHS: some optimum has all its centres on the points' own columns and rows.

    Because a median of coordinates may always be taken among them. Variables: which crossings are centres, and which
    of them serves each point.
    """
    sites = np.array(list(product(np.unique(x), np.unique(y))))
    n, m = len(x), len(sites)
    away = np.abs(x[:, None] - sites[:, 0]) + np.abs(y[:, None] - sites[:, 1])
    served = np.kron(np.eye(n), np.ones(m))
    opened = np.tile(np.eye(m), (n, 1))
    rules = [
        optimize.LinearConstraint(np.hstack([np.zeros((n, m)), served]), 1, 1),
        optimize.LinearConstraint(np.hstack([-opened, np.eye(n * m)]), -np.inf, 0),
        optimize.LinearConstraint(np.hstack([np.ones(m), np.zeros(n * m)])[None], 0, k),
    ]
    found = optimize.milp(
        np.concatenate([np.zeros(m), (weight[:, None] * away).ravel()]),
        integrality=np.concatenate([np.ones(m), np.zeros(n * m)]), bounds=optimize.Bounds(0, 1), constraints=rules,
    )  # fmt: skip
    assert found.success
    return float(found.fun)


@pytest.mark.parametrize("seed", range(24))
def test_it_finds_the_optimum_of_small_instances(seed: int) -> None:
    """Random and nasty ones: clusters, ties on a lattice, weights over six orders of magnitude, nearly k points."""
    rng = np.random.default_rng(seed)
    n, k = int(rng.integers(4, 9)), int(rng.integers(1, 5))
    lattice, far = rng.integers(0, 3, (n, 2)).astype(np.float64), rng.integers(0, 2, (n, 1)) * 100.0
    points: Floats = (rng.random((n, 2)), lattice, far + rng.random((n, 2)))[seed % 3]
    weight = 10.0 ** rng.uniform(-3, 3, n) if seed % 2 else np.ones(n)
    centres, cost = k_median(points[:, 0], points[:, 1], weight, k)
    assert cost == pytest.approx(cost_of(points[:, 0], points[:, 1], weight, centres), rel=1e-12, abs=1e-12)
    assert cost == pytest.approx(exact(points[:, 0], points[:, 1], weight, k), rel=1e-6, abs=1e-9)


def geometric_median_cost(x: Floats, y: Floats, weight: Floats) -> float:
    def cost(at: Floats) -> float:
        return float(weight @ np.hypot(x - at[0], y - at[1]))

    middle = optimize.minimize(
        cost, [x.mean(), y.mean()], method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-12}
    )
    return min(float(middle.fun), *(cost(np.array(at)) for at in zip(x, y, strict=True)))


@pytest.mark.parametrize("seed", range(4))
def test_it_finds_the_euclidean_optimum_by_all_partitions(seed: int) -> None:
    rng = np.random.default_rng(seed)
    x, y, weight = rng.random(7), rng.random(7), rng.uniform(0.5, 2, 7)
    best = np.inf
    for parts in range(2**6):
        first = np.array([(parts >> i) & 1 for i in range(7)], bool)
        split = [one for one in (first, ~first) if one.any()]
        best = min(best, sum(geometric_median_cost(x[one], y[one], weight[one]) for one in split))
    _, cost = k_median(x, y, weight, 2, euclidean=True)
    assert cost == pytest.approx(best, rel=1e-4)


def grouped(centres: Floats, n: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    places = centres[rng.integers(0, len(centres), n)] + rng.normal(0, 0.01, (n, 2))
    return places[:, 0], places[:, 1]


@pytest.mark.parametrize("euclidean", [False, True])
def test_clear_groups_are_found(euclidean: bool) -> None:
    rng = np.random.default_rng(5)
    truth = np.array(list(product(range(5), range(5))), float)
    x, y = grouped(truth, 5000, rng)
    centres, _ = k_median(x, y, np.ones(5000), 25, euclidean=euclidean)
    assert np.abs(centres[:, None] - truth).sum(axis=2).min(axis=0).max() < 0.02


def test_more_centres_cost_less_and_as_many_as_points_cost_nothing() -> None:
    x, y = np.random.default_rng(6).random((2, 40))
    costs = [k_median(x, y, np.ones(40), k)[1] for k in (1, 2, 4, 8, 16, 40)]
    assert all(more < fewer for fewer, more in pairwise(costs))
    assert costs[-1] == 0
    assert k_median(x, y, np.ones(40), 60)[1] == 0


def test_one_centre_is_the_weighted_median() -> None:
    x, weight = np.array([0.0, 1.0, 5.0, 9.0]), np.array([1.0, 1.0, 1.0, 4.0])
    centres, cost = k_median(x, x[::-1].copy(), weight, 1)
    assert centres.tolist() == [[9.0, 0.0]]
    assert cost == cost_of(x, x[::-1], weight, centres)


@pytest.mark.parametrize("euclidean", [False, True])
def test_one_point_many_times_and_points_without_weight(euclidean: bool) -> None:
    same = np.full(9, 3.0)
    centres, cost = k_median(same, same, np.ones(9), 4, euclidean=euclidean)
    assert cost == 0
    assert np.isfinite(centres).all()
    x = np.array([0.0, 1.0, 1000.0])
    centres, cost = k_median(x, 0 * x, np.array([1.0, 1.0, 0.0]), 2, euclidean=euclidean)
    assert sorted(centres[:, 0].tolist()) == pytest.approx([0, 1])
    assert cost == pytest.approx(0)


def test_the_same_points_give_the_same_centres() -> None:
    x, y = np.random.default_rng(8).random((2, 500))
    first, second = (k_median(x, y, np.ones(500), 7)[0] for _ in range(2))
    assert np.array_equal(first, second)


@settings(max_examples=50)
@given(st.integers(0, 10**6), st.integers(2, 5), st.booleans())
def test_an_exchange_gains_what_it_says_and_none_gains_more(seed: int, k: int, euclidean: bool) -> None:
    rng = np.random.default_rng(seed)
    n = 12
    x, y, weight = rng.random(n), rng.random(n), rng.random(n)
    centres = rng.random((k, 2))
    served = initial_assignment(n)
    assign(x, y, centres, euclidean, served)
    assert weight @ served.first == pytest.approx(cost_of(x, y, weight, centres, euclidean=euclidean))
    new = int(rng.integers(n))
    leaving, gain = exchange(x, y, weight, new, k, euclidean, served)
    after = []
    for j in range(k):
        other = centres.copy()
        other[j] = x[new], y[new]
        after.append(cost_of(x, y, weight, other, euclidean=euclidean))
    assert gain == pytest.approx(weight @ served.first - after[leaving], abs=1e-12)
    assert after[leaving] == pytest.approx(min(after), abs=1e-12)


@settings(max_examples=50)
@given(st.integers(0, 10**6), st.integers(1, 6), st.booleans(), st.booleans())
def test_one_centre_that_comes_or_moves_is_assigned_like_all_of_them(
    seed: int, k: int, euclidean: bool, lattice: bool
) -> None:
    """On a lattice many centres are equally near, or in the same place."""
    rng = np.random.default_rng(seed)
    x, y, u, v = rng.integers(0, 4, (4, 20)).astype(np.float64) if lattice else rng.random((4, 20))
    centres = np.zeros((k, 2))
    kept = initial_assignment(20)
    for step in range(20):
        moved = step if step < k else int(rng.integers(k))
        centres[moved] = u[step], v[step]
        reassign(x, y, centres, moved, euclidean, kept)
        if step >= k - 1:
            anew = initial_assignment(20)
            assign(x, y, centres, euclidean, anew)
            for ours, theirs in ((kept.nearest, anew.nearest), (kept.first, anew.first), (kept.second, anew.second)):
                np.testing.assert_array_equal(ours, theirs)
