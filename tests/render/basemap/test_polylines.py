from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import shapely
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from dpheatmap.place.domain import Bounds, Floats
from dpheatmap.render.basemap import polylines
from dpheatmap.render.basemap.polylines import area_of, cut_line, cut_ring, parts_where, polygons_of, simplify
from dpheatmap.render.basemap.seams import join_rings

WINDOW = Bounds(-1.0, -1.0, 1.0, 1.0)
SQUARE = shapely.box(*WINDOW)
coordinates = st.integers(-300, 300).map(lambda step: step / 100)
lines = st.integers(2, 30).flatmap(lambda count: arrays(np.float64, (count, 2), elements=coordinates))


def even_odd(rings: list[Floats]) -> shapely.Geometry:
    """What rays cross an odd number of times."""
    whole = shapely.Polygon()
    for ring in rings:
        whole = whole.symmetric_difference(shapely.make_valid(shapely.Polygon(ring)))
    return whole


@given(lines)
def test_a_cut_ring_fills_what_the_ring_fills_inside_the_window(points: Floats) -> None:
    ring = np.concatenate([points, points[:1]])
    cut = cut_ring(ring, WINDOW)
    assert (np.abs(cut) <= 1).all()
    for x, y in np.random.default_rng(0).uniform(-1, 1, (50, 2)).tolist():
        assert is_odd(cut, x, y) == is_odd(ring, x, y)


def is_odd(ring: Floats, x: float, y: float) -> bool:
    """Whether a ray to the north crosses a ring an odd number of times."""
    odd = False
    for (x0, y0), (x1, y1) in pairwise(ring.tolist()):
        if (x0 > x) != (x1 > x) and y0 + (x - x0) / (x1 - x0) * (y1 - y0) > y:
            odd = not odd
    return odd


@given(lines)
def test_a_cut_line_has_the_length_that_lies_inside(points: Floats) -> None:
    parts = cut_line(points, WINDOW)
    inside = [shapely.LineString(pair).intersection(SQUARE).length for pair in pairwise(points)]
    length = sum(float(np.hypot(*np.diff(part, axis=0).T).sum()) for part in parts)
    assert length == pytest.approx(sum(inside), abs=1e-9)
    assert all((np.abs(part) <= 1).all() and len(part) > 1 for part in parts)


@given(st.lists(lines, min_size=1, max_size=4), st.sampled_from([0.05, 0.3, 1.0]))
def test_simplifying_moves_no_line_by_more_than_the_tolerance(given_lines: list[Floats], tolerance: float) -> None:
    for line, simple in zip(given_lines, simplify(given_lines, tolerance), strict=True):
        assert (simple[[0, -1]] == line[[0, -1]]).all()
        assert {tuple(p) for p in simple.tolist()} <= {tuple(p) for p in line.tolist()}
        away = shapely.distance(shapely.points(line), shapely.LineString(simple))
        assert away.max() <= tolerance * 1.005  # so near the equator, degrees are nearly square


def test_simplifying_a_zigzag_takes_as_much_work_as_a_coast(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of its points is the farthest from a chord, which would be split off alone."""
    looks = []

    def count(points: Floats, shorter: Floats, index: Any, start: Any, stop: Any) -> Floats:
        looks.append(len(index))
        return distances(points, shorter, index, start, stop)

    distances = polylines._distances
    monkeypatch.setattr(polylines, "_distances", count)
    n = 20_000
    zigzag = np.column_stack([np.arange(n) % 2, np.arange(n) // 2 * 1e-3])
    (simple,) = simplify([zigzag], 1e-4)
    assert len(simple) == n, "every point of it counts"
    assert sum(looks) < 100 * n


def test_simplifying_measures_on_the_ground() -> None:
    """At 60 degrees north, a degree of longitude is half as long as one of latitude."""
    bump = np.array([[0.0, 60.0], [0.015, 60.5], [0.0, 61.0]])
    assert [len(line) for line in simplify([bump], 0.01)] == [2]
    assert [len(line) for line in simplify([bump], 0.007)] == [3]
    assert simplify([], 1.0) == []


@given(st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7)), min_size=1, max_size=40, unique=True))
def test_squares_join_to_their_union(cells: list[tuple[int, int]]) -> None:
    """Whatever squares of a board are land, rings of single squares become outlines without an inner edge."""
    square = np.array([[0, 0], [1, 0], [1, 1], [0, 1], [0, 0]])
    rings = join_rings([square + cell for cell in cells], [np.ones(4, dtype=np.bool_)] * len(cells))
    want = shapely.union_all([shapely.box(x, y, x + 1, y + 1) for x, y in cells])
    assert sum(shapely.LinearRing(ring).length for ring in rings) == pytest.approx(want.boundary.length)
    assert sum(area_of(ring) for ring in rings) == pytest.approx(len(cells))
    assert even_odd(rings).symmetric_difference(want).area == 0


def test_seams_that_hardly_fit_leave_a_step_only() -> None:
    left = np.array([[0.0, 0.0], [10.0, 0.0], [10.0, 10.0], [0.0, 10.0], [0.0, 0.0]])
    right = np.array([[10.0, 0.0], [20.0, 0.0], [20.0, 9.0], [10.0, 9.0], [10.0, 0.0]])
    masks = [np.array([False, True, False, False]), np.array([False, False, False, True])]
    (ring,) = join_rings([left, right], masks)
    assert area_of(ring) == pytest.approx(190)


def test_parts_go_through_the_first_point_of_a_ring() -> None:
    ring = np.array([[0, 0], [1, 0], [1, 1], [0, 1], [0, 0]], dtype=float)
    (part,) = parts_where(ring, np.array([True, False, True, True]))
    assert part.tolist() == [[1, 1], [0, 1], [0, 0], [1, 0]]
    assert parts_where(ring, np.zeros(4, dtype=np.bool_)) == []


def test_waters_go_to_the_smallest_land_around_them() -> None:
    def box(low: float, high: float) -> Floats:
        return np.array([[low, low], [high, low], [high, high], [low, high], [low, low]])

    continent, island, sea, pond, elsewhere = box(0, 10), box(4, 6), box(3, 7), box(4.5, 5), box(20, 21)
    polygons = polygons_of([continent, island], [sea, pond, elsewhere])
    assert [[area_of(ring) for ring in polygon] for polygon in polygons] == [[4, 0.25], [100, 16]]
