"""A real browser that opens maps from disk, and watches what they say and whom they ask."""

from __future__ import annotations

import io
import shutil
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image
from playwright.sync_api import Browser, BrowserContext, Page, Playwright, expect

FLAGS = [
    "--no-sandbox",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--use-gl=angle",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    "--disable-gpu-rasterization",  # Debian's Chromium asks for it, and SwiftShader is slow at it
]


PATIENCE = 180_000
"""Milliseconds after which something is taken to never happen, on however busy a machine."""

expect.set_options(timeout=PATIENCE)


@dataclass
class Opened:
    """A page, and everything it said on the console, threw, or asked the network for."""

    page: Page
    path: Path
    said: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)

    def pixels(self) -> np.ndarray:
        """What is on the screen."""
        return np.asarray(Image.open(io.BytesIO(self.page.screenshot())).convert("RGB"), dtype=np.int64)

    def screen_of(self, row: int, column: int) -> tuple[float, float]:
        """Where a pixel of the heat is on the screen."""
        found: dict[str, float] = self.page.evaluate(f"dpheatmap.screenOf({row}, {column})")
        return found["x"], found["y"]

    def settle(self) -> None:
        """Wait until what was asked for is drawn: by the map, which says so, and on the screen, two frames later."""
        self.page.evaluate(
            """async () => {
              const map = window.dpheatmap?.map?.map;
              if (map) await new Promise(done => (map.once("idle", done), map.triggerRepaint()));
              await new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)));
            }"""
        )

    def check(self) -> None:
        """Nothing was said, and nobody was asked for anything but the file itself."""
        assert not self.said, self.said
        assert [url for url in self.asked if not url.startswith("blob:")] == [self.path.as_uri()]


Open = Callable[..., Opened]


def window(browser: Browser, width: int, height: int, scheme: Any, **more: Any) -> BrowserContext:
    """A window of its own, which shares nothing with others."""
    size: Any = {"width": width, "height": height}
    made = browser.new_context(viewport=size, color_scheme=scheme, accept_downloads=True, **more)
    made.set_default_timeout(PATIENCE)
    return made


def pointed(page: Page, x: float, y: float) -> str:
    """What a map tells under the pointer, which comes from outside of the heat: so it is told anew."""
    tip = page.locator(".tip")
    page.mouse.move(1, 1)
    expect(tip).to_be_hidden()
    page.mouse.move(x, y)
    expect(tip).to_be_visible()
    return tip.inner_text()


def launch(playwright: Playwright, *more: str) -> Browser:
    chromium = shutil.which("chromium")
    assert chromium, "Chromium is missing; on Debian or Ubuntu: sudo apt-get install chromium"
    return playwright.chromium.launch(executable_path=chromium, args=[*FLAGS, *more])
