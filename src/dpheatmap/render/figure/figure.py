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
from dpheatmap.render.basemap.ground import NO_GROUND, Ground, ground_of, pixels_of
from dpheatmap.render.content.look import Look
from dpheatmap.render.content.picture import Picture
from dpheatmap.render.content.words import Words, keep_units
from dpheatmap.render.figure.background import background_of, chalk, lines_over
from dpheatmap.render.figure.canvas import Area, Box, Canvas
from dpheatmap.render.figure.context_drawing import ContextDrawing, layers_of
from dpheatmap.render.figure.lettering import REGULAR, SEMIBOLD, text_width
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
from dpheatmap.render.figure.painting import (
    VEIL,
    WATER_OVER_HEAT,
    Pixels,
    Singles,
    dashes,
    diagonals,
    mask_of,
    mask_of_rings,
    mix,
    paint,
    stripes,
)
from dpheatmap.render.figure.scale_bar import ScaleBar, room_of_bar, scale_bar_of
from dpheatmap.render.inks import Inks, inks_of
from dpheatmap.render.palette import THEMES, WARNING, Rgb, Theme, rgb_of

C = TypeVar("C", bound=Canvas)

_BIG = 15.0  # from this size on, names are semi-bold
_DASH, _GAP = 2.5, 3.0  # of the line around a place, in pixels of the page
_SHIELD = np.array(
    [
        (6.5, 0.7), (12.0, 2.6), (12.0, 6.7), (11.2, 9.6), (9.3, 11.7), (6.5, 13.3),
        (3.7, 11.7), (1.8, 9.6), (1.0, 6.7), (1.0, 2.6), (6.5, 0.7),
    ]
)  # fmt: skip
_TICKED = np.array([(4.0, 6.8), (5.9, 8.7), (9.1, 5.1)])


class Marks(Protocol):
    """Marks drawn over a map's colours."""

    def areas(self, box: Box) -> list[Area]:
        """The areas that names avoid, in pixels of the picture."""

    def draw_under_names(self, canvas: Canvas, box: Box) -> None:
        """Draw what lies under the names."""

    def draw_over_names(self, canvas: Canvas, box: Box) -> None:
        """Draw what lies over everything on the map."""


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
    def scale_bar(self) -> ScaleBar | None:
        """A round length, in a corner of the map."""
        return scale_bar_of(self.picture.domain, self._without_credits.map.width, self.look.background)

    @cached_property
    def ground(self) -> Ground:
        """Land, lines and names in pixels of the map; nothing without a basemap."""
        if not self.look.basemap:
            return NO_GROUND
        box = self._without_credits.map
        taken = [(left - box.left, top - box.top, right - box.left, bottom - box.top)
                 for left, top, right, bottom in (self.marks.areas(box) if self.marks else [])]  # fmt: skip
        bar = self.scale_bar
        if bar is not None:
            taken.append(room_of_bar(bar, box.width, box.height, self._inside))
        if self.picture.words.nothing is not None:
            card = self._without_credits.card
            taken.append((card.left - box.left, card.top - box.top, card.right - box.left, card.bottom - box.top))

        def width_of(name: str, size: float) -> float:
            return text_width(name, size, SEMIBOLD if size >= _BIG else REGULAR)

        return ground_of(self.picture.domain, box.width, box.height, width_of, scale=SCALE, taken=taken)

    @cached_property
    def outline(self) -> list[Floats]:
        """The boundary of the place, in pixels of the map; nothing around a rectangle."""
        domain, box = self.picture.domain, self._without_credits.map
        finest, whole = domain.cells(domain.depth), 2.0**domain.depth
        corner, size = np.array([finest.x0, finest.y0]), np.array([finest.columns, finest.rows])
        scale = np.array([box.width, box.height]) / size
        return [(ring * whole - corner) * scale for ring in domain.place.outline]

    @cached_property
    def _inside(self) -> Singles | None:
        """The part of each pixel of the map inside the boundary."""
        box = self._without_credits.map
        return mask_of_rings(self.outline, box.width, box.height) if self.outline else None

    @cached_property
    def context(self) -> ContextDrawing:
        """The maker's own map."""
        domain, box = self.picture.domain, self._without_credits.map
        layers = layers_of(domain, self.look.context, box.width)
        return ContextDrawing(layers, lambda line: pixels_of(domain, line, box.width, box.height), SCALE)

    @cached_property
    def layout(self) -> PageLayout:
        """The layout of the picture."""
        whose = [*self.ground.credits, *([self.look.context_credit] if self.look.context_credit else [])]
        return replace(self._without_credits, credits=f"Map: {', '.join(whose)}." if whose else "")

    @cached_property
    def _without_credits(self) -> PageLayout:
        """The layout as far as the map, which does not depend on credits."""
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
        return inks_of(
            self.theme,
            len(self.picture.edges),
            signed=self.picture.signed,
            over_a_picture=self.look.over_a_picture,
        )

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
        canvas.image(self.map_pixels(), layout.map)
        if self.marks:
            self.marks.draw_under_names(canvas, layout.map)
        self._draw_ground(canvas)
        if self.marks:
            self.marks.draw_over_names(canvas, layout.map)
        if self.scale_bar is not None:
            self._draw_scale_bar(canvas, self.scale_bar)
        if self.picture.words.nothing is not None:
            self._draw_card(canvas)
        if self.chart is not None:
            self.chart.draw(canvas, layout.map.bottom / SCALE, self.theme, self._inks)
        self._draw_lines(canvas, layout.small_print)
        self._draw_badge(canvas)
        return canvas

    def map_pixels(self) -> Pixels:
        """The colours of the map: paper or picture, heat, hatching, and water over the heat."""
        box, theme = self.layout.map, self.theme
        columns, rows = box.width, box.height
        land = None if self.ground.land is None else mask_of(self.ground.land, columns, rows)
        if self.look.background is not None:
            pixels = background_of(self.picture.domain, self.look.background, (columns, rows), theme)
        else:
            pixels = np.empty((rows, columns, 3), np.uint8)
            pixels[:] = rgb_of(theme.land if land is None else theme.water)
            if land is not None:
                pixels = mix(pixels, rgb_of(theme.land), land)
        pixels = self.context.under_heat(pixels, theme)
        if self.picture.words.nothing is not None:
            return self._veil(diagonals(pixels, rgb_of(theme.coast), SCALE, self._inside))
        heat = paint(
            self.picture, theme, columns, rows, over_a_picture=self.look.over_a_picture, style=self.look.style,
            scale=SCALE,
        )  # fmt: skip
        pixels = heat.inside(self._inside).over(pixels, rgb_of(self._inks.paper))
        if self.look.background is not None:
            lines = lines_over(self.picture.domain, self.look.background, (columns, rows))
            pixels = mix(pixels, rgb_of(chalk(theme)), lines)
        own = self.context.water(columns, rows)
        water = np.zeros((1, 1), np.float32) if land is None else 1.0 - land
        water = water if own is None else np.maximum(water, own)
        if land is not None or own is not None:
            pixels = mix(pixels, rgb_of(theme.water), WATER_OVER_HEAT * water)
        return self._veil(pixels)

    def _veil(self, pixels: Pixels) -> Pixels:
        """Lay a veil over what lies outside the boundary."""
        if self._inside is None:
            return pixels
        return mix(pixels, rgb_of(self.theme.page), VEIL * (1.0 - self._inside))

    # Parts

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

    def _draw_ground(self, canvas: Canvas) -> None:
        """Draw coast, rivers, borders, the frame of a picture, and names."""
        box, theme, corner = self.layout.map, self.theme, np.array([self.layout.map.left, self.layout.map.top])
        for lines, width, colour, opacity in (
            (self.ground.borders, 0.9, theme.border, 0.6),
            (self.ground.rivers, 1.1, theme.coast, 1.0),
            (self.ground.coast, 0.8, theme.coast, 1.0),
        ):
            canvas.lines(
                [line + corner for line in lines], box, width=SCALE * width, colour=rgb_of(colour), opacity=opacity
            )
        self.context.over_heat(canvas, box, theme)
        dots = [dot + corner for ring in self.outline for dot in dashes(ring, SCALE * _DASH, SCALE * _GAP)]
        canvas.lines(dots, box, width=SCALE * 1.1, colour=rgb_of(theme.border))
        if not self.picture.domain.geographic:
            right, bottom = box.right - 1, box.bottom - 1
            corners = ((box.left, box.top), (right, box.top), (right, bottom), (box.left, bottom), (box.left, box.top))
            canvas.lines([np.array(corners, np.float64)], box, width=SCALE, colour=rgb_of(theme.faint))
        for name in self.ground.names:
            canvas.text(
                box.left + SCALE * name.x, box.top + SCALE * name.baseline, name.text, size=SCALE * name.size,
                colour=rgb_of(theme.names), align=0.5, weight=SEMIBOLD if name.size >= _BIG else REGULAR,
                halo=rgb_of(theme.page),
            )  # fmt: skip

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
            dots = dashes(SCALE * middle, SCALE * _DASH, SCALE * _GAP)
            canvas.lines(dots, whole, width=SCALE * 1.1, colour=rgb_of(self.theme.border))
        elif kind:
            box = _box(left, top, left + width, top + height)
            if kind == "unknown":
                land = rgb_of(self.theme.land)
                canvas.image(diagonals(_plain(box, land), rgb_of(self.theme.soft), 0.55 * SCALE), box)
                return
            colour = self._inks.swatches[:2][-1]
            canvas.image(_hatch(box, rgb_of(colour), rgb_of(self._inks.paper)), box)

    def _draw_scale_bar(self, canvas: Canvas, bar: ScaleBar) -> None:
        """Draw a length on the ground: its label above a line with raised ends, with a halo."""
        box, theme = self.layout.map, self.theme
        left, _, _, bottom = room_of_bar(bar, box.width, box.height, self._inside)
        x, y = (box.left + left) / SCALE + 16, (box.top + bottom) / SCALE - 16
        shape = SCALE * np.array([(x, y - 5), (x, y), (x + bar.length, y), (x + bar.length, y - 5)])
        canvas.lines([shape], box, width=SCALE * 4.0, colour=rgb_of(theme.page), opacity=0.8)
        canvas.lines([shape], box, width=SCALE * 1.3, colour=rgb_of(theme.ink))
        # A label that is longer than its line does not leave the map.
        middle = max(x + bar.length / 2, x - 8 + text_width(bar.label, 11) / 2)
        canvas.text(
            SCALE * middle, SCALE * (y - 7), bar.label, size=SCALE * 11, colour=rgb_of(theme.ink),
            align=0.5, halo=rgb_of(theme.page),
        )  # fmt: skip

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
