"""Places from a release: near people, in metres, the same every time, and from the release alone."""

from __future__ import annotations

import re

import numpy as np
import pytest

import dpheatmap as dph
from dpheatmap.design.shares import UNITS
from dpheatmap.errors import ParameterError
from dpheatmap.estimate.distribution import Distribution
from dpheatmap.estimate.places import FINE, Plane, weighted_points
from dpheatmap.evaluate.ground_truth import true_distribution
from dpheatmap.experiments.mixtures import mixture
from dpheatmap.place.domain import Domain
from dpheatmap.testing import generated_people, seeded_release
from helpers.people import every_domain, people_in

CITY = Domain.bbox(-74.1, 40.6, -73.8, 40.9, depth=16)


def release_of(domain: Domain, people: int = 2000, epsilon: float = 2) -> dph.Release:
    return seeded_release(people_in(domain, people), seed=1, epsilon=epsilon)


@every_domain
def test_the_points_carry_all_people_and_lie_inside(domain: Domain) -> None:
    estimate = release_of(domain).distribution()
    x, y, weight = weighted_points(estimate)
    assert weight.sum() == pytest.approx(estimate.total)
    assert (weight > 0).all()
    _, _, inside = domain.locate(x, y)
    assert inside.mean() > 0.99  # cells on the edge of a box reach beyond its extent
    raster = estimate.raster(64, 64).sum(axis=0)
    middle = np.average(x, weights=weight)
    bounds = domain.bounds
    expected = bounds.x0 + (bounds.x1 - bounds.x0) * ((np.arange(64) + 0.5) / 64 @ raster)
    assert middle == pytest.approx(expected, abs=0.005 * (bounds.x1 - bounds.x0))


@every_domain
def test_an_estimate_of_nobody_is_even(domain: Domain) -> None:
    x, y, weight = weighted_points(Distribution.uniform(domain))
    assert len(np.unique(x)) <= FINE
    assert len(x) == len(np.unique(x)) * len(np.unique(y))
    assert weight.sum() == pytest.approx(1)


def test_distances_are_metres_on_the_ground() -> None:
    """On the middle latitude and along meridians they are those of the sphere."""
    plane = Plane(CITY)
    (x0, x1), (y0, y1) = plane.of([-74.0, -73.9], [40.75, 40.85])
    radius = 6_378_137.0
    assert y1 - y0 == pytest.approx(np.radians(0.1) * radius)
    assert x1 - x0 == pytest.approx(np.radians(0.1) * radius * np.cos(np.radians(40.75)), rel=1e-6)
    np.testing.assert_allclose(plane.back(np.array([[x0, y0]])), [[-74.0, 40.75]])
    flat = Plane(Domain.image(640, 480)).of([3.0], [4.0])
    assert [float(at[0]) for at in flat] == [3.0, 4.0]


@every_domain
@pytest.mark.parametrize("metric", ["l1", "euclidean"])
def test_places_add_up_and_are_ranked(domain: Domain, metric: str) -> None:
    release = release_of(domain)
    places = dph.kmedian(release, 4, metric=metric)
    assert places.centres.shape == (4, 2)
    assert (np.diff(places.weights) <= 0).all()
    assert places.weights.sum() == pytest.approx(release.distribution().total)
    assert places.shares.sum() == pytest.approx(1)
    x, y, weight = weighted_points(release.distribution())
    at = places.catchment(x, y)
    np.testing.assert_allclose(np.bincount(at, weight, 4), places.weights)
    plane = Plane(domain)
    u, v = plane.of(x, y)
    p, q = plane.of(*places.centres.T)
    dx, dy = u[:, None] - p, v[:, None] - q
    away = np.hypot(dx, dy) if metric == "euclidean" else np.abs(dx) + np.abs(dy)
    assert np.average(away.min(axis=1), weights=weight) == pytest.approx(places.cost)
    np.testing.assert_allclose(np.take_along_axis(away, at[:, None], 1)[:, 0], away.min(axis=1))


def test_places_are_where_people_are() -> None:
    """Ten towns of 300 people each, at epsilon 1: the ten places are within a cell or two of them."""
    rng = np.random.default_rng(3)
    towns = np.stack(np.meshgrid(np.linspace(0.1, 0.9, 5), [0.25, 0.7]), axis=-1).reshape(-1, 2)
    at = np.repeat(towns, 300, axis=0) + rng.normal(0, 0.004, (3000, 2))
    column, row, _ = Domain.unit(8).locate(*at.T)
    cells, people = np.unique(np.stack([column, row]), axis=1, return_counts=True)
    counts = dph.Counts.from_cells(Domain.unit(8), cells[0], cells[1], people * 2**30)
    places = dph.kmedian(seeded_release(counts, seed=2, epsilon=1), 10)
    away = np.abs(places.centres[:, None] - towns).sum(axis=2)
    assert away.min(axis=0).max() < 0.02
    assert places.weights.min() > 200


def test_the_same_release_gives_the_same_places(tmp_path: object) -> None:
    release = release_of(CITY)
    release.save(f"{tmp_path}/a.dph.parquet")
    first, second = dph.kmedian(release, 5), dph.kmedian(dph.load(f"{tmp_path}/a.dph.parquet"), 5)
    assert np.array_equal(first.centres, second.centres)
    assert np.array_equal(first.weights, second.weights)


def test_intervals_hold_the_true_numbers_of_people() -> None:
    """Of eight crowds and noises, fixed; from half of the noise they would hold fewer."""
    held = []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        counts = mixture(8, 0.1, people=600, depth=6, rng=rng).sample(600, rng)
        places = dph.kmedian(seeded_release(counts, seed=seed, epsilon=1), 5)
        x, y, weight = weighted_points(true_distribution(counts))
        people = np.bincount(places.catchment(x, y), weight * (counts.total / UNITS / weight.sum()), 5)
        low, high = places.intervals()
        assert ((low >= 0) & (low <= places.weights) & (places.weights <= high)).all()
        held.append((low <= people) & (people <= high))
    assert np.mean(held) >= 0.85


def test_intervals_narrow_with_epsilon_and_widen_with_confidence() -> None:
    vague, sharp = (
        dph.kmedian(seeded_release(people_in(Domain.unit(6), 500), seed=1, epsilon=epsilon), 4) for epsilon in (0.5, 8)
    )
    widths = [
        float(np.sum(np.subtract(*places.intervals(confidence)[::-1])))
        for places, confidence in ((vague, 0.9), (sharp, 0.99), (sharp, 0.9), (sharp, 0.6))
    ]
    assert widths == sorted(widths, reverse=True)
    assert widths[0] > 4 * widths[2]
    for one, other in zip(sharp.intervals(), dph.kmedian(sharp.release, 4).intervals(), strict=True):
        assert np.array_equal(one, other)


def test_how_sure_is_not_known_without_the_posterior() -> None:
    paper = dph.kmedian(seeded_release(people_in(CITY, 500), seed=1, epsilon=5, design="paper"), 3, method="paper")
    assert not paper.has_intervals
    with pytest.raises(ParameterError, match="Make them with method='posterior'"):
        paper.intervals()


def test_both_methods_of_the_paper_s_design_and_repr() -> None:
    release = seeded_release(people_in(CITY, 2000), seed=1, epsilon=5, design="paper")
    for method in ("paper", "posterior"):
        places = dph.kmedian(release, 3, method=method)
        assert places.method == method
        assert places.cost < 12_000
    assert re.match(r"<3 Places, [0-9.]+ km from people on average, ", repr(places))
    assert repr(places).endswith("NOT PRIVATE>")


def test_nobody_and_more_places_than_cells_get_an_answer() -> None:
    nobody = generated_people(0)
    release = dph.release(nobody, Domain.unit(3), epsilon=1e-3, user="person", x="x", y="y")
    assert dph.kmedian(release, 3).centres.shape == (3, 2)
    tiny = dph.kmedian(release_of(Domain.unit(0)), 3)
    assert np.isfinite(tiny.cost)
