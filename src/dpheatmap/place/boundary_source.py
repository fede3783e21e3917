"""Boundaries of any source: GeoJSON, files and frames in any system of coordinates, as edges on the cells of a level.

GeoJSON needs nothing else; other files and frames need the extra "geo".
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from dpheatmap._util.extras import import_extra
from dpheatmap._util.parameters import check
from dpheatmap._util.vector_file import SUFFIXES, is_geojson, read_only_layer
from dpheatmap.errors import DataError, DomainError, ParameterError
from dpheatmap.place.box import Box
from dpheatmap.place.geojson_shapes import polygons_of
from dpheatmap.place.place import ON_ARRAYS, Bounds, Floats
from dpheatmap.place.rings import Rings, shapes_of_rings
from dpheatmap.place.vector_rings import rings_of_geometries, to_degrees, valid_geometries

_NARROWER = 1e-6  # degrees, more than rounding changes
_KINDS = "GeoJSON, a file (.geojson, .gpkg, .shp, .parquet) or a GeoDataFrame"


class BoundarySource(NamedTuple):
    """Rings in a system of coordinates, None for degrees, and the box around them."""

    rings: Rings
    crs: Any
    box: Box

    def edges(self, level: int) -> Floats:
        """The directed edges of the rings, in units of the cells of a level."""

        def project(points: Floats) -> Floats:
            longitudes, latitudes = to_degrees(points, self.crs).T
            return np.stack(self.box.to_root(longitudes, latitudes, ON_ARRAYS), axis=1) * 2.0**level

        one = self.rings._replace(area=np.zeros_like(self.rings.area))
        return shapes_of_rings([""], one, project).edges


def read_boundary(given: Any, layer: str | None = None) -> BoundarySource:
    """Read a boundary; ``layer`` is one of several in a file."""
    if layer is not None:
        check(layer=layer)
    rings, crs = _find(given, layer)
    if len(rings.points) == 0:
        raise DomainError("The boundary has no polygon. Give a Polygon or a MultiPolygon.")
    return BoundarySource(rings, crs, _box_around(to_degrees(rings.points, crs)))


def _find(given: Any, layer: str | None) -> tuple[Rings, Any]:
    """The rings of a boundary, and their system of coordinates."""
    if isinstance(given, Mapping):
        return _of_geojson(given), None
    if isinstance(given, (str, PathLike)):
        return _of_file(Path(given), layer)
    if hasattr(given, "geom_type") and not hasattr(given, "crs"):  # one geometry of shapely
        return rings_of_geometries(valid_geometries([given])), None
    if hasattr(given, "geometry") and hasattr(given, "crs"):
        return _of_frame(given)
    raise ParameterError(f"A boundary is {_KINDS}; it was a {type(given).__name__}. Give one of these.")


def _of_frame(frame: Any) -> tuple[Rings, Any]:
    if frame.crs is None:
        raise DataError("The boundary does not tell its system of coordinates. Save it with it, or use frame.set_crs.")
    return rings_of_geometries(valid_geometries(frame.geometry.to_numpy())), frame.crs


def _of_file(path: Path, layer: str | None) -> tuple[Rings, Any]:
    if path.suffix.lower() not in SUFFIXES:
        raise ParameterError(f"A boundary is {_KINDS}; the file was {path.name!r}. Convert it to one of these.")
    if not path.is_file():
        raise DataError(f"There is no file {str(path)!r}. Check the path of the boundary.")
    if is_geojson(path):
        shape = _read_json(path)
        if not shape.get("crs"):  # which GeoJSON had before RFC 7946
            return _of_geojson(shape), None
    import_extra("geopandas", "geo", f"The boundary {path.name!r}")
    return _of_frame(read_only_layer(path, "boundary", layer))


def _read_json(path: Path) -> Mapping[str, Any]:
    try:
        shape = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        shape = None
    if not isinstance(shape, Mapping):
        raise DataError(f"The boundary {path.name!r} can't be read as GeoJSON. Check the file.")
    return shape


def _of_geojson(shape: Mapping[str, Any]) -> Rings:
    """The rings of GeoJSON: degrees of longitude and latitude."""
    rings = [(ring, k > 0) for polygon in polygons_of(shape, "boundary") for k, ring in enumerate(polygon)]
    sizes = [len(ring) for ring, _ in rings]
    hole = np.array([inner for _, inner in rings], np.int64)
    return Rings(
        np.concatenate([ring for ring, _ in rings]), np.repeat(np.arange(len(rings)), sizes), np.zeros_like(hole), hole
    )


def _box_around(degrees: Floats) -> Box:
    """The box around points; across the antimeridian if that makes it narrower."""
    longitudes, latitudes = degrees.T
    eastward = np.where(longitudes >= 0.0, longitudes, longitudes + 360.0)
    narrow = eastward if np.ptp(eastward) < np.ptp(longitudes) - _NARROWER else longitudes
    west, east = float(narrow.min()), float(narrow.max())
    if not (np.isfinite(degrees).all() and -180.0 <= west < east <= 360.0 and (east <= 180.0 or west >= 0.0)):
        raise DomainError(
            f"Longitudes run from -180 to 180 and latitudes from -85 to 85; those of the boundary run from {west:g} to "
            f"{east:g} and from {latitudes.min():g} to {latitudes.max():g}. Save it in degrees, or with its system of "
            "coordinates."
        )
    return Box(Bounds(west, float(latitudes.min()), east, float(latitudes.max())))
