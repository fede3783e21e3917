"""Areas of any source, with their names: files, frames, rectangles, polygons, colours of a mask, H3, geohashes, cells.

Areas are public. Their coordinates are those of their system; in a place that is not on the ground, those of the place.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from dpheatmap._util.extras import import_extra
from dpheatmap._util.parameters import check
from dpheatmap._util.vector_file import SUFFIXES, read_only_layer
from dpheatmap.errors import DataError, ParameterError
from dpheatmap.place.box import Box
from dpheatmap.place.domain import Domain, Floats
from dpheatmap.place.quadtree import Ints, decode
from dpheatmap.place.rings import Shapes, shapes_of_rings
from dpheatmap.place.vector_rings import DEGREES, rings_of_geometries, to_degrees, valid_geometries

MOST_AREAS = 100_000
_MASKS = (".png", ".bmp", ".gif")  # no format that changes colours
_GEOHASH = "0123456789bcdefghjkmnpqrstuvwxyz"
_KINDS = (
    "a file (.geojson, .gpkg, .shp, .parquet; for images a mask, .png), a GeoDataFrame, a mapping of names to "
    "rectangles or polygons, a list of H3 cells or geohashes, or a level of the release's own cells"
)


class NamedAreas(NamedTuple):
    """Areas as geometries of shapely, and their system of coordinates, which is None in places without one."""

    names: list[str]
    geometries: Any
    crs: Any

    def shapes(self, domain: Domain) -> Shapes:
        """The areas on the grid of a domain."""
        rings = rings_of_geometries(self.geometries)
        shapes = shapes_of_rings(self.names, rings, lambda points: _project(points, self.crs, domain))
        if isinstance(domain.place, Box) and domain.place.turned:
            again = shapes_of_rings(self.names, rings, lambda points: _project(points, self.crs, domain, 360.0))
            return shapes.with_copy(again)
        return shapes


def outlines_of(table: Any, domain: Domain) -> list[list[Floats]]:
    """The closed rings of each area of a table on the root square, those of holes the other way round."""
    geometries = table.geometry.to_numpy()
    rings = rings_of_geometries(valid_geometries(geometries))
    crs = table.crs if domain.geographic else None
    points = _project(rings.points, crs, domain) / 2.0**domain.depth
    if isinstance(domain.place, Box) and domain.place.turned:
        points[:, 0] %= 1.0
    found: list[list[Floats]] = [[] for _ in range(len(geometries))]
    starts = np.searchsorted(rings.ring, np.arange(len(rings.area) + 1))
    for k, area in enumerate(rings.area.tolist()):
        ring = points[starts[k] : starts[k + 1]]
        swept = float(np.sum((ring[:-1, 0] + ring[1:, 0]) * np.diff(ring[:, 1])))
        found[area].append(ring if (swept > 0) == (rings.hole[k] == 0) else ring[::-1])
    return found


def read_areas(areas: Any, domain: Domain, *, name: str | None = None, layer: str | None = None) -> NamedAreas:
    """Read areas; ``name`` is the column of their names, and ``layer`` one of several in a file."""
    if layer is not None:
        check(layer=layer)
    geopandas = import_extra("geopandas", "geo", "Numbers of people in areas")
    found = _find(areas, domain, geopandas, layer)
    if isinstance(found, NamedAreas):
        read = found
    else:
        read = NamedAreas(_names(found, name), found.geometry.to_numpy(), found.crs)
    if not 0 < len(read.names) <= MOST_AREAS:
        raise ParameterError(f"There must be 1 to {MOST_AREAS:,} areas; there were {len(read.names):,}.")
    if not domain.geographic:
        return read._replace(geometries=valid_geometries(read.geometries), crs=None)
    if read.crs is None:
        raise DataError("The areas don't tell their system of coordinates. Save them with it, or use frame.set_crs.")
    return read._replace(geometries=valid_geometries(read.geometries))


def _find(areas: Any, domain: Domain, geopandas: Any, layer: str | None) -> Any:
    """A frame of areas, or areas that have names already."""
    degrees = DEGREES if domain.geographic else None
    if isinstance(areas, geopandas.GeoDataFrame):
        return areas
    if isinstance(areas, geopandas.GeoSeries):
        return areas.to_frame("geometry").set_geometry("geometry")
    if isinstance(areas, (str, PathLike)):
        return _read_file(Path(areas), domain, layer)
    if isinstance(areas, Mapping) and areas.get("type") == "FeatureCollection":
        return geopandas.GeoDataFrame.from_features(areas["features"], crs=degrees)
    if isinstance(areas, Mapping):
        return NamedAreas([str(name) for name in areas], _outlines(areas), degrees)
    if isinstance(areas, (int, np.integer)) and not isinstance(areas, bool):
        return _own_cells(domain, int(areas), degrees)
    if isinstance(areas, Sequence) and areas and all(isinstance(one, str) for one in areas):
        return NamedAreas(list(areas), _codes(areas, domain), degrees)
    raise ParameterError(f"Areas are {_KINDS}; they were a {type(areas).__name__}.")


def _read_file(path: Path, domain: Domain, layer: str | None) -> Any:
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES and suffix not in _MASKS:
        raise ParameterError(f"Areas are {_KINDS}; the file was {path.name!r}.")
    if not path.is_file():
        raise DataError(f"There is no file {str(path)!r}. Check the path of the areas.")
    if suffix in _MASKS:
        return _colours(path, domain)
    return read_only_layer(path, "areas", layer)


def _names(frame: Any, name: str | None) -> list[str]:
    """The names in a column: the one given, or else the first of text in which no two are the same, or numbers."""
    columns = [column for column in frame.columns if column != frame.geometry.name]
    if name is not None:
        if name not in columns:
            raise ParameterError(f"The areas have no column {name!r}, but {', '.join(map(str, columns)) or 'none'}.")
        return [str(value) for value in frame[name]]
    for column in columns:
        values = frame[column].tolist()
        if all(isinstance(value, str) for value in values) and len(set(values)) == len(values):
            return [str(value) for value in values]
    return [str(number + 1) for number in range(len(frame))]


def _outlines(areas: Mapping[Any, Any]) -> Any:
    """Geometries of a mapping: shapely's own, rectangles (x0, y0, x1, y1) or lists of corners."""
    import shapely

    made = []
    for name, value in areas.items():
        try:
            corners = None if isinstance(value, shapely.Geometry) else np.asarray(value, np.float64)
            if corners is None:
                made.append(value)
            elif corners.shape == (4,):
                made.append(shapely.box(*corners))
            else:
                made.append(shapely.Polygon(corners))
        except (TypeError, ValueError, shapely.errors.ShapelyError) as error:
            raise ParameterError(
                f"The area {str(name)!r} is neither a rectangle (x0, y0, x1, y1) nor a list of corners."
            ) from error
    return np.array(made, dtype=object)


def _codes(codes: Sequence[str], domain: Domain) -> Any:
    """Geometries of H3 cells or geohashes."""
    import shapely

    if not domain.geographic:
        raise ParameterError(f"H3 cells and geohashes lie on the ground, and the place is {domain.place.words}.")
    if all(code and set(code.lower()) <= set(_GEOHASH) and len(code) < 13 for code in codes):
        return np.array([shapely.box(*_geohash(code.lower())) for code in codes], dtype=object)
    h3 = import_extra("h3", "geo", "H3 cells as areas")
    unknown = next((code for code in codes if not h3.is_valid_cell(code)), None)
    if unknown is not None:
        raise ParameterError(f"{unknown!r} is neither an H3 cell nor a geohash.")
    return np.array(
        [shapely.Polygon([(lon, lat) for lat, lon in h3.cell_to_boundary(code)]) for code in codes], dtype=object
    )


def _geohash(code: str) -> tuple[float, float, float, float]:
    """West, south, east and north of a geohash: its bits halve the longitude and the latitude in turn.

    >>> _geohash("u0")
    (0.0, 45.0, 11.25, 50.625)
    """
    ranges = [[-180.0, 180.0], [-90.0, 90.0]]
    bits = [_GEOHASH.index(letter) >> shift & 1 for letter in code for shift in (4, 3, 2, 1, 0)]
    for place, bit in enumerate(bits):
        ends = ranges[place % 2]
        ends[1 - bit] = 0.5 * (ends[0] + ends[1])
    (west, east), (south, north) = ranges
    return west, south, east, north


def _own_cells(domain: Domain, level: int, crs: str | None) -> NamedAreas:
    """The cells of a level that meet the domain, named by their column and row."""
    import shapely

    check(depth=level)
    if domain.count(level) > MOST_AREAS:
        raise ParameterError(
            f"Level {level} has {domain.count(level):,} cells, more than {MOST_AREAS:,}. Give a coarser one."
        )
    x, y = decode(domain.codes(level))
    boxes = [shapely.box(*domain.cell_bounds(level, int(i), int(j))) for i, j in zip(x, y, strict=True)]
    return NamedAreas([f"{i}/{j}" for i, j in zip(x, y, strict=True)], np.array(boxes, dtype=object), crs)


def _colours(path: Path, domain: Domain) -> NamedAreas:
    """The areas of one colour each of a mask that covers the place; what is transparent belongs to none."""
    import shapely
    from PIL import Image

    if domain.geographic:
        raise ParameterError("A mask by colours is for images, and the place is a box on the ground. Give polygons.")
    with Image.open(path) as image:
        pixels = np.asarray(image.convert("RGBA")).astype(np.uint32)
    shown = pixels[..., 3] > 0
    colours = np.where(shown, pixels[..., 0] << 16 | pixels[..., 1] << 8 | pixels[..., 2], 1 << 24)
    found = np.unique(colours[shown])
    if len(found) > 1000:
        raise ParameterError(f"The mask {path.name!r} has {len(found):,} colours. Save it with one colour an area.")
    x0, y0, x1, y1 = domain.extent
    across, down = (x1 - x0) / pixels.shape[1], (y1 - y0) / pixels.shape[0]
    made = []
    for colour in found:
        row, first, last = _runs(colours == colour)
        left, right, top = x0 + across * first, x0 + across * last, y0 + down * row
        made.append(shapely.union_all(shapely.box(left, top, right, top + down)))
    return NamedAreas([f"#{colour:06x}" for colour in found], np.array(made, dtype=object), None)


def _runs(inside: Any) -> tuple[Ints, Ints, Ints]:
    """The rows, first columns and ends of the runs of pixels inside."""
    steps = np.diff(np.pad(inside.astype(np.int8), ((0, 0), (1, 1))), axis=1)
    row, first = np.nonzero(steps == 1)
    return row, first, np.nonzero(steps == -1)[1]


def _project(points: Floats, crs: Any, domain: Domain, turn: float = 0.0) -> Floats:
    """Points in units of the finest cells of a domain; on the ground, after a turn of some degrees to the east."""
    x, y = (to_degrees(points, crs) if domain.geographic else points).T
    u, v = domain.to_root(x, y)
    if isinstance(domain.place, Box):
        u = domain.place.columns_of(x + turn)  # lines go on beyond the edge of the world
    return np.stack([u, v], axis=1) * 2.0**domain.depth
