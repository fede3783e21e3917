"""Files of a difference: the interactive map, and matplotlib's pictures."""

from __future__ import annotations

import os
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from dpheatmap.errors import ParameterError
from dpheatmap.files import replace_whole
from dpheatmap.render.page import page
from dpheatmap.render.picture import picture_of_difference

if TYPE_CHECKING:
    from dpheatmap.difference import Difference

FORMATS = (".html", ".png", ".svg", ".pdf")
"""Suffixes of the files a difference can be saved as."""


def save(change: Difference, path: str | PathLike[str], *, tiles: str | None = None) -> None:
    """Write a difference to the format that the suffix names."""
    suffix = Path(path).suffix.lower()
    if suffix not in FORMATS:
        raise ParameterError(
            f"The suffix of a difference's file must be one of {', '.join(FORMATS)}; the file was {os.fspath(path)!r}. "
            "Pick one of these: it tells the format."
        )
    if suffix == ".html":
        text = page(picture_of_difference(change), tiles=tiles)
        with replace_whole(path) as temporary:
            temporary.write_text(text, encoding="utf-8", newline="\n")
        return
    from dpheatmap.render import plot

    with replace_whole(path) as temporary:
        plot.save(change, temporary, suffix)
