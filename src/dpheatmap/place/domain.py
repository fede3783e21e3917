"""Where: a public place, and the quadtree of cells laid over it.

A domain is chosen before any data is read. Its cells at the finest level lie inside a square of ``2**depth x
2**depth``; a cell of a coarser level *meets* the domain if it holds one of them (`mask.py`). Cells that don't meet it
are known to be empty and are never measured. What the place is, a box on the ground, an image or the unit square, is an
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
"""All kinds of places, by what they are called in files."""

_DEFAULT_CELLS = 256  # on the longer side of a box for which no resolution was given, as in the paper's experiments


@dataclass(frozen=True)
class Domain:
    """A public place with a finest level; made by :meth:`bbox`, :meth:`image` or :meth:`unit`."""

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
        """A box in degrees of longitude and latitude, its edges included.

        ``resolution`` is the widest a cell may be on the ground, in metres; the zoom follows from it. ``depth`` gives
        the zoom itself. Without either, the longer side has at least 256 cells.

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
        """An image of ``width x height`` pixels, x to the right and y down, from 0 to the width and the height.

        At the default depth a cell is a pixel.

        >>> Domain.image(640, 480).depth
        10
        """
        place = Image.of_size(width, height)
        depth = place.depth_of_pixels if depth is None else depth
        check(depth=depth)
        return cls(place, int(depth))

    @classmethod
    def unit(cls, depth: int = 8) -> Domain:
        """The unit square, 0 to 1 both ways, cut into ``2**depth x 2**depth`` cells.

        >>> Domain.unit(3).count(3)
        64
        """
        check(depth=depth)
        return cls(UnitSquare(), int(depth))

    @staticmethod
    def discover(events: Any, **options: Any) -> Discovery:
        """The earlier name of :func:`dpheatmap.discover`."""
        from dpheatmap import discover

        warnings.warn("Domain.discover is dpheatmap.discover now.", DeprecationWarning, stacklevel=2)
        return discover(events, **options)

    @property
    def kind(self) -> str:
        """What the place is: "bbox", "image" or "unit"."""
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
        """The smallest rectangle of cells of a level that holds all that meet the domain."""
        return self._mask.rectangle(level)

    def count(self, level: int) -> int:
        """The number of cells of a level that meet the domain."""
        return self._mask.count(level)

    def codes(self, level: int) -> Ints:
        """The Morton codes, ascending, of all cells of a level that meet the domain."""
        return self._mask.codes(level)

    def children(self, level: int, codes: Ints) -> Ints:
        """The children, one level down, of cells of a level, as far as they meet the domain."""
        four = children(codes)
        return four[self._mask.meets(level + 1, four)]

    def meets(self, level: int, x: Ints, y: Ints) -> NDArray[np.bool_]:
        """Which of the cells, given by column and row, meet the domain."""
        side = 2**level
        real = (x >= 0) & (x < side) & (y >= 0) & (y < side)
        inside: NDArray[np.bool_] = real & self._mask.meets(level, encode(np.where(real, x, 0), np.where(real, y, 0)))
        return inside

    def weight(self, level: int, codes: Ints) -> Floats:
        """The base measure of cells of a level: how much of each is inside the domain, in finest cells."""
        return self._mask.weight(level, codes)

    def first_level(self, width: int) -> int:
        """The deepest level at which at most ``width`` cells meet the domain: the first one that is measured.

        >>> Domain.unit(8).first_level(20)
        2
        """
        check(width=width)
        return max(level for level in range(self.depth + 1) if self.count(level) <= width)

    def level_for(self, length: float) -> int:
        """The first level whose cells are nowhere wider than a length, or the finest level if none is.

        >>> Domain.unit(8).level_for(0.07)
        4
        """
        widest = self.place.widest_root
        return next((level for level in range(self.depth) if widest / 2**level <= length), self.depth)

    def cell_bounds(self, level: int, x: int, y: int) -> Bounds:
        """The edges of a cell in the domain's coordinates; for a box these are west, south, east, north."""
        side = float(2**level)
        return self.place.edges(x / side, y / side, (x + 1) / side, (y + 1) / side)

    def locate(self, x: ArrayLike, y: ArrayLike) -> tuple[Ints, Ints, NDArray[np.bool_]]:
        """Column, row and inside-or-not of points at the finest level, as the aggregation query places them.

        A point is inside if it lies in the extent, edges included; on the far edge it belongs to the last cell.
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
        """Points in the domain's coordinates to the root square [0, 1]^2, rows downward."""
        return self.place.to_root(x, y, np.sqrt, lambda step: step)

    # Measures of the place

    @property
    def bounds(self) -> Bounds:
        """The edges of the rectangle of finest cells: the extent, widened to whole cells."""
        finest, side = self.cells(self.depth), float(2**self.depth)
        return self.place.edges(finest.x0 / side, finest.y0 / side, finest.x1 / side, finest.y1 / side)

    @property
    def unit_name(self) -> str:
        """What lengths such as sigma are counted in."""
        return self.place.unit_name

    def lengths_of_cells(self, level: int, rows: ArrayLike) -> Floats:
        """Width of a cell of a level at (fractional) rows of that level, in ground metres, pixels or sides."""
        return self.place.width_of_root(np.asarray(rows, dtype=np.float64) / 2.0**level) / 2.0**level

    @property
    def longer_side(self) -> float:
        """Length of the longer side in ground metres (at the middle row), pixels or fractions of the side."""
        finest = self.cells(self.depth)
        middle = float(self.lengths_of_cells(self.depth, (finest.y0 + finest.y1) / 2))
        return max(finest.columns, finest.rows) * middle

    def length_in_words(self, length: float) -> str:
        """A length for people: metres or kilometres, pixels, or a share of the side.

        >>> Domain.bbox(0, 0, 1, 1).length_in_words(1530.0), Domain.unit(4).length_in_words(0.0625)
        ('1.5 km', '0.0625 of the side')
        """
        return self.place.length_in_words(length)

    # Files

    def to_dict(self) -> dict[str, Any]:
        """A description that :meth:`from_dict` reads back, for the metadata of files."""
        return {**self.place.to_dict(), "depth": self.depth}

    @classmethod
    def from_dict(cls, description: Mapping[str, Any]) -> Domain:
        """The domain that :meth:`to_dict` described; raises :class:`DomainError` for anything else."""
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
