"""The page of an interactive map: one file that contains all it needs and is forbidden to load more."""

from __future__ import annotations

import base64
import hashlib
import html
import io
import json
import math
from functools import cache
from importlib import resources
from os import PathLike
from typing import Any
from urllib.parse import urlsplit

import numpy as np
from numpy.typing import NDArray

from dpheatmap._util.parameters import check, origin_of_tiles
from dpheatmap.errors import ParameterError
from dpheatmap.place.box import Box
from dpheatmap.place.domain import Bounds, Domain, Floats
from dpheatmap.releases.label import HEADINGS
from dpheatmap.render import basemap
from dpheatmap.render.basemap.backdrop import fine_shores, is_small
from dpheatmap.render.basemap.polylines import simplify
from dpheatmap.render.content.area_picture import AreaContent
from dpheatmap.render.content.look import Look
from dpheatmap.render.content.picture import Picture
from dpheatmap.render.content.words import keep_units
from dpheatmap.render.context import read_context
from dpheatmap.render.figure.background import background_of
from dpheatmap.render.inks import inks_of
from dpheatmap.render.palette import DARK, LIGHT, Theme
from dpheatmap.render.web.layers import LEVELS, deflate, layer

LIMIT = 1_500_000
"""The most bytes a page may have; larger maps are averaged to fewer pixels until they fit."""

_SIDES = (1024, 724, 512, 362, 256)  # pixels on the longer side, the first that fits
_PLANE = 0.25  # the longer side of an image or a square, on MapLibre's square
_BACKGROUND_SIDE = 1600  # pixels
_MARGIN = 0.5  # of a map's longer side, on every side: what a wide screen shows around it
_UNKNOWN_MARGIN = 2.0  # the same where the coast is not known, so that no sea ends at a straight line nearby
_RING_STEPS, _FINEST = 100_000, 1e-4  # of a map's width and height: steps of an outline, and its detail
_PIXELS = 3000  # of the width of this window, to a reader who zooms in


def page(picture: Picture, look: Look, *, tiles: str | None = None, areas: AreaContent | None = None) -> str:
    """The whole page as text.

    ``tiles`` is the address of map tiles with {z}, {x} and {y}, the only network access that the page has. ``areas``
    are shown at first, and their words stand above the map.
    """
    before, after = frame((areas.picture if areas else picture).words.title, tiles)
    around = {**around_heat(picture, look, tiles), "areas": areas and areas_data(areas, look)}
    text = ""
    for side in _SIDES:
        text = before + data_of(picture.at_most(side), around) + after
        if len(text.encode()) <= LIMIT:
            break
    return text


def frame(title: str, tiles: str | None = None) -> tuple[str, str]:
    """The text before and after a map's data in its page."""
    css, code, boot = static("map.css"), _code(), static("boot.js")
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
    return between_tags(map_data(picture) | around)


def map_data(picture: Picture, levels: int = LEVELS, coarse_levels: int = LEVELS) -> dict[str, Any]:
    """The data of a map without what surrounds it; values have so many ``levels``, and what is known of them others."""
    rows, columns = picture.values.shape
    words = keep_units(picture.words)
    legend, reading = words.legend, words.reading
    ranges = picture.ranges()
    return {
        "title": words.title,
        "subtitle": words.subtitle,
        "takeaway": words.takeaway,
        "warnings": words.warnings,
        "badge": words.badge,
        "label": [{"heading": HEADINGS[p], "text": picture.label[p]} for p in HEADINGS if p in picture.label],
        "facts": words.facts,
        "kind": "bbox" if picture.domain.geographic else picture.domain.kind,
        "place": place_on_square(picture.domain),
        "outline": _outline(picture.domain),
        "bounds": list(picture.domain.bounds),
        "columns": columns,
        "rows": rows,
        "smooth": picture.smooth,
        "signed": picture.signed,
        "values": layer(picture.values, levels),
        "low": None if ranges is None else layer(ranges[0], coarse_levels),
        "high": None if ranges is None else layer(ranges[1], coarse_levels),
        "clarity": None if picture.clarity is None else layer(picture.clarity, coarse_levels),
        "hatch": picture.hatch,
        "edges": picture.edges if picture.painted else [],
        "top": picture.top,
        "legend": vars(legend),
        "reading": {
            "range": reading.range, "bare": reading.bare, "value": reading.value, "sure": reading.sure,
            "outside": reading.outside, "cantTell": reading.cant_tell,
        },
        "nothing": None if words.nothing is None else vars(words.nothing),
        "busiest": [
            {"name": spot.name, "lon": spot.x, "lat": spot.y, "low": picture.unit.factor * spot.low,
             "high": picture.unit.factor * spot.high}
            for spot in picture.busiest
        ],
    }  # fmt: skip


def _theme(picture: Picture, theme: Theme, *, over_a_picture: bool) -> dict[str, list[str] | list[float]]:
    """The colours of bands on a ground."""
    inks = inks_of(theme, len(picture.edges), signed=picture.signed, over_a_picture=over_a_picture)
    return {
        "bands": inks.colours,
        "fewer": inks.fewer,
        "opacity": inks.opacities,
        "swatches": inks.swatches,
        "fewerSwatches": inks.fewer_swatches,
    }


def areas_data(content: AreaContent, look: Look) -> dict[str, Any]:
    """Areas by rank; ``AreasData`` in web/src/data.ts lists its fields."""
    picture, domain = content.picture, content.picture.domain
    finest, whole = domain.cells(domain.depth), 2.0**domain.depth
    corner, size = np.array([finest.x0, finest.y0]), np.array([finest.columns, finest.rows])
    listed = []
    for area, band in zip(content.areas, content.bands, strict=True):
        rings = simplify([(ring * whole - corner) / size for ring in area.rings], _FINEST)
        listed.append(
            {
                "name": area.name,
                "rank": area.rank_in_words,
                "range": area.range_in_words,
                "words": content.sentence_of(area),
                "band": band,
                "rough": area.is_rough,
                "rings": [_steps(ring, _RING_STEPS) for ring in rings if len(ring) > 3],
            }
        )
    words = keep_units(picture.words)
    return {
        "title": words.title,
        "takeaway": words.takeaway,
        "facts": words.facts,
        "nothing": None if words.nothing is None else vars(words.nothing),
        "legend": vars(words.legend),
        "edges": picture.edges if picture.painted else [],
        "light": _theme(picture, LIGHT, over_a_picture=look.over_a_picture),
        "dark": _theme(picture, DARK, over_a_picture=look.over_a_picture),
        "caption": f"{content.counted} in each area. {content.sure}.",
        "counted": content.counted,
        "none": "In none of the areas",
        "areas": listed,
    }


def place_on_square(domain: Domain) -> list[float]:
    """Left, top, right and bottom of the heat on the Mercator square; images and squares lie in its middle."""
    finest = domain.cells(domain.depth)
    if isinstance(domain.place, Box):
        left, top, right, bottom = (edge / 2**domain.depth for edge in (finest.x0, finest.y0, finest.x1, finest.y1))
        beyond = 0.5 - domain.place.greenwich
        return [left + beyond, top, right + beyond, bottom]
    longer = max(finest.columns, finest.rows)
    width, height = (_PLANE * side / longer for side in (finest.columns, finest.rows))
    return [0.5 - width / 2, 0.5 - height / 2, 0.5 + width / 2, 0.5 + height / 2]


def _outline(domain: Domain) -> str | None:
    """The rings around a place as steps of its width and height, deflated; None around a rectangle."""
    finest, whole = domain.cells(domain.depth), 2.0**domain.depth
    corner, size = np.array([finest.x0, finest.y0]), np.array([finest.columns, finest.rows])
    rings = simplify([(ring * whole - corner) / size for ring in domain.place.outline], _FINEST)
    steps = [_steps(ring, _RING_STEPS) for ring in rings if len(ring) > 3]
    return deflate(between_tags(steps).encode()) if steps else None


def around_heat(picture: Picture, look: Look, tiles: str | None = None) -> dict[str, Any]:
    """What surrounds the heat: its colours, and basemap, tiles or background."""
    background = look.background
    check_surroundings(picture.domain, tiles, background)
    drawn = picture.domain.geographic and look.basemap
    ground = basemap_around(picture.domain.bounds) if drawn else {"credits": []}
    return {
        "light": _theme(picture, LIGHT, over_a_picture=look.over_a_picture),
        "dark": _theme(picture, DARK, over_a_picture=look.over_a_picture),
        "colours": look.colours,
        "style": look.style,
        "basemap": deflate(between_tags(ground).encode()) if drawn else None,
        "background": None if background is None else _background(background, picture.domain),
        "tiles": None if tiles is None else {"url": tiles, "credit": _credit(tiles)},
        "context": _context(picture.domain, look),
        "credits": [
            *(ground["credits"] if tiles is None else ()),
            *([look.context_credit] if look.context_credit else []),
            "dpheatmap",
        ],
    }


def _context(domain: Domain, look: Look) -> list[dict[str, str]]:
    """The maker's own map, a layer a kind."""
    return [
        {"name": layer.name, "kind": layer.kind, "data": deflate(between_tags(layer.as_geojson()).encode())}
        for spec in look.context
        for layer in read_context(spec, _window(domain.bounds), _PIXELS)
    ]


def basemap_around(bounds: Bounds) -> dict[str, Any]:
    """The basemap of the world, detailed at the bounds: lines as steps in degrees, places with names, and credits.

    ``land`` and ``borders`` are those of the whole world, in steps of 1/1000 degree. Around a small map, ``window`` is
    a box with a finer coast, ``fine``, and ``rivers``, both in steps of 1/10,000 degree; ``fine`` is None if the coast
    is not known at this scale.
    """
    near = _around(bounds, 1.0)
    largest = {
        city
        for inside, most in ((near, 200), (_around(bounds, 8.0), 200), (Bounds(-180.0, -85.0, 180.0, 85.0), 200))
        for city in basemap.cities(inside, most)
    }
    window = _window(bounds)
    fine = fine_shores(bounds, window, _PIXELS)
    if fine is None:
        window = _window(bounds, _UNKNOWN_MARGIN)
    lines = dict.fromkeys((*(fine.credits if fine else ()), basemap.LINES_CREDIT))
    return {
        "land": [[_steps(shore) for shore in shores] for shores in basemap.land(near)],
        "borders": [_steps(border) for border in basemap.borders(near)],
        "cities": sorted(largest, key=lambda city: (-city.population, city)),
        "window": list(window) if fine or is_small(bounds) else None,
        "fine": [[_steps(shore, 10_000) for shore in shores] for shores in fine.land] if fine else None,
        "rivers": [_steps(river, 10_000) for river in fine.rivers] if fine else [],
        "credits": [*lines, basemap.NAMES_CREDIT],
    }


def _window(bounds: Bounds, margin: float = _MARGIN) -> Bounds:
    """The box around a map that its page shows first, on whole steps, so that cuts fit the rest of the world.

    The margin is a part of the longer side, because a screen shows more beside a tall map, and above a wide one.
    """
    stretch = 1.0 / math.cos(math.radians((bounds.y0 + bounds.y1) / 2))  # degrees of longitude in one of latitude
    across, along = bounds.x1 - bounds.x0, bounds.y1 - bounds.y0
    y = margin * max(along, across / stretch)
    x = y * stretch + max(0.0, (along * stretch - across) / 2)
    y += max(0.0, (across / stretch - along) / 2)
    x0, y0, x1, y1 = (round(at, 3) for at in (bounds.x0 - x, bounds.y0 - y, bounds.x1 + x, bounds.y1 + y))
    return Bounds(x0, max(y0, -85.0), x1, min(y1, 85.0))


def _around(bounds: Bounds, times: float) -> Bounds:
    """Bounds widened by ``times`` their size on every side."""
    x, y = times * (bounds.x1 - bounds.x0), times * (bounds.y1 - bounds.y0)
    return Bounds(bounds.x0 - x, bounds.y0 - y, bounds.x1 + x, bounds.y1 + y)


def _steps(line: Floats, degree: int = 1000) -> list[int]:
    """Encode a line as integer steps, so many a degree, from one point to the next, the first from 0, 0."""
    points = np.rint(degree * line).astype(np.int64)
    steps: NDArray[np.int64] = np.diff(points, axis=0, prepend=0)
    return [int(step) for step in steps.ravel()]


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
def _code() -> str:
    """The program of a map's page: MapLibre, and what uses it."""
    return static("maplibre.js") + static("map.js")


@cache
def _packed_code() -> str:
    return deflate(_code().encode())
