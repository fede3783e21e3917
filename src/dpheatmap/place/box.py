"""Boxes in degrees: what may be one, and how fine its cells are on the ground."""

from __future__ import annotations

import math

from dpheatmap._util.parameters import DEEPEST
from dpheatmap.errors import DomainError
from dpheatmap.place import projection


def checked_box(west: float, south: float, east: float, north: float) -> tuple[float, float, float, float]:
    """The four edges as floats, or the one sentence that tells what is wrong with them."""
    try:
        if any(isinstance(v, (str, bytes, bool)) for v in (west, south, east, north)):
            raise TypeError
        w, s, e, n = (float(v) for v in (west, south, east, north))
    except (TypeError, ValueError, OverflowError):
        raise DomainError("The edges of a box must be four numbers. Give west, south, east, north.") from None
    box = f"({w:g}, {s:g}, {e:g}, {n:g})"
    if not all(math.isfinite(v) for v in (w, s, e, n)):
        raise DomainError(f"The edges of a box must be finite; they were {box}. Give west, south, east, north.")
    if max(abs(s), abs(n)) > 90 and max(abs(w), abs(e)) <= 90:
        raise DomainError(
            f"Latitudes run from -90 to 90, and those of {box} don't: latitude and longitude look swapped. "
            f"Give west, south, east, north: ({s:g}, {w:g}, {n:g}, {e:g})?"
        )
    if max(abs(s), abs(n)) > 90:
        raise DomainError(
            f"Latitudes run from -90 to 90; the box was {box}. Give west, south, east, north in degrees, and turn "
            "coordinates that are metres into longitude and latitude."
        )
    if max(abs(w), abs(e)) > 180 or w - e > 180:
        raise DomainError(
            f"The box {box} crosses the antimeridian, and one domain lies on one side of it. "
            "Release the part up to 180 and the part from -180 on separately; their epsilons add up."
        )
    if w > e or s > n:
        raise DomainError(f"The box {box} is inverted: west must be below east and south below north. Swap the edges.")
    if w == e or s == n:
        raise DomainError(f"The box {box} has no area. Give west < east and south < north.")
    if max(abs(s), abs(n)) > projection.NORTHERNMOST:
        raise DomainError(
            f"Web Mercator ends at latitude {projection.NORTHERNMOST:.4f}, before the pole that {box} reaches for. "
            "Cut the box at 85.05 degrees."
        )
    return w, s, e, n


def zoom_for_resolution(south: float, north: float, resolution: float) -> int:
    """The first zoom whose cells are at most ``resolution`` metres wide anywhere in a box."""
    around = longest_circle(south, north)
    for zoom in range(DEEPEST + 1):
        if around / 2**zoom <= resolution:
            return zoom
    raise DomainError(
        f"A resolution of {resolution:g} m needs a zoom above {DEEPEST}, the deepest. "
        f"Ask for {math.ceil(1000 * around / 2**DEEPEST) / 1000:g} m or more."
    )


def longest_circle(south: float, north: float) -> float:
    """The length in metres of the longest circle of latitude in a box: the width of the root cell there."""
    nearest_to_equator = 0.0 if south <= 0 <= north else min(abs(south), abs(north))
    return projection.EARTH_CIRCUMFERENCE * math.cos(math.radians(nearest_to_equator))
