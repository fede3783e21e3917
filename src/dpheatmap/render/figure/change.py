"""The figure of a difference, and its files: the interactive map, and pictures."""

from __future__ import annotations

from os import PathLike
from typing import TYPE_CHECKING

import numpy as np

from dpheatmap._util.files import replace_whole, suffix_of
from dpheatmap.render.figure.figure import Figure
from dpheatmap.render.figure.figure_file import PICTURES, refuse_picture, write_figure
from dpheatmap.render.figure.raster import Raster
from dpheatmap.render.figure.scale import Balance
from dpheatmap.render.web.page import page
from dpheatmap.render.web.picture import picture_of_difference
from dpheatmap.render.wording import words_of_difference

if TYPE_CHECKING:
    from dpheatmap.heatmap.differences import Difference

FORMATS = (".html", *PICTURES)
"""Suffixes of the files a difference can be saved as."""


def save(change: Difference, path: str | PathLike[str], *, tiles: str | None = None) -> None:
    """Write a difference to the format that the suffix names."""
    suffix = suffix_of(path, "a difference's file", FORMATS)
    if suffix == ".html":
        text = page(picture_of_difference(change), tiles=tiles)
        with replace_whole(path) as temporary:
            temporary.write_text(text, encoding="utf-8", newline="\n")
        return
    refuse_picture(suffix)
    with replace_whole(path) as temporary:
        write_figure(figure_of_difference(change), temporary, suffix)


def figure_of_difference(change: Difference) -> Figure:
    """The figure of a difference: blue for fewer people, brown for more, grey for changes within the noise."""
    shown = picture_of_difference(change)
    noise = np.zeros(shown.values.shape, dtype=bool) if shown.clear is None else ~shown.clear
    legend = Balance(shown.unit, shown.top, None if shown.clear is None else shown.quiet)
    raster = Raster(shown.domain, shown.values, noise, legend, smooth=shown.smooth, pale=True)
    return Figure(raster, words_of_difference(change))
