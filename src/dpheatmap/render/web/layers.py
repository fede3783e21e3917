"""Encoding of arrays as text in a page: 16 bits a pixel, at least three digits, small because maps are smooth."""

from __future__ import annotations

import base64
import zlib
from typing import Any

import numpy as np

from dpheatmap.place.domain import Floats

_LINEAR_BELOW = 1e-7  # of the largest value: below this, values are evenly spaced; above, their ratios are
LEVELS = 2**15 - 1
"""The largest integer that stands for a value."""


def deflate(data: bytes) -> str:
    """Encode bytes as deflated base64."""
    return base64.b64encode(zlib.compress(data, 6)).decode("ascii")


def layer(values: Floats, levels: int = LEVELS) -> dict[str, Any]:
    """Encode values as 16-bit integers q with value = unit * sinh(step * q), accurate to 0.03 % over seven decades.

    Fewer ``levels`` take less room, and are less accurate in proportion.

    The integers are differenced along both axes modulo 2^16, which makes them small where the map is smooth. They are
    folded so that small differences of either sign are small numbers, and deflated, low bytes first.
    """
    top = float(np.abs(values).max(initial=0.0))
    unit = _LINEAR_BELOW * top or 1.0
    step = float(np.arcsinh(1.0 / _LINEAR_BELOW)) / levels
    steps = np.rint(np.arcsinh(values / unit) / step).astype(np.int64)
    differences = np.diff(np.diff(steps, axis=0, prepend=0), axis=1, prepend=0).astype(np.uint16).view(np.int16)
    folded = ((differences << 1) ^ (differences >> 15)).view(np.uint16)
    planes = np.stack([folded & 255, folded >> 8]).astype(np.uint8)
    rows, columns = values.shape
    data = deflate(planes.tobytes())
    return {"unit": unit, "step": step, "data": data, "rows": rows, "columns": columns}
