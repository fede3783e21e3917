"""The page of an interactive map: one file that contains all it needs and is forbidden to load more."""

from __future__ import annotations

import base64
import hashlib
import html
import io
import json
from functools import cache
from importlib import resources
from os import PathLike
from typing import Any
from urllib.parse import urlsplit

import numpy as np
from numpy.typing import NDArray

from dpheatmap._util.parameters import check, origin_of_tiles
from dpheatmap.errors import ParameterError
from dpheatmap.place.domain import Bounds, Domain, Floats
from dpheatmap.render import basemap
from dpheatmap.render.figure import colour
from dpheatmap.render.figure.background import background_of
from dpheatmap.render.web.layers import bits, deflate, layer
from dpheatmap.render.web.picture import HEADINGS, Picture

LIMIT = 3_000_000
"""The most bytes a page may have; larger maps are averaged to fewer pixels until they fit."""

_SIDES = (1024, 724, 512, 362, 256)  # pixels on the longer side, the first that fits
_PLANE = 0.25  # the longer side of an image or a square, on MapLibre's square
_BACKGROUND_SIDE = 1600  # pixels


def page(picture: Picture, *, tiles: str | None = None, background: str | PathLike[str] | None = None) -> str:
    """The whole page as text.

    ``tiles`` is the address of map tiles with {z}, {x} and {y}, the only network access that the page has.
    ``background`` is a picture under the heat of an image or a square.
    """
    before, after = frame(picture.title, tiles)
    around = surroundings(picture, tiles, background)
    text = ""
    for side in _SIDES:
        text = before + data_of(picture.at_most(side), around) + after
        if len(text.encode()) <= LIMIT:
            break
    return text


def frame(title: str, tiles: str | None = None) -> tuple[str, str]:
    """The text before and after a map's data in its page."""
    css, code, boot = (static(name) for name in ("map.css", "map.js", "boot.js"))
    origin = None if tiles is None else check_tiles(tiles)
    policy = "; ".join(
        [
            "default-src 'none'",
            f"script-src {_hash(code)} {_hash(boot)}",
            f"style-src {_hash(css)}",
            "font-src data:",
            f"img-src data: blob: {origin or ''}".strip(),
            f"connect-src blob: {origin or ''}".strip(),  # a blob is a part of the page itself: MapLibre's worker
            "worker-src blob:",
            "base-uri 'none'",
            "form-action 'none'",
        ]
    )
    referrer = "" if tiles else '<meta name="referrer" content="no-referrer">\n'
    before = (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{html.escape(policy)}">\n{referrer}'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<title>{html.escape(title)}</title>\n<link rel="icon" href="data:,">\n<style>{css}</style>\n</head>\n<body>\n'
        '<main id="dpheatmap"><noscript>This map needs JavaScript; it asks nobody for anything.</noscript></main>\n'
        '<script type="application/json" id="dpheatmap-data">'
    )
    after = (
        f'</script>\n<script type="text/plain" id="dpheatmap-code">{_packed_code()}</script>\n'
        f"<script>{boot}</script>\n</body>\n</html>\n"
    )
    return before, after


def data_of(picture: Picture, around: dict[str, Any]) -> str:
    """The data of a map as JSON that is safe between tags; ``MapData`` in web/src/data.ts lists its fields."""
    rows, columns = picture.values.shape
    std = picture.std
    data = {
        "title": picture.title,
        "kind": picture.domain.kind,
        "place": place_on_square(picture.domain),
        "bounds": list(picture.domain.bounds),
        "columns": columns,
        "rows": rows,
        "smooth": picture.smooth,
        "unit": picture.unit,
        "signed": picture.signed,
        "top": picture.top,
        "values": layer(picture.values),
        "std": None if std is None else layer(std),
        "clear": None if picture.clear is None else bits(picture.clear),
        "quiet": picture.quiet,
        "noise": None if std is None else float(np.median(std)),
        "scales": _scales(picture.signed),
        "warnings": picture.warnings,
        "facts": picture.facts,
        "label": [{"heading": HEADINGS[p], "text": picture.label[p]} for p in HEADINGS if p in picture.label],
    }
    return between_tags(data | around)


def place_on_square(domain: Domain) -> list[float]:
    """Left, top, right and bottom of the heat on the Mercator square; images and squares lie in its middle."""
    finest = domain.cells(domain.depth)
    if domain.geographic:
        return [edge / 2**domain.depth for edge in (finest.x0, finest.y0, finest.x1, finest.y1)]
    longer = max(finest.columns, finest.rows)
    width, height = (_PLANE * side / longer for side in (finest.columns, finest.rows))
    return [0.5 - width / 2, 0.5 - height / 2, 0.5 + width / 2, 0.5 + height / 2]


def surroundings(
    picture: Picture, tiles: str | None = None, background: str | PathLike[str] | None = None
) -> dict[str, Any]:
    """The surroundings of the heat: basemap, tiles or background."""
    check_surroundings(picture.domain, tiles, background)
    geographic = picture.domain.geographic
    credits = [basemap.CREDIT] if geographic and tiles is None else []
    return {
        "basemap": deflate(between_tags(basemap_around(picture.domain.bounds)).encode()) if geographic else None,
        "background": None if background is None else _background(background, picture.domain),
        "tiles": None if tiles is None else {"url": tiles, "credit": _credit(tiles)},
        "credits": [*credits, "dpheatmap"],
    }


def basemap_around(bounds: Bounds) -> dict[str, Any]:
    """The basemap of the world, detailed at the bounds: lines in steps of 1/1000 degree, and places with names."""
    near = _around(bounds, 1.0)
    largest = {
        city
        for inside, most in ((near, 200), (_around(bounds, 8.0), 200), (Bounds(-180.0, -85.0, 180.0, 85.0), 200))
        for city in basemap.cities(inside, most)
    }
    return {
        "land": [[_steps(shore) for shore in shores] for shores in basemap.land(near)],
        "borders": [_steps(border) for border in basemap.borders(near)],
        "cities": sorted(largest, key=lambda city: (-city.population, city)),
    }


def _around(bounds: Bounds, times: float) -> Bounds:
    """Bounds widened by ``times`` their size on every side."""
    x, y = times * (bounds.x1 - bounds.x0), times * (bounds.y1 - bounds.y0)
    return Bounds(bounds.x0 - x, bounds.y0 - y, bounds.x1 + x, bounds.y1 + y)


def _steps(line: Floats) -> list[int]:
    """Encode a line as integer steps of 1/1000 degree from one point to the next, the first from 0, 0."""
    points = np.rint(1000 * line).astype(np.int64)
    steps: NDArray[np.int64] = np.diff(points, axis=0, prepend=0)
    return [int(step) for step in steps.ravel()]


def _scales(signed: bool) -> list[dict[str, str]]:
    """The colour scales to choose from; for differences, theirs and that of their standard deviation."""
    names = ("balance", "heat") if signed else tuple(colour.SCALES)
    at = np.linspace(0.0, 1.0, colour.STEPS)
    packed = {name: base64.b64encode(colour.colours(at, name).tobytes()).decode("ascii") for name in names}
    return [{"name": name.capitalize(), "colours": packed[name]} for name in names]


def _background(given: str | PathLike[str], domain: Domain) -> str:
    """The background as a data URI, reduced in size."""
    from PIL import Image

    cells = domain.cells(domain.depth)
    scale = _BACKGROUND_SIDE / max(cells.columns, cells.rows)
    size = max(1, round(cells.columns * scale)), max(1, round(cells.rows * scale))
    packed = io.BytesIO()
    Image.fromarray(background_of(domain, given, size)).save(packed, format="JPEG", quality=85)
    return f"data:image/jpeg;base64,{base64.b64encode(packed.getvalue()).decode('ascii')}"


def check_surroundings(domain: Domain, tiles: str | None, background: str | PathLike[str] | None) -> None:
    """Refuse tiles or a background that do not fit the domain, or can't be read."""
    if tiles is not None:
        check_tiles(tiles)
        if not domain.geographic:
            raise ParameterError("Map tiles go with a box of longitudes and latitudes. Leave tiles out for images.")
    if background is not None:
        background_of(domain, background)


def check_tiles(tiles: str) -> str:
    """The scheme and host of an address of tiles; raises for anything else."""
    check(tiles=tiles)
    return origin_of_tiles(tiles) or ""


def _credit(tiles: str) -> str:
    host = urlsplit(check_tiles(tiles)).hostname or ""
    return "© OpenStreetMap contributors" if host.endswith("openstreetmap.org") else f"Tiles: {host}"


def between_tags(value: object) -> str:
    """Encode JSON without a character that could end its element."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _hash(text: str) -> str:
    """The source of a content security policy that allows exactly this text."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode('ascii')}'"


@cache
def static(name: str) -> str:
    """A file that was built from web/."""
    return (resources.files("dpheatmap.render.web") / "static" / name).read_text(encoding="utf-8")


@cache
def _packed_code() -> str:
    return deflate(static("map.js").encode())
