"""What is around the heat on the interactive map in Chromium, opened from disk: words, layouts, controls, files."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import Locator, expect

from dpheatmap.place.domain import Domain
from dpheatmap.render.web.layers import deflate
from helpers.browser import Opened, pointed
from helpers.map_data import NOTHING
from helpers.visits import AXE

MakeData = Callable[..., dict[str, Any]]
OpenData = Callable[..., Opened]
Room = dict[str, float]
OCEAN = Domain.bbox(-40.0, 30.0, -39.0, 31.0, depth=12)
IMAGE = Domain.image(24, 16)
WINDOW = [-43.0, 27.0, -36.0, 34.0]
CITIES = [["Largehaven", -39.5, 30.5, 2_000_000], ["Smallhaven", -39.75, 30.75, 3_000], ["Açores", -28.0, 38.5, 900]]
NAMED = NOTHING | {"window": WINDOW, "cities": CITIES}
LONG = [
    {"heading": f"Part {i}", "text": "A promise in plain words, and a-very-long-name-of-a-file.parquet. " * 6}
    for i in range(9)
]


def room(part: Locator) -> Room:
    """Where a part is on the screen."""
    box = part.bounding_box()
    assert box is not None
    return {
        "x": box["x"],
        "y": box["y"],
        "width": box["width"],
        "height": box["height"],
        "right": box["x"] + box["width"],
        "bottom": box["y"] + box["height"],
    }


def apart(a: Room, b: Room) -> bool:
    """Whether two parts cover nothing of each other."""
    return (
        a["right"] <= b["x"] + 1 or b["right"] <= a["x"] + 1 or a["bottom"] <= b["y"] + 1 or b["bottom"] <= a["y"] + 1
    )


def judge(opened: Opened) -> None:
    """axe-core finds no serious fault, and nothing is wider than the window."""
    opened.page.evaluate(AXE.read_text())
    found = opened.page.evaluate("axe.run().then(found => found.violations)")
    serious = [fault for fault in found if fault["impact"] in ("serious", "critical")]
    assert serious == [], json.dumps([(f["id"], [n["html"] for n in f["nodes"]]) for f in serious], indent=1)
    assert opened.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert opened.page.evaluate("(e => e.scrollWidth <= e.clientWidth)(document.getElementById('dpheatmap'))")


def heat_is_in_sight(opened: Opened, rows: int, columns: int) -> None:
    """All of the heat is on the map, and no part lies over the map but small ones."""
    area = room(opened.page.locator(".area"))
    for row, column in ((0, 0), (rows - 1, columns - 1)):
        x, y = opened.screen_of(row, column)
        assert area["x"] <= x <= area["right"]
        assert area["y"] <= y <= area["bottom"]
    for name in ("header", ".legend", ".promise"):
        assert apart(area, room(opened.page.locator(name))), name


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_on_a_large_screen_a_column_stands_beside_the_map(
    make_data: MakeData, open_data: OpenData, scheme: str
) -> None:
    data = make_data(OCEAN, basemap=NAMED)
    opened = open_data(data, width=1400, height=900, scheme=scheme)
    column, area = room(opened.page.locator(".column")), room(opened.page.locator(".area"))
    assert (column["width"], column["right"], area["right"]) == (360, area["x"], 1400)
    heat_is_in_sight(opened, data["rows"], data["columns"])
    page = opened.page
    assert page.get_by_role("heading", level=1).inner_text() == data["title"]
    # Title, takeaway, promise, legend, what can be opened, small print: from top to bottom.
    parts = ["h1", ".takeaway", ".badge", ".legend-title", ".bands", ".legend-rows", ".search", "details", ".facts"]
    tops = [room(page.locator(name).first)["y"] for name in parts]
    assert tops == sorted(tops)
    assert page.locator(".legend-title").inner_text() == data["legend"]["title"]
    assert page.locator(".bands .spoken").all_inner_texts() == [
        "under 1",
        "1 to 2",
        "2 to 5",
        "5 to 10",
        "10 to 20",
        "20 to 50",
        "50 and more",
    ]
    assert page.locator(".credits").inner_text() == "Natural Earth · GeoNames CC BY 4.0 · dpheatmap"
    fonts = "[...document.fonts].filter(font => font.status === 'loaded').map(font => font.family + font.weight)"
    assert {"Inter400", "Inter600"} <= set(page.evaluate(fonts))
    for details in page.locator("details").all():
        details.evaluate("element => element.open = true")
    judge(opened)
    opened.check()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_on_a_phone_the_map_has_most_of_the_room(make_data: MakeData, open_data: OpenData, scheme: str) -> None:
    data = make_data(OCEAN, basemap=NAMED)
    opened = open_data(data, width=390, height=844, scheme=scheme, has_touch=True)
    page = opened.page
    heat_is_in_sight(opened, data["rows"], data["columns"])
    parts = ["h1", ".takeaway", ".area", ".legend", ".badge", ".facts"]
    rooms = [room(page.locator(name)) for name in parts]
    assert [one["y"] for one in rooms] == sorted(one["y"] for one in rooms)
    assert room(page.locator(".area"))["height"] >= 0.55 * 844
    assert page.locator(".legend-title").inner_text() == data["legend"]["short"]
    settings = page.get_by_role("button", name="Settings")
    assert room(settings)["bottom"] <= 844
    judge(opened)
    settings.click()
    sheet = page.get_by_role("dialog", name="Settings")
    expect(sheet).to_be_visible()
    page.wait_for_timeout(400)
    assert room(sheet)["bottom"] == pytest.approx(844, abs=1)
    for control in [*sheet.get_by_role("button").all(), *sheet.locator("select, summary, input").all()]:
        if control.is_visible() and control.get_attribute("type") != "checkbox":
            assert room(control)["height"] >= 43.9, control.inner_html()
    for button in page.locator(".zoom button").all():
        assert min(room(button)["width"], room(button)["height"]) >= 43.9
    judge(opened)
    sheet.get_by_label("Colours of the page").select_option("dark")
    page.keyboard.press("Escape")
    expect(sheet).to_be_hidden()
    expect(settings).to_be_focused()
    expect(page.locator("#dpheatmap.dark")).to_be_visible()
    opened.check()


@pytest.mark.parametrize(("width", "height", "after"), [(600, 400, ""), (900, 700, "?embed"), (600, 400, "#embed")])
def test_embedded_it_is_a_title_a_legend_and_the_map(
    make_data: MakeData, open_data: OpenData, width: int, height: int, after: str
) -> None:
    data = make_data(OCEAN, basemap=NAMED)
    opened = open_data(data, width=width, height=height, after=after)
    page = opened.page
    parts = ["h1", ".legend", ".area", ".badge"]
    rooms = [room(page.locator(name)) for name in parts]
    assert all(a["bottom"] <= b["y"] + 1 for a, b in pairwise(rooms))
    assert rooms[-1]["bottom"] <= height
    assert rooms[1]["height"] < 60  # one row
    heat_is_in_sight(opened, data["rows"], data["columns"])
    for name in (".takeaway", ".facts", ".settings", "details"):
        assert not page.locator(name).first.is_visible()
    link = page.get_by_role("link", name="Open the map")
    assert str(link.get_attribute("href")).split("#")[0] == opened.path.as_uri()
    # A page can be scrolled over the map: to zoom takes Ctrl.
    zoom = page.evaluate("dpheatmap.map.map.getZoom()")
    page.mouse.move(300, 250)
    page.mouse.wheel(0, -400)
    page.wait_for_timeout(500)
    assert page.evaluate("dpheatmap.map.map.getZoom()") == zoom
    judge(opened)
    page.get_by_role("button", name=data["badge"]).click()
    expect(page.get_by_role("dialog")).to_be_visible()
    opened.check()


def test_the_layout_goes_with_the_room(make_data: MakeData, open_data: OpenData) -> None:
    data = make_data(OCEAN)
    opened = open_data(data, width=1400, height=900)
    for width, height, layout in ((500, 800, "narrow"), (500, 380, "embed"), (1000, 700, "wide")):
        opened.page.set_viewport_size({"width": width, "height": height})
        expect(opened.page.locator("#dpheatmap")).to_have_attribute("data-layout", layout)
        opened.page.wait_for_timeout(200)
        opened.settle()
        heat_is_in_sight(opened, data["rows"], data["columns"])
    opened.check()


@pytest.mark.parametrize(("width", "height"), [(390, 844), (600, 400), (1400, 900)])
def test_the_promise_opens_closes_and_fits(make_data: MakeData, open_data: OpenData, width: int, height: int) -> None:
    opened = open_data(
        make_data(OCEAN, label=LONG, title="A " + "very " * 30 + "long title"), width=width, height=height
    )
    badge = opened.page.locator(".badge")
    dialog = opened.page.get_by_role("dialog", name="What this map promises")
    assert not dialog.is_visible()
    badge.press("Enter")
    expect(dialog).to_be_visible()
    assert all(part["text"].strip() in dialog.inner_text() for part in LONG)
    box = room(dialog)
    assert box["x"] >= 0
    assert box["y"] >= 0
    assert box["right"] <= width
    assert box["bottom"] <= height
    assert dialog.evaluate("e => e.scrollWidth <= e.clientWidth")
    judge(opened)
    opened.page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    expect(badge).to_be_focused()
    opened.check()


def test_what_is_not_private_says_so_across_the_top(make_data: MakeData, open_data: OpenData) -> None:
    warning = "Not private: made with a seed, for tests only"
    for width, height in ((1400, 900), (390, 844), (600, 400)):
        opened = open_data(make_data(OCEAN, warnings=[warning]), width=width, height=height)
        bar = opened.page.locator(".warning")
        assert bar.inner_text() == warning
        assert (room(bar)["x"], room(bar)["y"], room(bar)["width"]) == (0, 0, width)
        assert bar.evaluate("e => getComputedStyle(e).backgroundColor") == "rgb(179, 38, 30)"
        opened.check()


def test_readings_are_ranges_near_a_place(make_data: MakeData, open_data: OpenData) -> None:
    values = np.full((8, 8), 50.0)
    clarity = np.repeat([[9.0] * 6 + [0.2] * 2], 8, axis=0)
    opened = open_data(make_data(OCEAN, values=values, relative=np.full((8, 8), 0.2), clarity=clarity, basemap=NAMED))
    page, tip = opened.page, opened.page.locator(".tip")
    assert not tip.is_visible()
    middle = pointed(page, *opened.screen_of(4, 4)).split("\n")
    assert middle == ["40 to 60 of every 1,000 people per km²", "9 in 10 such ranges hold the truth", "near Largehaven"]
    assert pointed(page, *opened.screen_of(2, 2)).split("\n")[-1] == "near Smallhaven"
    far = pointed(page, *opened.screen_of(7, 0)).split("\n")[-1]
    assert re.fullmatch(r"30\.\d+° N, \d\d\.\d+° W", far)
    bare = pointed(page, *opened.screen_of(4, 7)).split("\n")[0]
    assert bare == "Under 60 of every 1,000 people per km², perhaps none"
    page.mouse.move(room(page.locator(".area"))["x"] + 6, 300)
    expect(tip).to_contain_text("Nothing was counted here")
    page.mouse.move(5, 300)
    expect(tip).to_be_hidden()
    opened.check()


def test_values_without_ranges_are_told_as_such(make_data: MakeData, open_data: OpenData) -> None:
    opened = open_data(make_data(IMAGE, values=np.full((16, 24), 3.14), relative=None, clarity=None))
    text = pointed(opened.page, *opened.screen_of(8, 12)).split("\n")
    assert text == ["About 3.1 of every 1,000 people per km²", "x 12, y 8"]
    assert "How sure this is, is not known." in opened.page.locator(".legend-rows").inner_text()
    assert opened.page.get_by_role("search").count() == 0
    opened.check()


def test_the_keyboard_does_everything(make_data: MakeData, open_data: OpenData) -> None:
    busiest = [{"name": "Largehaven", "lon": -39.5, "lat": 30.5, "low": 83.4, "high": 88.0}]
    opened = open_data(make_data(OCEAN, basemap=NAMED, busiest=busiest))
    page = opened.page
    for details in page.locator("details").all():
        details.evaluate("element => element.open = true")
    seen = []
    for _ in range(22):
        page.keyboard.press("Tab")
        name = "e.getAttribute('aria-label') || e.labels?.[0]?.textContent || e.innerText"
        seen.append(str(page.evaluate(f"(e => {name})(document.activeElement)")))
    wanted = ["Private · ε = 1 per person", "What this promises", "Find a place", "Go", "Places and their intervals"]
    wanted += ["Largehaven", "Settings", "Show", "Colours of the page", "Smooth instead of bands", "Download"]
    wanted += ["Picture (PNG)", "Numbers (GeoJSON)", "Snippet to embed this map", "Copy the snippet"]
    wanted += ["Where people are. Arrow keys move the map, plus and minus zoom.", "Zoom in", "Zoom out", "Show all"]
    assert all(found.startswith(name) for found, name in zip(seen, wanted, strict=False)), seen
    page.get_by_role("region", name="Where people are").focus()
    status = page.locator(".spoken[role=status]")
    page.keyboard.press("ArrowRight")
    expect(status).to_contain_text("of every 1,000 people per km²")
    first = status.inner_text()
    page.keyboard.press("ArrowUp")
    expect(status).not_to_have_text(first)
    expect(page.locator(".cross")).to_be_visible()
    opened.check()


def test_places_can_be_found(make_data: MakeData, open_data: OpenData) -> None:
    busiest = [{"name": "Smallhaven", "lon": -39.75, "lat": 30.75, "low": 83.4, "high": 88.0}]
    opened = open_data(make_data(OCEAN, basemap=NAMED, busiest=busiest))
    page, tip = opened.page, opened.page.locator(".tip")
    field = page.get_by_label("Find a place")

    def middle() -> tuple[float, float]:
        at = page.evaluate("dpheatmap.map.map.getCenter()")
        return at["lng"], at["lat"]

    field.fill("smallhaven")
    field.press("Enter")
    expect(tip).to_contain_text("near Smallhaven")
    assert middle() == pytest.approx((-39.75, 30.75), abs=1e-3)
    field.fill("30.25, -39.25")
    page.get_by_role("button", name="Go").click()
    expect(tip).not_to_contain_text("Smallhaven")
    assert middle() == pytest.approx((-39.25, 30.25), abs=1e-3)
    field.fill("acores")
    field.press("Enter")
    expect(tip).to_contain_text("Nothing was counted here")
    field.fill("Atlantis")
    field.press("Enter")
    expect(page.locator(".told")).to_contain_text("No such place")
    page.locator("summary", has_text="Places").click()
    row = page.get_by_role("row", name="Smallhaven")
    assert row.get_by_role("cell").inner_text() == "83\u201388"
    row.get_by_role("button").click()
    expect(tip).to_contain_text("near Smallhaven")
    opened.check()


def test_an_address_shows_the_same_view(make_data: MakeData, open_data: OpenData) -> None:
    data = make_data(OCEAN)
    opened = open_data(data)
    page = opened.page
    assert page.evaluate("location.hash") == ""
    page.get_by_role("button", name="Zoom in").click()
    expect(page).to_have_url(re.compile("#map="))
    page.locator("summary", has_text="Settings").click()
    page.get_by_label("Colours of the page").select_option("dark")
    page.get_by_label("Smooth instead of bands").check()
    page.mouse.move(*opened.screen_of(2, 2))
    page.mouse.down()
    page.mouse.move(600, 200, steps=4)
    page.mouse.up()
    page.mouse.move(5, 5)
    page.wait_for_timeout(800)
    opened.settle()
    told = str(page.evaluate("location.hash"))
    assert re.fullmatch(r"#map=[\d.]+/[\d.]+/-[\d.]+&theme=dark&style=smooth", told)
    again = open_data(data, after=told)
    assert np.abs(again.pixels()[:, 400:] - opened.pixels()[:, 400:]).mean() < 2
    again.page.locator("summary", has_text="Settings").click()
    assert again.page.get_by_label("Colours of the page").input_value() == "dark"
    assert again.page.get_by_label("Smooth instead of bands").is_checked()
    again.page.evaluate("location.hash = '#theme=light'")
    expect(again.page.locator("#dpheatmap.dark")).to_have_count(0)
    page.get_by_role("button", name="Show all").click()
    expect(page).not_to_have_url(re.compile("map="))
    opened.check()


def test_the_look_can_be_carried_over(make_data: MakeData, open_data: OpenData) -> None:
    opened = open_data(make_data(OCEAN))
    view = {"lng": -39.4, "lat": 30.4, "zoom": 9.5}
    opened.page.evaluate(f"dpheatmap.set({{ smooth: true, view: {json.dumps(view)} }})")
    opened.settle()
    state = opened.page.evaluate("dpheatmap.state")
    assert state == {"show": "heat", "theme": "auto", "smooth": True, "view": view}
    assert opened.page.evaluate("dpheatmap.map.map.getZoom()") == pytest.approx(9.5)
    opened.check()


def test_dark_and_light_follow_the_device_and_the_reader(make_data: MakeData, open_data: OpenData) -> None:
    opened = open_data(make_data(OCEAN, basemap=NOTHING), scheme="dark")

    def paper() -> tuple[str, list[int]]:
        page = opened.page.locator("#dpheatmap").evaluate("element => getComputedStyle(element).backgroundColor")
        corner: list[int] = opened.pixels()[10, 400].tolist()
        return page, corner

    # Outside the box the page's colour lies over the water as a veil.
    dark, light = ("rgb(20, 24, 28)", [22, 26, 31]), ("rgb(255, 255, 255)", [232, 239, 242])
    assert paper()[0] == dark[0]
    assert np.abs(np.array(paper()[1]) - dark[1]).max() <= 1
    opened.page.locator("summary", has_text="Settings").click()
    opened.page.get_by_label("Colours of the page").select_option("light")
    opened.settle()
    assert paper()[0] == light[0]
    assert np.abs(np.array(paper()[1]) - light[1]).max() <= 1
    opened.page.get_by_label("Colours of the page").select_option("auto")
    opened.settle()
    assert paper()[0] == dark[0]
    opened.page.emulate_media(color_scheme="light")
    opened.settle()
    assert paper()[0] == light[0]
    opened.check()


def saved(opened: Opened, name: str, folder: Path) -> Path:
    with opened.page.expect_download() as waiting:
        opened.page.get_by_role("button", name=name).click()
    path = folder / waiting.value.suggested_filename
    waiting.value.save_as(path)
    return path


def test_files_can_be_taken_away(make_data: MakeData, open_data: OpenData, tmp_path: Path) -> None:
    data = make_data(OCEAN)
    opened = open_data(data)
    opened.page.locator("summary", has_text="Download").click()
    image = np.asarray(Image.open(saved(opened, "Picture", tmp_path)).convert("RGB"), dtype=np.int64)
    area = room(opened.page.locator(".area"))
    assert image.shape[1] == 2 * (area["width"] + 40)
    assert image.shape[0] > 2 * (area["height"] + 150)  # words above and below the map
    assert image[:10].min() == 255
    for swatch in data["light"]["swatches"]:  # in the legend and on the map
        colour = np.array(list(bytes.fromhex(swatch[1:])))
        assert (np.abs(image - colour).max(axis=2) <= 2).sum() > 500
    badge = np.array(list(bytes.fromhex("EAF1EC")))
    assert (np.abs(image[-200:] - badge).max(axis=2) <= 1).sum() > 1000
    table = json.loads(saved(opened, "Numbers", tmp_path).read_text())
    assert table["unit"] == data["legend"]["title"]
    count = data["rows"] * data["columns"]
    values = np.array([feature["properties"]["value"] for feature in table["features"]])
    assert sorted(values) == pytest.approx(sorted(0.5 * 160.0 ** (np.arange(count) / (count - 1))), rel=1e-3)
    ends = np.array([[feature["properties"][end] for end in ("low", "high")] for feature in table["features"]])
    assert ends == pytest.approx(values[:, None] * [0.8, 1.2], rel=1e-3)
    assert all(feature["properties"]["clear"] for feature in table["features"])
    corners = np.array([point for feature in table["features"] for point in feature["geometry"]["coordinates"][0]])
    bounds = OCEAN.bounds
    assert [*corners.min(axis=0), *corners.max(axis=0)] == pytest.approx(list(bounds), abs=1e-6)
    first = np.array(table["features"][0]["geometry"]["coordinates"][0])
    assert first.max(axis=0)[1] == pytest.approx(bounds.y1, abs=1e-6)  # row 0 is the north
    opened.check()


def test_the_snippet_embeds_what_is_seen(make_data: MakeData, open_data: OpenData, tmp_path: Path) -> None:
    opened = open_data(make_data(OCEAN, title='Where "people" are'), after="#theme=dark")
    page = opened.page
    page.locator("summary", has_text="Download").click()
    page.get_by_role("button", name="Copy the snippet").click()
    expect(page.locator(".snippet [role=status]")).not_to_be_empty()
    text = page.get_by_label("Snippet to embed this map").input_value()
    assert text.startswith('<iframe src="map.html#embed&amp;theme=dark" title="Where &quot;people&quot; are"')
    host = tmp_path / "host.html"
    host.write_text(f"<!doctype html><title>News</title><p>As the map tells:</p>{text}", encoding="utf-8")
    page.goto(host.as_uri())
    frame = page.frame_locator("iframe")
    frame.locator("#dpheatmap[data-ready]").wait_for()
    expect(frame.locator("#dpheatmap")).to_have_attribute("data-layout", "embed")
    expect(frame.locator("#dpheatmap")).to_have_class(re.compile("dark"))
    assert not opened.said, opened.said


@pytest.mark.parametrize(("width", "height"), [(390, 844), (600, 400), (1400, 900)])
def test_it_prints_on_one_page_in_light_without_controls(
    make_data: MakeData, open_data: OpenData, width: int, height: int
) -> None:
    data = make_data(OCEAN, basemap=NAMED)
    opened = open_data(data, width=width, height=height, scheme="dark")
    page = opened.page
    printed = page.pdf(format="A4")
    assert re.findall(rb"/Type\s*/Page\b", printed) == [b"/Type /Page"]
    assert re.search(rb"/Subtype\s*/Image", printed)  # of the map
    opened.settle()
    assert opened.page.locator(".printed").count() == 0  # all is as before
    expect(page.locator("#dpheatmap.dark")).to_be_visible()
    # What is on that page, as the screen can show it: its width without margins, and its height.
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    page.emulate_media(media="print")
    page.set_viewport_size({"width": 688, "height": 1017})
    parts = ["h1", ".takeaway", ".badge", ".legend", ".facts", ".printed", ".credits"]
    rooms = [room(page.locator(name)) for name in parts]
    assert all(a["bottom"] <= b["y"] + 1 for a, b in pairwise(rooms))
    assert all(one["x"] >= 0 and one["right"] <= 688 and one["bottom"] <= 1017 for one in rooms)
    for name in (".zoom", ".stage", ".more", ".settings", ".open", ".link", ".tip"):
        assert not page.locator(name).first.is_visible()
    screen = opened.pixels()
    assert screen[2, 2].tolist() == [255, 255, 255]
    swatch = np.array(list(bytes.fromhex(data["light"]["swatches"][5][1:])))
    on_map = screen[int(rooms[5]["y"]) : int(rooms[5]["bottom"])]
    assert (np.abs(on_map - swatch).max(axis=2) <= 3).sum() > 300
    opened.check()


def test_a_map_of_the_world_and_one_of_a_garden(make_data: MakeData, open_data: OpenData) -> None:
    for domain in (Domain.bbox(-180, -85, 180, 85, depth=4), Domain.bbox(7.0, 50.0, 7.0002, 50.0001, depth=24)):
        opened = open_data(make_data(domain))
        assert opened.page.locator(".maplibregl-ctrl-scale").inner_text().endswith(("km", "m"))
        opened.check()


@pytest.mark.parametrize(("width", "height"), [(360, 640), (900, 500)])
def test_the_scale_bar_is_as_long_as_it_says(make_data: MakeData, open_data: OpenData, width: int, height: int) -> None:
    opened = open_data(make_data(OCEAN), width=width, height=height)
    lengths = []
    for zoom in (9, 12.3):
        opened.page.evaluate(f"dpheatmap.map.map.jumpTo({{ center: [-39.5, 30.5], zoom: {zoom} }})")
        opened.settle()
        bar, area = (room(opened.page.locator(name)) for name in (".maplibregl-ctrl-scale", ".area"))
        assert area["x"] < bar["x"] < bar["right"] < area["right"]
        assert bar["width"] <= 93
        number, unit = opened.page.locator(".maplibregl-ctrl-scale").inner_text().split()
        lengths.append(float(number) * {"km": 1000, "m": 1}[unit])
        pixel = opened.page.evaluate(
            """(map => { const y = map.getContainer().clientHeight / 2;
                return map.unproject([0, y]).distanceTo(map.unproject([1, y])); })(dpheatmap.map.map)"""
        )
        assert bar["width"] * pixel == pytest.approx(lengths[-1], rel=0.05)
    assert lengths[0] > 5 * lengths[1]
    opened.check()


def test_own_layers_lie_under_and_over_the_heat(make_data: MakeData, open_data: OpenData) -> None:
    def shape(kind: str, coordinates: Any) -> dict[str, Any]:
        feature = {
            "type": "Feature",
            "properties": {"name": "Own", "rank": 1},
            "geometry": {"type": kind, "coordinates": coordinates},
        }
        return {"type": "FeatureCollection", "features": [feature]}

    park = [[[-39.9, 30.1], [-39.1, 30.1], [-39.1, 30.9], [-39.9, 30.9], [-39.9, 30.1]]]
    road = [[-39.9, 30.5], [-39.1, 30.5]]
    kinds = [
        ("park", shape("Polygon", park)),
        ("road", shape("LineString", road)),
        ("border", shape("LineString", road)),
    ]
    kinds.append(("point", shape("Point", [-39.5, 30.3])))
    own = [{"name": kind, "kind": kind, "data": deflate(json.dumps(data).encode())} for kind, data in kinds]
    opened = open_data(make_data(OCEAN, values=np.full((8, 8), 0.1), context=own, relative=None, clarity=None))
    x, y = opened.screen_of(2, 3)
    assert np.abs(opened.pixels()[int(y), int(x)] - [228, 236, 221]).max() <= 2  # the park's green
    opened.check()
