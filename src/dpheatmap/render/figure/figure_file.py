"""Writing of figures to files: PNG by Pillow, SVG and PDF by matplotlib."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Protocol, TypeVar

from PIL import Image

from dpheatmap._util.extras import import_extra
from dpheatmap.render.figure.canvas import Canvas, PillowCanvas
from dpheatmap.render.palette import Rgb

C = TypeVar("C", bound=Canvas)

PICTURES = (".png", ".svg", ".pdf")
"""Suffixes of the files that a figure can be written to."""


class Drawing(Protocol):
    """A figure of a map or of something else."""

    @property
    def few_colours(self) -> bool:
        """Whether the picture has flat colours only."""

    def draw(self, new: Callable[[int, int, Rgb], C]) -> C:
        """Draw it on a new canvas, made from its width, height and colour."""


def write_figure(figure: Drawing, path: Path, suffix: str) -> None:
    """Draw a figure and write it to the format of the suffix; the file holds the picture and nothing else.

    A PNG has 256 colours, which is enough for bands and soft edges; over a photograph it has all.
    """
    if suffix == ".png":
        picture = figure.draw(PillowCanvas).picture
        if figure.few_colours:
            picture = picture.quantize(256, Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)
        picture.save(path, format="PNG")
        return
    from dpheatmap.render.figure.vector_canvas import save_vectors

    save_vectors(figure.draw, path, suffix)


def refuse_picture(suffix: str) -> None:
    """Refuse SVG and PDF without matplotlib."""
    if suffix != ".png":
        import_extra("matplotlib", "plot", "An SVG or PDF file")
