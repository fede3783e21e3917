"""The basemap of the package: coast, borders and places, for maps that need no network.

>>> [city.name for city in cities(Bounds(7.3, 46.8, 7.6, 47.1), most=2)]
['Bern', 'Köniz']
"""

from __future__ import annotations

from functools import cache
from importlib import resources
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dpheatmap.place.domain import Bounds, Floats

LINES_CREDIT, NAMES_CREDIT = "Natural Earth", "GeoNames CC BY 4.0"
"""The credits of lines and of names, on every map that shows them."""

FINEST = 0.004
"""The detail of the lines in degrees, about 400 m: a coast may be drawn this far from its true position."""

_COARSENING = 1 / 600  # the loss of detail with the distance from the map's bounds
_STEPS_PER_DEGREE = 500


class City(NamedTuple):
    """A place with at least 5,000 people; their number is good to 5 %."""

    name: str
    lon: float
    lat: float
    population: int


def land(near: Bounds | None = None) -> list[list[Floats]]:
    """Every landmass as rings: its shore and the shores of its inland seas, closed arrays of longitudes and latitudes.

    With ``near``, the lines have all the detail there that a picture of 9,000 pixels can show, and less with distance.
    The direction of the rings has no meaning: leaving vertices out can reverse slivers.

    >>> len(land()) > 3000 > len(land(Bounds(7.3, 46.8, 7.6, 47.1))) > 100
    True
    """
    archive = _archive()
    arcs = _arcs(near)
    found: list[list[Floats]] = []
    ends = np.cumsum(archive["ring_lengths"])
    for numbers, inland in zip(np.split(archive["ring_arcs"], ends[:-1]), archive["ring_inland"], strict=True):
        parts = [arcs[number] if number >= 0 else arcs[~number][::-1] for number in numbers]
        # Each arc starts where the one before it ends.
        ring = np.concatenate([parts[0], *(part[1:] for part in parts[1:])])
        pieces = [piece for piece in _cut_at_antimeridian(ring) if len(piece) > 3]
        if inland:
            found[-1] += pieces
        else:
            found += [[piece] for piece in pieces]
    return found


def coast(near: Bounds | None = None) -> list[Floats]:
    """Every shore; ``near`` as for :func:`land`."""
    return [shore for shores in land(near) for shore in shores]


def borders(near: Bounds | None = None) -> list[Floats]:
    """The borders between countries, each an array of longitudes and latitudes; ``near`` as for :func:`land`."""
    arcs = _arcs(near)
    return [arcs[number] for number in _archive()["border_arcs"]]


def cities(bounds: Bounds, most: int) -> list[City]:
    """The largest places inside the bounds, at most ``most``, the largest first.

    Bounds may reach beyond the antimeridian, and so do the longitudes of places there.
    """
    archive = _archive()
    lon, lat = (archive[name] / _STEPS_PER_DEGREE for name in ("place_lon", "place_lat"))
    lon = lon + 360.0 * ((lon < bounds.x0) & (lon + 360.0 <= bounds.x1))
    lon = lon - 360.0 * ((lon > bounds.x1) & (lon - 360.0 >= bounds.x0))
    inside = np.flatnonzero((lon >= bounds.x0) & (lon <= bounds.x1) & (lat >= bounds.y0) & (lat <= bounds.y1))
    largest = inside[np.argsort(-archive["place_people"][inside].astype(np.int64), kind="stable")][:most]
    people = np.exp(archive["place_people"] / 10.0)
    return [City(names()[i], float(lon[i]), float(lat[i]), round(people[i])) for i in largest.tolist()]


def _cut_at_antimeridian(ring: Floats) -> list[Floats]:
    """Cut a ring that crosses 180 degrees into pieces on either side, and close one around a pole through the pole."""
    if np.abs(np.diff(ring[:, 0])).max(initial=0.0) <= 180:
        return [ring]
    lon = np.unwrap(ring[:, 0], period=360.0)
    whole = np.column_stack([lon, ring[:, 1]])
    if abs(lon[-1] - lon[0]) > 180:
        pole = float(np.copysign(90.0, ring[:, 1].mean()))
        whole = np.concatenate([whole, [[lon[-1], pole], [lon[0], pole]], whole[:1]])
    turns = [np.column_stack([whole[:, 0] + shift, whole[:, 1]]) for shift in (-360.0, 0.0, 360.0)]
    return [_west_of(_west_of(turn, 180.0) * [-1, 1], 180.0) * [-1, 1] for turn in turns]


def _west_of(ring: Floats, lon: float) -> Floats:
    """The part of a ring west of a meridian, closed along it."""
    kept: list[Floats] = []
    for a, b in pairwise(ring):
        if a[0] <= lon:
            kept.append(a)
        if (a[0] <= lon) != (b[0] <= lon):
            kept.append(np.array([lon, a[1] + (b[1] - a[1]) * (lon - a[0]) / (b[0] - a[0])]))
    return np.array([*kept, *kept[:1]]).reshape(-1, 2)


def _arcs(near: Bounds | None) -> list[Floats]:
    """The lines of rings and borders, without the vertices that a map around ``near`` does not need."""
    archive = _archive()
    points, ranks = archive["points"], archive["ranks"]
    keep = np.ones(len(points), dtype=np.bool_)
    if near is not None:
        middle = (near.x0 + near.x1) / 2
        away = np.abs((points[:, 0] - middle + 180.0) % 360.0 - 180.0) - (near.x1 - near.x0) / 2
        beyond = [away, near.y0 - points[:, 1], points[:, 1] - near.y1]
        size = max(near.x1 - near.x0, near.y1 - near.y0)
        needed = _COARSENING * np.maximum(np.maximum.reduce(beyond), size / 15)
        keep = (ranks == 255) | (FINEST * 2.0 ** ranks.clip(0, 15) >= needed)
    ends = np.cumsum(archive["arc_lengths"], dtype=np.int64)
    kept = np.cumsum(keep)[ends - 1]
    return np.split(points[keep], kept[:-1])


@cache
def _archive() -> dict[str, NDArray[Any]]:
    """The file that ``scripts/basemap`` wrote, with cumulative sums taken."""
    with resources.as_file(resources.files(__name__) / "basemap.npz") as path, np.load(path) as file:
        archive = dict(file)
    zigzag = archive.pop("steps_high").astype(np.int64) << 8 | archive.pop("steps_low")
    scale, translate = archive["grid"]
    archive["points"] = np.cumsum((zigzag >> 1) ^ -(zigzag & 1), axis=1).T * scale + translate
    archive["place_lat"] = np.cumsum(archive.pop("place_lat_steps"))
    return archive


@cache
def names() -> list[str]:
    """The names of all places, by latitude."""
    return _archive()["place_names"].tobytes().decode().split("\n")
