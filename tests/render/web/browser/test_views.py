"""The view of the interactive map in Chromium, opened from disk: its address, and light and dark."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest
from playwright.sync_api import expect

from helpers.map_data import NOTHING
from helpers.open_maps import OCEAN, MakeData, OpenData


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
    assert state == {"show": "heat", "theme": "auto", "smooth": True, "view": view, "slice": None}
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
