"""Smoothing band by band gives the raster that smoothing at once gives."""

from __future__ import annotations

import numpy as np
import pytest

from dpheatmap.estimate.distribution import Distribution
from dpheatmap.heatmap import smoothing
from dpheatmap.heatmap.smoothed_bands import smoothed_bands
from dpheatmap.heatmap.smoothing import filter_row, smooth
from dpheatmap.place.domain import Domain

CITY = Domain.bbox(7.301, 46.903, 7.497, 47.021, resolution=30)
NORTH = Domain.bbox(10.0, 60.0, 30.0, 78.0, depth=12)
WORLD = Domain.bbox(-180.0, -85.0, 180.0, 85.0, depth=9)
FLAT = Domain.bbox(7.3, 46.90, 7.9, 46.91, resolution=30)


def some(domain: Domain) -> Distribution:
    """A few cells of many sizes, most of them of the finest level, with masses of many sizes."""
    rng = np.random.default_rng(3)
    level = domain.depth - 3
    codes = domain.codes(level)
    fine = rng.random(len(codes)) < 0.05
    children = domain.children(level, codes[fine])
    levels = np.concatenate([np.full((~fine).sum(), level), np.full(len(children), level + 1)])
    mass = rng.exponential(size=len(levels)) ** 4 * (rng.random(len(levels)) < 0.2)
    return Distribution(domain, levels, np.concatenate([codes[~fine], children]), mass / mass.sum(), 1e4)


@pytest.mark.parametrize("domain", [CITY, NORTH, WORLD, FLAT], ids=["city", "north", "world", "flat"])
@pytest.mark.parametrize("part", [1e-9, 0.003, 0.02, 0.1, 3.0, 1e20])
@pytest.mark.parametrize("height", [64, 100])
def test_bands_are_parts_of_the_whole(domain: Domain, part: float, height: int) -> None:
    distribution, finest, sigma = some(domain), domain.cells(domain.depth), part * domain.longer_side
    whole = smooth(distribution, sigma, max(finest.rows, finest.columns))
    edges = [*range(0, finest.rows, height), finest.rows]
    bands = list(smoothed_bands(distribution, sigma, whole.shape, edges))
    assert [len(band) for band in bands] == np.diff(edges).tolist()
    assert np.abs(np.concatenate(bands) - whole).max() <= 1e-10 * whole.max()


def test_no_signal_stays_even() -> None:
    nothing = Distribution.uniform(CITY)
    whole = smooth(nothing, 500.0, 100)
    assert (np.concatenate(list(smoothed_bands(nothing, 500.0, whole.shape, [0, 7, len(whole)]))) == whole).all()


@pytest.mark.parametrize("sigma", [0.1, 3.0, 40.0, 1e9])
def test_rows_by_fourier(sigma: float, monkeypatch: pytest.MonkeyPatch) -> None:
    row = np.random.default_rng(0).exponential(size=300) ** 6
    directly = filter_row(row, sigma)
    monkeypatch.setattr(smoothing, "_DIRECTLY", 0)
    assert filter_row(row, sigma) == pytest.approx(directly, abs=1e-13 * row.max())
    assert (filter_row(row, sigma) >= 0).all()
