"""The ground of a map of a box: coast, borders and the largest towns, in pixels of the picture."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from dpheatmap.place.domain import Bounds, Domain, Floats
from dpheatmap.render import basemap
from dpheatmap.render.figure.canvas import Area, Box

_MOST_TOWNS = 10
_CANDIDATES = 300
_APART = 0.09  # of the map's longer side, from one town to the next, so that names are not all in the largest city
_SPOT = 2.0  # pixels: finer detail would only blur
_SMALLEST = 1.0  # degrees: on a smaller map, lines of 1:10 million would be visibly wrong


class Town(NamedTuple):
    """A dot and a name: the name's left end and baseline."""

    x: float
    y: float
    left: float
    baseline: float
    name: str


@dataclass(frozen=True, eq=False)
class Ground:
    """Lines and towns in pixels of the picture."""

    coast: list[Floats]
    borders: list[Floats]
    towns: list[Town]

    def __bool__(self) -> bool:
        return bool(self.coast or self.borders or self.towns)


def ground_of(
    domain: Domain, box: Box, size: float, width: Callable[[str], float], taken: Sequence[Area] = ()
) -> Ground:
    """Compute the ground to draw into a box; names have a letter size, and ``width`` gives their width in pixels.

    Names avoid the areas in ``taken``.
    """
    if not domain.geographic:
        return Ground([], [], [])
    near = domain.bounds
    fine = near.x1 - near.x0 >= _SMALLEST
    coast, borders = (
        [part for line in read(near) for part in _stretches(_thin(_pixels_of(domain, line, box)), box)] if fine else []
        for read in (basemap.coast, basemap.borders)
    )
    return Ground(coast, borders, _towns(domain, near, box, size, width, taken))


def _pixels_of(domain: Domain, points: Floats, box: Box) -> Floats:
    """Convert longitudes and latitudes to pixels."""
    finest, whole = domain.cells(domain.depth), 2.0**domain.depth
    rows = 0.5 - np.arcsinh(np.tan(np.radians(np.clip(points[:, 1], -89.0, 89.0)))) / (2.0 * np.pi)
    x = ((points[:, 0] / 360.0 + 0.5) * whole - finest.x0) / finest.columns
    y = (rows * whole - finest.y0) / finest.rows
    return np.column_stack([box.left + x * (box.right - box.left), box.top + y * (box.bottom - box.top)])


def _thin(line: Floats) -> Floats:
    """Drop vertices that fall on the same spot as the one before; a line that is one spot is dropped whole."""
    spots = np.floor(line / _SPOT)
    moved = np.append(True, (np.diff(spots, axis=0) != 0).any(axis=1))
    return line[moved] if moved.sum() > 2 else line[:1]


def _stretches(line: Floats, box: Box) -> Iterator[Floats]:
    """The parts of a line near a box; the rest need not be drawn."""
    low, high = np.minimum(line[:-1], line[1:]), np.maximum(line[:-1], line[1:])
    near = ((high >= [box.left, box.top]) & (low <= [box.right, box.bottom])).all(axis=1)
    # A line along the edge of the world is where the map was cut, not a coast.
    near &= ~((np.abs(line[:-1, 0] - box.left) < 0.5) & (np.abs(line[1:, 0] - box.left) < 0.5))
    near &= ~((np.abs(line[:-1, 0] - box.right) < 0.5) & (np.abs(line[1:, 0] - box.right) < 0.5))
    starts = np.flatnonzero(near & ~np.append(False, near[:-1]))
    stops = np.flatnonzero(near & ~np.append(near[1:], False)) + 1
    return (line[start : stop + 1] for start, stop in zip(starts, stops, strict=True))


def _towns(
    domain: Domain, near: Bounds, box: Box, size: float, width: Callable[[str], float], marks: Sequence[Area]
) -> list[Town]:
    """The largest towns far enough apart whose names fit beside their dots, inside the box and without overlaps."""
    found: list[Town] = []
    apart = _APART * max(box.right - box.left, box.bottom - box.top)
    taken = list(marks)
    for city in basemap.cities(near, _CANDIDATES):
        (x, y), *_ = _pixels_of(domain, np.array([[city.lon, city.lat]]), box).tolist()
        if any(math.hypot(x - town.x, y - town.y) < apart for town in found):
            continue
        gap, long = 0.5 * size, width(city.name)
        for left in (x + gap, x - gap - long):
            area = (min(left, x - gap), y - 0.8 * size, max(left + long, x + gap), y + 0.8 * size)
            free = all(area[2] <= t[0] or t[2] <= area[0] or area[3] <= t[1] or t[3] <= area[1] for t in taken)
            fits = area[0] > box.left and area[2] < box.right and area[1] > box.top and area[3] < box.bottom
            if free and fits:
                found.append(Town(x, y, left, y + 0.35 * size, city.name))
                taken.append(area)
                break
        if len(found) == _MOST_TOWNS:
            break
    return found
