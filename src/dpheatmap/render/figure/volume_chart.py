"""A chart of volumes: the number of people in each slice as a line, with the range of each."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dpheatmap._util.number_words import plain
from dpheatmap.place.domain import Floats
from dpheatmap.render.content.slice_volumes import CONFIDENCE, SliceVolumes
from dpheatmap.render.content.words import ranges_hold
from dpheatmap.render.figure.canvas import Box, Canvas
from dpheatmap.render.figure.lettering import SEMIBOLD, lines_of, text_width
from dpheatmap.render.figure.page_layout import LEGEND, NUMBER, SCALE, SIDE, WIDTH
from dpheatmap.render.figure.ticks import even_ticks
from dpheatmap.render.inks import Inks
from dpheatmap.render.palette import Theme, rgb_of

_HEAD, _TITLE_STEP, _PLOT, _FOOT = 58.0, 17.0, 110.0, 26.0
_AIR = 12.0  # between labels, and between numbers and the plot
_WIDEST = 46.0  # of the bar of a range
_DOT, _MARKED = 3.0, 5.0  # radii
_ROOM_OF_DOT = 11.0  # slices that stand closer have no dots


@dataclass(frozen=True, eq=False)
class VolumeChart:
    """The volumes of slices, one of which may be marked."""

    volumes: SliceVolumes
    marked: int | None = None

    @cached_property
    def _titles(self) -> list[str]:
        return lines_of(f"{self.volumes.title}, with the range of each", WIDTH - 2 * SIDE, LEGEND, SEMIBOLD)

    @property
    def _head(self) -> float:
        return _HEAD + _TITLE_STEP * len(self._titles)

    @property
    def height(self) -> float:
        """Of the titles, the plot and the names below it."""
        return self._head + _PLOT + _FOOT

    @cached_property
    def _top(self) -> float:
        """The highest number that the scale holds."""
        return 1.05 * max(float(self.volumes.ranges.high.max()), float(self.volumes.values.max()), 1e-6)

    @cached_property
    def _left(self) -> float:
        """Where the plot begins: right of the numbers."""
        return SIDE + max(text_width(plain(tick), NUMBER) for tick in even_ticks(self._top)) + _AIR

    @property
    def _step(self) -> float:
        """The width of a slice."""
        return (WIDTH - SIDE - self._left) / len(self.volumes.values)

    def _x(self, number: int) -> float:
        return self._left + self._step * (number + 0.5)

    def labels(self) -> list[int]:
        """The slices whose names stand below the plot: evenly spaced, none over another."""
        words, cycle = self.volumes.names.words, self.volumes.names.cycle or len(self.volumes.values)
        least = math.ceil((max(text_width(word, NUMBER) for word in words) + _AIR) / self._step)
        fits = (step for step in range(least, 2 * least + 1) if cycle % step == 0)
        return list(range(0, len(words), next(fits, least)))

    def draw(self, canvas: Canvas, top: float, theme: Theme, inks: Inks) -> None:
        """Draw titles, scale, ranges and line."""
        ink, soft = rgb_of(theme.ink), rgb_of(theme.soft)
        for k, title in enumerate(self._titles):
            y = SCALE * (top + 32 + _TITLE_STEP * k)
            canvas.text(SCALE * SIDE, y, title, size=SCALE * LEGEND, colour=ink, weight=SEMIBOLD)
        note = SCALE * (top + 32 + _TITLE_STEP * len(self._titles))
        canvas.text(SCALE * SIDE, note, ranges_hold(CONFIDENCE), size=SCALE * NUMBER, colour=soft)
        bottom = top + self._head + _PLOT
        page = Box(0, 0, SCALE * WIDTH, round(SCALE * (bottom + _FOOT)))
        for tick in even_ticks(self._top):
            y = self._y(tick, bottom)
            rule = SCALE * np.array([(self._left, y), (WIDTH - SIDE, y)])
            canvas.lines([rule], page, width=SCALE, colour=rgb_of(theme.faint if tick == 0 else theme.rules))
            canvas.text(
                SCALE * (self._left - 8), SCALE * (y + 4), plain(tick), size=SCALE * NUMBER, colour=soft, align=1.0
            )
        self._draw_ranges(canvas, bottom, theme, inks)
        self._draw_line(canvas, bottom, theme, page)
        for number in self.labels():
            self._draw_name(canvas, number, bottom, theme)

    def _y(self, value: float, bottom: float) -> float:
        return bottom - _PLOT * value / self._top

    def _draw_ranges(self, canvas: Canvas, bottom: float, theme: Theme, inks: Inks) -> None:
        """Draw a bar for the range of each slice; bars of a few slices stand apart."""
        half = min(self._step - (1.0 if self._step > _ROOM_OF_DOT else 0.0), _WIDEST) / 2
        for number, (low, high) in enumerate(zip(*(ends.tolist() for ends in self.volumes.ranges), strict=True)):
            x = self._x(number)
            at = x - half, self._y(high, bottom), x + half, max(self._y(low, bottom), self._y(high, bottom) + 1)
            colour = inks.swatches[len(inks.swatches) // 2] if number == self.marked else theme.faint
            canvas.fill(Box(*(round(SCALE * end) for end in at)), rgb_of(colour))

    def _draw_line(self, canvas: Canvas, bottom: float, theme: Theme, page: Box) -> None:
        """Draw a line through the numbers of each group's times, and dots where there is room."""
        axis, values = self.volumes.names.axis, self.volumes.values.tolist()
        points = SCALE * np.array([(self._x(k), self._y(value, bottom)) for k, value in enumerate(values)])
        if axis.period is not None:
            lines: list[Floats] = np.split(points, max(1, len(axis.groups)))
            canvas.lines(lines, page, width=1.5 * SCALE, colour=rgb_of(theme.ink))
        for number, (x, y) in enumerate(points.tolist()):
            if number == self.marked or self._step >= _ROOM_OF_DOT or axis.period is None:
                radius = SCALE * (_MARKED if number == self.marked else _DOT)
                box = Box(round(x - radius), round(y - radius), round(x + radius), round(y + radius))
                canvas.fill(box, rgb_of(theme.ink), box.width / 2)

    def _draw_name(self, canvas: Canvas, number: int, bottom: float, theme: Theme) -> None:
        name = self.volumes.names.words[number]
        half = text_width(name, NUMBER) / 2
        x = min(max(self._x(number), SIDE + half), WIDTH - SIDE - half)
        canvas.text(SCALE * x, SCALE * (bottom + 17), name, size=SCALE * NUMBER, colour=rgb_of(theme.soft), align=0.5)
