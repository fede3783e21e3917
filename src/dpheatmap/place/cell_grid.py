"""The quadtree of cells over a place: which cells meet it, where they are, and how large they are."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpheatmap._util.parameters import check
from dpheatmap.place.mask import CellRange, Mask, Pieces, Runs
from dpheatmap.place.place import ON_ARRAYS, Bounds, Floats, Place
from dpheatmap.place.quadtree import Ints, children, encode


@dataclass(frozen=True)
class CellGrid:
    """The cells of the levels 0 to ``depth`` over a place."""

    place: Place
    depth: int

    @property
    def kind(self) -> str:
        """The kind of place: "bbox", "polygon", "image" or "unit"."""
        return self.place.kind

    @property
    def extent(self) -> Bounds:
        """The rectangle that holds the place, edges included."""
        return self.place.extent

    @property
    def geographic(self) -> bool:
        """Whether coordinates are degrees on the ground, and cells map tiles."""
        return self.place.geographic

    # Cells

    @cached_property
    def _mask(self) -> Mask:
        return self.place.mask(self.depth)

    def cells(self, level: int) -> CellRange:
        """Find the smallest rectangle of cells of a level that holds all that meet the domain.

        Parameters
        ----------
        level : int
            The level.

        Returns
        -------
        CellRange
            The rectangle.
        """
        return self._mask.rectangle(level)

    def count(self, level: int) -> int:
        """Count the cells of a level that meet the domain.

        Parameters
        ----------
        level : int
            The level.

        Returns
        -------
        int
            Their number.
        """
        return self._mask.count(level)

    def codes(self, level: int) -> Ints:
        """List the cells of a level that meet the domain.

        Parameters
        ----------
        level : int
            The level.

        Returns
        -------
        array of int
            Their Morton codes, ascending.
        """
        return self._mask.codes(level)

    def children(self, level: int, codes: Ints) -> Ints:
        """List the children of cells, as far as they meet the domain.

        Parameters
        ----------
        level : int
            The level of the cells.
        codes : array of int
            Their Morton codes, ascending.

        Returns
        -------
        array of int
            The children's Morton codes, ascending, one level down.
        """
        four = children(codes)
        return four[self._mask.meets(level + 1, four)]

    def meets(self, level: int, x: Ints, y: Ints) -> NDArray[np.bool_]:
        """Tell which cells meet the domain.

        Parameters
        ----------
        level : int
            The level of the cells.
        x, y : array of int
            Their columns and rows.

        Returns
        -------
        array of bool
            Whether each cell meets the domain.
        """
        side = 2**level
        real = (x >= 0) & (x < side) & (y >= 0) & (y < side)
        inside: NDArray[np.bool_] = real & self._mask.meets(level, encode(np.where(real, x, 0), np.where(real, y, 0)))
        return inside

    def weight(self, level: int, codes: Ints) -> Floats:
        """Compute the base measure of cells: how much of each is inside the domain.

        Parameters
        ----------
        level : int
            The level of the cells.
        codes : array of int
            Their Morton codes.

        Returns
        -------
        array of float
            The part of each cell that is inside, in finest cells.
        """
        return self._mask.weight(level, codes)

    @property
    def runs(self) -> Runs | None:
        """The finest cells that meet the domain, by rows; None if they are all those of a rectangle."""
        return self._mask.runs

    def pieces(self, level: int) -> Pieces | None:
        """Cut the domain into cells that mass may be spread over evenly.

        Parameters
        ----------
        level : int
            The finest level of the cells.

        Returns
        -------
        Pieces or None
            The largest cells that lie inside as a whole, and the cells of the level that don't. None if the domain is a
            rectangle of finest cells, at whose edges cells can be cut.
        """
        return self.place.mask(min(level, self.depth)).pieces()

    def first_level(self, width: int) -> int:
        """Find the deepest level at which at most ``width`` cells meet the domain: the first level that is measured.

        Parameters
        ----------
        width : int
            The number of cells.

        Returns
        -------
        int
            The level.

        Examples
        --------
        >>> from dpheatmap.place.unit_square import UnitSquare
        >>> CellGrid(UnitSquare(), 8).first_level(20)
        2
        """
        check(width=width)
        return max(level for level in range(self.depth + 1) if self.count(level) <= width)

    def level_for(self, length: float) -> int:
        """Find the first level whose cells are nowhere wider than a length.

        Parameters
        ----------
        length : float
            The length, in ground metres, pixels or fractions of the side, as the domain is.

        Returns
        -------
        int
            The level; the finest one if no level has so small cells.

        Examples
        --------
        >>> from dpheatmap.place.unit_square import UnitSquare
        >>> CellGrid(UnitSquare(), 8).level_for(0.07)
        4
        """
        widest = self.place.widest_root
        return next((level for level in range(self.depth) if widest / 2**level <= length), self.depth)

    def cell_bounds(self, level: int, x: int, y: int) -> Bounds:
        """Compute the edges of a cell.

        Parameters
        ----------
        level : int
            The level of the cell.
        x, y : int
            Its column and row.

        Returns
        -------
        Bounds
            The edges in the domain's coordinates; for a box, these are west, south, east and north.
        """
        side = float(2**level)
        return self.place.edges(x / side, y / side, (x + 1) / side, (y + 1) / side)

    def locate(self, x: ArrayLike, y: ArrayLike) -> tuple[Ints, Ints, NDArray[np.bool_]]:
        """Find the finest cells of points, as the aggregation query does.

        Parameters
        ----------
        x, y : array of float
            The points, in the domain's coordinates.

        Returns
        -------
        columns, rows : array of int
            The cell of each point.
        inside : array of bool
            Whether each point lies in the extent, edges included, and its cell meets the domain. On the far edge of a
            rectangle it belongs to the last cell.
        """
        px, py = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
        e, finest = self.extent, self.cells(self.depth)
        within: NDArray[np.bool_] = self.place.within(px, py, ON_ARRAYS)
        u, v = self.to_root(np.where(within, px, e.x0), np.where(within, py, e.y0))
        columns, rows = (np.floor(at * float(2**self.depth)).astype(np.int64) for at in (u, v))
        if self.runs is None:
            columns, rows = np.clip(columns, finest.x0, finest.x1 - 1), np.clip(rows, finest.y0, finest.y1 - 1)
        return columns, rows, within & self.meets(self.depth, columns, rows)

    def to_root(self, x: Floats, y: Floats) -> tuple[Floats, Floats]:
        """Map points to the root square.

        Parameters
        ----------
        x, y : array of float
            The points, in the domain's coordinates.

        Returns
        -------
        u, v : array of float
            The points in [0, 1]^2, with rows downward.
        """
        return self.place.to_root(x, y, ON_ARRAYS)

    # Measures of the place

    @property
    def bounds(self) -> Bounds:
        """The edges of the rectangle of finest cells: the extent, widened to whole cells."""
        finest, side = self.cells(self.depth), float(2**self.depth)
        return self.place.edges(finest.x0 / side, finest.y0 / side, finest.x1 / side, finest.y1 / side)

    @property
    def unit_name(self) -> str:
        """The unit of lengths such as sigma."""
        return self.place.units.length

    def lengths_of_cells(self, level: int, rows: ArrayLike) -> Floats:
        """Compute the width of the cells of a level, by row.

        Parameters
        ----------
        level : int
            The level.
        rows : array of float
            Rows of that level, which may be fractional.

        Returns
        -------
        array of float
            The width of a cell at each row, in ground metres, pixels or fractions of the side.
        """
        return self.place.width_of_root(np.asarray(rows, dtype=np.float64) / 2.0**level) / 2.0**level

    @property
    def longer_side(self) -> float:
        """Length of the longer side in ground metres (at the middle row), pixels or fractions of the side."""
        finest = self.cells(self.depth)
        middle = float(self.lengths_of_cells(self.depth, (finest.y0 + finest.y1) / 2))
        return max(finest.columns, finest.rows) * middle

    def length_in_words(self, length: float) -> str:
        """Write a length for people: metres or kilometres, pixels, or a fraction of the side.

        Parameters
        ----------
        length : float
            The length, as the domain counts lengths.

        Returns
        -------
        str
            The length with its unit.

        Examples
        --------
        >>> from dpheatmap import Domain
        >>> Domain.bbox(0, 0, 1, 1).length_in_words(1530.0), Domain.unit(4).length_in_words(0.0625)
        ('1.5 km', '0.0625 of the side')
        """
        return self.place.length_in_words(length)
