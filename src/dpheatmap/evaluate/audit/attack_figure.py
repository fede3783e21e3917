"""The figure of an attack, for a board: three times 100 guesses, and below, for whoever wants to know more, the rates.

Lengths are in pixels of a page 760 wide, as those of maps (`render/figure/page_layout.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, TypeVar

import numpy as np

from dpheatmap.evaluate.audit.attack_words import (
    BY_CHANCE,
    TITLE,
    badge,
    of_100,
    range_of,
    small_print,
    takeaway,
    verdict,
)
from dpheatmap.evaluate.audit.membership import Attack, Attempt
from dpheatmap.place.domain import Floats
from dpheatmap.render.figure import page_layout as page
from dpheatmap.render.figure.canvas import Box, Canvas
from dpheatmap.render.figure.lettering import SEMIBOLD, lines_of, text_width
from dpheatmap.render.figure.page_layout import LEGEND, NOTE, NUMBER, SCALE, SIDE, WIDTH
from dpheatmap.render.figure.painting import dashes
from dpheatmap.render.palette import WARNING, Rgb, Theme, band_colours, rgb_of

C = TypeVar("C", bound=Canvas)

_ROOM = WIDTH - 2 * SIDE
_BIG, _PITCH, _DOT = 40, 16.0, 11.0  # the number above guesses; the distance of their dots, and their width
_COLUMN = _ROOM / 3
_PANEL, _PANEL_LEFT, _PANEL_DOWN = 300.0, SIDE + 34.0, 50.0
_LEGEND_LEFT = _PANEL_LEFT + _PANEL + 36.0
_STEP, _NOTE_STEP = 17.0, 17.0
_DASH, _GAP = 5.0, 4.0
_TICKS = (0, 25, 50, 75, 100)
_FINE = np.concatenate([np.geomspace(1e-6, 0.02, 60), np.linspace(0.02, 1.0, 197)])


class Guesses(NamedTuple):
    """A hundred guesses: the part that is right, what stands below their number, and their colour."""

    right: float
    words: tuple[str, ...]
    colour: Rgb


@dataclass(frozen=True, eq=False)
class AttackFigure:
    """The figure of an attack, in the colours of a theme."""

    attack: Attack
    theme: Theme

    few_colours = True

    # Layout

    @cached_property
    def _warning(self) -> float:
        return 18.0 + 18.0 * len(self._warning_lines) if self.attack.fails else 0.0

    @cached_property
    def _warning_lines(self) -> list[str]:
        return lines_of(verdict(self.attack), _ROOM, 14, SEMIBOLD)

    @cached_property
    def _head(self) -> list[str]:
        return lines_of(takeaway(self.attack), _ROOM, page.TAKEAWAY)

    @property
    def _guesses_top(self) -> float:
        return self._warning + page.TOP + 31 + 8 + 23 * len(self._head) + 14

    @property
    def _rates_top(self) -> float:
        return self._guesses_top + 92 + 10 * _PITCH + 30

    @property
    def _notes_top(self) -> float:
        return self._rates_top + _PANEL_DOWN + _PANEL + 72

    @cached_property
    def _notes(self) -> list[str]:
        return lines_of(small_print(self.attack), _ROOM, NOTE)

    @property
    def _height(self) -> float:
        return self._notes_top + _NOTE_STEP * len(self._notes) + 8 + 25 + page.BOTTOM

    # Colours

    @property
    def _ink(self) -> Rgb:
        return rgb_of(self.theme.ink)

    @property
    def _soft(self) -> Rgb:
        return rgb_of(self.theme.soft)

    @cached_property
    def _colours(self) -> tuple[Rgb, Rgb]:
        """The colours of the attack and of the promise."""
        _, attack, promise = band_colours(self.theme.heat, 3)
        return rgb_of(attack), rgb_of(promise)

    # Drawing

    def draw(self, new: Callable[[int, int, Rgb], C]) -> C:
        """Draw the figure on a new canvas, made from its width, height and colour."""
        canvas = new(SCALE * WIDTH, round(SCALE * self._height), rgb_of(self.theme.page))
        if self.attack.fails:
            self._fill(canvas, 0, 0, WIDTH, self._warning, rgb_of(WARNING))
            for k, line in enumerate(self._warning_lines):
                self._text(canvas, SIDE, 23 + 18 * k, line, 14, (255, 255, 255), weight=SEMIBOLD)
        top = self._warning + page.TOP
        self._text(canvas, SIDE, top + 22, TITLE, page.TITLE, self._ink, weight=SEMIBOLD)
        for k, line in enumerate(self._head):
            self._text(canvas, SIDE, top + 31 + 8 + 23 * k + 17, line, page.TAKEAWAY, self._ink)
        for number, guesses in enumerate(self._three()):
            self._draw_guesses(canvas, SIDE + number * _COLUMN, guesses)
        self._draw_rates(canvas)
        for k, line in enumerate(self._notes):
            self._text(canvas, SIDE, self._notes_top + _NOTE_STEP * k, line, NOTE, self._soft)
        self._draw_badge(canvas)
        return canvas

    def _three(self) -> Iterator[Guesses]:
        attack, (found, promised) = self.attack, self._colours
        strongest = attack.strongest
        yield Guesses(0.5, ("by tossing a coin", "knowing nothing"), self._soft)
        yield Guesses(
            strongest.accuracy,
            ("by the best attack", f"{range_of(strongest)}, on somebody {strongest.target}"),
            found,
        )
        yield Guesses(attack.bound.accuracy, ("at most, by the promise", "whatever they know and do"), promised)

    def _draw_guesses(self, canvas: Canvas, left: float, guesses: Guesses) -> None:
        """Draw a number, its words, and a hundred dots of which so many are painted."""
        top = self._guesses_top
        number = of_100(guesses.right)
        self._text(canvas, left, top + 34, number, _BIG, self._ink, weight=SEMIBOLD)
        beside = left + text_width(number, _BIG, SEMIBOLD) + 8
        self._text(canvas, beside, top + 34, "of 100 are right", LEGEND, self._soft)
        self._text(canvas, left, top + 58, guesses.words[0], LEGEND, self._ink, weight=SEMIBOLD)
        self._text(canvas, left, top + 75, guesses.words[1], NUMBER, self._soft)
        for k in range(100):
            x, y = left + _PITCH * (k % 10), top + 92 + _PITCH * (k // 10)
            colour = guesses.colour if k < round(100 * guesses.right) else rgb_of(self.theme.rules)
            self._fill(canvas, x, y, x + _DOT, y + _DOT, colour, _DOT / 2)

    def _draw_rates(self, canvas: Canvas) -> None:
        """Draw how many participants are found, over how many others are mistaken for one."""
        top = self._rates_top
        title = "The same in more detail: who is found, and who is mistaken"
        self._text(canvas, SIDE, top + 12, title, LEGEND, self._ink, weight=SEMIBOLD)
        words = "Of 100 who took part, so many are found"
        self._text(canvas, SIDE, top + 34, words, NUMBER, self._soft)
        for tick in _TICKS:
            (x, y), (right, _) = self._at(tick / 100, tick / 100), self._at(1.0, 0.0)
            low, high = self._at(0.0, 0.0)[1], self._at(0.0, 1.0)[1]
            rules = [np.array([(_PANEL_LEFT, y), (right, y)]), np.array([(x, low), (x, high)])]
            self._lines(canvas, rules, 1.0, rgb_of(self.theme.rules))
            self._text(canvas, _PANEL_LEFT - 8, y + 4, str(tick), NUMBER, self._soft, align=1.0)
            self._text(canvas, x, low + 17, str(tick), NUMBER, self._soft, align=0.5)
        words = "Of 100 who did not take part, so many are mistaken for participants"
        self._text(canvas, SIDE, self._at(0, 0)[1] + 38, words, NUMBER, self._soft)
        self._draw_curves(canvas)
        self._draw_legend(canvas)

    def _draw_curves(self, canvas: Canvas) -> None:
        found, promised = self._colours
        coin = np.array([self._at(0.0, 0.0), self._at(1.0, 1.0)])
        self._lines(canvas, dashes(coin, _DASH, _GAP), 1.3, self._soft)
        bound = [self._at(rate, self.attack.bound.true_rate(rate)) for rate in [0.0, *_FINE.tolist()]]
        for attempt in self.attack.attempts:
            if attempt is not self.attack.strongest:
                self._lines(canvas, [self._curve(attempt)], 1.2, found)
        strongest = self.attack.strongest
        crosses = [
            np.array([self._at(*ends[0]), self._at(*ends[1])])
            for one in strongest.curve[:: max(1, len(strongest.curve) // 8)]
            for ends in (
                ((one.mistakes / one.runs, one.found[0]), (one.mistakes / one.runs, one.found[1])),
                ((one.mistaken[0], one.hits / one.runs), (one.mistaken[1], one.hits / one.runs)),
            )
        ]
        self._lines(canvas, crosses, 1.0, found, 0.7)
        self._lines(canvas, [self._curve(strongest)], 2.4, found)
        self._lines(canvas, [np.array(bound)], 2.4, promised)

    def _curve(self, attempt: Attempt) -> Floats:
        rates = [(one.mistakes / one.runs, one.hits / one.runs) for one in attempt.curve]
        return np.array([self._at(*rate) for rate in [(1.0, 1.0), *rates, (0.0, 0.0)]])

    def _draw_legend(self, canvas: Canvas) -> None:
        found, promised = self._colours
        strongest = self.attack.strongest
        others = " or ".join(one.target for one in self.attack.attempts if one is not strongest)
        y = self._rates_top + _PANEL_DOWN + 8
        said = (
            ("At most, by the promise", 2.4, promised),
            (f"The attack on somebody {strongest.target}, with the range of each rate, so wide that it is hardly ever "
             "wrong", 2.4, found),
            (f"The attack on somebody {others}", 1.2, found),
            ("Tossing a coin", -1.3, self._soft),
        )  # fmt: skip
        for words, width, colour in said:
            line = np.array([(_LEGEND_LEFT, y - 4.5), (_LEGEND_LEFT + 24, y - 4.5)])
            self._lines(canvas, dashes(line, _DASH, _GAP) if width < 0 else [line], abs(width), colour)
            left = _LEGEND_LEFT + 34
            for text in lines_of(words, WIDTH - SIDE - left, NUMBER):
                self._text(canvas, left, y, text, NUMBER, self._ink)
                y += _STEP
            y += 7
        y += 16
        self._text(
            canvas, _LEGEND_LEFT, y, "Right of 100 by the attack, if you are", LEGEND, self._ink, weight=SEMIBOLD
        )
        for attempt in self.attack.attempts:
            y += 22
            self._text(canvas, _LEGEND_LEFT, y, f"{attempt.target}, {attempt.where}", NUMBER, self._ink)
            self._text(canvas, WIDTH - SIDE, y, of_100(attempt.accuracy), NUMBER, self._ink, align=1.0, weight=SEMIBOLD)
        if not self.attack.fails:
            y += 12
            for text in lines_of(f"{verdict(self.attack)} {BY_CHANCE}", WIDTH - SIDE - _LEGEND_LEFT, NUMBER):
                y += _STEP
                self._text(canvas, _LEGEND_LEFT, y, text, NUMBER, self._ink)

    def _draw_badge(self, canvas: Canvas) -> None:
        words = badge(self.attack)
        top = self._notes_top + _NOTE_STEP * len(self._notes)
        ground, letters = (WARNING, "#FFFFFF") if self.attack.fails else (self.theme.badge, self.theme.badge_ink)
        right = SIDE + text_width(words, NUMBER, SEMIBOLD) + 24
        self._fill(canvas, SIDE, top, right, top + 25, rgb_of(ground), 12.5)
        self._text(canvas, SIDE + 12, top + 16.8, words, NUMBER, rgb_of(letters), weight=SEMIBOLD)

    def _at(self, false_rate: float, true_rate: float) -> tuple[float, float]:
        """Where two rates lie in the panel, in pixels of the page."""
        return _PANEL_LEFT + _PANEL * false_rate, self._rates_top + _PANEL_DOWN + _PANEL * (1.0 - true_rate)

    # In pixels of the picture

    def _text(
        self, canvas: Canvas, x: float, y: float, text: str, size: float, colour: Rgb, *, align: float = 0.0,
        weight: int = 400,
    ) -> None:  # fmt: skip
        canvas.text(SCALE * x, SCALE * y, text, size=SCALE * size, colour=colour, align=align, weight=weight)

    def _fill(
        self, canvas: Canvas, left: float, top: float, right: float, bottom: float, colour: Rgb, radius: float = 0.0
    ) -> None:
        canvas.fill(Box(*(round(SCALE * at) for at in (left, top, right, bottom))), colour, SCALE * radius)

    def _lines(self, canvas: Canvas, lines: list[Floats], width: float, colour: Rgb, opacity: float = 1.0) -> None:
        whole = Box(0, 0, SCALE * WIDTH, round(SCALE * self._height))
        canvas.lines([SCALE * line for line in lines], whole, width=SCALE * width, colour=colour, opacity=opacity)
