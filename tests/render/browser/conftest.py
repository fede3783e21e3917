from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Playwright, sync_playwright

from browser import Open, Opened, launch


@pytest.fixture(scope="session")
def playwright() -> Iterator[Playwright]:
    with sync_playwright() as running:
        yield running


@pytest.fixture(scope="session")
def browser(playwright: Playwright) -> Iterator[Browser]:
    running = launch(playwright)
    yield running
    running.close()


@pytest.fixture
def open_map(browser: Browser) -> Iterator[Open]:
    """Opens a file at a size and in a colour scheme, and waits until its map is drawn."""
    contexts = []

    def opening(
        path: Path,
        *,
        width: int = 1000,
        height: int = 700,
        scheme: Any = "light",
        ready: str = "#dpheatmap[data-ready]",
    ) -> Opened:
        context = browser.new_context(
            viewport={"width": width, "height": height}, color_scheme=scheme, accept_downloads=True
        )
        contexts.append(context)
        page = context.new_page()
        opened = Opened(page, path)
        page.on("console", lambda message: opened.said.append(f"{message.type}: {message.text}"))
        page.on("pageerror", lambda error: opened.said.append(f"error: {error}"))
        page.on("request", lambda request: opened.asked.append(request.url))
        page.goto(path.as_uri())
        page.wait_for_selector(ready)
        opened.settle()
        return opened

    yield opening
    for context in contexts:
        context.close()
