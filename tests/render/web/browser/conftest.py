from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Browser

from dpheatmap.place.domain import Domain
from helpers.browser import Open, Opened, window
from helpers.map_data import NOTHING, map_data, page_of
from helpers.open_maps import MakeData, OpenData


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
        after: str = "",
        **more: Any,
    ) -> Opened:
        context = window(browser, width, height, scheme, **more)
        contexts.append(context)
        page = context.new_page()
        opened = Opened(page, path)
        page.on("console", lambda message: opened.said.append(f"{message.type}: {message.text}"))
        page.on("pageerror", lambda error: opened.said.append(f"error: {error}"))
        page.on("request", lambda request: opened.asked.append(request.url.removesuffix(after)))
        page.goto(path.as_uri() + after)
        page.wait_for_selector(ready)
        opened.settle()
        return opened

    yield opening
    for context in contexts:
        context.close()


@pytest.fixture
def make_data() -> MakeData:
    """A map of cells that all differ, over all bands and below them; land lies under all of it."""

    def make(domain: Domain, **changes: Any) -> dict[str, Any]:
        finest = domain.cells(domain.depth)
        count = finest.rows * finest.columns
        order = np.random.default_rng(3).permutation(count).reshape(finest.rows, finest.columns)
        values = 0.5 * 160.0 ** (order / (count - 1))
        given: dict[str, Any] = {"relative": np.full(values.shape, 0.2), "clarity": np.full(values.shape, 5.0)}
        if domain.geographic:
            west, south, east, north = domain.bounds
            given["basemap"] = NOTHING | {"window": [west - 3, south - 3, east + 3, north + 3]}
        return map_data(domain, **({"values": values} | given | changes))

    return make


@pytest.fixture
def open_data(open_map: Open, tmp_path: Path) -> OpenData:
    """Writes the page of a map's data and opens it."""

    def opening(data: dict[str, Any], **view: Any) -> Opened:
        path = tmp_path / "map.html"
        path.write_text(page_of(data), encoding="utf-8")
        return open_map(path, **view)

    return opening
