"""The cells that meet a place, on every level: they need not form a rectangle.

A cell of a coarser level *meets* a place if it holds a finest cell that does. Cells that don't meet it are known to be
empty and are never measured.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

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


class Mask(Protocol):
    """The cells that meet a place, and how much of each lies in it."""

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


@dataclass(frozen=True)
class RectangleMask:
    """A rectangle of finest cells, of which all are inside."""

    finest: CellRange
    depth: int

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
