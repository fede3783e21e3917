"""Raster tiles of a map for the web: in which bands their pixels are, as PNG.

A pixel of a tile is a cell (`cell_strips.py`). All zooms have the bands of the map's pictures. Tiles that show nothing
are left out.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from io import BytesIO
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from dpheatmap._util.threads import in_threads
from dpheatmap.heatmap.heatmap import Heatmap
from dpheatmap.place.box import Box
from dpheatmap.place.domain import Domain
from dpheatmap.render.content.clarity import TOLD
from dpheatmap.render.content.picture import Picture
from dpheatmap.render.content.resampling import resize
from dpheatmap.render.formats.cell_strips import TILE, Strip, own_level, strips_for, with_coarser
from dpheatmap.render.formats.metadata import facts
from dpheatmap.render.inks import Inks, inks_of
from dpheatmap.render.palette import LIGHT, rgb_of

Steps = NDArray[np.uint8]

_ZOOMS = 8


class Tile(NamedTuple):
    """A tile, and the band of each of its pixels; 0 is bare."""

    zoom: int
    x: int
    y: int
    steps: Steps


class TileBounds(NamedTuple):
    """Degrees between which tiles lie, the smaller longitude first, and the longitude in the middle of the map."""

    west: float
    south: float
    east: float
    north: float
    middle: float


def own_zooms(heat: Heatmap) -> tuple[int, int]:
    """Eight zooms, the last being that at which a pixel is one of the map's cells."""
    own = max(0, own_level(heat) - TILE)
    return max(0, own - _ZOOMS + 1), own


def draw_tiles(heat: Heatmap, picture: Picture, first: int, last: int) -> Iterator[tuple[Tile, bytes]]:
    """Every tile that shows something, with its PNG."""
    inks = _inks(picture)
    return in_threads(lambda tile: (tile, _png(tile.steps, inks)), _tiles(heat, picture, first, last))


def bare_tile() -> bytes:
    """The PNG of a tile that shows nothing."""
    return _png(np.zeros((256, 256), np.uint8), inks_of(LIGHT, 1))


def _inks(picture: Picture) -> Inks:
    """The inks of tiles, which lie on light maps."""
    return inks_of(LIGHT, len(picture.edges))


def tiles_metadata(heat: Heatmap, picture: Picture) -> dict[str, Any]:
    """The metadata that viewers show, and the legend: the edge from which each band begins, and its colour."""
    about = facts(heat)
    return {
        "name": about["title"],
        "type": "overlay",
        "attribution": f"dpheatmap: {about['privacy']}",
        "legend": {
            "title": picture.words.legend.title,
            "edges": list(picture.edges) if picture.painted else [],
            "colours": _inks(picture).colours,
        },
        "dpheatmap": about,
    }


def bounds_of_tiles(domain: Domain) -> TileBounds:
    """The bounds of a map's tiles: all around the world for a map across the antimeridian."""
    west, south, east, north = domain.bounds
    middle = (west + east) / 2 - 360.0 * ((west + east) / 2 > 180.0)
    if east > 180.0:
        west, east = -180.0, 180.0
    return TileBounds(west, south, east, north, middle)


def _within_noise(picture: Picture) -> NDArray[np.bool_]:
    """The pixels of a map that can't be told from nothing."""
    rows, columns = picture.values.shape
    if picture.clarity is None:
        return np.zeros((rows, columns), np.bool_)
    return np.asarray(resize(picture.clarity, columns, rows) < TOLD) | (not picture.painted)


def _tiles(heat: Heatmap, picture: Picture, first: int, last: int) -> Iterator[Tile]:
    """Every tile that shows something."""
    level = min(last + TILE, heat.domain.depth)
    for strip in with_coarser(_strips(heat, picture, level), min(first + TILE, level)):
        if strip.level <= level:
            yield from _tiles_of(strip, picture)


def _strips(heat: Heatmap, picture: Picture, level: int) -> Iterator[Strip]:
    """The shares of people in cells, and the part of them that is within the noise."""
    within = _within_noise(picture)
    for strip in strips_for(heat, level):
        cells = heat.domain.cells(strip.level)
        down, across = np.arange(strip.rows) + strip.y0 - cells.y0, np.arange(cells.columns)
        rows, columns = (
            at * pixels // n
            for at, n, pixels in zip((down, across), (cells.rows, cells.columns), within.shape, strict=True)
        )
        (share,) = strip.layers
        yield replace(strip, layers=np.stack([share, share * within[np.ix_(rows, columns)]]))


def _tiles_of(strip: Strip, picture: Picture) -> Iterator[Tile]:
    """The tiles of a strip that show something; a place with few levels has cells of several pixels."""
    share, noise = strip.layers
    side = picture.domain.lengths_of_cells(strip.level, strip.y0 + np.arange(strip.rows) + 0.5)
    density = picture.unit.factor * (np.where(noise > 0.5 * share, 0.0, share) / (side**2)[:, None])
    steps = np.searchsorted(np.array(picture.edges), density, side="right").astype(np.uint8)
    if not steps.any():
        return
    zoom = max(0, strip.level - TILE)
    pixels = 2 ** (zoom + TILE - strip.level)
    top, left = pixels * strip.y0 % 256, pixels * strip.x0 % 256
    steps = np.repeat(np.repeat(steps, pixels, axis=0), pixels, axis=1)
    x0, y0 = pixels * strip.x0 // 256, pixels * strip.y0 // 256
    whole = np.pad(steps, ((top, 256 - top - len(steps)), (left, -(left + steps.shape[1]) % 256)))
    beyond = isinstance(picture.domain.place, Box) and picture.domain.place.turned
    for x in range(whole.shape[1] // 256):
        tile = whole[:, 256 * x : 256 * (x + 1)]
        if tile.any():
            yield _on_the_map(Tile(zoom, x0 + x, y0, tile)) if beyond else Tile(zoom, x0 + x, y0, tile)


def _on_the_map(tile: Tile) -> Tile:
    """A tile of the world that begins at Greenwich as one of the usual map, half of the world farther east."""
    if tile.zoom == 0:
        return tile._replace(steps=np.roll(tile.steps, 128, axis=1))
    return tile._replace(x=(tile.x + 2 ** (tile.zoom - 1)) % 2**tile.zoom)


def _png(steps: Steps, inks: Inks) -> bytes:
    """Encode a tile as PNG with the bands as its palette; bare paper is transparent."""
    image = Image.fromarray(np.ascontiguousarray(steps))
    image.putpalette(bytes(part for colour in ("#FFFFFF", *inks.colours) for part in rgb_of(colour)))
    opacity = bytes([0, *(round(255 * part) for part in inks.opacities)])
    buffer = BytesIO()
    image.save(buffer, format="PNG", transparency=opacity)
    return buffer.getvalue()
