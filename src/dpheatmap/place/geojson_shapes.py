"""Polygons of GeoJSON, read without a library: rings of longitudes and latitudes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from dpheatmap.errors import ParameterError
from dpheatmap.place.place import Floats


def polygons_of(shape: Mapping[str, Any], what: str) -> list[list[Floats]]:
    """The polygons of a GeoJSON geometry, feature or collection, each a list of rings; ``what`` is its role.

    >>> triangle = {"type": "Polygon", "coordinates": [[[0, 0], [1, 0], [0, 1], [0, 0]]]}
    >>> [len(ring) for ring in polygons_of({"type": "Feature", "geometry": triangle}, "boundary")[0]]
    [4]
    """
    try:
        found = [[_ring(ring) for ring in polygon] for polygon in _coordinates(shape)]
    except (AttributeError, KeyError, TypeError, ValueError, OverflowError, RecursionError):
        raise ParameterError(f"The {what} is not GeoJSON: its coordinates can't be read. Mend it.") from None
    if not any(found):
        raise ParameterError(f"The {what} needs a Polygon or MultiPolygon, and has none. Give one.")
    return [rings for rings in found if rings]


def _ring(ring: Any) -> Floats:
    points = np.asarray(ring, np.float64)
    if points.ndim != 2 or points.shape[1] < 2 or len(points) < 3 or not np.isfinite(points[:, :2]).all():
        raise ValueError("not a ring")
    closed = points[:, :2]
    return closed if (closed[0] == closed[-1]).all() else np.concatenate([closed, closed[:1]])


def _coordinates(shape: Mapping[str, Any]) -> list[Any]:
    kind = shape.get("type")
    if kind == "Polygon":
        return [shape["coordinates"]]
    if kind == "MultiPolygon":
        return list(shape["coordinates"])
    inner = [shape["geometry"]] if kind == "Feature" else shape.get("features") or shape.get("geometries") or []
    return [polygon for each in inner if each for polygon in _coordinates(each)]
