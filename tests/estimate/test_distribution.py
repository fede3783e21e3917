from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpheatmap.estimate.distribution import Distribution
from dpheatmap.place.domain import Domain
from dpheatmap.place.quadtree import Ints, children, decode, encode

DOMAINS = [
    Domain.unit(0),
    Domain.unit(5),
    Domain.image(20, 7),
    Domain.image(3, 40),
    Domain.bbox(6.9, 50.9, 7.3, 51.0, depth=14),
]


def random_cells(domain: Domain, rng: np.random.Generator) -> tuple[Ints, Ints]:
    """Disjoint cells of mixed levels that cover the domain."""
    levels, codes = [], []
    open_codes = np.array([0])
    for level in range(domain.depth + 1):
        open_codes = open_codes[domain.meets(level, *decode(open_codes))]
        closed = rng.random(len(open_codes)) < (0.3 if level < domain.depth else 1.0)
        levels.append(np.full(closed.sum(), level))
        codes.append(open_codes[closed])
        open_codes = children(open_codes[~closed])
    return np.concatenate(levels), np.concatenate(codes)


def random_distribution(domain: Domain, seed: int) -> Distribution:
    rng = np.random.default_rng(seed)
    levels, codes = random_cells(domain, rng)
    mass = rng.exponential(size=len(codes)) * (rng.random(len(codes)) < 0.8) + 1e-9
    return Distribution(domain, levels, codes, mass / mass.sum(), 100.0)


def raster_by_areas(distribution: Distribution, columns: int, rows: int) -> np.ndarray:
    """The same by the definition: every cell against every pixel."""
    domain = distribution.domain
    finest = domain.cells(domain.depth)
    values = np.zeros((rows, columns))
    x, y = decode(distribution.codes)

    def overlap(start: int, length: int, low: int, high: int, pixels: int) -> np.ndarray:
        a, b = max(start, low) - low, min(start + length, high) - low
        edges = np.arange(pixels + 1) * (high - low) / pixels
        shared: np.ndarray = np.clip(np.minimum(b, edges[1:]) - np.maximum(a, edges[:-1]), 0, None) / (b - a)
        return shared

    for level, column, row, mass in zip(distribution.levels, x, y, distribution.mass, strict=True):
        side = 2 ** int(domain.depth - level)
        across = overlap(column * side, side, finest.x0, finest.x1, columns)
        values += mass * np.outer(overlap(row * side, side, finest.y0, finest.y1, rows), across)
    return values


@pytest.mark.parametrize("domain", DOMAINS, ids=lambda d: f"{d.kind}{d.depth}")
@pytest.mark.parametrize("size", [(1, 1), (7, 5), (32, 32), (50, 3)])
def test_a_pixel_holds_each_cell_by_the_area_they_share(domain: Domain, size: tuple[int, int]) -> None:
    distribution = random_distribution(domain, 1)
    assert distribution.raster(*size) == pytest.approx(raster_by_areas(distribution, *size), abs=1e-14)


@given(
    seed=st.integers(0, 2**32),
    domain=st.sampled_from(DOMAINS),
    columns=st.integers(1, 70),
    rows=st.integers(1, 70),
)
def test_no_mass_is_lost_or_negative(seed: int, domain: Domain, columns: int, rows: int) -> None:
    values = random_distribution(domain, seed).raster(columns, rows)
    assert values.shape == (rows, columns)
    assert values.sum() == pytest.approx(1, abs=1e-12)
    assert values.min() >= 0


def test_on_the_domains_own_grid_finest_cells_are_pixels() -> None:
    domain = Domain.image(5, 3)
    x, y = np.meshgrid(np.arange(5), np.arange(3))
    mass = np.arange(15.0) / np.arange(15.0).sum()
    distribution = Distribution(domain, np.full(15, domain.depth), encode(x.ravel(), y.ravel()), mass, 1.0)
    assert (distribution.raster(5, 3) == mass.reshape(3, 5)).all()


def test_mass_of_a_cell_stays_on_its_part_of_the_domain() -> None:
    domain = Domain.image(3, 1)  # its root cell is 4 x 4
    root = Distribution(domain, np.array([0]), np.array([0]), np.array([1.0]), 1.0)
    assert root.raster(3, 1) == pytest.approx(np.full((1, 3), 1 / 3))


def test_cells_far_smaller_than_pixels_keep_their_mass() -> None:
    domain = Domain.unit(28)
    rng = np.random.default_rng(3)
    x, y = rng.integers(0, 2**28, (2, 1000))
    x[:100] = 2**27 + rng.integers(-1, 1, 100)  # along a pixel's edge
    distribution = Distribution(domain, np.full(1000, 28), encode(x, y), np.full(1000, 1e-3), 1.0)
    values = distribution.raster(30, 30)
    assert values.sum() == pytest.approx(1, abs=1e-12)
    expected, *_ = np.histogram2d(y, x, bins=30, range=[[0, 2**28]] * 2)
    assert values == pytest.approx(expected / 1000, abs=1e-5)
