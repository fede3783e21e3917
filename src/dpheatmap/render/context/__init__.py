"""Somebody's own map under or over the heat: parks, streets, borders from a file that says nothing about people.

It costs no budget, because it is public. A file that was made from the private table must not be given.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from math import cos, radians
from pathlib import Path

import numpy as np

from dpheatmap._util.vector_file import SUFFIXES
from dpheatmap.errors import DataError, ParameterError
from dpheatmap.place.domain import Bounds
from dpheatmap.render.context.context_layer import ContextFeature, ContextLayer, cut_features
from dpheatmap.render.context.gdal_file import read_with_geopandas
from dpheatmap.render.context.geojson_file import read_geojson
from dpheatmap.render.context.kinds import CHOSEN, KINDS, Kind, kind_of
from dpheatmap.render.context.pmtiles_file import read_pmtiles
from dpheatmap.render.context.raw_feature import RawFeature

__all__ = ["ContextFeature", "ContextLayer", "read_context"]

_FORMATS = "GeoJSON (.geojson), GeoPackage (.gpkg), Shapefile (.shp), GeoParquet (.parquet) or PMTiles (.pmtiles)"
_LARGEST = 300_000_000  # bytes of a file
_PIXELS = 1500  # of a window's width, if nobody tells
_FARTHEST = (540.0, 90.0)  # degrees; beyond the antimeridian, longitudes may go on
_LONGEST = 200  # characters of a name
_NAMES = ("name", "name:en", "name_en", "label")


def read_context(spec: str, window: Bounds, pixels: int = _PIXELS) -> list[ContextLayer]:
    """Read somebody's own map: one layer a kind, in the order in which they are drawn.

    Parameters
    ----------
    spec : str
        A file, and after a colon how to draw it (water, park, land, road, rail or border) or the column with names:
        ``parks.geojson:park``, ``districts.gpkg:district``. Without it, tags of OpenStreetMap tell what features are,
        and the column ``name`` their names.
    window : Bounds
        The box of longitudes and latitudes that is drawn. What lies outside is left out.
    pixels : int, default 1500
        The width of the window on the picture. No line moves by more than half a pixel.

    Returns
    -------
    list of ContextLayer
        Layers with at least one feature inside the window.

    Raises
    ------
    DataError
        If the file can't be read, or lacks the column.
    ParameterError
        If it has another format, or nothing inside the window.
    MissingDependency
        If it is not GeoJSON, and the extra ``[geo]`` is not installed.
    """
    path, suffix = _split(spec)
    chosen = suffix if suffix in CHOSEN else None
    column = suffix if suffix and chosen is None else None
    raw = _read(path, window)
    if column and not any(column in feature.tags for feature in raw):
        raise DataError(
            f"The context {path.name!r} has no column {column!r}. Name one of its columns, or how to draw it: "
            f"{', '.join(CHOSEN)}."
        )
    tolerance = cos(radians(np.clip((window.y0 + window.y1) / 2, -85, 85))) * (window.x1 - window.x0) / pixels / 2
    found: dict[str, list[ContextFeature]] = defaultdict(list)
    for one in raw:
        kind = _kind(one, chosen)
        found[kind.name].append(_feature(one, kind, column))
    layers = [ContextLayer(path.stem, kind, cut_features(found[kind], window, tolerance), window) for kind in KINDS]
    layers = [layer for layer in layers if layer.features]
    if not layers:
        raise ParameterError(
            f"The context {path.name!r} has nothing inside the map. Check that it is of the same place, in longitudes "
            "and latitudes or with its system of coordinates."
        )
    return layers


def _split(spec: str) -> tuple[Path, str]:
    """The file, and what stands after the colon."""
    whole = Path(spec)
    file, colon, suffix = spec.rpartition(":")
    path, after = (whole, "") if not colon or _is_file(whole) else (Path(file), suffix)
    if not _is_file(path):
        raise DataError(f"There is no file {spec if not colon else file!r} for the context. Check the path.")
    if path.stat().st_size > _LARGEST:
        raise ParameterError(
            f"The context {path.name!r} has more than {_LARGEST // 10**6} MB. Cut it to the place of the map first."
        )
    return path, after


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):  # no name that a file could have
        return False


def _read(path: Path, window: Bounds) -> Sequence[RawFeature]:
    """The features of a file, by its suffix."""
    suffix = path.suffix.lower()
    try:
        if suffix in (".geojson", ".json"):
            read = read_geojson(path)
            return _check(path, read if read is not None else read_with_geopandas(path, window))
        if suffix in SUFFIXES:
            return _check(path, read_with_geopandas(path, window))
        if suffix == ".pmtiles":
            return _check(path, read_pmtiles(path, window))
    except OSError as error:
        raise DataError(f"The context {path.name!r} can't be opened. Check that you may read it.") from error
    raise ParameterError(f"The context {path.name!r} has no known format. Give {_FORMATS}.")


def _check(path: Path, features: Sequence[RawFeature]) -> Sequence[RawFeature]:
    """Refuse coordinates that are no degrees."""
    lines = [line for feature in features for part in feature.parts for line in part]
    points = np.concatenate(lines) if lines else np.zeros((0, 2))
    if not (np.abs(points) <= _FARTHEST).all():
        raise DataError(
            f"The context {path.name!r} has coordinates that are no longitudes and latitudes. Convert it to EPSG:4326, "
            "or save it with its system of coordinates."
        )
    return features


def _kind(feature: RawFeature, chosen: str | None) -> Kind:
    kind = kind_of(feature.tags, feature.shape)
    if chosen is None or feature.shape == "point":
        return kind
    return Kind(chosen, kind.rank if kind.name == chosen else 1)


def _feature(raw: RawFeature, kind: Kind, column: str | None) -> ContextFeature:
    """A feature as it is drawn: roads and rails as lines, even around areas."""
    name = _name(raw, column)
    lines = [line for part in raw.parts for line in part]
    if raw.shape == "point":
        return ContextFeature(points=[point for line in lines for point in line], name=name)
    if raw.shape == "line" or kind.name in ("road", "rail"):
        return ContextFeature(lines=lines, name=name, rank=kind.rank)
    return ContextFeature(polygons=[list(part) for part in raw.parts], name=name, rank=kind.rank)


def _name(feature: RawFeature, column: str | None) -> str:
    """The name of a feature: of the column asked for, or of one that is called so."""
    lower = {str(key).lower(): key for key in feature.tags}
    keys = [column] if column else [lower[name] for name in _NAMES if name in lower]
    texts = [str(feature.tags[key]) for key in keys if feature.tags.get(key) not in (None, "")]
    text = texts[0] if texts else ""
    return "".join(c if c.isprintable() else " " for c in text)[:_LONGEST].strip()
