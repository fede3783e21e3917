"""A Cloud-Optimised GeoTIFF in Web Mercator: densities, their standard deviations, and shares of pixels, for GIS.

It is written in pieces to a plain file first, which GDAL then arranges, with overviews, in the memory of some blocks.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np

from dpheatmap._util.extras import import_extra
from dpheatmap.heatmap.heatmap import Heatmap
from dpheatmap.heatmap.smoothing import pixel_sides
from dpheatmap.place.domain import Domain, Floats
from dpheatmap.place.projection import EARTH_CIRCUMFERENCE
from dpheatmap.render.formats.cell_strips import TILE, refuse_zooms, strips_for, with_coarser
from dpheatmap.render.formats.metadata import facts, refuse_without_ground

BANDS = (
    "share of people per km2",
    "standard deviation of the share per km2",
    "share of people in the pixel: add these up over an area",
)
UNITS = ("1/km2", "1/km2", "1")

_BLOCK = 512
_CACHE = 2**27  # bytes of blocks that GDAL holds


class _Raster(NamedTuple):
    """The pixels of a file: the cells' domain that they divide evenly, their rows and columns, and their values.

    A piece is a first row, the shares of people in pixels from there on, and their standard deviations if known.
    """

    domain: Domain
    shape: tuple[int, int]
    pieces: Iterator[tuple[int, Floats, Floats | None]]


def write(heat: Heatmap, path: Path, *, zooms: tuple[int, int] | None = None) -> None:
    """Write three bands of 32-bit floats: `BANDS`. The second has no data where it is not known.

    Densities come first, because they stay right in overviews, which average pixels. But pixels of Web Mercator are
    larger on the map than on the ground, so a sum over an area takes the third band, which adds up to 1. With
    ``zooms``, pixels are those of tiles of the last zoom, and there are overviews down to the first.
    """
    import rasterio
    import rasterio.shutil

    overviews = {} if zooms is None else {"overview_count": zooms[1] - zooms[0]}
    with TemporaryDirectory() as folder, rasterio.Env(GDAL_CACHEMAX=_CACHE, CPL_TMPDIR=folder):
        plain = Path(folder, "plain.tif")
        _write_plain(heat, _whole(heat) if zooms is None else _cells(heat, zooms[1]), plain)
        rasterio.shutil.copy(
            plain, path, driver="COG", compress="DEFLATE", predictor="YES", blocksize=_BLOCK, bigtiff="IF_SAFER",
            overview_resampling="average", num_threads="ALL_CPUS", **overviews,
        )  # fmt: skip


def refuse(domain: Domain, *, zooms: tuple[int, int] | None = None) -> None:
    """Refuse images and unit squares, which are not on the ground, and zooms that there are no cells for."""
    refuse_without_ground(domain, "A GeoTIFF", ".npz or .png")
    import_extra("rasterio", "geo", "A GeoTIFF")
    refuse_zooms(domain, zooms)


def _whole(heat: Heatmap) -> _Raster:
    """The map's own pixels, at once."""
    rows, columns = heat.values.shape
    return _Raster(heat.domain, (rows, columns), iter([(0, heat.values, heat.std)]))


def _cells(heat: Heatmap, zoom: int) -> _Raster:
    """The pixels of the tiles of a zoom, a row of tiles at a time."""
    level = min(zoom + TILE, heat.domain.depth)
    cells = heat.domain.cells(level)
    shape = cells.rows, cells.columns
    known = heat.uncertainty

    def pieces() -> Iterator[tuple[int, Floats, Floats | None]]:
        there = known if known is None or shape == heat.values.shape else known.on(shape)
        for strip in with_coarser(strips_for(heat, level), level):
            if strip.level == level:
                first, (share,) = strip.y0 - cells.y0, strip.layers
                rows = range(first, first + strip.rows)
                yield first, share, None if there is None else share * there.relative_std_in(rows)

    return _Raster(replace(heat.domain, depth=level), shape, pieces())


def _write_plain(heat: Heatmap, raster: _Raster, path: Path) -> None:
    """Write a file without blocks, piece by piece."""
    import rasterio

    rows, columns = raster.shape
    width, height = pixel_sides(raster.domain, rows, columns)
    km2 = (width * height)[:, None] / 1e6
    profile: dict[str, Any] = {
        "driver": "GTiff", "width": columns, "height": rows, "count": len(BANDS), "dtype": "float32", "nodata": np.nan,
        "crs": "EPSG:3857", "bigtiff": "IF_SAFER",
        "transform": rasterio.transform.from_bounds(*mercator_bounds(raster.domain), columns, rows),
    }  # fmt: skip
    with rasterio.open(path, "w", **profile) as file:
        file.descriptions = BANDS
        file.units = UNITS
        file.update_tags(**{name.upper(): str(value) for name, value in facts(heat).items()})
        for first, share, std in raster.pieces:
            areas = km2[first : first + len(share)]
            layers = [share / areas, np.full(share.shape, np.nan) if std is None else std / areas, share]
            window = rasterio.windows.Window(0, first, columns, len(share))
            file.write(np.stack(layers).astype(np.float32), window=window)


def mercator_bounds(domain: Domain) -> tuple[float, float, float, float]:
    """West, south, east and north of a box in metres of EPSG:3857."""
    finest, whole = domain.cells(domain.depth), 2**domain.depth
    left, right = (EARTH_CIRCUMFERENCE * (x / whole - 0.5) for x in (finest.x0, finest.x1))
    top, bottom = (EARTH_CIRCUMFERENCE * (0.5 - y / whole) for y in (finest.y0, finest.y1))
    return left, bottom, right, top
