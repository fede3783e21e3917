"""PMTiles: one file of raster tiles over a range of zooms (`map_tiles.py`), for maps on the web.

Equal tiles are stored once. Tiles come row by row, but a file has them along a curve (Hilbert's), so they wait in a
temporary file.
"""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

from dpheatmap._util.extras import import_extra
from dpheatmap.heatmap.heatmap import Heatmap
from dpheatmap.place.domain import Domain
from dpheatmap.render.content.picture import picture_of
from dpheatmap.render.formats.cell_strips import refuse_zooms
from dpheatmap.render.formats.map_tiles import bare_tile, bounds_of_tiles, draw_tiles, own_zooms, tiles_metadata
from dpheatmap.render.formats.metadata import refuse_without_ground


def write(heat: Heatmap, path: Path, *, zooms: tuple[int, int] | None = None) -> None:
    """Write eight zooms by default, the last being that at which a pixel is one of the map's cells."""
    from pmtiles import tile as pmtiles
    from pmtiles.writer import Writer

    first, last = zooms or own_zooms(heat)
    picture = picture_of(heat)
    with path.open("wb") as file, TemporaryFile() as waiting:
        found = {}
        for tile, png in draw_tiles(heat, picture, first, last):
            found[pmtiles.zxy_to_tileid(tile.zoom, tile.x, tile.y)] = waiting.tell(), len(png)
            waiting.write(png)
        writer = Writer(file)
        for number, (start, length) in sorted(found.items()):
            waiting.seek(start)
            writer.write_tile(number, waiting.read(length))
        if not found:  # a file needs one
            writer.write_tile(pmtiles.zxy_to_tileid(0, 0, 0), bare_tile())
        writer.finalize(_header(heat.domain, pmtiles, first, last), tiles_metadata(heat, picture))


def refuse(domain: Domain, *, zooms: tuple[int, int] | None = None) -> None:
    """Refuse images and unit squares, which are not on the ground, and zooms that there are no cells for."""
    refuse_without_ground(domain, "A PMTiles file", ".png or .npz")
    import_extra("pmtiles", "geo", "A PMTiles file")
    refuse_zooms(domain, zooms)


def _header(domain: Domain, pmtiles: Any, first: int, last: int) -> dict[str, Any]:
    west, south, east, north, middle = bounds_of_tiles(domain)
    edges = {"min_lon_e7": west, "min_lat_e7": south, "max_lon_e7": east, "max_lat_e7": north}
    centre = {"center_lon_e7": middle, "center_lat_e7": (south + north) / 2}
    return {
        "tile_type": pmtiles.TileType.PNG,
        "tile_compression": pmtiles.Compression.NONE,
        **{name: round(1e7 * degrees) for name, degrees in (edges | centre).items()},
        "center_zoom": min(last, max(first, last - 1)),
    }
