"""A domain: a public place, and the quadtree of cells over it.

A domain is chosen before any data is read. Its cells at the finest level lie inside a square of ``2**depth x
2**depth``; a cell of a coarser level *meets* the domain if it holds one of them (`mask.py`). Cells that don't meet it
are known to be empty and are never measured. The place itself (a box on the ground, an image or the unit square) is an
object of its own (`place.py`). Rows count from the north, the image's top, or y = 0.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpheatmap._util.parameters import DEEPEST, check
from dpheatmap.errors import DomainError
from dpheatmap.place.box import Box, zoom_for_resolution
from dpheatmap.place.image import Image
from dpheatmap.place.mask import CellRange, Mask
from dpheatmap.place.place import Bounds, Floats, Place
from dpheatmap.place.quadtree import Ints, children, encode
from dpheatmap.place.unit_square import UnitSquare

if TYPE_CHECKING:
    from dpheatmap.releases.discovery import Discovery

__all__ = ["Bounds", "CellRange", "Domain", "Floats"]

PLACES: Mapping[str, type[Place]] = {place.kind: place for place in (Box, Image, UnitSquare)}
"""All kinds of places, by their names in files."""

_DEFAULT_CELLS = 256  # on the longer side of a box for which no resolution was given, as in the paper's experiments


@dataclass(frozen=True)
class Domain:
    """A public place with a finest level, made by :meth:`bbox`, :meth:`image` or :meth:`unit`.

    Attributes
    ----------
    place : Place
        What the domain lies on: a box on the ground, an image or the unit square.
    depth : int
        The finest level.
    """

    place: Place
    depth: int

    @classmethod
    def bbox(
        cls,
        west: float,
        south: float,
        east: float,
        north: float,
        *,
        resolution: float | None = None,
        depth: int | None = None,
    ) -> Domain:
        """Make a domain of a box in degrees of longitude and latitude, its edges included.

        Parameters
        ----------
        west, south, east, north : float
            The edges of the box, in degrees.
        resolution : float, optional
            The widest that a cell may be on the ground, in metres. The zoom of the finest level follows from it.
        depth : int, optional
            The zoom of the finest level itself, instead of a resolution. Without either, the longer side has at least
            256 cells.

        Returns
        -------
        Domain
            The box, cut into map tiles.

        Raises
        ------
        DomainError
            If it is no box on the map, or if both a resolution and a depth are given.

        Examples
        --------
        >>> city = Domain.bbox(-74.1, 40.6, -73.8, 40.9, resolution=50)
        >>> city.depth, city.cells(city.depth).columns
        (20, 874)
        """
        place = Box.between(west, south, east, north)
        if depth is not None and resolution is not None:
            raise DomainError("A box takes a resolution or a depth, and was given both. Leave one of them out.")
        if resolution is not None:
            check(resolution=resolution)
            depth = zoom_for_resolution(place.extent.y0, place.extent.y1, float(resolution))
        elif depth is None:
            depth = _zoom_for_cells(place, _DEFAULT_CELLS)
        check(depth=depth)
        return cls(place, int(depth))

    @classmethod
    def image(cls, width: int, height: int, *, depth: int | None = None) -> Domain:
        """Make a domain of an image, x to the right and y down, from 0 to the width and the height.

        Parameters
        ----------
        width, height : int
            The size of the image, in pixels.
        depth : int, optional
            The finest level. By default a finest cell is a pixel.

        Returns
        -------
        Domain
            The image, cut into cells.

        Examples
        --------
        >>> Domain.image(640, 480).depth
        10
        """
        place = Image.of_size(width, height)
        depth = place.depth_of_pixels if depth is None else depth
        check(depth=depth)
        return cls(place, int(depth))

    @classmethod
    def unit(cls, depth: int = 8) -> Domain:
        """Make a domain of the unit square, 0 to 1 both ways.

        Parameters
        ----------
        depth : int, default 8
            The finest level, which has ``2**depth x 2**depth`` cells.

        Returns
        -------
        Domain
            The square, cut into cells.

        Examples
        --------
        >>> Domain.unit(3).count(3)
        64
        """
        check(depth=depth)
        return cls(UnitSquare(), int(depth))

    @staticmethod
    def discover(events: Any, **options: Any) -> Discovery:
        """Call :func:`dpheatmap.discover`, of which this is the earlier name.

        Parameters
        ----------
        events : path, data frame, relation or URL
            What :func:`dpheatmap.discover` takes.
        **options
            The options of :func:`dpheatmap.discover`.

        Returns
        -------
        Discovery
            The box, and what is claimed of it.
        """
        from dpheatmap import discover

        warnings.warn("Domain.discover is dpheatmap.discover now.", DeprecationWarning, stacklevel=2)
        return discover(events, **options)

    @property
    def kind(self) -> str:
        """The kind of place: "bbox", "image" or "unit"."""
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
        >>> Domain.unit(8).first_level(20)
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
        >>> Domain.unit(8).level_for(0.07)
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
            Whether each point lies in the extent, edges included. On the far edge it belongs to the last cell.
        """
        px, py = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
        e, finest = self.extent, self.cells(self.depth)
        inside: NDArray[np.bool_] = self.place.inside(px, py)
        u, v = self.to_root(np.where(inside, px, e.x0), np.where(inside, py, e.y0))
        side = float(2**self.depth)
        columns = np.clip(np.floor(u * side).astype(np.int64), finest.x0, finest.x1 - 1)
        rows = np.clip(np.floor(v * side).astype(np.int64), finest.y0, finest.y1 - 1)
        return columns, rows, inside

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
        return self.place.to_root(x, y, np.sqrt, lambda step: step)

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
        >>> Domain.bbox(0, 0, 1, 1).length_in_words(1530.0), Domain.unit(4).length_in_words(0.0625)
        ('1.5 km', '0.0625 of the side')
        """
        return self.place.length_in_words(length)

    # Files

    def to_dict(self) -> dict[str, Any]:
        """Describe the domain by plain values, for the metadata of files.

        Returns
        -------
        dict
            A description that :meth:`from_dict` reads back.
        """
        return {**self.place.to_dict(), "depth": self.depth}

    @classmethod
    def from_dict(cls, description: Mapping[str, Any]) -> Domain:
        """Make the domain from its description.

        Parameters
        ----------
        description : dict
            What :meth:`to_dict` returned.

        Returns
        -------
        Domain
            The same domain.

        Raises
        ------
        DomainError
            If the description is damaged.
        """
        try:
            kind, depth = description["kind"], description["depth"]
            x0, y0, x1, y1 = (float(v) for v in description["extent"])
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            raise DomainError("The description of a domain needs kind, extent and depth. It is damaged.") from error
        check(depth=depth)
        try:
            return cls(PLACES[kind].from_dict(description), int(depth))
        except (LookupError, TypeError, ValueError) as error:
            if isinstance(error, DomainError):
                raise
            raise DomainError(
                f"A domain is a bbox, an image or a unit square; it was {kind!r} with "
                f"({x0:g}, {y0:g}, {x1:g}, {y1:g}). It is damaged."
            ) from error


def _zoom_for_cells(place: Place, cells: int) -> int:
    """The first zoom at which the longer side of a place has at least so many cells."""
    for zoom in range(DEEPEST):
        finest = place.finest(zoom)
        if max(finest.columns, finest.rows) >= cells:
            return zoom
    return DEEPEST
