"""GeoPackage, Shapefile, GeoParquet and GeoJSON as frames of geopandas, opened so that a hostile file does no harm.

What a file starts with decides which of many drivers opens it, and none of those that lead elsewhere. Geometries of
GeoParquet that are nested too deep are refused before GEOS reads them; GDAL has a limit of its own.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from dpheatmap._util.extras import import_extra
from dpheatmap._util.wkb_depth import DEEPEST, depth_of
from dpheatmap.errors import DataError, DpheatmapError, ParameterError

_FORMS = {
    ".gpkg": ("GeoPackage", b"SQLite format 3\x00"),
    ".shp": ("Shapefile", b"\x00\x00\x27\x0a"),
    ".parquet": ("GeoParquet", b"PAR1"),
    ".geoparquet": ("GeoParquet", b"PAR1"),
    ".geojson": ("GeoJSON", b""),
    ".json": ("GeoJSON", b""),
}
_ROWS = 1000  # of GeoParquet that are checked at a time
SUFFIXES = tuple(_FORMS)
"""The suffixes of files that are read."""


@contextmanager
def readable_as_its_form(path: Path, what: str) -> Iterator[None]:
    """Check what a file starts with, and replace the errors of the libraries that read it. ``what`` is its role."""
    form, magic = _FORMS[path.suffix.lower()]
    problem = DataError(f"The {what} {path.name!r} can't be read as {form}. Check the file.")
    import_extra("geopandas", "geo", f"The {what} {path.name!r}")
    try:
        with path.open("rb") as file:
            if file.read(len(magic)) != magic:
                raise problem
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    except DpheatmapError:
        raise
    except Exception as error:  # of GDAL, PROJ, GEOS or Arrow, or of the disk
        raise problem from error


def layers_of(path: Path) -> list[str]:
    """The names of the layers of a file that have geometries; one without a name for GeoParquet."""
    if _is_parquet(path):
        return [""]
    import pyogrio

    return [str(name) for name, kind in pyogrio.list_layers(path) if kind is not None]


def system_of(path: Path, layer: str) -> Any:
    """The system of coordinates of a layer, or None if the file does not tell, or is GeoParquet."""
    if _is_parquet(path):
        return None
    import pyogrio

    return pyogrio.read_info(path, layer=layer)["crs"]


def read_layer(path: Path, what: str, layer: str, bbox: Any = None) -> Any:
    """A layer as a frame in its own coordinates; with a bbox in these, perhaps only what is near."""
    import geopandas

    if _is_parquet(path):
        _check_depths(path, what)
        return geopandas.read_parquet(path)
    return geopandas.read_file(path, layer=layer, bbox=bbox, engine="pyogrio")


def read_only_layer(path: Path, what: str, layer: str | None) -> Any:
    """The one layer of a file, or the one that is named, as a frame in its own coordinates."""
    with readable_as_its_form(path, what):
        layers = layers_of(path)
        if layer is None and len(layers) > 1:
            raise ParameterError(
                f"The file of {what} {path.name!r} has several layers: {', '.join(layers)}. Name one by --layer, or "
                "layer in Python."
            )
        if layer is not None and layer not in layers:
            raise ParameterError(
                f"The file of {what} {path.name!r} has no layer {layer!r}, but {', '.join(layers)}. Name one of these."
            )
        return read_layer(path, what, layer or layers[0])


def is_geojson(path: Path) -> bool:
    """Whether the ending of a file is that of GeoJSON."""
    return _FORMS[path.suffix.lower()][0] == "GeoJSON"


def check_depth(path: Path, what: str, depth: int) -> None:
    """Refuse shapes that lie too deep inside each other."""
    if depth > DEEPEST:
        raise ParameterError(
            f"The {what} {path.name!r} has shapes inside each other, more than {DEEPEST} deep. "
            "Save its collections as simple shapes."
        )


def _is_parquet(path: Path) -> bool:
    return _FORMS[path.suffix.lower()][0] == "GeoParquet"


def _check_depths(path: Path, what: str) -> None:
    from pyarrow.parquet import ParquetFile

    with ParquetFile(path) as file:
        columns = json.loads(file.schema_arrow.metadata[b"geo"])["columns"]
        nested = [name for name, column in columns.items() if column["encoding"] == "WKB"]
        for batch in file.iter_batches(_ROWS, columns=nested):
            for column in batch.columns:
                for wkb in filter(None, column.to_pylist()):
                    check_depth(path, what, depth_of(bytes.fromhex(wkb) if isinstance(wkb, str) else wkb))
