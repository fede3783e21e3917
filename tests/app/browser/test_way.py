"""The whole way in Chromium: from a file to a map, its files and the shelf; numbers shown are the library's."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import expect

import dpheatmap as dph
from dpheatmap.render import FORMATS, RELEASE_SUFFIX
from dpheatmap.render.content.picture import picture_of
from helpers.browser import pointed
from helpers.served import BOX, trips
from helpers.visits import Visit, next_step, open_path, type_box


def release(visit: Visit, population: str, epsilon: str = "1") -> None:
    page = visit.page
    page.get_by_label("Who are these people?").fill(population)
    page.get_by_role("button", name=f"Release for epsilon {epsilon}").click()
    page.wait_for_selector(".map-frame[data-ready=first]")


def taken(visit: Visit, folder: Path, suffix: str) -> Path:
    with visit.page.expect_download() as waiting:
        visit.page.locator(".files").get_by_role("link", name=suffix, exact=True).click()
    path = folder / waiting.value.suggested_filename
    waiting.value.save_as(path)
    return path


def hovered(visit: Visit, row: int, column: int) -> str:
    """What the map tells under the pointer."""
    page = visit.page
    page.locator(".map-frame").scroll_into_view_if_needed()
    at = page.evaluate(f"dpheatmap.screenOf({row}, {column})")
    return pointed(page, at["x"], at["y"])


def test_a_city_from_a_file_to_the_shelf(visit: Visit, tmp_path: Path) -> None:
    page = visit.page
    table = trips(tmp_path / "trips.csv", 1500)
    visit.judge()
    page.locator("input[type=file]").set_input_files(table)
    visit.heading("What the app makes of it")
    assert page.get_by_label("Person", exact=True).input_value() == "rider"
    assert page.get_by_label("x, or longitude").input_value() == "lon"
    assert "for your eyes only" in page.locator(".private").inner_text().lower()
    visit.judge()

    next_step(visit, "Choose the place")
    page.wait_for_selector(".boxmap[data-ready]")
    next_is_refused(visit)
    frame = page.locator(".boxmap").bounding_box()
    assert frame is not None
    page.get_by_role("button", name="Draw a box").click()
    page.mouse.move(frame["x"] + 300, frame["y"] + 150)
    page.mouse.down()
    page.mouse.move(frame["x"] + 500, frame["y"] + 300, steps=4)
    page.mouse.up()
    drawn = [float(page.get_by_label(name, exact=True).input_value()) for name in ("West", "South", "East", "North")]
    for x, y, corner in ((300, 300, drawn[:2]), (500, 150, drawn[2:])):
        at = page.evaluate(f"document.querySelector('.boxmap').boxmap.map.unproject([{x - 1}, {y - 1}])")
        assert corner == pytest.approx([at["lng"], at["lat"]], abs=0.5)
    page.get_by_label("Find a town").fill("Bern")
    page.get_by_role("button", name="Bern", exact=True).click()
    assert float(page.get_by_label("West", exact=True).input_value()) == pytest.approx(7.32, abs=0.05)
    page.get_by_role("button", name="Undo").click()
    assert float(page.get_by_label("West", exact=True).input_value()) == drawn[0]
    type_box(page)
    visit.judge()

    next_step(visit, "How strongly to protect people")
    page.get_by_label("About how many people").fill("1500")
    page.wait_for_selector(".previews[data-ready]")
    plan = dph.plan(dph.Domain.bbox(*BOX), epsilon=1, users=1500)
    expect(page.locator(".plan")).to_contain_text(plan.advice)
    page.get_by_label("Epsilon", exact=True).fill("100")
    expect(page.locator(".plan .caution")).to_contain_text("An epsilon of 10 or more is a formality")
    visit.judge()
    page.get_by_label("Epsilon", exact=True).fill("1")
    expect(page.locator(".plan .caution")).to_have_count(0)
    visit.judge()

    next_step(visit, "What it costs, and release")
    page.get_by_label("Who are these people?").fill("riders")
    expect(page.locator(".budget")).to_contain_text("This costs 1. Afterwards 2 will be left.")
    visit.judge()
    page.get_by_role("button", name="Release for epsilon 1").dblclick()
    page.wait_for_selector(".map-frame[data-ready=first]")
    assert visit.served.charges("riders") == 1
    page.wait_for_selector(".label-card")
    visit.judge()
    files = {suffix: taken(visit, tmp_path, suffix) for suffix in (RELEASE_SUFFIX, ".html", ".png", ".csv")}
    assert page.locator(".files a").count() == 1 + len(FORMATS)
    made = dph.load(files[RELEASE_SUFFIX])
    dph.Ledger(visit.served.ledger).verify([made])
    check_numbers(visit, made, None)
    slider = page.get_by_label("Smoothing")
    slider.focus()
    for _ in range(6):
        page.keyboard.press("ArrowRight")
    sigma = float(f"{made.heatmap().sigma * 8 ** (6 / 24):.3g}")  # the slider's ends are 24 steps and a factor 8 away
    page.wait_for_selector(f".map-frame[data-ready='{sigma:g}']:not([aria-busy])")
    check_numbers(visit, made, sigma)
    assert visit.served.charges("riders") == 1

    page.get_by_role("link", name="Shelf").click()
    visit.heading("The shelf")
    page.wait_for_selector(".cards[data-ready='1']")
    visit.judge()
    page.get_by_role("link", name="Account").click()
    expect(page.locator(".chart figcaption")).to_have_text("What was spent on riders: 1 of 3")
    visit.judge()


def next_is_refused(visit: Visit) -> None:
    visit.page.get_by_role("button", name="Next").click()
    expect(visit.page.get_by_role("alert")).to_contain_text("Choose a place first.")


def check_numbers(visit: Visit, made: dph.Release, sigma: float | None) -> None:
    """Ranges on the screen hold what the library computes from the file that was downloaded."""
    picture = picture_of(made.heatmap(sigma=sigma)).at_most(724)
    rows, columns = picture.values.shape
    hottest = divmod(int(picture.values.argmax()), columns)
    for row, column in (hottest, (rows // 3, columns // 4)):
        told = hovered(visit, row, column)
        numbers = [float(number.replace(",", "")) for number in re.findall(r"[\d.,]*\d", told.partition(" of ")[0])]
        low, high = numbers if len(numbers) == 2 else (0.0, *numbers)
        assert low - 1 <= picture.values[row, column] <= high + 1, told
        assert high < 4 * picture.values.max()


def test_gaze_on_an_image_in_a_small_window(small_visit: Visit, tmp_path: Path) -> None:
    """The same at 400 pixels, in the dark, with the picture under the heat; then two releases on one scale."""
    visit, page = small_visit, small_visit.page
    table = trips(tmp_path / "gaze.parquet", 300, (0.0, 0.0, 160.0, 120.0))
    Image.fromarray(np.full((120, 160, 3), 200, np.uint8)).save(tmp_path / "poster.png")
    visit.judge()
    open_path(visit, table)
    visit.judge()
    next_step(visit, "Choose the place")
    page.get_by_label("An image or a screen").check()
    page.locator("input[type=file]").set_input_files(tmp_path / "poster.png")
    expect(page.locator(".picture")).to_contain_text("poster.png: 160 x 120 pixels")
    visit.judge()
    next_step(visit, "How strongly to protect people")
    page.get_by_label("Epsilon", exact=True).fill("2")
    page.wait_for_selector(".previews[data-ready='2']")
    visit.judge()
    next_step(visit, "What it costs, and release")
    page.get_by_label("All releases about them together").fill("5")
    visit.judge()
    release(visit, "participants", "2")
    page.wait_for_selector(".label-card")
    visit.judge()
    made = dph.load(taken(visit, tmp_path, RELEASE_SUFFIX))
    assert made.domain == dph.Domain.image(160, 120)
    assert page.locator(".files .refused").count() == 3
    assert "--image 160x120" in (page.locator(".recipes").text_content() or "")
    data = json.loads(next((visit.served.folder / "releases").glob("*/map-*.json")).read_text())
    assert data["background"].startswith("data:image/jpeg")

    page.get_by_role("link", name="New map").click()
    visit.heading("Choose a file")
    page.get_by_role("button", name="Next").click()
    for step in ("Choose the place", "How strongly to protect people"):
        next_step(visit, step)
    page.get_by_label("Epsilon", exact=True).fill("1/2")
    next_step(visit, "What it costs, and release")
    release(visit, "participants", "1/2")
    page.get_by_role("link", name="Shelf").click()
    page.wait_for_selector(".cards[data-ready='2']")
    for tick in page.get_by_role("checkbox").all():
        tick.check()
    visit.judge()
    page.get_by_role("button", name="Compare", exact=True).click()
    page.wait_for_selector("section[data-ready] .swipe")
    expect(page.locator(".map-frame[data-ready]")).to_have_count(1)
    assert "What changed" in page.locator(".map-frame[data-ready]").inner_text()
    visit.judge()


def test_the_keyboard_alone_goes_the_whole_way(visit: Visit, tmp_path: Path) -> None:
    """Tab, Enter, Space and letters; no pointer."""
    page = visit.page
    table = trips(tmp_path / "trips.csv", 200)

    def reach(name: str) -> None:
        """Press Tab until something of this name has the focus."""
        names = "e.getAttribute('aria-label') || e.labels?.[0]?.textContent || e.textContent || ''"
        script = f"(e => {names})(document.activeElement)"
        for _ in range(60):
            page.keyboard.press("Tab")
            if str(page.evaluate(script)).strip().startswith(name):
                return
        pytest.fail(f"{name} can't be reached")

    reach("Path on this machine")
    page.keyboard.type(str(table))
    page.keyboard.press("Enter")
    visit.heading("What the app makes of it")
    assert page.evaluate("document.activeElement.tagName") == "H1"
    reach("Next")
    page.keyboard.press("Enter")
    visit.heading("Choose the place")
    page.wait_for_selector(".boxmap[data-ready]")
    reach("Find a town")
    page.keyboard.type("Bern")
    page.wait_for_selector(".towns[data-ready=Bern]")
    reach("Bern")
    page.keyboard.press("Enter")
    assert page.get_by_label("West", exact=True).input_value() != ""
    reach("Next")
    page.keyboard.press("Enter")
    visit.heading("How strongly to protect people")
    reach("Next")
    page.keyboard.press("Enter")
    visit.heading("What it costs, and release")
    reach("Who are these people?")
    page.keyboard.type("riders")
    reach("Release for epsilon 1")
    page.keyboard.press("Enter")
    page.wait_for_selector(".map-frame[data-ready=first]")
    page.wait_for_selector(".label-card")
    reach("Smoothing")
    assert visit.served.charges("riders") == 1


def test_names_and_cells_are_text(visit: Visit, tmp_path: Path) -> None:
    """Nothing of a file becomes HTML: not its name, not its columns, not what a release of it says."""
    page = visit.page
    evil = "<img src=x onerror=window.hacked=1>"
    table = tmp_path / f"{evil.replace('/', '')}.csv"
    rows = "\n".join(f'"{evil}",7.4,46.95' for _ in range(20))
    table.write_text(f'"{evil}","lon{evil}","lat<script>window.hacked=1</script>"\n{rows}\n')
    open_path(visit, table)
    page.get_by_label("Person", exact=True).select_option(evil)
    page.get_by_label("x, or longitude").select_option(f"lon{evil}")
    page.get_by_label("y, or latitude").select_option("lat<script>window.hacked=1</script>")
    next_step(visit, "Choose the place")
    type_box(page)
    next_step(visit, "How strongly to protect people")
    next_step(visit, "What it costs, and release")
    release(visit, evil)
    page.wait_for_selector(".label-card")
    assert evil in (page.locator(".recipes").text_content() or "")
    page.get_by_role("link", name="Shelf").click()
    page.wait_for_selector(".cards[data-ready='1']")
    assert evil in page.locator(".card").inner_text()
    assert page.evaluate("window.hacked") is None
    assert page.locator("img[src=x]").count() == 0


def test_tabs_share_one_release_and_deleting_can_be_undone(visit: Visit, tmp_path: Path) -> None:
    page = visit.page
    table = trips(tmp_path / "trips.csv", 200)
    other = visit.watch(visit.context.new_page())
    other.goto(visit.served.origin)
    other.wait_for_selector("body[data-ready]")
    for tab in (page, other):
        open_path(Visit(tab, visit.context, visit.served, visit.width), table)
        tab.evaluate("location.hash = 'place'")
        type_box(tab)
        tab.evaluate("location.hash = 'release'")
        tab.get_by_label("Who are these people?").fill("riders")
    for tab in (page, other):
        tab.get_by_role("button", name="Release for epsilon 1").click(no_wait_after=True)
    for tab in (page, other):
        tab.wait_for_selector(".label-card")
    assert visit.served.charges("riders") == 1
    told = [tab.locator(".outcome .happened").inner_text() for tab in (page, other)]
    again = [words for words in told if words.startswith("The same as before")]
    assert len(again) == 1, told  # either tab may have come second
    assert again[0].endswith("Nothing was charged.")
    page.get_by_role("link", name="Shelf").click()
    page.get_by_role("button", name=re.compile("^Delete")).click()
    page.wait_for_selector(".cards[data-ready='0']")
    page.get_by_role("button", name="Undo").click()
    page.wait_for_selector(".cards[data-ready='1']")
    page.get_by_role("link", name="Open").click()
    page.wait_for_selector(".map-frame[data-ready=first]")


def test_problems_are_told_in_words(visit: Visit, tmp_path: Path) -> None:
    page = visit.page
    alert = page.get_by_role("alert")
    page.get_by_label("Path on this machine").fill("/no/such/file.csv")
    page.get_by_role("button", name="Open the path").click()
    expect(alert).to_contain_text("There is no file /no/such/file.csv on this machine. Check the path.")
    page.locator(".drop").evaluate(
        """zone => {
          const dataTransfer = new DataTransfer();
          dataTransfer.items.add(new File(["a,b\\n1,2\\n"], "plain.csv"));
          zone.dispatchEvent(new DragEvent("drop", { dataTransfer, bubbles: true, cancelable: true }));
        }"""
    )
    visit.heading("What the app makes of it")
    expect(page.locator(".warning-list")).to_contain_text("no column looks like a person's id")
    page.get_by_role("button", name="Next").click()
    expect(alert).to_contain_text("Choose the person, x and y first.")

    # Each step keeps what it can't go on with, and says why.
    page.get_by_role("link", name="New map").click()
    open_path(visit, trips(tmp_path / "trips.csv", 20))
    next_step(visit, "Choose the place")
    type_box(page, (7.5, 46.9, 7.3, 47.02))
    page.get_by_role("button", name="Next").click()
    expect(alert).to_contain_text("is inverted: west must be below east")
    type_box(page)
    next_step(visit, "How strongly to protect people")
    page.get_by_label("Epsilon", exact=True).fill("0")
    page.get_by_role("button", name="Next").click()
    expect(alert).to_contain_text("epsilon must be a number above 0")
    page.get_by_role("link", name="Back").click()
    visit.heading("Choose the place")
    next_step(visit, "How strongly to protect people")
    page.get_by_label("Epsilon", exact=True).fill("1")
    next_step(visit, "What it costs, and release")
    page.get_by_role("button", name="Release for epsilon 1").click()
    expect(alert).to_contain_text("Say first who these people are.")
    page.get_by_label("Who are these people?").fill("riders")
    page.get_by_label("All releases about them together").fill("many")
    expect(page.locator(".budget .over")).to_have_text("The limit must be a number above 0.")
    dph.Ledger(visit.served.ledger).limit("riders", "0.5")
    dph.Ledger(visit.served.ledger).charge("riders", "0.5")
    page.get_by_role("link", name="Back").click()
    visit.heading("How strongly to protect people")
    next_step(visit, "What it costs, and release")
    expect(page.locator(".budget .over")).to_contain_text("nothing is left: the limit of these people is used up")
    page.get_by_role("button", name="Release for epsilon 1").click()
    expect(alert).to_contain_text("has 0 of its limit of 0.5 left")
    assert all(said.startswith("error: Failed to load resource") for said in visit.said), visit.said
    visit.said.clear()  # the browser itself notes the refusal on the console
