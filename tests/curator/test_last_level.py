"""Releases that stop above the domain's finest level: ``depth``, and ``sigma`` as a hint of the smoothing to come."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import dpheatmap as dph
from dpheatmap.budget import SHARES
from dpheatmap.quadtree import decode


@pytest.fixture(scope="module")
def counts() -> dph.Counts:
    domain = dph.Domain.unit(10)
    x, y = np.arange(0, 1024, 8), np.arange(1023, 0, -8)
    return dph.Counts.from_cells(domain, x, y, np.full(len(x), 2**34))


def test_the_last_level_gets_what_the_finer_ones_would_have(counts: dph.Counts) -> None:
    whole, short = dph.release(counts, epsilon=1), dph.release(counts, epsilon=1, depth=6)
    assert (whole.last_level, short.last_level) == (10, 6)
    assert sum(short.design.shares.values()) == SHARES
    assert short.noise_scale(6) < whole.noise_scale(6)
    assert short.measurements.levels.max() == 6


def test_mass_lies_evenly_in_the_last_cells(counts: dph.Counts) -> None:
    short = dph.release(counts, epsilon=1000, depth=4, width=300)
    heat = short.distribution().raster(1024, 1024)
    blocks = heat.reshape(16, 64, 16, 64)
    assert np.allclose(blocks, blocks.mean(axis=(1, 3), keepdims=True))
    truth = np.zeros((16, 16))
    x, y = decode(counts.codes)
    np.add.at(truth, (y >> 6, x >> 6), np.diff(counts.sums) / counts.sums[-1])
    assert np.allclose(blocks.sum(axis=(1, 3)), truth, atol=1e-3)


@pytest.mark.parametrize(("sigma", "last"), [(1.0, 2), (0.1, 6), (0.02, 8), (1e-9, 10), (1e9, 0)])
def test_sigma_bounds_the_useful_depth(counts: dph.Counts, sigma: float, last: int) -> None:
    release = dph.release(counts, epsilon=1, sigma=sigma)
    assert release.last_level == last
    assert release.first_level == min(2, last)


def test_sigma_is_in_ground_metres_for_boxes() -> None:
    domain = dph.Domain.bbox(7.3, 46.9, 7.5, 47.02, resolution=10)
    nobody = np.zeros(0, dtype=np.int64)
    release = dph.release(dph.Counts.from_cells(domain, nobody, nobody, nobody), epsilon=1, sigma=400)
    widest = domain.lengths_of_cells(release.last_level, domain.cells(release.last_level).y1)
    coarser = domain.lengths_of_cells(release.last_level - 1, domain.cells(release.last_level - 1).y1)
    assert float(widest) <= 100 < float(coarser)


def test_it_is_saved_and_read_like_any_other(counts: dph.Counts, tmp_path: Path) -> None:
    dph.release(counts, epsilon=1, depth=5).save(tmp_path / "a.dph.parquet")
    release = dph.load(tmp_path / "a.dph.parquet")
    assert release.last_level == 5
    assert release.heatmap().values.shape == (1024, 1024)
