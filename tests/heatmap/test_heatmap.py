from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.ndimage import gaussian_filter1d

from dpheatmap.design.privacy_loss import PureLoss
from dpheatmap.design.shares import split_over_levels
from dpheatmap.errors import ParameterError
from dpheatmap.estimate.distribution import Distribution
from dpheatmap.estimate.posterior.map_estimate import EstimateOfRelease
from dpheatmap.evaluate import metrics
from dpheatmap.heatmap.heatmap import Heatmap
from dpheatmap.heatmap.rendering import smooth_estimate
from dpheatmap.heatmap.smoothing import gaussian_filter, sigma_of
from dpheatmap.place import projection
from dpheatmap.place.domain import Domain
from dpheatmap.place.quadtree import encode
from dpheatmap.releases.measurements import Measurements
from dpheatmap.releases.release import Release

UNIT, IMAGE = Domain.unit(4), Domain.image(11, 6)
CITY = Domain.bbox(6.9, 50.9, 7.3, 51.0, depth=12)
NORTH = Domain.bbox(0, 20, 120, 80, depth=4)  # where a row's scale differs most from the next one's
TALL = Domain.bbox(0, -70, 10, 75, depth=5)
DOMAINS = [UNIT, IMAGE, Domain.image(1, 9), CITY, NORTH, TALL]
by_name = pytest.mark.parametrize("domain", DOMAINS, ids=["unit", "image", "line", "city", "north", "tall"])


def release_of(domain: Domain, **facts: object) -> Release:
    none = np.zeros(0, dtype=np.int64)
    shares = split_over_levels(0, domain.depth)
    empty = Measurements(none, none, none, none)
    return Release(domain, PureLoss(Fraction(1, 3)), empty, shares, **facts)  # type: ignore[arg-type]


def distribution_of(domain: Domain, mass: np.ndarray, *, empty: bool = False) -> Distribution:
    """The distribution whose finest cells have the masses of an array, row by row."""
    finest = domain.cells(domain.depth)
    x, y = np.meshgrid(np.arange(finest.x0, finest.x1), np.arange(finest.y0, finest.y1))
    codes = encode(x.ravel(), y.ravel())
    return Distribution(domain, np.full(len(codes), domain.depth), codes, mass.ravel() / mass.sum(), 9.0, empty)


def render(given: Distribution, *, release: Release, sigma: float | None = None, size: int | None = None) -> Heatmap:
    estimate = EstimateOfRelease(release)
    return smooth_estimate(given, estimate, release, sigma=sigma_of(release.domain, sigma), size=size)


def random_raster(domain: Domain, seed: int = 0) -> np.ndarray:
    finest = domain.cells(domain.depth)
    values: np.ndarray = np.random.default_rng(seed).exponential(size=(finest.rows, finest.columns))
    values /= values.sum()
    return values


def filter_by_definition(raster: np.ndarray, domain: Domain, sigma: float) -> np.ndarray:
    """The double sum over all pairs of pixels, with ground lengths at the source row."""
    rows, columns = raster.shape
    finest = domain.cells(domain.depth)
    y, x = np.mgrid[:rows, :columns]
    result = np.zeros_like(raster)
    for i in range(rows):
        middle = finest.y0 + (i + 0.5) * finest.rows / rows
        cell = float(domain.lengths_of_cells(domain.depth, middle))
        for j in range(columns):
            across = (x - j) * cell * finest.columns / columns
            down = (y - i) * cell * finest.rows / rows
            weights = np.exp(-(across**2 + down**2) / (2 * sigma**2))
            result += raster[i, j] * weights / weights.sum()
    return result


@by_name
@pytest.mark.parametrize("share_of_side", [0.02, 0.1, 0.7, 5.0])
def test_the_filter_is_the_sum_over_all_pairs(domain: Domain, share_of_side: float) -> None:
    raster, sigma = random_raster(domain), share_of_side * domain.longer_side
    expected = filter_by_definition(raster, domain, sigma)
    assert gaussian_filter(raster, domain, sigma) == pytest.approx(expected, rel=1e-11, abs=1e-15)


@by_name
def test_also_when_pixels_are_not_cells(domain: Domain) -> None:
    raster = np.random.default_rng(2).random((7, 5))
    sigma = 0.1 * domain.longer_side
    expected = filter_by_definition(raster, domain, sigma)
    assert gaussian_filter(raster, domain, sigma) == pytest.approx(expected, rel=1e-11, abs=1e-15)


@by_name
def test_each_pixel_keeps_its_mass(domain: Domain) -> None:
    finest = domain.cells(domain.depth)
    for place in {0, finest.count // 3, finest.count - 1}:
        raster = np.zeros(finest.count)
        raster[place] = 1.0
        for share_of_side in (1e-6, 0.03, 0.4, 1e6):
            sigma = share_of_side * domain.longer_side
            spread = gaussian_filter(raster.reshape(finest.rows, finest.columns), domain, sigma)
            assert spread.sum() == pytest.approx(1, abs=1e-12)
            assert spread.min() >= 0


@by_name
def test_a_tiny_sigma_changes_nothing(domain: Domain) -> None:
    raster = random_raster(domain)
    for sigma in (5e-324, 1e-300, 1e-9, 0.01 * domain.longer_side / max(raster.shape)):
        assert (gaussian_filter(raster, domain, sigma) == raster).all()


@by_name
@pytest.mark.parametrize("sides", [1e4, 1e300])
def test_a_huge_sigma_makes_it_even(domain: Domain, sides: float) -> None:
    raster = random_raster(domain)
    smoothed = gaussian_filter(raster, domain, sides * domain.longer_side)
    assert smoothed == pytest.approx(np.full(raster.shape, 1 / raster.size), rel=1e-6)


@given(seed=st.integers(0, 2**32), domain=st.sampled_from(DOMAINS), exponent=st.floats(-320, 300))
def test_heat_is_a_distribution_whatever_sigma(seed: int, domain: Domain, exponent: float) -> None:
    smoothed = gaussian_filter(random_raster(domain, seed), domain, max(5e-324, 10.0**exponent))
    assert smoothed.min() >= 0
    assert smoothed.sum() == pytest.approx(1, abs=1e-12)


def test_far_from_the_edges_it_is_scipys() -> None:
    domain, raster = Domain.unit(8), np.zeros((256, 256))
    raster[100:156, 110:140] = np.random.default_rng(0).random((56, 30))
    expected = raster
    for axis in (0, 1):
        expected = gaussian_filter1d(expected, 6.0, axis=axis, mode="constant", truncate=12)
    assert gaussian_filter(raster, domain, 6 / 256) == pytest.approx(expected, rel=1e-9, abs=1e-15)


def test_on_the_ground_the_bell_is_as_wide_in_the_north_as_in_the_south() -> None:
    domain = Domain.bbox(0, -0.2, 10, 70, depth=10)
    finest = domain.cells(10)
    rows = np.arange(finest.rows)
    widths = []
    for row in (finest.rows - 30, 60):
        raster = np.zeros((finest.rows, finest.columns))
        raster[row, finest.columns // 2] = 1.0
        smoothed = gaussian_filter(raster, domain, 60_000.0)[:, finest.columns // 2]
        spread = np.sqrt((smoothed * (rows - row) ** 2).sum() / smoothed.sum())
        widths.append(spread * float(domain.lengths_of_cells(10, finest.y0 + row + 0.5)))
    assert widths == pytest.approx([60_000.0, 60_000.0], rel=0.02)


# Heatmaps


@by_name
def test_a_heatmap_carries_its_facts(domain: Domain) -> None:
    release = release_of(domain, seeded=True)
    heat = render(distribution_of(domain, random_raster(domain)), release=release)
    assert (heat.epsilon, heat.made, heat.seeded, heat.uniform) == (Fraction(1, 3), release.made, True, False)
    assert heat.sigma == pytest.approx(0.02 * domain.longer_side)
    assert heat.values.sum() == pytest.approx(1, abs=1e-12)
    assert heat.values.shape == random_raster(domain).shape
    assert "NOT PRIVATE" in repr(heat)


def test_a_heatmap_is_an_array_to_numpy() -> None:
    people, release = distribution_of(UNIT, random_raster(UNIT)), release_of(UNIT)
    one, other = (render(people, sigma=sigma, release=release) for sigma in (0.05, 0.2))
    assert np.array_equal(np.asarray(one), one.values)
    assert np.asarray(one, np.float32).dtype == np.float32
    changed = np.array(one)
    changed[0, 0] = 7
    assert one.values[0, 0] < 1
    assert metrics.emd(one, other) == metrics.emd(one.values, other.values) > 0


@by_name
def test_middles_and_densities(domain: Domain) -> None:
    heat = render(distribution_of(domain, random_raster(domain)), size=5, release=release_of(domain))
    finest, b = domain.cells(domain.depth), domain.bounds
    assert b.x0 < heat.x[0]
    assert heat.x[-1] < b.x1
    assert b.y0 < heat.y.min()
    assert heat.y.max() < b.y1
    assert (np.diff(heat.y) < 0).all() == (domain.kind == "bbox" or len(heat.y) == 1)
    cell = domain.lengths_of_cells(domain.depth, finest.y0 + (np.arange(len(heat.y)) + 0.5) * finest.rows / len(heat.y))
    area = cell**2 * finest.count / heat.values.size
    assert (heat.density * area[:, None]) == pytest.approx(heat.values)


def test_latitudes_are_those_of_mercator_rows() -> None:
    heat = render(distribution_of(NORTH, random_raster(NORTH)), release=release_of(NORTH))
    finest = NORTH.cells(NORTH.depth)
    assert projection.mercator_row(heat.y, np.sqrt, lambda step: step) * 2**NORTH.depth == pytest.approx(
        np.arange(finest.y0, finest.y1) + 0.5
    )


def test_size_is_the_longer_side() -> None:
    wide, tall = Domain.image(2000, 3), Domain.image(30, 600)
    for domain, size, shape in [
        (wide, None, (2, 1024)),
        (wide, 100, (1, 100)),
        (wide, 3000, (4, 3000)),
        (tall, None, (600, 30)),
        (tall, 10, (10, 1)),
    ]:
        cells = domain.cells(domain.depth)
        distribution = distribution_of(domain, np.ones((cells.rows, cells.columns)))
        heat = render(distribution, size=size, sigma=1e-3, release=release_of(domain))
        assert heat.values.shape == shape
        assert heat.values.sum() == pytest.approx(1, abs=1e-12)


def test_a_map_without_signal_stays_uniform() -> None:
    heat = render(distribution_of(IMAGE, np.ones((6, 11)), empty=True), sigma=2, release=release_of(IMAGE))
    assert heat.uniform
    assert heat.empty
    assert heat.values == pytest.approx(np.full((6, 11), 1 / 66))
    assert "no signal" in repr(heat)


@pytest.mark.parametrize("bad", [{"sigma": 0}, {"sigma": -1}, {"sigma": float("nan")}, {"size": 0}, {"size": 2.5}])
def test_bad_parameters_are_refused(bad: dict[str, float]) -> None:
    with pytest.raises(ParameterError, match=f"{next(iter(bad))} must be"):
        render(distribution_of(UNIT, random_raster(UNIT)), release=release_of(UNIT), **bad)  # type: ignore[arg-type]


@settings(max_examples=20)
@given(sigma=st.floats(1e-4, 2), row=st.integers(0, 15), column=st.integers(0, 15))
def test_the_hottest_pixel_is_near_a_lone_cell(sigma: float, row: int, column: int) -> None:
    mass = np.zeros((16, 16))
    mass[row, column] = 1.0
    heat = render(distribution_of(UNIT, mass), sigma=sigma, release=release_of(UNIT))
    assert heat.values[row, column] == heat.values.max()
