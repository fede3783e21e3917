"""What lies under the heat of a map and around it: land, water, lines, names, a boundary, and a scale bar.

It does not depend on the heat, so all maps of a series that are equally large share one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from dpheatmap.place.domain import Domain, Floats
from dpheatmap.render.basemap.ground import NO_GROUND, Ground, ground_of, pixels_of
from dpheatmap.render.content.look import Look
from dpheatmap.render.figure.background import background_of
from dpheatmap.render.figure.canvas import Area
from dpheatmap.render.figure.context_drawing import ContextDrawing, layers_of
from dpheatmap.render.figure.lettering import REGULAR, SEMIBOLD, text_width
from dpheatmap.render.figure.page_layout import SCALE
from dpheatmap.render.figure.painting import Pixels, Singles, mask_of, mask_of_rings, mix
from dpheatmap.render.figure.scale_bar import ScaleBar, room_of_bar, scale_bar_of
from dpheatmap.render.palette import THEMES, Theme, rgb_of

_BIG = 15.0  # from this size on, names are semi-bold


def weight_of(size: float) -> int:
    """The weight of a name's letters."""
    return SEMIBOLD if size >= _BIG else REGULAR


@dataclass(frozen=True, eq=False)
class MapGround:
    """The ground of maps of so many pixels; names avoid what is ``taken``, in pixels of the map.

    Without ``named``, it has neither names nor a scale bar.
    """

    domain: Domain
    look: Look
    width: int
    height: int
    taken: Sequence[Area] = ()
    named: bool = True

    @property
    def theme(self) -> Theme:
        """The colours."""
        return THEMES[self.look.colours or "light"]

    @cached_property
    def scale_bar(self) -> ScaleBar | None:
        """A round length, in a corner of the map."""
        return scale_bar_of(self.domain, self.width, self.look.background) if self.named else None

    @cached_property
    def room_of_bar(self) -> Area | None:
        """The room of the scale bar, in pixels of the map."""
        bar = self.scale_bar
        return None if bar is None else room_of_bar(bar, self.width, self.height, self.inside)

    @cached_property
    def ground(self) -> Ground:
        """Land, lines and names in pixels of the map; nothing without a basemap."""
        if not self.look.basemap:
            return NO_GROUND
        taken = [*self.taken, *([self.room_of_bar] if self.room_of_bar else [])]

        def width_of(name: str, size: float) -> float:
            return text_width(name, size, weight_of(size))

        found = ground_of(self.domain, self.width, self.height, width_of, scale=SCALE, taken=taken)
        return found if self.named else replace(found, names=[])

    @cached_property
    def outline(self) -> list[Floats]:
        """The boundary of the place, in pixels of the map; nothing around a rectangle."""
        finest, whole = self.domain.cells(self.domain.depth), 2.0**self.domain.depth
        corner, size = np.array([finest.x0, finest.y0]), np.array([finest.columns, finest.rows])
        scale = np.array([self.width, self.height]) / size
        return [(ring * whole - corner) * scale for ring in self.domain.place.outline]

    @cached_property
    def inside(self) -> Singles | None:
        """The part of each pixel of the map inside the boundary."""
        return mask_of_rings(self.outline, self.width, self.height) if self.outline else None

    @cached_property
    def context(self) -> ContextDrawing:
        """The maker's own map."""
        layers = layers_of(self.domain, self.look.context, self.width)
        return ContextDrawing(layers, lambda line: pixels_of(self.domain, line, self.width, self.height), SCALE)

    @cached_property
    def _land(self) -> Singles | None:
        """The part of each pixel that is land; None where the coast is not known."""
        land = self.ground.land
        return None if land is None else mask_of(land, self.width, self.height)

    @cached_property
    def paper(self) -> Pixels:
        """The colours under the heat: paper or picture, and the fills and roads of the maker's own map."""
        theme, land = self.theme, self._land
        if self.look.background is not None:
            pixels = background_of(self.domain, self.look.background, (self.width, self.height), theme)
        else:
            pixels = np.empty((self.height, self.width, 3), np.uint8)
            pixels[:] = rgb_of(theme.land if land is None else theme.water)
            if land is not None:
                pixels = mix(pixels, rgb_of(theme.land), land)
        return self.context.under_heat(pixels, theme)

    @cached_property
    def water(self) -> Singles | None:
        """The part of each pixel that is water, to be drawn again over the heat; None if no water is known."""
        own, land = self.context.water(self.width, self.height), self._land
        if land is None:
            return own
        water: Singles = 1.0 - land
        return water if own is None else np.maximum(water, own)
