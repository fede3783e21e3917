"""Drawing of maps into a user's own axes of matplotlib."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dpheatmap.errors import MissingDependency
from dpheatmap.place import projection
from dpheatmap.place.domain import Domain, Floats
from dpheatmap.render import basemap
from dpheatmap.render.figure import colour
from dpheatmap.render.web.picture import Picture, picture_of, picture_of_difference

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from dpheatmap.heatmap.differences import Difference
    from dpheatmap.heatmap.heatmap import Heatmap

_QUIET = "#d9dade"


def plot(heat: Heatmap, ax: Axes | None = None) -> Axes:
    """Draw a heatmap into axes, with its coordinates and a colour bar that names its unit."""
    return _draw(picture_of(heat), new_axes() if ax is None else ax)


def plot_difference(change: Difference, ax: Axes | None = None) -> Axes:
    """Draw a difference into axes, in colours about zero; changes within the noise are grey."""
    return _draw(picture_of_difference(change), new_axes() if ax is None else ax)


def new_axes() -> Axes:
    """Make axes of a new figure without pyplot, which would keep the figure and show it twice in a notebook."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingDependency("matplotlib", "A plot", "plot") from error
    return Figure(layout="constrained").add_subplot()


def _draw(picture: Picture, ax: Axes) -> Axes:
    from matplotlib.colors import ListedColormap

    scale = "balance" if picture.signed else "heat"
    table = colour.colours(np.linspace(0.0, 1.0, colour.STEPS), scale) / 255.0
    x, y = _edges(picture.domain, *picture.values.shape)
    low, high = -picture.top if picture.signed else 0.0, picture.top
    values, unit = picture.values, f"{picture.unit}, linear scale"
    if picture.signed and picture.clear is not None:
        values, unit = np.ma.masked_where(~picture.clear, values), f"{unit}\ngrey: {picture.quiet}"
    shades = ListedColormap(table).with_extremes(bad=_QUIET)
    mesh = ax.pcolormesh(x, y, values, cmap=shades, vmin=low, vmax=high, rasterized=True)
    ax.set_xlim(x[0], x[-1])
    ax.set_ylim(y[-1], y[0])
    if picture.domain.geographic:
        _draw_lines(ax, picture.domain)
        ax.set_aspect(1.0 / np.cos(np.radians((y[0] + y[-1]) / 2)))
        ax.locator_params(axis="x", nbins=4)
        ax.set_xlabel("longitude")
        ax.set_ylabel("latitude")
    else:
        ax.set_aspect(1.0)
    ax.set_title(picture.title)
    bar = ax.figure.colorbar(mesh, ax=ax, shrink=0.8)
    bar.set_label(unit)
    if picture.warnings:
        ax.text(0.01, 0.99, "\n".join(picture.warnings), transform=ax.transAxes, va="top", color="#ff9090", wrap=True)
    return ax


def _edges(domain: Domain, rows: int, columns: int) -> tuple[Floats, Floats]:
    """The edges of the columns and rows in the domain's coordinates, rows from the top."""
    bounds, finest = domain.bounds, domain.cells(domain.depth)
    x = np.linspace(bounds.x0, bounds.x1, columns + 1)
    if domain.geographic:
        at = np.linspace(finest.y0, finest.y1, rows + 1) / 2**domain.depth
        return x, np.array([projection.latitude_of_row(row) for row in at.tolist()])
    return x, np.linspace(bounds.y0, bounds.y1, rows + 1)


def _draw_lines(ax: Axes, domain: Domain) -> None:
    """Draw coast and borders."""
    from matplotlib.collections import LineCollection

    near = domain.bounds
    for lines, style in ((basemap.coast(near), "solid"), (basemap.borders(near), "dashed")):
        ax.add_collection(LineCollection(lines, colors="#a8b6c4", linewidths=0.7, linestyles=style), autolim=False)
