"""Fields of pixels on other grids: coarser by means, finer by lines between the middles of pixels."""

from __future__ import annotations

import numpy as np
from PIL import Image

from dpheatmap.place.domain import Domain, Floats


def average(values: Floats, rows: int, columns: int) -> Floats:
    """Average over an even grid of fewer pixels, each old pixel weighted by its part in the new one."""
    return _average_down(_average_down(values, rows).T, columns).T


def _average_down(values: Floats, rows: int) -> Floats:
    """Average over fewer rows, by the differences of sums from the top, which are linear inside a row."""
    old = len(values)
    sums = np.concatenate([np.zeros((1, values.shape[1])), np.cumsum(values, axis=0)])
    edges = np.linspace(0.0, old, rows + 1)
    whole = np.minimum(edges.astype(np.intp), old - 1)
    at_edges = sums[whole] + (edges - whole)[:, None] * values[whole]
    means: Floats = np.diff(at_edges, axis=0) * (rows / old)
    return means


def resize(values: Floats, columns: int, rows: int, *, smooth: bool = True) -> Floats:
    """A field on a grid of more pixels: linear between middles, or equal blocks; no value leaves the old range."""
    if values.shape == (rows, columns):
        return values
    method = Image.Resampling.BILINEAR if smooth else Image.Resampling.NEAREST
    picture = Image.fromarray(values.astype(np.float32)).resize((columns, rows), method)
    return np.asarray(picture, dtype=np.float32)


def extend(values: Floats, inside: Floats, steps: int = 4) -> Floats:
    """Values beyond the pixels inside, as means of their neighbours, so that lines between middles end outside.

    >>> extend(np.array([[2.0, 0.0, 0.0]]), np.array([[1.0, 0.0, 0.0]]), steps=1).tolist()
    [[2.0, 2.0, 0.0]]
    """
    known = np.broadcast_to(inside > 0.0, values.shape)
    if known.all():
        return values
    found = np.where(known, values, 0.0)
    for _ in range(steps):
        there = known.astype(np.float64)
        sums, count = _sum_around(found), _sum_around(there)
        new = ~known & (count > 0.0)
        found = np.where(new, sums / np.where(new, count, 1.0), found)
        known = known | new
    return found


def _sum_around(field: Floats) -> Floats:
    """The sum over each pixel and its eight neighbours."""
    rows, columns = field.shape
    framed = np.pad(field, 1)
    shifted = [framed[i : i + rows, j : j + columns] for i in range(3) for j in range(3)]
    total: Floats = np.sum(shifted, axis=0)
    return total


def is_smooth(domain: Domain, sigma: float, values: Floats) -> bool:
    """Whether the kernel is so wide that values between pixels can be interpolated."""
    pixel: float = domain.longer_side / max(values.shape)
    return sigma >= 2.0 * pixel
