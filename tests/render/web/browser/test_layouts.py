"""The layouts of the interactive map in Chromium, opened from disk: large screens, phones, frames and the promise."""

from __future__ import annotations

from itertools import pairwise

import pytest
from playwright.sync_api import expect

from helpers.open_maps import NAMED, OCEAN, MakeData, OpenData, heat_is_in_sight, judge, room

LONG = [
    {"heading": f"Part {i}", "text": "A promise in plain words, and a-very-long-name-of-a-file.parquet. " * 6}
    for i in range(9)
]


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


def test_areas_are_one_touch_away_on_a_phone(make_data: MakeData, open_data: OpenData) -> None:
    data = make_data(OCEAN, basemap=NAMED)
    area = {"name": "Quarter B", "rank": "1", "range": "72 to 74", "words": "72 to 74", "band": 0, "rough": False}
    told = {name: data[name] for name in ("legend", "edges", "light", "dark")}
    words = {"title": "By area", "takeaway": "Quarter B is first.", "facts": ["Areas."], "nothing": None}
    table = {"caption": "People in each area", "counted": "People", "none": "In none"}
    rings = [[10_000, 10_000, 50_000, 0, 0, 50_000, -50_000, 0, 0, -50_000]]
    opened = open_data(
        data | {"areas": {**told, **words, **table, "areas": [area | {"rings": rings}]}},
        width=390, height=844, has_touch=True,
    )  # fmt: skip
    page = opened.page
    expect(page.get_by_role("heading", level=1)).to_have_text("By area")
    expect(page.locator(".facts")).to_have_text("Areas.")
    page.get_by_text("Areas and their ranges").tap()
    rank, name = room(page.locator(".areas tbody .rank")), room(page.locator(".areas tbody .link"))
    letters = page.locator(".areas tbody .rank").evaluate(
        "cell => { const range = document.createRange(); range.selectNodeContents(cell); "
        "return range.getBoundingClientRect().right }"
    )
    assert name["x"] - letters >= 8
    assert rank["width"] < 90
    head = page.locator(".areas thead th").first
    assert head.evaluate("cell => cell.getClientRects()[0].height") < 40
    judge(opened)
    opened.check()
