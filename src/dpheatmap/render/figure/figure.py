"""The figure to publish: a map with its coordinates, its legend, and its privacy statement.

The same :class:`Figure` describes heatmaps, differences and places. It is drawn by one function on any canvas: pixels
in :mod:`.canvas`, lines and text in :mod:`.vector_canvas`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from dpheatmap.render.basemap import CREDIT
from dpheatmap.render.basemap.ground import Ground, ground_of
from dpheatmap.render.figure.canvas import Area, Box, Canvas
from dpheatmap.render.figure.figure_layout import (
    BADGE_AIR,
    BAR_HEIGHT,
    BAR_WIDTH,
    LABEL,
    NOTE,
    TICK,
    TITLE_SIZE,
    Layout,
    ScaleBar,
)
from dpheatmap.render.figure.lettering import Colour, text_width
from dpheatmap.render.figure.raster import Raster
from dpheatmap.render.figure.scale import Legend
from dpheatmap.render.wording import NO_SIGNAL, NOT_PRIVATE, Words

PAPER: Colour = (255, 255, 255)
_INK: Colour = (30, 30, 38)
_GREY: Colour = (105, 105, 116)
_RED: Colour = (200, 16, 32)
_LIGHT: Colour = (236, 240, 246)
_DARK: Colour = (16, 16, 24)
_BADGE: tuple[Colour, Colour] = ((234, 241, 236), (36, 92, 62))  # ground and letters
_WARNING: tuple[Colour, Colour] = (_RED, PAPER)

C = TypeVar("C", bound=Canvas)


class Marks(Protocol):
    """Marks drawn over a map's colours."""

    def areas(self, place: Layout) -> list[Area]:
        """The areas that the names of towns avoid."""

    def draw_under_names(self, canvas: Canvas, place: Layout) -> None:
        """Draw what lies under the names of towns."""

    def draw_over_names(self, canvas: Canvas, place: Layout) -> None:
        """Draw what lies over everything on the map."""


@dataclass(frozen=True, eq=False)
class Figure:
    """The content of a picture: a raster with its legend, marks over it, words around it, and whether it has a basemap.

    The rest follows from these, including the layout.
    """

    raster: Raster
    words: Words
    marks: Marks | None = None
    basemap: bool = True

    @property
    def legend(self) -> Legend:
        """The legend of the colours."""
        return self.raster.legend

    @cached_property
    def ground(self) -> Ground:
        """Coast, borders and towns in pixels of the picture; nothing without a basemap."""
        if not self.basemap:
            return Ground([], [], [])
        place = self._layout(())
        label = place.px(LABEL)
        taken = self.marks.areas(place) if self.marks else []
        return ground_of(self.raster.domain, place.map, label, lambda name: text_width(name, label), taken)

    @cached_property
    def place(self) -> Layout:
        """The layout of the picture."""
        return self._layout((f"Map: {CREDIT}",) if self.ground else ())

    def _layout(self, credit: tuple[str, ...]) -> Layout:
        rows, columns = self.raster.values.shape
        return Layout(self.raster.domain, rows, columns, self.legend, self.words, credit)

    def draw(self, new: Callable[[int, int, Colour], C]) -> C:
        """Draw the figure on a new canvas, made from its width, height and colour."""
        place = self.place
        canvas = new(place.width, place.height, PAPER)
        canvas.text(place.left, place.title, self.words.title, size=place.px(TITLE_SIZE), colour=_INK)
        canvas.image(self.map_pixels(), place.map)
        if self.marks:
            self.marks.draw_under_names(canvas, place)
        _draw_ground(canvas, place, self.ground, pale=self.raster.pale)
        if self.marks:
            self.marks.draw_over_names(canvas, place)
        _draw_frame(canvas, place)
        _draw_legend(canvas, place)
        if place.scale_bar:
            _draw_scale_bar(canvas, place, place.scale_bar)
        _draw_badge(canvas, place)
        _draw_notes(canvas, place)
        return canvas

    def map_pixels(self) -> NDArray[np.uint8]:
        """The colours of the map itself, without basemap and marks."""
        return self.raster.pixels(self.place.factor)


def _draw_ground(canvas: Canvas, place: Layout, ground: Ground, *, pale: bool) -> None:
    """Draw coast, borders and towns: dark on a pale map, else light."""
    line, ink, halo = (_GREY, _INK, PAPER) if pale else (_LIGHT, _LIGHT, _DARK)
    canvas.lines(ground.borders, place.map, width=place.px(1.2), colour=line, opacity=0.45)
    canvas.lines(ground.coast, place.map, width=place.px(1.5), colour=line, opacity=0.7)
    dot = place.px(2.5)
    for town in ground.towns:
        at = Box(round(town.x) - dot, round(town.y) - dot, round(town.x) + dot, round(town.y) + dot)
        canvas.fill(Box(at.left - 1, at.top - 1, at.right + 1, at.bottom + 1), halo)
        canvas.fill(at, ink)
        canvas.text(town.left, town.baseline, town.name, size=place.px(LABEL), colour=ink, halo=halo)


def _draw_frame(canvas: Canvas, place: Layout) -> None:
    """Draw the map's edge, and its ticks to the left and below."""
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
    """Draw the legend: its name, its strip of colours, and ticks below."""
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
    """Draw a length on the ground: its label above a line with raised ends."""
    line = place.px(3)
    canvas.fill(Box(bar.left, bar.y - line, bar.left + bar.length, bar.y), _INK)
    for x in (bar.left, bar.left + bar.length - line):
        canvas.fill(Box(x, bar.y - place.px(11), x + line, bar.y), _INK)
    canvas.text(bar.left, bar.y - place.px(BAR_HEIGHT + 14), bar.label, size=place.px(LABEL), colour=_INK)


def _draw_badge(canvas: Canvas, place: Layout) -> None:
    """Draw the badge of the privacy promise, red if there is none."""
    box, size = place.badge, place.px(NOTE)
    ground, letters = _WARNING if NOT_PRIVATE in place.words.warnings else _BADGE
    canvas.fill(box, ground)
    baseline = (box.top + box.bottom) / 2 + 0.36 * size
    canvas.text(box.left + place.px(BADGE_AIR), baseline, place.words.badge, size=size, colour=letters)


def _draw_notes(canvas: Canvas, place: Layout) -> None:
    """Draw the small print."""
    for line, note in enumerate(place.notes):
        colour = {NOT_PRIVATE: _RED, NO_SIGNAL: _INK}.get(note, _GREY)
        canvas.text(place.legend_at[0], place.note(line), note, size=place.px(NOTE), colour=colour)
