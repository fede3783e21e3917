"""Drawing of somebody's own map: fills and roads under the heat, other lines and names over it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from dpheatmap.errors import ParameterError
from dpheatmap.place.domain import Domain, Floats
from dpheatmap.render.context import ContextLayer, read_context
from dpheatmap.render.figure.canvas import Box, Canvas, PillowCanvas
from dpheatmap.render.figure.lettering import SEMIBOLD, text_width
from dpheatmap.render.figure.painting import Pixels, Singles, mask_of, mix
from dpheatmap.render.palette import Theme, rgb_of

ToPixels = Callable[[Floats], Floats]

_ROADS = {1: 3.0, 2: 2.0, 3: 1.0}  # widths by rank, in pixels of the page
_CASING = 1.4  # by how much a road's rim is wider
_LINE, _NAME = 1.1, 11.5  # the width of lines, and the size of names


@dataclass(frozen=True, eq=False)
class ContextDrawing:
    """The layers of somebody's own map, and how degrees become pixels of a map."""

    layers: Sequence[ContextLayer]
    to_pixels: ToPixels
    scale: float

    def under_heat(self, pixels: Pixels, theme: Theme) -> Pixels:
        """Draw land, parks and water as fills, and roads as lines with a rim."""
        rows, columns = pixels.shape[:2]
        for kind, colour in (("land", theme.land), ("park", theme.park), ("water", theme.water)):
            polygons = self._polygons(kind)
            if polygons:
                pixels = mix(pixels, rgb_of(colour), mask_of(polygons, columns, rows))
        roads = [(rank, [*self._lines("road", rank)]) for rank in sorted(_ROADS, reverse=True)]
        if not any(lines for _, lines in roads):
            return pixels
        whole = Box(0, 0, columns, rows)
        canvas = PillowCanvas(columns, rows, (0, 0, 0))
        canvas.image(pixels, whole)
        for wider, colour in ((_CASING, theme.casing), (0.0, theme.road)):
            for rank, lines in roads:
                canvas.lines(lines, whole, width=self.scale * (_ROADS[rank] + wider), colour=rgb_of(colour))
        return np.asarray(canvas.picture)

    def water(self, columns: int, rows: int) -> Singles | None:
        """The part of each pixel that is water; None if the files have none."""
        polygons = self._polygons("water")
        return mask_of(polygons, columns, rows) if polygons else None

    def over_heat(self, canvas: Canvas, box: Box, theme: Theme) -> None:
        """Draw borders, rails and other lines, and names in capitals."""
        corner = np.array([box.left, box.top])
        for kind in ("border", "rail", "line"):
            lines = [line + corner for line in self._lines(kind)]
            canvas.lines(lines, box, width=self.scale * _LINE, colour=rgb_of(theme.border))
        size = self.scale * _NAME
        for text, at in self._names():
            half = text_width(text.upper(), size, SEMIBOLD) / 2
            x, y = at + corner
            if box.left + half < x < box.right - half and box.top + size < y < box.bottom - size:
                canvas.text(
                    x, y + 0.35 * size, text.upper(), size=size, colour=rgb_of(theme.names), align=0.5,
                    weight=SEMIBOLD, halo=rgb_of(theme.page),
                )  # fmt: skip

    def _polygons(self, kind: str) -> list[list[Floats]]:
        return [
            [self.to_pixels(ring) for ring in polygon]
            for layer in self.layers
            if layer.kind == kind
            for feature in layer.features
            for polygon in feature.polygons
        ]

    def _lines(self, kind: str, rank: int | None = None) -> Iterator[Floats]:
        for layer in self.layers:
            for feature in layer.features if layer.kind == kind else ():
                if rank is None or min(max(feature.rank, 1), 3) == rank:
                    yield from (self.to_pixels(line) for line in (*feature.lines, *feature.outlines(layer.window)))

    def _names(self) -> Iterator[tuple[str, Floats]]:
        for layer in self.layers:
            for feature in layer.features if layer.kind in ("border", "point") else ():
                if feature.name:
                    yield feature.name, self.to_pixels(np.array([feature.middle()]))[0]


def layers_of(domain: Domain, specs: Sequence[str], pixels: int) -> list[ContextLayer]:
    """Read somebody's own files for a map of a domain; refuses them where there is no ground."""
    if specs and not domain.geographic:
        raise ParameterError(
            f"Context lies on the ground, and the place of this map is {domain.place.words}. Leave it out."
        )
    return [layer for spec in specs for layer in read_context(spec, domain.bounds, pixels)]
