"""Cells of a quadtree as Morton codes, and the rule that picks the largest ones.

Level ``i`` cuts the root square into ``2**i x 2**i`` cells. The Morton code of cell ``(x, y)`` interleaves the
bits of its column and row, ``... y1 x1 y0 x0``: in base 4 it is the quadkey of a map tile. The four children of
the cell with code ``c`` have the codes ``4c .. 4c + 3``, so all descendants at a deeper level are one range.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]

_SPREAD = (
    (16, 0x0000FFFF0000FFFF),
    (8, 0x00FF00FF00FF00FF),
    (4, 0x0F0F0F0F0F0F0F0F),
    (2, 0x3333333333333333),
    (1, 0x5555555555555555),
)
"""Shifts and masks: each step doubles the gaps between bits, until 28 bits stand in every second place of 56."""

# The same steps in reverse.
_GATHER = (
    (1, 0x3333333333333333),
    (2, 0x0F0F0F0F0F0F0F0F),
    (4, 0x00FF00FF00FF00FF),
    (8, 0x0000FFFF0000FFFF),
    (16, 0xFFFFFFFF),
)


def spread(bits: Ints) -> Ints:
    """The bits of numbers below 2^28, one or many, in every second place."""
    for shift, mask in _SPREAD:
        bits = (bits | (bits << shift)) & mask
    return bits


def _gather(bits: Ints) -> Ints:
    bits = bits & 0x5555555555555555
    for shift, mask in _GATHER:
        bits = (bits | (bits >> shift)) & mask
    return bits


def encode(x: Ints, y: Ints) -> Ints:
    """The Morton codes of cells given by column and row.

    >>> encode(np.array([0, 1, 0, 3]), np.array([0, 0, 1, 5])).tolist()
    [0, 1, 2, 39]
    """
    columns, rows = np.asarray(x, dtype=np.int64), np.asarray(y, dtype=np.int64)
    return spread(columns) | (spread(rows) << 1)


def decode(codes: Ints) -> tuple[Ints, Ints]:
    """Columns and rows of Morton codes: the inverse of :func:`encode`.

    >>> x, y = decode(np.array([0, 1, 2, 39]))
    >>> x.tolist(), y.tolist()
    ([0, 1, 0, 3], [0, 0, 1, 5])
    """
    codes = np.asarray(codes, dtype=np.int64)
    return _gather(codes), _gather(codes >> 1)


def children(codes: Ints) -> Ints:
    """The codes, one level down, of the four children of each cell, in order.

    >>> children(np.array([1])).tolist()
    [4, 5, 6, 7]
    """
    four: Ints = (np.asarray(codes, dtype=np.int64)[:, None] * 4 + np.arange(4)).ravel()
    return four


def largest(codes: Ints, values: Ints, width: int) -> Ints:
    """Positions, ascending, of the ``width`` largest values; equal values are ranked by their Morton code.

    The rule looks at published (noisy) values and at positions only, so it reveals nothing that they don't.

    >>> largest(np.array([4, 5, 6, 7]), np.array([3, 9, 3, 1]), 2).tolist()
    [0, 1]
    """
    if len(codes) <= width:
        return np.arange(len(codes))
    return np.sort(np.lexsort((codes, -values))[:width])
