"""Boundaries of any source: GeoJSON, files and frames in any system of coordinates, as edges on the cells of a level.

GeoJSON needs nothing else; other files and frames need the extra "geo".

**Which world.** A boundary lies on the turned world (`box.py`) if an edge of it crosses the antimeridian, or if it is
narrower there. An edge that crosses Greenwich would be torn there, so a boundary with one stays on the usual world. In
degrees an edge runs along the numbers between its ends. If these are more than half a circle apart, then the other way
round may be meant, and it is refused. An edge all around the world has no other way.
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
from dpheatmap.place.projection import NORTHERNMOST
from dpheatmap.place.rings import Rings, edge_starts, shapes_of_rings
from dpheatmap.place.vector_rings import degrees_of, rings_of_geometries, valid_geometries

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
            longitudes, latitudes = _degrees(points, self.crs).T
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
    return BoundarySource(rings, crs, _box_around(rings, crs))


def _find(given: Any, layer: str | None) -> tuple[Rings, Any]:
    """The rings of a boundary, and their system of coordinates."""
    if isinstance(given, Mapping):
        return _of_geojson(given), None
    if isinstance(given, (str, PathLike)):
        return _of_file(Path(given), layer)
    if hasattr(given, "geom_type") and not hasattr(given, "crs"):  # one geometry of shapely
        return _of_geometries([given], degrees=True), None
    if hasattr(given, "geometry") and hasattr(given, "crs"):
        return _of_frame(given)
    raise ParameterError(f"A boundary is {_KINDS}; it was a {type(given).__name__}. Give one of these.")


def _of_frame(frame: Any) -> tuple[Rings, Any]:
    if frame.crs is None:
        raise DataError("The boundary does not tell its system of coordinates. Save it with it, or use frame.set_crs.")
    return _of_geometries(frame.geometry.to_numpy(), degrees=frame.crs.is_geographic), frame.crs


def _of_geometries(geometries: Any, *, degrees: bool) -> Rings:
    """The rings of geometries of shapely; edges are looked at before they are mended, which cuts them."""
    if degrees:
        _refuse_long_edges(rings_of_geometries(np.asarray(geometries, dtype=object)))
    return rings_of_geometries(valid_geometries(geometries))


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
    found = Rings(
        np.concatenate([ring for ring, _ in rings]), np.repeat(np.arange(len(rings)), sizes), np.zeros_like(hole), hole
    )
    _refuse_long_edges(found)
    return found


def _refuse_long_edges(rings: Rings) -> None:
    """Refuse edges of which nobody can tell which way round the world they run."""
    at, longitudes = edge_starts(rings), rings.points[:, 0]
    step = np.abs(longitudes[at + 1] - longitudes[at])
    if ((step > 180.0 + _NARROWER) & (step < 360.0)).any():
        raise DomainError(
            "An edge of the boundary is longer than 180 degrees of longitude. If it crosses the antimeridian, cut it "
            "there, as GeoJSON wants, or use longitudes up to 182; if it is meant to be so long, add a corner in its "
            "middle."
        )


def _degrees(points: Floats, crs: Any) -> Floats:
    """Longitudes and latitudes, cut where Web Mercator ends; raises DomainError for points that are nowhere."""
    found = degrees_of(points, crs)
    if not np.isfinite(found).all():
        raise DomainError(
            "A point of the boundary has no longitude and latitude. Check its system of coordinates, or save it in "
            "degrees."
        )
    if np.abs(found[:, 1]).max(initial=0.0) > 90.0:
        raise _not_degrees(*found.T)
    found[:, 1] = np.clip(found[:, 1], -NORTHERNMOST, NORTHERNMOST)
    return found


def _box_around(rings: Rings, crs: Any) -> Box:
    """The box around rings, across the antimeridian if they are or if that makes it narrower."""
    corners = _degrees(rings.points, crs)
    longitudes, latitudes = corners.T
    eastward = np.where(longitudes >= 0.0, longitudes, longitudes + 360.0)
    across, greenwich = _crossings(rings, longitudes, crs)
    if across and greenwich:
        raise DomainError(
            "The boundary crosses both Greenwich and the antimeridian. Save it in degrees, cut at the antimeridian as "
            "GeoJSON wants."
        )
    turned = across or (not greenwich and np.ptp(eastward) < np.ptp(longitudes) - _NARROWER)
    chosen = eastward if turned else longitudes
    west, east = float(chosen.min()), float(chosen.max())
    if not (-180.0 <= west < east <= 360.0 and (east <= 180.0 or west >= 0.0)):
        raise _not_degrees(chosen, latitudes)
    return Box(Bounds(west, float(latitudes.min()), east, float(latitudes.max())))


def _crossings(rings: Rings, longitudes: Floats, crs: Any) -> tuple[bool, bool]:
    """Whether an edge crosses the antimeridian, and whether one crosses or touches Greenwich from the west.

    The middle of an edge tells which way round the world it runs: the shorter way from there to both ends.
    """
    at = edge_starts(rings)
    middle = _degrees(0.5 * (rings.points[at] + rings.points[at + 1]), crs)[:, 0]
    ends = np.stack([np.concatenate([longitudes[at], longitudes[at + 1]]), np.tile(middle, 2)])
    low, high = ends.min(axis=0), ends.max(axis=0)
    across = high - low > 180.0 + _NARROWER
    return bool(across.any()), bool(((low < 0.0) & (high >= 0.0) & ~across).any())


def _not_degrees(longitudes: Floats, latitudes: Floats) -> DomainError:
    return DomainError(
        f"Longitudes run from -180 to 180 and latitudes from -90 to 90; those of the boundary run from "
        f"{longitudes.min():g} to {longitudes.max():g} and from {latitudes.min():g} to {latitudes.max():g}. Save it in "
        "degrees, or with its system of coordinates."
    )
