"""The figure of a heatmap."""

from __future__ import annotations

from dpheatmap.heatmap.heatmap import Heatmap
from dpheatmap.render.content.look import Look
from dpheatmap.render.content.picture import picture_of
from dpheatmap.render.figure.figure import Figure
from dpheatmap.render.figure.map_on_page import Marks


def figure_of(heat: Heatmap, look: Look | None = None, *, marks: Marks | None = None) -> Figure:
    """The figure of a heatmap, with marks to be drawn over the heat."""
    look = look or Look()
    return Figure(picture_of(heat, look), look, marks)
