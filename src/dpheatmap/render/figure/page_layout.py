"""The layout of a picture: title, takeaway, legend, map, small print and badge, in this order, on a page 760 wide.

Lengths are in pixels of the page; the picture has :data:`SCALE` pixels for each, so that it is sharp in print. Every
text is measured before it is placed, and lines are broken to fit.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from dpheatmap.render.content.words import Words
from dpheatmap.render.figure.canvas import Box
from dpheatmap.render.figure.lettering import REGULAR, SEMIBOLD, lines_of, text_width

SCALE = 2
"""Pixels of the picture for one of the page."""

WIDTH, SIDE, TOP, BOTTOM = 760, 20, 28, 20
"""The page's width, and its margins."""

TITLE, SUBTITLE, TAKEAWAY, LEGEND, NUMBER, NOTE = 26, 15, 16, 13, 12, 11.5
"""Sizes of letters."""

BAR_WIDTH, BAR_HEIGHT, FIRST_BOX, TICK = 400, 14, 64, 4
"""The bar of the legend: its size, that of the box before the first edge, and its ticks."""

ARROW = 19
"""The room of an arrow."""

SWATCH = (22, 13)
"""The width and height of a swatch."""

TALLEST = 1.6
"""The most that a map may be higher than the page is wide; taller ones are narrower."""

CARD_HEADING, CARD_TEXT = 16, 13.5
"""Sizes of letters on the card of a map that shows nothing."""

_TAKEAWAY_WIDTH = 640
_LEGEND_STEP = 17
_CARD_WIDTH, _CARD_AIR, _CARD_INSET = 264, 18, 22
_BADGE_HEIGHT, _BADGE_LEFT, _BADGE_RIGHT = 25, 26, 10
_WARNING_HEIGHT = 34


class Line(NamedTuple):
    """A line of text: left end, baseline, size, weight, and whether it is soft."""

    x: float
    y: float
    text: str
    size: float
    weight: int = REGULAR
    soft: bool = False


class Note(NamedTuple):
    """An explanation beside the legend: its swatch ("bare", "rough", "outside", "unknown" or nothing), and its line."""

    swatch: str
    line: Line


@dataclass(frozen=True)
class PageLayout:
    """The positions of all parts, in pixels of the page."""

    words: Words
    shape: tuple[int, int]
    """Rows and columns of the map."""
    credits: str = ""
    outlined: bool = False
    """Whether the place has a boundary, beyond which the map shows ground."""
    chart: float = 0.0
    """The height of what stands below the map."""

    @cached_property
    def warning(self) -> int:
        """The height of the bar that warns, across the top."""
        return _WARNING_HEIGHT if self.words.warnings else 0

    @cached_property
    def head(self) -> list[Line]:
        """Title, subtitle and takeaway."""
        found: list[Line] = []
        y: float = self.warning + TOP
        for text, size, step, weight, air, room in (
            (self.words.title, TITLE, 31, SEMIBOLD, 0, WIDTH - 2 * SIDE),
            (self.words.subtitle, SUBTITLE, 21, REGULAR, 6, WIDTH - 2 * SIDE),
            (self.words.takeaway, TAKEAWAY, 23, REGULAR, 8, _TAKEAWAY_WIDTH),
        ):
            if text:
                y += air
            for line in lines_of(text, room, size, weight):
                y += step
                found.append(Line(SIDE, y - 0.28 * step, line, size, weight, soft=text is self.words.subtitle))
        return found

    @cached_property
    def _legend_top(self) -> float:
        last = self.head[-1] if self.head else Line(0, self.warning + TOP, "", TITLE)
        return last.y + 0.3 * last.size + 18

    @property
    def has_bar(self) -> bool:
        """Whether there is a bar of colours: only where something is painted."""
        return self.words.nothing is None

    @cached_property
    def legend_titles(self) -> list[Line]:
        """What stands above the bar: the legend's title, or for changes what either side means."""
        if not self.has_bar:
            return []
        legend, y = self.words.legend, self._legend_top + LEGEND
        if not legend.less:
            titles = lines_of(legend.title, WIDTH - 2 * SIDE, LEGEND, SEMIBOLD)
            return [Line(SIDE, y + _LEGEND_STEP * k, title, LEGEND, SEMIBOLD) for k, title in enumerate(titles)]
        less, more = (
            lines_of(text.strip("← →"), BAR_WIDTH / 2 - ARROW - 8, LEGEND, SEMIBOLD)
            for text in (legend.less, legend.more)
        )
        end = SIDE + BAR_WIDTH - ARROW
        return [
            *(Line(SIDE + ARROW, y + _LEGEND_STEP * k, text, LEGEND, SEMIBOLD) for k, text in enumerate(less)),
            *(
                Line(end - text_width(text, LEGEND, SEMIBOLD), y + _LEGEND_STEP * k, text, LEGEND, SEMIBOLD)
                for k, text in enumerate(more)
            ),
        ]

    @cached_property
    def arrows(self) -> list[tuple[float, float, float]]:
        """For changes, arrows beside both titles, which the font lacks: tail, tip and y."""
        if not self.words.legend.less or not self.has_bar:
            return []
        y, long = self.legend_titles[0].y - 0.36 * LEGEND, ARROW - 5
        return [(SIDE + long, SIDE, y), (SIDE + BAR_WIDTH - long, SIDE + BAR_WIDTH, y)]

    @cached_property
    def first_box(self) -> float:
        """The width of the bar's bare box, with room for its words beside the first number."""
        legend = self.words.legend
        number = text_width(legend.under.rpartition(" ")[2], NUMBER) / 2
        return max(FIRST_BOX, text_width(legend.under, NUMBER) + (52 if legend.less else max(18.0, number + 6)))

    @cached_property
    def bar(self) -> float:
        """Top of the bar."""
        return max(line.y for line in self.legend_titles) + 9

    @cached_property
    def below_bar(self) -> list[Line]:
        """For changes, what the numbers are."""
        legend = self.words.legend
        if not legend.less or not self.has_bar:
            return []
        titles = lines_of(legend.title, WIDTH - 2 * SIDE, NUMBER)
        return [
            Line(SIDE, self.bar + BAR_HEIGHT + 40 + 17 * k, title, NUMBER, soft=True) for k, title in enumerate(titles)
        ]

    @cached_property
    def notes(self) -> list[Note]:
        """The explanations: beside the legend if there is room, else below it."""
        legend = self.words.legend
        if not self.has_bar:
            inset, top = SIDE + SWATCH[0] + 8, self._legend_top + 12
            return [
                Note("" if k else "unknown", Line(inset, top + 18 * k, line, NUMBER, soft=True))
                for k, line in enumerate(lines_of(legend.bare, WIDTH - SIDE - inset, NUMBER))
            ]
        outside = legend.outside if self.outlined else ""
        said = [("bare", legend.bare), ("rough", legend.rough), ("outside", outside)]
        said += [("", note) for note in legend.notes]
        said = [(swatch, text) for swatch, text in said if text]
        titles = max(text_width(line.text, line.size, line.weight) for line in self.legend_titles)
        left: float = SIDE + max(BAR_WIDTH, titles if not legend.less else 0) + 26
        widest = max(text_width(text, NUMBER) for _, text in said) + SWATCH[0] + 8
        if left + widest <= WIDTH - SIDE:
            y = self._legend_top + 12
        else:
            left, y = SIDE, (self.below_bar[-1].y + 22 if self.below_bar else self.bar + BAR_HEIGHT + 42)
        return [
            Note(swatch, Line(left + SWATCH[0] + 8, y + 20 * k, text, NUMBER, soft=True))
            for k, (swatch, text) in enumerate(said)
        ]

    @property
    def map_top(self) -> int:
        """Where the map begins, in pixels of the picture."""
        ends = [self.bar + BAR_HEIGHT + 22 if self.has_bar else 0.0]
        ends += [line.y + 4 for line in self.below_bar] + [note.line.y + 4 for note in self.notes]
        return round(SCALE * (max(ends) + 14))

    @cached_property
    def map(self) -> Box:
        """The map's edges, in pixels of the picture."""
        top = self.map_top
        rows, columns = self.shape
        width = SCALE * (WIDTH - 2 * SIDE)
        height = round(width * rows / columns)
        if height > TALLEST * width:
            height = round(TALLEST * width)
            width = max(SCALE * (120 if self.has_bar else _CARD_WIDTH + 2 * _CARD_AIR), round(height * columns / rows))
        least = 40.0 if self.has_bar else self._card_size(width)[1] + 2 * _CARD_AIR
        left = round((SCALE * WIDTH - width) / 2)  # a narrow map stands in the middle
        return Box(left, top, left + width, top + max(height, round(SCALE * least)))

    def _card_size(self, map_width: int) -> tuple[float, float]:
        """The width and height of the card on a map of so many pixels of the picture."""
        width = min(444.0, map_width / SCALE - 2 * _CARD_AIR)
        lines = [len(lines) for lines in self._card_lines(width)]
        return width, 22.0 * lines[0] + 20.0 * lines[1] + 40.0

    def _card_lines(self, width: float) -> tuple[list[str], list[str]]:
        card = self.words.nothing
        if card is None:
            return [], []
        room = width - 2 * _CARD_INSET
        return lines_of(card.heading, room, CARD_HEADING, SEMIBOLD), lines_of(card.text, room, CARD_TEXT)

    @cached_property
    def card(self) -> Box:
        """The card in the middle of a map that shows nothing, in pixels of the picture."""
        width, height = self._card_size(self.map.width)
        x, y = (self.map.left + self.map.right) / 2, (self.map.top + self.map.bottom) / 2
        half = SCALE * width / 2, SCALE * height / 2
        return Box(*(round(at) for at in (x - half[0], y - half[1], x + half[0], y + half[1])))

    @cached_property
    def card_lines(self) -> list[Line]:
        """The words on the card."""
        x, y = self.card.left / SCALE + _CARD_INSET, self.card.top / SCALE + 34
        heading, text = self._card_lines(self.card.width / SCALE)
        below = y + 22 * len(heading) + 4
        return [
            *(Line(x, y + 22 * k, line, CARD_HEADING, SEMIBOLD) for k, line in enumerate(heading)),
            *(Line(x, below + 20 * k, line, CARD_TEXT, soft=True) for k, line in enumerate(text)),
        ]

    @property
    def end(self) -> float:
        """Where the map ends, with what stands below it."""
        return self.map.bottom / SCALE + self.chart

    @cached_property
    def badge(self) -> Box:
        """The badge of the promise, at the foot to the right, in pixels of the picture."""
        width = _BADGE_LEFT + text_width(self.words.badge, NUMBER, SEMIBOLD) + _BADGE_RIGHT
        right, top = WIDTH - SIDE, self.end + 12
        return Box(*(round(SCALE * at) for at in (right - width, top, right, top + _BADGE_HEIGHT)))

    @cached_property
    def small_print(self) -> list[Line]:
        """The small print, at the foot to the left."""
        room = self.badge.left / SCALE - SIDE - 20
        top = self.end + 12
        text = " ".join([*self.words.facts[:-1], *([self.credits] if self.credits else []), *self.words.facts[-1:]])
        return [
            Line(SIDE, top + 12 + 17 * k, line, NOTE, soft=True) for k, line in enumerate(lines_of(text, room, NOTE))
        ]

    @cached_property
    def height(self) -> int:
        """Height of the picture."""
        last = self.small_print[-1].y + 5 if self.small_print else 0.0
        return round(SCALE * (max(last, self.badge.bottom / SCALE) + BOTTOM))

    @property
    def width(self) -> int:
        """Width of the picture."""
        return SCALE * WIDTH
