"""Encoding of arrays as text in a page: 16 bits a pixel, at least three digits, small because maps are smooth."""

from __future__ import annotations

import base64
import zlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpheatmap.place.domain import Floats

_LINEAR_BELOW = 1e-7  # of the largest value: below this, values are evenly spaced; above, their ratios are
_LARGEST = 2**15 - 1


def deflate(data: bytes) -> str:
    """Encode bytes as deflated base64."""
    return base64.b64encode(zlib.compress(data, 6)).decode("ascii")


def layer(values: Floats) -> dict[str, Any]:
    """Encode values as 16-bit integers q with value = unit * sinh(step * q), accurate to 0.03 % over seven decades.

    The integers are differenced along both axes modulo 2^16, which makes them small where the map is smooth. They are
    folded so that small differences of either sign are small numbers, and deflated, low bytes first.
    """
    top = float(np.abs(values).max(initial=0.0))
    unit = _LINEAR_BELOW * top or 1.0
    step = float(np.arcsinh(1.0 / _LINEAR_BELOW)) / _LARGEST
    steps = np.rint(np.arcsinh(values / unit) / step).astype(np.int64)
    differences = np.diff(np.diff(steps, axis=0, prepend=0), axis=1, prepend=0).astype(np.uint16).view(np.int16)
    folded = ((differences << 1) ^ (differences >> 15)).view(np.uint16)
    planes = np.stack([folded & 255, folded >> 8]).astype(np.uint8)
    rows, columns = values.shape
    data = deflate(planes.tobytes())
    return {"unit": unit, "step": step, "largest": top, "data": data, "rows": rows, "columns": columns}


def bits(flags: NDArray[np.bool_]) -> str:
    """Encode flags as one bit a pixel."""
    return deflate(np.packbits(flags).tobytes())


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
