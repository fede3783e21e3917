"""The shelf and the account in Chromium: cards, comparing by a swipe, the label, and what charges bought."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import pytest
from playwright.sync_api import expect

import dpheatmap as dph
from helpers.served import trips
from helpers.visits import Visit, release_directly

VIEWS = "document.querySelector('section[data-ready]').views"
TALL = (7.40, 46.60, 7.44, 47.20)


def test_cards_have_names_and_whole_thumbnails(visit: Visit, tmp_path: Path) -> None:
    page = visit.page
    table = trips(tmp_path / "trips.csv", 200, TALL)
    for title in ("A tall map", ""):
        place = {"kind": "bbox", "bounds": list(TALL)}
        release_directly(visit, table, place=place, title=title, epsilon="1" if title else "2")
    page.get_by_role("link", name="Shelf").click()
    page.wait_for_selector(".cards[data-ready='2']")
    assert sorted(page.locator(".card h2").all_inner_texts()) == ["A tall map", "trips.csv"]
    expect(page.locator(".card", has_text="A tall map")).to_contain_text("near Köniz, 7.4° E to 7.44° E")
    for image in page.locator(".card img").all():
        image.scroll_into_view_if_needed()
        page.wait_for_function("image => image.complete && image.naturalHeight", arg=image.element_handle())
        shape = image.evaluate("e => [getComputedStyle(e).objectFit, e.naturalHeight > 2 * e.naturalWidth]")
        assert shape == ["contain", True], "nothing of it is cut off"
    visit.judge()


def test_a_swipe_compares_on_one_scale(visit: Visit, tmp_path: Path) -> None:
    page = visit.page
    for name, people, title in (("june.csv", 300, "June"), ("july.csv", 1500, "July")):
        release_directly(visit, trips(tmp_path / name, people), title=title)
        page.wait_for_timeout(1100)  # their times are to the second, and tell which was first
    page.get_by_role("link", name="Shelf").click()
    page.wait_for_selector(".cards[data-ready='2']")
    for tick in page.get_by_role("checkbox").all():
        tick.check()
    page.get_by_role("button", name="Compare", exact=True).click()
    page.wait_for_selector("section[data-ready] .swipe")
    names = page.locator(".swipe-names span").all_inner_texts()
    assert names[0].startswith("A: June")
    assert names[1].startswith("B: July")
    stages = page.locator(".swipe .stage")
    lower, upper = stages.nth(0).bounding_box(), stages.nth(1).bounding_box()
    assert lower == upper, "one lies exactly over the other"

    slider = page.get_by_label("Swipe between A and B")
    slider.focus()
    page.keyboard.press("End")
    assert page.evaluate("document.querySelector('.upper .stage').style.clipPath") == "inset(0px 0px 0px 100%)"
    page.keyboard.press("ArrowLeft")
    assert slider.input_value() == "98"
    slider.fill("50")
    line = page.locator(".swipe-line").bounding_box()
    assert line is not None
    assert upper is not None
    assert line["x"] + line["width"] / 2 == pytest.approx(upper["x"] + upper["width"] / 2, abs=1)
    touched = page.evaluate(
        """([x, y, width]) => [0.1, 0.9].map(part => document.elementFromPoint(x + part * width, y)
          .closest(".map-frame").className)""",
        [upper["x"], upper["y"] + upper["height"] / 3, upper["width"] * 0.7],
    )
    assert touched == ["map-frame lower dpheatmap", "map-frame upper dpheatmap"]
    visit.judge()

    before = page.evaluate(f"{VIEWS}[0].map.map.getCenter().toArray()")
    page.mouse.move(upper["x"] + upper["width"] * 0.25, upper["y"] + upper["height"] / 2)
    page.mouse.down()
    page.mouse.move(upper["x"] + upper["width"] * 0.3, upper["y"] + upper["height"] / 2 + 40, steps=4)
    page.mouse.up()
    together(visit)
    assert page.evaluate(f"{VIEWS}[0].map.map.getCenter().toArray()") != before
    page.evaluate(f"{VIEWS}[1].map.map.jumpTo({{zoom: 10}})")
    together(visit)
    page.wait_for_selector(".map-frame[data-ready]")
    assert "What changed" in page.locator(".map-frame[data-ready]").inner_text()


def together(visit: Visit) -> None:
    """Both maps show the same part of the world."""
    places = visit.page.evaluate(f"{VIEWS}.map(({{map: {{map}}}}) => [...map.getCenter().toArray(), map.getZoom()])")
    assert places[0] == pytest.approx(places[1])


def test_maps_of_other_places_stand_side_by_side(small_visit: Visit, tmp_path: Path) -> None:
    visit, page = small_visit, small_visit.page
    made = [
        release_directly(visit, trips(tmp_path / name, 100, box), place={"kind": "bbox", "bounds": list(box)})
        for name, box in (("a.csv", (7.3, 46.9, 7.5, 47.02)), ("b.csv", (8.5, 47.3, 8.6, 47.4)))
    ]
    page.evaluate(f"location.hash = 'compare/{made[0]['id']}/{made[1]['id']}'")
    expect(page.locator(".pair .map-frame[data-ready]")).to_have_count(2)
    expect(page.locator(".view-compare")).to_contain_text("They are of different places")
    expect(page.locator(".lead")).to_have_text("Equal colours are equal shares of people on both maps.")
    visit.judge()


def test_the_label_says_who_publishes_what_about_whom(visit: Visit, tmp_path: Path) -> None:
    page = visit.page
    made = release_directly(visit, trips(tmp_path / "trips.csv", 200), "riders 2026", title="June", epsilon="0.5")
    page.evaluate(f"location.hash = 'map/{made['id']}'")
    card = page.locator(".label-card")
    expect(card).to_contain_text("June")
    publisher = card.get_by_label("Published by")
    publisher.fill("City of Bern")
    publisher.press("Tab")
    expect(card.locator("dl")).to_contain_text("City of Bern")
    words = re.sub(r"\s+", " ", card.locator("dl").inner_text())
    assert "About whom riders 2026 Epsilon of this map 0.5 Limit for these people 5 in all; 0.5 of it spent by" in words
    assert "Place near Bern, 7.3° E to 7.5° E" in words
    assert card.locator("img").evaluate("e => e.decode().then(() => e.naturalWidth)") > 100
    page.get_by_label("Title of the map").fill("July")
    page.get_by_label("Title of the map").press("Tab")
    expect(card.locator(".label-title")).to_have_text("July")
    page.wait_for_selector(".map-frame:not([aria-busy])")
    visit.judge()

    page.reload()
    expect(card.locator("dl")).to_contain_text("City of Bern")  # filled in once
    page.wait_for_selector(".map-frame[data-ready=first]")
    page.emulate_media(media="print")
    expect(card.locator("img")).to_be_visible()
    expect(card.get_by_label("Published by")).to_be_hidden()
    expect(page.locator(".map-frame")).to_be_hidden()
    expect(page.locator(".outcome")).to_be_hidden()
    assert len(page.pdf()) > 10_000
    page.emulate_media(media="screen")


def test_the_account_says_what_charges_bought(small_visit: Visit, tmp_path: Path) -> None:
    visit, page = small_visit, small_visit.page
    made = release_directly(visit, trips(tmp_path / "trips.csv", 100), title="June")
    dph.Ledger(visit.served.ledger).charge("riders", "0.25")
    page.get_by_role("link", name="Account").click()
    visit.heading("Account")
    page.wait_for_selector(".entries[data-ready='3']")
    rows = page.locator(".entries tbody tr")
    expect(rows.nth(0)).to_contain_text("Made outside this app")
    expect(rows.nth(1)).to_contain_text("Map “June” of trips.csv")
    expect(rows.nth(2)).to_contain_text("Limit set to 5")
    visit.judge()
    page.get_by_role("button", name="Check the ledger").click()
    expect(page.get_by_role("status")).to_contain_text("The ledger is whole: 3 entries")
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Save all entries as a table").click()
    assert re.fullmatch(r"ledger-with-what-was-bought_\d{4}-\d\d-\d\d\.csv", waiting.value.suggested_filename)
    waiting.value.save_as(tmp_path / "entries.csv")
    with (tmp_path / "entries.csv").open(encoding="utf-8") as file:
        assert [row["bought"] for row in csv.DictReader(file)] == ["", "Map “June” of trips.csv", ""]
    rows.nth(1).get_by_role("link").click()
    page.wait_for_selector(".map-frame[data-ready=first]")
    assert page.evaluate("location.hash") == f"#map/{made['id']}"
