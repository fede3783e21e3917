"""The way back in, in Chromium: the browser is closed, the app started again, and everything is still there."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import Browser, expect

from helpers.browser import window
from helpers.served import Served, serving, trips
from helpers.visits import release_directly, visiting


def test_a_closed_browser_is_no_end(browser: Browser, served: Served, tmp_path: Path) -> None:
    with visiting(browser, served, width=1400, height=900, scheme="light") as visit:
        release_directly(visit, trips(tmp_path / "trips.csv", 50), title="Before closing")
        assert visit.context.cookies()[0]["expires"] == -1, "it goes with the browser"
    context = window(browser, 1400, 900, "light")
    page = context.new_page()
    page.goto(served.origin)
    expect(page.locator("main")).to_contain_text("Start dpheatmap app again: it opens the one that is running.")
    page.goto(served.link)
    expect(page.locator("main")).to_contain_text("This link was used")
    context.close()
    with serving(served.folder, served.ledger) as again:
        assert again.process.wait(60) == 0
        with visiting(browser, again, width=1400, height=900, scheme="light") as visit:
            visit.page.get_by_role("link", name="Shelf").click()
            expect(visit.page.locator(".card h2")).to_have_text("Before closing")
    assert served.process.poll() is None
