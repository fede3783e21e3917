"""A GeoTIFF of a difference: the change of density, its deviation, whether it is significant, and that of shares."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from dpheatmap._util.extras import import_extra
from dpheatmap.heatmap.differences import Difference
from dpheatmap.place.domain import Domain
from dpheatmap.render.formats.geotiff import on_mercator, write_bands
from dpheatmap.render.formats.metadata import facts_of_difference, refuse_without_ground

BANDS = (
    "change of the share of people per km2",
    "standard deviation of the change per km2",
    "1 where the change is significant: 5 % of such pixels are expected to be noise",
    "change of the share of people in the pixel: add these up over an area",
)


def write(change: Difference, path: Path, suffix: str) -> None:
    """Write four bands of 32-bit floats; the last adds up to 0."""
    pixels = on_mercator(change.domain, change.values.shape, iter([(0, change.values, change.std)]))
    told = np.full(change.values.shape, np.nan) if change.std is None else change.significant().astype(np.float64)
    raster = pixels._replace(km2=change.after.ground / 1e6, third=told)
    write_bands(raster, path, BANDS, facts_of_difference(change))


def refuse(domain: Domain, suffix: str) -> None:
    """Refuse images and unit squares, which are not on the ground."""
    refuse_without_ground(domain, "A GeoTIFF", ".csv or .png")
    import_extra("rasterio", "geo", "A GeoTIFF")
