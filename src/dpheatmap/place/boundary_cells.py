"""Compiled loops of a boundary: the cells that its edges pass through, and the cells inside, row by row.

Points are whole numbers below 2^30, ``grid`` of them on the side of a cell, so products of two fit into 64 bits.
"""

from __future__ import annotations

import numpy as np

from dpheatmap._util.jit import njit
from dpheatmap.place.quadtree import Ints


def bound_of_cells(edges: Ints, grid: int) -> int:
    """At least as many as the cells that edges pass through or along: one each, and one at every border they cross.

    >>> bound_of_cells(np.array([[0, 0, 10, 3], [10, 3, 0, 3]]), 4)
    6
    """
    cells = edges // grid
    return len(edges) + int(np.abs(cells[:, 2:] - cells[:, :2]).sum())


def cells_cut(edges: Ints, grid: int) -> tuple[Ints, Ints]:
    """Columns and rows of the cells whose open squares edges pass through, each once, by row and column."""
    count = int(_cut(edges, grid, np.zeros(0, np.int64), np.zeros(0, np.int64)))
    x, y = np.zeros(count, np.int64), np.zeros(count, np.int64)
    _cut(edges, grid, x, y)
    keys = np.unique((y << 32) | x)
    return keys & 0xFFFFFFFF, keys >> 32


@njit(cache=True, nogil=True)
def _cut(edges: Ints, grid: int, x: Ints, y: Ints) -> int:
    """Write the cells, if there is room for them; returns their number."""
    count: int = 0
    room = len(x) > 0
    for k in range(len(edges)):
        xa, ya, xb, yb = edges[k, 0], edges[k, 1], edges[k, 2], edges[k, 3]
        if ya > yb:
            xa, ya, xb, yb = xb, yb, xa, ya
        first_row, last_row = ya // grid, (yb - 1) // grid
        if ya == yb:
            if ya % grid == 0:  # along the border of two cells
                continue
            last_row = first_row
        for row in range(first_row, last_row + 1):
            if ya == yb:
                first, last = min(xa, xb) // grid, (max(xa, xb) - 1) // grid
            elif xa == xb:
                if xa % grid == 0:
                    break
                first = last = xa // grid
            else:
                begin, end = max(ya, row * grid), min(yb, (row + 1) * grid)
                # x at a height h is (xa (yb - ya) + (xb - xa)(h - ya)) / (yb - ya)
                high = yb - ya
                one, other = xa * high + (xb - xa) * (begin - ya), xa * high + (xb - xa) * (end - ya)
                first, last = min(one, other) // (grid * high), (max(one, other) - 1) // (grid * high)
            if room:
                for column in range(first, last + 1):
                    x[count + column - first], y[count + column - first] = column, row
            count += last - first + 1
    return count


def cells_beside(edges: Ints, grid: int) -> tuple[Ints, Ints]:
    """Columns and rows of the cells on both sides of edges that run along borders of cells."""
    found = [np.zeros((0, 2), np.int64)]
    for axis in (0, 1):
        along = edges[(edges[:, axis] == edges[:, 2 + axis]) & (edges[:, axis] % grid == 0)]
        one, other = along[:, 1 - axis], along[:, 3 - axis]
        first, last = np.minimum(one, other) // grid, (np.maximum(one, other) - 1) // grid
        many = last - first + 1
        place = np.arange(many.sum()) + np.repeat(first - np.cumsum(many) + many, many)
        border = np.repeat(along[:, axis] // grid, many)
        for side in (0, 1):
            found.append(np.stack([border - side, place][:: 1 - 2 * axis], axis=1))
    x, y = np.concatenate(found).T
    return x, y


def rows_of_cells(edges: Ints, grid: int, rows: int, x: Ints, y: Ints) -> tuple[Ints, Ints, Ints]:
    """Runs of cells that meet a boundary: row, first and last column, in order; x, y are those cut, by row.

    How often rings wind around the middle of a cell is a sum over the edges that cross the row's middle to its left: 1
    for an edge that goes up, with the inside of its outer rim on the right, and -1 for one that goes down.
    """
    step_row, step_column, step = _steps(edges, grid)
    order = np.lexsort((step_column, step_row))
    step_row, step_column, step = step_row[order], step_column[order], step[order]
    ends = np.arange(rows + 1)
    cut_at, step_at = np.searchsorted(y, ends), np.searchsorted(step_row, ends)
    most = len(x) + len(step)
    row, first, last = np.empty(most, np.int64), np.empty(most, np.int64), np.empty(most, np.int64)
    count = _fill_runs(rows, x, cut_at, step_column, step, step_at, row, first, last)
    return row[:count], first[:count], last[:count]


@njit(cache=True, nogil=True)
def _steps(edges: Ints, grid: int) -> tuple[Ints, Ints, Ints]:
    """Where the winding number changes: the row, the first column to the right, and by how much."""
    count = 0
    for k in range(len(edges)):
        low, high = min(edges[k, 1], edges[k, 3]), max(edges[k, 1], edges[k, 3])
        count += (high + grid // 2 - 1) // grid - (low + grid // 2 - 1) // grid
    row, column, change = np.empty(count, np.int64), np.empty(count, np.int64), np.empty(count, np.int64)
    at = 0
    for k in range(len(edges)):
        xa, ya, xb, yb = edges[k, 0], edges[k, 1], edges[k, 2], edges[k, 3]
        change_here = -1
        if ya > yb:
            xa, ya, xb, yb, change_here = xb, yb, xa, ya, 1
        # the rows whose middles are at a height h with ya <= h < yb
        for r in range((ya + grid // 2 - 1) // grid, (yb + grid // 2 - 1) // grid):
            height = r * grid + grid // 2
            numerator = (xa - grid // 2) * (yb - ya) + (xb - xa) * (height - ya)
            row[at], change[at] = r, change_here
            column[at] = numerator // (grid * (yb - ya)) + 1  # the first whose middle is farther to the right
            at += 1
    return row, column, change


@njit(cache=True, nogil=True)
def _fill_runs(
    rows: int, cut: Ints, cut_at: Ints, step_column: Ints, step: Ints, step_at: Ints, row: Ints, first: Ints, last: Ints
) -> int:
    """Write the runs of each row: the cells that are cut, and those around whose middles the rings wind."""
    count = 0
    for r in range(rows):
        c, s = cut_at[r], step_at[r]
        open_run = False
        winding, begin = 0, 0
        while c < cut_at[r + 1] or s < step_at[r + 1]:
            if s == step_at[r + 1] or (c < cut_at[r + 1] and cut[c] < step_column[s]):
                left, right = cut[c], cut[c]
                c += 1
                if winding > 0:
                    continue  # the cell lies in a run that is being measured
            else:
                before = winding
                column = step_column[s]
                winding += step[s]
                s += 1
                if before <= 0 < winding:
                    begin = column
                if not before > 0 >= winding or column == begin:
                    continue
                left, right = begin, column - 1
            if open_run and left <= last[count - 1] + 1:
                last[count - 1] = max(last[count - 1], right)
            else:
                row[count], first[count], last[count] = r, left, right
                count += 1
                open_run = True
    return count


def quads_of(starts: Ints, ends: Ints) -> tuple[Ints, Ints]:
    """The largest quads of the quadtree in ranges of codes, which may be empty: first codes, and sizes.

    >>> quads_of(np.array([0, 5]), np.array([4, 8]))
    (array([0, 5, 6, 7]), array([4, 1, 1, 1]))
    """
    count = _quads(starts, ends, np.zeros(0, np.int64), np.zeros(0, np.int64))
    start, size = np.empty(count, np.int64), np.empty(count, np.int64)
    _quads(starts, ends, start, size)
    return start, size


@njit(cache=True, nogil=True)
def _quads(starts: Ints, ends: Ints, start: Ints, size: Ints) -> int:
    """Write the quads, if there is room for them; returns their number."""
    count, room = 0, len(start) > 0
    for k in range(len(starts)):
        at = starts[k]
        while at < ends[k]:
            many = 1
            while at % (4 * many) == 0 and at + 4 * many <= ends[k]:
                many *= 4
            if room:
                start[count], size[count] = at, many
            count += 1
            at += many
    return count
