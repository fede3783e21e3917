"""The rings of geometries of shapely, and the conversion of their coordinates to degrees; both need the extra "geo"."""

from __future__ import annotations

from typing import Any

import numpy as np

from dpheatmap._util.extras import import_extra
from dpheatmap.place.place import Floats
from dpheatmap.place.projection import NORTHERNMOST
from dpheatmap.place.rings import Rings

DEGREES = "EPSG:4326"


def valid_geometries(geometries: Any) -> Any:
    """Valid geometries in two dimensions; what has no area in them has no rings."""
    import shapely

    return shapely.make_valid(shapely.force_2d(np.asarray(geometries, dtype=object)))


def rings_of_geometries(geometries: Any) -> Rings:
    """All rings of the polygons in geometries; the area of a ring is the number of its geometry."""
    import shapely

    parts, area = shapely.get_parts(geometries, return_index=True)
    while (nested := shapely.get_type_id(parts) > 3).any():  # polygons may lie in collections of multi-polygons
        inner, of = shapely.get_parts(parts[nested], return_index=True)
        parts, area = np.concatenate([parts[~nested], inner]), np.concatenate([area[~nested], area[nested][of]])
    flat = shapely.get_type_id(parts) == 3
    parts, area = parts[flat], area[flat]
    rings, polygon = shapely.get_rings(parts, return_index=True)
    hole = np.zeros(len(rings), np.int64)
    hole[1:] = polygon[1:] == polygon[:-1]
    points, ring = shapely.get_coordinates(rings, return_index=True)
    return Rings(points, ring, area[polygon], hole)


def degrees_of(points: Floats, crs: Any) -> Floats:
    """Longitudes and latitudes of points in a system, None for degrees; infinite where PROJ knows none."""
    x, y = points.T
    if crs is not None:
        pyproj = import_extra("pyproj", "geo", "Another system of coordinates")
        if not pyproj.CRS.from_user_input(crs).equals(pyproj.CRS.from_epsg(4326), ignore_axis_order=True):
            x, y = pyproj.Transformer.from_crs(crs, DEGREES, always_xy=True).transform(x, y)
    return np.stack([np.asarray(x, np.float64), np.asarray(y, np.float64)], axis=1)


def to_degrees(points: Floats, crs: Any) -> Floats:
    """Longitudes and latitudes of areas' points, as far as Web Mercator reaches; unknown ones are moved to its edge."""
    x, y = degrees_of(points, crs).T
    x, y = np.nan_to_num(x, posinf=180.0, neginf=-180.0), np.nan_to_num(y, posinf=90.0, neginf=-90.0)
    return np.stack([x, np.clip(y, -NORTHERNMOST, NORTHERNMOST)], axis=1)
