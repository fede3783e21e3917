"""A map on a page: its ground, the heat on it, lines, names, marks and the scale bar."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from dpheatmap.render.content.picture import Picture
from dpheatmap.render.figure.background import chalk, lines_over
from dpheatmap.render.figure.canvas import Area, Box, Canvas
from dpheatmap.render.figure.lettering import text_width
from dpheatmap.render.figure.map_ground import MapGround, weight_of
from dpheatmap.render.figure.page_layout import SCALE
from dpheatmap.render.figure.painting import VEIL, WATER_OVER_HEAT, Pixels, dashes, diagonals, mix, paint
from dpheatmap.render.figure.scale_bar import ScaleBar
from dpheatmap.render.inks import Inks, inks_of
from dpheatmap.render.palette import Theme, rgb_of

DASH, GAP = 2.5, 3.0
"""The dashes of the line around a place, in pixels of the page."""


class Marks(Protocol):
    """Marks drawn over a map's colours."""

    def areas(self, box: Box) -> list[Area]:
        """The areas that names avoid, in pixels of the picture."""

    def draw_under_names(self, canvas: Canvas, box: Box) -> None:
        """Draw what lies under the names."""

    def draw_over_names(self, canvas: Canvas, box: Box) -> None:
        """Draw what lies over everything on the map."""


@dataclass(frozen=True, eq=False)
class MapDrawing:
    """A picture on its ground, in a box of the page, which is as large as the ground, with marks over it."""

    ground: MapGround
    picture: Picture
    box: Box
    marks: Marks | None = None

    @property
    def theme(self) -> Theme:
        """The colours."""
        return self.ground.theme

    @property
    def inks(self) -> Inks:
        """The colours of the bands."""
        picture, look = self.picture, self.ground.look
        return inks_of(self.theme, len(picture.edges), signed=picture.signed, over_a_picture=look.over_a_picture)

    def pixels(self) -> Pixels:
        """The colours of the map: paper or picture, heat, hatching, and water over the heat."""
        below, look, theme = self.ground, self.ground.look, self.theme
        pixels, size = below.paper, (below.width, below.height)
        if not self.picture.painted:
            return self._veil(diagonals(pixels, rgb_of(theme.coast), SCALE, below.inside))
        heat = paint(
            self.picture, theme, *size, over_a_picture=look.over_a_picture, style=look.style, scale=SCALE
        )  # fmt: skip
        pixels = heat.inside(below.inside).over(pixels, rgb_of(self.inks.paper))
        if look.background is not None:
            pixels = mix(pixels, rgb_of(chalk(theme)), lines_over(self.picture.domain, look.background, size))
        if below.water is not None:
            pixels = mix(pixels, rgb_of(theme.water), WATER_OVER_HEAT * below.water)
        return self._veil(pixels)

    def _veil(self, pixels: Pixels) -> Pixels:
        """Lay a veil over what lies outside the boundary."""
        inside = self.ground.inside
        return pixels if inside is None else mix(pixels, rgb_of(self.theme.page), VEIL * (1.0 - inside))

    def draw_over(self, canvas: Canvas) -> None:
        """Draw what lies over the colours: lines, names, marks and the scale bar."""
        if self.marks:
            self.marks.draw_under_names(canvas, self.box)
        self._draw_ground(canvas)
        if self.marks:
            self.marks.draw_over_names(canvas, self.box)
        if self.ground.scale_bar is not None:
            self._draw_scale_bar(canvas, self.ground.scale_bar)

    def _draw_ground(self, canvas: Canvas) -> None:
        """Draw coast, rivers, borders, the frame of a picture, and names."""
        box, theme, below = self.box, self.theme, self.ground
        corner, ground = np.array([box.left, box.top]), below.ground
        for lines, width, colour, opacity in (
            (ground.borders, 0.9, theme.border, 0.6),
            (ground.rivers, 1.1, theme.coast, 1.0),
            (ground.coast, 0.8, theme.coast, 1.0),
        ):
            canvas.lines(
                [line + corner for line in lines], box, width=SCALE * width, colour=rgb_of(colour), opacity=opacity
            )
        below.context.over_heat(canvas, box, theme)
        dots = [dot + corner for ring in below.outline for dot in dashes(ring, SCALE * DASH, SCALE * GAP)]
        canvas.lines(dots, box, width=SCALE * 1.1, colour=rgb_of(theme.border))
        if not self.picture.domain.geographic:
            right, bottom = box.right - 1, box.bottom - 1
            corners = ((box.left, box.top), (right, box.top), (right, bottom), (box.left, bottom), (box.left, box.top))
            canvas.lines([np.array(corners, np.float64)], box, width=SCALE, colour=rgb_of(theme.faint))
        for name in ground.names:
            canvas.text(
                box.left + SCALE * name.x, box.top + SCALE * name.baseline, name.text, size=SCALE * name.size,
                colour=rgb_of(theme.names), align=0.5, weight=weight_of(name.size), halo=rgb_of(theme.page),
            )  # fmt: skip

    def _draw_scale_bar(self, canvas: Canvas, bar: ScaleBar) -> None:
        """Draw a length on the ground: its label above a line with raised ends, with a halo."""
        box, theme = self.box, self.theme
        assert self.ground.room_of_bar is not None
        left, _, _, bottom = self.ground.room_of_bar
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
