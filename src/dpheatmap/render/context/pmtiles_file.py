"""PMTiles of vector tiles: the tiles of a window, put together."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpheatmap._util.extras import import_extra
from dpheatmap.errors import DataError, DpheatmapError, ParameterError
from dpheatmap.place.domain import Bounds, Floats
from dpheatmap.render.basemap.polylines import area_of, cut_line, cut_ring, polygons_of
from dpheatmap.render.basemap.seams import join_rings
from dpheatmap.render.context.limited_unzip import UnpackedBytes
from dpheatmap.render.context.raw_feature import RawFeature
from dpheatmap.render.context.tile_directory import TileDirectory
from dpheatmap.render.context.vector_tile import TileFeature, decode

_TILES = 36  # that a window may take, so that the zoom shows what a picture of 1,500 pixels can show
_MOST_TILES = 400  # that are read if a file has no smaller zoom
_LARGEST = 40_000_000  # bytes of all tiles that are read, unpacked
_MOST_FEATURES = 200_000  # of all tiles that are read
_UNIT = Bounds(0.0, 0.0, 1.0, 1.0)
_POLE = 85.0511
_HEADER = 127  # bytes


def read_pmtiles(path: Path, window: Bounds) -> list[RawFeature]:
    """The features of a file near a window, at the largest zoom at which few tiles hold it."""
    import_extra("pmtiles", "geo", f"The context {path.name!r}")
    try:
        with path.open("rb") as file:
            return [*_join(_tiles(file, path.name, window))]
    except DpheatmapError:
        raise
    except Exception as error:  # of another package, whose own errors are few and partly bare exceptions
        raise DataError(
            f"The context {path.name!r} can't be read as PMTiles of vector tiles. Check the file."
        ) from error


def _tiles(file: Any, name: str, window: Bounds) -> Iterator[tuple[int, int, int, TileFeature]]:
    """The features of each tile that a window meets, with the tile's zoom, column and row."""
    from pmtiles.reader import MmapSource
    from pmtiles.tile import Compression, TileType, deserialize_header

    get_bytes = MmapSource(file)
    header = deserialize_header(get_bytes(0, _HEADER))
    if header["tile_type"] != TileType.MVT:
        raise DataError("The context has pictures as tiles. Give PMTiles of vector tiles.")
    zooms = range(header["min_zoom"], header["max_zoom"] + 1)
    zoom = max((z for z in zooms if _count(window, z) <= _TILES), default=header["min_zoom"])
    if _count(window, zoom) > _MOST_TILES:
        raise DataError("The context has no tiles for maps as large as this one. Give a file with smaller zooms.")
    if header["tile_compression"] not in (Compression.GZIP, Compression.NONE, Compression.UNKNOWN):
        raise DataError("The context's tiles are packed in another way than by gzip. Convert it with pmtiles convert.")
    directory, unpacked = TileDirectory(name, header, get_bytes), UnpackedBytes(name, "tiles", _LARGEST)
    columns, rows = _ranges(window, zoom)
    features = 0
    for x, y in product(columns, rows):
        data = directory.tile(zoom, x % 2**zoom, y)
        if data is None:
            continue
        for feature in decode(unpacked.take(data, packed=header["tile_compression"] == Compression.GZIP)):
            features += 1
            if features > _MOST_FEATURES:
                raise ParameterError(
                    f"The context {name!r} has more than {_MOST_FEATURES:,} features inside the map. "
                    "Give a file with fewer features, such as main roads only."
                )
            yield zoom, x, y, feature


def _ranges(window: Bounds, zoom: int) -> tuple[range, range]:
    """The columns and rows of tiles that a window meets."""
    side = 2**zoom
    x0, x1 = (math.floor(side * (lon / 360 + 0.5)) for lon in (window.x0, window.x1))
    y0, y1 = (
        min(max(math.floor(side * (0.5 - math.asinh(math.tan(math.radians(lat))) / math.tau)), 0), side - 1)
        for lat in (min(window.y1, _POLE), max(window.y0, -_POLE))
    )
    return range(x0, x1 + 1), range(y0, y1 + 1)


def _count(window: Bounds, zoom: int) -> int:
    """How many tiles a window meets."""
    columns, rows = _ranges(window, zoom)
    return (columns.stop - columns.start) * (rows.stop - rows.start)


def _join(tiles: Iterator[tuple[int, int, int, TileFeature]]) -> Iterator[RawFeature]:
    """Join what tiles cut: polygons with the same tags become one."""
    rings: dict[tuple[Any, ...], list[Floats]] = defaultdict(list)
    side = 1
    for zoom, x, y, feature in tiles:
        side = 2**zoom
        place = np.array([x, y])
        if feature.shape == "polygon":
            key = tuple(sorted((name, str(value)) for name, value in feature.tags.items()))
            rings[key] += [cut + place for ring in feature.lines if len(cut := cut_ring(ring, _UNIT))]
        else:
            lines = feature.lines
            if feature.shape == "line":
                lines = [part for line in lines if len(line) > 1 for part in cut_line(line, _UNIT)]
            yield RawFeature(feature.shape, [[_to_degrees(line + place, side)] for line in lines], feature.tags)
    for key, parts in rings.items():
        whole = [_to_degrees(ring, side)[::-1] for ring in join_rings(parts, [_along_tiles(ring) for ring in parts])]
        outer, inner = ([ring for ring in whole if sign * area_of(ring) > 0] for sign in (1, -1))
        yield RawFeature("polygon", polygons_of(outer, inner), dict(key))


def _along_tiles(ring: Floats) -> NDArray[np.bool_]:
    """Tell which segments of a ring run along edges of tiles."""
    still = np.diff(ring, axis=0) == 0
    along: NDArray[np.bool_] = (still & (ring[:-1] % 1 == 0)).any(axis=1)
    return along


def _to_degrees(points: Floats, side: int) -> Floats:
    """Columns and rows of tiles as longitudes and latitudes."""
    lat = np.degrees(np.arctan(np.sinh(np.pi * (1 - 2 * points[:, 1] / side))))
    return np.column_stack([360 * points[:, 0] / side - 180, lat])
