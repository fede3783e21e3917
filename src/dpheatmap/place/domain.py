"""A domain: a public place, and the quadtree of cells over it.

A domain is chosen before any data is read. Its cells at the finest level lie inside a square of ``2**depth x
2**depth``; a cell of a coarser level *meets* the domain if it holds one of them (`mask.py`). Cells that don't meet it
are known to be empty and are never measured. The place itself (a box or a region on the ground, an image or the unit
square) is an object of its own (`place.py`). Rows count from the north, the image's top, or y = 0.
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
from dpheatmap.place.region import Region
from dpheatmap.place.unit_square import UnitSquare

if TYPE_CHECKING:
    from dpheatmap.releases.discovery import Discovery

__all__ = ["Bounds", "CellRange", "Domain", "Floats"]

PLACES: Mapping[str, type[Place]] = {place.kind: place for place in (Box, Region, Image, UnitSquare)}
"""All kinds of places, by their names in files."""

_DEFAULT_CELLS = 256  # on the longer side of a box for which no resolution was given, as in the paper's experiments


@dataclass(frozen=True)
class Domain(CellGrid):
    """A public place with a finest level, made by :meth:`bbox`, :meth:`polygon`, :meth:`image` or :meth:`unit`.

    Attributes
    ----------
    place : Place
        What the domain lies on: a box or a region on the ground, an image or the unit square.
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
            The edges of the box, in degrees. A box across the antimeridian has a west above its east: 170 and -170.
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
        return cls(place, _depth_of(place, resolution, depth))

    @classmethod
    def polygon(
        cls, boundary: Any, *, resolution: float | None = None, depth: int | None = None, layer: str | None = None
    ) -> Domain:
        """Make a domain of what lies inside a boundary on the ground, such as a city's.

        The boundary is public, as every domain is. An event is inside if its finest cell meets the boundary.

        Parameters
        ----------
        boundary : mapping, path, GeoDataFrame or geometry
            Polygons: GeoJSON as a mapping, or a file (GeoJSON, GeoPackage, Shapefile, GeoParquet) or a frame of
            geopandas in any system of coordinates. All of its polygons together are the place.
        resolution : float, optional
            The widest that a cell may be on the ground, in metres, as for :meth:`bbox`.
        depth : int, optional
            The zoom of the finest level itself, instead of a resolution. Without either, the longer side has at least
            256 cells.
        layer : str, optional
            The layer of the file, if it has several.

        Returns
        -------
        Domain
            The region, as the map tiles that meet it.

        Raises
        ------
        DomainError
            If the boundary has no area or is not on the map, or if both a resolution and a depth are given.

        Examples
        --------
        >>> triangle = {"type": "Polygon", "coordinates": [[[8, 47], [9, 47], [8, 48], [8, 47]]]}
        >>> land = Domain.polygon(triangle, resolution=1000)
        >>> land.count(land.depth) < 0.6 * land.cells(land.depth).count
        True
        """
        from dpheatmap.place.boundary_source import read_boundary

        source = read_boundary(boundary, layer)
        level = _depth_of(source.box, resolution, depth)
        made = cls(Region.of_edges(source.edges(level), level, turned=source.box.turned), level)
        if cls.from_dict(made.to_dict()) != made:  # before anybody pays for a release that no file gives back
            raise DomainError("The boundary would be another one in a file. Give another resolution.")
        return made

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
                f"A domain is a bbox, a polygon, an image or a unit square; it was {kind!r} with "
                f"({x0:g}, {y0:g}, {x1:g}, {y1:g}). It is damaged."
            ) from error


def _depth_of(box: Box, resolution: float | None, depth: int | None) -> int:
    """The zoom of the finest level for a resolution, or the one that is given."""
    if depth is not None and resolution is not None:
        raise DomainError("A place takes a resolution or a depth, and was given both. Leave one of them out.")
    if resolution is not None:
        check(resolution=resolution)
        depth = zoom_for_resolution(box.extent.y0, box.extent.y1, float(resolution))
    elif depth is None:
        depth = _zoom_for_cells(box, _DEFAULT_CELLS)
    check(depth=depth)
    return int(depth)


def _zoom_for_cells(place: Place, cells: int) -> int:
    """The first zoom at which the longer side of a place has at least so many cells."""
    for zoom in range(DEEPEST):
        finest = place.finest(zoom)
        if max(finest.columns, finest.rows) >= cells:
            return zoom
    return DEEPEST
