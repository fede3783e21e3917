"""Boxes in degrees, on Web Mercator: level = zoom, cell = map tile, Morton code = quadkey.

**Across the antimeridian** a box lies on the world *turned* by half a circle: its longitudes run from 0 to 360, and its
root square begins at Greenwich. A column of cells of level i is that of the map tile half of 2^i columns away.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from dpheatmap._util.parameters import DEEPEST
from dpheatmap.errors import DomainError
from dpheatmap.place import projection
from dpheatmap.place.place import Bounds, Floats, Functions, Place, Units


@dataclass(frozen=True)
class Box(Place):
    """West, south, east and north; the root square is the world. An east above 180 is beyond the antimeridian."""

    extent: Bounds
    kind: ClassVar[str] = "bbox"
    geographic: ClassVar[bool] = True
    words: ClassVar[str] = "a box on the ground"
    units: ClassVar[Units] = Units(
        "m", "metres", "per_km2", "km-2", 1e6,
        ((1e-2, "100 cm²"), (1e0, "m²"), (1e2, "100 m²"), (1e4, "hectare"), (1e6, "km²"), (1e8, "100 km²"),
         (1e10, "10,000 km²"), (1e12, "million km²")),
    )  # fmt: skip
    axes: ClassVar[tuple[str, str]] = ("lon", "lat")

    @classmethod
    def between(cls, west: float, south: float, east: float, north: float) -> Self:
        """Make a box with these edges; raises DomainError if they are not a box on the map."""
        return cls(check_box(west, south, east, north))

    @property
    def turned(self) -> bool:
        """Whether the root square begins at Greenwich, and longitudes run from 0 to 360."""
        return self.extent.x1 > 180.0

    def to_root(self, x: Any, y: Any, on: Functions) -> tuple[Any, Any]:
        """Project by Web Mercator, with arithmetic alone."""
        column = self._eastward(x, on) / 360.0 if self.turned else projection.mercator_column(x)
        return column, projection.mercator_row(y, on.sqrt, on.let)

    def within(self, x: Any, y: Any, on: Functions) -> Any:
        """Tell which points lie in the box."""
        return super().within(self._eastward(x, on) if self.turned else x, y, on)

    @staticmethod
    def _eastward(x: Any, on: Functions) -> Any:
        """Longitudes from 0 to 360."""
        return on.choose(x >= 0.0, x, 360.0 + x)

    def columns_of(self, longitudes: Floats) -> Floats:
        """Columns of the root square, below 0 or above 1 beyond it: lines are not torn where the square ends."""
        columns: Floats = longitudes / 360.0 + self.greenwich
        return columns

    def from_root(self, u: Floats, v: Floats) -> tuple[Floats, Floats]:
        """Longitudes, beyond the antimeridian above 180, and latitudes."""
        return 360.0 * (u - self.greenwich), projection.latitudes_of_rows(v)

    def edges(self, left: float, top: float, right: float, bottom: float) -> Bounds:
        """West, south, east, north."""
        west, east = (360.0 * (at - self.greenwich) for at in (left, right))
        north, south = (projection.latitude_of_row(at) for at in (top, bottom))
        return Bounds(west, south, east, north)

    @property
    def greenwich(self) -> float:
        """Where Greenwich is on the root square."""
        return 0.0 if self.turned else 0.5

    def width_of_root(self, v: Floats) -> Floats:
        """The equator times Web Mercator's ground scale at rows v in [0, 1]: cos(latitude) = 1 / cosh(pi (1 - 2 v))."""
        scale: Floats = projection.EARTH_CIRCUMFERENCE / np.cosh(np.pi * (1.0 - 2.0 * v))
        return scale

    @property
    def widest_root(self) -> float:
        """The longest circle of latitude."""
        return longest_circle(self.extent.y0, self.extent.y1)

    @property
    def lengths_of_units(self) -> tuple[float, float]:
        """Metres in a degree of longitude, at the middle latitude, and in a degree of latitude."""
        degree = projection.EARTH_CIRCUMFERENCE / 360.0
        middle = (self.extent.y0 + self.extent.y1) / 2
        return degree * math.cos(math.radians(middle)), degree

    def area(self, left: Floats, top: Floats, right: Floats, bottom: Floats) -> Floats:
        """The areas on the sphere, where the area between two parallels is that of the cylinder around it.

        It grows with the sine of the latitude, which on a row v of Web Mercator is tanh(pi (1 - 2 v)).
        """
        sines = np.tanh(np.pi * (1.0 - 2.0 * np.stack([top, bottom])))
        area: Floats = projection.EARTH_CIRCUMFERENCE**2 / (2.0 * np.pi) * (right - left) * (sines[0] - sines[1])
        return area

    def customary(self, x: Floats) -> Floats:
        """Longitudes from -180 to 180."""
        return np.where(x > 180.0, x - 360.0, x)

    def readable_length(self, length: float) -> tuple[float, str]:
        """The length in metres or kilometres."""
        return (length / 1000, "km") if length >= 1000 else (length, "m")

    @property
    def option(self) -> str:
        """The option ``--bbox`` with its four edges."""
        return "--bbox=" + ",".join(repr(edge) for edge in self.extent)

    @classmethod
    def from_dict(cls, description: Mapping[str, Any]) -> Self:
        """Make the box from its four edges."""
        return cls.between(*(float(v) for v in description["extent"]))


def check_box(west: float, south: float, east: float, north: float) -> Bounds:
    """The four edges as floats; raises DomainError if they are not a box on the map."""
    try:
        if any(isinstance(v, (str, bytes, bool)) for v in (west, south, east, north)):
            raise TypeError
        w, s, e, n = (float(v) for v in (west, south, east, north))
    except (TypeError, ValueError, OverflowError):
        raise DomainError("The edges of a box must be four numbers. Give west, south, east, north.") from None
    box = f"({w:g}, {s:g}, {e:g}, {n:g})"
    w, e = _beyond_the_antimeridian(w, e)
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
    if w < -180 or w > 180 or (e > 180 and w < 0) or e > 360:
        raise DomainError(
            f"Longitudes run from -180 to 180; the box was {box}. Give west, south, east, north in degrees; a box "
            "across the antimeridian has a west above its east, such as 170 and -170."
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
    return Bounds(w, s, e, n)


def _beyond_the_antimeridian(west: float, east: float) -> tuple[float, float]:
    """The edges of a box across the antimeridian as numbers that ascend; others as they are.

    >>> _beyond_the_antimeridian(170.0, -170.0), _beyond_the_antimeridian(-190.0, -170.0)
    ((170.0, 190.0), (170.0, 190.0))
    """
    if -360.0 < west < -180.0 < east <= 0.0:
        return west + 360.0, east + 360.0
    return (west, east + 360.0) if west - east > 180.0 and west <= 180.0 and east >= -180.0 else (west, east)


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
