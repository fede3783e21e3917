"""The heat on the interactive map in Chromium, opened from disk: where it is, and how it is painted."""

from __future__ import annotations

import base64
import io
from typing import Any

import numpy as np
import pytest
from PIL import Image

from dpheatmap.place.domain import Domain
from helpers.browser import Opened
from helpers.map_data import EDGES, LAND, NOTHING, steps_of
from helpers.open_maps import IMAGE, OCEAN, MakeData, OpenData

NEXT = 3  # how far a colour may be off: rounding, in the picture and on the screen


def rgb(colour: str) -> np.ndarray:
    return np.array(list(bytes.fromhex(colour[1:])))


def shown(opened: Opened, rows: int, columns: int) -> np.ndarray:
    """The colour on the screen in the middle of each of the heat's pixels."""
    screen = opened.pixels()
    found = np.empty((rows, columns, 3), dtype=np.int64)
    for row in range(rows):
        for column in range(columns):
            x, y = opened.screen_of(row, column)
            found[row, column] = screen[int(y), int(x)]
    return found


def values_of(data: dict[str, Any]) -> np.ndarray:
    """The values that ``make_data`` gives a map."""
    count = data["rows"] * data["columns"]
    order = np.random.default_rng(3).permutation(count).reshape(data["rows"], data["columns"])
    values: np.ndarray = 0.5 * 160.0 ** (order / (count - 1))
    return values


def clear_sight(opened: Opened) -> None:
    """Hide what lies on the map."""
    opened.page.evaluate(
        "document.querySelectorAll('.zoom, .credits, .maplibregl-ctrl-scale').forEach(e => e.remove())"
    )


@pytest.mark.parametrize("domain", [OCEAN, IMAGE, Domain.unit(4)], ids=["box", "image", "unit"])
@pytest.mark.parametrize(("width", "height", "scheme"), [(400, 760, "dark"), (1400, 900, "light")])
def test_every_cell_has_the_colour_of_its_band(
    make_data: MakeData, open_data: OpenData, domain: Domain, width: int, height: int, scheme: str
) -> None:
    data = make_data(domain)
    rows, columns = data["rows"], data["columns"]
    opened = open_data(data, width=width, height=height, scheme=scheme)
    clear_sight(opened)
    found = shown(opened, rows, columns)
    swatches = np.array([rgb(LAND[scheme]), *(rgb(swatch) for swatch in data[scheme]["swatches"])])
    wanted = swatches[np.searchsorted(EDGES, values_of(data), side="right")]
    assert np.abs(found - wanted).max() <= NEXT
    # The first row is on top and the first column on the left, and all of it is in sight.
    (x0, y0), (x1, y1) = opened.screen_of(0, 0), opened.screen_of(rows - 1, columns - 1)
    assert 0 < x0 < x1 < width
    assert 0 < y0 < y1 < height
    opened.check()


def test_smooth_maps_of_a_series_have_one_scale(make_data: MakeData, open_data: OpenData) -> None:
    found = []
    for highest in (10.0, 80.0):
        values = np.full((16, 24), 10.0)
        values[0, 0] = highest
        opened = open_data(make_data(IMAGE, values=values, relative=None, clarity=None, style="smooth", top=50.0))
        found.append(shown(opened, 16, 24)[8, 12])
        opened.check()
    assert np.abs(found[0] - found[1]).max() <= NEXT


def test_the_box_lies_at_its_longitudes_and_latitudes(make_data: MakeData, open_data: OpenData) -> None:
    """MapLibre's own projection puts the corners of the heat where the domain says they are."""
    opened = open_data(make_data(OCEAN))
    box = opened.page.locator(".stage").bounding_box()
    assert box is not None
    data = make_data(OCEAN)
    west, south, east, north = OCEAN.bounds
    for column, lon in ((-0.5, west), (data["columns"] - 0.5, east)):
        for row, lat in ((-0.5, north), (data["rows"] - 0.5, south)):
            point = opened.page.evaluate(f"dpheatmap.map.map.project([{lon}, {lat}])")
            assert opened.screen_of(row, column) == pytest.approx(  # type: ignore[arg-type]
                (box["x"] + point["x"], box["y"] + point["y"]), abs=0.05
            )


def land_in_the_west(fine: bool) -> dict[str, Any]:
    """A world of sea, and in a window, finer, land to the west of the ocean box's middle."""
    west, south, east, north = -41.0, 29.0, -38.0, 32.0
    ring = np.array([(west, south), (-39.5, south), (-39.5, north), (west, north), (west, south)])
    return NOTHING | {"window": [west, south, east, north], "fine": [[steps_of(ring, 10_000)]] if fine else None}


def test_water_lies_over_the_heat_again(make_data: MakeData, open_data: OpenData) -> None:
    data = make_data(OCEAN, values=np.full((8, 8), 30.0), relative=None, clarity=None, basemap=land_in_the_west(True))
    opened = open_data(data, width=1400, height=900)
    found = shown(opened, 8, 8)
    on_land = rgb(data["light"]["swatches"][4])
    heat, opacity = rgb(data["light"]["bands"][4]), data["light"]["opacity"][4]
    water = rgb("#D5E1E7")
    on_water = 0.7 * water + 0.3 * (opacity * heat + (1 - opacity) * water)
    assert np.abs(found[:, :4] - on_land).max() <= NEXT
    assert np.abs(found[:, 4:] - on_water).max() <= NEXT
    opened.check()


def test_a_coast_that_is_not_known_is_not_drawn(make_data: MakeData, open_data: OpenData) -> None:
    data = make_data(OCEAN, values=np.full((8, 8), 0.1), relative=None, clarity=None, basemap=land_in_the_west(False))
    opened = open_data(data)
    assert np.abs(shown(opened, 8, 8) - rgb(LAND["light"])).max() <= NEXT
    opened.check()


def test_what_can_not_be_told_is_bare_and_what_is_rough_is_hatched(make_data: MakeData, open_data: OpenData) -> None:
    clarity = np.repeat([[0.5, 1.5, 3.0]], 8, axis=0)
    data = make_data(OCEAN, values=np.full((8, 9), 30.0), clarity=clarity, relative=None)
    opened = open_data(data, width=1400, height=900)
    clear_sight(opened)
    screen = opened.pixels()

    def part(first: int, last: int) -> np.ndarray:
        (x0, y0), (x1, y1) = opened.screen_of(1, first), opened.screen_of(6, last)
        found: np.ndarray = screen[int(y0) : int(y1), int(x0) : int(x1)]
        return found

    land, painted = rgb(LAND["light"]), rgb(data["light"]["swatches"][4])
    assert np.abs(part(0, 1) - land).max() <= NEXT
    assert np.abs(part(7, 8) - painted).max() <= NEXT
    rough = screen[200:700, int(opened.screen_of(4, 4)[0])]
    assert 0.3 < (np.abs(rough - painted).max(axis=1) > 60).mean() < 0.6
    assert (np.abs(rough - land).max(axis=1) < 30).any()
    opened.check()


def test_differences_have_two_sides_and_are_bare_between(make_data: MakeData, open_data: OpenData) -> None:
    values = np.repeat([[-30.0, -1.5, 0.0, 1.5, 30.0]], 5, axis=0)
    clarity = np.repeat([[3.0, 3.0, 0.1, 3.0, 0.5]], 5, axis=0)
    data = make_data(OCEAN, values=values, clarity=np.repeat(clarity, 3, axis=1), relative=None, signed=True)
    opened = open_data(data)
    clear_sight(opened)
    found = shown(opened, 5, 5)[2]
    light = data["light"]
    wanted = [light["fewerSwatches"][3], light["fewerSwatches"][0], LAND["light"], light["swatches"][0], LAND["light"]]
    assert np.abs(found - [rgb(colour) for colour in wanted]).max() <= NEXT
    told = opened.page.locator(".bands li").all_inner_texts()
    assert [text.split("\n")[0] for text in told] == [
        "−10 and below",
        "−10 to −5",
        "−5 to −2",
        "−2 to −1",
        "can\u2019t tell",
        "+1 to +2",
        "+2 to +5",
        "+5 to +10",
        "+10 and more",
    ]
    assert opened.page.locator(".legend-sides").inner_text().split("\n") == ["← Fewer at night", "More at night →"]
    opened.check()


def test_how_sure_and_a_gradient_can_be_shown(make_data: MakeData, open_data: OpenData) -> None:
    sure = np.repeat([[0.5, 1.5, 3.0, 6.0, 20.0]], 5, axis=0)
    data = make_data(OCEAN, values=np.full((5, 5), 30.0), clarity=sure, relative=1 / sure)
    opened = open_data(data)
    clear_sight(opened)
    opened.page.locator("summary", has_text="Settings").click()
    before = shown(opened, 5, 5)[2]
    opened.page.get_by_label("Show").select_option("sure")
    opened.settle()
    assert opened.page.locator(".tick").all_inner_texts() == ["can\u2019t tell", "100 %", "50 %", "25 %", "10 %"]
    assert (np.diff(shown(opened, 5, 5)[2].sum(axis=1)) < -20).all()  # darker where it is surer
    opened.page.get_by_label("Show").select_option("heat")
    opened.page.get_by_label("Smooth instead of bands").check()
    opened.settle()
    assert np.abs(shown(opened, 5, 5)[2, 4] - before[4]).max() > NEXT  # at the top of the gradient
    opened.check()


def test_heat_stays_sharp_when_one_comes_near(make_data: MakeData, open_data: OpenData) -> None:
    values = np.repeat([[0.1] * 8 + [30.0] * 8], 16, axis=0)
    opened = open_data(make_data(OCEAN, values=values, clarity=None, relative=None))
    opened.page.evaluate("dpheatmap.map.map.jumpTo({ center: [-39.5, 30.5], zoom: 13 })")
    opened.settle()
    line = opened.pixels()[350, 400:960].sum(axis=1)
    assert (np.abs(np.diff(line)) > 20).sum() <= 3  # the edge is as wide as a pixel or two
    assert abs(line[0] - line[-1]) > 200
    opened.check()


def test_a_background_lies_under_the_heat(make_data: MakeData, open_data: OpenData) -> None:
    photo = np.full((160, 240, 3), 255, dtype=np.uint8)
    photo[:80, :120] = (0, 90, 200)
    packed = io.BytesIO()
    Image.fromarray(photo).save(packed, format="PNG")
    picture = f"data:image/png;base64,{base64.b64encode(packed.getvalue()).decode()}"
    opened = open_data(make_data(IMAGE, values=np.full((16, 24), 0.1), background=picture))
    found = shown(opened, 16, 24)
    assert np.abs(found[2, 2] - (0, 90, 200)).max() <= NEXT
    for place in ((2, 20), (13, 2), (13, 20)):
        assert np.abs(found[place] - 255).max() <= NEXT
    opened.check()


def test_a_map_without_signal_says_so_and_shows_no_peak(make_data: MakeData, open_data: OpenData) -> None:
    nothing = {"heading": "No place stands out from the noise", "text": "There were too few people."}
    opened = open_data(make_data(OCEAN, nothing=nothing, edges=[]), width=1400, height=900)
    card = opened.page.locator(".card")
    assert card.inner_text().split("\n")[0] == nothing["heading"]
    assert opened.page.locator(".bands").count() == 0
    box = card.bounding_box()
    area = opened.page.locator(".area").bounding_box()
    assert box is not None
    assert area is not None
    assert box["x"] + box["width"] / 2 == pytest.approx(area["x"] + area["width"] / 2, abs=1)
    screen = opened.pixels()[40:300, 500:1200]
    assert np.abs(screen - screen.mean(axis=2, keepdims=True)).max() < 12  # lines on paper, no colour
    assert screen.std() > 5
    opened.page.mouse.move(*opened.screen_of(0, 0))
    opened.check()
