"""Help in choosing a place: land and towns to draw a box on, and the size of a picture. Nothing of it is private."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from dpheatmap.app.texts import say
from dpheatmap.domain import Bounds
from dpheatmap.errors import DataError, ParameterError
from dpheatmap.render import basemap
from dpheatmap.render.background import open_picture

WORLD = Bounds(-180.0, -85.0, 180.0, 85.0)
_TOWNS = 8


def towns(start: str) -> list[dict[str, Any]]:
    """The largest towns whose names start like this.

    >>> towns("zür")[0]["name"]
    'Zürich'
    """
    wanted = start.strip().casefold()
    found = [city for name, city in _every_town() if name.startswith(wanted)] if wanted else []
    return [{"name": city.name, "lon": city.lon, "lat": city.lat} for city in found[:_TOWNS]]


@cache
def _every_town() -> list[tuple[str, basemap.City]]:
    return [(city.name.casefold(), city) for city in basemap.cities(WORLD, 10**6)]


def bounds_of(text: str) -> Bounds:
    """West, south, east and north, from an address."""
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
