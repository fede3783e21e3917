"""The dense reconstruction against its definition, a linear program that knows nothing of flows."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse
from scipy.optimize import linprog

import dpheatmap as dph
from dpheatmap.design.shares import UNITS
from dpheatmap.errors import ParameterError
from dpheatmap.estimate.dense_estimate import nearest_map
from dpheatmap.evaluate.metrics import emd_norm
from dpheatmap.place.domain import Floats
from dpheatmap.testing import seeded_release

SHAPES = [(1, 1), (1, 6), (2, 2), (3, 4), (5, 3), (4, 4)]


def least_norm(noisy: Floats) -> float:
    """The least ||noisy - s|| over s >= 0 by HiGHS, from the definition of the norm.

    Variables are s, a plan of transport between all pairs of cells, whose marginals are p and q, and r = r+ - r-; in
    each cell s + p - q + r = noisy.
    """
    rows, columns = noisy.shape
    cells = noisy.size
    at = np.stack(np.divmod(np.arange(cells), columns), axis=1)
    distance = np.abs(at[:, None] - at).sum(axis=2) / max(rows, columns)
    one = sparse.identity(cells, format="csr")
    leaves = sparse.kron(one, np.ones((1, cells)))
    arrives = sparse.kron(np.ones((1, cells)), one)
    cost = np.concatenate([np.zeros(cells), distance.ravel(), np.full(2 * cells, 2.0)])
    solved = linprog(cost, A_eq=sparse.hstack([one, leaves - arrives, one, -one]), b_eq=noisy.ravel(), method="highs")
    assert solved.status == 0
    return float(solved.fun)


def check(noisy: Floats) -> None:
    """Feasible, and as near as the definition allows. HiGHS keeps each cell's equation to 1e-7, at a price of 2."""
    found, size = nearest_map(noisy), float(np.abs(noisy).sum())
    assert (found >= 0).all()
    assert emd_norm(noisy - found) == pytest.approx(least_norm(noisy), abs=1e-7 * max(size, 2.0 * noisy.size))
    if noisy.sum() > 0:
        assert found.sum() == pytest.approx(noisy.sum(), abs=1e-9 * size)
    else:
        assert not found.any()


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("level", [-0.5, 0.0, 0.3, 2.0])
def test_random_maps_are_as_near_as_the_definition_allows(shape: tuple[int, int], level: float) -> None:
    rng = np.random.default_rng([*shape, round(10 * level) + 10])
    for _ in range(4):
        check(level + rng.laplace(0, 1, shape))


values = st.one_of(
    st.integers(-3, 3).map(float), st.floats(-1e3, 1e3), st.sampled_from([0.0, 1e6, -1e6, 1e-6, -1e-6, 2.0**-30])
)


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(SHAPES).flatmap(lambda shape: arrays(np.float64, shape, elements=values)))
def test_nasty_maps_are_as_near_as_the_definition_allows(noisy: Floats) -> None:
    check(noisy)


def test_what_is_positive_stays_as_it_is() -> None:
    there = np.random.default_rng(1).random((7, 5))
    assert nearest_map(there) == pytest.approx(there, rel=1e-9)


def test_deficits_are_filled_from_nearby() -> None:
    noisy = np.zeros((9, 9))
    noisy[1, 1], noisy[7, 7], noisy[1, 2] = 5.0, 5.0, -2.0
    found = nearest_map(noisy)
    assert (found[1, 1], found[7, 7], found.sum()) == (3.0, 5.0, 8.0)


# Releases


def people(domain: dph.Domain, number: int) -> dph.Counts:
    finest = domain.cells(domain.depth)
    rng = np.random.default_rng(number)
    x, y = rng.integers(finest.x0, finest.x1, number), rng.integers(finest.y0, finest.y1, number)
    return dph.Counts.from_cells(domain, x, y, np.full(number, UNITS))


@pytest.mark.parametrize(
    "domain", [dph.Domain.unit(5), dph.Domain.image(50, 21), dph.Domain.bbox(7, 46, 8, 47, depth=12)]
)
def test_without_noise_it_is_the_grid(domain: dph.Domain) -> None:
    counts = people(domain, 400)
    release = seeded_release(counts, epsilon=10**5, design="dense", seed=3, depth=min(domain.depth, 10))
    found = release.distribution(method="dense")
    assert found.total == pytest.approx(400, abs=0.1)
    level = release.measured_levels[1]
    assert set(found.levels.tolist()) == {level}
    assert found.mass * 400 == pytest.approx(counts.at(level, found.codes) / UNITS, abs=0.01)
    assert not found.empty


def test_both_names_mean_the_same_and_the_posterior_works_too() -> None:
    release = seeded_release(people(dph.Domain.unit(6), 500), epsilon=1, design="dense", seed=1)
    dense, paper = (release.heatmap(method=method) for method in ("dense", "paper"))
    assert np.array_equal(dense.values, paper.values)
    assert dense.std is None
    posterior = release.heatmap()
    assert posterior.std is not None
    assert posterior.values.sum() == pytest.approx(1)
    assert not np.array_equal(posterior.values, dense.values)


def test_a_total_that_was_measured_on_the_grids_own_level_is_not_part_of_the_grid() -> None:
    """So few people that the grid is one cell, measured twice: the second time, with the larger share, counts."""
    nobody = people(dph.Domain.unit(3), 0)
    kinds = set()
    for seed in range(40):
        release = seeded_release(nobody, epsilon=1, design="dense", seed=seed)
        if release.measured_levels == (0, 0):
            assert len(release.measurements) == 2
            found, second = release.distribution(method="dense"), release.measurements.counts[1]
            assert found.empty == (second <= 0)
            assert found.total == pytest.approx(max(second / UNITS, 0.0))
            kinds.add(found.empty)
    assert kinds == {True, False}


def test_a_total_that_is_not_positive_gives_the_flagged_uniform_map() -> None:
    nobody = people(dph.Domain.unit(4), 0)
    releases = [seeded_release(nobody, epsilon=1, design="dense", users=300, seed=seed) for seed in range(20)]
    for release in releases:
        heat = release.heatmap(method="dense")
        assert heat.empty == (release.measurements.counts.sum() <= 0)
        if heat.empty:
            assert np.ptp(heat.values) == 0
    assert len({release.heatmap(method="dense").empty for release in releases}) == 2


def test_methods_are_for_their_designs() -> None:
    nobody = people(dph.Domain.unit(3), 0)
    for design in ("ladder", "adaptive", "paper"):
        with pytest.raises(ParameterError, match=f"for releases of the design 'dense'; this one's is '{design}'"):
            dph.release(nobody, epsilon=1, design=design).heatmap(method="dense")
    with pytest.raises(ParameterError, match="'paper' is for releases of the design 'paper' or 'dense'; this one's is"):
        dph.release(nobody, epsilon=1).heatmap(method="paper")
