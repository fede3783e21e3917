"""Where: a public rectangle, and the quadtree of cells laid over it.

A domain is chosen before any data is read. Its cells at the finest level form a rectangle of whole cells inside a
square of ``2**depth x 2**depth``; a cell of a coarser level *meets* the domain if it holds one of them. Cells that
don't meet it are known to be empty and are never measured.

Three kinds, one scheme:

* ``Domain.bbox``: longitude and latitude on Web Mercator; level = zoom, cell = map tile, Morton code = quadkey.
* ``Domain.image``: pixels; the root square is the power of two that holds the image.
* ``Domain.unit``: the unit square.

Rows count from the north, the image's top, or y = 0.
"""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpheatmap._util.parameters import DEEPEST, check
from dpheatmap.errors import DomainError
from dpheatmap.place import projection
from dpheatmap.place.box import checked_box, longest_circle, zoom_for_resolution
from dpheatmap.place.quadtree import Ints

if TYPE_CHECKING:
    from dpheatmap.releases.discovery import Discovery

Kind = Literal["bbox", "image", "unit"]
Floats = NDArray[np.float64]

_DEFAULT_CELLS = 256  # on the longer side of a box for which no resolution was given, as in the paper's experiments


class Bounds(NamedTuple):
    """A rectangle in the domain's own coordinates: degrees, pixels or fractions of the side."""

    x0: float
    y0: float
    x1: float
    y1: float


@dataclass(frozen=True, slots=True)
class CellRange:
    """The cells of one level that meet the domain: columns ``x0 .. x1 - 1`` and rows ``y0 .. y1 - 1``."""

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


@dataclass(frozen=True)
class Domain:
    """A public place with a finest level, made by :meth:`bbox`, :meth:`image` or :meth:`unit`.

    Attributes
    ----------
    kind : {"bbox", "image", "unit"}
        What kind of place it is.
    extent : Bounds
        The rectangle in the domain's own coordinates: degrees, pixels or fractions of the side.
    depth : int
        The finest level.
    """

    kind: Kind
    extent: Bounds
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
        extent = Bounds(*checked_box(west, south, east, north))
        if depth is not None and resolution is not None:
            raise DomainError("A box takes a resolution or a depth, and was given both. Leave one of them out.")
        if resolution is not None:
            check(resolution=resolution)
            depth = zoom_for_resolution(extent.y0, extent.y1, float(resolution))
        elif depth is None:
            depth = _zoom_for_cells(extent, _DEFAULT_CELLS)
        check(depth=depth)
        return cls("bbox", extent, int(depth))

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
        check(image_width=width, image_height=height)
        depth = (max(int(width), int(height)) - 1).bit_length() if depth is None else depth
        check(depth=depth)
        return cls("image", Bounds(0.0, 0.0, float(width), float(height)), int(depth))

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
        >>> Domain.unit(3).cells(3).count
        64
        """
        check(depth=depth)
        return cls("unit", Bounds(0.0, 0.0, 1.0, 1.0), int(depth))

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

    # Cells

    def cells(self, level: int) -> CellRange:
        """Find the cells of a level that meet the domain.

        Parameters
        ----------
        level : int
            The level.

        Returns
        -------
        CellRange
            The rectangle of these cells.
        """
        finest = self._finest
        shift = self.depth - level
        return CellRange(
            finest.x0 >> shift,
            finest.y0 >> shift,
            ((finest.x1 - 1) >> shift) + 1,
            ((finest.y1 - 1) >> shift) + 1,
        )

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
        return max(level for level in range(self.depth + 1) if self.cells(level).count <= width)

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
        widest = longest_circle(self.extent.y0, self.extent.y1) if self.kind == "bbox" else self.root_side
        return next((level for level in range(self.depth) if widest / 2**level <= length), self.depth)

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
        r = self.cells(level)
        inside: NDArray[np.bool_] = (x >= r.x0) & (x < r.x1) & (y >= r.y0) & (y < r.y1)
        return inside

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
        if self.kind == "bbox":
            west, east = (360.0 * (c / side - 0.5) for c in (x, x + 1))
            north, south = (projection.latitude_of_row(r / side) for r in (y, y + 1))
            return Bounds(west, south, east, north)
        scale = self.root_side / side
        return Bounds(x * scale, y * scale, (x + 1) * scale, (y + 1) * scale)

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
        inside: NDArray[np.bool_] = (px >= e.x0) & (px <= e.x1) & (py >= e.y0) & (py <= e.y1)
        u, v = self.to_root(np.where(inside, px, e.x0), np.where(inside, py, e.y0))
        side = float(2**self.depth)
        columns = np.clip(np.floor(u * side).astype(np.int64), finest.x0, finest.x1 - 1)
        rows = np.clip(np.floor(v * side).astype(np.int64), finest.y0, finest.y1 - 1)
        return columns, rows, inside

    # Measures of the place

    @property
    def root_side(self) -> float:
        """Side of the root square in the domain's coordinates; not used for boxes, whose root is the world."""
        if self.kind == "image":
            return float(2 ** (math.ceil(max(self.extent.x1, self.extent.y1)) - 1).bit_length())
        return 1.0

    @property
    def bounds(self) -> Bounds:
        """The edges of the rectangle of finest cells: the extent, widened to whole cells."""
        finest = self.cells(self.depth)
        first = self.cell_bounds(self.depth, finest.x0, finest.y0)
        last = self.cell_bounds(self.depth, finest.x1 - 1, finest.y1 - 1)
        if self.kind == "bbox":
            return Bounds(first.x0, last.y0, last.x1, first.y1)
        return Bounds(first.x0, first.y0, last.x1, last.y1)

    @property
    def geographic(self) -> bool:
        """Whether coordinates are degrees on the ground, and cells map tiles."""
        return self.kind == "bbox"

    @property
    def unit_name(self) -> str:
        """What lengths such as sigma are counted in."""
        return {"bbox": "m", "image": "px", "unit": "of the side"}[self.kind]

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
        at = np.asarray(rows, dtype=np.float64) / 2.0**level
        if self.kind == "bbox":
            # On Web Mercator the ground scale at a row v in [0, 1] is cos(latitude) = 1 / cosh(pi (1 - 2 v)).
            scale: Floats = projection.EARTH_CIRCUMFERENCE / 2.0**level / np.cosh(np.pi * (1.0 - 2.0 * at))
            return scale
        return np.full(at.shape, self.root_side / 2.0**level)

    @property
    def longer_side(self) -> float:
        """Length of the longer side in ground metres (at the middle row), pixels or fractions of the side."""
        finest = self.cells(self.depth)
        middle = float(self.lengths_of_cells(self.depth, (finest.y0 + finest.y1) / 2))
        return max(finest.columns, finest.rows) * middle

    # Files

    def to_dict(self) -> dict[str, Any]:
        """Describe the domain by plain values, for the metadata of files.

        Returns
        -------
        dict
            A description that :meth:`from_dict` reads back.
        """
        return {"kind": self.kind, "extent": list(self.extent), "depth": self.depth}

    @classmethod
    def from_dict(cls, description: dict[str, Any]) -> Domain:
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
        if kind == "bbox":
            return cls.bbox(x0, y0, x1, y1, depth=depth)
        if kind == "image" and (x0, y0) == (0, 0) and x1.is_integer() and y1.is_integer():
            return cls.image(int(x1), int(y1), depth=depth)
        if kind == "unit" and (x0, y0, x1, y1) == (0, 0, 1, 1):
            return cls.unit(depth)
        raise DomainError(
            f"A domain is a bbox, an image or a unit square; it was {kind!r} with ({x0:g}, {y0:g}, {x1:g}, {y1:g}). "
            "It is damaged."
        )

    # Inner workings

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
        if self.kind == "bbox":
            return projection.mercator_column(x), projection.mercator_row(y, np.sqrt, lambda step: step)
        return x / self.root_side, y / self.root_side

    @cached_property
    def _finest(self) -> CellRange:
        e = self.extent
        # A box's north is the smaller row; an image's and a square's rows already grow downward.
        top, bottom = (e.y1, e.y0) if self.kind == "bbox" else (e.y0, e.y1)
        u, v = self.to_root(np.array([e.x0, e.x1]), np.array([top, bottom]))
        side = 2**self.depth
        x0, y0 = (min(max(math.floor(start * side), 0), side - 1) for start in (float(u[0]), float(v[0])))
        x1, y1 = (min(math.ceil(end * side), side) for end in (float(u[1]), float(v[1])))
        return CellRange(x0, y0, max(x1, x0 + 1), max(y1, y0 + 1))


def _zoom_for_cells(extent: Bounds, cells: int) -> int:
    """The first zoom at which the longer side of the box has at least so many cells."""
    for zoom in range(DEEPEST):
        finest = Domain("bbox", extent, zoom).cells(zoom)
        if max(finest.columns, finest.rows) >= cells:
            return zoom
    return DEEPEST
