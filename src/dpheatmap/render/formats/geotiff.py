"""A Cloud-Optimised GeoTIFF: densities, their standard deviations, and shares of pixels, for GIS.

It is in Web Mercator, or in any projected system of coordinates (`warped_raster.py`).

It is written in pieces to a plain file first, which GDAL then arranges, with overviews, in the memory of some blocks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np

from dpheatmap._util.extras import import_extra
from dpheatmap.errors import ParameterError
from dpheatmap.heatmap.heatmap import Heatmap
from dpheatmap.heatmap.smoothing import pixel_sides
from dpheatmap.place.box import Box
from dpheatmap.place.domain import Domain, Floats
from dpheatmap.place.projection import EARTH_CIRCUMFERENCE
from dpheatmap.render.formats.cell_strips import TILE, refuse_zooms, strips_for, with_coarser
from dpheatmap.render.formats.metadata import facts, refuse_without_ground
from dpheatmap.render.formats.warped_raster import check_projection, warp

BANDS = {
    "share": (
        "share of people per km2",
        "standard deviation of the share per km2",
        "share of people in the pixel: add these up over an area",
    ),
    "people": (
        "people per km2",
        "standard deviation of the people per km2",
        "people in the pixel: add these up over an area",
    ),
}
UNITS = ("1/km2", "1/km2", "1")

_BLOCK = 512
_CACHE = 2**27  # bytes of blocks that GDAL holds


class Raster(NamedTuple):
    """The pixels of a file: its system of coordinates and its edges there, the ground of pixels in km2, and values.

    A piece is a first row, the values of the pixels from there on, and their standard deviations if known. The ground
    is in the shape of the file or in one column; where there is none, there are no data.
    """

    crs: str
    edges: tuple[float, float, float, float]
    shape: tuple[int, int]
    km2: Floats
    pieces: Iterator[tuple[int, Floats, Floats | None]]
    third: Floats | None = None
    """A band of its own between the deviations and the values, in the shape of the file."""


def write(heat: Heatmap, path: Path, *, zooms: tuple[int, int] | None = None, crs: str | None = None) -> None:
    """Write three bands of 32-bit floats: `BANDS`. The second has no data where it is not known.

    Densities come first, because they stay right in overviews, which average pixels. But pixels of Web Mercator are
    larger on the map than on the ground, so a sum over an area takes the third band, which adds up to 1. With
    ``zooms``, pixels are those of tiles of the last zoom, and there are overviews down to the first. With ``crs``, they
    are those of another system.
    """
    raster = _other_grid(heat, crs) if crs else _whole(heat) if zooms is None else _cells(heat, zooms[1])
    overviews = {} if zooms is None else {"overview_count": zooms[1] - zooms[0]}
    write_bands(raster, path, BANDS[heat.quantity], facts(heat), **overviews)


def write_bands(raster: Raster, path: Path, bands: tuple[str, ...], about: dict[str, Any], **overviews: int) -> None:
    """Write the bands of a raster; ``about`` says how it was made."""
    units = UNITS if raster.third is None else (*UNITS, "1")
    write_cog(raster, path, bands, units, about, lambda file: _fill(raster, file), **overviews)


def write_cog(
    raster: Raster, path: Path, bands: tuple[str, ...], units: tuple[str, ...], about: dict[str, Any],
    fill: Callable[[Any], None], **overviews: int,
) -> None:  # fmt: skip
    """Write a file without blocks, whose bands ``fill`` writes, and arrange it."""
    import rasterio
    import rasterio.shutil

    with TemporaryDirectory() as folder, rasterio.Env(GDAL_CACHEMAX=_CACHE, CPL_TMPDIR=folder):
        plain = Path(folder, "plain.tif")
        with rasterio.open(plain, "w", **_profile(raster, len(bands))) as file:
            file.descriptions, file.units = bands, units
            file.update_tags(**{name.upper(): str(value) for name, value in about.items()})
            fill(file)
        rasterio.shutil.copy(
            plain, path, driver="COG", compress="DEFLATE", predictor="YES", blocksize=_BLOCK, bigtiff="IF_SAFER",
            overview_resampling="average", num_threads="ALL_CPUS", **overviews,
        )  # fmt: skip


def refuse(domain: Domain, *, zooms: tuple[int, int] | None = None, crs: str | None = None) -> None:
    """Refuse images and unit squares, which are not on the ground, and zooms that there are no cells for."""
    refuse_without_ground(domain, "A GeoTIFF", ".npz or .png")
    import_extra("rasterio", "geo", "A GeoTIFF")
    refuse_zooms(domain, zooms)
    if crs is not None:
        if zooms is not None:
            raise ParameterError(
                "zooms are those of Web Mercator, and crs names another system. Leave one of them out."
            )
        check_projection(crs)


def _other_grid(heat: Heatmap, crs: str) -> Raster:
    """The pixels of another system, at once."""
    found = warp(heat, crs)
    rows, columns = found.share.shape
    edges = (found.left, found.top - found.side * rows, found.left + found.side * columns, found.top)
    return Raster(crs, edges, (rows, columns), found.km2, iter([(0, found.share, found.std)]))


def _whole(heat: Heatmap) -> Raster:
    """The map's own pixels, at once."""
    whole = on_mercator(heat.domain, heat.values.shape, iter([(0, heat.values, heat.std)]))
    return whole._replace(km2=heat.ground / 1e6)


def on_mercator(domain: Domain, shape: tuple[int, int], pieces: Iterator[tuple[int, Floats, Floats | None]]) -> Raster:
    """Pixels that cut a domain evenly in Web Mercator."""
    width, height = pixel_sides(domain, *shape)
    return Raster("EPSG:3857", mercator_bounds(domain), shape, (width * height)[:, None] / 1e6, pieces)


def _cells(heat: Heatmap, zoom: int) -> Raster:
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

    return on_mercator(replace(heat.domain, depth=level), shape, pieces())


def _profile(raster: Raster, bands: int) -> dict[str, Any]:
    import rasterio

    rows, columns = raster.shape
    return {
        "driver": "GTiff", "width": columns, "height": rows, "count": bands, "dtype": "float32", "nodata": np.nan,
        "crs": raster.crs, "bigtiff": "IF_SAFER",
        "transform": rasterio.transform.from_bounds(*raster.edges, columns, rows),
    }  # fmt: skip


def _fill(raster: Raster, file: Any) -> None:
    """Write the bands piece by piece."""
    import rasterio

    for first, share, std in raster.pieces:
        areas = np.where(raster.km2 > 0.0, raster.km2, np.nan)[first : first + len(share)]
        unknown = np.full(share.shape, np.nan)
        layers = [share / areas, unknown if std is None else std / areas, share + 0.0 * areas]
        if raster.third is not None:
            layers.insert(2, raster.third[first : first + len(share)] + 0.0 * areas)
        window = rasterio.windows.Window(0, first, raster.shape[1], len(share))
        file.write(np.stack(layers).astype(np.float32), window=window)


def mercator_bounds(domain: Domain) -> tuple[float, float, float, float]:
    """West, south, east and north of a box in metres of EPSG:3857."""
    finest, whole = domain.cells(domain.depth), 2**domain.depth
    assert isinstance(domain.place, Box)
    left, right = (EARTH_CIRCUMFERENCE * (x / whole - domain.place.greenwich) for x in (finest.x0, finest.x1))
    top, bottom = (EARTH_CIRCUMFERENCE * (0.5 - y / whole) for y in (finest.y0, finest.y1))
    return left, bottom, right, top
