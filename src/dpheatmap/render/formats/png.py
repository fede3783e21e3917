"""PNG pictures: the whole figure, or the heat alone."""

from __future__ import annotations

from pathlib import Path

from PIL import Image

from dpheatmap.errors import ParameterError
from dpheatmap.heatmap.heatmap import Heatmap
from dpheatmap.place.domain import Domain
from dpheatmap.render.content.look import Look
from dpheatmap.render.figure.background import background_of
from dpheatmap.render.figure.canvas import PillowCanvas
from dpheatmap.render.figure.figure_file import write_figure
from dpheatmap.render.figure.heat_figure import figure_of


def write(heat: Heatmap, path: Path, look: Look, *, bare: bool = False) -> None:
    """Draw the picture and write it as PNG; the file holds the picture and nothing else."""
    if not bare:
        write_figure(figure_of(heat, look), path, ".png")
        return
    from dpheatmap.render.figure.bare_heat import bare_heat

    bare_heat(heat, look).save(path, format="PNG")


def refuse(domain: Domain, look: Look, *, bare: bool = False) -> None:
    """Refuse a bare picture with words or a ground, and a background that does not fit."""
    if bare and look != Look(colours=look.colours, style=look.style, limits=look.limits):
        raise ParameterError(
            "A bare picture is the heat and nothing else, and words, a background or a basemap was given. Drop it."
        )
    if look.background is not None:
        background_of(domain, look.background)


def draw(heat: Heatmap, look: Look | None = None) -> Image.Image:
    """The picture of a heatmap."""
    return figure_of(heat, look).draw(PillowCanvas).picture
