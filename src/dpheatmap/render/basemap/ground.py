"""The ground of a map of a box: land, coast, borders, rivers and names, in pixels of the map."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dpheatmap.place.box import Box
from dpheatmap.place.domain import Domain, Floats
from dpheatmap.render import basemap
from dpheatmap.render.basemap.backdrop import backdrop

Area = tuple[float, float, float, float]

MOST_NAMES = 16
_CANDIDATES = 300
_SPOT = 0.5  # pixels: finer detail would only blur
_SIZES = ((1.4e6, 15.0), (2.0e5, 13.0), (0.0, 11.5))  # of letters, by population
_AIR = 5.0  # around names
_INSET = 4.0


class Name(NamedTuple):
    """A name on the map: its middle, baseline and size, in pixels of the page."""

    x: float
    baseline: float
    size: float
    text: str


@dataclass(frozen=True, eq=False)
class Ground:
    """Land and lines in pixels of the map, and names; ``land`` is None where the coast is not known."""

    land: list[list[Floats]] | None
    coast: list[Floats]
    rivers: list[Floats]
    borders: list[Floats]
    names: list[Name]
    credits: tuple[str, ...]


NO_GROUND = Ground(None, [], [], [], [], ())


def ground_of(
    domain: Domain,
    width: int,
    height: int,
    text_width: Callable[[str, float], float],
    *,
    scale: float = 1.0,
    taken: Sequence[Area] = (),
) -> Ground:
    """Compute the ground to draw into a map of so many pixels, ``scale`` for each of the page.

    ``text_width`` gives the width of a name by its size. Names avoid the areas in ``taken``, in pixels of the map.
    """
    if not domain.geographic:
        return NO_GROUND
    names = _names(domain, width, height, text_width, scale, taken)
    named = (basemap.NAMES_CREDIT,) if names else ()
    known = backdrop(domain.bounds, domain.bounds, width)
    if known is None:
        return Ground(None, [], [], [], names, named)
    land = [[_thin(pixels_of(domain, ring, width, height)) for ring in rings] for rings in known.land]
    coast, rivers, borders = (
        [part for line in lines for part in _stretches(_thin(pixels_of(domain, line, width, height)), width, height)]
        for lines in (known.coast, known.rivers, known.borders)
    )
    return Ground(land, coast, rivers, borders, names, (*known.credits, *named))


def pixels_of(domain: Domain, points: Floats, width: int, height: int) -> Floats:
    """Convert longitudes and latitudes to pixels."""
    finest, whole = domain.cells(domain.depth), 2.0**domain.depth
    rows = 0.5 - np.arcsinh(np.tan(np.radians(np.clip(points[:, 1], -89.0, 89.0)))) / (2.0 * np.pi)
    assert isinstance(domain.place, Box)
    x = (domain.place.columns_of(points[:, 0]) * whole - finest.x0) / finest.columns
    y = (rows * whole - finest.y0) / finest.rows
    return np.column_stack([x * width, y * height])


def _thin(line: Floats) -> Floats:
    """Drop vertices that fall on the same spot as the one before; the ends stay."""
    spots = np.floor(line / _SPOT)
    moved = np.append(True, (np.diff(spots, axis=0) != 0).any(axis=1))
    moved[-1] = True
    thinned: Floats = line[moved]
    return thinned


def _stretches(line: Floats, width: int, height: int) -> Iterator[Floats]:
    """The parts of a line near the map; the rest need not be drawn."""
    low, high = np.minimum(line[:-1], line[1:]), np.maximum(line[:-1], line[1:])
    near: NDArray[np.bool_] = np.all((high >= 0) & (low <= np.array([width, height])), axis=1)
    # A line along the edge of the world is where the map was cut, not a coast.
    for edge in (0, width):
        near &= ~((np.abs(line[:-1, 0] - edge) < 0.5) & (np.abs(line[1:, 0] - edge) < 0.5))
    starts = np.flatnonzero(near & ~np.append(False, near[:-1]))
    stops = np.flatnonzero(near & ~np.append(near[1:], False)) + 1
    return (line[start : stop + 1] for start, stop in zip(starts, stops, strict=True))


def _names(
    domain: Domain,
    width: int,
    height: int,
    text_width: Callable[[str, float], float],
    scale: float,
    taken: Sequence[Area],
) -> list[Name]:
    """The names of the largest towns, none over another, the edge or what is taken."""
    found: list[Name] = []
    areas = [tuple(side / scale for side in area) for area in taken]
    for city in basemap.cities(domain.bounds, _CANDIDATES):
        (x, y), *_ = (pixels_of(domain, np.array([[city.lon, city.lat]]), width, height) / scale).tolist()
        size = next(size for least, size in _SIZES if city.population >= least)
        half = text_width(city.name, size) / 2 + _AIR
        area = (x - half, y - 0.8 * size - _INSET, x + half, y + 0.5 * size + _INSET)
        inside = (
            area[0] >= _INSET and area[1] >= _INSET
            and area[2] <= width / scale - _INSET and area[3] <= height / scale - _INSET
        )  # fmt: skip
        if inside and not any(_touch(area, other) for other in areas):
            areas.append(area)
            found.append(Name(x, y + 0.35 * size, size, city.name))
        if len(found) == MOST_NAMES:
            break
    return found


def _touch(one: Sequence[float], other: Sequence[float]) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]
