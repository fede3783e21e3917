"""PMTiles: one file of raster tiles over a range of zooms, for maps on the web.

The cells of a domain are map tiles: a tile of zoom z has 256 x 256 pixels, each of which is a cell of level z + 8. So
nothing is resampled. Where the map's cells are finer, those of a pixel are added up; where they are coarser, a cell is
drawn as several equal pixels. All zooms have the bands of the map's pictures.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from dpheatmap._util.extras import import_extra
from dpheatmap.errors import ParameterError
from dpheatmap.heatmap.heatmap import Heatmap
from dpheatmap.heatmap.smoothing import smooth
from dpheatmap.place.domain import Domain, Floats
from dpheatmap.render.content.clarity import TOLD
from dpheatmap.render.content.picture import Picture, picture_of
from dpheatmap.render.content.resampling import resize
from dpheatmap.render.formats.metadata import facts, refuse_without_ground
from dpheatmap.render.inks import Inks, inks_of
from dpheatmap.render.palette import LIGHT, rgb_of

Steps = NDArray[np.uint8]

_TILE = 8  # levels from a tile to its pixels
_ZOOMS = 8
_MOST_TILES = 50_000


@dataclass(frozen=True, eq=False)
class Grid:
    """Shares of people in all cells of a level from a first column and row on; ``noise`` is the part within the noise.

    The share is 0 beyond its edges.
    """

    level: int
    x0: int
    y0: int
    share: Floats
    noise: Floats

    def coarser(self) -> Grid:
        """The grid one level up: four cells are added up to one."""
        return Grid(self.level - 1, self.x0 // 2, self.y0 // 2, self._in_fours(self.share), self._in_fours(self.noise))

    def _in_fours(self, cells: Floats) -> Floats:
        rows, columns = cells.shape
        left, top = self.x0 % 2, self.y0 % 2
        padded = np.pad(cells, ((top, (top + rows) % 2), (left, (left + columns) % 2)))
        sums: Floats = padded.reshape(padded.shape[0] // 2, 2, padded.shape[1] // 2, 2).sum(axis=(1, 3))
        return sums

    def density(self, domain: Domain) -> Floats:
        """The share per square metre; 0 where most of a cell's share is within the noise."""
        side = domain.lengths_of_cells(self.level, self.y0 + np.arange(len(self.share)) + 0.5)
        density: Floats = np.where(self.noise > 0.5 * self.share, 0.0, self.share) / (side**2)[:, None]
        return density


def write(heat: Heatmap, path: Path, *, zooms: tuple[int, int] | None = None) -> None:
    """Write eight zooms by default, the last being that at which a pixel is one of the map's cells."""
    from pmtiles import tile as pmtiles
    from pmtiles.writer import Writer

    picture = picture_of(heat)
    grid = finest_grid(heat, picture)
    own = max(0, grid.level - _TILE)
    first, last = zooms or (max(0, own - _ZOOMS + 1), own)
    inks = inks_of(LIGHT, len(picture.edges))
    tiles = {
        pmtiles.zxy_to_tileid(zoom, x, y): _png(tile, inks) for zoom, x, y, tile in _tiles(picture, grid, first, last)
    }
    if not tiles:  # a file needs one
        tiles[pmtiles.zxy_to_tileid(0, 0, 0)] = _png(np.zeros((256, 256), np.uint8), inks)
    with path.open("wb") as file:
        writer = Writer(file)
        for number, tile in sorted(tiles.items()):
            writer.write_tile(number, tile)
        writer.finalize(_header(heat.domain, pmtiles, first, last), _metadata(heat, picture, inks))


def refuse(domain: Domain, *, zooms: tuple[int, int] | None = None) -> None:
    """Refuse images and unit squares, which are not on the ground, and too many tiles."""
    refuse_without_ground(domain, "A PMTiles file", ".png or .npz")
    import_extra("pmtiles", "geo", "A PMTiles file")
    last = 0 if zooms is None else zooms[1]
    tiles = domain.count(min(last, domain.depth)) * 4 ** max(0, last - domain.depth)
    if tiles > _MOST_TILES:
        raise ParameterError(
            f"zooms must end where the map has at most {_MOST_TILES:,} tiles; zoom {last} has {tiles:,}. "
            "End earlier: web maps enlarge the last zoom by themselves."
        )


def finest_grid(heat: Heatmap, picture: Picture) -> Grid:
    """The map on the cells of the deepest level that has no more of them on the longer side than the map has pixels."""
    domain, pixels = heat.domain, max(heat.values.shape)

    def longer(level: int) -> int:
        cells = domain.cells(level)
        return max(cells.columns, cells.rows)

    level = max(level for level in range(domain.depth + 1) if longer(level) <= max(pixels, longer(0)))
    cells, within = domain.cells(level), _within_noise(picture)
    if heat.values.shape == (cells.rows, cells.columns) and level == domain.depth:
        return Grid(level, cells.x0, cells.y0, heat.values, heat.values * within)
    if heat.estimate is None:
        raise ParameterError(
            "Tiles need a map whose pixels are cells, or the release that it was made from. Use Release.heatmap."
        )
    share = smooth(heat.estimate.distribution().coarser(level), heat.sigma, longer(level))
    rows, columns = (
        np.minimum(np.arange(n) * pixels // n, pixels - 1) for n, pixels in zip(share.shape, within.shape, strict=True)
    )
    return Grid(level, cells.x0, cells.y0, share, share * within[rows][:, columns])


def _within_noise(picture: Picture) -> NDArray[np.bool_]:
    """The pixels of a map that can't be told from nothing."""
    rows, columns = picture.values.shape
    if picture.clarity is None:
        return np.zeros((rows, columns), np.bool_)
    return np.asarray(resize(picture.clarity, columns, rows) < TOLD) | (not picture.painted)


def _tiles(picture: Picture, grid: Grid, first: int, last: int) -> Iterator[tuple[int, int, int, Steps]]:
    """Zoom, column, row and bands of every tile that shows something; 0 is bare."""
    for zoom in range(last, first - 1, -1):
        while grid.level > zoom + _TILE:
            grid = grid.coarser()
        density = picture.unit.factor * grid.density(picture.domain)
        steps = np.searchsorted(np.array(picture.edges), density, side="right").astype(np.uint8)
        deeper = zoom + _TILE - grid.level  # a cell has 2**deeper pixels a side
        rows, columns = steps.shape
        x0, y0 = (at << deeper for at in (grid.x0, grid.y0))
        for y in range(y0 >> _TILE, ((grid.y0 + rows << deeper) - 1 >> _TILE) + 1):
            for x in range(x0 >> _TILE, ((grid.x0 + columns << deeper) - 1 >> _TILE) + 1):
                tile = _cut(steps, (y << _TILE) - y0, (x << _TILE) - x0, deeper)
                if tile.any():
                    yield zoom, x, y, tile


def _cut(steps: Steps, top: int, left: int, deeper: int) -> Steps:
    """The pixels of a tile whose corner is ``top`` and ``left`` pixels from the grid's; 0 beyond the grid."""
    tile = np.zeros((256, 256), np.uint8)
    rows, columns = ((at + np.arange(256)) >> deeper for at in (top, left))
    inside_rows, inside_columns = (
        (at >= 0) & (at < n) for at, n in ((rows, steps.shape[0]), (columns, steps.shape[1]))
    )
    tile[np.ix_(inside_rows, inside_columns)] = steps[np.ix_(rows[inside_rows], columns[inside_columns])]
    return tile


def _png(steps: Steps, inks: Inks) -> bytes:
    """Encode a tile as PNG with the bands as its palette; bare paper is transparent."""
    image = Image.fromarray(steps)
    image.putpalette(bytes(part for colour in ("#FFFFFF", *inks.colours) for part in rgb_of(colour)))
    opacity = bytes([0, *(round(255 * part) for part in inks.opacities)])
    buffer = BytesIO()
    image.save(buffer, format="PNG", transparency=opacity)
    return buffer.getvalue()


def _header(domain: Domain, pmtiles: Any, first: int, last: int) -> dict[str, Any]:
    west, south, east, north = domain.bounds
    edges = {"min_lon_e7": west, "min_lat_e7": south, "max_lon_e7": east, "max_lat_e7": north}
    middle = {"center_lon_e7": (west + east) / 2, "center_lat_e7": (south + north) / 2}
    return {
        "tile_type": pmtiles.TileType.PNG,
        "tile_compression": pmtiles.Compression.NONE,
        **{name: round(1e7 * degrees) for name, degrees in (edges | middle).items()},
        "center_zoom": min(last, max(first, last - 1)),
    }


def _metadata(heat: Heatmap, picture: Picture, inks: Inks) -> dict[str, Any]:
    """The metadata that viewers show, and the legend: the edge from which each band begins, and its colour."""
    about = facts(heat)
    return {
        "name": about["title"],
        "type": "overlay",
        "attribution": f"dpheatmap: {about['privacy']}",
        "legend": {
            "title": picture.words.legend.title,
            "edges": list(picture.edges) if picture.painted else [],
            "colours": inks.colours,
        },
        "dpheatmap": about,
    }
