"""What people do who don't know the app: reload, go back, leave in the middle, draw beside the map, take any file."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from playwright.sync_api import Browser, Page, Route, expect

import dpheatmap as dph
from helpers.browser import window
from helpers.served import Served, trips, until
from helpers.visits import Visit, next_step, open_path, type_box

EDGES = ("West", "South", "East", "North")


@contextmanager
def nothing_drawn(served: Served) -> Iterator[None]:
    """The process that draws stands still meanwhile, so that a release can't get beyond its charge."""
    (drawing,) = until(lambda: drawing_processes(served), bool)
    os.kill(drawing, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(drawing, signal.SIGCONT)


def drawing_processes(served: Served) -> list[int]:
    """The worker: the child of the app that Python spawned, beside the one that tracks its semaphores."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # others come and go meanwhile
            parent = (process / "stat").read_text().rpartition(")")[2].split()[1]
            if int(parent) == served.process.pid and b"spawn_main" in (process / "cmdline").read_bytes():
                found.append(int(process.name))
    return found


def box_of(page: Page) -> list[str]:
    return [page.get_by_label(name, exact=True).input_value() for name in EDGES]


def at_the_place(visit: Visit, table: Path) -> None:
    open_path(visit, table)
    next_step(visit, "Choose the place")
    visit.page.wait_for_selector(".boxmap[data-ready]")


def test_a_release_on_its_way_survives_reloading_and_leaving(visit: Visit, tmp_path: Path) -> None:
    """It has an address of its own, where it is followed; the shelf leads there; a second one can be cancelled."""
    page, served = visit.page, visit.served
    table = trips(tmp_path / "trips.csv", 100)
    dph.Ledger(served.ledger).limit("riders", 5)
    making = "The map is being made"
    with nothing_drawn(served):
        open_path(visit, table)
        page.evaluate("location.hash = 'place'")
        type_box(page)
        page.evaluate("location.hash = 'release'")
        page.get_by_label("Who are these people?").fill("riders")
        page.get_by_role("button", name="Release for epsilon 1").click()
        visit.heading(making)
        expect(page.get_by_role("status")).to_have_text("Drawing the map …")
        page.reload()
        visit.heading(making)
        expect(page.get_by_role("status")).to_have_text("Drawing the map …")
        visit.judge()
        page.get_by_role("link", name="Shelf").click()
        expect(page.locator(".card")).to_contain_text("being made")
        expect(page.locator(".card").get_by_role("button", name="Delete")).to_have_count(0)
        page.get_by_role("link", name="See how it gets on").click()
        visit.heading(making)

        page.evaluate("location.hash = 'strength'")  # another one, which has to wait for the first
        page.get_by_label("Epsilon", exact=True).fill("1/2")
        page.evaluate("location.hash = 'release'")
        page.get_by_role("button", name="Release for epsilon 1/2").click()
        expect(page.get_by_role("status")).to_have_text("Waiting for another release …")
        with page.expect_response("**/cancel"):
            page.get_by_role("button", name="Cancel").click()
    visit.heading("Cancelled")
    expect(page.get_by_role("status")).to_have_text("Cancelled before anything was charged.")
    assert page.evaluate("document.activeElement.tagName") == "H1"
    page.get_by_role("link", name="Back to the release").click()
    visit.heading("What it costs, and release")
    page.get_by_role("link", name="Shelf").click()
    page.get_by_role("link", name="Open").click()
    page.wait_for_selector(".map-frame[data-ready=first]")
    visit.heading("The map")
    assert served.charges("riders") == 1


def test_the_way_back_never_ends(visit: Visit) -> None:
    """A step that can't be shown yet leads elsewhere, and is not in the way of the browser's back button."""
    page = visit.page
    page.get_by_role("link", name="Shelf").click()
    visit.heading("The shelf")
    for step in ("columns", "place", "strength", "release"):
        page.evaluate(f"location.hash = '{step}'")
        visit.heading("Choose a file")
        page.go_back()
        visit.heading("The shelf")
        assert page.evaluate("location.hash") == "#shelf"


def test_drawing_can_be_given_up_and_goes_beyond_the_edge(visit: Visit, tmp_path: Path) -> None:
    page = visit.page
    at_the_place(visit, trips(tmp_path / "trips.csv", 20))
    draw = page.get_by_role("button", name="Draw a box")
    frame = page.locator(".boxmap").bounding_box()
    assert frame is not None
    draw.click()
    page.keyboard.press("Escape")  # the button has the focus, not the map
    expect(draw).to_have_attribute("aria-pressed", "false")

    draw.click()
    page.mouse.move(frame["x"] + 300, frame["y"] + 200)
    page.mouse.down()
    page.mouse.move(frame["x"] + 500, frame["y"] + 100)
    page.keyboard.press("Escape")
    page.mouse.up()
    assert box_of(page) == [""] * 4
    outline = "document.querySelector('.boxmap').boxmap.map.getSource('box').serialize().data.features.length"
    assert page.evaluate(outline) == 0

    draw.click()
    page.mouse.move(frame["x"] + 300, frame["y"] + 200)
    page.mouse.down()
    page.mouse.move(frame["x"] + 500, frame["y"] - 60)
    page.mouse.up()
    expect(draw).to_have_attribute("aria-pressed", "false")
    top = page.evaluate("document.querySelector('.boxmap').boxmap.map.getBounds().getNorth()")
    assert abs(float(box_of(page)[3]) - top) < 0.1


def test_a_finger_draws_and_does_not_move_the_page(browser: Browser, served: Served, tmp_path: Path) -> None:
    context = window(browser, 400, 800, "light", has_touch=True)
    page = context.new_page()
    visit = Visit(page, context, served, 400)
    page.goto(served.link)
    page.wait_for_selector("body[data-ready]")
    at_the_place(visit, trips(tmp_path / "trips.csv", 20))
    page.get_by_role("button", name="Draw a box").tap()
    page.locator(".boxmap").scroll_into_view_if_needed()
    frame, before = page.locator(".boxmap").bounding_box(), page.evaluate("scrollY")
    assert frame is not None
    x, y = frame["x"] + 101, frame["y"] + 101
    fingers = context.new_cdp_session(page)
    for kind, moved in [("touchStart", 0), *(("touchMove", 10 * k) for k in range(1, 13)), ("touchEnd", None)]:
        points = [] if moved is None else [{"x": x + moved, "y": y + moved}]
        fingers.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
    expect(page.get_by_label("West", exact=True)).not_to_have_value("")
    assert page.evaluate("scrollY") == before
    corners = page.evaluate(
        "[[100, 220], [220, 100]].map(at => document.querySelector('.boxmap').boxmap.map.unproject(at))"
        ".flatMap(({lng, lat}) => [lng, lat])"
    )
    assert [float(edge) for edge in box_of(page)] == pytest.approx(corners, abs=1)  # a pixel is about as wide
    context.close()


def test_a_file_that_is_left_or_refused_leaves_nothing_behind(visit: Visit, tmp_path: Path) -> None:
    page, kept = visit.page, visit.served.folder / "uploads"
    good, bad = trips(tmp_path / "good.csv", 20), tmp_path / "bad.csv"
    bad.write_text("rider,lon,lon\n1,7.4,46.9\n")
    chooser = page.locator("input[type=file]")
    held: list[Route] = []
    page.route("**/api/inspect", lambda route: held.append(route))
    chooser.set_input_files(good)
    expect(page.locator(".status")).to_have_text("Looking through good.csv …")

    def arrived() -> list[Route]:
        page.wait_for_timeout(10)  # in which the browser's messages are read
        return held

    until(arrived, bool)
    page.get_by_role("link", name="Shelf").click()
    visit.heading("The shelf")
    with page.expect_response(lambda answer: answer.request.method == "DELETE"):
        held[0].continue_()
    page.unroute("**/api/inspect")
    visit.heading("The shelf")  # nobody was taken elsewhere
    assert list(kept.iterdir()) == []

    page.get_by_role("link", name="New map").click()
    open_path(visit, good)
    page.get_by_role("link", name="New map").click()
    with page.expect_response(lambda answer: answer.request.method == "DELETE"):
        chooser.set_input_files(bad)
    expect(page.get_by_role("alert")).to_contain_text("bad.csv")
    expect(page.locator(".status")).to_have_text("Chosen: good.csv")  # that is what Next goes on with
    assert list(kept.iterdir()) == []
    dropped = """() => {
      const event = new DragEvent("drop", { dataTransfer: new DataTransfer(), bubbles: true, cancelable: true });
      document.querySelector("h1").dispatchEvent(event);
      return event.defaultPrevented;
    }"""
    assert page.evaluate(dropped), "the browser would open what is dropped beside the zone"
    assert all(said.startswith("error: Failed to load resource") for said in visit.said), visit.said
    visit.said.clear()


def test_a_new_file_does_not_take_the_old_one_from_its_release(visit: Visit, tmp_path: Path) -> None:
    """While a release waits for its turn, the next file is chosen, and the app forgets the one before."""
    page, served = visit.page, visit.served
    dph.Ledger(served.ledger).limit("riders", 5)
    first, second = trips(tmp_path / "first.csv", 50), trips(tmp_path / "second.csv", 60)
    chooser = page.locator("input[type=file]")
    with nothing_drawn(served):
        for table, told in ((first, "Drawing the map …"), (second, "Waiting for another release …")):
            page.evaluate("location.hash = 'file'")
            chooser.set_input_files(table)
            visit.heading("What the app makes of it")
            page.evaluate("location.hash = 'place'")
            type_box(page)
            page.evaluate("location.hash = 'release'")
            page.get_by_label("Who are these people?").fill("riders")
            page.get_by_role("button", name="Release for epsilon 1").click()
            expect(page.get_by_role("status")).to_have_text(told)
        page.evaluate("location.hash = 'file'")
        with page.expect_response(lambda answer: answer.request.method == "DELETE"):
            chooser.set_input_files(first)
        visit.heading("What the app makes of it")
    page.get_by_role("link", name="Shelf").click()

    def opened() -> int:
        page.reload()
        page.wait_for_selector(".cards[data-ready='2']")
        return page.get_by_role("link", name="Open").count()

    until(opened, lambda count: count == 2)
    assert served.charges("riders") == 2
    until(lambda: len(list((served.folder / "uploads").iterdir())), lambda count: count == 1)


def test_what_can_not_be_used_is_said_where_it_is_chosen(visit: Visit, tmp_path: Path) -> None:
    page, alert = visit.page, visit.page.get_by_role("alert")
    floats = tmp_path / "floats.parquet"
    pq.write_table(pa.table({"rider": [1.0, 2.0], "lon": [7.4, 7.41], "lat": [46.9, 46.95]}), floats)
    open_path(visit, floats)
    page.get_by_role("button", name="Next").click()
    expect(alert).to_contain_text("rider holds numbers with fractions, in which the ids of different people can")

    empty = tmp_path / "empty.csv"
    names = ["rider", "lon", "lat", "x" * 500, *(f"c{k}" for k in range(296))]
    empty.write_text(",".join(names) + "\n")
    page.get_by_role("link", name="New map").click()
    open_path(visit, empty)
    expect(page.locator(".hints")).to_contain_text("The table has no rows.")
    visit.judge()
    assert page.evaluate("document.documentElement.scrollHeight") < 3 * 900, "the way on is far below 300 columns"
    next_step(visit, "Choose the place")
    page.get_by_label("Find a town").fill("Springfield")
    page.get_by_role("button", name="Springfield, near Boston").click()
    assert page.evaluate("document.activeElement.type") == "search"
    assert abs(float(box_of(page)[0]) + 72.7) < 0.5
    type_box(page)
    next_step(visit, "How strongly to protect people")
    page.get_by_label("Epsilon", exact=True).fill("1/3")
    assert page.get_by_role("slider").input_value() == "2", "of the common ones, 0.5 is the nearest"
    page.wait_for_selector(".previews[data-ready='1/3']")
    page.get_by_label("About how many people").fill("0")
    expect(alert).to_contain_text("The number of people must be a whole number, 1 or more.")
    page.get_by_label("About how many people").fill("50")
    expect(alert).to_be_hidden()


def test_names_that_run_to_the_left_leave_numbers_where_they_are(visit: Visit) -> None:
    """On the screen 'spent on N: 1 of 3' would otherwise read '3 of 1', or worse."""
    name = "راكبو الدراجات 2026"
    ledger = dph.Ledger(visit.served.ledger)
    ledger.limit(name, 3)
    ledger.charge(name, 1)
    visit.page.get_by_role("link", name="Account").click()
    expect(visit.page.locator(".chart figcaption")).to_have_text(f"What was spent on \u2068{name}\u2069: 1 of 3")


def test_who_has_no_session_reads_why(browser: Browser, served: Served) -> None:
    """The address without its link, opened in a window, is answered by a page."""
    context = window(browser, 400, 800, "light")
    page = context.new_page()
    page.goto(served.origin)
    expect(page.locator("main")).to_have_text(
        "This browser has not opened the link that dpheatmap app printed. "
        "Start dpheatmap app again: it opens the one that is running."
    )
    context.close()
