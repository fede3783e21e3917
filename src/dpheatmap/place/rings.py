"""Areas as closed rings of straight edges, in units of a domain's finest cells.

An edge that is straight in the coordinates of its source is bent on the map. It is cut at its middle until no piece
strays from its chord by more than a fiftieth of a finest cell.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from dpheatmap.place.place import Floats
from dpheatmap.place.quadtree import Ints

Projection = Callable[[Floats], Floats]
"""From points (x, y) of a source to points in units of the finest cells."""

_STRAY = 0.02  # finest cells
_MOST_CUTS = 12


class Rings(NamedTuple):
    """Closed rings: the points of all rings one after the other, and for each point its ring.

    For each ring, it tells the area that it belongs to, and whether it is the rim of a hole.
    """

    points: Floats
    ring: Ints
    area: Ints
    hole: Ints


class Shapes(NamedTuple):
    """Named areas: directed edges (x0, y0, x1, y1), those of area k from ``starts[k]`` up to ``starts[k + 1]``.

    The inside of an area is on the same side of all of its edges, that on which `ring_parts.py` counts it.
    """

    names: list[str]
    edges: Floats
    starts: Ints
    sizes: Floats
    """The sizes of the areas, in finest cells."""

    def with_copy(self, copy: Shapes) -> Shapes:
        """The same areas at two places, as on a world that goes on beyond its edge; their sizes stay."""
        several = np.arange(len(self.names))
        area = np.concatenate([np.repeat(several, np.diff(each.starts)) for each in (self, copy)])
        order = np.argsort(area, kind="stable")
        return self._replace(edges=np.concatenate([self.edges, copy.edges])[order], starts=self.starts + copy.starts)


def edge_starts(rings: Rings) -> Ints:
    """The numbers of the points that an edge begins at; it ends at the next."""
    return np.flatnonzero(rings.ring[1:] == rings.ring[:-1])


def shapes_of_rings(names: list[str], rings: Rings, project: Projection) -> Shapes:
    """Project the rings of areas, and turn each so that what it bounds is counted, and what is in a hole is not.

    >>> square = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 2.0], [0.0, 2.0], [0.0, 0.0]])
    >>> rings = Rings(square, np.zeros(5, np.int64), np.zeros(1, np.int64), np.zeros(1, np.int64))
    >>> shapes_of_rings(["door"], rings, lambda points: points).sizes
    array([2.])
    """
    begin = edge_starts(rings)
    edges, ring = _cut(rings.points[begin], rings.points[begin + 1], rings.ring[begin], project)
    size = np.bincount(ring, _swept(edges), len(rings.area))
    turned = (size < 0) != (rings.hole[: len(size)] > 0)
    edges[turned[ring]] = edges[turned[ring]][:, [2, 3, 0, 1]]
    area = rings.area[ring]
    order = np.argsort(area, kind="stable")
    starts = np.concatenate([[0], np.cumsum(np.bincount(area, minlength=len(names)))])
    sizes = np.bincount(area, _swept(edges), len(names)).astype(np.float64)
    return Shapes(names, edges[order], starts, sizes)


def _cut(first: Floats, last: Floats, ring: Ints, project: Projection) -> tuple[Floats, Ints]:
    """Project edges between points of the source, cut where they are bent."""
    begin, end = project(first), project(last)
    done, rings = [np.zeros((0, 4))], [np.zeros(0, np.int64)]
    for cuts in range(_MOST_CUTS + 1):
        middle = 0.5 * (first + last)
        bend = project(middle)
        stray = np.abs(bend - 0.5 * (begin + end)).max(axis=1, initial=0.0)
        straight = (stray <= _STRAY) | (cuts == _MOST_CUTS)
        done.append(np.concatenate([begin[straight], end[straight]], axis=1))
        rings.append(ring[straight])
        bent = ~straight
        if not bent.any():
            break
        first, last = np.concatenate([first[bent], middle[bent]]), np.concatenate([middle[bent], last[bent]])
        begin, end = np.concatenate([begin[bent], bend[bent]]), np.concatenate([bend[bent], end[bent]])
        ring = np.tile(ring[bent], 2)
    return np.concatenate(done), np.concatenate(rings)


def _swept(edges: Floats) -> Floats:
    """The area between each edge and the column 0, with a minus for edges that go up."""
    x0, y0, x1, y1 = edges.T
    swept: Floats = 0.5 * (x0 + x1) * (y1 - y0)
    return swept
