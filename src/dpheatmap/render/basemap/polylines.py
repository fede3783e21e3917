"""Lines and rings on a map: cut to a window, simplified, grouped into polygons. Arrays of longitudes and latitudes.

A ring is a closed line. Its fill is what a ray out of it crosses an odd number of times, so a ring may run back and
forth along an edge of the window without harm.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from dpheatmap.place.domain import Bounds, Floats

_FEWEST = 4  # points of a ring that has an area
_LOOKS = 64  # at each point, on average, before lines are split in the middle


def turns_of(line: Floats, window: Bounds) -> Iterator[Floats]:
    """A line, and the same one world farther east or west, if a window meets them.

    >>> [turn.tolist() for turn in turns_of(np.array([[-175.0, 0.0], [-171.0, 1.0]]), Bounds(170, 0, 190, 1))]
    [[[185.0, 0.0], [189.0, 1.0]]]
    """
    (west, south), (east, north) = line.min(axis=0), line.max(axis=0)
    if south <= window.y1 and north >= window.y0:
        for turn in (-360.0, 0.0, 360.0):
            if west + turn <= window.x1 and east + turn >= window.x0:
                yield line + np.array([turn, 0.0])


def cut_ring(ring: Floats, window: Bounds) -> Floats:
    """Cut a ring to a window, by Sutherland and Hodgman's method; no points if nothing is left.

    >>> square = np.array([[0, 0], [2, 0], [2, 2], [0, 2], [0, 0]], dtype=float)
    >>> cut_ring(square, Bounds(1, -1, 3, 3)).tolist()
    [[1.0, 0.0], [2.0, 0.0], [2.0, 2.0], [1.0, 2.0], [1.0, 0.0]]
    """
    for axis, edge, sign in ((0, window.x0, 1), (0, window.x1, -1), (1, window.y0, 1), (1, window.y1, -1)):
        ring = _one_side(ring, axis, edge, sign)
    return ring if len(ring) >= _FEWEST else ring[:0]


def _one_side(ring: Floats, axis: int, edge: float, sign: int) -> Floats:
    """The part of a ring on one side of a straight edge, closed along it."""
    beyond = sign * (ring[:, axis] - edge)
    inside = beyond >= 0
    if inside.all() or not inside.any():
        return ring if inside.all() else ring[:0]
    start, stop = beyond[:-1], beyond[1:]
    crosses = inside[:-1] != inside[1:]
    share = np.divide(start, start - stop, out=np.zeros_like(start), where=crosses)
    meeting = ring[:-1] + share[:, None] * np.diff(ring, axis=0)
    meeting[:, axis] = edge
    both = np.stack([ring[:-1], meeting], axis=1).reshape(-1, 2)
    kept = both[np.column_stack([inside[:-1], crosses]).ravel()]
    return np.concatenate([kept, kept[:1]])


def cut_line(line: Floats, window: Bounds) -> list[Floats]:
    """The parts of a line inside a window.

    >>> [part.tolist() for part in cut_line(np.array([[-1.0, 0.5], [0.5, 0.5], [0.5, 3.0]]), Bounds(0, 0, 1, 1))]
    [[[0.0, 0.5], [0.5, 0.5], [0.5, 1.0]]]
    """
    if ((line >= window[:2]) & (line <= window[2:])).all():
        return [line] if len(line) > 1 else []
    start, step = line[:-1], np.diff(line, axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        low, high = (np.subtract(window[:2], start) / step, np.subtract(window[2:], start) / step)
    still = step == 0
    within = (start >= window[:2]) & (start <= window[2:])
    enters = np.where(still, np.where(within, -np.inf, np.inf), np.minimum(low, high)).max(axis=1).clip(0.0)
    leaves = np.where(still, np.where(within, np.inf, -np.inf), np.maximum(low, high)).min(axis=1).clip(None, 1.0)
    parts: list[list[Floats]] = []
    last = -1
    for i in np.flatnonzero(enters < leaves).tolist():
        if last != i - 1 or enters[i] > 0.0 or not parts:
            parts.append([start[i] + enters[i] * step[i]])
        parts[-1].append(line[i + 1] if leaves[i] >= 1.0 else start[i] + leaves[i] * step[i])
        last = i if leaves[i] >= 1.0 else -1
    return [np.array(part).clip(window[:2], window[2:]) for part in parts]


def cut_edges(ring: Floats, window: Bounds) -> NDArray[np.bool_]:
    """Tell which segments of a ring run where it was cut: along an edge of the window, or the antimeridian.

    >>> cut_edges(np.array([[0, 0], [1, 0], [0, 1], [0, 0]], dtype=float), Bounds(0, 0, 5, 5)).tolist()
    [True, False, True]
    """
    x, y = ring.T
    on = np.stack([x == window.x0, x == window.x1, y == window.y0, y == window.y1, x % 360 == 180])
    cut: NDArray[np.bool_] = (on[:, :-1] & on[:, 1:]).any(axis=0)
    return cut


def parts_where(ring: Floats, shown: NDArray[np.bool_]) -> list[Floats]:
    """The parts of a ring that consist of chosen segments."""
    if shown.all() or not shown.any():
        return [ring] if shown.all() else []
    # Started behind a segment that is left out, the ring has no part that goes through its first point.
    first = int(np.flatnonzero(~shown)[0])
    shown = np.roll(shown, -first)
    turned = np.concatenate([ring[first:-1], ring[: first + 1]])
    steps = np.diff(np.concatenate([[False], shown, [False]]).astype(np.int8))
    starts, stops = np.flatnonzero(steps == 1), np.flatnonzero(steps == -1)
    return [turned[start : stop + 1] for start, stop in zip(starts.tolist(), stops.tolist(), strict=True)]


def simplify(lines: Sequence[Floats], tolerance: float) -> list[Floats]:
    """Leave out vertices, by Douglas and Peucker's method, so that no line moves by more than the tolerance.

    The tolerance is in degrees of latitude; east-west distances are shortened as on the ground. Ends stay. Rings that
    lose their area come out with fewer than four points. All lines are split at once, level by level. A zigzag would be
    split near an end, over and over. After more work than any coast needs, the rest is split in the middle, which may
    keep some points more.

    >>> simplify([np.array([[0, 0], [1, 0.001], [2, 0], [2, 2]], dtype=float)], 0.01)[0].tolist()
    [[0.0, 0.0], [2.0, 0.0], [2.0, 2.0]]
    """
    if not lines:
        return []
    points = np.concatenate(lines)
    ends = np.cumsum([len(line) for line in lines])
    keep = np.zeros(len(points), dtype=np.bool_)
    start, stop = ends - [len(line) for line in lines], ends - 1
    keep[start] = keep[stop] = True
    shorter = np.cos(np.radians(np.clip(points[:, 1], -85.0, 85.0)))
    looks = 0
    while True:
        open_ = stop - start > 1
        start, stop = start[open_], stop[open_]
        if not len(start):
            break
        inner = stop - start - 1
        firsts = np.cumsum(inner) - inner
        index = np.arange(int(inner.sum())) + np.repeat(start + 1 - firsts, inner)
        distance = _distances(points, shorter, index, np.repeat(start, inner), np.repeat(stop, inner))
        farthest = np.maximum.reduceat(distance, firsts)
        at_most = np.flatnonzero(distance == np.repeat(farthest, inner))
        split = index[at_most[np.searchsorted(at_most, firsts)]]
        looks += len(index)
        if looks > _LOOKS * len(points):
            split = (start + stop) // 2
        far = farthest > tolerance
        start, stop, split = start[far], stop[far], split[far]
        keep[split] = True
        start, stop = np.concatenate([start, split]), np.concatenate([split, stop])
    kept = np.cumsum(keep)[ends - 1]
    return np.split(points[keep], kept[:-1])


def _distances(
    points: Floats, shorter: Floats, index: NDArray[np.int64], start: NDArray[np.int64], stop: NDArray[np.int64]
) -> Floats:
    """The distances of points from their chords, east-west shortened as at each point."""
    east = shorter[index]
    x, y = (points[index, 0] - points[start, 0]) * east, points[index, 1] - points[start, 1]
    chord_x, chord_y = (points[stop, 0] - points[start, 0]) * east, points[stop, 1] - points[start, 1]
    length = chord_x**2 + chord_y**2
    along = np.divide(x * chord_x + y * chord_y, length, out=np.zeros_like(x), where=length > 0).clip(0.0, 1.0)
    distance: Floats = np.hypot(x - along * chord_x, y - along * chord_y)
    return distance


def area_of(ring: Floats) -> float:
    """The area inside a ring in square degrees, negative if it runs clockwise."""
    x, y = (ring - ring[0]).T
    return float(0.5 * (x[:-1] * y[1:] - x[1:] * y[:-1]).sum())


def polygons_of(shores: Sequence[Floats], waters: Sequence[Floats]) -> list[list[Floats]]:
    """Group rings into polygons: each shore with the waters inside it, the smallest shore that holds one."""
    order = sorted(shores, key=lambda shore: abs(area_of(shore)))
    polygons = [[shore] for shore in order]
    boxes = [(shore.min(axis=0), shore.max(axis=0)) for shore in order]
    for water in waters:
        # A few points of its shore: some may lie on the window's edge, which is the land's edge, too.
        middles = ((water[:-1] + water[1:]) / 2)[:: max(1, len(water) // 8)]
        for polygon, (low, high) in zip(polygons, boxes, strict=True):
            near = middles[((middles >= low) & (middles <= high)).all(axis=1)]
            if any(holds(polygon[0], middle) for middle in near):
                polygon.append(water)
                break
    return polygons


def holds(ring: Floats, point: Floats) -> bool:
    """Whether a point lies inside a ring."""
    (x0, y0), (x1, y1) = ring[:-1].T, ring[1:].T
    spans = (y0 > point[1]) != (y1 > point[1])
    x = x0[spans] + (point[1] - y0[spans]) * (x1[spans] - x0[spans]) / (y1[spans] - y0[spans])
    return bool((x > point[0]).sum() % 2)
