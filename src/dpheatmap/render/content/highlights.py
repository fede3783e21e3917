"""What stands out on a map: the part of the area that holds half of all people, and the busiest places with ranges."""

from __future__ import annotations

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
_NEAR = 0.25  # of the map's longer side: farther away, a name does not say where a place is


class Spot(NamedTuple):
    """A busy place: where it is, the nearest name or nothing, and the range of its value as a share per square unit."""

    x: float
    y: float
    name: str
    low: float
    high: float


def area_of_half(heat: Heatmap) -> tuple[float, float]:
    """The smallest area that holds half of all people, and the whole area, in square units of the domain."""
    areas = np.broadcast_to(heat.pixel_areas[:, None], heat.values.shape)
    whole = float(areas.sum())
    shares, areas = coarsen(heat.values).ravel(), coarsen(areas).ravel()
    order = np.argsort(-shares / areas)
    held = np.cumsum(shares[order]) / shares.sum()
    part = areas[order][: int(np.searchsorted(held, 0.5)) + 1].sum() / areas.sum()
    return float(part) * whole, whole


def busiest(heat: Heatmap, clarity: Floats | None) -> tuple[Spot, ...]:
    """The busiest places, apart from each other, that can be told from the noise.

    They are chosen because they are highest, so their ranges are those that hold for all places of the map at once.
    Without uncertainty, both ends are the value itself.
    """
    density = heat.density
    rows, columns = density.shape
    left = density if clarity is None else np.where(resize(clarity, columns, rows) >= TOLD, density, 0.0)
    left = left.copy()
    low, high = (density, density) if heat.uncertainty is None else _ranges(heat)
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
            found.append(Spot(*at, nearest_name(heat.domain, *at), float(low[row, column]), float(high[row, column])))
        left[max(0, row - reach) : row + reach + 1, max(0, column - reach) : column + reach + 1] = 0.0
    return tuple(found)


def _around(density: Floats, row: int, column: int) -> Floats:
    return density[max(0, row - 1) : row + 2, max(0, column - 1) : column + 2]


def _ranges(heat: Heatmap) -> tuple[Floats, Floats]:
    known = heat.uncertainty
    if known is None:
        raise AssertionError("ranges need an uncertainty")
    low, high = known.roughly.relative_interval_together(CONFIDENCE)
    return heat.density * low, heat.density * high


def nearest_name(domain: Domain, x: float, y: float) -> str:
    """The name of the nearest town on the map; nothing if all are far away, or if it is no map of the ground."""
    if not domain.geographic:
        return ""
    b = domain.bounds
    reach = _NEAR * max(b.x1 - b.x0, b.y1 - b.y0)
    narrow = np.cos(np.radians(y))
    near = basemap.cities(Bounds(x - reach, y - reach, x + reach, y + reach), most=500)
    return min(near, key=lambda city: (narrow * (city.lon - x)) ** 2 + (city.lat - y) ** 2).name if near else ""
