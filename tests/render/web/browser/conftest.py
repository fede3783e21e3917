from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Browser

from dpheatmap.heatmap.heatmap import Heatmap
from dpheatmap.place.domain import Domain
from dpheatmap.render.web.page import page as page_of
from dpheatmap.render.web.picture import Picture, picture_of
from helpers.browser import Open, Opened, window

MakeHeat = Callable[..., Heatmap]


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
        context = window(browser, width, height, scheme)
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


@pytest.fixture
def make_picture(make_heat: MakeHeat) -> Callable[..., Picture]:
    """A map whose pixels all differ, each with a standard deviation of its own; the lower half is noise."""

    def make(domain: Domain, **changes: Any) -> Picture:
        finest = domain.cells(domain.depth)
        count = finest.rows * finest.columns
        order = np.random.default_rng(3).permutation(count).reshape(finest.rows, finest.columns)
        picture = picture_of(make_heat(domain, (order + 1.0) ** 2, sigma=1e-9 * domain.longer_side))
        rows = np.arange(finest.rows)[:, None] < finest.rows / 2
        std = 0.3 * picture.values[::-1, ::-1]
        return replace(picture, std=std, clear=np.broadcast_to(rows, order.shape), quiet="within the noise", **changes)

    return make


@pytest.fixture
def open_picture(open_map: Open, tmp_path: Path) -> Callable[..., Opened]:
    """Writes a picture's page and opens it."""

    def opening(picture: Picture, *, tiles: str | None = None, background: Path | None = None, **view: Any) -> Opened:
        path = tmp_path / "map.html"
        path.write_text(page_of(picture, tiles=tiles, background=background), encoding="utf-8")
        return open_map(path, **view)

    return opening
