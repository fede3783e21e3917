"""SVG and PDF pictures for print: the heat is an image, the rest is lines and text."""

from __future__ import annotations

from os import PathLike
from pathlib import Path

from dpheatmap.heatmap.heatmap import Heatmap
from dpheatmap.place.domain import Domain
from dpheatmap.render.figure.background import background_of
from dpheatmap.render.figure.figure_file import refuse_picture, write_figure
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
) -> None:
    """Draw the figure and write it as SVG or PDF, by the suffix."""
    figure = figure_of(heat, title=title, scale=scale, style=style, background=background, basemap=basemap)
    write_figure(figure, path, path.suffix.lower())


def refuse(domain: Domain, *, background: str | PathLike[str] | None = None, **look: object) -> None:
    """Refuse a background that does not fit, and any picture without matplotlib."""
    refuse_picture(".svg")
    if background is not None:
        background_of(domain, background)
