"""Maps over time and of groups in Chromium: from the fields to the slider, the files and the shelf."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from playwright.sync_api import expect

import dpheatmap as dph
from dpheatmap.render.series_files import FORMATS
from helpers.served import trips
from helpers.timed_trips import timed_trips
from helpers.visits import Visit, next_step, open_path, release_directly, type_box

MAPS = "14 maps, by group (2 of a public list), by day, clocks of Europe/Zurich"
# Whatever the line of progress says, however short: a look now and then would miss some of it.
KEEP_WHAT_IS_TOLD = """() => {
    window.told = [];
    const lines = () => document.querySelectorAll(".following [role=status]");
    const keep = () => lines().forEach(line => window.told.push(line.textContent));
    new MutationObserver(keep).observe(document.body, {subtree: true, childList: true, characterData: true});
}"""


def test_days_in_groups_from_the_fields_to_the_shelf(visit: Visit, tmp_path: Path) -> None:
    page = visit.page
    open_path(visit, timed_trips(tmp_path / "trips.csv", 1500))
    next_step(visit, "Choose the place")
    type_box(page)
    expect(page.get_by_label("One map of everybody")).to_be_checked()
    expect(page.locator(".axis-fields *")).to_have_count(0)

    page.get_by_label("Over time, in each group").check()
    typed = page.locator(".axis-fields").locator("input, select, textarea")
    assert [typed.nth(number).input_value() for number in range(typed.count())] == [""] * typed.count()
    refused_at(visit, "Column of times", "Choose the column of times.")
    page.get_by_label("Column of times").select_option("at")
    refused_at(visit, "A map for every", "time needs every: what a slice is.")
    page.get_by_label("A map for every").select_option("day")
    refused_at(visit, "First day", "Slices of every day need a public range, and one taken from the data would tell")
    page.get_by_label("First day").fill("2026-06-01")
    page.get_by_label("Last day, included").fill("2026-06-07")
    refused_at(visit, "Time zone", "has times whose hours depend on the zone, and no session's zone is taken for it.")
    page.get_by_label("Time zone").fill("Mars")
    expect(page.locator(".field-problem", has_text="it was 'Mars'")).to_be_visible()  # while it is typed
    page.get_by_label("Time zone").fill("Europe/Zurich")
    refused_at(visit, "Column of groups", "Choose the column of groups.")
    page.get_by_label("Column of groups").select_option("vehicle")
    refused_at(visit, "Names of the groups", "A group column needs the public list of groups")
    visit.judge()
    page.get_by_label("Names of the groups").fill("bike\nbus, or tram")
    expect(page.locator(".axis-told")).to_have_text(MAPS)
    visit.judge()

    next_step(visit, "How strongly to protect people")
    expect(page.get_by_label("About how many people are in one group?")).to_be_visible()
    expect(page.locator(".plan")).to_contain_text("7 slices cost epsilon 1 together: a person's weight of 1 is shared")
    page.reload()
    expect(page.locator(".plan")).to_contain_text("7 slices cost epsilon 1 together")
    next_step(visit, "What it costs, and release")
    expect(page.locator("main")).to_contain_text(MAPS)
    page.get_by_label("Who are these people?").fill("riders")
    page.evaluate(KEEP_WHAT_IS_TOLD)
    page.get_by_role("button", name="Release for epsilon 1").click()
    page.wait_for_selector(".map-frame[data-ready=first]")
    told = page.evaluate("window.told")
    assert [words for words in told if re.fullmatch(r"Drawing slice \d+ of 14 …", words)], told
    assert visit.served.charges("riders") == 1

    slider = page.get_by_role("slider", name="Group and time")
    expect(page.locator(".slice-now strong")).to_have_text("bike, 1 Jun 2026")
    slider.press("ArrowRight")
    expect(page.locator(".slice-now strong")).to_have_text("bike, 2 Jun 2026")
    expect(page.get_by_label("File of areas")).to_have_count(0)
    page.locator(".label-card").wait_for()
    links = page.locator(".files").first.get_by_role("link")
    assert set(links.all_inner_texts()) <= {".dph.parquet", *FORMATS}
    assert {".html", ".png", ".gif", ".csv"} <= set(links.all_inner_texts())
    assert all(words.strip() for words in page.locator(".files li > span:last-child").all_inner_texts())
    with page.expect_download() as waiting:
        links.get_by_text(".dph.parquet", exact=True).click()
    waiting.value.save_as(tmp_path / "days.dph.parquet")
    saved: Any = dph.load(tmp_path / "days.dph.parquet")
    assert len(saved.slices) == 14
    with page.expect_download() as waiting:
        links.get_by_text(".html", exact=True).click()
    assert "bus, or tram" in waiting.value.path().read_text()
    visit.judge()

    page.get_by_role("link", name="Account").click()
    page.get_by_role("button", name="Check the ledger").click()
    expect(page.get_by_text("The ledger is whole")).to_be_visible()
    page.get_by_role("link", name="Shelf").click()
    card = page.locator(".card")
    expect(card).to_contain_text(MAPS)
    expect(card.get_by_role("checkbox")).to_have_count(0)
    expect(card.locator("img")).to_have_js_property("complete", True)
    assert card.locator("img").evaluate("image => image.naturalWidth") > 200
    card.get_by_role("link", name="Open").click()
    expect(page.locator(".slice-now strong")).to_have_text("bike, 2 Jun 2026")  # as it was left


def refused_at(visit: Visit, label: str, words: str) -> None:
    """The step can't be left, and the field says why and has the focus."""
    page = visit.page
    page.get_by_role("button", name="Next").click()
    expect(page.locator(".field-problem", has_text=words)).to_be_visible()
    expect(page.locator(".field-problem:visible")).to_have_count(1)
    expect(page.get_by_label(label)).to_be_focused()
    expect(page.get_by_label(label)).to_have_attribute("aria-invalid", "true")
    visit.heading("Choose the place")


def test_another_file_is_asked_anew_for_its_slices(small_visit: Visit, tmp_path: Path) -> None:
    page = small_visit.page
    open_path(small_visit, timed_trips(tmp_path / "trips.csv"))
    next_step(small_visit, "Choose the place")
    page.get_by_label("Maps over time").check()
    page.get_by_label("Column of times").select_option("at")
    page.get_by_label("A map for every").select_option("hours")
    expect(page.get_by_label("How many hours?")).to_be_visible()
    small_visit.judge()
    page.evaluate("location.hash = 'file'")
    open_path(small_visit, trips(tmp_path / "others.csv"))
    next_step(small_visit, "Choose the place")
    expect(page.get_by_label("One map of everybody")).to_be_checked()


def test_a_series_in_a_narrow_dark_window(small_visit: Visit, tmp_path: Path) -> None:
    page = small_visit.page
    slices = {"group": "vehicle", "groups": ["bike", "bus, or tram"]}
    record = release_directly(small_visit, timed_trips(tmp_path / "trips.csv", 800), slices=slices)
    page.evaluate(f"location.hash = 'map/{record['id']}'")
    page.wait_for_selector(".map-frame[data-ready=first]:not([aria-busy])")
    page.get_by_role("slider", name="Group").press("End")
    expect(page.locator(".slice-now strong")).to_have_text("bus, or tram")
    small_visit.judge()
