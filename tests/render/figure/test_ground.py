"""The ground under the heat: coast, names and the scale bar, where they are."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpheatmap.place.domain import Domain
from dpheatmap.render import basemap
from dpheatmap.render.basemap.ground import Ground, Name, ground_of
from dpheatmap.render.content.look import Look
from dpheatmap.render.figure.heat_figure import figure_of
from dpheatmap.render.figure.page_layout import SCALE
from dpheatmap.render.figure.scale_bar import round_length, scale_bar_of
from render.conftest import CITY, HARBOUR, PITCH, SCREEN, bell
from render.figure.record import lies_in, record, touch

GERMANY = Domain.bbox(5, 50, 9, 53, depth=10)


def drawn(domain: Domain, width: int = 1000, height: int = 1000, **options: object) -> Ground:
    return ground_of(domain, width, height, lambda name, size: 0.55 * size * len(name), **options)  # type: ignore[arg-type]


def area_of(name: Name) -> tuple[float, float, float, float]:
    half = 0.55 * name.size * len(name.text) / 2
    return name.x - half, name.baseline - 0.8 * name.size, name.x + half, name.baseline + 0.2 * name.size


def test_names_are_where_their_towns_are() -> None:
    found = {name.text: name for name in drawn(HARBOUR).names}
    b = HARBOUR.bounds
    known = {city.name: city for city in reversed(basemap.cities(b, 300))}
    assert found.keys() <= known.keys()
    for text, name in found.items():
        assert name.x == pytest.approx(1000 * (known[text].lon - b.x0) / (b.x1 - b.x0), abs=1e-6)
        y = 1000 * (b.y1 - known[text].lat) / (b.y1 - b.y0)
        assert name.baseline - 0.35 * name.size == pytest.approx(y, abs=10)  # nearly straight here
        assert name.size == (15 if known[text].population > 1.4e6 else 13 if known[text].population > 2e5 else 11.5)


@pytest.mark.parametrize("domain", [GERMANY, HARBOUR, Domain.bbox(-180, -70, 180, 75, depth=6)], ids=str)
@pytest.mark.parametrize("scale", [1.0, 2.0])
def test_names_touch_neither_each_other_nor_the_edge_nor_what_is_taken(domain: Domain, scale: float) -> None:
    taken = (200.0, 200.0, 700.0, 500.0)
    names = drawn(domain, 900, 700, scale=scale, taken=[taken]).names
    assert 3 <= len(names) <= 16
    areas = [tuple(scale * side for side in area_of(name)) for name in names]
    assert all(lies_in(area, (0, 0, 900, 700)) for area in areas)  # type: ignore[arg-type]
    assert not any(touch(area, taken) for area in areas)  # type: ignore[arg-type]
    assert not any(touch(one, other) for one, other in combinations(areas, 2))  # type: ignore[arg-type]


def test_the_largest_towns_come_first() -> None:
    assert {name.text for name in drawn(GERMANY).names} & {"Köln", "Cologne"}
    assert len(drawn(GERMANY).names) == 16


def test_the_coast_is_where_it_is() -> None:
    """Sandy Hook's tip lies near 74.01 W, 40.48 N: a coast passes by, within the basemap's detail."""
    b = HARBOUR.bounds
    points = np.concatenate(drawn(HARBOUR).coast)
    hook = [1000 * (-74.01 - b.x0) / (b.x1 - b.x0), 1000 * (b.y1 - 40.48) / (b.y1 - b.y0)]
    assert np.hypot(*(points - hook).T).min() < 10
    far = [1000 * (-72.8 - b.x0) / (b.x1 - b.x0), 1000 * (b.y1 - 40.3) / (b.y1 - b.y0)]  # the open Atlantic
    assert np.hypot(*(points - far).T).min() > 100


def test_a_small_place_gets_no_coast_that_is_off() -> None:
    """The lines are those of a map of 1:10 million; on a map below 0.3 degrees they would be wrong to the eye."""
    ground = drawn(Domain.bbox(-74.1, 40.6, -73.9, 40.8))
    assert (ground.land, ground.coast, ground.borders) == (None, [], [])
    assert ground.credits == ("GeoNames CC BY 4.0",)
    assert drawn(Domain.bbox(-74.5, 40.4, -73.7, 40.9)).land is not None


def test_the_world_has_no_line_at_its_edge() -> None:
    for line in drawn(Domain.bbox(-180, -85.05, 180, 85.05, depth=6)).coast:
        for edge in (0, 1000):
            along = (np.abs(line[:-1, 0] - edge) < 0.5) & (np.abs(line[1:, 0] - edge) < 0.5)
            assert not along.any()


def test_credits_are_told_for_what_is_drawn() -> None:
    sea = Domain.bbox(-40.0, 30.0, -38.0, 32.0, depth=11)
    names = "GeoNames CC BY 4.0"
    told = {HARBOUR: f"Map: Natural Earth, {names}.", CITY: f"Map: {names}.", sea: "Map: Natural Earth."}
    for domain, credits in told.items():
        assert figure_of(bell(domain)).layout.credits == credits
        assert figure_of(bell(domain), Look(basemap=False)).layout.credits == ""
    assert figure_of(bell(SCREEN)).layout.credits == ""
    small = " ".join(line.text for line in figure_of(bell(HARBOUR)).layout.small_print)
    assert "Map: Natural Earth, GeoNames CC BY 4.0. dpheatmap, 31 Jan 2026." in small


def test_the_basemap_is_drawn_and_can_be_left_out() -> None:
    with_it, without = (record(figure_of(bell(HARBOUR), Look(basemap=wanted))) for wanted in (True, False))
    assert len([text for text in with_it.texts if text.halo]) > 5
    assert len([text for text in without.texts if text.halo]) == 1, "the scale bar"
    assert sum(len(lines) for lines, _, _ in with_it.strokes) > sum(len(lines) for lines, _, _ in without.strokes) + 5


# Scale bars


@given(most=st.floats(1e-6, 1e9))
def test_lengths_are_round(most: float) -> None:
    length = round_length(most)
    assert length <= most < 2.51 * length
    assert f"{length:.3e}"[:5] in ("1.000", "2.000", "5.000")


def test_a_scale_bar_has_its_length_on_the_ground() -> None:
    domain = Domain.bbox(-74.1, 40.6, -73.8, 40.9)
    bar = scale_bar_of(domain, 1440)
    assert bar is not None
    assert bar.label == "2 km"
    width = (domain.bounds.x1 - domain.bounds.x0) * 111_319.49 * np.cos(np.radians(40.75))
    assert bar.length == pytest.approx(2000 / width * 720, rel=0.001)
    south = scale_bar_of(Domain.bbox(-70, -60, -65, -20, depth=8), 1440)
    assert south is not None
    assert south.label.endswith("°S")
    assert scale_bar_of(SCREEN, 1440) is None


@pytest.mark.parametrize("domain", [HARBOUR, CITY, GERMANY, Domain.bbox(-180, -80, 180, 80, depth=5)], ids=str)
def test_scale_bars_are_short_and_lie_in_the_corner(domain: Domain) -> None:
    figure = figure_of(bell(domain))
    bar, box = figure.scale_bar, figure.layout.map
    assert bar is not None
    assert 35 <= bar.length <= 90
    drawing = record(figure)
    (line,), *_ = [lines for lines, _, _ in reversed(drawing.strokes) if len(lines) == 1 and len(lines[0]) == 4]
    assert line[2, 0] - line[1, 0] == pytest.approx(SCALE * bar.length)
    assert line[:, 0].min() < box.left + 50
    assert line[:, 1].max() > box.bottom - 50


@pytest.mark.parametrize("domain", [PITCH, Domain.image(680, 1050), Domain.unit(5)], ids=str)
def test_a_pitch_has_its_metres(domain: Domain) -> None:
    bar = scale_bar_of(domain, 1440, "pitch")
    assert bar is not None
    upright = domain.extent.y1 > domain.extent.x1
    assert bar.label == ("5 m" if upright else "10 m")
    assert bar.length == pytest.approx(5 * 720 / 68 if upright else 10 * 720 / 105)
