"""A boundary is read as what it is, or refused: across the antimeridian or Greenwich, around the world, or nowhere."""

from __future__ import annotations

from typing import Any

import geopandas as gpd
import numpy as np
import pytest
import shapely

from dpheatmap.errors import DomainError
from dpheatmap.place.domain import Domain
from dpheatmap.place.vector_rings import to_degrees


def rectangle(west: float, south: float, east: float, north: float) -> list[list[list[float]]]:
    """The coordinates of a polygon of GeoJSON."""
    return [[[west, south], [east, south], [east, north], [west, north], [west, south]]]


def several(*parts: Any) -> dict[str, Any]:
    return {"type": "MultiPolygon", "coordinates": list(parts)}


def inside(domain: Domain, *points: tuple[float, float]) -> list[bool]:
    x, y = np.array(points, float).T
    return [bool(there) for there in domain.locate(x, y)[2]]


FIJI = (rectangle(170, -20, 180, -10), rectangle(-180, -20, -170, -10))
PARIS, KAZAKHSTAN, TOKYO, SUVA, SAMOA = (2.3, 48.8), (70.0, 47.0), (139.7, 47.0), (178.0, -18.0), (-172.0, -13.0)


@pytest.mark.parametrize("west", [-5.0, -0.1])
@pytest.mark.parametrize("east", [0.0, -0.0, 8.0])
def test_parts_across_greenwich_and_at_the_antimeridian_are_one_place(west: float, east: float) -> None:
    domain = Domain.polygon(several(rectangle(west, 45, east + 1, 50), *FIJI), depth=8)
    places = ((west / 2, 47.0), ((east + 1) / 2, 47.0), KAZAKHSTAN, TOKYO, SUVA, SAMOA)
    assert inside(domain, *places) == [True, True, False, False, True, True]


def test_a_part_that_ends_at_greenwich_is_not_torn() -> None:
    """Longitude 0 is its eastern edge, and would be the western edge of a turned world."""
    domain = Domain.polygon(several(rectangle(-10, 45, 0, 50), *FIJI), depth=8)
    assert inside(domain, (-5, 47), PARIS, KAZAKHSTAN, (-100, 47), SUVA, SAMOA) == [
        True,
        False,
        False,
        False,
        True,
        True,
    ]


def test_a_part_that_begins_at_greenwich_may_be_turned() -> None:
    domain = Domain.polygon(several(rectangle(0, 45, 8, 50), *FIJI), depth=8)
    assert domain.extent.x1 == pytest.approx(190, abs=1.5)
    assert inside(domain, PARIS, (-2, 47), KAZAKHSTAN, SUVA, SAMOA) == [True, False, False, True, True]


ALL_AROUND = {
    "a cap": [[[-180, -85], [-180, -70], [-90, -72], [1, -70], [90, -71], [180, -70], [180, -85], [-180, -85]]],
    "a box": rectangle(-180, -84, 180, -60),
    "from Greenwich": rectangle(0, -84, 360, -60),
    "to the pole": rectangle(-180, -90, 180, -60),
}  # fmt: skip


@pytest.mark.parametrize("rings", ALL_AROUND.values(), ids=ALL_AROUND.keys())
def test_a_boundary_may_go_around_the_world(rings: Any) -> None:
    domain = Domain.polygon({"type": "Polygon", "coordinates": rings}, depth=7)
    around = np.linspace(-179.9, 179.9, 301)
    assert all(inside(domain, *((lon, -80.0) for lon in around)))
    assert not any(inside(domain, *((lon, -50.0) for lon in around)))


def test_the_world_in_metres_is_the_world() -> None:
    edge = 20037508.342789244
    frame = gpd.GeoDataFrame(geometry=[shapely.box(-edge, -1e7, edge, 1e7)], crs="EPSG:3857")
    domain = Domain.polygon(frame, depth=6)
    assert all(inside(domain, *((lon, 10.0) for lon in np.linspace(-179.9, 179.9, 101))))


# Edges across the antimeridian

LONG = rectangle(177, -20, -178, -10)
BOW = [[[177, -20], [-178, -10], [-178, -20], [177, -10], [177, -20]]]


@pytest.mark.parametrize("rings", [LONG, BOW, rectangle(-100, 10, 100, 20), rectangle(-180, 10, 179.9, 20)])
def test_an_edge_that_may_go_either_way_is_refused(rings: Any) -> None:
    geometry = shapely.Polygon(rings[0])
    for given in (
        {"type": "Polygon", "coordinates": rings},
        geometry,
        gpd.GeoDataFrame(geometry=[geometry], crs="EPSG:4326"),
        gpd.GeoDataFrame(geometry=[None, shapely.GeometryCollection([geometry])], crs="EPSG:4167"),
    ):
        with pytest.raises(DomainError, match="cut it there, as GeoJSON wants, or use longitudes up to 182"):
            Domain.polygon(given, depth=6)


def test_longitudes_beyond_180_or_a_corner_in_the_middle_tell_the_way() -> None:
    beyond = Domain.polygon({"type": "Polygon", "coordinates": rectangle(177, -20, 182, -10)}, depth=8)
    assert inside(beyond, (179, -15), (-179, -15), (0, -15)) == [True, True, False]
    half = [[-100, 10], [0, 10], [100, 10], [100, 20], [0, 20], [-100, 20]]
    wide = Domain.polygon({"type": "Polygon", "coordinates": [half]}, depth=6)
    assert inside(wide, (0, 15), (-90, 15), (90, 15), (150, 15)) == [True, True, True, False]


def test_metres_across_the_antimeridian_need_no_cut() -> None:
    """In such a system an edge is short, whatever its longitudes are."""
    there = gpd.GeoDataFrame(geometry=[shapely.box(170, -20, 182, -10)], crs="EPSG:4326").to_crs("EPSG:3832")
    domain = Domain.polygon(there, depth=8)
    assert inside(domain, (175, -15), (-179, -15), (0, -15), (-170, -15)) == [True, True, False, False]
    ending = gpd.GeoDataFrame(geometry=[shapely.box(170, -20, 180, -10)], crs="EPSG:4326").to_crs("EPSG:3832")
    domain = Domain.polygon(ending, depth=8)
    assert inside(domain, (175, -15), (-179, -15), (0, -15)) == [True, False, False]


def test_metres_around_a_pole_are_refused() -> None:
    frame = gpd.GeoDataFrame(geometry=[shapely.box(-3e6, -3e6, 3e6, 3e6)], crs="EPSG:3031")
    with pytest.raises(DomainError, match="both Greenwich and the antimeridian"):
        Domain.polygon(frame, depth=6)


# Points that are nowhere


@pytest.mark.parametrize("north", [90.001, 1000.0, -91.0])
def test_latitudes_beyond_the_poles_are_refused(north: float) -> None:
    with pytest.raises(DomainError, match="latitudes from -90 to 90"):
        Domain.polygon({"type": "Polygon", "coordinates": [[[7, 46], [8, 46], [8, north], [7, 46]]]}, depth=6)


def test_a_point_that_can_t_be_converted_is_refused() -> None:
    corners = [(400000, 5200000), (500000, 5200000), (1e12, 1e12)]
    frame = gpd.GeoDataFrame(geometry=[shapely.Polygon(corners)], crs="EPSG:32632")
    with pytest.raises(DomainError, match="no longitude and latitude"):
        Domain.polygon(frame, depth=10)


def test_areas_are_lenient_about_such_points() -> None:
    found = to_degrees(np.array([[500000.0, 5200000.0], [1e12, 1e12], [np.nan, np.inf]]), "EPSG:32632")
    assert np.isfinite(found).all()
    assert found[0] == pytest.approx([9.0, 46.95], abs=0.01)
