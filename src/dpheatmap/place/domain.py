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
from typing import TYPE_CHECKING, Any

from dpheatmap._util.parameters import DEEPEST, check
from dpheatmap.errors import DomainError
from dpheatmap.place.box import Box, zoom_for_resolution
from dpheatmap.place.cell_grid import CellGrid
from dpheatmap.place.image import Image
from dpheatmap.place.mask import CellRange
from dpheatmap.place.place import Bounds, Floats, Place
from dpheatmap.place.unit_square import UnitSquare

if TYPE_CHECKING:
    from dpheatmap.releases.discovery import Discovery

__all__ = ["Bounds", "CellRange", "Domain", "Floats"]

PLACES: Mapping[str, type[Place]] = {place.kind: place for place in (Box, Image, UnitSquare)}
"""All kinds of places, by their names in files."""

_DEFAULT_CELLS = 256  # on the longer side of a box for which no resolution was given, as in the paper's experiments


@dataclass(frozen=True)
class Domain(CellGrid):
    """A public place with a finest level, made by :meth:`bbox`, :meth:`image` or :meth:`unit`.

    Attributes
    ----------
    place : Place
        What the domain lies on: a box on the ground, an image or the unit square.
    depth : int
        The finest level.
    """

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
