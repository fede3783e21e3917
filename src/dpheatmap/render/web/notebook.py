"""Maps in notebooks: each is a frame of its own, and one output contains the program of all."""

from __future__ import annotations

import base64
import html
import io
import sys
from dataclasses import dataclass

from dpheatmap.heatmap.heatmap import Heatmap
from dpheatmap.heatmap.series import Series
from dpheatmap.render.content.look import Look
from dpheatmap.render.content.picture import Picture
from dpheatmap.render.figure.thumbnail import thumbnail
from dpheatmap.render.formats.png import draw
from dpheatmap.render.web import series_page
from dpheatmap.render.web.page import around_heat, between_tags, data_of, frame, static

_SIDE = 512  # pixels of a map's longer side: a notebook holds many maps
_SIDE_OF_SLICE = 181  # the same of each map of a series
_STILL = 400  # pixels of the longer side of the picture shown where scripts don't run


@dataclass
class _Carrier:
    """The cell whose output contains the program, and its last run that did."""

    cell: object = None
    run: object = None

    def carries(self, cell: object, run: object) -> bool:
        """Whether the output of this run of this cell has to contain the program."""
        if self.cell is None or cell is None:
            self.cell, self.run = cell, run
            return True
        if cell != self.cell or run == self.run:
            return False
        self.run = run
        return True


_carrier = _Carrier()


def output(picture: Picture) -> str:
    """The output of a cell: the map, or a still picture where scripts don't run."""
    return _output(picture, data_of(picture.at_most(_SIDE), around_heat(picture, Look())))


def output_of_series(series: Series) -> str:
    """The output of a cell: the maps with their slider, or a still picture of the first."""
    pictures = series_page.pictures_of(series, Look())
    around = around_heat(pictures[0], Look())
    return _output(pictures[0], series_page.data_of(series, pictures, around, _SIDE_OF_SLICE))


def _output(picture: Picture, data: str) -> str:
    program = ""
    if _carrier.carries(*_where()):
        page = between_tags(frame("Map"))
        program = f'<script type="application/json" class="dpheatmap-page">{page}</script>'
    title = html.escape(picture.words.title)
    return (
        f'{program}<div class="dpheatmap-output" data-title="{title}">'
        f'<img src="{_still(picture)}" alt="{title}" style="max-width: 100%"><p>{html.escape(_words(picture))}</p>'
        f'<script type="application/json" class="dpheatmap-map">{data}</script></div>'
        f"<script>{static('notebook.js')}</script>"
    )


def still(heat: Heatmap) -> bytes:
    """The figure as PNG, for notebooks that show only pictures."""
    packed = io.BytesIO()
    draw(heat).save(packed, format="PNG")
    return packed.getvalue()


def _where() -> tuple[object, object]:
    """The running cell and the number of its run; None where each output is a page of its own."""
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    if shell is None or "google.colab" in sys.modules:
        return None, None
    try:
        cell = shell.parent_header["metadata"]["cellId"]
    except (AttributeError, KeyError, TypeError):
        cell = shell.execution_count
    return cell, shell.execution_count


def _still(picture: Picture) -> str:
    """The heat alone, as a small PNG."""
    return f"data:image/png;base64,{base64.b64encode(thumbnail(picture, _STILL)).decode('ascii')}"


def _words(picture: Picture) -> str:
    words = picture.words
    return " ".join([*words.warnings, words.takeaway, words.badge, *words.facts])
