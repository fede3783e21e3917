"""The paper's baselines."""

from __future__ import annotations

import numpy as np
import pytest

import dpheatmap as dph
from dpheatmap.errors import ParameterError
from dpheatmap.evaluate.ground_truth import true_distribution
from dpheatmap.testing import generated_people

HUGE = 10**6


@pytest.fixture(scope="module")
def counts() -> dph.Counts:
    return dph.aggregate(generated_people(300), dph.Domain.unit(6), user="person", x="x", y="y")


def test_without_noise_to_speak_of_it_is_the_truth(counts: dph.Counts) -> None:
    estimate, true = (d.raster(64, 64) for d in (dph.baseline(counts, epsilon=HUGE), true_distribution(counts)))
    assert np.abs(estimate - true).sum() < 1e-3


@pytest.mark.parametrize(("top", "kept"), [(0.001, 1), (1, 41), (10, 410)])
def test_only_the_top_is_kept(counts: dph.Counts, top: float, kept: int) -> None:
    """Of 4096 cells, at least one. The ones kept are the largest."""
    estimate = dph.baseline(counts, epsilon=HUGE, top=top)
    assert len(estimate.mass) == kept
    true = true_distribution(counts).raster(64, 64).ravel()
    dropped = np.delete(true, np.flatnonzero(estimate.raster(64, 64)))
    assert true[np.flatnonzero(estimate.raster(64, 64))].min() >= dropped.max() - 1e-6


def test_negative_cells_become_zero_and_the_rest_adds_up_to_one(counts: dph.Counts) -> None:
    """Noise of scale 10 on 4096 cells, of which most are empty: about half are below 0."""
    estimate = dph.baseline(counts, epsilon=0.1)
    assert estimate.mass.sum() == pytest.approx(1)
    assert 1600 < len(estimate.mass) < 2500
    assert estimate.mass.min() > 0


def test_every_cell_has_noise_of_its_own(counts: dph.Counts) -> None:
    a, b = (dph.baseline(counts, epsilon=1).raster(64, 64) for _ in "ab")
    assert not np.array_equal(a, b)
    assert len(np.unique(a[a > 0])) == (a > 0).sum()


def test_nobody_gets_a_map_like_anybody() -> None:
    none = np.zeros(0, np.int64)
    nobody = dph.Counts.from_cells(dph.Domain.image(20, 12), none, none, none)
    raster = dph.baseline(nobody, epsilon=1, top=1).raster(20, 12)
    assert raster.sum() == pytest.approx(1)


def test_a_domain_with_too_many_cells_is_refused() -> None:
    none = np.zeros(0, np.int64)
    counts = dph.Counts.from_cells(dph.Domain.unit(20), none, none, none)
    with pytest.raises(ParameterError, match=r"16,777,216; the domain has 1,099,511,627,776 \(1,048,576 x 1,048,576\)"):
        dph.baseline(counts, epsilon=1)
