"""PNG pictures of a series: small maps on one scale, with a chart of the volumes."""

from __future__ import annotations

from pathlib import Path

from dpheatmap.heatmap.series import Series
from dpheatmap.render.content.look import Look
from dpheatmap.render.figure.figure_file import write_figure
from dpheatmap.render.figure.series_sheet import sheet_of
from dpheatmap.render.formats.png import refuse

__all__ = ["refuse", "write"]


def write(series: Series, path: Path, look: Look) -> None:
    """Draw the sheet and write it as PNG; the file holds the picture and nothing else."""
    write_figure(sheet_of(series, look), path, ".png")
