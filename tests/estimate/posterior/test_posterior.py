"""The posterior of whole releases: what adds up, limits, extremes, domains that cells only partly meet, and draws."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from dpheatmap.estimate.distribution import Distribution
from dpheatmap.estimate.posterior.cells import cell_tree
from dpheatmap.estimate.posterior.likelihood import GAUSSIAN, LAPLACE, laplace_sum
from dpheatmap.estimate.posterior.messages import log_evidence
from dpheatmap.estimate.posterior.observations import Observations
from dpheatmap.estimate.posterior.posterior import (
    FINE,
    Posterior,
    _coarse_messages,
    _trees,
    infer,
    posterior,
    reconstruct,
    seed_of,
)
from dpheatmap.place.domain import Domain, Floats
from dpheatmap.place.quadtree import Ints
from dpheatmap.releases.release import Release
from dpheatmap.testing import generated_people, seeded_release

BOX = Domain.bbox(-3.3, 55.9, -3.1, 56.0, depth=15)
DOMAINS = {"square": Domain.unit(6), "image": Domain.image(37, 21), "box": BOX, "point": Domain.unit(0)}


def released(domain: Domain, epsilon: object = 1, people: int = 300, seed: int = 1) -> Release:
    b = domain.bounds
    table = generated_people(people, extent=(b.x0, b.y0, b.x1, b.y1), seed=2)
    return seeded_release(table, domain, seed=seed, epsilon=epsilon, user="person", x="x", y="y", design="paper")


def every_cell(domain: Domain, levels: range, truth: Floats, scale: float, law: Floats = LAPLACE) -> Observations:
    """All cells of levels down to the finest, measured without error; ``truth`` has the finest masses by code."""
    codes = [domain.codes(level) for level in levels]
    people: list[Floats] = [truth[c] for c in codes]
    for k in range(len(people) - 2, -1, -1):
        above = np.searchsorted(codes[k], codes[k + 1] >> 2)
        people[k] = np.bincount(above, people[k + 1], len(codes[k])).astype(np.float64)
    rows = np.repeat(list(levels), [len(c) for c in codes])
    return Observations(domain, rows, np.concatenate(codes), np.concatenate(people), np.full(len(rows), scale), law)


def test_a_cell_that_was_not_measured() -> None:
    """One person in each quarter but one, known to within nothing, and a fourth of whom nothing is known."""
    observed = Observations(
        Domain.unit(1), np.ones(3, np.int64), np.array([0, 1, 3]), np.ones(3), np.full(3, 0.01), LAPLACE
    )
    found = infer(observed)
    np.testing.assert_allclose(found.means[[1, 2, 4]], 1.0, atol=0.02)
    assert np.isfinite(found.means).all()


@pytest.mark.parametrize("domain", DOMAINS.values(), ids=DOMAINS)
def test_a_release_becomes_a_distribution(domain: Domain) -> None:
    release = released(domain)
    found = reconstruct(release)
    assert found.mass.sum() == pytest.approx(1.0, rel=1e-9)
    assert (found.mass >= 0).all()
    assert not found.empty
    assert found.total == pytest.approx(300, abs=60)
    assert found.raster(31, 17).sum() == pytest.approx(1.0, rel=1e-9)
    np.testing.assert_array_equal(reconstruct(release).mass, found.mass)


@pytest.mark.parametrize("domain", DOMAINS.values(), ids=DOMAINS)
def test_the_cells_are_disjoint_and_cover_the_domain(domain: Domain) -> None:
    found = reconstruct(released(domain, people=100))
    finest = domain.cells(domain.depth)
    area = np.ldexp(1.0, 2 * (domain.depth - found.levels).astype(np.int32))
    begin = found.codes * area.astype(np.int64)
    order = np.argsort(begin)
    assert (np.diff(begin[order]) >= area[order][:-1]).all()
    evenly = dataclasses.replace(found, mass=inside(domain, found.levels, found.codes))
    assert evenly.mass.sum() == finest.count
    np.testing.assert_allclose(evenly.raster(8, 4), finest.count / 32, rtol=1e-9)


def inside(domain: Domain, levels: Ints, codes: Ints) -> Floats:
    """The number of finest cells of the domain in each cell, by counting."""
    finest = domain.codes(domain.depth)
    shift = 2 * (domain.depth - levels)
    ends = np.searchsorted(finest, codes << shift), np.searchsorted(finest, (codes + 1) << shift)
    return (ends[1] - ends[0]).astype(np.float64)


def check_sums(found: Posterior) -> None:
    """The means of a cell's children add up to its own."""
    cells = found.cells
    for above, below, kids in zip(cells.node, cells.node[1:], cells.kids, strict=False):
        cut = (kids >= 0).any(axis=1)
        parts = np.where(kids >= 0, found.node_means[below[kids]], 0.0).sum(axis=1)
        np.testing.assert_allclose(parts[cut], found.node_means[above][cut], rtol=1e-9)


@pytest.mark.parametrize("domain", DOMAINS.values(), ids=DOMAINS)
def test_mass_is_conserved(domain: Domain) -> None:
    found = posterior(released(domain))
    check_sums(found)
    assert found.layout.masses(found.node_means).sum() == pytest.approx(found.total, rel=1e-9)
    assert found.total == found.means[0]


@pytest.mark.parametrize("law", [LAPLACE, laplace_sum(2), GAUSSIAN], ids=["laplace", "two laplaces", "gaussian"])
def test_without_noise_it_is_the_data(law: Floats) -> None:
    truth = np.random.default_rng(1).exponential(3.0, 256) * (np.arange(256) % 5 == 0)
    found = infer(every_cell(Domain.unit(4), range(1, 5), truth, 1e-6, law))
    np.testing.assert_allclose(found.means[found.levels == 4], truth, atol=1e-4)
    np.testing.assert_allclose(found.distribution().raster(16, 16).sum(axis=0).sum(), 1.0, rtol=1e-9)


def test_without_information_it_is_flat() -> None:
    """Noise a million times the counts: the total is anybody's guess, and the map is the area's."""
    domain = Domain.image(48, 32)
    codes = domain.codes(2)
    observed = Observations(domain, np.full(6, 2), codes, np.zeros(6), np.full(6, 1e6), LAPLACE)
    found = infer(observed).distribution()
    np.testing.assert_allclose(found.raster(3, 2), 1 / 6, rtol=0.2)


def test_a_second_measurement_counts() -> None:
    one = every_cell(Domain.unit(2), range(2, 3), np.arange(16.0), 2.0)
    rows, scales = np.tile(np.arange(16), 2), np.repeat([2.0, 0.1], 16)

    def measured(order: Ints) -> Observations:
        at = rows[order]
        return Observations(one.domain, one.levels[at], one.codes[at], one.people[at], scales[order], one.law)

    once, twice = (infer(observed, concentration=0.5) for observed in (one, measured(np.arange(32))))
    assert (twice.variances[-16:] < 0.05 * once.variances[-16:]).all()
    shuffled = infer(measured(np.random.default_rng(1).permutation(32)), concentration=0.5)
    np.testing.assert_allclose(shuffled.means, twice.means, rtol=1e-6)


@pytest.mark.parametrize("epsilon", ["0.001", "1", "1000"])
@pytest.mark.parametrize("counts", [0, -(2**50), 10**9 * 2**30, "spiky"])
def test_extremes_stay_finite(epsilon: str, counts: int | str) -> None:
    release = released(Domain.unit(5), epsilon)
    m = release.measurements
    spiky = np.where(m.codes == m.codes.min(), 10**9 * 2**30, -(2**40))
    noisy = spiky if counts == "spiky" else np.full(len(m), counts)
    extreme = dataclasses.replace(release, measurements=dataclasses.replace(m, counts=noisy.astype(np.int64)))
    found = posterior(extreme)
    assert np.isfinite(found.means).all()
    assert np.isfinite(found.variances).all()
    assert (found.means >= 0).all()
    check_sums(found)
    assert found.distribution().mass.sum() == pytest.approx(1.0)


def test_finer_tables_change_little() -> None:
    """At one concentration, for the first pass is made at the nearest of the few that are tried, or at a given one."""
    release = released(Domain.unit(6), 2)
    observed, concentration = Observations.of(release), posterior(release).concentration
    usual = infer(observed, concentration=concentration)
    finer = infer(observed, fineness=FINE._replace(points=2 * FINE.points), concentration=concentration)
    spread = np.sqrt(finer.variances)
    assert (np.abs(usual.means - finer.means) <= 0.005 * np.maximum(finer.means, spread) + 0.01 * spread).all()


def test_draws_repeat_and_average_to_the_mean() -> None:
    """The means of leaves' draws are within 6 standard errors and 1 % of the posterior means."""
    release = released(Domain.unit(5), 2)
    mean = posterior(release)
    levels, codes, rows = mean.draws(400, np.random.default_rng(seed_of(release)))
    drawn = np.array(list(rows))
    again = mean.draws(400, np.random.default_rng(seed_of(release)))
    np.testing.assert_array_equal(drawn, np.array(list(again.masses)))
    inside_leaves = mean.layout
    np.testing.assert_array_equal(codes, inside_leaves.codes)
    np.testing.assert_array_equal(levels, inside_leaves.levels)
    assert drawn.shape == (400, len(codes))
    assert (drawn >= 0).all()
    expected = inside_leaves.masses(mean.node_means)
    error = drawn.std(axis=0) / 20.0
    heavy = expected > 1e-3 * expected.sum()
    assert (np.abs(drawn.mean(axis=0) - expected) <= 6 * error + 0.01 * expected)[heavy].all()
    totals = drawn.sum(axis=1)
    assert totals.mean() == pytest.approx(mean.total, abs=6 * totals.std() / 20)
    assert totals.std() == pytest.approx(np.sqrt(mean.node_variances[0]), rel=0.3)


def test_the_tree_joins_cells_that_one_child_holds() -> None:
    """An image of one column: every cell has one half only, and the cell above is the same node as its only child."""
    domain = Domain.image(1, 5)
    codes = domain.codes(3)
    tree = cell_tree(domain, np.full(len(codes), 3), codes)
    assert len(tree.left) == 9
    assert sorted([*tree.left[tree.left >= 0], *tree.right[tree.right >= 0]]) == list(range(1, 9))
    np.testing.assert_allclose(tree.shares(tree.area)[tree.left >= 0], [0.8, 0.5, 0.5, 0.5])


def test_neighbours_smooth_the_inside_of_leaves() -> None:
    """Two full quarters beside two empty ones: inside the full ones, mass lies away from the empty ones."""
    observed = Observations(
        Domain.unit(5), np.ones(4, np.int64), np.arange(4), np.array([9.0, 0.0, 9.0, 0.0]), np.full(4, 0.01), LAPLACE
    )
    raster = infer(observed).distribution().raster(8, 8)
    assert (np.diff(raster[:, :4], axis=1) < 1e-12).all()
    assert raster[:, :4].sum() == pytest.approx(1.0, abs=0.01)


def test_the_concentration_follows_the_data() -> None:
    even = np.full(256, 4.0)
    lumpy = np.where(np.arange(256) % 64 == 3, 256.0, 0.0)
    found = [infer(every_cell(Domain.unit(4), range(2, 5), truth, 1.0)).concentration for truth in (even, lumpy)]
    assert found[0] > 2.0
    assert found[1] < 0.4


def test_total_of_a_distribution_is_the_posterior_mean() -> None:
    release = released(Domain.unit(4))
    found = reconstruct(release)
    assert isinstance(found, Distribution)
    assert found.total == pytest.approx(posterior(release).total, rel=1e-9)


@pytest.mark.parametrize("concentration", [0.6, 2.4])
def test_rounding_decides_nothing(concentration: float) -> None:
    """The last point of a table is the sum of what the children's ranges end at: where these, less one of them, met.

    Whether what was left for the other one was a range, a point or less than that, the last digit decided, and the
    evidence went up and down by 7 here.
    """
    table = generated_people(500)
    made = seeded_release(table, Domain.unit(8), seed=1, epsilon=1, user="person", x="x", y="y")
    observed, rng = Observations.of(made), np.random.default_rng(1)
    heights = []
    for size in (0.0, 1e-14, 1e-14, 1e-12, 1e-12, 1e-10):
        moved = observed.people * (1.0 + size * rng.standard_normal(len(observed.people)))
        cells, tree = _trees(dataclasses.replace(observed, people=moved))
        heights.append(log_evidence(*_coarse_messages(tree, cells.shares(cells.area), concentration)))
    assert np.ptp(heights) < 1e-3
