"""A boundary: closed rings between points of a grid, and the finest cells that meet it, by whole numbers alone.

Corners are snapped to a grid of GRID x GRID points a finest cell. From there on nothing is rounded: which cells meet a
boundary is the same on every machine, and follows from the rings, which a file holds.

**Inside** is where the rings wind around more than 0 times, rims of holes the other way round. So parts may overlap.
**A finest cell meets the boundary** if an edge passes through its open square, or if its middle is inside. A cell that
no edge passes through is inside or outside as a whole.

**Rows of cells.** An edge passes through the open squares between where it enters a row of cells and where it leaves
it, which are quotients of whole numbers. How often the rings wind around the middles of a row's cells changes at the
edges that cross the row's middle.

**Morton ranges.** Take the cells that edges pass through, and those beside edges that run along borders of cells. No
edge passes through what lies between two of them in Morton order, not even between its cells. Such a gap is a few quads
of the quadtree, each inside or outside as a whole, and one of its cells tells which.
"""

from __future__ import annotations

import base64
import zlib
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dpheatmap.errors import DomainError
from dpheatmap.place.mask import CellRange, RangeMask, Runs, join_ranges
from dpheatmap.place.quadtree import Ints, encode

GRID = 64
"""Points of the grid on the side of a finest cell."""

MOST_CELLS, MOST_CUT = 2**24, 2**22
"""The longest side of a boundary's rectangle in finest cells; the most of them that edges may pass through or along."""

MOST_POINTS = 2**20
"""The most corners of a boundary."""

_LARGEST = 2**24  # bytes of unpacked rings, 8 for each coordinate
_LEAST_PART = 1.0 / 256  # of a cell that meets the boundary, as a base measure: nobody is ruled out there


class Boundary(NamedTuple):
    """Closed rings: points of the grid, one ring after the other, and the number of points of each ring.

    The last point of a ring is joined to its first.
    """

    points: Ints
    sizes: Ints

    @property
    def edges(self) -> Ints:
        """All edges (x0, y0, x1, y1), in the order of their first points."""
        after = np.arange(1, len(self.points) + 1)
        ends = np.cumsum(self.sizes)
        after[ends - 1] = ends - self.sizes
        return np.concatenate([self.points, self.points[after]], axis=1)

    def pack(self) -> str:
        """Write the rings as text: differences of neighbours, deflated."""
        steps = np.diff(self.points, axis=0, prepend=np.zeros((1, 2), np.int64))
        folded = ((steps << 1) ^ (steps >> 63)).ravel()
        numbers = np.concatenate([[len(self.sizes)], self.sizes, folded]).astype(np.uint64)
        return base64.b64encode(zlib.compress(_varints(numbers), 9)).decode("ascii")

    @classmethod
    def unpack(cls, text: str) -> Boundary:
        """Read what :meth:`pack` wrote; raises ValueError for anything else."""
        inflater = zlib.decompressobj()
        try:
            data = inflater.decompress(base64.b64decode(text, validate=True), _LARGEST)
        except zlib.error:
            data = b""
        if not inflater.eof or inflater.unused_data:
            raise ValueError("the rings are damaged, or too many")
        numbers = _numbers(data)
        rings = int(numbers[0]) if len(numbers) else 0
        sizes = numbers[1 : 1 + rings]
        if not 0 < rings == len(sizes) or sizes.min() < 3 or sizes.max() > MOST_POINTS:
            raise ValueError("the rings are not whole, or too large")
        if sizes.sum() > MOST_POINTS or len(numbers) != 1 + rings + 2 * int(sizes.sum()):
            raise ValueError("the rings are not whole, or too many")
        folded = numbers[1 + rings :].reshape(-1, 2)
        return cls(np.cumsum((folded >> 1) ^ -(folded & 1), axis=0), sizes)


def boundary_of_edges(edges: NDArray[np.float64]) -> Boundary:
    """Snap directed edges (x0, y0, x1, y1) of closed rings, in units of finest cells, and join them to rings.

    Edges that run both ways, as between districts of one city, cancel.

    >>> corners = np.array([[0.0, 0.0], [2.0, 0.0], [2.0, 1.0], [0.0, 1.0]])
    >>> boundary_of_edges(np.concatenate([corners, np.roll(corners, -1, axis=0)], axis=1)).points.tolist()
    [[0, 0], [128, 0], [128, 64], [0, 64]]
    """
    snapped = np.rint(edges * GRID).astype(np.int64)
    forward, times = np.unique(snapped[(snapped[:, :2] != snapped[:, 2:]).any(axis=1)], axis=0, return_counts=True)
    count = dict(zip(map(tuple, forward.tolist()), times.tolist(), strict=True))
    following: dict[tuple[int, int], list[tuple[int, int]]] = {}
    for (x0, y0, x1, y1), many in count.items():
        for _ in range(many - count.get((x1, y1, x0, y0), 0)):
            following.setdefault((x0, y0), []).append((x1, y1))
    points: list[tuple[int, int]] = []
    sizes: list[int] = []
    while following:
        start = at = next(iter(following))
        size = 0
        while True:
            points.append(at)
            size += 1
            ways = following[at]
            after = ways.pop()
            if not ways:
                del following[at]
            at = after
            if at == start:
                break
        sizes.append(size)
    if not points:
        raise DomainError("The boundary has no area, or less than a small part of a cell. Give a finer resolution.")
    if len(points) > MOST_POINTS:
        raise DomainError(f"The boundary has more than {MOST_POINTS:,} corners. Simplify it.")
    return Boundary(np.array(points, np.int64), np.array(sizes, np.int64))


@lru_cache(maxsize=8)
def mask_of_boundary(packed: str, level: int, depth: int) -> RangeMask:
    """The cells that meet a boundary, which is given on the grid of the cells of a level, down to a depth above it."""
    from dpheatmap.place.boundary_cells import bound_of_cells, cells_beside, cells_cut, rows_of_cells
    from dpheatmap.place.cell_parts import parts_of_cells

    boundary, grid = Boundary.unpack(packed), GRID << (level - depth)
    finest = _rectangle(boundary, grid, depth)
    corner = np.array([finest.x0, finest.y0, finest.x0, finest.y0]) * grid
    edges = boundary.edges - corner  # small numbers: products of two fit into 64 bits
    if bound_of_cells(edges, grid) > MOST_CUT:  # before anything is as large as they are many
        raise DomainError(
            f"The boundary passes through more than {MOST_CUT:,} finest cells. Give a coarser resolution."
        )
    x, y = cells_cut(edges, grid)
    row, first, last = rows_of_cells(edges, grid, finest.rows, x, y)
    if len(row) == 0:
        raise DomainError("The boundary has no area. Give one that has.")
    runs = Runs(row + finest.y0, first + finest.x0, last + finest.x0)
    parts = np.clip(parts_of_cells(edges, grid, finest.rows, x, y), _LEAST_PART, 1.0)
    codes = encode(x + finest.x0, y + finest.y0)
    order = np.argsort(codes)
    codes, parts = codes[order], parts[order]
    column, line = cells_beside(edges, grid)
    there = (column >= 0) & (column < finest.columns) & (line >= 0) & (line < finest.rows)
    beside = encode(column[there] + finest.x0, line[there] + finest.y0)
    starts, ends = _ranges(np.union1d(codes, beside), runs, depth)
    return RangeMask(finest, depth, starts, ends, codes, parts, runs)


def _rectangle(boundary: Boundary, grid: int, depth: int) -> CellRange:
    """The smallest rectangle of finest cells that holds a boundary."""
    low, high = boundary.points.min(axis=0), boundary.points.max(axis=0)
    x0, y0 = (low // grid).tolist()
    x1, y1 = (-(-high // grid)).tolist()
    if min(x0, y0) < 0 or max(x1, y1) > 2**depth or x0 == x1 or y0 == y1:
        raise DomainError("The boundary has no area, or is not on the map. Give one that is.")
    if max(x1 - x0, y1 - y0) * grid > MOST_CELLS * GRID:
        raise DomainError(
            f"The place would be more than {MOST_CELLS:,} finest cells wide or high. Give a coarser resolution."
        )
    return CellRange(x0, y0, x1, y1)


def _ranges(near: Ints, runs: Runs, depth: int) -> tuple[Ints, Ints]:
    """The ranges of Morton codes of all finest cells inside, from the codes of those that are at an edge."""
    from dpheatmap.place.boundary_cells import quads_of

    start, size = quads_of(np.concatenate([[0], near + 1]), np.concatenate([near, [4**depth]]))
    starts = np.concatenate([near, start])
    ends = starts + np.concatenate([np.ones_like(near), size])
    inside = runs.hold(starts)
    order = np.argsort(starts[inside])
    return join_ranges(starts[inside][order], ends[inside][order])


def _varints(numbers: NDArray[np.uint64]) -> bytes:
    """Numbers in groups of seven bits, low ones first; the last byte of a number is below 128."""
    groups = [(numbers >> np.uint64(7 * k)) & np.uint64(127) for k in range(10)]
    more = [numbers >> np.uint64(7 * (k + 1)) > 0 if k < 9 else np.zeros(len(numbers), np.bool_) for k in range(10)]
    table = np.stack([group + np.uint64(128) * rest for group, rest in zip(groups, more, strict=True)], axis=1)
    used = np.stack([np.ones(len(numbers), np.bool_), *more[:-1]], axis=1)
    return bytes(table[used].astype(np.uint8))


def _numbers(data: bytes) -> Ints:
    """The numbers of `_varints`; raises ValueError if the last is not whole or one is too large."""
    bytes_ = np.frombuffer(data, np.uint8)
    last = np.flatnonzero(bytes_ < 128)
    if len(bytes_) == 0 or last[-1:].tolist() != [len(bytes_) - 1]:
        raise ValueError("a number is cut off")
    starts = np.concatenate([[0], last[:-1] + 1])
    place = np.arange(len(bytes_)) - np.repeat(starts, last - starts + 1)
    if place.max() > 7:
        raise ValueError("a number is too large")
    return np.add.reduceat((bytes_ & 127).astype(np.int64) << (7 * place), starts)
