"""Heatmaps to files, one module a format.

Each module has one function ``write(heat, path)``; :func:`save` picks it by the suffix and makes the file appear whole
or not at all.
"""

from __future__ import annotations

import os
from importlib import import_module
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from dpheatmap.errors import ParameterError
from dpheatmap.files import replace_whole

if TYPE_CHECKING:
    from dpheatmap.heatmap import Heatmap

FORMATS = {".png": "dpheatmap.render.png", ".npz": "dpheatmap.render.npz", ".csv": "dpheatmap.render.csv"}
"""Suffixes of the files a heatmap can be saved as, and the modules that write them."""


def save(heat: Heatmap, path: str | PathLike[str]) -> None:
    """Write a heatmap to the format that the suffix of ``path`` names."""
    module = FORMATS.get(Path(path).suffix.lower())
    if module is None:
        known = ", ".join(FORMATS)
        raise ParameterError(
            f"The suffix of a heatmap's file must be one of {known}; the file was {os.fspath(path)!r}. "
            "Pick one of these: it tells the format."
        )
    with replace_whole(path) as temporary:
        import_module(module).write(heat, temporary)
