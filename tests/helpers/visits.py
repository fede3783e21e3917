"""A visit to the app in a real browser that notes what the page says and whom it asks, and can judge it for access."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
from playwright.sync_api import Browser, BrowserContext, Page

import dpheatmap as dph
from dpheatmap.app.request_guard import KEY
from helpers import ROOT
from helpers.browser import window
from helpers.served import BOX, Served, ended, wanted

AXE = ROOT / "web/node_modules/axe-core/axe.min.js"


@dataclass
class Visit:
    """A page of the app."""

    page: Page
    context: BrowserContext
    served: Served
    width: int
    said: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)

    def watch(self, page: Page) -> Page:
        """Note what a page says and asks."""
        page.on("console", lambda message: self.said.append(f"{message.type}: {message.text}"))
        page.on("pageerror", lambda error: self.said.append(f"error: {error}"))
        page.on("request", lambda request: self.asked.append(request.url))
        return page

    def check(self) -> None:
        """Nothing was said, and nobody but the app was asked for anything."""
        assert not self.said, self.said
        elsewhere = [url for url in self.asked if not url.startswith((f"{self.served.origin}/", "blob:", "data:"))]
        assert elsewhere == []

    def judge(self) -> None:
        """axe-core finds no serious fault, and nothing is wider than the window."""
        assert AXE.exists(), "axe-core is missing; run scripts/web check"
        if not self.page.evaluate("'axe' in window"):
            self.page.evaluate(AXE.read_text())  # as the debugger does, whatever the page's policy
        found: list[dict[str, Any]] = self.page.evaluate("axe.run().then(found => found.violations)")
        serious = [fault for fault in found if fault["impact"] in ("serious", "critical")]
        assert serious == [], json.dumps([(f["id"], [n["html"] for n in f["nodes"]]) for f in serious], indent=1)
        assert self.page.evaluate("document.documentElement.scrollWidth") <= self.width

    def client(self) -> httpx.Client:
        """A client with this browser's session."""
        cookies = {cookie["name"]: cookie["value"] for cookie in self.context.cookies()}
        key = self.page.evaluate("localStorage['dpheatmap-key']")
        return self.served.client(cookies=cookies, headers={"Origin": self.served.origin, KEY: key})

    def heading(self, text: str) -> None:
        """Wait for a step."""
        self.page.get_by_role("heading", level=1, name=text, exact=True).wait_for()


@contextmanager
def visiting(browser: Browser, served: Served, *, width: int, height: int, scheme: Any) -> Iterator[Visit]:
    """Open the app's link in a window of its own."""
    context = window(browser, width, height, scheme)
    try:
        page = context.new_page()
        visit = Visit(page, context, served, width)
        visit.watch(page)
        page.goto(served.link)
        page.wait_for_selector("body[data-ready]")
        yield visit
        visit.check()
    finally:
        context.close()


def open_path(visit: Visit, path: Path) -> None:
    """Take the first step."""
    visit.page.get_by_label("Path on this machine").fill(str(path))
    visit.page.get_by_role("button", name="Open the path").click()
    visit.heading("What the app makes of it")


def next_step(visit: Visit, heading: str) -> None:
    """Go on to a step of this heading."""
    visit.page.get_by_role("button", name="Next").click()
    visit.heading(heading)


def type_box(page: Page, box: tuple[float, ...] = BOX) -> None:
    """Fill in the edges of a box."""
    for name, edge in zip(("West", "South", "East", "North"), box, strict=True):
        page.get_by_label(name, exact=True).fill(str(edge))
    page.get_by_label("North", exact=True).press("Tab")


def release_directly(visit: Visit, table: Path, population: str = "riders", **changes: Any) -> dict[str, Any]:
    """Release a table without going through the steps; the population has a limit of 5."""
    dph.Ledger(visit.served.ledger).limit(population, 5)
    with visit.client() as client:
        begun = client.post("/api/releases", json=wanted({"path": str(table)}, population, **changes))
        assert begun.status_code == 200, begun.text
        return ended(client, begun.json()["id"])
