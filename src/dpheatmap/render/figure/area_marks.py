"""Marks of areas on a map: their borders, and the ranks of the first ones."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpheatmap.place.domain import Floats
from dpheatmap.render.content.area_picture import AreaContent
from dpheatmap.render.figure.canvas import Area, Box, Canvas
from dpheatmap.render.figure.lettering import SEMIBOLD
from dpheatmap.render.figure.page_layout import SCALE
from dpheatmap.render.palette import Theme, rgb_of

_RANKED = 10
_SIZE = 13.0


@dataclass(frozen=True, eq=False)
class AreaMarks:
    """Borders in the colour of the page around painted areas, faint ones around others; ranks in the middle."""

    content: AreaContent
    theme: Theme

    def draw_under_names(self, canvas: Canvas, box: Box) -> None:
        """Draw the borders, those of painted areas last."""
        placed = [[self._pixels(ring, box) for ring in area.rings] for area in self.content.areas]
        bare = [ring for rings, band in zip(placed, self.content.bands, strict=True) for ring in rings if band < 0]
        painted = [ring for rings, band in zip(placed, self.content.bands, strict=True) for ring in rings if band >= 0]
        canvas.lines(bare, box, width=1.0 * SCALE, colour=rgb_of(self.theme.faint))
        canvas.lines(painted, box, width=1.2 * SCALE, colour=rgb_of(self.theme.page))

    def draw_over_names(self, canvas: Canvas, box: Box) -> None:
        """Draw the ranks of the first areas that are painted."""
        ink, halo = rgb_of(self.theme.ink), rgb_of(self.theme.page)
        for rank, (x, y) in self._ranks(box):
            canvas.text(
                x, y + SCALE * 4, str(rank), size=SCALE * _SIZE, colour=ink, align=0.5, weight=SEMIBOLD, halo=halo
            )

    def areas(self, box: Box) -> list[Area]:
        """The rectangles around the ranks."""
        half = SCALE * 9.0
        return [(x - half, y - half, x + half, y + half) for _, (x, y) in self._ranks(box)]

    def _ranks(self, box: Box) -> list[tuple[int, tuple[float, float]]]:
        """Rank and place of the first areas that are painted and wide enough for a number."""
        found = []
        for k, area in enumerate(self.content.areas[:_RANKED]):
            outer = max(area.rings, key=lambda ring: abs(_size(ring)), default=None)
            if self.content.bands[k] < 0 or outer is None:
                continue
            ring = self._pixels(outer, box)
            if float(np.ptp(ring[:, 0])) < SCALE * 14 or float(np.ptp(ring[:, 1])) < SCALE * 14:
                continue
            x, y = _inner_point(ring)
            if box.left < x < box.right and box.top < y < box.bottom:
                found.append((k + 1, (x, y)))
        return found

    def _pixels(self, ring: Floats, box: Box) -> Floats:
        """A ring in pixels of the picture."""
        domain = self.content.picture.domain
        finest, whole = domain.cells(domain.depth), 2.0**domain.depth
        corner, size = np.array([finest.x0, finest.y0]), np.array([finest.columns, finest.rows])
        placed: Floats = (ring * whole - corner) / size * [box.width, box.height] + [box.left, box.top]
        return placed


def _size(ring: Floats) -> float:
    return float(np.sum((ring[:-1, 0] + ring[1:, 0]) * np.diff(ring[:, 1])))


def _inner_point(ring: Floats) -> tuple[float, float]:
    """A point well inside a ring: the middle of the longest stretch inside, on one of a few lines across."""
    low, high = float(ring[:, 1].min()), float(ring[:, 1].max())
    best, at = -1.0, (float(ring[:, 0].mean()), float(ring[:, 1].mean()))
    for part in (0.5, 0.42, 0.58, 0.33, 0.67):
        y = low + part * (high - low)
        y0, y1 = ring[:-1, 1], ring[1:, 1]
        crossed = (y0 <= y) != (y1 <= y)
        with np.errstate(divide="ignore", invalid="ignore"):
            x = ring[:-1, 0] + (y - y0) / (y1 - y0) * (ring[1:, 0] - ring[:-1, 0])
        x = np.sort(x[crossed])
        for left, right in zip(x[::2].tolist(), x[1::2].tolist(), strict=False):
            if right - left > best + 1e-9:
                best, at = right - left, ((left + right) / 2, y)
    return at
