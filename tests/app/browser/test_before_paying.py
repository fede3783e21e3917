"""What people see before they pay, in Chromium: the place on the map and by its town, and nothing about their rows."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import expect

from helpers.served import BOX, trips
from helpers.visits import Visit, next_step, open_path, type_box

TYPO = (-BOX[2], BOX[1], -BOX[0], BOX[3])
"""The box of the tests with the wrong sign: in the Atlantic."""


def to_release(visit: Visit, table: Path, box: tuple[float, ...]) -> None:
    open_path(visit, table)
    next_step(visit, "Choose the place")
    type_box(visit.page, box)
    next_step(visit, "How strongly to protect people")
    next_step(visit, "What it costs, and release")


def test_a_typo_of_sign_is_seen_before_it_costs(visit: Visit, tmp_path: Path) -> None:
    page, served = visit.page, visit.served
    table = trips(tmp_path / "trips.csv", 100)
    open_path(visit, table)
    next_step(visit, "Choose the place")
    type_box(page, TYPO)
    expect(page.locator(".about-place .over")).to_contain_text("There is no land in this box")
    next_step(visit, "How strongly to protect people")
    next_step(visit, "What it costs, and release")
    shown = page.locator(".shown-place")
    expect(shown).to_contain_text("The nearest to its middle is Plonéour-Lanvern")
    expect(shown.locator(".over")).to_contain_text("it lies in the sea")
    page.wait_for_selector(".boxmap.small[data-ready]")
    assert drawn(visit) == [TYPO[0], TYPO[1], TYPO[2], TYPO[3]]
    visit.judge()
    page.get_by_label("Who are these people?").fill("riders")
    page.get_by_role("button", name="Release for epsilon 1").click()
    expect(page.get_by_role("alert")).to_contain_text("Look at the place first")
    assert served.charges("riders") == 0

    page.evaluate("location.hash = 'place'")
    type_box(page)
    expect(page.locator(".about-place")).to_contain_text("The largest town in it is Bern.")
    expect(page.locator(".about-place .over")).to_have_count(0)
    next_step(visit, "How strongly to protect people")
    next_step(visit, "What it costs, and release")
    expect(shown).to_contain_text("15 km wide and 13 km high. The largest town in it is Bern.")
    expect(page.get_by_label("This is the right place")).to_be_hidden()


def test_an_unlikely_place_can_be_the_right_one(small_visit: Visit, tmp_path: Path) -> None:
    """Ships are at sea: whoever says so may go on, and pays for a map."""
    visit, page = small_visit, small_visit.page
    to_release(visit, trips(tmp_path / "ships.csv", 100, TYPO), TYPO)
    page.get_by_label("Who are these people?").fill("sailors")
    page.get_by_label("This is the right place").check()
    page.wait_for_selector(".boxmap.small[data-ready]")
    visit.judge()
    page.get_by_role("button", name="Release for epsilon 1").click()
    page.wait_for_selector(".map-frame[data-ready=first]")
    assert visit.served.charges("sailors") == 1


def test_before_paying_the_page_asks_nothing_about_rows(visit: Visit, tmp_path: Path) -> None:
    """After the columns, what the page sends is the box, epsilon, a stated number of people, and which file it is."""
    sent: list[tuple[str, str]] = []
    page = visit.page
    open_path(visit, trips(tmp_path / "trips.csv", 100))
    page.on("request", lambda asked: sent.append((asked.url.removeprefix(visit.served.origin), asked.post_data or "")))
    next_step(visit, "Choose the place")
    type_box(page)
    next_step(visit, "How strongly to protect people")
    page.wait_for_selector(".previews[data-ready]")
    next_step(visit, "What it costs, and release")
    page.wait_for_selector(".boxmap.small[data-ready]")
    with_file = {path for path, body in sent if "trips" in path + body}
    assert with_file == {"/api/charged"}, "which people its name was charged to"
    assert any(path.startswith("/api/place?bounds=") for path, _ in sent)
    assert not any(path.startswith(("/api/inspect", "/api/releases", "/api/discover")) for path, _ in sent)


def drawn(visit: Visit) -> list[float]:
    """The box on the map of the release step."""
    ring = visit.page.evaluate(
        "document.querySelector('.boxmap.small').boxmap.map.getSource('box').serialize()"
        ".data.features[0].geometry.coordinates[0]"
    )
    assert visit.page.evaluate("document.querySelector('.boxmap.small').boxmap.view()")[0] < ring[0][0]
    return [*ring[0], *ring[2]]
