"""The figure of a difference, and its files: the interactive map, pictures, and numbers for map tools and tables."""

from __future__ import annotations

from importlib import import_module
from os import PathLike
from typing import TYPE_CHECKING

from dpheatmap._util.files import replace_whole, suffix_of
from dpheatmap.render import refuse_release
from dpheatmap.render.content.changes import picture_of_difference
from dpheatmap.render.content.look import Look
from dpheatmap.render.figure.figure import Figure
from dpheatmap.render.figure.figure_file import PICTURES, refuse_picture, write_figure
from dpheatmap.render.web.page import page

if TYPE_CHECKING:
    from dpheatmap.heatmap.differences import Difference

NUMBERS = {
    ".tif": "dpheatmap.render.formats.change_raster",
    ".csv": "dpheatmap.render.formats.change_table",
    ".geojson": "dpheatmap.render.formats.change_table",
    ".parquet": "dpheatmap.render.formats.change_table",
}
"""Suffixes of files of numbers, and the modules that write them."""

FORMATS = (".html", *PICTURES, *NUMBERS)
"""Suffixes of the files a difference can be saved as."""


def save(change: Difference, path: str | PathLike[str], look: Look, *, tiles: str | None = None) -> None:
    """Write a difference to the format that the suffix names."""
    refuse_release(path)
    suffix = suffix_of(path, "a difference's file", FORMATS)
    if suffix == ".html":
        text = page(picture_of_difference(change, look), look, tiles=tiles)
        with replace_whole(path) as temporary:
            temporary.write_text(text, encoding="utf-8", newline="\n")
        return
    if suffix in NUMBERS:
        module = import_module(NUMBERS[suffix])
        module.refuse(change.domain, suffix)
        with replace_whole(path) as temporary:
            module.write(change, temporary, suffix)
        return
    refuse_picture(suffix)
    with replace_whole(path) as temporary:
        write_figure(figure_of_difference(change, look), temporary, suffix)


def figure_of_difference(change: Difference, look: Look | None = None) -> Figure:
    """The figure of a difference: blue for fewer people, rust for more, bare where no change can be told."""
    look = look or Look()
    return Figure(picture_of_difference(change, look), look)
