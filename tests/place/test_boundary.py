"""The cells that meet a boundary are those of another computation, in fractions, on every level and for any rings."""

from __future__ import annotations

import base64
import zlib
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import shapely
from hypothesis import assume, given
from hypothesis import strategies as st
from shapely.geometry import shape

from dpheatmap.errors import DomainError
from dpheatmap.place.boundary import (
    GRID,
    MOST_CELLS,
    MOST_CUT,
    MOST_POINTS,
    Boundary,
    boundary_of_edges,
    mask_of_boundary,
)
from dpheatmap.place.boundary_cells import cells_cut
from dpheatmap.place.box import Box
from dpheatmap.place.cell_parts import parts_of_cells
from dpheatmap.place.domain import Domain, Floats
from dpheatmap.place.mask import RangeMask
from dpheatmap.place.quadtree import decode, encode
from dpheatmap.place.region import Region
from dpheatmap.place.ring_parts import fill_parts

LEVEL = 3
SIDE = 2**LEVEL
corner = st.tuples(st.integers(0, SIDE * GRID), st.integers(0, SIDE * GRID))
on_borders = st.tuples(st.integers(0, SIDE).map(GRID.__mul__), st.integers(0, SIDE).map(GRID.__mul__))
rings = st.lists(st.one_of(corner, on_borders), min_size=3, max_size=9)


def edges_of(*polygons: Any) -> Floats:
    """The directed edges of polygons on the grid, outer rims as the package turns them."""
    found = []
    for polygon in polygons:
        for k, ring in enumerate((polygon.exterior, *polygon.interiors)):
            points = shapely.get_coordinates(ring)
            swept = float(np.sum((points[:-1, 0] + points[1:, 0]) * np.diff(points[:, 1])))
            points = points if (swept > 0) == (k == 0) else points[::-1]
            found.append(np.concatenate([points[:-1], points[1:]], axis=1) / GRID)
    return np.concatenate(found)


def mask_of(*polygons: Any, depth: int = LEVEL) -> RangeMask:
    return mask_of_boundary(boundary_of_edges(edges_of(*polygons)).pack(), LEVEL, depth)


Ring = list[tuple[Fraction, Fraction]]


def cut_off(ring: Ring, axis: int, at: int, sign: int) -> Ring:
    """The part of a ring on one side of a line, closed along it (Sutherland and Hodgman)."""
    kept: Ring = []
    for a, b in zip(ring, ring[1:] + ring[:1], strict=True):
        before, after = (sign * (point[axis] - at) for point in (a, b))
        if before <= 0:
            kept.append(a)
        if (before < 0 < after) or (after < 0 < before):
            t = before / (before - after)
            kept.append((a[0] + t * (b[0] - a[0]), a[1] + t * (b[1] - a[1])))
    return kept


def area_in_cell(ring: Ring, x: int, y: int) -> Fraction:
    """The area of a ring inside a cell, exactly, in cells."""
    for axis, at, sign in ((0, x, -1), (0, x + 1, 1), (1, y, -1), (1, y + 1, 1)):
        ring = cut_off(ring, axis, GRID * at, sign)
    twice = sum((a[0] * b[1] - b[0] * a[1] for a, b in zip(ring, ring[1:] + ring[:1], strict=True)), Fraction(0))
    return abs(twice) / (2 * GRID**2)


def exact_parts(polygon: Any) -> Floats:
    """The part of every finest cell inside a polygon, row by row."""
    shores = [
        [(Fraction(x), Fraction(y)) for x, y in shapely.get_coordinates(ring)[:-1].tolist()]
        for ring in (polygon.exterior, *polygon.interiors)
    ]
    return np.array(
        [
            [
                float(area_in_cell(shores[0], x, y) - sum(area_in_cell(hole, x, y) for hole in shores[1:]))
                for x in range(SIDE)
            ]
            for y in range(SIDE)
        ]
    )


def as_raster(mask: RangeMask, level: int) -> Any:
    """Whether each cell of a level meets the place."""
    met = np.zeros((2**level, 2**level), np.bool_)
    x, y = decode(mask.codes(level))
    met[y, x] = True
    return met


def polygons_of(ring: list[tuple[int, int]]) -> list[Any]:
    """The valid polygons of a ring, whose corners are on the grid again; none if it has no area."""
    whole = shapely.set_precision(shapely.make_valid(shapely.Polygon(ring)), 1.0)
    return [part for part in shapely.get_parts(whole) if part.geom_type == "Polygon" and part.area > 0]


@given(rings)
def test_cells_that_meet_a_boundary_are_those_with_a_part_inside(ring: list[tuple[int, int]]) -> None:
    polygons = polygons_of(ring)
    assume(polygons)
    mask = mask_of(*polygons)
    parts = np.sum([exact_parts(polygon) for polygon in polygons], axis=0)
    assert (as_raster(mask, LEVEL) == (parts > 0)).all()
    x, y = decode(mask.codes(LEVEL))
    assert mask.weight(LEVEL, mask.codes(LEVEL)) == pytest.approx(np.maximum(parts[y, x], 1 / 256), abs=1e-9)


@given(rings, rings)
def test_parts_that_overlap_count_once(one: list[tuple[int, int]], other: list[tuple[int, int]]) -> None:
    polygons = [*polygons_of(one), *polygons_of(other)]
    assume(polygons)
    parts = np.sum([exact_parts(polygon) for polygon in polygons], axis=0)
    assert (as_raster(mask_of(*polygons), LEVEL) == (parts > 0)).all()


@given(rings)
def test_rows_ranges_levels_and_pieces_tell_the_same_cells(ring: list[tuple[int, int]]) -> None:
    polygons = polygons_of(ring)
    assume(polygons)
    mask = mask_of(*polygons)
    every = np.arange(4**LEVEL)
    inside = mask.meets(LEVEL, every)
    assert (mask.runs.hold(every) == inside).all()
    assert (
        int((mask.runs.last - mask.runs.first + 1).sum()) == inside.sum()
    )  # a cell is in one run: no event counts twice
    assert (np.diff(mask.starts) > 0).all()
    assert (mask.starts[1:] > mask.ends[:-1]).all()
    weights = np.zeros(4**LEVEL)
    weights[inside] = mask.weight(LEVEL, every[inside])
    for level in range(LEVEL + 1):
        cells = np.arange(4**level)
        above = inside.reshape(len(cells), -1)
        assert (mask.meets(level, cells) == above.any(axis=1)).all()
        assert mask.count(level) == above.any(axis=1).sum()
        assert (mask.codes(level) == np.flatnonzero(above.any(axis=1))).all()
        assert mask.weight(level, cells) == pytest.approx(weights.reshape(len(cells), -1).sum(axis=1), abs=1e-9)
        coarser = mask_of(*polygons, depth=level)
        assert (coarser.codes(level) == mask.codes(level)).all()
    pieces = mask.pieces()
    shift = 2 * (LEVEL - pieces.levels)
    covered = np.concatenate(
        [np.arange(code << s, (code + 1) << s) for code, s in zip(pieces.codes.tolist(), shift.tolist(), strict=True)]
    )
    assert (np.sort(covered) == np.flatnonzero(inside)).all()
    assert (weights[covered][np.repeat(pieces.levels < LEVEL, 1 << shift)] == 1.0).all()  # larger ones lie inside


def test_districts_of_a_city_have_one_boundary() -> None:
    halves = [shapely.box(64, 64, 240, 400), shapely.box(240, 64, 500, 400)]
    together = boundary_of_edges(edges_of(*halves))
    assert len(together.sizes) == 1
    assert mask_of(*halves).codes(LEVEL).tolist() == mask_of(shapely.box(64, 64, 500, 400)).codes(LEVEL).tolist()


def test_an_edge_along_the_border_of_cells_cuts_none() -> None:
    """A box on whole cells is just these cells, as that of a rectangle is."""
    mask = mask_of(shapely.box(2 * GRID, 3 * GRID, 7 * GRID, 5 * GRID))
    x, y = decode(mask.codes(LEVEL))
    assert sorted(zip(x.tolist(), y.tolist(), strict=True)) == [(i, j) for i in range(2, 7) for j in (3, 4)]
    assert len(mask.cut) == 0
    assert (mask.rectangle(LEVEL).x0, mask.rectangle(LEVEL).y1) == (2, 5)


def test_holes_are_left_out() -> None:
    ring = shapely.box(0, 0, 7 * GRID, 7 * GRID) - shapely.box(2 * GRID, 2 * GRID, 6 * GRID, 6 * GRID)
    mask = mask_of(ring)
    assert mask.count(LEVEL) == 49 - 16
    assert not mask.meets(LEVEL, encode(np.array([3]), np.array([3]))).any()


# The text of rings in files


@given(rings)
def test_packed_rings_come_back(ring: list[tuple[int, int]]) -> None:
    polygons = polygons_of(ring)
    assume(polygons)
    made = boundary_of_edges(edges_of(*polygons))
    read = Boundary.unpack(made.pack())
    assert read.points.tolist() == made.points.tolist()
    assert read.sizes.tolist() == made.sizes.tolist()


def one_ring(points: Any) -> Boundary:
    return Boundary(np.asarray(points, np.int64), np.array([len(points)]))


def up_and_down(times: int, high: int) -> Boundary:
    """A ring that runs up and down along the border of cells: few bytes, and many cells to its sides."""
    return one_ring([[0, high * (k % 2)] for k in range(times)] + [[GRID, 0]])


@pytest.mark.parametrize("across", [False, True])
def test_rings_along_too_many_cells_are_refused_before_anything_is_allocated(across: bool) -> None:
    tall = up_and_down(200, GRID * (MOST_CELLS - 1))
    if across:
        tall = tall._replace(points=tall.points[:, ::-1])
    assert len(tall.pack()) < 500
    with pytest.raises(DomainError, match=f"more than {MOST_CUT:,} finest cells"):
        mask_of_boundary(tall.pack(), 28, 28)


def test_rings_of_too_many_corners_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError, match="too large"):
        Boundary.unpack(up_and_down(MOST_POINTS, 1).pack())
    several = Boundary(
        np.tile(np.array([[0, 0], [1, 0], [1, 1]]), (MOST_POINTS // 3 + 1, 1)), np.full(2**20 // 3 + 1, 3)
    )
    with pytest.raises(ValueError, match="too many"):
        Boundary.unpack(several.pack())
    monkeypatch.setattr("dpheatmap.place.boundary.MOST_POINTS", 7)
    octagon = shapely.Point(100, 100).buffer(60, quad_segs=2)
    with pytest.raises(DomainError, match="more than 7 corners"):
        boundary_of_edges(edges_of(octagon))


def test_parts_are_those_of_another_computation() -> None:
    """Of many long edges that cross each other, which are looked at once in each cell."""
    rng, cells = np.random.default_rng(3), 40
    points = rng.integers(0, GRID * cells + 1, (500, 2))
    points[rng.random(500) < 0.3] //= GRID
    points[:, 0] = np.where(rng.random(500) < 0.3, points[:, 0] // GRID * GRID, points[:, 0])
    edges = one_ring(points).edges
    x, y = cells_cut(edges, GRID)
    wanted = np.zeros(len(x))
    fill_parts(edges / GRID, np.stack([x, y, x + 1, y + 1], axis=1).astype(float), wanted)
    assert np.abs(wanted).max() > 3
    assert parts_of_cells(edges, GRID, cells, x, y) == pytest.approx(wanted, abs=1e-9)


def packed(numbers: bytes) -> str:
    return base64.b64encode(zlib.compress(numbers)).decode()


@pytest.mark.parametrize(
    "text",
    [
        "", "!", "AAAA", packed(b""), packed(b"\x00"), packed(b"\x01"), packed(b"\x01\x02\x00\x00\x00\x00"),
        packed(b"\x01\x03" + bytes(5)), packed(b"\x01\x03" + bytes(7)), packed(b"\x80"), packed(b"\xff" * 9 + b"\x01"),
        packed(bytes(2**26 + 1)), packed(b"\x7f\x03" + bytes(6)),
    ],
)  # fmt: skip
def test_damaged_rings_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"rings|number|base64"):
        Boundary.unpack(text)


BERN = {"type": "Polygon", "coordinates": [[[7.3, 46.9], [7.5, 46.85], [7.6, 47.0], [7.4, 47.05], [7.3, 46.9]]]}


@pytest.mark.parametrize(
    "damage",
    [
        {"rings": "AAAA"}, {"rings": None}, {"rings": packed(b"\x01\x03" + bytes(6))},
        {"extent": [7.3, 46.8, 7.6, 47.1]},
        {"extent": [187.3, 46.85, 187.6, 47.05]}, {"extent": [float("nan"), 1.0, 2.0, 3.0]},
        {"extent": [float("nan")] * 4}, {"depth": 3}, {"depth": 28},
    ],
)  # fmt: skip
def test_a_damaged_region_is_refused(damage: dict[str, Any]) -> None:
    domain = Domain.polygon(BERN, resolution=500)
    assert Domain.from_dict(domain.to_dict()) == domain
    with pytest.raises(DomainError):
        Domain.from_dict({**domain.to_dict(), **damage})


# Places with a boundary


def test_a_point_is_inside_if_its_cell_is() -> None:
    domain, rng = Domain.polygon(BERN, resolution=200), np.random.default_rng(5)
    x, y = rng.uniform(7.2, 7.7, 20_000), rng.uniform(46.8, 47.1, 20_000)
    columns, rows, inside = domain.locate(x, y)
    met = domain.meets(domain.depth, columns, rows)
    assert (inside == met).all()
    city = shape(BERN)
    assert inside[shapely.contains_xy(city, x, y)].all()
    near = shapely.distance(shapely.points(x, y), city)
    assert (near[inside] < 0.004).all()  # a cell, in degrees
    assert 0 < inside.mean() < 1


def test_its_measure_is_the_area_inside() -> None:
    domain = Domain.polygon(BERN, resolution=50)
    area = domain.weight(0, np.zeros(1, np.int64))[0] / domain.cells(domain.depth).count
    city = shape(BERN)
    west, south, east, north = domain.bounds
    assert area == pytest.approx(city.area / ((east - west) * (north - south)), rel=2e-3)


@pytest.mark.parametrize(("resolution", "close"), [(50, 1e-4), (1000, 0.02)])
def test_what_it_encloses_is_its_area_on_the_ground(resolution: float, close: float) -> None:
    domain = Domain.polygon(BERN, resolution=resolution)
    metres = domain.place.lengths_of_units
    assert isinstance(domain.place, Region)
    assert domain.place.enclosed == pytest.approx(shape(BERN).area * metres[0] * metres[1], rel=close)


def test_regions_are_equal_if_their_boundaries_are() -> None:
    one, other = (Domain.polygon(BERN, resolution=500) for _ in range(2))
    assert one == other
    assert hash(one) == hash(other)
    assert one != Domain.polygon(BERN, resolution=200)


def test_a_boundary_on_both_sides_of_the_antimeridian_is_one_place() -> None:
    parts = [[[[178, -19], [180, -19], [180, -16], [178, -16], [178, -19]]],
             [[[-180, -19], [-179, -19], [-179, -16], [-180, -16], [-180, -19]]]]  # fmt: skip
    domain = Domain.polygon({"type": "MultiPolygon", "coordinates": parts}, resolution=2000)
    assert domain.extent.x0 == pytest.approx(178, abs=0.03)
    assert domain.extent.x1 == pytest.approx(181, abs=0.03)
    assert domain.count(domain.depth) == domain.cells(domain.depth).count
    beyond = Domain.polygon(
        {"type": "Polygon", "coordinates": [[[178, -19], [181, -19], [181, -16], [178, -16], [178, -19]]]},
        resolution=2000,
    )
    assert (beyond.codes(beyond.depth) == domain.codes(domain.depth)).all()
    lon, lat = np.array([179.5, -179.5, 180.5, -178.5, 0.0]), np.full(5, -17.0)
    assert domain.locate(lon, lat)[2].tolist() == [True, True, True, False, False]


def rectangle(west: float, south: float, east: float, north: float) -> list[list[list[float]]]:
    """The coordinates of a polygon of GeoJSON."""
    return [[[west, south], [east, south], [east, north], [west, north], [west, south]]]


@pytest.mark.parametrize(
    ("beyond", "depth"),
    [(1e-10, 8), (1e-5, 8), (1e-3, 8), (1e-4, 10), (0.02, 8), (1e-10, 0), (1e-10, 1), (1e-9, 16), (1e-3, 16)],
)
@pytest.mark.parametrize("apart", [False, True])
def test_a_boundary_that_barely_passes_the_antimeridian_stays_where_it_is(
    beyond: float, depth: int, apart: bool
) -> None:
    """Whether or not snapping moves its edge back to the antimeridian."""
    parts = [rectangle(100, -60, 180 + beyond, -10)]
    if apart:
        parts = [rectangle(100, -60, 180, -10), rectangle(-180, -60, -180 + beyond, -10)]
    domain = Domain.polygon({"type": "MultiPolygon", "coordinates": parts}, depth=depth)
    assert Domain.from_dict(domain.to_dict()) == domain
    assert domain.locate(np.array([140.0]), np.array([-30.0]))[2].all()
    columns = [domain.place.from_root(*ring.T)[0] for ring in domain.place.outline]
    assert min(map(min, columns)) == pytest.approx(100.0, abs=360 / GRID / 2**depth)
    usual = Domain.polygon({"type": "Polygon", "coordinates": rectangle(100, -60, 180, -10)}, depth=depth)
    assert (domain == usual) == (beyond < 180 / GRID / 2**depth)


def test_a_region_that_a_file_would_change_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    other = Region.of_edges(edges_of(shapely.box(0, 0, 128, 128)), 12, turned=False)
    monkeypatch.setattr(Region, "to_dict", lambda region: Box.to_dict(region) | {"rings": other.rings})
    with pytest.raises(DomainError):
        Domain.polygon(BERN, depth=12)


def test_a_boundary_of_too_many_cells_is_refused() -> None:
    zigzag = [[0.0, 0.0], *([0.5 + 0.4 * (k % 2), 0.9 * k / 2000] for k in range(2000)), [0.0, 1.0]]
    with pytest.raises(DomainError, match=f"more than {MOST_CUT:,}"):
        Domain.polygon({"type": "Polygon", "coordinates": [zigzag]}, depth=26)
