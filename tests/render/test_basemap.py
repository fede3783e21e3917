from __future__ import annotations

import numpy as np
import pytest

from dpheatmap.place.domain import Bounds, Floats
from dpheatmap.render import basemap

WORLD = Bounds(-180.0, -90.0, 180.0, 90.0)


def on_land(rings: list[Floats], lon: float, lat: float) -> bool:
    """Whether a ray to the east crosses the shores an odd number of times."""
    crossings = 0
    for ring in rings:
        (x0, y0), (x1, y1) = ring[:-1].T, ring[1:].T
        spans = (y0 > lat) != (y1 > lat)
        x = x0[spans] + (lat - y0[spans]) * (x1[spans] - x0[spans]) / (y1[spans] - y0[spans])
        crossings += int((x > lon).sum())
    return crossings % 2 == 1


@pytest.mark.parametrize("near", [None, Bounds(7.3, 46.9, 7.5, 47.0)])
def test_land_is_where_land_is(near: Bounds | None) -> None:
    rings = basemap.coast(near)
    for place in [
        (7.44, 46.95),
        (2.35, 48.86),
        (-100, 40),
        (134, -25),
        (37.6, 55.8),
        (-46.6, -23.5),
        (0, -89),
        (-175, 67),
        (179, 68),
    ]:
        assert on_land(rings, *place), place
    for place in [(-40, 30), (150, 20), (51, 42), (-15, 0), (5, 40), (0, 88)]:  # the third is the Caspian Sea
        assert not on_land(rings, *place), place


def test_rings_close_and_stay_on_their_side_of_the_antimeridian() -> None:
    rings = basemap.coast()
    assert all((ring[0] == ring[-1]).all() for ring in rings)
    assert all(ring.dtype == np.float64 for ring in rings)
    for ring in rings:
        assert np.abs(ring[:, 0]).max() <= 180
        jumps = np.abs(np.diff(ring[:, 0])) >= 180  # none but along the South Pole
        assert (ring[:-1][jumps, 1] == -90).all()


@pytest.mark.parametrize("near", [None, WORLD, Bounds(7.3, 46.9, 7.5, 47.02), Bounds(-20.0, 20.0, 40.0, 70.0)])
def test_the_only_inland_sea_lies_in_its_land(near: Bounds | None) -> None:
    """The Caspian Sea, in Eurasia with Africa. Whoever cuts lands into tiles goes by the extents of their shores."""
    ((shore, *seas),) = (shores for shores in basemap.land(near) if len(shores) > 1)
    (sea,) = seas
    assert (sea.min(axis=0) > [46, 36]).all()
    assert (sea.max(axis=0) < [55, 48]).all()
    assert on_land([shore], 20, 10)
    assert on_land([shore], 100, 60)
    assert on_land([shore], 51, 42)


def test_a_known_coast_and_a_known_border_are_drawn_where_they_are() -> None:
    """Cape Finisterre's tip is near 9.27 W, 42.88 N; Basel's three countries meet near 7.589 E, 47.590 N."""
    coast = np.concatenate(basemap.coast())
    assert np.hypot(*(coast - [-9.27, 42.88]).T).min() < 0.02
    border = np.concatenate(basemap.borders())
    assert np.hypot(*(border - [7.589, 47.590]).T).min() < 0.02
    # No border on the open sea, and none along a coast: Japan has neither neighbours nor borders.
    inside = (border[:, 0] > 129) & (border[:, 0] < 146) & (border[:, 1] > 31) & (border[:, 1] < 41.5)
    assert not inside.any()


@pytest.mark.parametrize("near", [(-74.1, 40.6, -73.8, 40.9), (5.0, 58.0, 8.0, 62.0), (120.0, -10.0, 128.0, -5.0)])
def test_detail_stays_near_and_falls_with_distance(near: tuple[float, float, float, float]) -> None:
    whole, some = (np.concatenate(rings) for rings in (basemap.coast(), basemap.coast(Bounds(*near))))

    def inside(points: Floats) -> set[tuple[float, float]]:
        kept = ((points >= near[:2]) & (points <= near[2:])).all(axis=1)
        return {(x, y) for x, y in points[kept].tolist()}

    assert inside(some) == inside(whole) != set()
    assert len(some) < len(whole) / 5


def test_cities_come_largest_first_and_inside() -> None:
    assert {c.name for c in basemap.cities(WORLD, 40)} >= {"Shanghai", "Istanbul", "Lagos", "London"}
    box = Bounds(6.8, 50.6, 7.4, 51.3)
    found = basemap.cities(box, 12)
    assert found[0].name in ("Köln", "Cologne")
    assert abs(found[0].lon - 6.95) < 0.02
    assert abs(found[0].lat - 50.93) < 0.02
    assert 900_000 < found[0].population < 1_150_000
    populations = [c.population for c in found]
    assert populations == sorted(populations, reverse=True)
    assert all(box.x0 <= c.lon <= box.x1 and box.y0 <= c.lat <= box.y1 for c in found)
    assert len(found) == 12
    assert basemap.cities(Bounds(-40, 30, -39, 31), 5) == []


def test_names_are_text_for_people() -> None:
    names = [c.name for c in basemap.cities(WORLD, 10**6)]
    assert len(names) > 40_000
    assert all(name and name.isprintable() for name in names)
