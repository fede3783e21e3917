"""GeoPackage, Shapefile and GeoParquet, read with geopandas; other systems of coordinates are converted to degrees."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from dpheatmap._util.extras import import_extra
from dpheatmap.errors import DataError, DpheatmapError, ParameterError
from dpheatmap.place.domain import Bounds, Floats
from dpheatmap.render.context.raw_feature import RawFeature
from dpheatmap.render.context.wkb_depth import DEEPEST, depth_of

_NAMES = {
    ".gpkg": ("GeoPackage", b"SQLite format 3\x00"),
    ".shp": ("Shapefile", b"\x00\x00\x27\x0a"),
    ".parquet": ("GeoParquet", b"PAR1"),
    ".geoparquet": ("GeoParquet", b"PAR1"),
    ".geojson": ("GeoJSON", b""),
    ".json": ("GeoJSON", b""),
}
_ROWS = 1000  # of GeoParquet that are checked at a time
SUFFIXES = tuple(_NAMES)
"""The suffixes of files that are read here; GeoJSON only in another system of coordinates than degrees."""


def read_with_geopandas(path: Path, window: Bounds) -> list[RawFeature]:
    """The features of a file near a window."""
    form, magic = _NAMES[path.suffix.lower()]
    import_extra("geopandas", "geo", f"The context {path.name!r}")
    # What the file starts with decides which of many drivers opens it, and none of those that lead elsewhere.
    with path.open("rb") as file:
        if file.read(len(magic)) != magic:
            raise DataError(f"The context {path.name!r} can't be read as {form}. Check the file.")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return [feature for table in _tables(path, window) for feature in _features(table, path)]
    except DpheatmapError:
        raise
    except Exception as error:  # of GDAL, PROJ, GEOS or Arrow
        raise DataError(f"The context {path.name!r} can't be read as {form}. Check the file.") from error


def _tables(path: Path, window: Bounds) -> Iterator[Any]:
    """The layers of a file as frames in degrees."""
    import geopandas
    from shapely import box

    if _NAMES[path.suffix.lower()][0] == "GeoParquet":
        _check_depths(path)
        yield _to_degrees(geopandas.read_parquet(path), path)
        return
    import pyogrio

    near = geopandas.GeoSeries([box(*window).buffer(0.1 * (window.x1 - window.x0))], crs=4326)
    for name, kind in pyogrio.list_layers(path):
        if kind is not None:
            crs = pyogrio.read_info(path, layer=name)["crs"]
            bbox = near.to_crs(crs).iloc[0].bounds if crs else None
            frame = geopandas.read_file(path, layer=name, bbox=bbox, engine="pyogrio")
            yield _to_degrees(frame, path).assign(layer=name)


def _check_depths(path: Path) -> None:
    """Refuse geometries of GeoParquet that are nested too deep, before GEOS reads them. GDAL has a limit of its own."""
    from pyarrow.parquet import ParquetFile

    with ParquetFile(path) as file:
        columns = json.loads(file.schema_arrow.metadata[b"geo"])["columns"]
        nested = [name for name, column in columns.items() if column["encoding"] == "WKB"]
        for batch in file.iter_batches(_ROWS, columns=nested):
            for column in batch.columns:
                for wkb in filter(None, column.to_pylist()):
                    _check_depth(path, depth_of(bytes.fromhex(wkb) if isinstance(wkb, str) else wkb))


def _check_depth(path: Path, depth: int) -> None:
    if depth > DEEPEST:
        raise ParameterError(
            f"The context {path.name!r} has shapes inside each other, more than {DEEPEST} deep. "
            "Save its collections as simple shapes."
        )


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
    _check_depth(path, depth)
    if hasattr(shape, "geoms"):
        for part in shape.geoms:
            yield from _leaves(part, path, depth + 1)
    else:
        yield shape


def _points(shape: Any) -> Floats:
    return np.asarray(shape.coords, dtype=np.float64)[:, :2]
