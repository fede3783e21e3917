"""What can be told of a map: how far its heat stands above the noise, pixel by pixel.

The clarity of a place is its value over the half width of its range of 90 %. Below 1 it can't be told from nothing, and
is left bare. Below 2 the range reaches more than half of the value to either side: it is rough, and hatched. Clarity is
smoothed a little, and pieces smaller than the smoothing's square are dropped, so that edges mean something.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from dpheatmap.heatmap.heatmap import Heatmap
from dpheatmap.place.domain import Domain, Floats
from dpheatmap.render.content.resampling import average, resize

NORMAL_90 = 1.645
"""Standard deviations on either side of 90 % of a normal law."""

TOLD, FIRM = 1.0, 2.0
"""The clarity from which a place is painted, and from which it is not hatched."""

MOST_CLEAR = 4.0
"""Clarity beyond this is told as this."""

GRID = 256
"""The most pixels on the longer side of a field of clarity or of ranges."""

_BLUR = 1.0  # pixels of the grid


def clarity_of(heat: Heatmap) -> Floats | None:
    """The clarity of a map on a grid of its own; None where its uncertainty is not known, 0 where nothing is."""
    if heat.uniform:
        return np.zeros((2, 2))
    if heat.uncertainty is None:
        return None
    spread = coarsen(heat.uncertainty.roughly.relative_std)
    clear = np.minimum(1.0 / np.maximum(NORMAL_90 * spread, 1e-9), MOST_CLEAR)
    return without_crumbs(_blur(clear), heat.sigma, heat.domain)


def stands_out(heat: Heatmap) -> bool:
    """Whether any place of a map can be told from nothing; if its uncertainty is not known, all of them."""
    clear = clarity_of(heat)
    rows, columns = heat.values.shape
    if clear is None:
        return True
    return bool(((resize(clear, columns, rows) >= TOLD) & (heat.ground > 0.0)).any())


def coarsen(field: Floats) -> Floats:
    """A field on at most :data:`GRID` pixels."""
    longer = max(field.shape)
    if longer <= GRID:
        return field
    rows, columns = (max(1, round(side * GRID / longer)) for side in field.shape)
    return average(field, rows, columns)


def without_crumbs(clear: Floats, sigma: float, domain: Domain) -> Floats:
    """Clarity without clear pieces that are smaller than the smoothing's square."""
    smallest = (sigma / domain.longer_side * max(clear.shape)) ** 2
    pieces = _pieces(clear >= TOLD)
    sizes = np.bincount(pieces.ravel()).astype(np.float64)
    sizes[0] = math.inf  # what is not clear stays as it is
    kept: Floats = np.where(sizes[pieces] < smallest, np.minimum(clear, 0.99 * TOLD), clear)
    return kept


def _pieces(inside: NDArray[np.bool_]) -> NDArray[np.int64]:
    """A number for each connected piece, 0 outside: the largest position in it, spread from neighbour to neighbour."""
    numbers = np.where(inside, np.arange(1, inside.size + 1).reshape(inside.shape), 0)
    while True:
        padded = np.pad(numbers, 1)
        around = np.maximum.reduce([padded[:-2, 1:-1], padded[2:, 1:-1], padded[1:-1, :-2], padded[1:-1, 2:], numbers])
        spread = np.where(inside, around, 0)
        # Where a piece is long, numbers jump along: each takes the number that its own number's place has.
        spread = np.where(inside, np.concatenate([[0], spread.ravel()])[spread], 0)
        if (spread == numbers).all():
            return numbers
        numbers = spread


def _blur(field: Floats) -> Floats:
    reach = math.ceil(3.0 * _BLUR)
    weights = np.exp(-0.5 * (np.arange(-reach, reach + 1) / _BLUR) ** 2)
    weights /= weights.sum()
    for axis in (0, 1):
        width = [(reach, reach) if k == axis else (0, 0) for k in (0, 1)]
        padded = np.pad(field, width, mode="edge")
        size = field.shape[axis]
        shifted = [w * np.take(padded, np.arange(k, k + size), axis) for k, w in enumerate(weights.tolist())]
        field = np.sum(shifted, axis=0)
    return field


def noise_floor(heat: Heatmap, clarity: Floats | None) -> float:
    """The density below which 95 % of the places stay that can't be told from nothing; 0 if all can, or not known."""
    if clarity is None:
        return 0.0
    density, inside = coarsen(heat.density), coarsen(heat.ground) > 0.0
    quiet = inside & (clarity < TOLD if clarity.shape == density.shape else True)
    return float(np.quantile(density[quiet], 0.95)) if quiet.any() else 0.0
