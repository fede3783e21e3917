"""What a page may do: run its own program, and ask nobody for anything unless tiles were wanted."""

from __future__ import annotations

import io
import re
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from PIL import Image
from playwright.sync_api import Playwright, expect

from dpheatmap.place.domain import Domain
from helpers.browser import PATIENCE, launch
from helpers.map_data import page_of
from helpers.open_maps import OCEAN, MakeData, OpenData

CAPE = Domain.bbox(-9.7, 42.7, -8.9, 43.1, depth=12)


def test_markup_in_words_stays_words(make_data: MakeData, open_data: OpenData) -> None:
    evil = "</script><script>console.error('run')</script><img src=x onerror=console.error('run')>"
    data = make_data(OCEAN, title=evil, takeaway=evil, facts=[evil], warnings=[evil], badge=evil, credits=[evil])
    for part in ("legend", "reading"):
        data[part] = {name: evil if isinstance(text, str) and text else text for name, text in data[part].items()}
    data["label"] = [{"heading": evil, "text": evil}]
    data["busiest"] = [{"name": evil, "lon": -39.5, "lat": 30.5, "low": 1, "high": 2}]
    opened = open_data(data)
    opened.page.mouse.move(*opened.screen_of(3, 3))
    opened.page.locator(".badge").click()
    assert opened.page.get_by_role("dialog").inner_text().count(evil) == 2
    assert opened.page.title() == evil
    assert opened.page.locator("img").count() == 0
    opened.check()


def test_without_webgl_the_heat_is_still_shown(make_data: MakeData, playwright: Playwright, tmp_path: Path) -> None:
    path = tmp_path / "map.html"
    path.write_text(page_of(make_data(OCEAN)), encoding="utf-8")
    crippled = launch(playwright, "--disable-3d-apis")
    page = crippled.new_page()
    page.set_default_timeout(PATIENCE)
    page.goto(path.as_uri())
    page.wait_for_selector("#dpheatmap[data-ready]")
    expect(page.locator("canvas.plain")).to_be_visible()
    expect(page.get_by_role("button", name="What this promises")).to_be_visible()
    crippled.close()


@pytest.fixture
def tile_server() -> Iterator[str]:
    """Serves one green tile for every address, as tile servers do."""
    packed = io.BytesIO()
    Image.new("RGB", (256, 256), (0, 160, 60)).save(packed, format="PNG")

    class Green(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "image/png")
            self.send_header("Access-Control-Allow-Origin", "*")
            self.end_headers()
            self.wfile.write(packed.getvalue())

        def log_message(self, *about: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Green)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def test_tiles_are_asked_of_their_server_and_nobody_else(
    make_data: MakeData, open_data: OpenData, tile_server: str
) -> None:
    tiles = {"url": f"{tile_server}/{{z}}/{{x}}/{{y}}.png", "credit": "Tiles: 127.0.0.1"}
    opened = open_data(make_data(CAPE, tiles=tiles))
    opened.settle()
    assert not opened.said, opened.said
    elsewhere = {url for url in opened.asked if not url.startswith(("blob:", "file:"))}
    assert elsewhere
    assert all(re.fullmatch(re.escape(tile_server) + r"/\d+/\d+/\d+\.png", url) for url in elsewhere)
    veiled = [0.45 * 255 + 0.55 * part for part in (0, 160, 60)]  # outside the box, the page's colour lies over it
    assert opened.pixels()[600, 380].tolist() == pytest.approx(veiled, abs=2)
    assert "Tiles: 127.0.0.1" in opened.page.locator(".credits").inner_text()
    # The page's own policy stops anything else, whoever should try.
    tried = "fetch('http://127.0.0.2:9/').then(() => 'got through', () => 'stopped')"
    with opened.page.expect_console_message(lambda said: "Content Security Policy" in said.text):
        assert opened.page.evaluate(tried) == "stopped"
