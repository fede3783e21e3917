"""What stands out: the area of half of everybody, and the busiest places."""

from __future__ import annotations

from itertools import combinations, pairwise

import numpy as np
import pytest

from dpheatmap.place.domain import Domain
from dpheatmap.render import basemap
from dpheatmap.render.content.clarity import clarity_of
from dpheatmap.render.content.highlights import area_of_half, busiest, nearest_name
from render.conftest import HARBOUR, KINDS, bell, blob, heat_of

SQUARE = Domain.unit(6)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("domain", [Domain.bbox(7, 46, 9, 60, depth=11), KINDS["image"], SQUARE], ids=lambda d: d.kind)
def test_half_of_everybody_is_in_the_smallest_area(domain: Domain, seed: int) -> None:
    finest = domain.cells(domain.depth)
    heat = heat_of(domain, np.random.default_rng(seed).exponential(size=(finest.rows, finest.columns)) ** 3)
    part, whole = area_of_half(heat)
    areas = np.broadcast_to(heat.pixel_areas[:, None], heat.values.shape).ravel()
    assert whole == pytest.approx(areas.sum())
    held, taken = 0.0, 0.0
    for k in np.argsort(-heat.density.ravel()):
        held, taken = held + heat.values.ravel()[k], taken + areas[k]
        if held >= 0.5:
            break
    assert part == pytest.approx(taken, rel=1e-6)


def test_half_of_an_even_map_is_in_half_of_it() -> None:
    part, whole = area_of_half(heat_of(SQUARE, np.ones((64, 64))))
    assert part / whole == pytest.approx(0.5, abs=1e-3)


def test_a_fine_map_has_the_area_of_a_coarse_one() -> None:
    fine = heat_of(Domain.unit(9), blob(Domain.unit(9)))
    assert area_of_half(fine)[0] == pytest.approx(2 * np.pi * np.log(2) * 0.1**2, rel=0.01), "a disk of a bell"


def hills(sigma: float = 0.02) -> np.ndarray:
    """Twelve hills of different heights."""
    y, x = (np.mgrid[0:64, 0:64] + 0.5) / 64
    at = [(0.12 + 0.25 * (k % 4), 0.2 + 0.3 * (k // 4)) for k in range(12)]
    heights = [1.0 + 0.5 * ((5 * k) % 12) for k in range(12)]
    found: np.ndarray = np.sum(
        [h * np.exp(-((x - a) ** 2 + (y - b) ** 2) / (2 * sigma**2)) for h, (a, b) in zip(heights, at, strict=True)],
        axis=0,
    )
    return found


def test_the_busiest_places_are_in_order_and_apart() -> None:
    values = hills()
    heat = heat_of(SQUARE, values, std=0.1 * values / values.sum(), sigma=0.02)
    spots = busiest(heat, clarity_of(heat))
    assert len(spots) == 10
    tops = [(spot.low + spot.high) / 2 for spot in spots]
    assert all(a > b for a, b in pairwise(tops))
    assert tops[0] == pytest.approx(heat.density.max())
    assert all(np.hypot(a.x - b.x, a.y - b.y) > 3 * 0.02 for a, b in combinations(spots, 2))
    for spot in spots:
        value = heat.density[int(spot.y * 64), int(spot.x * 64)]
        assert (spot.low, spot.high) == pytest.approx((0.7 * value, 1.3 * value)), "the range for all places at once"


def test_a_wide_hill_is_listed_once() -> None:
    heat = bell(SQUARE, wide=0.2, sigma=0.02)
    assert len(busiest(heat, clarity_of(heat))) == 1


def test_only_places_that_can_be_told_are_listed() -> None:
    values = hills()
    std = np.where(np.arange(64) < 32, 10.0, 0.01) * np.ones((64, 1)) * values / values.sum()
    heat = heat_of(SQUARE, values, std=std, sigma=0.02)
    spots = busiest(heat, clarity_of(heat))
    assert len(spots) == 6
    assert all(spot.x > 0.5 for spot in spots)
    assert busiest(heat, np.zeros((64, 64))) == ()


def test_what_is_painted_has_a_busiest_place() -> None:
    """Also where the highest pixel that can be told lies on the flank of one that can't."""
    clarity = np.where(np.arange(64) < 20, 4.0, 0.0) * np.ones((64, 1))
    heat = bell(SQUARE, wide=0.2)
    assert len(busiest(heat, clarity)) >= 1


def test_without_uncertainty_a_range_is_the_value() -> None:
    heat = heat_of(SQUARE, hills())
    first = busiest(heat, None)[0]
    assert first.low == first.high == pytest.approx(heat.density.max())


def test_names_are_those_of_the_nearest_towns() -> None:
    assert nearest_name(HARBOUR, -74.0, 40.72).startswith(("New York", "Manhattan"))
    lon, lat = -73.9, 40.9
    near = min(basemap.cities(HARBOUR.bounds, 10**6), key=lambda city: flat_distance(city, lon, lat))
    assert nearest_name(HARBOUR, lon, lat) == near.name
    assert nearest_name(KINDS["image"], 3.0, 3.0) == ""
    ocean = Domain.bbox(-40.0, 30.0, -39.5, 30.5)
    assert nearest_name(ocean, -39.8, 30.2) == ""


def flat_distance(city: basemap.City, lon: float, lat: float) -> float:
    return float(np.hypot((city.lon - lon) * np.cos(np.radians(lat)), city.lat - lat))
