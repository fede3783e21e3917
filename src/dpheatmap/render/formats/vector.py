"""SVG and PDF pictures for print: the heat is an image, the rest is lines and text."""

from __future__ import annotations

from pathlib import Path

from dpheatmap.heatmap.heatmap import Heatmap
from dpheatmap.place.domain import Domain
from dpheatmap.render.content.look import Look
from dpheatmap.render.figure.background import background_of
from dpheatmap.render.figure.figure_file import refuse_picture, write_figure
from dpheatmap.render.figure.heat_figure import figure_of


def write(heat: Heatmap, path: Path, look: Look) -> None:
    """Draw the figure and write it as SVG or PDF, by the suffix."""
    write_figure(figure_of(heat, look), path, path.suffix.lower())


def refuse(domain: Domain, look: Look) -> None:
    """Refuse a background that does not fit, and any picture without matplotlib."""
    refuse_picture(".svg")
    if look.background is not None:
        background_of(domain, look.background)
