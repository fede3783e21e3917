"""Fields of pixels on other grids: coarser by means, finer by lines between the middles of pixels."""

from __future__ import annotations

import numpy as np
from PIL import Image

from dpheatmap.place.domain import Domain, Floats


def average(values: Floats, rows: int, columns: int) -> Floats:
    """Average over an even grid of fewer pixels, each old pixel weighted by its part in the new one."""
    smaller: Floats = _overlap(values.shape[0], rows) @ values @ _overlap(values.shape[1], columns).T
    return smaller


def _overlap(old: int, new: int) -> Floats:
    """The weight of each old pixel of a line in the mean of each new one."""
    start, stop = np.arange(new) * (old / new), np.arange(1, new + 1) * (old / new)
    at = np.arange(old)
    inside = np.minimum(stop[:, None], at + 1) - np.maximum(start[:, None], at)
    weights: Floats = np.clip(inside, 0.0, None) * (new / old)
    return weights


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
