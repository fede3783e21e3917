"""GeoParquet 1.1: measured cells or hexagons with their share of people, for GeoPandas, DuckDB, QGIS and others."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from dpheatmap._util.extras import import_extra
from dpheatmap.heatmap.heatmap import Heatmap
from dpheatmap.place.domain import Domain
from dpheatmap.render.formats.features import areas_of, refuse_areas
from dpheatmap.render.formats.geodataframe import frame


def write(heat: Heatmap, path: Path, *, h3: int | None = None) -> None:
    """Write one row an area, with a column of bounding boxes so that readers can skip areas elsewhere."""
    write_frame(frame(heat, areas_of(heat, h3)), path)


def write_frame(table: Any, path: Path) -> None:
    """Write a data frame of GeoPandas."""
    table.to_parquet(path, schema_version="1.1.0", write_covering_bbox=True, compression="zstd")


def refuse(domain: Domain, *, h3: int | None = None) -> None:
    """Refuse hexagons for a domain that is not on the ground."""
    refuse_areas(domain, h3)
    import_extra("geopandas", "geo", "A GeoParquet file")
    import_extra("pyarrow", "geo", "A GeoParquet file")
