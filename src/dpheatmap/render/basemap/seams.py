"""Rings that were cut along straight edges, put together again.

Where two pieces of land meet, one ring runs up their common edge and the other one down. Both runs are taken out, and
what is left is linked to rings that know nothing of the edge. Land is on the left of every ring, before and after.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpheatmap.render.basemap.polylines import parts_where

Point = tuple[float, float]
Seam = tuple[Point, Point]


def join_rings(rings: Sequence[NDArray[Any]], along: Sequence[NDArray[np.bool_]]) -> list[NDArray[Any]]:
    """Join rings; ``along`` tells for each which of its segments lie on an edge that it was cut along.

    >>> left = np.array([[0, 0], [4, 0], [4, 4], [0, 4], [0, 0]])
    >>> edges = [np.array([0, 1, 0, 0], dtype=bool), np.array([0, 0, 0, 1], dtype=bool)]
    >>> [ring.tolist() for ring in join_rings([left, left + [4, 0]], edges)]
    [[[4, 4], [0, 4], [0, 0], [4, 0], [8, 0], [8, 4], [4, 4]]]
    """
    whole: list[NDArray[Any]] = []
    chains: list[NDArray[Any]] = []
    seams: list[Seam] = []
    for ring, edge in zip(rings, along, strict=True):
        if not edge.any():
            whole.append(ring)
            continue
        chains += parts_where(ring, ~edge)
        points = [(x, y) for x, y in ring.tolist()]
        seams += [(points[i], points[i + 1]) for i in np.flatnonzero(edge).tolist()]
    return whole + _link([*(np.array(seam) for seam in _one_sided(seams)), *chains])


def _one_sided(seams: Iterable[Seam]) -> list[Seam]:
    """Seams, cut at each other's ends, without those that have an opposite."""
    runs: dict[tuple[int, float], list[tuple[float, float]]] = defaultdict(list)
    for start, stop in seams:
        axis = 0 if start[0] == stop[0] else 1  # the coordinate that stays
        runs[axis, start[axis]].append((start[1 - axis], stop[1 - axis]))
    left: list[Seam] = []
    for (axis, at), ends in runs.items():
        cuts = sorted({end for run in ends for end in run})
        number = {cut: i for i, cut in enumerate(cuts)}
        net: Counter[int] = Counter()
        for start_at, stop_at in ends:
            low, high = sorted((number[start_at], number[stop_at]))
            net.update(dict.fromkeys(range(low, high), 1 if stop_at > start_at else -1))
        for i, count in net.items():
            run = (cuts[i], cuts[i + 1]) if count > 0 else (cuts[i + 1], cuts[i])
            first, last = ((at, end) if axis == 0 else (end, at) for end in run)
            left += [(first, last)] * abs(count)
    return left


def _link(chains: Sequence[NDArray[Any]]) -> list[NDArray[Any]]:
    """Link chains to rings: each goes on with one that starts where it ends. As many start at a point as end there."""
    ends = [(tuple(chain[0].tolist()), tuple(chain[-1].tolist())) for chain in chains]
    starts: dict[tuple[float, ...], list[int]] = defaultdict(list)
    for number, (start, _) in enumerate(ends):
        starts[start].append(number)
    rings: list[NDArray[Any]] = []
    for start in list(starts):
        while starts[start]:
            parts: list[NDArray[Any]] = []
            at = start
            while starts[at]:
                number = starts[at].pop()
                parts.append(chains[number][1 if parts else 0 :])
                at = ends[number][1]
                if at == start:
                    break
            rings.append(np.concatenate(parts))
    return rings
