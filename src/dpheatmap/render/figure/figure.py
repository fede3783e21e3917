"""A picture to publish: the heat with its coordinates, its colours explained, and what was promised.

It is drawn once, on any canvas: pixels in :mod:`.png`, lines and text in :mod:`.vector`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from os import PathLike
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from dpheatmap.heatmap.heatmap import Heatmap
from dpheatmap.place.domain import Floats
from dpheatmap.render.basemap import CREDIT
from dpheatmap.render.basemap.ground import Ground, ground_of
from dpheatmap.render.figure.background import background_of
from dpheatmap.render.figure.canvas import Box, Canvas
from dpheatmap.render.figure.figure_layout import (
    BAR_HEIGHT,
    BAR_WIDTH,
    LABEL,
    LONGER_SIDE,
    NOTE,
    TICK,
    TITLE_SIZE,
    Layout,
    ScaleBar,
)
from dpheatmap.render.figure.lettering import Colour, text_width
from dpheatmap.render.figure.scale import Legend, legend_of
from dpheatmap.render.formats.metadata import TITLE
from dpheatmap.render.web.picture import is_smooth
from dpheatmap.render.wording import NO_SIGNAL, NOT_PRIVATE, facts_of, warnings_of

PAPER: Colour = (255, 255, 255)
_INK: Colour = (30, 30, 38)
_GREY: Colour = (105, 105, 116)
_RED: Colour = (200, 16, 32)
_LIGHT: Colour = (236, 240, 246)
_DARK: Colour = (16, 16, 24)
_CONTOUR = 3.0  # units
_BLANK = 246  # the grey of a map that has lines only

C = TypeVar("C", bound=Canvas)


@dataclass(frozen=True, eq=False)
class Figure:
    """A heatmap, how it is to be drawn, and where everything goes."""

    heat: Heatmap
    density: Floats
    noise: NDArray[np.bool_]
    legend: Legend
    place: Layout
    ground: Ground
    background: str | PathLike[str] | None
    title: str

    def draw(self, new: Callable[[int, int, Colour], C], over_heat: Callable[[C], None] = lambda canvas: None) -> C:
        """Draw it on a new canvas, which gets its width, height and colour; names of towns stay above ``over_heat``."""
        place = self.place
        canvas = new(place.width, place.height, PAPER)
        canvas.text(place.left, place.title, self.title, size=place.px(TITLE_SIZE), colour=_INK)
        canvas.image(self.map_pixels(), place.map)
        over_heat(canvas)
        self._draw_ground(canvas)
        _draw_frame(canvas, place)
        _draw_legend(canvas, place)
        if place.scale_bar:
            _draw_scale_bar(canvas, place, place.scale_bar)
        for line, note in enumerate(place.notes):
            colour = {NOT_PRIVATE: _RED, NO_SIGNAL: _INK}.get(note, _GREY)
            canvas.text(place.legend_at[0], place.note(line), note, size=place.px(NOTE), colour=colour)
        return canvas

    def map_pixels(self) -> NDArray[np.uint8]:
        """The colours of the map itself, without what is drawn over it."""
        factor = self.place.factor
        density = _enlarged(self.density, factor, smooth=is_smooth(self.heat.domain, self.heat.sigma, self.heat.values))
        noise = np.repeat(np.repeat(self.noise, factor, axis=0), factor, axis=1)
        painted = self.legend.paint(density, noise)
        if self.background is not None:
            under = background_of(self.heat.domain, self.background, (density.shape[1], density.shape[0]))
        elif self.place.lines_only:
            under = np.full((*density.shape, 3), _BLANK, np.uint8)
        else:
            return np.ascontiguousarray(painted[..., :3])
        opacity = painted[..., 3:] / 255.0
        return np.rint(under * (1.0 - opacity) + painted[..., :3] * opacity).astype(np.uint8)

    def _draw_ground(self, canvas: Canvas) -> None:
        """Coast, borders and towns, over the heat."""
        place, ground = self.place, self.ground
        over_heat = not place.lines_only
        line, halo = (_LIGHT, _DARK) if over_heat else (_GREY, PAPER)
        canvas.lines(ground.borders, place.map, width=place.px(1.2), colour=line, opacity=0.45)
        canvas.lines(ground.coast, place.map, width=place.px(1.5), colour=line, opacity=0.7)
        dot = place.px(2.5)
        for town in ground.towns:
            at = Box(round(town.x) - dot, round(town.y) - dot, round(town.x) + dot, round(town.y) + dot)
            canvas.fill(Box(at.left - 1, at.top - 1, at.right + 1, at.bottom + 1), halo)
            canvas.fill(at, line if over_heat else _INK)
            canvas.text(
                town.left, town.baseline, town.name, size=place.px(LABEL), colour=line if over_heat else _INK, halo=halo
            )


def figure_of(
    heat: Heatmap,
    *,
    title: str | None = None,
    scale: str = "linear",
    style: str = "heat",
    background: str | PathLike[str] | None = None,
    basemap: bool = True,
) -> Figure:
    """The figure of a heatmap; options as for :meth:`Heatmap.save`."""
    rows, columns = heat.values.shape
    unit = Layout.factor_of(rows, columns) * max(rows, columns) / LONGER_SIDE
    look = {"scale": scale, "style": style}
    density, noise, legend = legend_of(heat, **look, line=_CONTOUR * unit, see_through=background is not None)
    lines_only = style == "contour" and background is None

    def layout(credit: tuple[str, ...]) -> Layout:
        notes = facts_of(heat)
        return Layout(heat.domain, rows, columns, legend, title or TITLE, warnings_of(heat), notes, credit, lines_only)

    place = layout(())
    label = place.px(LABEL)
    ground = Ground([], [], [])
    if basemap:
        ground = ground_of(heat.domain, place.map, label, lambda name: text_width(name, label))
    if ground:
        place = layout((f"Map: {CREDIT}",))
    return Figure(heat, density, noise, legend, place, ground, background, title or TITLE)


def _enlarged(values: Floats, factor: int, *, smooth: bool) -> Floats:
    """Each pixel as ``factor x factor``, equal ones or linear between pixels; either way no value is invented."""
    if factor == 1:
        return values
    rows, columns = values.shape
    method = Image.Resampling.BILINEAR if smooth else Image.Resampling.NEAREST
    picture = Image.fromarray(values.astype(np.float32)).resize((factor * columns, factor * rows), method)
    return np.asarray(picture, dtype=np.float64)


def _draw_frame(canvas: Canvas, place: Layout) -> None:
    """The map's edge, and its ticks to the left and below."""
    line, tick, size = place.px(1.5), place.px(TICK), place.px(LABEL)
    left, top, right, bottom = place.map
    outer = Box(left - line, top - line, right + line, bottom + line)
    canvas.fill(outer._replace(right=left), _INK)
    canvas.fill(outer._replace(left=right), _INK)
    canvas.fill(outer._replace(bottom=top), _INK)
    canvas.fill(outer._replace(top=bottom), _INK)
    for at, label in place.across:
        x = min(left + round(at), right - 1)
        canvas.fill(Box(x, bottom, x + line, bottom + tick + 1), _INK)
        canvas.text(x, bottom + place.px(TICK + 24), label, size=size, colour=_INK, align=0.5)
    for at, label in place.down:
        y = min(top + round(at), bottom - 1)
        canvas.fill(Box(left - 1 - tick, y, left, y + line), _INK)
        canvas.text(left - tick - place.px(6), y + 0.35 * size, label, size=size, colour=_INK, align=1.0)


def _draw_legend(canvas: Canvas, place: Layout) -> None:
    """The legend's name, its strip of colours, and what they mean below."""
    line, size = place.px(1.5), place.px(LABEL)
    width, height = place.px(BAR_WIDTH), place.px(BAR_HEIGHT)
    left, baseline = place.legend_at
    canvas.text(left, baseline, place.legend.name, size=size, colour=_INK)
    canvas.image(place.legend.strip(width, height), Box(left, place.bar, left + width, place.bar + height))
    below = place.bar + height
    for at, label in place.bar_ticks:
        x = left + min(round(at), width - 1)
        canvas.fill(Box(x, below, x + line, below + place.px(TICK) + 1), _INK)
        canvas.text(x, below + place.px(TICK + 24), label, size=size, colour=_INK, align=0.5)


def _draw_scale_bar(canvas: Canvas, place: Layout, bar: ScaleBar) -> None:
    """A length on the ground: its label above a line with raised ends."""
    line = place.px(3)
    canvas.fill(Box(bar.left, bar.y - line, bar.left + bar.length, bar.y), _INK)
    for x in (bar.left, bar.left + bar.length - line):
        canvas.fill(Box(x, bar.y - place.px(11), x + line, bar.y), _INK)
    canvas.text(bar.left, bar.y - place.px(BAR_HEIGHT + 14), bar.label, size=place.px(LABEL), colour=_INK)
