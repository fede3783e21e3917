"""Files of a difference: the interactive map, and matplotlib's pictures."""

from __future__ import annotations

from os import PathLike
from typing import TYPE_CHECKING

from dpheatmap._util.files import replace_whole, suffix_of
from dpheatmap.render.web.page import page
from dpheatmap.render.web.picture import picture_of_difference

if TYPE_CHECKING:
    from dpheatmap.heatmap.difference import Difference

FORMATS = (".html", ".png", ".svg", ".pdf")
"""Suffixes of the files a difference can be saved as."""


def save(change: Difference, path: str | PathLike[str], *, tiles: str | None = None) -> None:
    """Write a difference to the format that the suffix names."""
    suffix = suffix_of(path, "a difference's file", FORMATS)
    if suffix == ".html":
        text = page(picture_of_difference(change), tiles=tiles)
        with replace_whole(path) as temporary:
            temporary.write_text(text, encoding="utf-8", newline="\n")
        return
    from dpheatmap.render.figure import plot

    with replace_whole(path) as temporary:
        plot.save(change, temporary, suffix)
