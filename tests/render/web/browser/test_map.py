"""The interactive map in Chromium, opened from disk."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import expect

from dpheatmap.heatmap.heatmap import Heatmap
from dpheatmap.place.domain import Domain
from dpheatmap.render.figure.colour import colours, greys
from dpheatmap.render.web.picture import Picture
from helpers.browser import Opened, pointed

MakeHeat = Callable[..., Heatmap]
MakePicture = Callable[..., Picture]
OCEAN = Domain.bbox(-40.0, 30.0, -39.0, 31.0, depth=12)  # no coast, no names
CAPE = Domain.bbox(-9.7, 42.7, -8.9, 43.1, depth=12)  # Cape Finisterre
IMAGE = Domain.image(24, 16)
GREY_OUT = "Grey out what is within the noise"
NEXT = 6  # how far a colour may be off: a value near the edge between two of 256 steps may fall on either side


def choose(opened: Opened, name: str, value: str) -> None:
    opened.page.get_by_label(name).select_option(value)
    opened.settle()


def opaque(opened: Opened) -> None:
    """Show the heat alone, with nothing shining through, and the settings out of its way."""
    opened.page.get_by_label("Opacity").fill("1")
    opened.page.locator("details.settings").evaluate("element => element.open = false")
    opened.page.locator(".panel").evaluate("element => element.style.visibility = 'hidden'")
    opened.settle()


def shown(opened: Opened, rows: int, columns: int) -> np.ndarray:
    """The colour on the screen in the middle of each of the heat's pixels."""
    screen = opened.pixels()
    found = np.empty((rows, columns, 3), dtype=np.int64)
    for row in range(rows):
        for column in range(columns):
            x, y = opened.screen_of(row, column)
            found[row, column] = screen[int(y), int(x)]
    return found


@pytest.mark.parametrize("domain", [OCEAN, IMAGE, Domain.unit(4)], ids=["box", "image", "unit"])
@pytest.mark.parametrize(("width", "height", "scheme"), [(400, 760, "dark"), (1400, 900, "light")])
def test_the_heat_is_where_it_should_be(
    make_picture: MakePicture, open_picture: Callable[..., Opened], domain: Domain, width: int, height: int, scheme: str
) -> None:
    picture = make_picture(domain)
    rows, columns = picture.values.shape
    opened = open_picture(picture, width=width, height=height, scheme=scheme)
    opened.page.locator("details.settings").evaluate("element => element.open = true")
    opened.page.get_by_label(GREY_OUT).uncheck()
    opaque(opened)
    found = shown(opened, rows, columns)
    wanted = colours(picture.values / picture.values.max()).astype(np.int64)
    assert np.abs(found - wanted).max() <= NEXT
    # The first row is on top and the first column on the left, and all of it is in sight.
    (x0, y0), (x1, y1) = opened.screen_of(0, 0), opened.screen_of(rows - 1, columns - 1)
    assert 0 < x0 < x1 < width
    assert 0 < y0 < y1 < height
    opened.check()


def test_the_box_lies_at_its_longitudes_and_latitudes(
    make_heat: MakeHeat, make_picture: MakePicture, open_picture: Callable[..., Opened]
) -> None:
    """MapLibre's own projection puts the middles of pixels where the heatmap says they are."""
    heat = make_heat(CAPE)
    opened = open_picture(make_picture(CAPE))
    for row, column in ((0, 0), (len(heat.y) - 1, len(heat.x) - 1), (3, 1)):
        point = opened.page.evaluate(f"dpheatmap.map.map.project([{heat.x[column]}, {heat.y[row]}])")
        assert opened.screen_of(row, column) == pytest.approx((point["x"], point["y"]), abs=0.05)


def test_coast_and_sea_are_where_they_should_be(make_picture: MakePicture, open_picture: Callable[..., Opened]) -> None:
    opened = open_picture(make_picture(CAPE), width=1400, height=900)
    opened.page.get_by_label("Opacity").fill("0")
    opened.settle()
    screen = opened.pixels()

    def colour_at(lon: float, lat: float) -> list[int]:
        point = opened.page.evaluate(f"dpheatmap.map.map.project([{lon}, {lat}])")
        found: list[int] = screen[int(point["y"]), int(point["x"])].tolist()
        return found

    sea, land = [213, 223, 232], [246, 244, 239]
    assert colour_at(-9.5, 42.9) == colour_at(-9.35, 42.75) == sea
    assert colour_at(-9.0, 42.97) == colour_at(-8.95, 43.06) == land
    assert opened.page.locator(".credits").inner_text() == "Natural Earth · GeoNames, CC BY 4.0 · dpheatmap"
    opened.check()


@pytest.mark.parametrize("domain", [OCEAN, IMAGE])
def test_hover_tells_value_uncertainty_and_place(
    make_picture: MakePicture, open_picture: Callable[..., Opened], domain: Domain
) -> None:
    picture = make_picture(domain)
    assert picture.std is not None
    rows, columns = picture.values.shape
    opened = open_picture(picture)
    tip = opened.page.locator(".tip")
    assert not tip.is_visible()
    for row, column in ((0, 0), (rows - 1, 0), (rows // 2, columns // 2)):
        text = pointed(opened.page, *opened.screen_of(row, column))
        value, std = (float(number.replace(",", "")) for number in re.findall(r"[\d.,]*\d", text)[:2])
        assert value == pytest.approx(picture.values[row, column], rel=5e-3, abs=0.005 * picture.std[row, column])
        assert float(f"{value:.3g}") == pytest.approx(picture.values[row, column], rel=6e-3)
        assert std == pytest.approx(picture.std[row, column], rel=0.06)
        assert picture.unit in text
        assert ("within the noise" in text) == (row >= rows / 2)
    opened.page.mouse.move(5, 300)
    expect(tip).to_be_hidden()
    opened.check()


def test_standard_deviation_and_noise_can_be_shown(
    make_picture: MakePicture, open_picture: Callable[..., Opened]
) -> None:
    picture = make_picture(OCEAN)
    assert picture.std is not None
    rows, columns = picture.values.shape
    opened = open_picture(picture)
    legend = opened.page.locator(".legend-name")
    assert legend.inner_text() == f"{picture.unit}, linear scale; grey: within the noise"
    choose(opened, "Show", "std")
    assert legend.inner_text() == f"Standard deviation, {picture.unit}, linear scale; grey: within the noise"
    opaque(opened)
    found = shown(opened, rows, columns)
    at = picture.std / picture.std.max()
    noise = np.arange(rows) >= rows / 2
    assert np.abs(found - colours(at).astype(np.int64))[~noise].max() <= NEXT
    assert np.abs(found - greys(at).astype(np.int64))[noise].max() <= NEXT
    opened.check()


def test_what_is_within_the_noise_is_grey_left_out_or_coloured(
    make_picture: MakePicture, open_picture: Callable[..., Opened]
) -> None:
    opened = open_picture(picture := make_picture(OCEAN))
    legend = opened.page.locator(".legend-name")
    choose(opened, "Colours", "2")  # greys themselves
    assert legend.inner_text() == f"{picture.unit}, linear scale; left out: within the noise"
    opened.page.get_by_label(GREY_OUT).uncheck()
    assert legend.inner_text() == f"{picture.unit}, linear scale"
    opened.page.get_by_label(GREY_OUT).check()
    choose(opened, "Colours", "0")
    assert legend.inner_text() == f"{picture.unit}, linear scale; grey: within the noise"
    opened.page.get_by_label("Fade out where it is cold").check()
    assert legend.inner_text() == f"{picture.unit}, linear scale; left out: within the noise"
    opened.check()


def test_scale_and_colours_can_be_chosen(make_picture: MakePicture, open_picture: Callable[..., Opened]) -> None:
    picture = make_picture(OCEAN)
    opened = open_picture(picture)
    choose(opened, "Scale", "log")
    choose(opened, "Colours", "1")
    opened.page.get_by_label(GREY_OUT).uncheck()
    assert opened.page.locator(".legend-name").inner_text() == f"{picture.unit}, logarithmic scale"
    opaque(opened)
    at = 1 + np.log10(picture.values / picture.values.max()) / 3
    wanted = colours(at, "ice").astype(np.int64)
    assert np.abs(shown(opened, *picture.values.shape) - wanted).max() <= NEXT
    opened.check()


def test_dark_and_light_follow_the_device_and_the_reader(
    make_picture: MakePicture, open_picture: Callable[..., Opened]
) -> None:
    opened = open_picture(make_picture(OCEAN), scheme="dark")

    def paper() -> tuple[str, list[int]]:
        panel = opened.page.locator(".panel").evaluate("element => getComputedStyle(element).backgroundColor")
        corner: list[int] = opened.pixels()[500, 8].tolist()
        return panel, corner

    dark, light = ("rgb(26, 29, 36)", [16, 22, 29]), ("rgb(255, 255, 255)", [213, 223, 232])
    assert paper() == dark
    choose(opened, "Theme", "light")
    assert paper() == light
    choose(opened, "Theme", "auto")
    assert paper() == dark
    opened.page.emulate_media(color_scheme="light")
    opened.settle()
    assert paper() == light
    opened.check()


def test_the_keyboard_does_everything(make_picture: MakePicture, open_picture: Callable[..., Opened]) -> None:
    opened = open_picture(make_picture(OCEAN))
    page = opened.page
    seen = []
    for _ in range(16):
        page.keyboard.press("Tab")
        name = "e.getAttribute('aria-label') || e.labels?.[0]?.textContent || e.innerText"
        seen.append(page.evaluate(f"(e => {name})(document.activeElement)"))
    wanted = [
        "Where people are. Arrow keys move the map, plus and minus zoom.",
        "Zoom in",
        "Zoom out",
        "Settings",
        "Show",
    ]
    wanted += [GREY_OUT, "Colours", "Scale", "Fade out where it is cold", "Opacity", "Theme"]
    wanted += ["Show all", "Save PNG", "Save GeoJSON", "Privacy label"]
    assert [name for name in wanted if not any(str(one).startswith(name) for one in seen)] == []
    page.get_by_role("region", name="Map").focus()
    status = page.get_by_role("status")
    page.keyboard.press("ArrowRight")
    expect(status).to_contain_text("% of people per")
    first = status.inner_text()
    assert re.search(r"at \d+\.\d+° N, \d+\.\d+° W", first)
    page.keyboard.press("ArrowUp")
    expect(status).not_to_have_text(first)
    expect(page.locator(".cross")).to_be_visible()
    opened.check()


def test_the_privacy_label_opens_and_closes(make_picture: MakePicture, open_picture: Callable[..., Opened]) -> None:
    picture = make_picture(OCEAN)
    opened = open_picture(picture, width=400, height=700)
    button = opened.page.get_by_role("button", name="Privacy label")
    dialog = opened.page.get_by_role("dialog", name="What this map promises")
    assert not dialog.is_visible()
    button.press("Enter")
    expect(dialog).to_be_visible()
    text = dialog.inner_text()
    for words in picture.label.values():
        assert words in text
    box = dialog.bounding_box()
    assert box is not None
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= 400
    opened.page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    expect(button).to_be_focused()
    opened.check()


def test_files_can_be_taken_away(
    make_picture: MakePicture, open_picture: Callable[..., Opened], tmp_path: Path
) -> None:
    picture = make_picture(OCEAN)
    opened = open_picture(picture)
    files = {}
    for name in ("Save PNG", "Save GeoJSON"):
        with opened.page.expect_download() as waiting:
            opened.page.get_by_role("button", name=name).click()
        files[name] = tmp_path / waiting.value.suggested_filename
        waiting.value.save_as(files[name])
    image = Image.open(files["Save PNG"])
    assert image.width == 1000
    assert image.height > 800
    top = colours([1.0])[0].astype(np.int64)
    blend = 0.85 * top + 0.15 * np.array([213, 223, 232])
    distance = np.abs(np.asarray(image.convert("RGB"), dtype=np.int64) - blend).max(axis=2)
    assert distance.min() <= 3
    table = json.loads(files["Save GeoJSON"].read_text())
    assert table["unit"] == picture.unit
    values = [feature["properties"]["value"] for feature in table["features"]]
    assert values == pytest.approx(picture.values.ravel().tolist(), rel=1e-3)
    corners = np.array([point for feature in table["features"] for point in feature["geometry"]["coordinates"][0]])
    bounds = OCEAN.bounds
    assert [*corners.min(axis=0), *corners.max(axis=0)] == pytest.approx(list(bounds), abs=1e-6)
    first = np.array(table["features"][0]["geometry"]["coordinates"][0])
    assert first.max(axis=0)[1] == pytest.approx(bounds.y1, abs=1e-6)  # row 0 is the north
    opened.check()


@pytest.mark.parametrize(("width", "height"), [(400, 760), (1400, 900)])
@pytest.mark.parametrize("top", [1e-4, 3.7, 123456.0])
def test_nothing_is_cut_or_overlaps(
    make_picture: MakePicture, open_picture: Callable[..., Opened], width: int, height: int, top: float
) -> None:
    picture = make_picture(CAPE, warnings=("NOT PRIVATE: made with a seed",))
    factor = top / picture.values.max()
    assert picture.std is not None
    picture = replace(picture, values=picture.values * factor, std=picture.std * factor, top=top)
    opened = open_picture(picture, width=width, height=height)
    page = opened.page
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    for axis in ("linear", "log"):
        page.locator("details.settings").evaluate("element => element.open = true")
        choose(opened, "Scale", axis)
        boxes = page.locator(".legend-tick").evaluate_all(
            "all => all.map(e => e.getBoundingClientRect()).map(r => [r.left, r.right])"
        )
        assert len(boxes) >= 2
        assert all(left >= 0 and right <= width for left, right in boxes)
        assert all(a[1] <= b[0] for a, b in pairwise(boxes))
    panel, credits = (page.locator(name).bounding_box() for name in (".panel", ".credits"))
    assert panel is not None
    assert credits is not None
    assert panel["x"] >= 0
    assert panel["x"] + panel["width"] <= width
    assert panel["y"] + panel["height"] <= height
    assert credits["y"] + credits["height"] <= height + 1
    cut = page.locator(".panel").evaluate("e => e.scrollWidth > e.clientWidth")
    assert not cut
    opened.check()


def test_a_background_lies_under_the_heat(
    make_picture: MakePicture, open_picture: Callable[..., Opened], tmp_path: Path
) -> None:
    photo = np.full((160, 240, 3), 255, dtype=np.uint8)
    photo[:80, :120] = (0, 90, 200)
    Image.fromarray(photo).save(tmp_path / "photo.png")
    opened = open_picture(make_picture(IMAGE), background=tmp_path / "photo.png")
    assert opened.page.get_by_label("Fade out where it is cold").is_checked()
    opened.page.get_by_label("Opacity").fill("0")
    opened.settle()
    found = shown(opened, 16, 24)
    # Most of the picture's own colour is taken out, so that colour means heat.
    assert np.abs(found[2, 2] - (49, 81, 119)).max() <= 12
    for place in ((2, 20), (13, 2), (13, 20)):
        assert np.abs(found[place] - 255).max() <= 12
    opened.check()


def test_a_map_of_the_world_and_one_of_a_garden(make_picture: MakePicture, open_picture: Callable[..., Opened]) -> None:
    for domain in (Domain.bbox(-180, -85, 180, 85, depth=4), Domain.bbox(7.0, 50.0, 7.0002, 50.0001, depth=24)):
        opened = open_picture(make_picture(domain))
        assert opened.page.locator(".maplibregl-ctrl-scale").inner_text().endswith(("km", "m"))
        opened.check()


@pytest.mark.parametrize(("width", "height"), [(360, 640), (900, 500)])
def test_the_scale_bar_covers_no_name_and_is_as_long_as_it_says(
    make_picture: MakePicture, open_picture: Callable[..., Opened], width: int, height: int
) -> None:
    opened = open_picture(make_picture(OCEAN), width=width, height=height)
    lengths = []
    for zoom in (9, 12.3):
        opened.page.evaluate(f"dpheatmap.map.map.jumpTo({{ center: [-39.5, 30.5], zoom: {zoom} }})")
        opened.settle()
        bar, panel = (opened.page.locator(name).bounding_box() for name in (".maplibregl-ctrl-scale", ".panel"))
        assert bar is not None
        assert panel is not None
        assert panel["x"] <= bar["x"] < bar["x"] + bar["width"] <= panel["x"] + panel["width"]
        assert panel["y"] <= bar["y"] < bar["y"] + bar["height"] <= panel["y"] + panel["height"]
        number, unit = opened.page.locator(".maplibregl-ctrl-scale").inner_text().split()
        lengths.append(float(number) * {"km": 1000, "m": 1}[unit])
        pixel = opened.page.evaluate(
            f"""(map => map.unproject([0, {height / 2}]).distanceTo(map.unproject([1, {height / 2}])))(
                dpheatmap.map.map)"""
        )
        assert bar["width"] * pixel == pytest.approx(lengths[-1], rel=0.02)
    assert lengths[0] > 5 * lengths[1]
    opened.check()


def test_land_far_around_can_be_seen(make_picture: MakePicture, open_picture: Callable[..., Opened]) -> None:
    """Coarse as it is there: islands of the Adriatic, seen from Bern, once were taken for inland seas of others."""
    opened = open_picture(make_picture(Domain.bbox(7.3, 46.9, 7.5, 47.02, depth=12)))
    for zoom in (5, 6, 7):
        opened.page.evaluate(
            f"""new Promise(done => {{
              dpheatmap.map.map.once("idle", done);
              dpheatmap.map.map.jumpTo({{ center: [4.5, 45.5], zoom: {zoom} }});
            }})"""
        )
    opened.check()
