"""Files of the table of areas: CSV, GeoJSON, GeoPackage and GeoParquet. Each says how it was made."""

from __future__ import annotations

import json
from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import Any

from dpheatmap._util.csv_table import csv_table
from dpheatmap._util.extras import import_extra
from dpheatmap._util.files import replace_whole, suffix_of
from dpheatmap.place.domain import Domain
from dpheatmap.render.formats.metadata import refuse_without_ground

FORMATS = (".csv", ".geojson", ".gpkg", ".parquet")
"""Suffixes of the files that a table of areas can be saved as."""


def save(table: Any, path: str | PathLike[str], about: Mapping[str, str]) -> None:
    """Write a table of areas, whole or not at all; ``about`` is the label of its release."""
    suffix = Path(path).suffix.lower()
    with replace_whole(path) as temporary:
        if suffix == ".csv":
            _write_csv(table, temporary)
        elif suffix == ".geojson":
            _write_geojson(table, temporary, about)
        elif suffix == ".gpkg":
            table.to_file(temporary, driver="GPKG", layer="areas", engine="pyogrio", layer_metadata=dict(about))
        else:
            table.to_parquet(temporary, schema_version="1.1.0", compression="zstd")


def refuse(domain: Domain, path: str | PathLike[str]) -> None:
    """Refuse a file that areas of a domain can't be written to."""
    suffix = suffix_of(path, "a file of areas", FORMATS)
    if suffix in (".geojson", ".gpkg"):
        refuse_without_ground(domain, "GeoJSON" if suffix == ".geojson" else "GeoPackage", ".parquet or .csv")
    if suffix == ".parquet":
        import_extra("pyarrow", "geo", "A GeoParquet file")


def _write_csv(table: Any, path: Path) -> None:
    rows = table.drop(columns="geometry")
    path.write_text(csv_table(list(rows.columns), rows.itertuples(index=False)), encoding="utf-8", newline="")


def _write_geojson(table: Any, path: Path, about: Mapping[str, str]) -> None:
    """Write the collection in degrees; the member ``dpheatmap`` is the label."""
    collection = json.loads(table.to_crs(4326).to_json(drop_id=True, to_wgs84=False))
    collection.pop("crs", None)
    path.write_text(json.dumps({**collection, "dpheatmap": dict(about)}), encoding="utf-8")
