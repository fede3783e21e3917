"""Writing of series of heatmaps to files: the format is that of the suffix."""

from __future__ import annotations

from importlib import import_module
from os import PathLike
from typing import TYPE_CHECKING, Any

from dpheatmap._util.files import replace_whole, suffix_of
from dpheatmap.render import options_among, options_taken_by, refuse_by, refuse_options, refuse_release, with_look

if TYPE_CHECKING:
    from types import ModuleType

    from dpheatmap.heatmap.series import Series
    from dpheatmap.place.domain import Domain

FORMATS = {
    ".png": "dpheatmap.render.formats.series_pictures",
    ".svg": "dpheatmap.render.formats.series_vectors",
    ".pdf": "dpheatmap.render.formats.series_vectors",
    ".gif": "dpheatmap.render.formats.series_animation",
    ".webp": "dpheatmap.render.formats.series_animation",
    ".html": "dpheatmap.render.web.series_page",
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
    write = _module(path).write
    refuse_options(path, options, write)
    refuse(series.domain, path, **options)
    with replace_whole(path) as temporary:
        write(series, temporary, **with_look(write, options))


def refuse(domain: Domain, path: str | PathLike[str], **options: Any) -> None:
    """Refuse a file that no series of a domain can be written to, before data is read or budget spent."""
    refuse_by(_module(path), domain, options)


def options_of(path: str | PathLike[str]) -> set[str]:
    """The names of the options that the format of a file takes, and ``values``, which all of them take."""
    return {*options_taken_by(_module(path).write), "values"}


def _module(path: str | PathLike[str]) -> ModuleType:
    return import_module(FORMATS[suffix_of(path, "a series' file", FORMATS)])
