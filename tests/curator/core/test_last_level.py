"""Releases that stop above the domain's finest level: ``depth``, and ``sigma`` as a hint of the smoothing to come."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import dpheatmap as dph
from dpheatmap.design.adaptive import AdaptiveDesign
from dpheatmap.design.paper import PaperDesign
from dpheatmap.design.shares import SHARES
from dpheatmap.place.quadtree import decode


@pytest.fixture(scope="module")
def counts() -> dph.Counts:
    domain = dph.Domain.unit(10)
    x, y = np.arange(0, 1024, 8), np.arange(1023, 0, -8)
    return dph.Counts.from_cells(domain, x, y, np.full(len(x), 2**34))


def test_the_last_level_gets_what_the_finer_ones_would_have(counts: dph.Counts) -> None:
    whole, short = (dph.release(counts, epsilon=1, design="paper", depth=depth) for depth in (None, 6))
    assert (whole.design.last, short.design.last) == (10, 6)
    assert isinstance(whole.design, PaperDesign)
    assert isinstance(short.design, PaperDesign)
    assert sum(short.design.shares.values()) == SHARES
    assert short.design.shares[6] > whole.design.shares[6]
    assert short.measured_levels == (2, 6)


def test_the_last_level_of_the_adaptive_design_takes_all_that_is_left(counts: dph.Counts) -> None:
    short = dph.release(counts, epsilon=1000, depth=4, design="adaptive")
    assert short.design == AdaptiveDesign(2, 4)
    assert short.measured_levels == (0, 4)
    at_last = short.measurements.shares[short.measurements.levels == 4]
    start = min(short.measurements.levels[1:])
    left = SHARES - SHARES // 100
    for _ in range(4 - start):
        left -= left // 4
    assert set(at_last.tolist()) == {left}


def test_mass_lies_evenly_in_the_last_cells(counts: dph.Counts) -> None:
    short = dph.release(counts, epsilon=1000, depth=4, width=300, design="paper")
    heat = short.distribution(method="paper").raster(1024, 1024)
    blocks = heat.reshape(16, 64, 16, 64)
    assert np.allclose(blocks, blocks.mean(axis=(1, 3), keepdims=True))
    truth = np.zeros((16, 16))
    x, y = decode(counts.codes)
    np.add.at(truth, (y >> 6, x >> 6), np.diff(counts.sums) / counts.sums[-1])
    assert np.allclose(blocks.sum(axis=(1, 3)), truth, atol=1e-3)


@pytest.mark.parametrize(("sigma", "last"), [(1.0, 2), (0.1, 6), (0.02, 8), (1e-9, 10), (1e9, 0)])
def test_sigma_bounds_the_useful_depth(counts: dph.Counts, sigma: float, last: int) -> None:
    release = dph.release(counts, epsilon=1, sigma=sigma)
    assert (release.design.first, release.design.last) == (min(2, last), last)
    assert release.measurements.levels.max() <= last


def test_sigma_is_in_ground_metres_for_boxes() -> None:
    domain = dph.Domain.bbox(7.3, 46.9, 7.5, 47.02, resolution=10)
    nobody = np.zeros(0, dtype=np.int64)
    release = dph.release(dph.Counts.from_cells(domain, nobody, nobody, nobody), epsilon=1, sigma=400)
    widest = domain.lengths_of_cells(release.design.last, domain.cells(release.design.last).y1)
    coarser = domain.lengths_of_cells(release.design.last - 1, domain.cells(release.design.last - 1).y1)
    assert float(widest) <= 100 < float(coarser)


def test_it_is_saved_and_read_like_any_other(counts: dph.Counts, tmp_path: Path) -> None:
    dph.release(counts, epsilon=1, depth=5).save(tmp_path / "a.dph.parquet")
    release = dph.load(tmp_path / "a.dph.parquet")
    assert release.design.last == 5
    assert release.heatmap().values.shape == (1024, 1024)
