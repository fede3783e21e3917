"""A real browser that opens maps from disk, and watches what they say and whom they ask."""

from __future__ import annotations

import io
import shutil
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from PIL import Image
from playwright.sync_api import Browser, Page, Playwright

FLAGS = [
    "--no-sandbox",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--use-gl=angle",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
]


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
        """Wait until what was asked for is drawn: two frames."""
        self.page.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
        self.page.wait_for_timeout(150)

    def check(self) -> None:
        """Nothing was said, and nobody was asked for anything but the file itself."""
        assert not self.said, self.said
        assert [url for url in self.asked if not url.startswith("blob:")] == [self.path.as_uri()]


Open = Callable[..., Opened]


def launch(playwright: Playwright, *more: str) -> Browser:
    chromium = shutil.which("chromium")
    assert chromium, "Chromium is missing; on Debian or Ubuntu: sudo apt-get install chromium"
    return playwright.chromium.launch(executable_path=chromium, args=[*FLAGS, *more])
