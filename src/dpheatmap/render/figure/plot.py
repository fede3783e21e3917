"""Drawing of maps into a user's own axes of matplotlib: bands on paper, with a colour bar in words."""

from __future__ import annotations

from textwrap import wrap
from typing import TYPE_CHECKING

import numpy as np

from dpheatmap._util.number_words import plain
from dpheatmap.errors import MissingDependency
from dpheatmap.heatmap.smoothing import parts_inside
from dpheatmap.place import projection
from dpheatmap.place.domain import Domain, Floats
from dpheatmap.render import basemap
from dpheatmap.render.content.changes import picture_of_difference
from dpheatmap.render.content.clarity import TOLD
from dpheatmap.render.content.picture import Picture, picture_of
from dpheatmap.render.content.resampling import resize
from dpheatmap.render.content.words import Card
from dpheatmap.render.inks import inks_of
from dpheatmap.render.palette import LIGHT, WARNING

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from dpheatmap.heatmap.differences import Difference
    from dpheatmap.heatmap.heatmap import Heatmap

_CARD_LETTERS = 26  # in a line


def plot(heat: Heatmap, ax: Axes | None = None) -> Axes:
    """Draw a heatmap into axes, in bands, with its coordinates and a colour bar that says what it counts."""
    return _draw(picture_of(heat), new_axes() if ax is None else ax)


def plot_difference(change: Difference, ax: Axes | None = None) -> Axes:
    """Draw a difference into axes, in bands about zero; it is bare where no change can be told."""
    return _draw(picture_of_difference(change), new_axes() if ax is None else ax)


def new_axes() -> Axes:
    """Make axes of a new figure without pyplot, which would keep the figure and show it twice in a notebook."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingDependency("matplotlib", "A plot", "plot") from error
    return Figure(layout="constrained").add_subplot()


def _draw(picture: Picture, ax: Axes) -> Axes:
    from matplotlib.colors import BoundaryNorm, ListedColormap

    x, y = _edges(picture.domain, *picture.values.shape)
    edges, colours = _bands(picture)
    values = np.ma.masked_array(picture.values, mask=_bare(picture))
    # The last band has no end, and the first of changes no beginning: they are drawn as long as their neighbours.
    ends = [2 * edges[0] - edges[1]] if picture.signed else []
    bounds = [*ends, *edges, 2 * edges[-1] - edges[-2] if len(edges) > 1 else 2 * edges[-1]]
    shades = ListedColormap(colours).with_extremes(bad=LIGHT.land)
    ax.set_facecolor(LIGHT.land)
    mesh = ax.pcolormesh(
        x, y, np.ma.clip(values, bounds[0], np.nextafter(bounds[-1], 0)), cmap=shades,
        norm=BoundaryNorm(bounds, len(colours)), rasterized=True,
    )  # fmt: skip
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
    ax.set_title(picture.words.title)
    if picture.painted:
        bar = ax.figure.colorbar(mesh, ax=ax, shrink=0.8, ticks=edges, spacing="uniform")
        bar.ax.set_yticklabels([plain(edge) for edge in edges])
        bar.set_label(picture.words.legend.short)
    if picture.words.warnings:
        warning = "\n".join(picture.words.warnings)
        ax.text(0.01, 0.99, warning, transform=ax.transAxes, va="top", color=WARNING, wrap=True)
    if picture.words.nothing is not None:
        _write_card(ax, picture.words.nothing)
    return ax


def _write_card(ax: Axes, card: Card) -> None:
    """Write across a map that shows nothing why it does."""
    ax.text(
        0.5, 0.5, "\n".join(wrap(card.heading, _CARD_LETTERS)), transform=ax.transAxes, ha="center", va="center",
        color=LIGHT.ink, fontweight="bold",
        bbox={"boxstyle": "round,pad=0.8", "facecolor": LIGHT.page, "edgecolor": LIGHT.faint},
    )  # fmt: skip


def _bands(picture: Picture) -> tuple[list[float], list[str]]:
    """The edges between bands, and the colour of each band as seen on land; the middle one of changes is bare."""
    inks = inks_of(LIGHT, len(picture.edges), signed=picture.signed)
    if not picture.signed:
        return list(picture.edges), inks.swatches
    below = [-edge for edge in reversed(picture.edges)]
    return [*below, *picture.edges], [*reversed(inks.fewer_swatches), LIGHT.land, *inks.swatches]


def _bare(picture: Picture) -> np.ndarray:
    """The pixels that are not painted."""
    rows, columns = picture.values.shape
    bare = (np.abs(picture.values) < picture.edges[0]) | (parts_inside(picture.domain, (rows, columns)) == 0.0)
    if picture.clarity is not None:
        bare |= resize(picture.clarity, columns, rows) < TOLD
    return bare if picture.painted else np.ones_like(bare)


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
        ax.add_collection(LineCollection(lines, colors=LIGHT.coast, linewidths=0.7, linestyles=style), autolim=False)
