"""Files of synthetic points: CSV, Parquet and GeoJSON. Those that can say what the points are, and are not."""

from __future__ import annotations

import json
from os import PathLike
from pathlib import Path
from typing import Any

from dpheatmap._util.csv_table import csv_table
from dpheatmap._util.duckdb_connection import connect
from dpheatmap._util.files import replace_whole, suffix_of
from dpheatmap.place.domain import Domain
from dpheatmap.render.formats.metadata import refuse_without_ground

FORMATS = (".csv", ".parquet", ".geojson")
"""Suffixes of the files that synthetic points can be saved as."""

_DIGITS = 7  # of a degree: a centimetre


def save(points: Any, path: str | PathLike[str]) -> None:
    """Write points, whole or not at all."""
    suffix = Path(path).suffix.lower()
    with replace_whole(path) as temporary:
        if suffix == ".csv":
            text = csv_table(list(points.columns), points.itertuples(index=False))
            temporary.write_text(text, encoding="utf-8", newline="")
        elif suffix == ".geojson":
            _write_geojson(points, temporary)
        else:
            _write_parquet(points, temporary)


def refuse(domain: Domain, path: str | PathLike[str]) -> None:
    """Refuse a file that points of a domain can't be written to."""
    if suffix_of(path, "a file of points", FORMATS) == ".geojson":
        refuse_without_ground(domain, "GeoJSON", ".parquet or .csv")


def _write_geojson(points: Any, path: Path) -> None:
    coordinates = points.round(_DIGITS).to_numpy().tolist()
    shape = {"type": "MultiPoint", "coordinates": coordinates}
    feature = {"type": "Feature", "geometry": shape, "properties": {"about": points.attrs["about"]}}
    path.write_text(json.dumps({"type": "FeatureCollection", "features": [feature]}), encoding="utf-8")


def _write_parquet(points: Any, path: Path) -> None:
    target, about = (text.replace("'", "''") for text in (str(path), points.attrs["about"]))
    with connect() as con:
        con.register("points", points)
        con.execute(f"COPY points TO '{target}' (FORMAT parquet, KV_METADATA {{about: '{about}'}})")
