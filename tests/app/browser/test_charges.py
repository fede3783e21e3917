"""What costs, in Chromium: a place that is discovered for its price, and what is told after a kill in mid-release."""

from __future__ import annotations

import json
import re
import signal
from contextlib import suppress
from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction
from pathlib import Path

import httpx
from playwright.sync_api import Browser, Route, expect

import dpheatmap as dph
from dpheatmap.design.privacy_loss import PureLoss
from dpheatmap.releases.discovery import Discovery
from helpers.served import BOX, PATIENCE, serving, trips, wanted
from helpers.visits import Visit, next_step, open_path, type_box, visiting

EDGES = ("West", "South", "East", "North")


def test_a_place_is_discovered_for_the_price_that_is_shown(visit: Visit, tmp_path: Path) -> None:
    page, served = visit.page, visit.served
    open_path(visit, trips(tmp_path / "trips.parquet", 12_000))  # a box is found for sure
    next_step(visit, "Choose the place")
    page.get_by_label("Let it be discovered, for a price").check()
    page.get_by_label("Price in epsilon").fill("1/2")
    page.get_by_label("Who are these people?").fill("riders")
    expect(page.locator(".budget")).to_contain_text("This costs 1/2. Afterwards 2.5 will be left.")
    visit.judge()
    page.get_by_role("button", name="Discover for epsilon 1/2").click()
    told = page.locator(".stored")
    expect(told).to_contain_text("This cost epsilon = 0.5.")

    account = dph.Ledger(served.ledger).accounts()["riders"]
    assert (account.spent, account.charges, str(account.limit)) == (Fraction(1, 2), 1, "3")
    (journal,) = (json.loads(path.read_text()) for path in served.folder.glob("releases/*/job.json"))
    assert journal["wanted"]["epsilon"] == "0.5"

    # The box is taken over: into the fields and the map, whole tiles of it, around where people are.
    expect(page.get_by_label("A box on the ground")).to_be_checked()
    bounds = [float(page.get_by_label(name, exact=True).input_value()) for name in EDGES]
    assert bounds == journal["result"]["place"]["bounds"]
    domain = dph.Domain.bbox(*bounds)
    assert list(domain.extent) == bounds
    assert bounds[0] < (BOX[0] + BOX[2]) / 2 < bounds[2]
    assert bounds[1] < (BOX[1] + BOX[3]) / 2 < bounds[3]
    noisy = float(re.findall(r"number of people is (-?\d+)\.", told.inner_text())[0])
    assert told.inner_text() == Discovery(domain, True, 0.95, 0.95, PureLoss(Fraction(1, 2)), noisy).in_words
    page.wait_for_selector(".boxmap[data-ready]")
    visit.judge()

    # The same again is free, and says so.
    page.get_by_label("Let it be discovered, for a price").check()
    page.get_by_label("Price in epsilon").fill("0.5")
    expect(page.locator(".budget")).to_contain_text("Spent so far: 0.5 of 3. Left: 2.5.")
    page.get_by_role("button", name="Discover for epsilon 0.5").click()
    expect(told).to_contain_text("nothing was charged again")
    assert [float(page.get_by_label(name, exact=True).input_value()) for name in EDGES] == bounds
    assert served.charges("riders") == 1

    next_step(visit, "How strongly to protect people")
    next_step(visit, "What it costs, and release")
    west, south, east, north = (
        Decimal(edge).quantize(Decimal("0.00001"), ROUND_HALF_UP).normalize() for edge in bounds
    )
    expect(page.locator(".shown-place")).to_contain_text(f"{west:f}° E to {east:f}° E, {south:f}° N to {north:f}° N")
    expect(page.locator(".budget")).to_contain_text("This costs 1. Afterwards 1.5 will be left.")


def test_the_next_start_says_what_a_kill_cost(browser: Browser, tmp_path: Path) -> None:
    """Killed between the charge and the release: charged once, nothing made, and told on the first page."""
    kept, ledger = tmp_path / "kept", str(tmp_path / "l")
    dph.Ledger(ledger).limit("riders", 3)
    table = trips(tmp_path / "trips.csv", 50)
    with serving(kept, ledger, killed_at=("release.dph.parquet", "")) as served, served.opened() as client:
        with suppress(httpx.TransportError):  # the end may come before the answer
            client.post("/api/releases", json=wanted({"path": str(table)}, "riders"))
        assert served.process.wait(PATIENCE) == -signal.SIGKILL
    with serving(kept, ledger) as served, visiting(browser, served, width=400, height=800, scheme="light") as visit:
        page = visit.page
        told = page.get_by_role("complementary", name="Since the last time")
        expect(told).to_contain_text("trips.csv: The app was ended in the middle of this release, after epsilon 1 was")
        expect(told).to_contain_text("The charge stays")
        visit.judge()
        told.get_by_role("button", name="Got it").click()
        expect(told).to_have_count(0)
        page.get_by_role("link", name="Shelf").click()
        expect(page.locator(".card")).to_contain_text("was interrupted after its charge")
        page.get_by_role("link", name="Account").click()
        expect(page.locator(".entries tbody tr").first).to_contain_text("Map of trips.csv")
        expect(page.locator(".chart figcaption")).to_have_text("What was spent on riders: 1 of 3")
        assert served.charges("riders") == 1


def test_a_form_that_is_out_of_date_says_the_limit_that_there_is(visit: Visit, tmp_path: Path) -> None:
    """Two tabs, two limits: the second is refused in words, and the field gives way to the limit that there is."""
    page, ledger = visit.page, dph.Ledger(visit.served.ledger)
    to_strength(visit, trips(tmp_path / "trips.csv", 50))
    with page.expect_response("**/api/budget"):  # what the form knows is from before the other limit
        next_step(visit, "What it costs, and release")
    page.get_by_label("Who are these people?").fill("riders")
    page.get_by_label("All releases about them together").fill("40")
    expect(page.locator(".budget")).to_contain_text("Afterwards 39 will be left.")
    ledger.limit("riders", 1)
    page.get_by_role("button", name="Release for epsilon 1").click()
    expect(page.get_by_role("alert")).to_contain_text("riders has a limit of 1 already, and a limit is set once.")
    expect(page.locator(".budget")).to_contain_text("Spent so far: 0 of 1. Left: 1.")
    expect(page.get_by_label("All releases about them together")).to_be_hidden()
    assert [row.kind for row in ledger.entries()] == ["limit"]
    visit.judge()
    visit.said.clear()  # the browser itself notes the refusal on the console


def test_a_click_before_the_budget_is_there_waits_for_it(visit: Visit, tmp_path: Path) -> None:
    """The page does not know the limit yet, and its field has another one."""
    page, ledger = visit.page, dph.Ledger(visit.served.ledger)
    ledger.limit("riders", 5)
    held: list[Route] = []
    page.route("**/api/budget", lambda route: held.append(route))
    to_release(visit, trips(tmp_path / "trips.csv", 50))
    page.get_by_label("Who are these people?").fill("riders")
    page.get_by_role("button", name="Release for epsilon 1").click()
    expect(page.get_by_role("button", name="Release for epsilon 1")).to_be_disabled()
    for route in held:
        route.continue_()
    page.unroute("**/api/budget")
    page.wait_for_selector(".map-frame[data-ready=first]")
    assert [(row.kind, row.epsilon) for row in ledger.entries()] == [("limit", "5"), ("charge", "1")]


def test_a_file_under_another_name_is_told_before_it_costs(visit: Visit, tmp_path: Path) -> None:
    page, ledger = visit.page, dph.Ledger(visit.served.ledger)
    table = trips(tmp_path / "trips.csv", 50)
    for name in ("riders", "walkers"):
        ledger.limit(name, 3)
    ledger.note_files("riders", ledger.marks_of(table))
    to_release(visit, table)
    told = page.locator(".other-name")
    page.get_by_label("Who are these people?").fill("walkers")
    expect(told).to_contain_text("This file, or one in its place, was charged to riders before.")
    visit.judge()
    page.get_by_label("Who are these people?").fill("riders")
    expect(told).to_have_count(0)


def to_release(visit: Visit, table: Path) -> None:
    """The step that releases, with everything chosen but the people."""
    to_strength(visit, table)
    next_step(visit, "What it costs, and release")


def to_strength(visit: Visit, table: Path) -> None:
    """The step before, with table and place chosen."""
    open_path(visit, table)
    next_step(visit, "Choose the place")
    type_box(visit.page)
    next_step(visit, "How strongly to protect people")
