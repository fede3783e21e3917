"""Maps of places with a boundary, or beyond the antimeridian: all mass inside, by the paper's formula, on any grid."""

from __future__ import annotations

import numpy as np
import pytest
import shapely
from shapely.geometry import shape

import dpheatmap as dph
from dpheatmap.estimate.distribution import Distribution
from dpheatmap.estimate.inside_cells import cut_at_boundary, weights_of
from dpheatmap.heatmap import smoothed_bands
from dpheatmap.heatmap.smoothing import parts_inside, pixel_sides, smooth
from dpheatmap.place.domain import Domain, Floats
from dpheatmap.place.quadtree import decode
from dpheatmap.releases.release import Release
from dpheatmap.testing import generated_people, seeded_release

BAY = {
    "type": "Polygon",
    "coordinates": [
        [[7.30, 46.90], [7.50, 46.88], [7.52, 47.02], [7.42, 46.95], [7.33, 47.03], [7.30, 46.90]],
        [[7.36, 46.91], [7.40, 46.91], [7.38, 46.93], [7.36, 46.91]],
    ],
}
DOMAIN = Domain.polygon(BAY, resolution=300)
FIJI = Domain.bbox(176, -20, -177.5, -15.5, resolution=2000)


@pytest.fixture(scope="module")
def release() -> Release:
    people = generated_people(4000, extent=DOMAIN.extent)
    return seeded_release(people, DOMAIN, seed=1, epsilon=2, user="person", x="x", y="y")


def brute_force(distribution: Distribution, sigma: float, shape: tuple[int, int]) -> Floats:
    """The paper's filter with Z summed over what is inside, pixel by pixel."""
    rows, columns = shape
    mass = distribution.raster(columns, rows)
    inside = parts_inside(distribution.domain, shape)
    wide, high = pixel_sides(distribution.domain, rows, columns)
    y, x = np.mgrid[:rows, :columns]
    found = np.zeros(shape)
    for row, column in zip(*np.nonzero(mass), strict=True):
        away = ((x - column) * wide[row]) ** 2 + ((y - row) * high[row]) ** 2
        bell = inside * np.exp(-0.5 * away / sigma**2)
        found += mass[row, column] * bell / bell.sum()
    return found


def test_the_filter_is_the_paper_s_with_a_sum_over_what_is_inside(release: Release) -> None:
    distribution = release.distribution()
    for sigma in (150.0, 900.0):
        got = smooth(distribution, sigma, 48)
        assert got == pytest.approx(brute_force(distribution, sigma, got.shape), rel=1e-9, abs=1e-15)


@pytest.mark.parametrize("size", [5, 37, 200, 500])
@pytest.mark.parametrize("sigma", [10.0, 400.0, 5000.0])
def test_all_mass_stays_inside(release: Release, size: int, sigma: float) -> None:
    heat = release.heatmap(sigma=sigma, size=size)
    assert heat.values.sum() == pytest.approx(1.0, rel=1e-9)
    assert (heat.values[heat.ground == 0.0] == 0.0).all()
    assert heat.density[heat.ground == 0.0].sum() == 0.0
    assert (heat.density * heat.ground).sum() == pytest.approx(1.0)


def test_the_ground_of_pixels_is_the_area_inside(release: Release) -> None:
    heat = release.heatmap(size=300)
    to_metres = dph.Domain.bbox(7.3, 46.88, 7.52, 47.03).place.lengths_of_units
    area = shape(BAY).area * to_metres[0] * to_metres[1]
    assert heat.ground.sum() == pytest.approx(area, rel=5e-3)


def test_bands_of_rows_are_those_of_the_whole(release: Release, monkeypatch: pytest.MonkeyPatch) -> None:
    distribution = release.distribution()
    whole = smooth(distribution, 1500.0, 90)
    edges = [0, 7, 30, len(whole)]
    bands = list(smoothed_bands.smoothed_bands(distribution, 1500.0, whole.shape, edges))
    assert np.concatenate(bands) == pytest.approx(whole, rel=1e-9, abs=1e-10 * whole.max())
    monkeypatch.setattr(smoothed_bands, "_COARSE", 45)  # what the filter keeps inside is interpolated
    rough = np.concatenate(list(smoothed_bands.smoothed_bands(distribution, 1500.0, whole.shape, edges)))
    assert rough.sum() == pytest.approx(1.0, abs=2e-3)
    assert np.abs(rough - whole).sum() < 4e-3


def test_a_map_of_nobody_is_even_inside() -> None:
    even = Distribution.uniform(DOMAIN)
    values = smooth(even, 300.0, 60)
    inside = parts_inside(DOMAIN, values.shape)
    full = inside > 1.0 - 1e-9
    assert values[full] == pytest.approx(values[full].mean(), rel=1e-6)
    assert values.sum() == pytest.approx(1.0)


def test_cut_cells_keep_the_mass_of_each() -> None:
    level = 13
    codes = DOMAIN.codes(level)
    levels = np.full(len(codes), level)
    for finest in (level, level + 1, DOMAIN.depth):
        cut = cut_at_boundary(DOMAIN, levels, codes, finest)
        assert np.bincount(cut.holder, cut.part, len(codes)) == pytest.approx(np.ones(len(codes)))
        assert weights_of(DOMAIN, cut.levels, cut.codes).sum() == pytest.approx(DOMAIN.weight(0, np.zeros(1, int))[0])
        assert cut.levels.max() <= finest
        assert DOMAIN.meets(int(cut.levels[0]), *decode(cut.codes[:1])).all()


def test_districts_that_tile_a_city_have_all_people(release: Release) -> None:
    city = shape(BAY)
    tiles = {f"{k}": city & shapely.box(7.3 + 0.06 * k, 46, 7.36 + 0.06 * k, 48) for k in range(4)}
    found = release.areas(tiles | {"all": city, "sea": shapely.box(7.40, 47.0, 7.44, 47.05)})
    assert found["share"][:4].sum() == pytest.approx(1.0, abs=2e-3)
    assert found["share"][4] == pytest.approx(1.0, abs=1e-3)
    assert found["note"].tolist()[4:] == ["overlaps with others", "outside the place: not counted"]


def test_synthetic_points_lie_inside(release: Release) -> None:
    points = release.sample(5000, seed=3)
    assert DOMAIN.locate(points["x"], points["y"])[2].all()


def test_places_lie_near_people(release: Release) -> None:
    places = dph.kmedian(release, 4)
    assert places.weights.sum() == pytest.approx(release.distribution().total)
    away = shapely.distance(shapely.points(places.centres), shape(BAY))
    assert away.max() < 0.05


def test_combinations_and_differences_of_a_region(release: Release) -> None:
    people = generated_people(4000, extent=DOMAIN.extent)
    other = seeded_release(people, DOMAIN, seed=2, epsilon=2, user="person", x="x", y="y")
    change = dph.difference(other, release)
    assert abs(change.values.sum()) < 1e-9
    assert not change.significant()[change.after.ground == 0.0].any()
    assert dph.combine([release, other], same=False).heatmap().values.sum() == pytest.approx(1.0)


def test_a_prior_on_a_region(release: Release) -> None:
    known = release.heatmap(
        prior={"type": "Polygon", "coordinates": [[[7.3, 46.8], [7.4, 46.8], [7.4, 47.1], [7.3, 47.1]]]}
    )
    assert known.values.sum() == pytest.approx(1.0)


@pytest.mark.parametrize("design", ["adaptive", "paper", "dense"])
def test_every_design_measures_cells_inside_alone(design: str) -> None:
    people = generated_people(1000, extent=DOMAIN.extent)
    made = seeded_release(people, DOMAIN, seed=4, epsilon=1, user="person", x="x", y="y", design=design)
    for level in np.unique(made.measurements.levels):
        codes, _ = made.measurements.at(int(level))
        assert DOMAIN.meets(int(level), *decode(codes)).all()
    method = "posterior" if design == "adaptive" else design
    assert made.heatmap(method=method, size=40).values.sum() == pytest.approx(1.0)


# Beyond the antimeridian


def test_a_box_beyond_the_antimeridian_is_the_same_map_elsewhere() -> None:
    """Moved by a whole number of coarse cells to the west, every count, and so every map, is the same."""
    people = generated_people(2000, extent=FIJI.extent).fetchnumpy()
    shift = 360.0 / 2**5  # a cell of level 5, far larger than the place
    elsewhere = Domain.bbox(176 - 4 * shift, -20, 182.5 - 4 * shift, -15.5, depth=FIJI.depth)
    beyond = {**people, "x": np.where(people["x"] > 180, people["x"] - 360, people["x"])}
    moved = {**people, "x": people["x"] - 4 * shift}
    columns = {"user": "person", "x": "x", "y": "y"}
    one, other = (
        seeded_release(table, domain, seed=5, epsilon=1, **columns)
        for table, domain in ((beyond, FIJI), (moved, elsewhere))
    )
    assert one.measurements.counts.tolist() == other.measurements.counts.tolist()
    assert one.heatmap(size=60).values == pytest.approx(other.heatmap(size=60).values)
    halves = one.areas({"west": (176, -20, 180, -15), "east": (-180, -20, -177, -15), "both": (176, -20, 183, -15)})
    moved_halves = other.areas({"west": (176 - 4 * shift, -20, 180 - 4 * shift, -15)})
    assert halves["share"][0] == pytest.approx(moved_halves["share"][0], rel=1e-6)
    assert halves["share"][:2].sum() == pytest.approx(halves["share"][2], rel=1e-6)
    points = one.sample(500, seed=1)
    assert points["x"].between(-180, 180).all()
    assert (points["x"] < 0).any()
    assert FIJI.locate(points["x"], points["y"])[2].all()


def test_areas_across_greenwich_don_t_reach_a_map_beyond_the_antimeridian() -> None:
    people = generated_people(500, extent=FIJI.extent)
    made = seeded_release(people, FIJI, seed=6, epsilon=1, user="person", x="x", y="y")
    found = made.areas({"around Greenwich": (-10, -20, 10, -15), "the world": (-180, -85, 180, 85)})
    assert found["note"][0] == "outside the place: not counted"
    assert found["share"][1] == pytest.approx(1.0)
