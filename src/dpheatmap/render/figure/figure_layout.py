"""The layout of a picture.

All lengths are in units of 1/1100 of the map's longer side. Every text is measured before it is placed, so that nothing
overlaps or is cut for any shape of the domain. The legend and the notes lie below the map, or beside it if the map is a
tall strip.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from dpheatmap.place import projection
from dpheatmap.place.domain import Domain
from dpheatmap.render.figure.axis import Tick, round_length, ticks_across, ticks_down
from dpheatmap.render.figure.canvas import Box
from dpheatmap.render.figure.lettering import text_width
from dpheatmap.render.figure.scale import Legend
from dpheatmap.render.wording import Words, length_in_words

LONGER_SIDE = 1100
"""The map's longer side in units; in pixels, the nearest whole multiple of the heatmap's."""

TITLE_SIZE, LABEL, NOTE = 40, 21, 19
"""Sizes of text, in units."""

TICK, BAR_WIDTH, BAR_HEIGHT = 8, 440, 20
"""Sizes of ticks and of the colour bar, in units."""

BADGE_AIR, BADGE_HEIGHT = 12, 34
"""The badge's padding to the left and right of its words, and its height, in units."""

_MARGIN = 44
_SCALE_BAR = 260  # its greatest length
_SHORTEST_SCALE_BAR = 90  # room beside the legend for which it is made shorter
_LINE = 30  # from one note to the next


class ScaleBar(NamedTuple):
    """A scale bar: left end and y, length, width with the label, and the label above it."""

    left: int
    y: int
    length: int
    width: int
    label: str


@dataclass(frozen=True)
class Layout:
    """The positions of all parts, in pixels of the picture; for a text, y is its baseline."""

    domain: Domain
    rows: int
    columns: int
    legend: Legend
    words: Words
    credit: tuple[str, ...] = ()

    def px(self, units: float) -> int:
        """Convert units to whole pixels, at least one."""
        return max(1, round(units * self.factor * max(self.rows, self.columns) / LONGER_SIDE))

    def room(self, label: str) -> float:
        """Pixels that the label under a tick takes, with padding."""
        return text_width(label, self.px(LABEL)) + self.px(LABEL)

    # The map

    @cached_property
    def factor(self) -> int:
        """The side of a pixel of the heatmap, in pixels of the picture."""
        return self.factor_of(self.rows, self.columns)

    @staticmethod
    def factor_of(rows: int, columns: int) -> int:
        """The factor of a heatmap with these rows and columns."""
        return max(1, round(LONGER_SIDE / max(rows, columns)))

    @cached_property
    def title(self) -> int:
        """Baseline of the title."""
        return self.px(_MARGIN + 0.75 * TITLE_SIZE)

    @cached_property
    def left(self) -> int:
        """Left edge of the map."""
        widest = max(text_width(tick.label, self.px(LABEL)) for tick in self.down)
        return self.px(_MARGIN + TICK + 6) + round(widest)

    @cached_property
    def top(self) -> int:
        """Upper edge of the map."""
        return self.title + self.px(28)

    @cached_property
    def right(self) -> int:
        """Right edge of the map."""
        return self.left + self.factor * self.columns

    @cached_property
    def bottom(self) -> int:
        """Lower edge of the map."""
        return self.top + self.factor * self.rows

    @property
    def map(self) -> Box:
        """The map's edges."""
        return Box(self.left, self.top, self.right, self.bottom)

    @cached_property
    def across(self) -> list[Tick]:
        """Ticks below the map, in pixels from its left edge."""
        return ticks_across(self.domain, self.factor * self.columns, self.room)

    @cached_property
    def down(self) -> list[Tick]:
        """Ticks left of the map, in pixels from its upper edge."""
        return ticks_down(self.domain, self.factor * self.rows, lambda label: self.px(1.2 * LABEL))

    @cached_property
    def _last_label(self) -> int:
        """The right end of the labels under the map."""
        return self.left + round(max(at + text_width(label, self.px(LABEL)) / 2 for at, label in self.across))

    # Legend and notes

    @cached_property
    def strip(self) -> bool:
        """Whether the map is so tall that legend and notes lie beside it."""
        return 2 * self.columns <= self.rows

    @cached_property
    def legend_at(self) -> tuple[int, int]:
        """Left end and baseline of the legend's name."""
        if self.strip:
            return max(self.right, self._last_label) + self.px(1.5 * _MARGIN), self.top + self.px(2.5 * LABEL)
        return self.left, self.bottom + self.px(92)

    @cached_property
    def bar(self) -> int:
        """Top of the colour bar."""
        return self.legend_at[1] + self.px(14)

    @cached_property
    def bar_ticks(self) -> list[Tick]:
        """Ticks along the colour bar."""
        return self.legend.ticks(self.px(BAR_WIDTH), self.room)

    @cached_property
    def _legend_end(self) -> int:
        last = self.bar_ticks[-1]
        widths = (self.px(BAR_WIDTH), text_width(self.legend.name, self.px(LABEL)), last.at + self.room(last.label) / 2)
        return self.legend_at[0] + round(max(widths))

    @cached_property
    def scale_bar(self) -> ScaleBar | None:
        """A round length on the ground in the middle row of the map; only boxes have one."""
        if not self.domain.geographic:
            return None
        finest, depth = self.domain.cells(self.domain.depth), self.domain.depth
        middle = (finest.y0 + finest.y1) / 2
        cells = self.domain.lengths_of_cells(depth, [finest.y0, middle, finest.y1])
        metres_a_pixel = float(cells[1]) * finest.columns / (self.factor * self.columns)
        room = self.right - self._legend_end - self.px(_MARGIN)
        fits = not self.strip and room >= self.px(_SHORTEST_SCALE_BAR)
        longest = min(self.px(_SCALE_BAR), room) if fits else self.px(_SCALE_BAR)
        metres = round_length(longest * metres_a_pixel)
        label = length_in_words(metres, self.domain)
        if cells.max() > 1.05 * cells.min():
            latitude = round(projection.latitude_of_row(middle / 2**depth))
            label += f" at {abs(latitude)}°" + "NS"[latitude < 0] * (latitude != 0)
        length, y = round(metres / metres_a_pixel), self.bar + self.px(BAR_HEIGHT)
        width = max(length, round(text_width(label, self.px(LABEL))))
        if self.strip:
            return ScaleBar(self.legend_at[0], y + self.px(120), length, width, label)
        return ScaleBar(max(self.right - width, self._legend_end + self.px(_MARGIN)), y, length, width, label)

    @cached_property
    def badge(self) -> Box:
        """The badge of the promise, above the small print."""
        left, top = self.legend_at[0], self._legend_bottom + self.px(54)
        width = round(text_width(self.words.badge, self.px(NOTE))) + 2 * self.px(BADGE_AIR)
        return Box(left, top, left + width, top + self.px(BADGE_HEIGHT))

    @cached_property
    def _legend_bottom(self) -> int:
        return self.scale_bar.y if self.scale_bar else self.bar + self.px(BAR_HEIGHT)

    @cached_property
    def notes(self) -> tuple[str, ...]:
        """The lines of the small print, warnings first and the basemap's credit last."""
        return (*self.words.warnings, *(self.words.facts if self.strip else self._lines_of_facts), *self.credit)

    @cached_property
    def _lines_of_facts(self) -> tuple[str, ...]:
        """Facts side by side, as many as fit under map and legend."""
        room = max(self.right, self._legend_end) - self.legend_at[0]
        lines = self._fill_lines(room)
        # The same number of lines, all about equally long.
        facts = self.words.facts
        joined = (" · ".join(facts[i:j]) for i in range(len(facts)) for j in range(i + 1, len(facts) + 1))
        widths = sorted(text_width(text, self.px(NOTE)) for text in joined)
        return next((even for w in widths if w <= room and len(even := self._fill_lines(w)) == len(lines)), lines)

    def _fill_lines(self, room: float) -> tuple[str, ...]:
        """Put facts side by side as long as a line fits the room."""
        lines = list(self.words.facts[:1])
        for fact in self.words.facts[1:]:
            longer = f"{lines[-1]} · {fact}"
            if text_width(longer, self.px(NOTE)) <= room:
                lines[-1] = longer
            else:
                lines.append(fact)
        return tuple(lines)

    def note(self, line: int) -> int:
        """Baseline of a line of the small print; its left end is the legend's."""
        return self.badge.bottom + self.px(36) + line * self.px(_LINE)

    # The picture

    @cached_property
    def width(self) -> int:
        """Width of the whole picture."""
        ends = [self.right, self._last_label, self._legend_end, self.badge.right]
        ends.append(self.left + round(text_width(self.words.title, self.px(TITLE_SIZE))))
        ends += [self.legend_at[0] + round(text_width(note, self.px(NOTE))) for note in self.notes]
        if self.scale_bar:
            ends.append(self.scale_bar.left + self.scale_bar.width)
        return max(ends) + self.px(_MARGIN)

    @cached_property
    def height(self) -> int:
        """Height of the whole picture."""
        below = max(self.note(len(self.notes) - 1), self.bottom + self.px(TICK + 24))
        return below + self.px(_MARGIN)
