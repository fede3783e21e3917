"""A Cloud-Optimised GeoTIFF of a series: a band for each slice."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from dpheatmap._util.extras import import_extra
from dpheatmap.heatmap.series import Series
from dpheatmap.place.domain import Domain
from dpheatmap.render.content.words import NO_SIGNAL
from dpheatmap.render.formats.geotiff import on_mercator, write_cog
from dpheatmap.render.formats.metadata import facts_of_series, refuse_without_ground

_VALUES = {
    "share": "share of the people of the slice in the pixel: a band adds up to 1; overviews have means",
    "people": "people in the pixel: a band adds up to the people of the slice; overviews have means",
}


def write(series: Series, path: Path) -> None:
    """Write a band of 32-bit floats for each slice, called by its name: the share of its people in each pixel.

    A band of a series of people has numbers of people instead. There are no data outside of a boundary.
    """
    first = series[series.labels[0]]
    raster = on_mercator(first.domain, first.values.shape, iter(()))
    outside = np.where(first.ground > 0.0, 0.0, np.nan)

    def fill(file: Any) -> None:
        for band, label in enumerate(series.labels, start=1):
            heat = series[label]
            file.write((heat.values + outside).astype(np.float32), band)
            if heat.empty:
                file.update_tags(band, WARNING=NO_SIGNAL)

    about = facts_of_series(series) | {"values": _VALUES[series.quantity]}
    write_cog(raster, path, series.labels, ("1",) * len(series), about, fill)


def refuse(domain: Domain) -> None:
    """Refuse images and unit squares, which are not on the ground."""
    refuse_without_ground(domain, "A GeoTIFF", ".nc or .png")
    import_extra("rasterio", "geo", "A GeoTIFF")
