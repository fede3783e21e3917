"""Readers on the interactive map in Chromium, opened from disk: readings, keyboard, search and the ground."""

from __future__ import annotations

import json
import re
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import expect

from dpheatmap.place.domain import Domain
from dpheatmap.render.web.layers import deflate
from helpers.browser import pointed
from helpers.open_maps import IMAGE, NAMED, OCEAN, MakeData, OpenData, room


def test_readings_are_ranges_near_a_place(make_data: MakeData, open_data: OpenData) -> None:
    values = np.full((8, 8), 50.0)
    clarity = np.repeat([[9.0] * 6 + [0.2] * 2], 8, axis=0)
    opened = open_data(make_data(OCEAN, values=values, relative=np.full((8, 8), 0.2), clarity=clarity, basemap=NAMED))
    page, tip = opened.page, opened.page.locator(".tip")
    assert not tip.is_visible()
    middle = pointed(page, *opened.screen_of(4, 4)).split("\n")
    assert middle == [
        "40 to 60 of every 1,000 people per km²",
        "About 9 in 10 such ranges hold the truth",
        "near Largehaven",
    ]
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
