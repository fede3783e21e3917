"""Public data for choosing a place: land and towns for drawing a box, and the size of a picture."""

from __future__ import annotations

import math
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

from dpheatmap.app.texts import say
from dpheatmap.errors import DataError, ParameterError
from dpheatmap.place.domain import Bounds
from dpheatmap.render import basemap
from dpheatmap.render.figure.background import open_picture

WORLD = Bounds(-180.0, -85.0, 180.0, 85.0)
_TOWNS = 8
_LARGE = 1000
"""The number of large, well-known towns: those of 400,000 people or more."""


def towns(start: str) -> list[dict[str, Any]]:
    """The largest towns whose names start with this; those of one name are distinguished by a large town nearby.

    >>> towns("zür")[0]["name"]
    'Zürich'
    """
    wanted = start.strip().casefold()
    found = [city for name, city in _every_town() if name.startswith(wanted)][:_TOWNS] if wanted else []
    several = {name for name, times in Counter(city.name for city in found).items() if times > 1}
    return [
        {
            "name": city.name,
            "near": _nearest_large_town(city) if city.name in several else "",
            "lon": city.lon,
            "lat": city.lat,
        }
        for city in found
    ]


def _nearest_large_town(town: basemap.City) -> str:
    """The nearest large town of another name."""
    large = [city for _, city in _every_town()[:_LARGE] if city.name != town.name]
    return min(large, key=lambda city: _distance(town, city)).name


def _distance(a: basemap.City, b: basemap.City) -> float:
    """A number that grows with the distance of two towns on the sphere."""
    (x, y), (u, v) = (map(math.radians, (city.lon, city.lat)) for city in (a, b))
    return -(math.sin(y) * math.sin(v) + math.cos(y) * math.cos(v) * math.cos(x - u))


@cache
def _every_town() -> list[tuple[str, basemap.City]]:
    return [(city.name.casefold(), city) for city in basemap.cities(WORLD, 10**6)]


def bounds_of(text: str) -> Bounds:
    """Parse west, south, east and north from an address."""
    try:
        west, south, east, north = (float(part) for part in text.split(","))
    except ValueError:
        raise ParameterError(say("missing", name="bounds")) from None
    if not (-180 <= west < east <= 180 and -90 <= south < north <= 90):
        raise ParameterError(say("missing", name="bounds"))
    return Bounds(west, south, east, north)


def size_of_picture(path: Path, name: str) -> tuple[int, int]:
    """Width and height of a picture."""
    try:
        with open_picture(path) as picture:
            return picture.size
    except Exception:  # Pillow raises many kinds for broken and for enormous files
        raise DataError(say("no_picture", name=name)) from None
