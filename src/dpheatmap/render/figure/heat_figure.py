"""The figure of a heatmap."""

from __future__ import annotations

from os import PathLike

from dpheatmap.heatmap.heatmap import Heatmap
from dpheatmap.render.figure.figure import Figure, Marks
from dpheatmap.render.figure.figure_layout import LONGER_SIDE, Layout
from dpheatmap.render.figure.raster import Raster, is_smooth
from dpheatmap.render.figure.scale import legend_of
from dpheatmap.render.wording import words_of

_CONTOUR = 3.0  # the width of a line, in units


def figure_of(
    heat: Heatmap,
    *,
    title: str | None = None,
    scale: str = "linear",
    style: str = "heat",
    background: str | PathLike[str] | None = None,
    basemap: bool = True,
    marks: Marks | None = None,
) -> Figure:
    """The figure of a heatmap; options as for :meth:`Heatmap.save`, and marks to be drawn over the heat."""
    rows, columns = heat.values.shape
    line = _CONTOUR * Layout.factor_of(rows, columns) * max(rows, columns) / LONGER_SIDE
    density, noise, legend = legend_of(heat, scale=scale, style=style, line=line, see_through=background is not None)
    raster = Raster(
        heat.domain,
        density,
        noise,
        legend,
        smooth=is_smooth(heat.domain, heat.sigma, heat.values),
        background=background,
        pale=style == "contour" and background is None,
    )
    return Figure(raster, words_of(heat, title), marks, basemap)
