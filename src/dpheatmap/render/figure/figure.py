"""The figure to publish: a map with its title, takeaway, legend, small print and privacy badge.

The same :class:`Figure` describes heatmaps, differences and places. It is drawn by one function on any canvas: pixels
in :mod:`.canvas`, lines and text in :mod:`.vector_canvas`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Protocol, TypeVar

import numpy as np

from dpheatmap._util.number_words import MINUS, plain
from dpheatmap.place.domain import Floats
from dpheatmap.render.basemap.ground import Ground
from dpheatmap.render.content.look import Look
from dpheatmap.render.content.picture import Picture
from dpheatmap.render.content.words import Words, keep_units
from dpheatmap.render.figure.canvas import Area, Box, Canvas
from dpheatmap.render.figure.lettering import SEMIBOLD, text_width
from dpheatmap.render.figure.map_ground import MapGround
from dpheatmap.render.figure.map_on_page import DASH, GAP, MapDrawing, Marks
from dpheatmap.render.figure.page_layout import (
    BAR_HEIGHT,
    BAR_WIDTH,
    NUMBER,
    SCALE,
    SIDE,
    SWATCH,
    TICK,
    Line,
    PageLayout,
)
from dpheatmap.render.figure.painting import Pixels, dashes, diagonals, mix, stripes
from dpheatmap.render.figure.scale_bar import ScaleBar
from dpheatmap.render.inks import Inks
from dpheatmap.render.palette import THEMES, WARNING, Rgb, Theme, rgb_of

C = TypeVar("C", bound=Canvas)

_SHIELD = np.array(
    [
        (6.5, 0.7), (12.0, 2.6), (12.0, 6.7), (11.2, 9.6), (9.3, 11.7), (6.5, 13.3),
        (3.7, 11.7), (1.8, 9.6), (1.0, 6.7), (1.0, 2.6), (6.5, 0.7),
    ]
)  # fmt: skip
_TICKED = np.array([(4.0, 6.8), (5.9, 8.7), (9.1, 5.1)])


class Chart(Protocol):
    """What stands below a map."""

    @property
    def height(self) -> float:
        """Its height, in pixels of the page."""

    def draw(self, canvas: Canvas, top: float, theme: Theme, inks: Inks) -> None:
        """Draw it across the page, from so many pixels of the page below its top."""


@dataclass(frozen=True, eq=False)
class Figure:
    """The content of a picture, its look, marks over it and a chart below; the rest follows, including the layout."""

    picture: Picture
    look: Look
    marks: Marks | None = None
    chart: Chart | None = None

    @property
    def theme(self) -> Theme:
        """The colours."""
        return THEMES[self.look.colours or "light"]

    @property
    def frame(self) -> Box:
        """The map's edges, in pixels of the picture."""
        return self._without_credits.map

    @cached_property
    def map(self) -> MapDrawing:
        """The map with what lies over it."""
        box = self._without_credits.map
        ground = MapGround(self.picture.domain, self.look, box.width, box.height, self._areas_without_names(box))
        return MapDrawing(ground, self.picture, box, self.marks)

    def _areas_without_names(self, box: Box) -> list[Area]:
        """The areas that names avoid, in pixels of the map."""
        found = list(self.marks.areas(box)) if self.marks else []
        if self.picture.words.nothing is not None:
            found.append(self._without_credits.card)
        return [(left - box.left, top - box.top, right - box.left, bottom - box.top)
                for left, top, right, bottom in found]  # fmt: skip

    @property
    def scale_bar(self) -> ScaleBar | None:
        """A round length, in a corner of the map."""
        return self.map.ground.scale_bar

    @property
    def ground(self) -> Ground:
        """Land, lines and names in pixels of the map; nothing without a basemap."""
        return self.map.ground.ground

    @property
    def outline(self) -> list[Floats]:
        """The boundary of the place, in pixels of the map; nothing around a rectangle."""
        return self.map.ground.outline

    @cached_property
    def layout(self) -> PageLayout:
        """The layout of the picture."""
        whose = [*self.ground.credits, *([self.look.context_credit] if self.look.context_credit else [])]
        return replace(self._without_credits, credits=f"Map: {', '.join(whose)}." if whose else "")

    @cached_property
    def _without_credits(self) -> PageLayout:
        """The layout as far as the map, which does not depend on credits."""
        return self._new_layout()

    def _new_layout(self) -> PageLayout:
        outlined, chart = bool(self.picture.domain.place.outline), self.chart.height if self.chart else 0.0
        return PageLayout(self._words, self._shape, outlined=outlined, chart=chart)

    @cached_property
    def _words(self) -> Words:
        return keep_units(self.picture.words)

    @property
    def _shape(self) -> tuple[int, int]:
        finest = self.picture.domain.cells(self.picture.domain.depth)
        return finest.rows, finest.columns

    @property
    def _inks(self) -> Inks:
        return self.map.inks

    @property
    def few_colours(self) -> bool:
        """Whether the picture has flat colours only."""
        return not self.look.over_a_picture and self.look.style != "smooth"

    def draw(self, new: Callable[[int, int, Rgb], C]) -> C:
        """Draw the figure on a new canvas, made from its width, height and colour."""
        layout = self.layout
        canvas = new(layout.width, layout.height, rgb_of(self.theme.page))
        if layout.warning:
            self._draw_warning(canvas)
        self._draw_lines(canvas, [*layout.head, *layout.legend_titles, *layout.below_bar])
        self._draw_legend(canvas)
        self._draw_maps(canvas)
        if self.chart is not None:
            self.chart.draw(canvas, layout.map.bottom / SCALE, self.theme, self._inks)
        self._draw_lines(canvas, layout.small_print)
        self._draw_badge(canvas)
        return canvas

    def map_pixels(self) -> Pixels:
        """The colours of the map: paper or picture, heat, hatching, and water over the heat."""
        return self.map.pixels()

    # Parts

    def _draw_maps(self, canvas: Canvas) -> None:
        """Draw the map, and the card across it if it shows nothing."""
        canvas.image(self.map_pixels(), self.layout.map)
        self.map.draw_over(canvas)
        if self.picture.words.nothing is not None:
            self._draw_card(canvas)

    def _draw_lines(self, canvas: Canvas, lines: list[Line]) -> None:
        for line in lines:
            colour = rgb_of(self.theme.soft if line.soft else self.theme.ink)
            canvas.text(
                SCALE * line.x, SCALE * line.y, line.text, size=SCALE * line.size, colour=colour, weight=line.weight
            )

    def _draw_warning(self, canvas: Canvas) -> None:
        canvas.fill(Box(0, 0, self.layout.width, SCALE * self.layout.warning), rgb_of(WARNING))
        text = " · ".join(self.picture.words.warnings)
        canvas.text(SCALE * SIDE, SCALE * 22, text, size=SCALE * 14, colour=(255, 255, 255), weight=SEMIBOLD)

    @cached_property
    def bar(self) -> list[tuple[float, float, str]]:
        """The boxes of the legend's bar: left and right in pixels of the page, and colour as seen on land."""
        inks, width, first = self._inks, BAR_WIDTH, self.layout.first_box
        many = len(self.picture.edges)
        if self.picture.signed:
            side = (width - first) / 2 / many
            middle = SIDE + width / 2
            found = []
            for k, (more, fewer) in enumerate(zip(inks.swatches, inks.fewer_swatches, strict=True)):
                at = middle + first / 2 + k * side, middle - first / 2 - (k + 1) * side
                found.append((at[0], at[0] + side, more))
                found.append((at[1], at[1] + side, fewer))
            return found
        side = (width - first) / many
        left = SIDE + first
        return [(left + k * side, left + (k + 1) * side, colour) for k, colour in enumerate(inks.swatches)]

    @property
    def ticks(self) -> list[tuple[float, str]]:
        """Where each number stands below the bar, in pixels of the page; one that would touch another is left out."""
        found: list[tuple[float, str]] = []
        end = -1.0
        for at, text in self._numbers:
            half = text_width(text, NUMBER) / 2
            found.append((at, text if at - half > end else ""))
            end = at + half + 3.0 if at - half > end else end
        return found

    @property
    def _numbers(self) -> list[tuple[float, str]]:
        edges, width, first = self.picture.edges, BAR_WIDTH, self.layout.first_box
        many = len(edges)
        if self.picture.signed:
            side, middle = (width - first) / 2 / many, SIDE + width / 2
            right = [(middle + first / 2 + k * side, f"+{plain(edge)}") for k, edge in enumerate(edges)]
            left = [(middle - first / 2 - k * side, f"{MINUS}{plain(edge)}") for k, edge in enumerate(edges)]
            return left[::-1] + right
        side = (width - first) / many
        return [(SIDE + first + k * side, plain(edge)) for k, edge in enumerate(edges)]

    def _draw_legend(self, canvas: Canvas) -> None:
        layout, theme = self.layout, self.theme
        if layout.has_bar:
            top = layout.bar
            first = SIDE + (BAR_WIDTH - layout.first_box) / 2 if self.picture.signed else SIDE
            self._draw_frame(canvas, first, top, layout.first_box, BAR_HEIGHT)
            for tail, tip, y in layout.arrows:
                back = 4.5 if tail > tip else -4.5
                arrow = [(tail, y), (tip, y), (tip + back, y - 4), (tip, y), (tip + back, y + 4)]
                whole = Box(0, 0, layout.width, layout.height)
                canvas.lines([SCALE * np.array(arrow)], whole, width=1.5 * SCALE, colour=rgb_of(theme.ink))
            for left, right, colour in self.bar:
                canvas.fill(_box(left, top, right, top + BAR_HEIGHT), rgb_of(colour))
            baseline = top + BAR_HEIGHT + 17
            for at, text in self.ticks:
                canvas.fill(_box(at - 0.5, top, at + 0.5, top + BAR_HEIGHT + TICK), rgb_of(theme.ink))
                canvas.text(
                    SCALE * at, SCALE * baseline, text, size=SCALE * NUMBER, colour=rgb_of(theme.ink), align=0.5
                )
            under = self.picture.words.legend.under
            at, align = (SIDE + BAR_WIDTH / 2, 0.5) if self.picture.signed else (SIDE, 0.0)
            canvas.text(
                SCALE * at, SCALE * baseline, under, size=SCALE * NUMBER, colour=rgb_of(theme.soft), align=align
            )
        for note in layout.notes:
            self._draw_swatch(canvas, note.swatch, note.line.x - SWATCH[0] - 8, note.line.y - 10.5)
            self._draw_lines(canvas, [note.line])

    def _draw_frame(self, canvas: Canvas, left: float, top: float, width: float, height: float) -> None:
        """A box of bare paper with a faint frame."""
        canvas.fill(_box(left, top, left + width, top + height), rgb_of(self.theme.faint))
        canvas.fill(_box(left + 1, top + 1, left + width - 1, top + height - 1), rgb_of(self.theme.land))

    def _draw_swatch(self, canvas: Canvas, kind: str, left: float, top: float) -> None:
        width, height = SWATCH
        if kind == "bare":
            self._draw_frame(canvas, left, top, width, height)
        elif kind == "outside":
            middle = np.array([(left, top + height / 2), (left + width, top + height / 2)])
            whole = Box(0, 0, self.layout.width, self.layout.height)
            dots = dashes(SCALE * middle, SCALE * DASH, SCALE * GAP)
            canvas.lines(dots, whole, width=SCALE * 1.1, colour=rgb_of(self.theme.border))
        elif kind:
            box = _box(left, top, left + width, top + height)
            if kind == "unknown":
                land = rgb_of(self.theme.land)
                canvas.image(diagonals(_plain(box, land), rgb_of(self.theme.soft), 0.55 * SCALE), box)
                return
            colour = self._inks.swatches[:2][-1]
            canvas.image(_hatch(box, rgb_of(colour), rgb_of(self._inks.paper)), box)

    def _draw_card(self, canvas: Canvas) -> None:
        """Draw the words across a map that shows nothing."""
        box, theme = self.layout.card, self.theme
        canvas.fill(
            Box(box.left - SCALE, box.top - SCALE, box.right + SCALE, box.bottom + SCALE),
            rgb_of(theme.faint),
            SCALE * 11,
        )
        canvas.fill(box, rgb_of(theme.page), SCALE * 10)
        self._draw_lines(canvas, self.layout.card_lines)

    def _draw_badge(self, canvas: Canvas) -> None:
        """Draw the badge of the privacy promise, red if there is none."""
        box, theme, words = self.layout.badge, self.theme, self.picture.words
        ground, letters = (WARNING, "#FFFFFF") if words.warnings else (theme.badge, theme.badge_ink)
        canvas.fill(box, rgb_of(ground), box.height / 2)
        corner = np.array([box.left + SCALE * 9, box.top + SCALE * 5.5])
        for line, width in ((_SHIELD, 1.3), (_TICKED, 1.4)):
            canvas.lines([corner + SCALE * line], box, width=SCALE * width, colour=rgb_of(letters))
        canvas.text(
            box.left + SCALE * 26, box.top + SCALE * 16.8, words.badge, size=SCALE * NUMBER, colour=rgb_of(letters),
            weight=SEMIBOLD,
        )  # fmt: skip


def _box(left: float, top: float, right: float, bottom: float) -> Box:
    """A box in pixels of the picture from lengths of the page."""
    return Box(*(round(SCALE * at) for at in (left, top, right, bottom)))


def _plain(box: Box, colour: Rgb) -> Pixels:
    pixels = np.empty((box.height, box.width, 3), np.uint8)
    pixels[:] = colour
    return pixels


def _hatch(box: Box, colour: Rgb, ground: Rgb) -> Pixels:
    """A swatch of hatching."""
    return mix(_plain(box, colour), ground, stripes(box.width, box.height, SCALE))
