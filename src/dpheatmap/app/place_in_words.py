"""A box in words, before anything is paid: its size, its nearest town, and whether there is any land.

All of it follows from the box and the basemap, which are public. No table is read here: a remark such as "nobody is
inside" before the charge would be an answer about people that nobody paid for.

>>> found = describe(Bounds(7.30, 46.90, 7.50, 47.02))
>>> found["town"], found["warnings"]
('Bern', [])
"""

from __future__ import annotations

import math
from functools import cache, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpheatmap.app.texts import say
from dpheatmap.place.domain import Bounds, Floats
from dpheatmap.render import basemap

RADIUS = 6371.0
"""Of the earth, in km."""

FAR = 50.0
"""Kilometres from the edge of a box to the nearest town, beyond which the page asks whether the place is right."""

_LARGE = 100_000
"""People of a town that is known beyond its country."""
_SAMPLES = 24
"""Points on each side of a box at which land is looked for."""
_SLACK = 0.02
"""Degrees around a box in which land counts, too: the coast of the basemap is good to 400 m."""


@lru_cache(maxsize=256)
def describe(box: Bounds) -> dict[str, Any]:
    """The town that a box is called by, sentences about it, and warnings if it is an unlikely place for people."""
    towns, (width, height) = _towns(), _size(box)
    town, far = _nearest(box)
    name, near, distance = towns.name(town), towns.beside(town), _kilometres(far)
    size = say("box_size", width=_kilometres(width), height=_kilometres(height))
    of_town = (
        say("box_far", town=name, near=near, distance=distance) if far else say("box_around", town=name, near=near)
    )
    warnings = []
    if not has_land(box):
        warnings.append(say("box_in_the_sea"))
    elif far > FAR + math.hypot(width, height) / 2:
        warnings.append(say("box_remote", distance=distance))
    return {"town": name, "words": f"{size} {of_town}", "warnings": warnings}


def town_of(box: Bounds) -> str:
    """The town that a box is called by: the largest inside, or else the nearest to its middle."""
    return _towns().name(_nearest(box)[0])


@lru_cache(maxsize=256)
def _nearest(box: Bounds) -> tuple[int, float]:
    """The town of a box, and how far it is from the middle in km; 0 for the largest town inside."""
    towns = _towns()
    inside = (towns.lon >= box.x0) & (towns.lon <= box.x1) & (towns.lat >= box.y0) & (towns.lat <= box.y1)
    if inside.any():
        return int(inside.argmax()), 0.0  # towns are sorted by their size
    far = _distances((box.x0 + box.x1) / 2, (box.y0 + box.y1) / 2, towns.lon, towns.lat)
    return int(far.argmin()), float(far.min())


def has_land(box: Bounds) -> bool:
    """Whether there is land in a box, as far as the basemap knows.

    >>> has_land(Bounds(-30.2, 46.9, -30.0, 47.0)), has_land(Bounds(7.3, 46.9, 7.5, 47.0))
    (False, True)
    """
    x0, y0, x1, y1 = box.x0 - _SLACK, box.y0 - _SLACK, box.x1 + _SLACK, box.y1 + _SLACK
    grid = np.meshgrid(np.linspace(x0, x1, _SAMPLES), np.linspace(y0, y1, _SAMPLES))
    points = np.column_stack([axis.ravel() for axis in grid])
    for shores in basemap.land(box):
        near = [ring for ring in shores if _overlaps(ring, x0, y0, x1, y1)]
        shore_inside = any(
            bool(((ring >= (x0, y0)) & (ring <= (x1, y1))).all(axis=1).any())  # an island smaller than the grid
            for ring in near
        )
        if shore_inside or (near and bool(np.logical_xor.reduce([_inside(points, ring) for ring in near]).any())):
            return True
    return False


def _overlaps(ring: Floats, x0: float, y0: float, x1: float, y1: float) -> bool:
    (left, bottom), (right, top) = ring.min(axis=0), ring.max(axis=0)
    return bool(left <= x1 and right >= x0 and bottom <= y1 and top >= y0)


def _inside(points: Floats, ring: Floats) -> NDArray[np.bool_]:
    """Which points a ring encloses: those from which a ray to the east crosses it an odd number of times."""
    (x0, y0), (x1, y1) = ring[:-1].T, ring[1:].T
    rises = y1 - y0
    crosses = rises != 0
    x0, y0, x1, y1, rises = x0[crosses], y0[crosses], x1[crosses], y1[crosses], rises[crosses]
    found = np.zeros(len(points), dtype=np.bool_)
    for row in np.unique(points[:, 1]):
        here = points[:, 1] == row
        passes = (y0 > row) != (y1 > row)
        at = x0[passes] + (row - y0[passes]) / rises[passes] * (x1[passes] - x0[passes])
        found[here] = (np.searchsorted(np.sort(at), points[here, 0]) % 2) == 1
    return found


def _size(box: Bounds) -> tuple[float, float]:
    """Width, at the middle, and height of a box in km."""
    degree = math.radians(1.0) * RADIUS
    return (box.x1 - box.x0) * degree * math.cos(math.radians((box.y0 + box.y1) / 2)), (box.y1 - box.y0) * degree


def _distances(lon: float, lat: float, lons: Floats, lats: Floats) -> Floats:
    """Distances on the sphere in km."""
    x, y, u, v = math.radians(lon), math.radians(lat), np.radians(lons), np.radians(lats)
    half = np.sin((v - y) / 2) ** 2 + math.cos(y) * np.cos(v) * np.sin((u - x) / 2) ** 2
    found: Floats = 2.0 * RADIUS * np.arcsin(np.sqrt(half))
    return found


def _kilometres(length: float) -> str:
    """A length to two digits or whole kilometres.

    >>> _kilometres(0.84), _kilometres(7.26), _kilometres(15.1), _kilometres(12345.0)
    ('0.84', '7.3', '15', '12,345')
    """
    return f"{length:.2g}" if length < 10 else f"{length:,.0f}"


class Towns:
    """All towns of the basemap, the largest first."""

    def __init__(self, cities: list[basemap.City]) -> None:
        self._cities = cities
        self.lon = np.array([city.lon for city in cities])
        self.lat = np.array([city.lat for city in cities])
        self._large = sum(city.population >= _LARGE for city in cities)

    def name(self, at: int) -> str:
        """The name of a town."""
        return self._cities[at].name

    def beside(self, at: int) -> str:
        """The well-known town near a town that is not one itself, in words; empty for those that are."""
        if at < self._large:
            return ""
        far = _distances(self._cities[at].lon, self._cities[at].lat, self.lon[: self._large], self.lat[: self._large])
        known = int(far.argmin())
        return say("beside", town=self.name(known), distance=_kilometres(float(far[known])))


@cache
def _towns() -> Towns:
    return Towns(basemap.cities(Bounds(-180.0, -90.0, 180.0, 90.0), 10**6))
