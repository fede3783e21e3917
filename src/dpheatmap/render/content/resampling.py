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


def is_smooth(domain: Domain, sigma: float, values: Floats) -> bool:
    """Whether the kernel is so wide that values between pixels can be interpolated."""
    pixel: float = domain.longer_side / max(values.shape)
    return sigma >= 2.0 * pixel
