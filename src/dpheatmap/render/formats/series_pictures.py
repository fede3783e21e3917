"""PNG pictures of a series: small maps on one scale, with a chart of the volumes."""

from __future__ import annotations

import base64
import html
import io
from pathlib import Path

from dpheatmap.heatmap.series import Series
from dpheatmap.render.content.look import Look
from dpheatmap.render.figure.canvas import PillowCanvas
from dpheatmap.render.figure.figure_file import write_figure
from dpheatmap.render.figure.series_sheet import sheet_of
from dpheatmap.render.formats.png import refuse

__all__ = ["notebook_output", "refuse", "write"]


def notebook_output(series: Series) -> str:
    """The sheet as a picture in HTML, for notebooks."""
    packed = io.BytesIO()
    sheet = sheet_of(series)
    sheet.draw(PillowCanvas).picture.save(packed, format="PNG")
    words = sheet.picture.words
    said = html.escape(" ".join((*words.warnings, words.title + ".", words.takeaway, words.badge)))
    data = base64.b64encode(packed.getvalue()).decode("ascii")
    return f'<img src="data:image/png;base64,{data}" alt="{said}" style="max-width: 760px; width: 100%">'


def write(series: Series, path: Path, look: Look) -> None:
    """Draw the sheet and write it as PNG; the file holds the picture and nothing else."""
    write_figure(sheet_of(series, look), path, ".png")
