"""The part of each cell that lies inside closed rings, for the cells that their edges pass through.

The area of a cell inside is a sum over edges, as in `ring_parts.py`. An edge counts with the area to its left in the
cells that it passes through, and as a whole in all cells of these rows to their left. So an edge is looked at once in
each cell that it passes through, however many others there are, and what counts as a whole is added up along each row,
from the right.
"""

from __future__ import annotations

import numpy as np

from dpheatmap._util.jit import njit
from dpheatmap.place.place import Floats
from dpheatmap.place.quadtree import Ints


def parts_of_cells(edges: Ints, grid: int, rows: int, x: Ints, y: Ints) -> Floats:
    """The parts of cells inside; x, y are all cells that edges pass through, by row and column.

    >>> triangle = np.array([[0, 0, 4, 0], [4, 0, 0, 4], [0, 4, 0, 0]])
    >>> parts_of_cells(triangle, 4, 1, np.array([0]), np.array([0]))
    array([0.5])
    """
    starts = np.searchsorted(y, np.arange(rows + 1))
    parts, whole = np.zeros(len(x)), np.zeros(len(x) + 1)
    _sweep(edges, grid, x, starts, parts, whole)
    _add_whole(starts, parts, whole)
    return parts


@njit(cache=True, nogil=True, error_model="numpy")
def _sweep(edges: Ints, grid: int, x: Ints, starts: Ints, parts: Floats, whole: Floats) -> None:
    """Write what edges count in their cells, and at cell i what they count as a whole in the cells of its row before.

    The first cell of a row has none before it. So its place is that of edges beyond the last cell of the row above.
    """
    for k in range(len(edges)):
        xa, ya, xb, yb = edges[k, 0], edges[k, 1], edges[k, 2], edges[k, 3]
        sign = 1.0
        if ya > yb:
            xa, ya, xb, yb, sign = xb, yb, xa, ya, -1.0
        for row in range(ya // grid, (yb - 1) // grid + 1 if yb > ya else ya // grid):
            begin, end = max(ya, row * grid), min(yb, (row + 1) * grid)
            high = sign * (end - begin) / grid
            if xa == xb and xa % grid == 0:  # along the border of two cells
                at = starts[row] + np.searchsorted(x[starts[row] : starts[row + 1]], xa // grid)
                if at > starts[row]:
                    whole[at] += high
                continue
            # x at a height h is (xa (yb - ya) + (xb - xa)(h - ya)) / (yb - ya), in units of 1 / unit of a cell
            unit = grid * (yb - ya)
            one = xa * (yb - ya) + (xb - xa) * (begin - ya)
            other = xa * (yb - ya) + (xb - xa) * (end - ya)
            low, far = min(one, other), max(one, other)
            first, last = low // unit, (far - 1) // unit
            left, right = (low - first * unit) / unit, (far - first * unit) / unit
            at = starts[row] + np.searchsorted(x[starts[row] : starts[row + 1]], first)
            for c in range(last - first + 1):
                a, b = max(left, float(c)), min(right, c + 1.0)
                here = high if first == last else high * (b - a) / (right - left)
                parts[at + c] += here * (0.5 * (a + b) - c)
                if at + c > starts[row]:
                    whole[at + c] += here


@njit(cache=True, nogil=True)
def _add_whole(starts: Ints, parts: Floats, whole: Floats) -> None:
    """Add to each cell what counts as a whole in the cells before any that comes after it in its row."""
    for row in range(len(starts) - 1):
        total = whole[starts[row + 1]] if starts[row + 1] > starts[row] else 0.0
        for i in range(starts[row + 1] - 1, starts[row] - 1, -1):
            parts[i] += total
            total += whole[i]
