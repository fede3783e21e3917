"""The part of each cell in an area is that of an independent library, for any polygons, holes and parts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import shapely
from hypothesis import assume, given
from hypothesis import strategies as st

import dpheatmap as dph
from dpheatmap.estimate.areas.area_source import read_areas
from dpheatmap.estimate.areas.coverage import boxes_of_cells, cover
from dpheatmap.place import rings
from dpheatmap.place.domain import Floats

IMAGE = dph.Domain.image(100, 70)


def parts_of(areas: dict[str, Any], domain: dph.Domain, level: int) -> Floats:
    """The part of every cell of a level in every area."""
    codes = domain.codes(level)
    found = cover(read_areas(areas, domain).shapes(domain), domain, np.full(len(codes), level), codes)
    parts = np.zeros((len(areas), len(codes)))
    parts[found.areas, found.cells] = found.parts
    return parts


def by_shapely(areas: dict[str, Any], domain: dph.Domain, level: int) -> Floats:
    codes = domain.codes(level)
    boxes = shapely.box(*boxes_of_cells(domain, np.full(len(codes), level), codes).T)
    cut = [shapely.area(shapely.intersection(boxes, shapely.make_valid(area))) for area in areas.values()]
    found: Floats = np.array(cut) / shapely.area(boxes)
    return found


# Of slivers thinner than any length, the other library is wrong by whole cells.
corners = st.tuples(*(st.integers(64 * low, 64 * high).map(lambda k: k / 64) for low, high in ((-40, 140), (-40, 110))))


@given(st.lists(corners, min_size=3, max_size=9), st.lists(corners, min_size=3, max_size=5), st.integers(0, 7))
def test_any_polygon_with_any_hole(rim: list[Any], hole: list[Any], level: int) -> None:
    area = shapely.make_valid(shapely.Polygon(rim)).difference(shapely.make_valid(shapely.Polygon(hole)))
    assume(area.area > 0)
    areas = {"area": area, "whole": shapely.box(0, 0, 100, 70)}
    found = parts_of(areas, IMAGE, level)
    assert np.allclose(found, by_shapely(areas, IMAGE, level), atol=1e-7)
    assert np.allclose(found[1], 1.0)


@pytest.mark.parametrize("turned", [False, True])
def test_holes_and_parts_count_whichever_way_their_rings_run(turned: bool) -> None:
    rim, hole, apart = shapely.box(10, 10, 50, 50), shapely.box(20, 20, 40, 40), shapely.box(60, 5, 90, 25)
    ring = rim.exterior.coords[::-1] if turned else rim.exterior.coords
    area = shapely.MultiPolygon([shapely.Polygon(ring, [hole.exterior.coords]), apart])
    assert np.allclose(parts_of({"area": area}, IMAGE, 5), by_shapely({"area": area}, IMAGE, 5))


def test_a_ring_of_many_edges_is_found_strip_by_strip() -> None:
    angle = np.linspace(0, 2 * np.pi, 5001)[:-1]
    radius = 30 + 3 * np.sin(37 * angle)
    area = {"flower": shapely.Polygon(np.stack([50 + radius * np.cos(angle), 35 + radius * np.sin(angle)], axis=1))}
    for level in (0, 3, 7):
        assert np.allclose(parts_of(area, IMAGE, level), by_shapely(area, IMAGE, level), atol=1e-9)


def test_edges_that_are_bent_on_the_map_are_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    """A border along a straight line in degrees is bent on Web Mercator: by kilometres, over a country."""
    domain = dph.Domain.bbox(5, 45, 15, 55, resolution=500)
    corner = {"below": shapely.Polygon([(5, 45), (15, 45), (15, 55)])}

    def size() -> float:
        return float(read_areas(corner, domain).shapes(domain).sizes[0])

    fine = {"below": shapely.segmentize(corner["below"], 0.01)}
    true = float(read_areas(fine, domain).shapes(domain).sizes[0])
    assert size() == pytest.approx(true, rel=1e-5)
    monkeypatch.setattr(rings, "_MOST_CUTS", 0)
    assert size() != pytest.approx(true, rel=1e-3)


def test_the_ground_of_areas_is_that_of_the_globe() -> None:
    domain = dph.Domain.bbox(7.0, 46.0, 8.0, 47.0, resolution=300)
    codes = domain.codes(domain.depth - 4)
    shapes = read_areas({"half": (7.0, 46.0, 7.5, 47.0), "beyond": (7.5, 46.0, 9.5, 47.0)}, domain).shapes(domain)
    found = cover(shapes, domain, np.full(len(codes), domain.depth - 4), codes)
    radius = 6_378_137.0
    true = radius**2 * np.radians(0.5) * (np.sin(np.radians(47)) - np.sin(np.radians(46)))
    assert found.ground == pytest.approx([true, true], rel=2e-2)  # the domain's own cells reach a little farther
    assert found.inside == pytest.approx([1.0, 0.25], rel=2e-2)
