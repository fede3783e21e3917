"""Files of synthetic points: CSV, Parquet and GeoJSON. Those that can say what the points are, and are not."""

from __future__ import annotations

import json
from os import PathLike
from pathlib import Path
from typing import Any

from dpheatmap._util.csv_table import csv_table
from dpheatmap._util.duckdb_connection import connect
from dpheatmap._util.extras import import_extra
from dpheatmap._util.files import replace_whole, suffix_of
from dpheatmap.place.domain import Domain
from dpheatmap.render.formats.metadata import refuse_without_ground
from dpheatmap.render.formats.parquet_metadata import add_metadata

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
    """Write a feature for each point; the member ``dpheatmap`` says what they are."""
    places = points[["x", "y"]].round(_DIGITS).to_numpy().tolist()
    told = points.drop(columns=["x", "y"]).to_dict("records")
    features = [
        {"type": "Feature", "properties": properties, "geometry": {"type": "Point", "coordinates": place}}
        for properties, place in zip(told, places, strict=True)
    ]
    collection = {"type": "FeatureCollection", "dpheatmap": _about(points), "features": features}
    path.write_text(json.dumps(collection), encoding="utf-8")


def _write_parquet(points: Any, path: Path) -> None:
    """Write GeoParquet on the ground, and a plain table elsewhere."""
    if points.attrs["ground"]:
        geopandas = import_extra("geopandas", "geo", "A GeoParquet file")
        geometry = geopandas.points_from_xy(points["x"], points["y"])
        frame = geopandas.GeoDataFrame(points, geometry=geometry, crs="EPSG:4326")
        frame.to_parquet(path, schema_version="1.1.0", compression="zstd")
        add_metadata(path, **_about(points))
        return
    target = str(path).replace("'", "''")
    quoted = {name: text.replace("'", "''") for name, text in _about(points).items()}
    told = ", ".join(f"{name}: '{text}'" for name, text in quoted.items())
    with connect() as con:
        con.register("points", points)
        con.execute(f"COPY points TO '{target}' (FORMAT parquet, KV_METADATA {{{told}}})")


def _about(points: Any) -> dict[str, str]:
    """What the points are, and the epsilon of the release that they come from."""
    return {name: points.attrs[name] for name in ("about", "epsilon")}
