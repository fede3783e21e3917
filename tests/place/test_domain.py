"""The place and its cells, against brute force over the finest cells and against plain formulas."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from dpheatmap.errors import DomainError, ParameterError
from dpheatmap.place import projection
from dpheatmap.place.domain import Bounds, Domain
from dpheatmap.place.quadtree import encode

settings.register_profile("patient", deadline=None)
settings.load_profile("patient")

NORTH = projection.NORTHERNMOST
RADIUS = 6_378_137.0

longitudes = st.floats(-180, 180)
latitudes = st.floats(-NORTH, NORTH)


@st.composite
def boxes(draw: st.DrawFn, depths: st.SearchStrategy[int]) -> Domain:
    west, east = sorted(draw(st.tuples(longitudes, longitudes).filter(lambda p: p[0] != p[1])))
    south, north = sorted(draw(st.tuples(latitudes, latitudes).filter(lambda p: p[0] != p[1])))
    return Domain.bbox(west, south, east, north, depth=draw(depths))


@st.composite
def domains(draw: st.DrawFn, deepest: int = 28) -> Domain:
    depth = draw(st.integers(0, deepest))
    kind = draw(st.sampled_from(["bbox", "image", "unit"]))
    if kind == "bbox":
        return draw(boxes(st.just(depth)))
    if kind == "image":
        return Domain.image(draw(st.integers(1, 3000)), draw(st.integers(1, 3000)), depth=depth)
    return Domain.unit(depth)


def finest_by_definition(domain: Domain) -> set[tuple[int, int]]:
    """The finest cells that overlap the extent in more than an edge, in exact arithmetic (no boxes)."""
    side = Fraction(int(domain.place.widest_root), 2**domain.depth)
    columns, rows = (
        [k for k in range(2**domain.depth) if side * k < Fraction(end)] for end in (domain.extent.x1, domain.extent.y1)
    )
    return {(x, y) for x in columns for y in rows}


def cells_of(domain: Domain, level: int) -> set[tuple[int, int]]:
    r = domain.cells(level)
    assert (r.columns, r.rows, r.count) == (r.x1 - r.x0, r.y1 - r.y0, (r.x1 - r.x0) * (r.y1 - r.y0))
    return {(x, y) for x in range(r.x0, r.x1) for y in range(r.y0, r.y1)}


# Which cells


@given(st.integers(1, 40), st.integers(1, 40), st.integers(0, 6))
def test_an_image_has_the_cells_its_pixels_touch(width: int, height: int, depth: int) -> None:
    domain = Domain.image(width, height, depth=depth)
    assert cells_of(domain, depth) == finest_by_definition(domain)


@given(st.integers(0, 6))
def test_a_unit_square_has_all_cells(depth: int) -> None:
    assert cells_of(Domain.unit(depth), depth) == finest_by_definition(Domain.unit(depth))


@given(boxes(st.integers(0, 28)))
def test_a_box_has_the_tiles_from_corner_to_corner(domain: Domain) -> None:
    e, n = domain.extent, mpmath.mpf(2) ** domain.depth
    with mpmath.workdps(60):
        left, right = (n * (mpmath.mpf(1) / 2 + mpmath.mpf(v) / 360) for v in (e.x0, e.x1))
        top, bottom = (
            n * (mpmath.mpf(1) / 2 - mpmath.atanh(mpmath.tan(mpmath.radians(v) / 2)) / mpmath.pi) for v in (e.y1, e.y0)
        )
        r = domain.cells(domain.depth)
        tolerance = n * mpmath.mpf("4e-16") + mpmath.mpf("1e-30")
        for first, start, last, end in ((r.x0, left, r.x1, right), (r.y0, top, r.y1, bottom)):
            assert first - tolerance <= start <= first + 1 + tolerance
            assert last - 1 - tolerance <= end <= last + tolerance
    assert 0 <= r.x0 < r.x1 <= 2**domain.depth
    assert 0 <= r.y0 < r.y1 <= 2**domain.depth


@given(domains(deepest=6))
def test_a_coarse_cell_meets_the_domain_if_it_holds_a_finest_one(domain: Domain) -> None:
    finest = cells_of(domain, domain.depth)
    for level in range(domain.depth + 1):
        shift = domain.depth - level
        assert cells_of(domain, level) == {(x >> shift, y >> shift) for x, y in finest}
        x, y = (a.ravel() for a in np.meshgrid(np.arange(-1, 2**level + 1), np.arange(-1, 2**level + 1)))
        met = domain.meets(level, x, y)
        assert set(zip(x[met].tolist(), y[met].tolist(), strict=True)) == cells_of(domain, level)


@given(domains(deepest=6), st.integers(1, 5000))
def test_the_first_level_is_the_deepest_with_at_most_width_cells(domain: Domain, width: int) -> None:
    small = [level for level in range(domain.depth + 1) if len(cells_of(domain, level)) <= width]
    assert domain.first_level(width) == max(small)


@given(st.integers(1, 2**20), st.integers(0, 28))
def test_the_first_level_of_a_full_square_is_the_papers(width: int, depth: int) -> None:
    assert Domain.unit(depth).first_level(width) == min(depth, (math.isqrt(width)).bit_length() - 1)


# Points and cells


@given(domains(), st.data())
def test_a_cells_inside_is_located_in_it(domain: Domain, data: st.DataObject) -> None:
    r, e = domain.cells(domain.depth), domain.extent
    x, y = data.draw(st.integers(r.x0, r.x1 - 1)), data.draw(st.integers(r.y0, r.y1 - 1))
    b = domain.cell_bounds(domain.depth, x, y)
    left, right, low, high = max(b.x0, e.x0), min(b.x1, e.x1), max(b.y0, e.y0), min(b.y1, e.y1)
    assume(min(right - left, high - low) > 1e-10)  # less than that is a matter of rounding
    columns, rows, inside = domain.locate((left + right) / 2, (low + high) / 2)
    assert (bool(inside), int(columns), int(rows)) == (True, x, y)


@given(domains(), st.data())
def test_a_located_point_lies_in_its_cell(domain: Domain, data: st.DataObject) -> None:
    e = domain.extent
    x, y = data.draw(st.floats(e.x0, e.x1)), data.draw(st.floats(e.y0, e.y1))
    column, row, inside = domain.locate([x], [y])
    assert inside.all()
    r = domain.cells(domain.depth)
    assert r.x0 <= column[0] < r.x1
    assert r.y0 <= row[0] < r.y1
    b = domain.cell_bounds(domain.depth, int(column[0]), int(row[0]))
    slack = 1e-12 * max(1.0, *map(abs, e))
    assert b.x0 - slack <= x <= b.x1 + slack
    assert b.y0 - slack <= y <= b.y1 + slack


@pytest.mark.parametrize(
    "domain",
    [Domain.unit(8), Domain.image(640, 480), Domain.image(5, 3, depth=1), Domain.bbox(-10, -20, 30, 40, depth=9)]
    + [Domain.bbox(-180, -NORTH, 180, NORTH, depth=d) for d in (0, 3, 28)],
)
def test_edges_are_inside_and_a_hair_further_is_not(domain: Domain) -> None:
    e, r = domain.extent, domain.cells(domain.depth)
    top, bottom = (e.y1, e.y0) if domain.kind == "bbox" else (e.y0, e.y1)
    columns, rows, inside = domain.locate([e.x0, e.x1], [top, bottom])
    assert inside.all()
    assert (columns[0], rows[0], columns[1], rows[1]) == (r.x0, r.y0, r.x1 - 1, r.y1 - 1)
    middle = (e.x0 + e.x1) / 2, (e.y0 + e.y1) / 2
    outside = [
        (math.nextafter(e.x0, -math.inf), middle[1]), (math.nextafter(e.x1, math.inf), middle[1]),
        (middle[0], math.nextafter(e.y0, -math.inf)), (middle[0], math.nextafter(e.y1, math.inf)),
        (math.nan, middle[1]), (middle[0], math.nan), (math.inf, middle[1]), (middle[0], -math.inf),
    ]  # fmt: skip
    assert not domain.locate(*np.array(outside).T)[2].any()


def test_one_falls_in_the_last_cell() -> None:
    columns, rows, inside = Domain.unit(8).locate([1.0, 1.0, 0.0, 0.5], [1.0, 0.0, 1.0, 0.5])
    assert (columns.tolist(), rows.tolist()) == ([255, 255, 0, 128], [255, 0, 255, 128])
    assert inside.all()


@given(boxes(st.integers(1, 28)), st.data())
def test_the_morton_code_of_a_tile_is_its_quadkey(domain: Domain, data: st.DataObject) -> None:
    r = domain.cells(domain.depth)
    x, y = data.draw(st.integers(r.x0, r.x1 - 1)), data.draw(st.integers(r.y0, r.y1 - 1))
    # Bing Maps: digit by digit from the top, 1 for the right half, 2 for the lower half.
    quadkey = ""
    for bit in reversed(range(domain.depth)):
        quadkey += str((x >> bit & 1) + 2 * (y >> bit & 1))
    assert int(encode(np.array([x]), np.array([y]))[0]) == int(quadkey, 4)


def test_tiles_are_those_of_the_usual_formula() -> None:
    """The one on the OpenStreetMap wiki, for points that don't lie on an edge."""
    rng = np.random.default_rng(1)
    longitude, latitude = rng.uniform(-180, 180, 5000), rng.uniform(-85, 85, 5000)
    columns, rows, _ = Domain.bbox(-180, -85, 180, 85, depth=17).locate(longitude, latitude)
    for x, y, lon, lat in zip(columns, rows, longitude, latitude, strict=True):
        usual = 2**17 * (lon + 180) / 360, 2**17 * (1 - math.asinh(math.tan(math.radians(lat))) / math.pi) / 2
        assert (x, y) == (int(usual[0]), int(usual[1]))


@given(domains())
def test_bounds_are_the_extent_widened_to_whole_cells(domain: Domain) -> None:
    b, e, r = domain.bounds, domain.extent, domain.cells(domain.depth)
    slack = 1e-12 * max(1.0, *map(abs, e))
    assert b.x0 <= e.x0 + slack
    assert b.y0 <= e.y0 + slack
    assert b.x1 >= e.x1 - slack
    assert b.y1 >= e.y1 - slack
    wide = (360.0 if domain.kind == "bbox" else domain.place.widest_root) * r.columns / 2**domain.depth
    assert b.x1 - b.x0 == pytest.approx(wide, abs=1e-9)
    corner = domain.cell_bounds(domain.depth, r.x0, r.y0)
    assert (b.x0, b.y1 if domain.kind == "bbox" else b.y0) == (
        corner.x0,
        corner.y1 if domain.kind == "bbox" else corner.y0,
    )


# Resolution


def widest_cell(domain: Domain) -> float:
    """The width in metres of a cell at the box's latitude nearest to the equator."""
    south, north = domain.extent.y0, domain.extent.y1
    nearest = 0.0 if south <= 0 <= north else min(abs(south), abs(north))
    return 2 * math.pi * RADIUS * math.cos(math.radians(nearest)) / 2.0**domain.depth


@given(boxes(st.just(0)), st.floats(0.2, 1e9))
@example(Domain.bbox(0, -1, 1, 1, depth=0), 2 * math.pi * RADIUS / 2**20)
@example(Domain.bbox(0, -1, 1, 1, depth=0), math.nextafter(2 * math.pi * RADIUS / 2**20, 0))
def test_resolution_is_the_widest_a_cell_may_be(box: Domain, resolution: float) -> None:
    domain = Domain.bbox(*box.extent, resolution=resolution)
    assert widest_cell(domain) <= resolution
    assert domain.depth == 0 or 2 * widest_cell(domain) > resolution, "a coarser zoom would have done"


@pytest.mark.parametrize("resolution", [1e-3, 1e-300, 5e-324])
def test_a_resolution_too_fine_is_refused_and_the_advice_works(resolution: float) -> None:
    for box in ((0.0, -1.0, 1.0, 1.0), (0.0, 80.0, 1.0, 81.0), (0.0, 33.0, 1.0, 34.0)):
        with pytest.raises(DomainError, match="above 28, the deepest") as refusal:
            Domain.bbox(*box, resolution=resolution)
        advised = float(str(refusal.value).split("Ask for ")[1].split(" m")[0])
        assert Domain.bbox(*box, resolution=advised).depth == 28


@given(boxes(st.just(0)))
def test_by_default_the_longer_side_has_256_cells(box: Domain) -> None:
    domain = Domain.bbox(*box.extent)
    longer = max(domain.cells(domain.depth).columns, domain.cells(domain.depth).rows)
    coarser = Domain.bbox(*box.extent, depth=max(0, domain.depth - 1))
    assert longer >= 256 or domain.depth == 28
    assert domain.depth == 0 or max(coarser.cells(coarser.depth).columns, coarser.cells(coarser.depth).rows) < 256


def test_resolution_and_depth_exclude_each_other() -> None:
    with pytest.raises(DomainError, match="given both"):
        Domain.bbox(0, 0, 1, 1, resolution=50, depth=8)


@pytest.mark.parametrize(
    ("size", "depth"), [((1, 1), 0), ((2, 1), 1), ((640, 480), 10), ((1024, 3), 10), ((3, 1025), 11)]
)
def test_at_the_default_depth_a_cell_is_a_pixel(size: tuple[int, int], depth: int) -> None:
    domain = Domain.image(*size)
    assert domain.depth == depth
    assert (domain.cells(depth).columns, domain.cells(depth).rows) == size
    assert domain.cell_bounds(depth, 0, 0) == Bounds(0, 0, 1, 1)
    assert domain.bounds == domain.extent == Bounds(0, 0, *map(float, size))


# Refusals, each with its own sentence

NAN, INF = math.nan, math.inf


@pytest.mark.parametrize(
    ("box", "words"),
    [
        ((-170, -10, 190, 10), "Longitudes run from -180 to 180"),
        ((200, -10, 210, 10), "Longitudes run from -180 to 180"),
        ((-190, -10, 170, 10), "Longitudes run from -180 to 180"),
        ((1, 0, 361, 10), "Longitudes run from -180 to 180"),
        ((180, -10, -180, 10), "has no area"),
        ((0, 60, 10, 90), "Web Mercator ends at latitude 85.0511"),
        ((0, -90, 10, 0), "Web Mercator ends at latitude 85.0511"),
        ((0, 0, 10, math.nextafter(NORTH, 90)), "Web Mercator ends"),
        ((0, 0, 0, 5), "has no area"),
        ((0, 5, 5, 5), "has no area"),
        ((10, 0, -10, 5), "is inverted"),
        ((0, 5, 5, 0), "is inverted"),
        ((40, -120, 41, -110), r"look swapped. Give west, south, east, north: \(-120, 40, -110, 41\)\?"),
        ((0, 95, 120, 99), "Latitudes run from -90 to 90; the box was"),
        ((NAN, 0, 1, 1), "must be finite"),
        ((0, 0, INF, 1), "must be finite"),
        ((0, -INF, 1, 1), "must be finite"),
        (("x", 0, 1, 1), "must be four numbers"),
        ((0, "0", 1, 1), "must be four numbers"),
        ((0, 0, None, 1), "must be four numbers"),
        ((0, 0, 1, [1]), "must be four numbers"),
        ((0, 0, True, 1), "must be four numbers"),
        ((0, 0, 10**400, 1), "must be four numbers"),
    ],
)
def test_a_box_that_cannot_be_mapped_says_why(box: tuple[Any, ...], words: str) -> None:
    with pytest.raises(DomainError, match=words):
        Domain.bbox(*box)
    assert issubclass(DomainError, ParameterError)


def test_what_is_just_right_is_taken() -> None:
    world = Domain.bbox(-180, -NORTH, 180, NORTH, depth=28)
    assert world.cells(28).count == 4**28
    assert Domain.bbox(179, 0, 180, 1).cells(0).count == 1
    assert Domain.bbox(0, 0, 5e-324, 1, depth=28).cells(28).columns == 1
    assert Domain.bbox(np.float32(0), 0, Fraction(1, 3), 1).extent.x1 == 1 / 3  # type: ignore[arg-type]


# Lengths


@given(boxes(st.integers(0, 28)), st.floats(0, 1))
def test_cell_widths_are_those_of_the_sphere(domain: Domain, at: float) -> None:
    """Width on the ground = circumference of the parallel / number of cells around it."""
    row = at * 2**domain.depth
    latitude = 2 * math.atan(math.exp(math.pi * (1 - 2 * at))) - math.pi / 2
    around = 2 * math.pi * RADIUS * math.cos(latitude)
    assert float(domain.lengths_of_cells(domain.depth, row)) == pytest.approx(around / 2**domain.depth, rel=1e-9)


@settings(max_examples=30)
@given(boxes(st.integers(16, 28)), st.data())
def test_cells_are_square_on_the_ground(domain: Domain, data: st.DataObject) -> None:
    """The chord between a cell's north and south edge, by three-dimensional coordinates, is as long as it is wide."""
    r = domain.cells(domain.depth)
    row = data.draw(st.integers(r.y0, r.y1 - 1))
    b = domain.cell_bounds(domain.depth, r.x0, row)
    with mpmath.workdps(40):
        north, south = (mpmath.radians(v) for v in (b.y1, b.y0))
        points = [(mpmath.cos(v), mpmath.sin(v)) for v in (north, south)]
        chord = RADIUS * mpmath.hypot(points[0][0] - points[1][0], points[0][1] - points[1][1])
    width = float(domain.lengths_of_cells(domain.depth, row + 0.5))
    # Latitudes are floats: an ulp of 85 degrees is a nanometre, against cells of a millimetre and more.
    assert float(chord) == pytest.approx(width, rel=1e-4)


def test_lengths_off_the_earth_are_plain() -> None:
    assert Domain.unit(3).lengths_of_cells(2, [0, 1.5]).tolist() == [0.25, 0.25]
    assert Domain.image(640, 480).lengths_of_cells(9, [0, 100]).tolist() == [2, 2]
    assert (Domain.unit(3).unit_name, Domain.image(2, 2).unit_name, Domain.bbox(0, 0, 1, 1).unit_name) == (
        "of the side",
        "px",
        "m",
    )


def test_the_longer_side() -> None:
    assert Domain.unit(5).longer_side == 1
    assert Domain.image(640, 480).longer_side == 640
    assert Domain.image(5, 1000).longer_side == 1000
    # One degree along the equator, and one along a meridian, on a sphere.
    degree = math.pi * RADIUS / 180
    assert Domain.bbox(0, -0.1, 1, 0.1, depth=24).longer_side == pytest.approx(degree, rel=1e-4)
    assert Domain.bbox(0, 60, 0.1, 61, depth=24).longer_side == pytest.approx(degree, rel=1e-3)


# Files


@given(domains())
def test_a_description_is_read_back(domain: Domain) -> None:
    again = Domain.from_dict(json.loads(json.dumps(domain.to_dict())))
    assert again == domain
    assert again.cells(domain.depth) == domain.cells(domain.depth)


UNIT: dict[str, Any] = {"kind": "unit", "extent": [0, 0, 1, 1], "depth": 3}


@pytest.mark.parametrize(
    "damage",
    [
        {"kind": "circle"}, {"kind": None}, {"kind": ["unit"]}, {"depth": 29}, {"depth": -1}, {"depth": 3.0},
        {"depth": None}, {"depth": "3"}, {"depth": True}, {"extent": [0, 0, 1]}, {"extent": None}, {"extent": "abcd"},
        {"extent": [0, 0, 1, 2]}, {"extent": [0.5, 0, 1, 1]}, {"extent": [0, 0, NAN, 1]},
        {"extent": [0, 0, 10**400, 1]},
        {"kind": "image", "extent": [0, 0, 64.5, 48]}, {"kind": "image", "extent": [1, 0, 64, 48]},
        {"kind": "image", "extent": [0, 0, 0, 48]}, {"kind": "image", "extent": [0, 0, INF, 48]},
        {"kind": "bbox", "extent": [170, 0, 10, 1]}, {"kind": "bbox", "extent": [0, 0, NAN, 1]},
    ],
)  # fmt: skip
def test_a_damaged_description_is_refused(damage: dict[str, Any]) -> None:
    assert Domain.from_dict(UNIT) == Domain.unit(3)
    with pytest.raises(ParameterError):
        Domain.from_dict(UNIT | damage)


@pytest.mark.parametrize("missing", ["kind", "extent", "depth"])
def test_an_incomplete_description_is_refused(missing: str) -> None:
    with pytest.raises(DomainError, match="needs kind, extent and depth"):
        Domain.from_dict({key: value for key, value in UNIT.items() if key != missing})
    with pytest.raises(DomainError, match="needs kind, extent and depth"):
        Domain.from_dict([])  # type: ignore[arg-type]
