"""Areas of any source, with their names: files, frames, rectangles, polygons, colours of a mask, H3, geohashes, cells.

Areas are public. Their coordinates are those of their system; in a place that is not on the ground, those of the place.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from dpheatmap._util.extras import import_extra
from dpheatmap._util.parameters import check
from dpheatmap._util.vector_file import SUFFIXES, is_geojson, read_only_layer
from dpheatmap.errors import DataError, ParameterError
from dpheatmap.estimate.areas.area_checks import check_coordinates, mend_crossings, only_polygons, with_overlaps
from dpheatmap.estimate.areas.area_codes import MOST_AREAS, all_cells, areas_of_codes, codes_in, is_all_cells
from dpheatmap.estimate.areas.area_mask import MASKS, areas_of_colours
from dpheatmap.estimate.areas.area_names import names_of, told_apart
from dpheatmap.estimate.areas.named_areas import NamedAreas
from dpheatmap.place.domain import Domain
from dpheatmap.place.quadtree import decode
from dpheatmap.place.vector_rings import DEGREES

_KINDS = (
    "a file (.geojson, .gpkg, .shp, .parquet; for images a mask, .png), a GeoDataFrame, a mapping of names to "
    "rectangles or polygons, a list of H3 cells or geohashes, h3:7 for all H3 cells of a resolution, or a level of the "
    "release's own cells"
)


def read_areas(
    areas: Any, domain: Domain, *, name: str | None = None, layer: str | None = None, areas_crs: str | None = None
) -> NamedAreas:
    """Read areas; ``name`` is the column of their names, and ``layer`` one of several in a file.

    ``areas_crs`` is their system of coordinates, if they don't tell it.
    """
    given = {"layer": layer, "areas_crs": areas_crs}
    check(**{key: value for key, value in given.items() if value is not None})
    geopandas = import_extra("geopandas", "geo", "Numbers of people in areas")
    found = _find(areas, domain, geopandas, layer)
    read = found if isinstance(found, NamedAreas) else _name_areas(found, name)
    if not 0 < len(read.names) <= MOST_AREAS:
        raise ParameterError(
            f"There must be 1 to {MOST_AREAS:,} areas; there were {len(read.names):,}. Check the source of the areas."
        )
    read = only_polygons(_with_system(read, domain, areas_crs))
    check_coordinates(read, domain)
    return with_overlaps(mend_crossings(read))


def _with_system(read: NamedAreas, domain: Domain, areas_crs: str | None) -> NamedAreas:
    """Areas whose system of coordinates is known on the ground, and None elsewhere."""
    if not domain.geographic:
        if read.crs is not None or areas_crs is not None:
            raise DataError(
                f"The areas have a system of coordinates on the ground, and the place is {domain.place.words}. "
                "Give areas in the place's own coordinates, without a system."
            )
        return read
    if areas_crs is not None:
        pyproj = import_extra("pyproj", "geo", "Another system of coordinates")
        try:
            crs = pyproj.CRS.from_user_input(areas_crs)
        except pyproj.exceptions.CRSError as error:
            raise ParameterError(
                f"areas_crs must be a system of coordinates that PROJ knows; it was {areas_crs!r}. "
                "Give it as text, such as 'EPSG:2056'."
            ) from error
        if read.crs is not None and not crs.equals(read.crs, ignore_axis_order=True):
            raise ParameterError(
                f"areas_crs is for areas that don't tell their system of coordinates, and these do; it was "
                f"{areas_crs!r}. Leave it out."
            )
        return read._replace(crs=crs)
    if read.crs is None:
        raise DataError(
            "The areas don't tell their system of coordinates. Say it by --areas-crs EPSG:2056, or areas_crs in Python."
        )
    return read


def _name_areas(frame: Any, name: str | None) -> NamedAreas:
    """The areas of a frame, and the columns that came with them."""
    names, line = names_of(frame, name)
    own = [column for column in frame.columns if str(frame[column].dtype) != "geometry"]
    read = NamedAreas(names, frame.geometry.to_numpy(), frame.crs, frame[own].reset_index(drop=True))
    return read.saying(line) if line else read


def _find(areas: Any, domain: Domain, geopandas: Any, layer: str | None) -> Any:
    """A frame of areas, or areas that have names already."""
    degrees = DEGREES if domain.geographic else None
    if isinstance(areas, geopandas.GeoDataFrame):
        return areas
    if isinstance(areas, geopandas.GeoSeries):
        return areas.to_frame("geometry").set_geometry("geometry")
    if isinstance(areas, str) and is_all_cells(areas):
        return all_cells(areas, domain)
    if isinstance(areas, str) and not Path(areas).exists() and (codes := codes_in(areas)) is not None:
        return areas_of_codes(codes, domain)
    if isinstance(areas, (str, PathLike)):
        return _read_file(Path(areas), domain, layer)
    if isinstance(areas, Mapping) and areas.get("type") == "FeatureCollection":
        return _features(areas, degrees, geopandas)
    if isinstance(areas, Mapping):
        return NamedAreas(told_apart([str(name) for name in areas]), _outlines(areas), degrees)
    if isinstance(areas, (int, np.integer)) and not isinstance(areas, bool):
        return _own_cells(domain, int(areas), degrees)
    if isinstance(areas, Sequence) and not isinstance(areas, (bytes, bytearray)):
        return areas_of_codes(areas, domain)
    raise ParameterError(f"Areas are {_KINDS}; they were a {type(areas).__name__}. Give one of these.")


def _features(areas: Mapping[Any, Any], degrees: str | None, geopandas: Any) -> Any:
    """The frame of a collection of GeoJSON."""
    try:
        features = areas["features"]
        if not features:
            return NamedAreas([], np.zeros(0, dtype=object), degrees)
        return geopandas.GeoDataFrame.from_features(features, crs=degrees)
    except Exception as error:  # of shapely, pandas or Python, whatever is in it
        raise ParameterError("The collection of areas can't be read as GeoJSON. Check its features.") from error


def _read_file(path: Path, domain: Domain, layer: str | None) -> Any:
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES and suffix not in MASKS:
        raise ParameterError(f"Areas are {_KINDS}; the file was {path.name!r}. Give one of these.")
    if not path.is_file():
        raise DataError(f"There is no file {str(path)!r}. Check the path of the areas.")
    if suffix in MASKS:
        return areas_of_colours(path, domain)
    frame = read_only_layer(path, "areas", layer)
    if "geometry" not in map(str, frame.dtypes):
        raise DataError(f"The file of areas {path.name!r} has no polygons. Give areas as Polygon or MultiPolygon.")
    if not domain.geographic and is_geojson(path) and not _tells_system(path):
        return frame.set_crs(None, allow_override=True)  # GeoJSON is read as degrees, whatever it holds
    return frame


def _tells_system(path: Path) -> bool:
    """Whether GeoJSON names its system of coordinates, as it may have done before RFC 7946."""
    try:
        return bool(json.loads(path.read_bytes()).get("crs"))
    except (ValueError, AttributeError, RecursionError):
        return False


def _outlines(areas: Mapping[Any, Any]) -> Any:
    """Geometries of a mapping: shapely's own, rectangles (x0, y0, x1, y1) or lists of corners."""
    import shapely

    made = np.empty(len(areas), dtype=object)
    for k, (name, value) in enumerate(areas.items()):
        try:
            corners = None if isinstance(value, shapely.Geometry) else np.asarray(value, np.float64)
            if corners is None:
                made[k] = value
            elif not np.isfinite(corners).all():
                raise ValueError
            else:
                made[k] = shapely.box(*corners) if corners.shape == (4,) else shapely.Polygon(corners)
        except (TypeError, ValueError, shapely.errors.ShapelyError) as error:
            raise ParameterError(
                f"The area {str(name)!r} is neither a rectangle (x0, y0, x1, y1) nor a list of corners, of finite "
                "numbers. Check its corners."
            ) from error
    return made


def _own_cells(domain: Domain, level: int, crs: str | None) -> NamedAreas:
    """The cells of a level that meet the domain, named by their column and row."""
    import shapely

    if not 0 <= level <= domain.depth:
        raise ParameterError(
            f"The release has the levels 0 to {domain.depth}; the level was {level}. Give one of these."
        )
    if domain.count(level) > MOST_AREAS:
        raise ParameterError(
            f"Level {level} has {domain.count(level):,} cells, more than {MOST_AREAS:,}. Give a coarser one."
        )
    x, y = decode(domain.codes(level))
    boxes = [shapely.box(*domain.cell_bounds(level, int(i), int(j))) for i, j in zip(x, y, strict=True)]
    names = [f"{i}/{j}" for i, j in zip(x, y, strict=True)]
    return NamedAreas(names, np.array(boxes, dtype=object), crs, is_grid=True)
