"""What a page may do: run its own program, and ask nobody for anything unless tiles were wanted."""

from __future__ import annotations

import io
import re
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from PIL import Image
from playwright.sync_api import Playwright, expect

from dpheatmap.place.domain import Domain
from dpheatmap.render.web.page import page as page_of
from dpheatmap.render.web.picture import Picture
from helpers.browser import PATIENCE, Opened, launch

MakePicture = Callable[..., Picture]
OCEAN = Domain.bbox(-40.0, 30.0, -39.0, 31.0, depth=12)
CAPE = Domain.bbox(-9.7, 42.7, -8.9, 43.1, depth=12)


def test_markup_in_words_stays_words(make_picture: MakePicture, open_picture: Callable[..., Opened]) -> None:
    evil = "</script><script>console.error('run')</script><img src=x onerror=console.error('run')>"
    label = {"who": evil}
    picture = make_picture(OCEAN, title=evil, unit=evil, facts=(evil,), warnings=(evil,), label=label)
    opened = open_picture(picture)
    opened.page.mouse.move(*opened.screen_of(3, 3))
    opened.page.get_by_role("button", name="Privacy label").click()
    assert opened.page.get_by_role("dialog").inner_text().count(evil) == 1
    assert opened.page.title() == evil
    assert opened.page.locator("img").count() == 0
    opened.check()


def test_without_webgl_the_heat_is_still_shown(
    make_picture: MakePicture, playwright: Playwright, tmp_path: Path
) -> None:
    path = tmp_path / "map.html"
    path.write_text(page_of(make_picture(OCEAN)), encoding="utf-8")
    crippled = launch(playwright, "--disable-3d-apis")
    page = crippled.new_page()
    page.set_default_timeout(PATIENCE)
    page.goto(path.as_uri())
    page.wait_for_selector("#dpheatmap[data-ready]")
    expect(page.locator("canvas.plain")).to_be_visible()
    expect(page.get_by_role("button", name="Privacy label")).to_be_visible()
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
    make_picture: MakePicture, open_picture: Callable[..., Opened], tile_server: str
) -> None:
    opened = open_picture(make_picture(CAPE), tiles=f"{tile_server}/{{z}}/{{x}}/{{y}}.png")
    opened.settle()
    assert not opened.said, opened.said
    elsewhere = {url for url in opened.asked if not url.startswith(("blob:", "file:"))}
    assert elsewhere
    assert all(re.fullmatch(re.escape(tile_server) + r"/\d+/\d+/\d+\.png", url) for url in elsewhere)
    assert opened.pixels()[600, 20].tolist() == [0, 160, 60]
    assert "Tiles: 127.0.0.1" in opened.page.locator(".credits").inner_text()
    # The page's own policy stops anything else, whoever should try.
    tried = "fetch('http://127.0.0.2:9/').then(() => 'got through', () => 'stopped')"
    with opened.page.expect_console_message(lambda said: "Content Security Policy" in said.text):
        assert opened.page.evaluate(tried) == "stopped"
