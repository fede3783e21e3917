"""The outlines of regions on a grid, along the edges of its cells."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dpheatmap.place.domain import Floats


def outlines(inside: NDArray[np.bool_]) -> list[Floats]:
    """Find rings of corners (column, row) around the marked cells, with the region on the right as rows grow downward.

    So outer rings run clockwise on a picture, and holes counter-clockwise. Corners in the middle of a straight line are
    left out; the first is not repeated at the end. No ring touches itself: where cells meet at a corner, it is cut.

    >>> [ring.tolist() for ring in outlines(np.array([[True, True], [False, False]]))]
    [[[0.0, 0.0], [2.0, 0.0], [2.0, 1.0], [0.0, 1.0]]]
    """
    row, column = (np.flatnonzero(inside.any(axis=axis)) for axis in (1, 0))
    if not len(row):
        return []
    framed = np.pad(inside[row[0] : row[-1] + 1, column[0] : column[-1] + 1], 1)  # the rest of the grid is empty
    following: dict[tuple[int, int], list[tuple[int, int]]] = {}
    # Each edge between a marked cell and another, directed with the marked one on the right.
    for shift, axis, x0, y0, x1, y1 in (
        (1, 0, 0, 0, 1, 0),
        (-1, 1, 1, 0, 1, 1),
        (-1, 0, 1, 1, 0, 1),
        (1, 1, 0, 1, 0, 0),
    ):
        rows, columns = np.nonzero(framed & ~np.roll(framed, shift, axis=axis))
        for x, y in zip((columns + column[0] - 1).tolist(), (rows + row[0] - 1).tolist(), strict=True):
            following.setdefault((x + x0, y + y0), []).append((x + x1, y + y1))
    rings = []
    while following:
        at, came = next(iter(following)), (0, 0)
        ring, place = [at], {at: 0}
        while ring:
            at, came = _next(following, at, came)
            if at in place:  # a ring is closed, perhaps by only a part of the path
                first = place[at]
                rings.append(_turns(np.array(ring[first:], np.float64)))
                for corner in ring[first + 1 :]:
                    del place[corner]
                ring = ring[: first + 1] if first else []
            else:
                place[at] = len(ring)
                ring.append(at)
    return rings


def _next(
    following: dict[tuple[int, int], list[tuple[int, int]]], at: tuple[int, int], came: tuple[int, int]
) -> tuple[tuple[int, int], tuple[int, int]]:
    """The next corner, to the right where the path forks, and the step to it; the edge is removed."""
    ways = following[at]
    right = (at[0] - came[1], at[1] + came[0])
    chosen = right if right in ways else ways[0]
    ways.remove(chosen)
    if not ways:
        del following[at]
    return chosen, (chosen[0] - at[0], chosen[1] - at[1])


def _turns(ring: Floats) -> Floats:
    """The corners at which a ring turns."""
    before, after = ring - np.roll(ring, 1, axis=0), np.roll(ring, -1, axis=0) - ring
    turns: Floats = ring[(before != after).any(axis=1)]
    return turns
