"""The page of a series in Chromium, opened from disk: the slider steps and plays, by pointer and by keyboard."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from dpheatmap.place.domain import Domain
from dpheatmap.render.web.series_page import OF_SLICE
from helpers.browser import Opened, pointed
from helpers.open_maps import IMAGE, NAMED, OCEAN, MakeData, OpenData, apart, judge, room

NAMES = ["0", "8", "mon 8", "12"]
LABELS = ["00:00", "08:00", "Mon 08:00", "12:00"]
BANDS = [[250, 163, 75], [241, 98, 60], [195, 53, 84], [137, 27, 101]]
CARD = {"heading": "No place stands out from the noise", "text": "There were too few people."}


def series_data(make_data: MakeData, domain: Domain = OCEAN, *, loops: bool = True, **changes: Any) -> dict[str, Any]:
    """A series whose slices have one value each, all in bands of their own; the last one has no signal."""
    finest = domain.cells(domain.depth)
    shape = (finest.rows, finest.columns)
    given = {"basemap": NAMED} if domain.geographic else {}
    made = [
        make_data(domain, values=np.full(shape, value), takeaway=f"At {label}.", **given)
        for value, label in zip((3.0, 7.0, 15.0, 30.0), LABELS, strict=True)
    ]
    made[-1] |= {"nothing": CARD, "edges": []}
    slices = [
        {"name": name, "label": label, **{part: data[part] for part in OF_SLICE},
         "volume": {"people": 10.0 * k, "low": 8.0 * k, "high": 12.0 * k, "words": f"{8 * k} to {12 * k} people"}}
        for k, (name, label, data) in enumerate(zip(NAMES, LABELS, made, strict=True), 1)
    ]  # fmt: skip
    series = {
        "of": "Time", "words": "by hour of the day", "loops": loops, "run": 4, "caption": "People at each step.",
        "slices": slices,
    }  # fmt: skip
    common = {name: value for name, value in made[0].items() if name not in OF_SLICE}
    return common | {"series": series} | changes


def band(opened: Opened) -> int:
    """Which slice's colour is in the middle of the map."""
    opened.settle()
    x, y = opened.screen_of(3, 2)
    seen = opened.pixels()[int(y), int(x)]
    return int(np.argmin([np.abs(seen - colour).sum() for colour in BANDS]))


def now(page: Page) -> str:
    return page.locator(".slice-now strong").inner_text()


def test_steps_change_the_heat_and_all_that_is_said(make_data: MakeData, open_data: OpenData) -> None:
    opened = open_data(series_data(make_data), reduced_motion="reduce")
    page, slider = opened.page, opened.page.get_by_role("slider", name="Time")
    assert (now(page), band(opened)) == ("00:00", 0)
    page.get_by_role("button", name="Next").click()
    expect(page.locator(".takeaway")).to_have_text("At 08:00.")
    expect(page.locator(".subtitle")).to_have_text("08:00, by hour of the day")
    expect(page.locator(".slice-now span")).to_have_text("16 to 24 people")
    expect(slider).to_have_attribute("aria-valuetext", "08:00")
    assert band(opened) == 1
    assert "6 to 8 of every 1,000" in pointed(page, *opened.screen_of(4, 4))
    slider.evaluate("e => (e.value = 2, e.dispatchEvent(new Event('input')))")
    expect(page.locator(".tip")).to_contain_text("12 to 18 of every 1,000")
    assert band(opened) == 2
    page.get_by_role("button", name="Next").click()
    expect(page.locator(".card")).to_contain_text("No place stands out from the noise")
    page.get_by_role("button", name="Next").click()
    expect(page.locator(".card")).to_be_hidden()
    assert (now(page), band(opened)) == ("00:00", 0)
    page.get_by_role("button", name="Previous").click()
    assert now(page) == "12:00"
    opened.check()


def test_a_calendar_ends(make_data: MakeData, open_data: OpenData) -> None:
    opened = open_data(series_data(make_data, loops=False), reduced_motion="reduce")
    page = opened.page
    back, on = (page.get_by_role("button", name=name) for name in ("Previous", "Next"))
    expect(back).to_have_attribute("aria-disabled", "true")
    back.click(force=True)
    assert now(page) == "00:00"
    for _ in range(4):
        on.click(force=True)
    assert now(page) == "12:00"
    expect(on).to_have_attribute("aria-disabled", "true")
    opened.check()


def test_the_keyboard_steps_and_is_told_where_it_is(make_data: MakeData, open_data: OpenData) -> None:
    opened = open_data(series_data(make_data))
    page, slider = opened.page, opened.page.get_by_role("slider")
    status = page.locator(".slices [role=status]")
    slider.focus()
    for key, label in (("ArrowRight", "08:00"), ("End", "12:00"), ("ArrowLeft", "Mon 08:00"), ("Home", "00:00")):
        page.keyboard.press(key)
        expect(slider).to_have_attribute("aria-valuetext", label)
        expect(status).to_contain_text(f"{label}, ")
    page.keyboard.press(" ")
    expect(page.get_by_role("button", name="Pause")).to_be_visible()
    expect(slider).to_have_attribute("aria-valuetext", "08:00")
    page.keyboard.press(" ")
    expect(page.get_by_role("button", name="Play")).to_be_visible()
    page.get_by_role("button", name="Next").focus()
    page.keyboard.press("Enter")
    expect(status).to_contain_text(now(page))
    opened.check()


@pytest.mark.parametrize("motion", ["no-preference", "reduce"])
def test_it_plays_only_when_it_is_asked_to(make_data: MakeData, open_data: OpenData, motion: str) -> None:
    opened = open_data(series_data(make_data, loops=False), reduced_motion=motion)
    page, slider = opened.page, opened.page.get_by_role("slider")
    page.wait_for_timeout(1200)
    assert now(page) == "00:00"
    assert page.evaluate("dpheatmap.fade.keep() === null") == (motion == "reduce")  # nothing to fade from
    page.get_by_role("button", name="Play").click()
    expect(page.get_by_role("button", name="Pause")).to_be_visible()
    for label in LABELS[1:]:
        expect(slider).to_have_attribute("aria-valuetext", label)
    expect(page.get_by_role("button", name="Play")).to_be_visible()  # it stops at the end
    page.get_by_role("button", name="Play").click()
    expect(slider).to_have_attribute("aria-valuetext", "00:00")
    page.get_by_role("button", name="Next").click()
    expect(page.get_by_role("button", name="Play")).to_be_visible()  # whoever steps has taken over
    opened.check()


def test_a_cycle_plays_around(make_data: MakeData, open_data: OpenData) -> None:
    opened = open_data(series_data(make_data), after="#slice=12")
    page, slider = opened.page, opened.page.get_by_role("slider")
    page.get_by_role("button", name="Play").click()
    expect(slider).to_have_attribute("aria-valuetext", "00:00")
    expect(slider).to_have_attribute("aria-valuetext", "08:00")
    page.get_by_role("button", name="Pause").click()
    held = now(page)
    page.wait_for_timeout(1200)
    assert now(page) == held
    page.wait_for_timeout(300)
    assert band(opened) == LABELS.index(held)  # nothing of the one before shines through
    opened.check()


def test_the_chart_marks_the_slice_and_chooses_one(make_data: MakeData, open_data: OpenData) -> None:
    opened = open_data(series_data(make_data))
    page = opened.page
    plot, slider = page.locator(".volume-plot"), page.get_by_role("slider")
    assert page.locator(".volumes svg").get_attribute("aria-label") == (
        "People at each step. Most: 12:00, 32 to 48 people. Fewest: 00:00, 8 to 12 people."
    )
    where = room(plot)
    page.mouse.click(where["x"] + 0.64 * where["width"], where["y"] + 10)
    expect(slider).to_have_attribute("aria-valuetext", "Mon 08:00")
    marker = room(page.locator(".volume-marker"))
    assert marker["x"] == pytest.approx(where["x"] + 2 / 3 * where["width"], abs=1.5)
    opened.check()


def test_the_address_keeps_the_slice(make_data: MakeData, open_data: OpenData) -> None:
    opened = open_data(series_data(make_data), after="#slice=8")
    page = opened.page
    assert (now(page), band(opened)) == ("08:00", 1)
    page.get_by_role("button", name="Next").click()
    expect(page).to_have_url(re.compile(r"#slice=mon%208$"))
    page.evaluate("location.hash = '#slice=0'")
    expect(page.locator(".slice-now strong")).to_have_text("00:00")
    opened.check()


@pytest.mark.parametrize(("width", "height"), [(1280, 900), (390, 844), (600, 400)])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_has_room_on_every_screen(
    make_data: MakeData, open_data: OpenData, width: int, height: int, scheme: str
) -> None:
    opened = open_data(series_data(make_data), width=width, height=height, scheme=scheme)
    page = opened.page
    slider, area = room(page.locator(".slices")), room(page.locator(".area"))
    assert apart(slider, area)
    assert slider["y"] >= area["bottom"] - 1
    assert room(page.get_by_role("slider"))["width"] >= 150
    if width == 390:
        for button in page.locator(".steps button").all():
            assert min(room(button)["width"], room(button)["height"]) >= 43.9
    assert page.locator(".volumes").is_visible() == (height > 400)
    judge(opened)
    opened.check()


def test_a_print_shows_the_slice(make_data: MakeData, open_data: OpenData) -> None:
    opened = open_data(series_data(make_data), after="#slice=8")
    page = opened.page
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    page.emulate_media(media="print")
    assert page.locator(".subtitle").is_visible()
    assert page.locator(".subtitle").inner_text().startswith("08:00")
    assert page.locator(".printed").is_visible()
    assert not page.locator(".slices").is_visible()
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    opened.check()


def test_images_have_slices_too(make_data: MakeData, open_data: OpenData) -> None:
    opened = open_data(series_data(make_data, IMAGE), reduced_motion="reduce")
    assert band(opened) == 0
    opened.page.get_by_role("button", name="Next").click()
    expect(opened.page.locator(".takeaway")).to_have_text("At 08:00.")
    assert band(opened) == 1
    opened.check()
