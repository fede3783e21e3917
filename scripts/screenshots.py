"""Pictures of every step of the app: scripts/screenshots calls this."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

from PIL import Image
from playwright.sync_api import sync_playwright

from dpheatmap.experiments.generated_data import gaze
from helpers.browser import launch
from helpers.served import BOX, serving, trips
from helpers.visits import Visit, visiting

DOCS = Path(__file__).parent.parent / "docs/images/app"
DOCUMENTED = {"wide-place": 1250, "wide-protection": 960, "wide-map": 1010, "wide-shelf": 1010, "wide-account": 1010}
"""Pictures of docs/guides/app.md, and how much of them, from the top, is shown there."""


class Album:
    """A visit, and the folder that its pictures go into."""

    def __init__(self, visit: Visit, folder: Path, name: str) -> None:
        self.visit, self.page = visit, visit.page
        self._folder, self._name, self._count = folder, name, 0

    def take(self, what: str) -> None:
        """A picture of the whole page."""
        self._count += 1
        self.page.wait_for_timeout(400)
        path = self._folder / f"{self._name}-{self._count:02}-{what}.png"
        self.page.screenshot(path=path, full_page=True)
        print(path)
        if f"{self._name}-{what}" in DOCUMENTED:
            shown = Image.open(path).convert("RGB").crop((0, 0, self.visit.width, DOCUMENTED[f"{self._name}-{what}"]))
            shown = shown.resize((800, round(800 * shown.height / shown.width)), Image.Resampling.LANCZOS)
            shown.save(DOCS / f"{what}.png", optimize=True)

    def next(self, heading: str) -> None:
        """Go to the next step."""
        self.page.get_by_role("button", name="Next").click()
        self.visit.heading(heading)


def city(album: Album, table: Path) -> None:
    """The way of a table on the ground."""
    page = album.page
    album.take("file")
    page.get_by_label("Path on this machine").fill("/no/such/file.csv")
    page.get_by_role("button", name="Open the path").click()
    page.get_by_role("alert").wait_for()
    album.take("problem")
    page.locator("input[type=file]").set_input_files(table)
    album.visit.heading("What the app makes of it")
    album.take("columns")
    album.next("Choose the place")
    page.wait_for_selector(".boxmap[data-ready]")
    album.take("world")
    page.get_by_label("Let it be discovered").check()
    album.take("discover")
    page.get_by_label("A box on the ground").check()
    page.wait_for_selector(".boxmap[data-ready]")
    for name, edge in zip(("West", "South", "East", "North"), BOX, strict=True):
        page.get_by_label(name, exact=True).fill(str(edge))
    page.get_by_label("North", exact=True).press("Tab")
    page.wait_for_timeout(1500)
    album.take("place")
    album.next("How strongly to protect people")
    page.wait_for_selector(".previews[data-ready]", timeout=120_000)
    album.take("protection")
    album.next("What it costs, and release")
    release(album, "riders")


def image(album: Album, table: Path, poster: Path) -> None:
    """The way of gaze on an image."""
    page = album.page
    page.get_by_role("link", name="New map").click()
    page.get_by_label("Path on this machine").fill(str(table))
    page.get_by_role("button", name="Open the path").click()
    album.visit.heading("What the app makes of it")
    album.next("Choose the place")
    page.get_by_label("An image or a screen").check()
    page.locator("input[type=file]").set_input_files(poster)
    page.locator(".picture img").wait_for()
    album.take("image")
    album.next("How strongly to protect people")
    page.get_by_label("About how many people").fill("60")
    page.get_by_label("Epsilon", exact=True).fill("2")
    page.wait_for_selector(".previews[data-ready='2']", timeout=120_000)
    album.take("image-protection")
    album.next("What it costs, and release")
    release(album, "participants", "image-")


def release(album: Album, population: str, before: str = "") -> None:
    """From the price to the map."""
    page = album.page
    page.get_by_label("Who are these people?").fill(population)
    page.get_by_label("Title of the map").fill(f"Where our {population} are")
    page.locator(".boxmap.small[data-ready], .shown-place .picture img").wait_for()
    page.wait_for_timeout(1500)
    album.take(f"{before}price")
    page.get_by_role("button", name="Release for epsilon").click()
    page.locator(".following progress").wait_for()
    album.take(f"{before}progress")
    page.wait_for_selector(".map-frame[data-ready=first]", timeout=120_000)
    page.wait_for_selector(".label-card")
    album.take(f"{before}map")


def again(album: Album, table: Path) -> None:
    """A second release of the city, the shelf, and both side by side."""
    page = album.page
    page.get_by_role("link", name="New map").click()
    page.get_by_label("Path on this machine").fill(str(table))
    page.get_by_role("button", name="Open the path").click()
    album.visit.heading("What the app makes of it")
    for hash in ("place", "release"):
        page.evaluate(f"location.hash = '{hash}'")
        if hash == "place":
            for name, edge in zip(("West", "South", "East", "North"), BOX, strict=True):
                page.get_by_label(name, exact=True).fill(str(edge))
            page.get_by_label("North", exact=True).press("Tab")
    page.get_by_label("Who are these people?").fill("riders")
    page.get_by_role("button", name="Release for epsilon").click()
    page.wait_for_selector(".map-frame[data-ready=first]", timeout=120_000)
    page.get_by_role("link", name="Shelf").click()
    page.wait_for_selector(".cards[data-ready='3']")
    page.get_by_role("button", name="Delete").nth(1).click()
    page.wait_for_selector(".cards[data-ready='2']")
    album.take("shelf-deleted")
    page.get_by_role("button", name="Undo").click()
    page.wait_for_selector(".cards[data-ready='3']")
    album.take("shelf")
    page.get_by_role("link", name="Account").click()
    page.locator(".entries[data-ready]").wait_for()
    album.take("account")
    page.get_by_role("link", name="Shelf").click()
    page.wait_for_selector(".cards[data-ready='3']")
    ticks = page.get_by_role("checkbox").all()
    for tick in (ticks[0], ticks[2]):
        tick.check()
    page.get_by_role("button", name="Compare", exact=True).click()
    page.wait_for_selector(".map-frame[data-ready]", timeout=120_000)
    album.take("compare")
    page.go_back()
    page.wait_for_selector(".cards[data-ready='3']")
    page.get_by_role("link", name="Open").first.click()
    page.wait_for_selector(".map-frame[data-ready=first]", timeout=120_000)
    page.wait_for_selector(".label-card")
    page.emulate_media(media="print")
    album.take("label-printed")
    page.emulate_media(media="screen")


def main(folder: Path) -> None:
    """Both albums."""
    for made in (folder, DOCS):
        made.mkdir(parents=True, exist_ok=True)
    looks: list[tuple[str, dict[str, Any]]] = [
        ("wide", {"width": 1400, "height": 900, "scheme": "light"}),
        ("narrow", {"width": 400, "height": 800, "scheme": "dark"}),
    ]
    with tempfile.TemporaryDirectory() as temporary, sync_playwright() as playwright:
        place = Path(temporary)
        june, july = trips(place / "june.csv", 3000), trips(place / "july.parquet", 6000)
        scene = gaze().places[3]
        looked = place / "gaze.csv"
        looks_at = zip(scene.user, scene.x, scene.y, strict=True)
        looked.write_text("participant,x,y\n" + "".join(f"{u},{x:.1f},{y:.1f}\n" for u, x, y in looks_at))
        Image.radial_gradient("L").resize((320, 240)).convert("RGB").save(place / "poster.png")
        browser = launch(playwright)
        for name, look in looks:
            serves = serving(place / name, str(place / f"{name}.ledger"))
            with serves as served, visiting(browser, served, **look) as visit:
                album = Album(visit, folder, name)
                city(album, june)
                image(album, looked, place / "poster.png")
                again(album, july)
                visit.said.clear()  # the browser notes the refusal of a path on the console
        browser.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
