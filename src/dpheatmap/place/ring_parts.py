"""The part of each box that lies inside closed rings, exact for straight edges.

The length of a row of a box that lies inside closed rings is the sum, over the edges that the row crosses, of how far
to the right they cross it: with a plus where the edge has the inside on its left, and a minus where on its right. The
integral over the rows of a box is its area inside. It needs no decision about what is inside or out, so rounding
changes it as little as it changes the edges; holes and parts are rings like others.

Edges are sorted into strips of rows, so that a box meets few of them.
"""

from __future__ import annotations

import numpy as np

from dpheatmap._util.jit import njit
from dpheatmap.place.place import Floats

NEGLIGIBLE = 1e-9
"""The part of a box that counts as none."""
_MOST_STRIPS = 4096
_EDGES_OF_STRIP = 4


@njit(cache=True, nogil=True, error_model="numpy")
def fill_parts(edges: Floats, boxes: Floats, parts: Floats) -> None:
    """Write the part of each box that lies inside rings, given as edges (x0, y0, x1, y1); boxes far off stay as is."""
    if len(edges) == 0:
        return
    left, right = min(edges[:, 0].min(), edges[:, 2].min()), max(edges[:, 0].max(), edges[:, 2].max())
    top, bottom = min(edges[:, 1].min(), edges[:, 3].min()), max(edges[:, 1].max(), edges[:, 3].max())
    strips = max(1, min(len(edges) // _EDGES_OF_STRIP, _MOST_STRIPS))
    height = max((bottom - top) / strips, 1e-300)
    starts = np.zeros(strips + 1, np.int64)
    for k in range(len(edges)):
        first, last = _strips_of(edges[k, 1], edges[k, 3], top, height, strips)
        for s in range(first, last + 1):
            starts[s + 1] += 1
    for s in range(strips):
        starts[s + 1] += starts[s]
    filled, members = starts[:-1].copy(), np.empty(starts[-1], np.int64)
    for k in range(len(edges)):
        first, last = _strips_of(edges[k, 1], edges[k, 3], top, height, strips)
        for s in range(first, last + 1):
            members[filled[s]] = k
            filled[s] += 1
    for i in range(len(boxes)):
        x0, y0, x1, y1 = boxes[i, 0], boxes[i, 1], boxes[i, 2], boxes[i, 3]
        if x1 <= left or x0 >= right or y1 <= top or y0 >= bottom:
            continue
        inside = 0.0
        first, last = _strips_of(y0, y1, top, height, strips)
        for s in range(first, last + 1):
            begin = y0 if s == first else top + s * height
            end = y1 if s == last else top + (s + 1) * height
            for m in range(starts[s], starts[s + 1]):
                k = members[m]
                inside += _area_left_of_edge(edges[k, 0], edges[k, 1], edges[k, 2], edges[k, 3], x0, x1, begin, end)
        parts[i] = inside / ((x1 - x0) * (y1 - y0))


@njit(cache=True, error_model="numpy")
def _strips_of(y0: float, y1: float, top: float, height: float, strips: int) -> tuple[int, int]:
    """The first and the last strip that a range of rows meets."""
    low, high = (min(y0, y1) - top) / height, (max(y0, y1) - top) / height
    return int(min(max(low, 0.0), strips - 1)), int(min(max(high, 0.0), strips - 1))


@njit(cache=True, error_model="numpy")
def _area_left_of_edge(
    xa: float, ya: float, xb: float, yb: float, left: float, right: float, begin: float, end: float
) -> float:
    """The area of a box that lies left of an edge, between two rows; negative for an edge that goes up."""
    if ya == yb:
        return 0.0
    low, high = max(min(ya, yb), begin), min(max(ya, yb), end)
    if high <= low:
        return 0.0
    slope, width = (xb - xa) / (yb - ya), right - left
    x0, x1 = xa + slope * (low - ya) - left, xa + slope * (high - ya) - left
    if abs(x1 - x0) <= NEGLIGIBLE * width:
        area = (high - low) * min(max(0.5 * (x0 + x1), 0.0), width)
    else:
        area = (high - low) * (_reach(x1, width) - _reach(x0, width)) / (x1 - x0)
    return area if yb > ya else -area


@njit(cache=True, error_model="numpy")
def _reach(x: float, width: float) -> float:
    """The integral of min(t, width) from 0 to x, and 0 for an x below 0."""
    if x <= 0.0:
        return 0.0
    return 0.5 * x * x if x <= width else width * (x - 0.5 * width)
