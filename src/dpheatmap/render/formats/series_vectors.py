"""SVG and PDF pictures of a series: the heat of each small map is an image, the rest is lines and text."""

from __future__ import annotations

from pathlib import Path

from dpheatmap.heatmap.series import Series
from dpheatmap.render.content.look import Look
from dpheatmap.render.figure.figure_file import write_figure
from dpheatmap.render.figure.series_sheet import sheet_of
from dpheatmap.render.formats.vector import refuse

__all__ = ["refuse", "write"]


def write(series: Series, path: Path, look: Look) -> None:
    """Draw the sheet and write it as SVG or PDF, by the suffix."""
    write_figure(sheet_of(series, look), path, path.suffix.lower())
