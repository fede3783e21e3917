"""Marks of places on a map: borders of catchments, and rings around centres, numbered by their people."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dpheatmap.place.domain import Floats
from dpheatmap.render.figure.canvas import Area, Box, Canvas
from dpheatmap.render.figure.catchments import catchments
from dpheatmap.render.figure.lettering import SEMIBOLD
from dpheatmap.render.figure.outline import outlines
from dpheatmap.render.figure.page_layout import SCALE
from dpheatmap.render.palette import Rgb

if TYPE_CHECKING:
    from dpheatmap.estimate.places import Places

_MARK = 6.0 * SCALE  # radius of a centre's ring, if there is room
_NUMBER = 15.0 * SCALE  # size of a centre's number
_ROOM = 0.15  # of the distance to the next centre if all were evenly spread: the largest radius where they are many
_CROWDED = 1  # the most other rings or numbers that a number may touch; one that would touch more is left out
_BEYOND = 10  # pixels
_LIGHT: Rgb = (255, 255, 255)
_DARK: Rgb = (10, 10, 16)

Point = tuple[float, float]
Spot = tuple[float, float, float]


@dataclass(frozen=True, eq=False)
class PlaceMarks:
    """Borders, rings and numbers: dark with a light rim, so that they show on any background."""

    places: Places

    def draw_under_names(self, canvas: Canvas, box: Box) -> None:
        """Draw the borders of the catchments."""
        borders = _borders(self.places, box)
        for colour, wider in _strokes():
            canvas.lines(borders, box, width=1.1 * SCALE + wider, colour=colour, opacity=0.75)

    def draw_over_names(self, canvas: Canvas, box: Box) -> None:
        """Draw rings around the centres, and their numbers."""
        centres, radius, size = self._centres(box), self._radius(box), _NUMBER
        rings = [_ring(at, radius) for at in centres]
        for colour, wider in _strokes():
            width = (2.2 * SCALE + wider) * radius / _MARK
            canvas.lines(rings, box, width=max(1, round(width)), colour=colour, opacity=1.0)
        for number, spot in enumerate(number_spots(centres, box, radius, size), 1):
            if spot is not None:
                x, baseline, align = spot
                canvas.text(
                    x, baseline, str(number), size=size, colour=_DARK, align=align, weight=SEMIBOLD, halo=_LIGHT
                )

    def areas(self, box: Box) -> list[Area]:
        """The rectangles around rings and numbers."""
        centres, radius, size = self._centres(box), self._radius(box), _NUMBER
        found = [_around(at, radius) for at in centres]
        for number, spot in enumerate(number_spots(centres, box, radius, size), 1):
            if spot is not None:
                x, baseline, align = spot
                found.append(_number_area(x, baseline - 0.35 * size, align, number, size))
        return found

    def _centres(self, box: Box) -> list[Point]:
        """The centres in pixels of the picture."""
        domain = self.places.domain
        finest, whole = domain.cells(domain.depth), 2.0**domain.depth
        u, v = domain.to_root(self.places.centres[:, 0], self.places.centres[:, 1])
        x = box.left + (u * whole - finest.x0) / finest.columns * (box.right - box.left)
        y = box.top + (v * whole - finest.y0) / finest.rows * (box.bottom - box.top)
        return list(zip(x.tolist(), y.tolist(), strict=True))

    def _radius(self, box: Box) -> float:
        """The radius of a ring."""
        spread = math.sqrt((box.right - box.left) * (box.bottom - box.top) / len(self.places.centres))
        return min(_MARK, _ROOM * spread)


def _strokes() -> tuple[tuple[Rgb, float], ...]:
    """The colours of a line and its rim, the rim first, and the extra width of each."""
    return (_LIGHT, 2.0 * SCALE), (_DARK, 0.0)


def _borders(places: Places, box: Box) -> list[Floats]:
    """The outlines of all catchments, in pixels of the picture; those along its edge lie beyond it."""
    nearest = np.pad(catchments(places, box.right - box.left, box.bottom - box.top), _BEYOND, mode="edge")
    corner = np.array([box.left - _BEYOND, box.top - _BEYOND])
    rings = [ring for k in range(len(places.centres)) for ring in outlines(nearest == k)]
    return [corner + np.concatenate([ring, ring[:1]]) for ring in rings]


def number_spots(centres: list[Point], box: Box, radius: float, size: float) -> list[Spot | None]:
    """Place the numbers: x, baseline and alignment, beside, above or below their rings.

    A number takes the first of four positions that lies inside the picture and touches no other ring and no earlier
    number, or else the one that touches fewest; none, if that touches several. So busy places, which come first, keep
    theirs.
    """
    taken = [_around(at, radius) for at in centres]
    found: list[Spot | None] = []
    for number, (x, y) in enumerate(centres, 1):
        aside = radius + 0.25 * size
        above, below = y - aside - 0.4 * size, y + aside + 0.4 * size
        spots = [(x + aside, y, 0.0), (x - aside, y, 1.0), (x, above, 0.5), (x, below, 0.5)]
        areas = [_number_area(left, middle, align, number, size) for left, middle, align in spots]
        touched = [
            sum(_touch(area, other) for k, other in enumerate(taken) if k != number - 1)
            + 100 * _reaches_beyond(area, box)
            for area in areas
        ]
        best = touched.index(min(touched))
        if touched[best] > _CROWDED:
            found.append(None)
            continue
        taken.append(areas[best])
        found.append((spots[best][0], spots[best][1] + 0.35 * size, spots[best][2]))
    return found


def _number_area(x: float, middle: float, align: float, number: int, size: float) -> Area:
    """The area of a number with its vertical middle at ``middle``."""
    wide = 0.6 * size * len(str(number))
    return x - align * wide, middle - 0.4 * size, x + (1 - align) * wide, middle + 0.4 * size


def _around(at: Point, radius: float) -> Area:
    """The area of a ring."""
    return at[0] - radius, at[1] - radius, at[0] + radius, at[1] + radius


def _touch(one: Area, other: Area) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def _reaches_beyond(area: Area, box: Box) -> bool:
    return area[0] < box.left or area[1] < box.top or area[2] > box.right or area[3] > box.bottom


def _ring(at: Point, radius: float) -> Floats:
    turn = np.linspace(0.0, 2.0 * np.pi, 33)
    return np.stack([at[0] + radius * np.cos(turn), at[1] + radius * np.sin(turn)], axis=1)
