"""Writing of series of heatmaps to files: the format is that of the suffix."""

from __future__ import annotations

from importlib import import_module
from os import PathLike
from typing import TYPE_CHECKING, Any

from dpheatmap._util.files import replace_whole, suffix_of
from dpheatmap.render import options_among, refuse_by, refuse_options, refuse_release, with_look

if TYPE_CHECKING:
    from dpheatmap.heatmap.series import Series

FORMATS = {
    ".png": "dpheatmap.render.formats.series_pictures",
    ".svg": "dpheatmap.render.formats.series_vectors",
    ".pdf": "dpheatmap.render.formats.series_vectors",
    ".gif": "dpheatmap.render.formats.series_animation",
    ".webp": "dpheatmap.render.formats.series_animation",
    ".tif": "dpheatmap.render.formats.series_geotiff",
    ".nc": "dpheatmap.render.formats.series_netcdf",
    ".csv": "dpheatmap.render.formats.series_table",
    ".parquet": "dpheatmap.render.formats.series_geoparquet",
}
"""Suffixes of the files a series can be saved as, and the modules that write them."""


def save(series: Series, path: str | PathLike[str], **choices: Any) -> None:
    """Write a series to the format that the suffix of ``path`` names, whole or not at all."""
    options = options_among(choices)
    refuse_release(path)
    module = import_module(FORMATS[suffix_of(path, "a series' file", FORMATS)])
    refuse_options(path, options, module.write)
    refuse_by(module, series.domain, options)
    with replace_whole(path) as temporary:
        module.write(series, temporary, **with_look(module.write, options))
