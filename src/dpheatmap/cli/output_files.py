"""The two kinds of files that commands write, maps and series of maps: suffixes, options, and early refusals."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from dpheatmap import render
from dpheatmap.render import series_files


class Files(NamedTuple):
    """The files of a map or of a series: their suffixes, the options that one takes, and what refuses one early."""

    formats: Sequence[str]
    options_of: Callable[[str], set[str]]
    refuse: Callable[..., None]


MAPS = Files(tuple(render.FORMATS), render.options_of, render.refuse)
SERIES = Files(tuple(series_files.FORMATS), series_files.options_of, series_files.refuse)
