"""A chart of areas by rank: a dot for the number of each, a line for its range, and the range in words."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dpheatmap._util.number_words import plain
from dpheatmap.place.domain import Floats
from dpheatmap.render.content.area_picture import AreaContent, ShownArea
from dpheatmap.render.figure.canvas import Box, Canvas
from dpheatmap.render.figure.lettering import SEMIBOLD, text_width
from dpheatmap.render.figure.page_layout import LEGEND, NUMBER, SCALE, SIDE, WIDTH
from dpheatmap.render.inks import Inks
from dpheatmap.render.palette import Theme, rgb_of

MOST_ROWS = 20
"""The most areas that a chart lists."""

_ROW, _HEAD, _FOOT = 27.0, 84.0, 8.0
_NAME_LEFT, _NAME_WIDTH, _NAME = SIDE + 34.0, 190.0, 13.0
_PLOT_LEFT = _NAME_LEFT + _NAME_WIDTH + 16.0
_RANGE_WIDTH = 104.0
_DOT = 5.0
_LOG_FROM = 12.0  # times the smallest number: a larger spread has a scale by ratios
_MOST_TICKS = 8


@dataclass(frozen=True, eq=False)
class RankChart:
    """The areas with the most people, in order."""

    content: AreaContent

    @cached_property
    def shown(self) -> list[ShownArea]:
        """The areas that are listed."""
        return self.content.areas[:MOST_ROWS]

    @property
    def height(self) -> float:
        """Of the titles, the rows and the air around them."""
        return _HEAD + _ROW * len(self.shown) + _FOOT

    @cached_property
    def _ends(self) -> tuple[float, float]:
        """The least and the largest number on the scale; a scale from 0 on is even, others go by ratios."""
        told = [area for area in self.shown if area.is_told] or self.shown
        top = max((area.high for area in told), default=1.0) or 1.0
        low = min((max(area.low, 1e-3 * top) for area in told), default=0.0)
        return (0.8 * low, 1.05 * top) if top / max(low, 1e-12) > _LOG_FROM else (0.0, 1.05 * top)

    def _at(self, value: float) -> float:
        """Where a number lies, in pixels of the page."""
        low, high = self._ends
        right = WIDTH - SIDE - _RANGE_WIDTH
        part = value / high if low == 0.0 else math.log(max(value, low) / low) / math.log(high / low)
        return _PLOT_LEFT + (right - _PLOT_LEFT) * min(max(part, 0.0), 1.0)

    @property
    def _ticks(self) -> list[float]:
        low, high = self._ends
        if low > 0.0:
            powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
            found = [digit * 10.0**power for power in powers for digit in (1, 2, 5)]
            found = [tick for tick in found if low <= tick <= high]
            return found if len(found) <= _MOST_TICKS else [tick for tick in found if math.log10(tick) % 1 < 1e-9]
        step = 10.0 ** math.floor(math.log10(high / 2))
        step = next((step * digit for digit in (1, 2, 5, 10) if high / (step * digit) <= 5), 10 * step)
        return [step * k for k in range(int(high / step) + 1)]

    @property
    def _notes(self) -> tuple[str, str]:
        """The title of the chart, and how to read it."""
        many, whole = len(self.shown), len(self.content.areas)
        title = "How many, with the range of each"
        counted = self.content.counted
        if counted.startswith("Of every"):
            title = f"{counted}, how many are in the area, with the range of each"
        else:
            title = f"{counted} in the area, with the range of each"
        first = f"The {many} largest of {whole:,} areas. " if many < whole else ""
        return title, f"{first}{self.content.sure}. Colours are those of the map."

    def draw(self, canvas: Canvas, top: float, theme: Theme, inks: Inks) -> None:
        """Draw titles, scale and rows."""
        title, note = self._notes
        ink, soft = rgb_of(theme.ink), rgb_of(theme.soft)
        canvas.text(SCALE * SIDE, SCALE * (top + 32), title, size=SCALE * LEGEND, colour=ink, weight=SEMIBOLD)
        canvas.text(SCALE * SIDE, SCALE * (top + 51), note, size=SCALE * NUMBER, colour=soft)
        first, last = top + _HEAD, top + _HEAD + _ROW * len(self.shown)
        page = Box(0, 0, SCALE * WIDTH, round(SCALE * (last + _FOOT)))
        for tick in self._ticks:
            x = self._at(tick)
            canvas.lines([_line(x, first - 2, x, last)], page, width=SCALE, colour=rgb_of(theme.rules))
            canvas.text(SCALE * x, SCALE * (first - 8), plain(tick), size=SCALE * NUMBER, colour=soft, align=0.5)
        for k, area in enumerate(self.shown):
            band = self.content.bands[k]
            colour = theme.land if band < 0 else inks.swatches[band]
            self._draw_row(canvas, k + 1, area, first + _ROW * (k + 0.5), theme, colour, page)

    def _draw_row(
        self, canvas: Canvas, rank: int, area: ShownArea, y: float, theme: Theme, colour: str, page: Box
    ) -> None:
        ink, soft = rgb_of(theme.ink), rgb_of(theme.soft)
        told, baseline = area.is_told, SCALE * (y + 4.5)
        canvas.text(SCALE * (_NAME_LEFT - 9), baseline, str(rank), size=SCALE * NUMBER, colour=soft, align=1.0)
        name = _short(area.name, _NAME_WIDTH, _NAME)
        canvas.text(SCALE * _NAME_LEFT, baseline, name, size=SCALE * _NAME, colour=ink if told else soft)
        if told:
            line = _line(self._at(area.low), y, max(self._at(area.high), self._at(area.low) + 1), y)
            canvas.lines([line], page, width=2.0 * SCALE, colour=soft)
            _draw_dot(canvas, SCALE * self._at(area.value), SCALE * y, ink, rgb_of(colour))
        words = _short(area.range_in_words, _RANGE_WIDTH if told else WIDTH - SIDE - _PLOT_LEFT, NUMBER)
        canvas.text(
            SCALE * (WIDTH - SIDE), baseline, words, size=SCALE * NUMBER, colour=ink if told else soft, align=1.0
        )


def _draw_dot(canvas: Canvas, x: float, y: float, rim: tuple[int, int, int], colour: tuple[int, int, int]) -> None:
    for radius, ink in ((SCALE * _DOT + SCALE * 0.9, rim), (SCALE * _DOT, colour)):
        box = Box(round(x - radius), round(y - radius), round(x + radius), round(y + radius))
        canvas.fill(box, ink, box.width / 2)


def _line(x0: float, y0: float, x1: float, y1: float) -> Floats:
    return SCALE * np.array([(x0, y0), (x1, y1)])


def _short(text: str, room: float, size: float) -> str:
    """A text that fits, cut with an ellipsis if need be."""
    if text_width(text, size) <= room:
        return text
    while text and text_width(f"{text}…", size) > room:
        text = text[:-1]
    return f"{text.rstrip()}…"
