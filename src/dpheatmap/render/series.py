"""Writing of series of heatmaps to files: the format is that of the suffix."""

from __future__ import annotations

import inspect
from importlib import import_module
from os import PathLike
from types import ModuleType
from typing import TYPE_CHECKING, Any

from dpheatmap._util.files import replace_whole, suffix_of
from dpheatmap.render.content.look import OPTIONS

if TYPE_CHECKING:
    from dpheatmap.heatmap.series import Series
    from dpheatmap.place.domain import Domain

FORMATS = {
    ".csv": "dpheatmap.render.formats.series_table",
    ".nc": "dpheatmap.render.formats.series_netcdf",
}
"""Suffixes of the files a series can be saved as, and the modules that write them."""


def save(series: Series, path: str | PathLike[str], **options: Any) -> None:
    """Write a series to the format that the suffix of ``path`` names, whole or not at all."""
    write = _module(path).write
    with replace_whole(path) as temporary:
        write(series, temporary, **options)


def options_of(path: str | PathLike[str]) -> set[str]:
    """The names of the options that the format of a file takes."""
    taken = inspect.signature(_module(path).write).parameters
    named = {name for name, one in taken.items() if one.kind is not one.VAR_KEYWORD} - {"series", "path"}
    return named - {"look"} | set(OPTIONS) if "look" in named or len(named) + 2 < len(taken) else named


def refuse(domain: Domain, path: str | PathLike[str], **options: Any) -> None:
    """Refuse a file that no series of a domain can be written to, before data is read or budget spent."""
    refusal = getattr(_module(path), "refuse", None)
    if refusal is not None:
        refusal(domain, **options)


def _module(path: str | PathLike[str]) -> ModuleType:
    return import_module(FORMATS[suffix_of(path, "a series' file", FORMATS)])
