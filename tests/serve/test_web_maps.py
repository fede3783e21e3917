"""MapLibre in a browser reads the server's TileJSON, and readers open its pages."""

from __future__ import annotations

import io

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import Browser, Response, expect

from helpers.browser import window
from helpers.public_server import PublicServer

SHOW_TILES = """
async (address) => {
  const map = window.dpheatmap.map.map;
  for (const layer of map.getStyle().layers) map.setLayoutProperty(layer.id, "visibility", "none");
  map.addSource("served", { type: "raster", url: address, tileSize: 256 });
  map.addLayer({ id: "served", type: "raster", source: "served" });
  await new Promise((done) => map.once("idle", done));
}
"""


def painted(picture: bytes) -> np.ndarray:
    """Where a screen has the colours of heat: red far from blue."""
    pixels = np.asarray(Image.open(io.BytesIO(picture)).convert("RGB"), dtype=np.int64)
    return pixels[:, :, 0] - pixels[:, :, 2] > 60


def test_maplibre_shows_the_tiles_where_the_page_has_the_heat(browser: Browser, running: PublicServer) -> None:
    """The page forbids to load more, so the browser is told to let it; the map in it is MapLibre's."""
    with window(browser, 1000, 700, "light", bypass_csp=True) as context:
        page, answers = context.new_page(), list[Response]()
        page.on("response", lambda answer: answers.append(answer))
        page.goto(f"{running.origin}/collections/city/page")
        page.wait_for_function("window.dpheatmap?.map?.map?.loaded()")
        canvas = page.locator("canvas.maplibregl-canvas")
        own = painted(canvas.screenshot())
        page.evaluate(SHOW_TILES, f"{running.origin}/collections/city/tilejson.json")
        served = painted(canvas.screenshot())
    tiles = [answer for answer in answers if "/map/tiles/" in answer.url]
    assert tiles
    assert {answer.status for answer in tiles} == {200}
    assert own.sum() > 10_000
    assert (own & served).sum() > 0.95 * own.sum()
    assert served.sum() < 3 * own.sum(), "the page draws water over some of it"


@pytest.mark.parametrize(("width", "scheme"), [(390, "light"), (600, "dark"), (1400, "light")])
def test_pages_fit_every_screen_and_load_nothing_from_elsewhere(
    browser: Browser, running: PublicServer, width: int, scheme: str
) -> None:
    with window(browser, width, 900, scheme) as context:
        page, said, asked = context.new_page(), list[str](), list[str]()
        page.on("console", lambda message: said.append(message.text))
        page.on("request", lambda request: asked.append(request.url))
        for address in ("/", "/collections/by-mode", "/collections/gaze"):
            page.goto(running.origin + address)
            expect(page.locator("h1")).to_be_visible()
            wide = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
            assert wide <= 0, address
            sizes = page.evaluate("[...document.images].map((image) => image.naturalWidth)")
            assert sizes
            assert min(sizes) > 100
        page.get_by_role("link", name="Open the map").click()
        expect(page.locator("canvas.maplibregl-canvas")).to_be_visible()
    assert said == []
    assert all(url.startswith((running.origin, "blob:", "data:")) for url in asked)
