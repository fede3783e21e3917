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
from dpheatmap.render.figure.lettering import SEMIBOLD, lines_of, short, text_width
from dpheatmap.render.figure.page_layout import LEGEND, NUMBER, SCALE, SIDE, WIDTH
from dpheatmap.render.figure.ticks import even_ticks
from dpheatmap.render.inks import Inks
from dpheatmap.render.palette import Theme, rgb_of

MOST_ROWS = 20
"""The most areas that a chart lists."""

_ROW, _HEAD, _NOTE_STEP, _FOOT = 27.0, 67.0, 17.0, 8.0
_NAME_LEFT, _NAME = SIDE + 34.0, 13.0
_NAME_WIDTHS = 120.0, 250.0  # of the shortest and of the longest column of names
_RANGE_WIDTH = 104.0
_DOT = 5.0
_LOG_FROM, _LOG_TO = 12.0, 1e5  # times the least number: a spread between these has a scale by ratios
_BY_TENS = 100.0  # a scale by ratios of a larger spread ends at powers of ten
_MOST_TICKS = 8


@dataclass(frozen=True, eq=False)
class RankChart:
    """The areas with the most people, in order."""

    content: AreaContent

    @cached_property
    def shown(self) -> list[ShownArea]:
        """The areas that are listed: all if they are few, else the first that can be told."""
        areas = self.content.areas
        return areas if len(areas) <= MOST_ROWS else [area for area in areas if area.is_told][:MOST_ROWS]

    @property
    def height(self) -> float:
        """Of the titles, the rows and the air around them."""
        return self._head + _ROW * len(self.shown) + _FOOT

    @property
    def _head(self) -> float:
        """The height of the titles and of the scale's numbers."""
        return _HEAD + _NOTE_STEP * len(self._notes)

    @cached_property
    def _plot_left(self) -> float:
        """Where the scale begins: right of the longest name."""
        least, most = _NAME_WIDTHS
        widest = max((text_width(area.name, _NAME) for area in self.shown), default=0.0)
        return _NAME_LEFT + min(max(widest, least), most) + 26.0

    @cached_property
    def _ends(self) -> tuple[float, float]:
        """The ends of the scale, which holds all ranges; a scale from 0 on is even, others go by ratios."""
        told = [area for area in self.shown if area.is_told]
        top = max((area.high for area in told), default=1.0) or 1.0
        low = min((area.low for area in told), default=0.0)
        if not top > _LOG_FROM * low or not top < _LOG_TO * low:
            return 0.0, 1.05 * top
        steps = (1,) if top > _BY_TENS * low else (1, 2, 5)
        powers = range(math.floor(math.log10(low)), math.ceil(math.log10(top)) + 1)
        found = [float(f"{digit}e{power}") for power in powers for digit in steps]
        return max(step for step in found if step <= low), min(step for step in found if step >= top)

    @property
    def is_by_ratios(self) -> bool:
        """Whether the scale is logarithmic."""
        return self._ends[0] > 0.0

    def _at(self, value: float) -> float:
        """Where a number lies, in pixels of the page."""
        low, high = self._ends
        right = WIDTH - SIDE - _RANGE_WIDTH - 10.0
        part = math.log(value / low) / math.log(high / low) if self.is_by_ratios else value / high
        return self._plot_left + (right - self._plot_left) * part

    @property
    def _ticks(self) -> list[float]:
        low, high = self._ends
        if low > 0.0:
            powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
            found = [digit * 10.0**power for power in powers for digit in (1, 2, 5)]
            found = [tick for tick in found if low <= tick <= high]
            return found if len(found) <= _MOST_TICKS else [tick for tick in found if math.log10(tick) % 1 < 1e-9]
        return even_ticks(high)

    @property
    def _title(self) -> str:
        counted = self.content.counted
        if counted.startswith("Of every"):
            return f"{counted}, how many are in the area, with the range of each"
        return f"{counted} in the area, with the range of each"

    @cached_property
    def _notes(self) -> list[str]:
        """How to read the chart, in lines."""
        many, whole = len(self.shown), len(self.content.areas)
        told = sum(area.is_told for area in self.content.areas)
        which = ""
        if many < whole:
            which = f"The {many} of {whole:,} areas that can be told from the noise. "
            which = f"The {many} largest of {whole:,} areas. " if many < told else which
        scale = " The scale is logarithmic." if self.is_by_ratios else ""
        return lines_of(f"{which}{self.content.sure}. Colours are those of the map.{scale}", WIDTH - 2 * SIDE, NUMBER)

    def draw(self, canvas: Canvas, top: float, theme: Theme, inks: Inks) -> None:
        """Draw titles, scale and rows."""
        ink, soft = rgb_of(theme.ink), rgb_of(theme.soft)
        canvas.text(SCALE * SIDE, SCALE * (top + 32), self._title, size=SCALE * LEGEND, colour=ink, weight=SEMIBOLD)
        for k, note in enumerate(self._notes):
            y = SCALE * (top + 51 + _NOTE_STEP * k)
            canvas.text(SCALE * SIDE, y, note, size=SCALE * NUMBER, colour=soft)
        first, last = top + self._head, top + self._head + _ROW * len(self.shown)
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
        number = str(rank) if told else ""
        canvas.text(SCALE * (_NAME_LEFT - 9), baseline, number, size=SCALE * NUMBER, colour=soft, align=1.0)
        name = short(area.name, _NAME_WIDTHS[1], _NAME)
        canvas.text(SCALE * _NAME_LEFT, baseline, name, size=SCALE * _NAME, colour=ink if told else soft)
        if told:
            line = _line(self._at(area.low), y, max(self._at(area.high), self._at(area.low) + 1), y)
            canvas.lines([line], page, width=2.0 * SCALE, colour=soft)
            _draw_dot(canvas, SCALE * self._at(area.value), SCALE * y, ink, rgb_of(colour))
        words = short(area.range_in_words, _RANGE_WIDTH if told else WIDTH - SIDE - self._plot_left, NUMBER)
        canvas.text(
            SCALE * (WIDTH - SIDE), baseline, words, size=SCALE * NUMBER, colour=ink if told else soft, align=1.0
        )


def _draw_dot(canvas: Canvas, x: float, y: float, rim: tuple[int, int, int], colour: tuple[int, int, int]) -> None:
    for radius, ink in ((SCALE * _DOT + SCALE * 0.9, rim), (SCALE * _DOT, colour)):
        box = Box(round(x - radius), round(y - radius), round(x + radius), round(y + radius))
        canvas.fill(box, ink, box.width / 2)


def _line(x0: float, y0: float, x1: float, y1: float) -> Floats:
    return SCALE * np.array([(x0, y0), (x1, y1)])
