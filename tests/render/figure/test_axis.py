from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpheatmap.place import projection
from dpheatmap.place.domain import Domain
from dpheatmap.render.figure.axis import round_length, ticks, ticks_across, ticks_down


def room(label: str) -> float:
    return 12.0 * len(label)


def labels(found: list) -> list[str]:  # type: ignore[type-arg]
    return [tick.label for tick in found]


def test_degrees() -> None:
    city = Domain.bbox(-74.1, 40.6, -73.8, 40.9, resolution=50)
    assert labels(ticks_across(city, 1000, room)) == ["74.1°W", "74.0°W", "73.9°W", "73.8°W"]
    assert labels(ticks_down(city, 1000, room)) == ["40.6°N", "40.7°N", "40.8°N", "40.9°N"]


def test_the_world() -> None:
    world = Domain.bbox(-180, -85.05, 180, 85.05, depth=4)
    assert labels(ticks_across(world, 1000, room)) == ["180°", "90°W", "0°", "90°E", "180°"]
    assert labels(ticks_down(world, 1000, room)) == ["60°S", "30°S", "0°", "30°N", "60°N"]


def test_latitudes_lie_where_mercator_puts_them() -> None:
    europe = Domain.bbox(-12, 34, 35, 70)
    finest = europe.cells(europe.depth)
    for at, label in ticks_down(europe, 1000, room):
        row = (finest.y0 + at / 1000 * finest.rows) / 2**europe.depth
        assert f"{projection.latitude_of_row(row):.0f}°N" == label
        assert projection.latitude_of_row(row) == pytest.approx(float(label[:-2]))


def test_images_and_squares() -> None:
    image = Domain.image(1920, 1080)
    assert ticks_across(image, 960, room) == [(0, "0"), (250, "500"), (500, "1,000"), (750, "1,500")]
    assert ticks_down(Domain.unit(), 500, room)[-1] == (500, "1.0")


@given(
    low=st.floats(-1e6, 1e6),
    span=st.floats(1e-4, 1e9),
    length=st.floats(20, 2000),
)
def test_labels_never_crowd(low: float, span: float, length: float) -> None:
    found = ticks(low, low + span, place=lambda value: length * (value - low) / span, room=room)
    assert 0 <= len(found) <= 6
    assert all(-1e-3 * length <= tick.at <= 1.001 * length for tick in found)
    assert all(b.at - a.at >= (room(a.label) + room(b.label)) / 2 for a, b in pairwise(found))
    assert len(set(labels(found))) == len(found)


@given(west=st.floats(-179, 170), south=st.floats(-80, 75), width=st.floats(1e-4, 9), height=st.floats(1e-4, 9))
def test_every_box_has_ticks(west: float, south: float, width: float, height: float) -> None:
    domain = Domain.bbox(west, south, west + width, south + height)
    for found in (ticks_across(domain, 1000, room), ticks_down(domain, 1000, room)):
        assert 1 <= len(found) <= 6


@given(st.floats(1e-3, 1e8))
def test_a_scale_bar_is_round_and_fills_its_place(most: float) -> None:
    length = round_length(most)
    assert 0.3999 * most <= length <= most
    assert f"{length:e}"[0] in "125"
    assert np.isclose(float(f"{length:.0e}"), length)
