"""A Cloud-Optimised GeoTIFF in Web Mercator: densities and their standard deviations, for GIS."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from dpheatmap._util.extras import import_extra
from dpheatmap.heatmap.heatmap import Heatmap
from dpheatmap.place.domain import Domain
from dpheatmap.place.projection import EARTH_CIRCUMFERENCE
from dpheatmap.render.formats.metadata import facts, refuse_without_ground

BANDS = ("share of people per km2", "standard deviation of the share per km2")


def write(heat: Heatmap, path: Path) -> None:
    """Write two bands of 32-bit floats, per km2 on the ground; the second has no data where it is not known.

    The values are densities, not shares of a pixel, because they stay right in overviews, which average pixels.
    """
    import rasterio
    import rasterio.shutil

    km2 = heat.pixel_areas[:, None] / 1e6
    density = heat.values / km2
    std = np.full(density.shape, np.nan) if heat.std is None else heat.std / km2
    rows, columns = density.shape
    left, bottom, right, top = mercator_bounds(heat)
    profile = {
        "driver": "MEM", "width": columns, "height": rows, "count": 2, "dtype": "float32", "nodata": np.nan,
        "crs": "EPSG:3857", "transform": rasterio.transform.from_bounds(left, bottom, right, top, columns, rows),
    }  # fmt: skip
    with rasterio.open("", "w", **profile) as plain:
        plain.write(np.stack([density, std]).astype(np.float32))
        plain.descriptions = BANDS
        plain.units = ("1/km2", "1/km2")
        plain.update_tags(**{name.upper(): str(value) for name, value in facts(heat).items()})
        rasterio.shutil.copy(
            plain, path, driver="COG", compress="DEFLATE", predictor="YES", blocksize=256, overview_resampling="average"
        )


def refuse(domain: Domain) -> None:
    """Refuse images and unit squares, which are not on the ground."""
    refuse_without_ground(domain, "A GeoTIFF", ".npz or .png")
    import_extra("rasterio", "geo", "A GeoTIFF")


def mercator_bounds(heat: Heatmap) -> tuple[float, float, float, float]:
    """West, south, east and north of a box in metres of EPSG:3857."""
    finest, whole = heat.domain.cells(heat.domain.depth), 2**heat.domain.depth
    left, right = (EARTH_CIRCUMFERENCE * (x / whole - 0.5) for x in (finest.x0, finest.x1))
    top, bottom = (EARTH_CIRCUMFERENCE * (0.5 - y / whole) for y in (finest.y0, finest.y1))
    return left, bottom, right, top
