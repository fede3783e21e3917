"""GeoJSON, read with the standard library."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from dpheatmap._util.wkb_depth import DEEPEST
from dpheatmap.errors import DataError
from dpheatmap.place.domain import Floats
from dpheatmap.render.context.raw_feature import RawFeature

_DEGREES = ("CRS84", "EPSG::4326", "EPSG:4326")
_FEWEST = {"polygon": 4, "line": 2, "point": 1}  # points of a part


def read_geojson(path: Path) -> list[RawFeature] | None:
    """The features of a file, or None if its coordinates are of another system than degrees."""
    try:
        content = json.loads(path.read_bytes().decode("utf-8-sig"), parse_constant=_refuse_constant)
        if not _in_degrees(content):
            return None
        return [feature for entry in _entries(content) for feature in _features(entry)]
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError, OverflowError) as error:
        raise DataError(f"The context {path.name!r} can't be read as GeoJSON. Check the file.") from error


def _refuse_constant(name: str) -> float:
    raise ValueError(f"{name} is no number of JSON")


def _in_degrees(content: Mapping[str, Any]) -> bool:
    """Whether coordinates are degrees: always today, but files from before 2016 may name another system."""
    crs = content.get("crs")
    return crs is None or str(crs["properties"]["name"]).endswith(_DEGREES)


def _entries(content: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The features of a collection; a feature or a bare geometry is one."""
    kind = content["type"]
    if kind == "FeatureCollection":
        yield from content["features"]
    else:
        yield content if kind == "Feature" else {"geometry": content}


def _features(entry: Mapping[str, Any]) -> Iterator[RawFeature]:
    tags = entry.get("properties") or {}
    if not isinstance(tags, dict):
        raise TypeError("properties are no object")
    for geometry in _geometries(entry.get("geometry")):
        kind, at = geometry["type"], geometry["coordinates"]
        parts = at if kind.startswith("Multi") else [at]
        match kind.removeprefix("Multi"):
            case "Polygon":
                polygons = [[_points(ring, "polygon") for ring in polygon] for polygon in parts]
                yield RawFeature("polygon", [polygon for polygon in polygons if polygon], tags)
            case "LineString":
                yield RawFeature("line", [[_points(line, "line")] for line in parts], tags)
            case "Point":
                yield RawFeature("point", [[_points([point], "point")] for point in parts], tags)
            case _:
                raise ValueError(f"{kind} is no geometry")


def _geometries(geometry: Mapping[str, Any] | None, deep: int = 0) -> Iterator[Mapping[str, Any]]:
    """A geometry, or those of a collection."""
    if geometry is None:
        return
    if geometry["type"] == "GeometryCollection":
        if deep == DEEPEST:
            raise ValueError("collections are nested too deep")
        for part in geometry["geometries"]:
            yield from _geometries(part, deep + 1)
    elif geometry["coordinates"]:
        yield geometry


def _points(given: Any, shape: str) -> Floats:
    """Longitudes and latitudes; heights are left out, and rings closed."""
    points = np.array([[position[0], position[1]] for position in given])
    if points.dtype.kind not in "if" or len(points) < _FEWEST[shape]:
        raise ValueError("no points")
    points = points.astype(np.float64)
    if shape == "polygon" and (points[0] != points[-1]).any():
        points = np.concatenate([points, points[:1]])
    return points
