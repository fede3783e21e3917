"""The map's step in Chromium: its title, its look, what stands above it, and whom another file is about."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import expect

import dpheatmap as dph
from helpers.served import trips
from helpers.visits import Visit, next_step, open_path, release_directly, type_box

READY = ".map-frame[data-ready=first]:not([aria-busy])"
STATE = "(({show, smooth, theme}) => [show, smooth, theme])(dpheatmap.state)"


def test_title_and_look_outlast_smoothing_leaving_and_downloads(visit: Visit, tmp_path: Path) -> None:
    page, served = visit.page, visit.served
    table = trips(tmp_path / "trips.csv", 400)
    open_path(visit, table)
    page.evaluate("location.hash = 'place'")
    type_box(page)
    page.evaluate("location.hash = 'release'")
    page.get_by_label("Title of the map").fill("Riders in June")
    page.get_by_label("Who are these people?").fill("riders")
    page.get_by_role("button", name="Release for epsilon 1").click()
    page.wait_for_selector(READY)
    expect(page.locator(".map-frame h1")).to_have_text("Riders in June")
    page.wait_for_selector(".label-card")

    page.evaluate("dpheatmap.set({smooth: true, theme: 'dark', view: {lng: 7.4, lat: 46.95, zoom: 11.5}})")
    slider = page.get_by_label("Smoothing")
    slider.focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_selector(".map-frame:not([data-ready=first]):not([aria-busy])")
    assert page.evaluate(STATE) == ["heat", True, "dark"]
    assert abs(page.evaluate("dpheatmap.map.map.getZoom()") - 11.5) < 0.01
    expect(page.locator(".map-frame h1")).to_have_text("Riders in June")

    title = page.get_by_label("Title of the map")
    title.fill("Riders in July")
    title.press("Tab")
    expect(page.locator(".map-frame h1")).to_have_text("Riders in July")
    page.wait_for_selector(".map-frame:not([aria-busy])")
    assert page.evaluate(STATE) == ["heat", True, "dark"]
    page.evaluate("dpheatmap.set({theme: 'light'})")
    with page.expect_download() as waiting:
        page.locator(".files").get_by_role("link", name=".html", exact=True).click()
    assert waiting.value.suggested_filename == "public-map_Riders-in-July_epsilon-1.html"
    waiting.value.save_as(tmp_path / "map.html")
    assert "<title>Riders in July</title>" in (tmp_path / "map.html").read_text()
    with visit.client() as client:
        (record,) = client.get("/api/releases").json()
    assert (record["title"], record["look"]["theme"], record["look"]["smooth"]) == ("Riders in July", "light", True)
    assert '"style":"smooth"' in (tmp_path / "map.html").read_text()
    visit.judge()

    page.get_by_role("link", name="Shelf").click()
    expect(page.locator(".card h2")).to_have_text("Riders in July")
    page.get_by_role("link", name="Open").click()
    page.wait_for_selector(f".map-frame[data-ready='{record['sigma']:g}']")
    assert page.evaluate(STATE) == ["heat", True, "light"]
    assert page.get_by_label("Smoothing").input_value() == "25"
    assert served.charges("riders") == 1


def test_the_outcome_stands_above_the_map(visit: Visit, tmp_path: Path) -> None:
    page = visit.page
    table = trips(tmp_path / "trips.csv", 200)
    told = page.locator(".outcome")
    for words in ("Epsilon 1 was charged to riders.", "The same as before: it was released on"):
        open_path(visit, table)
        page.evaluate("location.hash = 'place'")
        type_box(page)
        page.evaluate("location.hash = 'release'")
        page.get_by_label("Who are these people?").fill("riders")
        page.get_by_role("button", name="Release for epsilon 1").click()
        expect(told).to_contain_text(words)
        expect(told).to_contain_text("2 of 3 is left for riders.")
        page.wait_for_selector(READY)
        above, frame = told.bounding_box(), page.locator(".map-frame").bounding_box()
        assert above is not None
        assert frame is not None
        assert above["y"] + above["height"] <= frame["y"]
        page.get_by_role("link", name="New map").click()
    assert visit.served.charges("riders") == 1


def test_a_map_without_signal_says_so_above_it(visit: Visit, tmp_path: Path) -> None:
    """From the noisy map and the public place. The exact numbers are below, for the holder's eyes."""
    page = visit.page
    made = release_directly(visit, trips(tmp_path / "away.csv", 300, (100.0, 10.0, 101.0, 11.0)), epsilon="0.1")
    page.evaluate(f"location.hash = 'map/{made['id']}'")
    told = page.locator(".outcome")
    expect(told).to_contain_text("No place stands out from the noise. Perhaps nobody is inside this place")
    expect(told).to_contain_text("The largest town in it is Bern.")
    assert "row" not in told.inner_text()
    expect(page.locator(".private")).to_contain_text("No row lies inside the place")
    visit.judge()


def test_another_file_is_asked_anew_whom_it_is_about(visit: Visit, tmp_path: Path) -> None:
    page, ledger = visit.page, dph.Ledger(visit.served.ledger)
    ledger.limit("riders", 3)
    name = page.get_by_label("Who are these people?")
    for table in (trips(tmp_path / "first.csv", 50), trips(tmp_path / "second.csv", 60)):
        page.evaluate("location.hash = 'file'")
        open_path(visit, table)
        page.evaluate("location.hash = 'place'")
        type_box(page)
        next_step(visit, "How strongly to protect people")
        next_step(visit, "What it costs, and release")
        expect(name).to_have_value("")
        name.fill("riders")
        page.get_by_label("Title of the map").fill("A title")
        page.reload()
        expect(name).to_have_value("riders")  # of the same file it is remembered
    page.get_by_role("link", name="New map").click()
    open_path(visit, tmp_path / "first.csv")
    page.evaluate("location.hash = 'place'")
    type_box(page)
    page.evaluate("location.hash = 'release'")
    page.get_by_role("button", name="Release for epsilon 1").click()
    expect(page.get_by_role("alert")).to_contain_text("Say first who these people are.")
    assert visit.served.charges("riders") == 0
