"""Writing of series of heatmaps to files: the format is that of the suffix."""

from __future__ import annotations

from importlib import import_module
from os import PathLike
from typing import TYPE_CHECKING, Any

from dpheatmap._util.files import replace_whole, suffix_of

if TYPE_CHECKING:
    from dpheatmap.heatmap.series import Series

FORMATS = {
    ".csv": "dpheatmap.render.formats.series_table",
    ".nc": "dpheatmap.render.formats.series_netcdf",
}
"""Suffixes of the files a series can be saved as, and the modules that write them."""


def save(series: Series, path: str | PathLike[str], **options: Any) -> None:
    """Write a series to the format that the suffix of ``path`` names, whole or not at all."""
    module = import_module(FORMATS[suffix_of(path, "a series' file", FORMATS)])
    with replace_whole(path) as temporary:
        module.write(series, temporary, **options)
