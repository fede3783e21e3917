"""Web Mercator by arithmetic alone, written once for NumPy and for SQL.

Logarithms and tangents differ in their last bits between libraries, and a point near a cell's edge would then fall
into different cells on different engines. ``+ - * /`` and ``sqrt`` are rounded the same everywhere (IEEE 754), so
the projection uses nothing else:

    row = 1/2 - atanh(tan(lat / 2)) / pi

with the tangent as a continued fraction, three half-argument steps ``atanh z = 2 atanh(z / (1 + sqrt(1 - z^2)))``,
and a continued fraction for what is left of atanh (by then ``|z| < 0.1``). The error stays below 1e-15.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Protocol, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

NORTHERNMOST = math.degrees(math.atan(math.sinh(math.pi)))
"""The latitude at which Web Mercator's square ends, about 85.0511 degrees."""

EARTH_CIRCUMFERENCE = 2 * math.pi * 6_378_137.0
"""Length of the equator in metres on Web Mercator's sphere."""


class Arithmetic(Protocol):
    """The operators that the projection needs of a number, an array or an SQL expression."""

    def __mul__(self, other: Self | float, /) -> Self: ...
    def __truediv__(self, other: Self | float, /) -> Self: ...
    def __radd__(self, other: float, /) -> Self: ...
    def __rsub__(self, other: float, /) -> Self: ...
    def __rmul__(self, other: float, /) -> Self: ...


T = TypeVar("T", bound=Arithmetic)


def mercator_column(longitude: T) -> T:
    """Map a longitude in degrees to [0, 1], from west to east."""
    return 0.5 + longitude / 360.0


def mercator_row(latitude: T, sqrt: Callable[[T], T], let: Callable[[T], T]) -> T:
    """Map a latitude in degrees to [0, 1], from north to south.

    ``let`` names an intermediate result, which is a column in SQL; in NumPy it does nothing.
    """
    half = let(latitude * (math.pi / 360.0))
    square = let(half * half)
    tangent = square / 15.0
    for odd in (13.0, 11.0, 9.0, 7.0, 5.0, 3.0):
        tangent = square / (odd - tangent)
    z = let(half / (1.0 - tangent))
    for _ in range(3):
        z = let(z / (1.0 + sqrt(1.0 - z * z)))
    square = let(z * z)
    fraction = 49.0 * square / 15.0
    for k in (6.0, 5.0, 4.0, 3.0, 2.0, 1.0):
        fraction = (k * k) * square / ((2.0 * k + 1.0) - fraction)
    atanh = z / (1.0 - fraction)
    return 0.5 - (8.0 / math.pi) * atanh


def latitude_of_row(row: float) -> float:
    """The latitude in degrees of a row in [0, 1]: the inverse of :func:`mercator_row`, for labels and scales."""
    return math.degrees(math.atan(math.sinh(math.pi * (1.0 - 2.0 * row))))


def highest_latitude(row: float) -> float:
    """The northernmost float whose computed row is not above a row: an edge that rounding does not cut off."""
    return _last_at(row, NORTHERNMOST, lambda found: found >= row)


def lowest_latitude(row: float) -> float:
    """The southernmost float whose computed row is not below a row."""
    return _last_at(row, -NORTHERNMOST, lambda found: found <= row)


def _last_at(row: float, end: float, holds: Callable[[float], bool]) -> float:
    """The last latitude towards ``end`` whose computed row satisfies ``holds``, by bisection around ``row``."""
    near = math.copysign(1e-9, end)
    last, beyond = latitude_of_row(row) - near, latitude_of_row(row) + near
    while (middle := (last + beyond) / 2) not in (last, beyond):
        found = float(mercator_row(middle, math.sqrt, lambda step: step))
        last, beyond = (middle, beyond) if holds(found) else (last, middle)
    return max(-NORTHERNMOST, min(last, NORTHERNMOST))


def latitudes_of_rows(rows: ArrayLike) -> NDArray[np.float64]:
    """:func:`latitude_of_row` of many rows."""
    latitudes: NDArray[np.float64] = np.degrees(np.arctan(np.sinh(np.pi * (1.0 - 2.0 * np.asarray(rows)))))
    return latitudes
