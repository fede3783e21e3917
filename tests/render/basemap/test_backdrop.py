from __future__ import annotations

import numpy as np
import pytest
import shapely

from dpheatmap.place.domain import Bounds
from dpheatmap.render.basemap.backdrop import backdrop, size_of
from dpheatmap.render.basemap.shores import Shores
from dpheatmap.render.web.page import basemap_around

NEW_YORK = Bounds(-74.1, 40.6, -73.8, 40.9)
MANHATTAN = Bounds(-74.02, 40.7, -73.93, 40.8)
GENEVA = Bounds(5.5, 45.8, 6.8, 46.8)
FRANCE = Bounds(-5.0, 42.0, 9.0, 51.0)
CHUKOTKA = Bounds(176.0, 66.0, 184.0, 69.0)


def backdrop_of(bounds: Bounds, pixels: int) -> Shores:
    found = backdrop(bounds, bounds, pixels)
    assert found is not None
    return found


def land_of(found: Shores) -> shapely.Geometry:
    return shapely.multipolygons([shapely.make_valid(shapely.Polygon(shore, waters)) for shore, *waters in found.land])


def test_large_maps_have_the_coast_of_the_package(installed: str) -> None:
    found = backdrop_of(FRANCE, 900)
    assert found.credits == ("Natural Earth",)
    assert found.rivers == []
    land = land_of(found)
    assert land.contains(shapely.Point(2.35, 48.86))
    assert not land.contains(shapely.Point(-4.0, 45.0))
    assert found.borders
    assert all((line[:, 0] >= -5).all() and (line[:, 1] <= 51).all() for line in found.coast + found.borders)
    edge = shapely.box(*FRANCE).boundary
    assert shapely.union_all([shapely.LineString(line) for line in found.coast]).intersection(edge).length < 1e-6


def test_cities_have_the_finer_coast_if_it_is_installed(installed: str) -> None:
    found = backdrop_of(MANHATTAN, 1440)
    assert found.credits[0] == "GSHHG"
    assert sum(map(len, found.coast)) > 100
    assert found.borders == []  # those of 1:10 million would be wrong


def test_without_it_a_small_map_has_no_coast(nothing_installed: None) -> None:
    assert backdrop(MANHATTAN, MANHATTAN, 1440) is None


def test_in_between_lines_of_the_package_are_true_enough(nothing_installed: None) -> None:
    found = backdrop_of(GENEVA, 900)
    assert found.borders
    assert found.credits == ("Natural Earth",)
    assert backdrop(NEW_YORK, NEW_YORK) is not None


def test_the_box_and_not_the_window_tells_the_scale(nothing_installed: None) -> None:
    assert backdrop(MANHATTAN, Bounds(-75, 40, -73, 42)) is None
    assert size_of(Bounds(0, 59.9, 1, 60.1)) == pytest.approx(0.5)
    assert size_of(Bounds(0, 0, 0.1, 0.4)) == pytest.approx(0.4)


def test_around_a_tall_map_no_sea_ends_at_a_straight_line_nearby(nothing_installed: None) -> None:
    west, south, east, north = basemap_around(Bounds(-74.02, 40.7, -73.91, 40.88))["window"]
    assert min(-74.02 - west, east + 73.91) > 2 * 0.18  # a wide screen shows much more beside it than it is wide
    assert min(40.7 - south, north - 40.88) > 0.3


def test_maps_go_on_beyond_the_antimeridian(nothing_installed: None) -> None:
    found = backdrop_of(CHUKOTKA, 900)
    land = land_of(found)
    assert land.contains(shapely.LineString([(179.5, 67.5), (180.5, 67.5)]))
    assert land.area == pytest.approx(shapely.union_all(land).area)
    assert not any(((line[:-1, 0] == 180) & (line[1:, 0] == 180)).any() for line in found.coast)


def test_lines_are_simplified_to_half_a_pixel(installed: str) -> None:
    found = [backdrop(MANHATTAN, NEW_YORK, pixels) for pixels in (60, 150, 6000)]
    counts = [sum(map(len, each.coast)) for each in found if each is not None]
    assert counts[0] < 0.7 * counts[1]
    assert counts[1] < 0.7 * counts[2]


def decode(steps: list[int], degree: int) -> np.ndarray:
    return np.cumsum(np.array(steps).reshape(-1, 2), axis=0) / degree


def test_pages_have_the_finer_coast_around_a_map(installed: str) -> None:
    page = basemap_around(MANHATTAN)
    x0, y0, x1, y1 = page["window"]
    assert x0 < MANHATTAN.x0 < MANHATTAN.x1 < x1
    assert y0 < MANHATTAN.y0 < MANHATTAN.y1 < y1
    rings = [decode(ring, 10_000) for polygon in page["fine"] for ring in polygon]
    points = np.concatenate(rings)
    assert (points >= np.subtract([x0, y0], 1e-9)).all()
    assert (points <= np.add([x1, y1], 1e-9)).all()
    assert all((ring[0] == ring[-1]).all() for ring in rings)
    assert page["rivers"] == []
    assert len(basemap_around(Bounds(7.35, 46.9, 7.5, 47.0))["rivers"]) > 0


def test_pages_tell_where_no_coast_is_known(nothing_installed: None) -> None:
    small, middle, large = (basemap_around(bounds) for bounds in (MANHATTAN, GENEVA, FRANCE))
    assert small["window"] is not None
    assert [page["window"] for page in (middle, large)] == [None, None]
    assert [page["fine"] for page in (small, middle, large)] == [None] * 3
    assert [page["rivers"] for page in (small, middle, large)] == [[], [], []]
    assert all(page["land"] and page["borders"] for page in (small, middle, large))
