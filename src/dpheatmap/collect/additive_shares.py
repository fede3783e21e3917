"""Additive shares: uniform numbers modulo a power of two that add up to a value; all but one reveal nothing of it.

All but the last share are uniform and independent of the value, and so are any r - 1 of the r shares: for any values of
these there is one value of the missing share for each secret.
"""

from __future__ import annotations

import os

import numpy as np
from numpy.typing import NDArray

from dpheatmap.curator import Source
from dpheatmap.place.quadtree import Ints

Words = NDArray[np.uint64]
WORD = 64
"""Bits of a word."""


def split(values: Ints, shares: int, bits: int, source: Source = os.urandom) -> Words:
    """Split each value into so many shares mod ``2**bits``, as rows: row r has the r-th share of every value.

    >>> (split(np.array([7, -1]), 3, 64).sum(axis=0, dtype=np.uint64).astype(np.int64)).tolist()
    [7, -1]
    """
    size, mask = (shares - 1) * len(values), np.uint64((1 << bits) - 1)
    word = np.uint32 if bits <= 32 else np.uint64
    rows = np.empty((shares, len(values)), dtype=np.uint64)
    drawn = np.frombuffer(source(size * word().itemsize), dtype=word, count=size)
    np.bitwise_and(drawn.reshape(shares - 1, len(values)), mask, out=rows[:-1], casting="unsafe")
    rows[-1] = (values.astype(np.uint64) - rows[:-1].sum(axis=0, dtype=np.uint64)) & mask
    return rows


def signed_integers(sums: Words, bits: int, largest: int) -> Ints:
    """Map sums mod ``2**bits`` to the integers that they stand for: those above the largest possible one are negative.

    >>> signed_integers(np.array([3, 15], dtype=np.uint64), 4, 12).tolist()
    [3, -1]
    """
    values = (sums & np.uint64((1 << bits) - 1)).astype(np.int64)
    if bits == 64:
        return values
    return np.where(values > largest, values - (1 << bits), values)
