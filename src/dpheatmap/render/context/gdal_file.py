"""GeoPackage, Shapefile and GeoParquet, read with geopandas; other systems of coordinates are converted to degrees."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from dpheatmap._util.vector_file import check_depth, layers_of, read_layer, readable_as_its_form, system_of
from dpheatmap.errors import DataError
from dpheatmap.place.domain import Bounds, Floats
from dpheatmap.render.context.raw_feature import RawFeature

_WHAT = "context"


def read_with_geopandas(path: Path, window: Bounds) -> list[RawFeature]:
    """The features of a file near a window; GeoJSON only in another system of coordinates than degrees."""
    with readable_as_its_form(path, _WHAT):
        return [feature for table in _tables(path, window) for feature in _features(table, path)]


def _tables(path: Path, window: Bounds) -> Iterator[Any]:
    """The layers of a file as frames in degrees."""
    import geopandas
    from shapely import box

    near = geopandas.GeoSeries([box(*window).buffer(0.1 * (window.x1 - window.x0))], crs=4326)
    for name in layers_of(path):
        crs = system_of(path, name)
        bbox = near.to_crs(crs).iloc[0].bounds if crs else None
        frame = _to_degrees(read_layer(path, _WHAT, name, bbox), path)
        yield frame.assign(layer=name) if name else frame


def _to_degrees(frame: Any, path: Path) -> Any:
    if frame.crs is not None:
        return frame.to_crs(4326)
    west, south, east, north = frame.total_bounds if len(frame) else (0.0, 0.0, 0.0, 0.0)
    if not (-540 <= west <= east <= 540 and -90 <= south <= north <= 90):
        raise DataError(
            f"The context {path.name!r} does not tell its system of coordinates, and they are not degrees. "
            "Save it with its system, in a Shapefile the file .prj."
        )
    return frame


def _features(frame: Any, path: Path) -> Iterator[RawFeature]:
    """The features of a frame in degrees."""
    import shapely

    tags = frame.drop(columns=frame.geometry.name).to_dict("records")
    for shape, own in zip(frame.geometry.to_numpy(), tags, strict=True):
        if shape is None:
            continue
        clean = {key: value for key, value in own.items() if isinstance(value, str | int | float) and value == value}
        parts = [part for part in _leaves(shapely.force_2d(shape), path) if not part.is_empty]
        polygons, lines, points = (
            [part for part in parts if part.geom_type in kinds]
            for kinds in (("Polygon",), ("LineString", "LinearRing"), ("Point",))
        )
        if polygons:
            yield RawFeature("polygon", [[*map(_points, (p.exterior, *p.interiors))] for p in polygons], clean)
        if lines:
            yield RawFeature("line", [[_points(line)] for line in lines], clean)
        if points:
            yield RawFeature("point", [[_points(point)] for point in points], clean)


def _leaves(shape: Any, path: Path, depth: int = 0) -> Iterator[Any]:
    """The simple parts of a shape."""
    check_depth(path, _WHAT, depth)
    if hasattr(shape, "geoms"):
        for part in shape.geoms:
            yield from _leaves(part, path, depth + 1)
    else:
        yield shape


def _points(shape: Any) -> Floats:
    return np.asarray(shape.coords, dtype=np.float64)[:, :2]
