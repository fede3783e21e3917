"""What stands out on a map: the part of the area that holds half of all people, and the busiest places with ranges."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from dpheatmap.heatmap.heatmap import Heatmap
from dpheatmap.place.domain import Bounds, Domain, Floats
from dpheatmap.render import basemap
from dpheatmap.render.content.clarity import TOLD, coarsen
from dpheatmap.render.content.resampling import resize

MOST = 10
"""The most places that are listed."""

CONFIDENCE = 0.9
_APART = 3.0  # smoothing widths between two places, so that one hot spot is listed once
_LARGE = 0.15  # how a town's reach grows with its people
_NEAR = 0.25  # of the map's longer side: farther away, a name does not say where a place is


Range = tuple[Floats, Floats]


class Spot(NamedTuple):
    """A busy place: where it is, the nearest name or nothing, and the range of its value as a share per square unit."""

    x: float
    y: float
    name: str
    low: float
    high: float


def area_of_half(heat: Heatmap) -> tuple[float, float]:
    """The smallest area that holds half of all people, and the whole area, in square units of the domain."""
    whole = float(heat.ground.sum())
    shares, areas = coarsen(heat.values).ravel(), coarsen(heat.ground).ravel()
    shares, areas = shares[areas > 0.0], areas[areas > 0.0]
    order = np.argsort(-shares / areas)
    held = np.cumsum(shares[order]) / shares.sum()
    part = areas[order][: int(np.searchsorted(held, 0.5)) + 1].sum() / areas.sum()
    return float(part) * whole, whole


def busiest(heat: Heatmap, clarity: Floats | None) -> tuple[Spot, ...]:
    """The busiest places, apart from each other, that can be told from the noise.

    They are chosen because they are high, so their ranges are those that hold for all places of the map at once; that
    of the first holds for all that may be the highest. Without uncertainty, both ends are the value itself.
    """
    density = heat.density
    rows, columns = density.shape
    left = density if clarity is None else np.where(resize(clarity, columns, rows) >= TOLD, density, 0.0)
    left = left.copy()
    first, others = _ranges(heat)
    reach = max(1, round(_APART * heat.sigma / heat.domain.longer_side * max(density.shape)))
    x, y = heat.x, heat.y
    found: list[Spot] = []
    while len(found) < MOST:
        row, column = divmod(int(left.argmax()), columns)
        if left[row, column] <= 0.0:
            break
        at = float(x[column]), float(y[row])
        # A summit, not the flank of one found before; but the first also where its summit can't be told.
        if not found or density[row, column] >= _around(density, row, column).max():
            low, high = (float(end[row, column]) for end in (others if found else first))
            found.append(Spot(*at, nearest_name(heat.domain, *at), low, high))
        left[max(0, row - reach) : row + reach + 1, max(0, column - reach) : column + reach + 1] = 0.0
    return tuple(found)


def _around(density: Floats, row: int, column: int) -> Floats:
    return density[max(0, row - 1) : row + 2, max(0, column - 1) : column + 2]


def _ranges(heat: Heatmap) -> tuple[Range, Range]:
    """The ends of the ranges of every place: if it is the highest, and if it is one of several."""
    density, known = heat.density, heat.uncertainty
    if known is None:
        return (density, density), (density, density)
    together = (known.roughly.relative_interval_of_highest, known.roughly.relative_interval_together)
    first, others = ([density * end for end in interval(CONFIDENCE)] for interval in together)
    return (first[0], first[1]), (others[0], others[1])


def nearest_name(domain: Domain, x: float, y: float) -> str:
    """The name of the town that a place is near; nothing if all are far away, or if it is no map of the ground.

    Large towns are large: a distance counts less, the more people live there.
    """
    if not domain.geographic:
        return ""
    b = domain.bounds
    reach = _NEAR * max(b.x1 - b.x0, b.y1 - b.y0)
    narrow = math.cos(math.radians(y))
    near = basemap.cities(Bounds(x - reach, y - reach, x + reach, y + reach), most=500)

    def away(city: basemap.City) -> float:
        apart: float = math.hypot(narrow * (city.lon - x), city.lat - y)
        return apart / math.pow(city.population, _LARGE)

    return min(near, key=away).name if near else ""
