"""PNG pictures: the whole figure, or the heat alone."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import Any

from PIL import Image

from dpheatmap.errors import ParameterError
from dpheatmap.heatmap.heatmap import Heatmap
from dpheatmap.place.domain import Domain
from dpheatmap.render.figure.background import background_of
from dpheatmap.render.figure.canvas import PillowCanvas
from dpheatmap.render.figure.figure_file import write_figure
from dpheatmap.render.figure.heat_figure import figure_of


def write(
    heat: Heatmap,
    path: Path,
    *,
    title: str | None = None,
    scale: str = "linear",
    style: str = "heat",
    background: str | PathLike[str] | None = None,
    basemap: bool = True,
    bare: bool = False,
) -> None:
    """Draw the picture and write it as PNG; the file holds the picture and nothing else."""
    if not bare:
        figure = figure_of(heat, title=title, scale=scale, style=style, background=background, basemap=basemap)
        write_figure(figure, path, ".png")
        return
    from dpheatmap.render.figure.overlay import bare_heat

    bare_heat(heat).save(path, format="PNG")


def refuse(
    domain: Domain, *, bare: bool = False, background: str | PathLike[str] | None = None, **look: object
) -> None:
    """Refuse a bare picture with options of its look, and a background that does not fit."""
    if bare and (background is not None or look):
        raise ParameterError(
            "A bare picture is the heat and nothing else, and title, scale, style or background was given. Drop it."
        )
    if background is not None:
        background_of(domain, background)


def draw(heat: Heatmap, **options: Any) -> Image.Image:
    """The picture of a heatmap, with the options of :func:`~dpheatmap.render.figure.heat_figure.figure_of`."""
    return figure_of(heat, **options).draw(PillowCanvas).picture
