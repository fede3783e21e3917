"""The cells that meet a place, on every level: they need not form a rectangle.

A cell of a coarser level *meets* a place if it holds a finest cell that does. Cells that don't meet it are known to be
empty and are never measured.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from dpheatmap.place.quadtree import Ints, decode, encode

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class CellRange:
    """A rectangle of cells of one level: columns ``x0 .. x1 - 1`` and rows ``y0 .. y1 - 1``."""

    x0: int
    y0: int
    x1: int
    y1: int

    @property
    def columns(self) -> int:
        """The number of columns."""
        return self.x1 - self.x0

    @property
    def rows(self) -> int:
        """The number of rows."""
        return self.y1 - self.y0

    @property
    def count(self) -> int:
        """The number of cells."""
        return self.columns * self.rows


@dataclass(frozen=True, eq=False)
class Runs:
    """Cells of one level by rows, from a first to a last column, in order: what SQL can tell cells by."""

    row: Ints
    first: Ints
    last: Ints

    def hold(self, codes: Ints) -> NDArray[np.bool_]:
        """Tell which of some cells of the level are among them."""
        x, y = decode(codes)
        at = np.maximum(np.searchsorted(self._keys, (y << 32) | x, side="right") - 1, 0)
        held: NDArray[np.bool_] = (self.row[at] == y) & (self.first[at] <= x) & (x <= self.last[at])
        return held

    @cached_property
    def _keys(self) -> Ints:
        return (self.row << 32) | self.first


class Pieces(NamedTuple):
    """Disjoint cells of a quadtree."""

    levels: Ints
    codes: Ints


class Mask(Protocol):
    """The cells that meet a place, and how much of each lies in it."""

    @property
    def runs(self) -> Runs | None:
        """The finest cells by rows; None if they are all those of a rectangle."""

    def rectangle(self, level: int) -> CellRange:
        """The smallest rectangle that holds all cells of a level that meet the place."""

    def count(self, level: int) -> int:
        """The number of cells of a level that meet the place."""

    def codes(self, level: int) -> Ints:
        """Their Morton codes, ascending."""

    def meets(self, level: int, codes: Ints) -> NDArray[np.bool_]:
        """Tell which of some cells of a level meet the place."""

    def weight(self, level: int, codes: Ints) -> Floats:
        """How much of each cell of a level is inside, in finest cells; 0 of those that don't meet the place."""

    def pieces(self) -> Pieces | None:
        """The largest cells that lie inside as a whole, and the finest cells that don't; None of a rectangle."""


@dataclass(frozen=True)
class RectangleMask:
    """A rectangle of finest cells, of which all are inside."""

    finest: CellRange
    depth: int
    runs: ClassVar[None] = None

    def rectangle(self, level: int) -> CellRange:
        """The cells that hold one of the finest cells."""
        finest, shift = self.finest, self.depth - level
        return CellRange(
            finest.x0 >> shift,
            finest.y0 >> shift,
            ((finest.x1 - 1) >> shift) + 1,
            ((finest.y1 - 1) >> shift) + 1,
        )

    def count(self, level: int) -> int:
        """The number of cells of the rectangle."""
        return self.rectangle(level).count

    def codes(self, level: int) -> Ints:
        """All cells of the rectangle."""
        r = self.rectangle(level)
        if r.count == 4**level:  # the whole square
            return np.arange(4**level)
        x, y = np.meshgrid(np.arange(r.x0, r.x1), np.arange(r.y0, r.y1))
        return np.sort(encode(x.ravel(), y.ravel()))

    def meets(self, level: int, codes: Ints) -> NDArray[np.bool_]:
        """Tell which of the cells lie in the rectangle."""
        r = self.rectangle(level)
        if r.count == 4**level:
            return np.ones(np.shape(codes), np.bool_)
        x, y = decode(codes)
        inside: NDArray[np.bool_] = (x >= r.x0) & (x < r.x1) & (y >= r.y0) & (y < r.y1)
        return inside

    def weight(self, level: int, codes: Ints) -> Floats:
        """The overlap of each cell with the rectangle of finest cells."""
        finest, side = self.finest, 1 << (self.depth - level)
        x, y = (at * side for at in decode(codes))
        wide = np.minimum(x + side, finest.x1) - np.maximum(x, finest.x0)
        high = np.minimum(y + side, finest.y1) - np.maximum(y, finest.y0)
        area: Floats = np.maximum(wide, 0).astype(np.float64) * np.maximum(high, 0)
        return area

    def pieces(self) -> None:
        """Return None: whoever spreads mass over cells cuts them at the edges of a rectangle."""


@dataclass(frozen=True, eq=False)
class RangeMask:
    """Finest cells in ranges of Morton codes, in order; those that are ``cut`` lie inside with a part of them."""

    finest: CellRange
    depth: int
    starts: Ints
    ends: Ints
    cut: Ints
    parts: Floats
    runs: Runs

    @cached_property
    def _levels(self) -> list[tuple[Ints, Ints]]:
        """The ranges of all levels, the root's first."""
        found = [(self.starts, self.ends)]
        for _ in range(self.depth):
            starts, ends = found[-1]
            found.append(join_ranges(starts >> 2, ((ends - 1) >> 2) + 1))
        return found[::-1]

    @cached_property
    def _missing(self) -> Floats:
        """What is missing, in finest cells, of the cells that are cut before each."""
        return np.concatenate([[0.0], np.cumsum(1.0 - self.parts)])

    @cached_property
    def _before(self) -> Ints:
        """The number of cells in the ranges before each."""
        return np.concatenate([[0], np.cumsum(self.ends - self.starts)])

    def rectangle(self, level: int) -> CellRange:
        """The cells that hold one of the finest cells' rectangle."""
        return RectangleMask(self.finest, self.depth).rectangle(level)

    def count(self, level: int) -> int:
        """The number of cells of the ranges."""
        starts, ends = self._levels[level]
        return int((ends - starts).sum())

    def codes(self, level: int) -> Ints:
        """All cells of the ranges."""
        starts, ends = self._levels[level]
        many = ends - starts
        codes: Ints = np.arange(many.sum()) + np.repeat(starts - np.cumsum(many) + many, many)
        return codes

    def meets(self, level: int, codes: Ints) -> NDArray[np.bool_]:
        """Tell which of the cells lie in the ranges."""
        starts, ends = self._levels[level]
        at = np.searchsorted(starts, codes, side="right") - 1
        inside: NDArray[np.bool_] = (at >= 0) & (np.asarray(codes) < ends[np.maximum(at, 0)])
        return inside

    def weight(self, level: int, codes: Ints) -> Floats:
        """The number of finest cells in each cell, less what is missing of those that are cut."""
        shift = 2 * (self.depth - level)
        first, last = np.asarray(codes) << shift, (np.asarray(codes) + 1) << shift
        there = self._cells_before(last) - self._cells_before(first)
        low, high = (np.searchsorted(self.cut, at) for at in (first, last))
        area: Floats = np.maximum(there - (self._missing[high] - self._missing[low]), 0.0)
        return area

    def _cells_before(self, codes: Ints) -> Ints:
        """The number of finest cells inside whose code is below each code."""
        at = np.searchsorted(self.starts, codes, side="right") - 1
        held = np.maximum(at, 0)
        part = np.clip(codes - self.starts[held], 0, (self.ends - self.starts)[held])
        return np.where(at >= 0, self._before[held] + part, 0)

    def pieces(self) -> Pieces:
        """The largest cells that lie inside as a whole, and the finest cells that are cut."""
        from dpheatmap.place.boundary_cells import quads_of

        starts, ends = np.concatenate([self.starts, self.cut + 1]), np.concatenate([self.ends, self.cut])
        start, size = quads_of(np.sort(starts), np.sort(ends))
        up = np.rint(np.log2(size) / 2).astype(np.int64)
        levels = np.concatenate([self.depth - up, np.full(len(self.cut), self.depth)])
        return Pieces(levels, np.concatenate([start >> 2 * up, self.cut]))


def join_ranges(starts: Ints, ends: Ints) -> tuple[Ints, Ints]:
    """Join ranges, sorted by their starts, that touch or overlap.

    >>> join_ranges(np.array([0, 2, 5, 6]), np.array([2, 4, 7, 7]))
    (array([0, 5]), array([4, 7]))
    """
    reach = np.maximum.accumulate(ends)
    first = np.append(True, starts[1:] > reach[:-1])
    last = np.append(first[1:], True)
    return starts[first], reach[last]
