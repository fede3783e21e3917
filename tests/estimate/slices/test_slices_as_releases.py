"""A slice stands where a release does: for points and for places."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import dpheatmap as dph
from dpheatmap.curator.core.counts import Counts
from dpheatmap.design.shares import UNITS
from dpheatmap.estimate.posterior.map_estimate import mean_maps_of_others
from dpheatmap.place.domain import Domain
from dpheatmap.testing import seeded_release
from helpers.sliced import sliced


@cache
def days() -> dph.SlicedRelease:
    return sliced(dph.Domain.unit(6))


def test_points_of_all_slices_follow_their_people() -> None:
    """With 20,000 points, a slice's part is off by more than 6 standard deviations once in 10^8 times."""
    drawn = days().sample(20_000)
    assert list(drawn.columns) == ["x", "y", "slice"]
    share = days().heatmap().volumes.share
    many = drawn["slice"].value_counts().reindex(days().slices, fill_value=0).to_numpy()
    assert (np.abs(many - 20_000 * share) <= 6 * np.sqrt(20_000 * share) + 0.01 * 20_000 * share + 3).all()
    left = float((days().slice("fri").sample(20_000)["x"] < 0.5).mean())
    area = days().slice("fri").areas({"left": (0, 0, 0.5, 1)})["share"].tolist()[0]
    assert left == pytest.approx(area, abs=6 * 0.5 / np.sqrt(20_000) + 0.01)


def test_points_follow_the_seed_and_slices_have_points_of_their_own() -> None:
    assert days().sample(50).equals(days().sample(50))
    assert not days().sample(50).equals(days().sample(50, seed=1))
    drawn = days().sample(200, uncertain=True)
    assert len(drawn) == 200
    assert drawn[["x", "y"]].drop_duplicates().shape == (200, 2)


def test_places_of_a_slice_have_its_people() -> None:
    places = dph.kmedian(days().slice("fri"), 3)
    assert places.weights.sum() == pytest.approx(days().heatmap().volumes.people[4], rel=0.01)
    low, high = places.intervals()
    assert (low <= places.weights).all()
    assert (places.weights <= high).all()
    assert repr(places.release) == f"<Slice 'fri' of {days()!r}>"


def test_its_label_is_that_of_all_slices_and_tells_its_name() -> None:
    one = days().slice("fri")
    assert one.label == {**days().label, "slice": "fri"}
    assert (one.loss, one.seeded) == (days().loss, True)


def test_faint_slices_are_told_from_published_values() -> None:
    volumes = days().heatmap().volumes
    low, _ = volumes.interval()
    assert "sun" in volumes.faint
    assert "fri" not in volumes.faint
    assert all(low[days().number_of(label)] < 1.0 for label in volumes.faint)


def test_slices_apart_are_read_with_all_others_at_once() -> None:
    """Three slices of one map with volumes of 1, 2 and 4: maps of the others are the same map, whatever they weigh."""
    rng = np.random.default_rng(3)
    x, y = np.unique(rng.integers(0, 64, (60, 2)), axis=0).T
    weights = rng.integers(20, 200, len(x)) * UNITS
    releases = tuple(
        seeded_release(Counts.from_cells(Domain.unit(6), x, y, volume * weights), seed=volume, epsilon=4)
        for volume in (1, 2, 4)
    )
    with_volumes = mean_maps_of_others(releases, volumes=(1.0, 2.0, 4.0))
    truth, codes = Counts.from_cells(Domain.unit(6), x, y, weights), Domain.unit(6).codes(6)
    share = truth.exact(6, codes).astype(np.float64) / truth.total
    for measure, equal in zip(with_volumes, mean_maps_of_others(releases), strict=True):
        assert measure is not None
        assert equal is not None
        near, far = (np.abs(one.weight(6, codes) / len(codes) - share).sum() for one in (measure, equal))
        assert near < far
