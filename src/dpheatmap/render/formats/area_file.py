"""Files of areas: tables as CSV, GeoJSON, GeoPackage and GeoParquet, pictures, and pages. Each says how it was made."""

from __future__ import annotations

import json
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpheatmap._util.csv_table import csv_table
from dpheatmap._util.extras import import_extra
from dpheatmap._util.files import replace_whole, suffix_of
from dpheatmap.place.domain import Domain
from dpheatmap.releases.estimable import Estimable
from dpheatmap.render.content.look import Look
from dpheatmap.render.content.slice_names import look_of_slice
from dpheatmap.render.figure.areas_map import figure_of_areas
from dpheatmap.render.figure.background import background_of
from dpheatmap.render.figure.figure_file import PICTURES, refuse_picture, write_figure
from dpheatmap.render.formats.metadata import refuse_without_ground
from dpheatmap.render.formats.parquet_metadata import add_metadata

if TYPE_CHECKING:
    from dpheatmap.releases.sliced_release import SlicedRelease

TABLES = (".csv", ".geojson", ".gpkg", ".parquet")
"""Suffixes of tables, which may be of several slices, or of what changed."""

FORMATS = (*TABLES, *PICTURES, ".html")
"""Suffixes of the files that areas can be saved as."""


def save(
    release: Estimable | SlicedRelease,
    table: Any,
    path: str | PathLike[str],
    look: Look | None = None,
    *,
    values: str = "share",
) -> None:
    """Write a table of a release's areas, whole or not at all; of several slices, only as one of TABLES."""
    suffix, look = Path(path).suffix.lower(), look or Look()
    with replace_whole(path) as temporary:
        if suffix == ".csv":
            temporary.write_text(csv_of(table), encoding="utf-8", newline="")
        elif suffix == ".geojson":
            _write_geojson(release, table, temporary)
        elif suffix == ".gpkg":
            about = dict(release.label)
            table.to_file(temporary, driver="GPKG", layer="areas", engine="pyogrio", layer_metadata=about)
        elif suffix == ".parquet":
            _write_parquet(release, table, temporary)
        elif suffix == ".html":
            assert isinstance(release, Estimable)
            _write_page(release, table, temporary, look_of_slice(look, release), values)
        else:
            assert isinstance(release, Estimable)
            figure = figure_of_areas(release, table, look_of_slice(look, release), values=values)
            write_figure(figure, temporary, suffix)


def refuse(domain: Domain, path: str | PathLike[str], look: Look | None = None) -> None:
    """Refuse a file that areas of a domain can't be written to."""
    suffix = suffix_of(path, "a file of areas", FORMATS)
    if suffix in (".geojson", ".gpkg"):
        refuse_without_ground(domain, "GeoJSON" if suffix == ".geojson" else "GeoPackage", ".parquet or .csv")
    if suffix == ".parquet":
        import_extra("pyarrow", "geo", "A GeoParquet file")
    if suffix in PICTURES:
        refuse_picture(suffix)
    if look is not None and look.background is not None:
        background_of(domain, look.background)


def csv_of(table: Any) -> str:
    """The columns of a table of areas as CSV; times are ISO 8601, and what is not known is blank."""
    rows = table.drop(columns="geometry").apply(_in_plain_words, axis=0).astype(object)
    rows = rows.where(rows.notna(), None)
    return csv_table(list(rows.columns), rows.itertuples(index=False))


def _in_plain_words(column: Any) -> Any:
    """A column whose times and truths are written as charts read them; without a time of day, times are dates."""
    kind = getattr(column.dtype, "kind", "")
    if kind == "M":
        dates = bool((column.dropna() == column.dropna().dt.normalize()).all()) and column.dt.tz is None
        return column.map(lambda at: at.date().isoformat() if dates else at.isoformat(), na_action="ignore").astype(
            object
        )
    if kind == "b":
        return column.map({True: "true", False: "false"}).astype(object)
    return column


def records_of(table: Any) -> list[dict[str, Any]]:
    """The numbers of the areas of a table, None where there are none."""
    ours = table[table.attrs["columns"]].astype(object)
    records: list[dict[str, Any]] = ours.where(ours.notna(), None).to_dict("records")
    return records


def _write_parquet(release: Estimable | SlicedRelease, table: Any, path: Path) -> None:
    """Write GeoParquet; its metadata ``dpheatmap`` is the label."""
    table.to_parquet(path, schema_version="1.1.0", compression="zstd")
    add_metadata(path, dpheatmap=json.dumps(dict(release.label)))


def _write_geojson(release: Estimable | SlicedRelease, table: Any, path: Path) -> None:
    """Write the collection in degrees; the member ``dpheatmap`` is the label."""
    times = [column for column in table.columns if getattr(table[column].dtype, "kind", "") == "M"]
    table = table.assign(**{column: table[column].astype(str) for column in times})
    collection = json.loads(table.to_crs(4326).to_json(drop_id=True, to_wgs84=False))
    collection.pop("crs", None)
    path.write_text(json.dumps({**collection, "dpheatmap": dict(release.label)}), encoding="utf-8")


def _write_page(release: Estimable, table: Any, path: Path, look: Look, values: str) -> None:
    """Write the interactive map of the release, on which the areas are shown first."""
    from dpheatmap.render.content.area_picture import content_of_areas
    from dpheatmap.render.content.picture import picture_of
    from dpheatmap.render.web.page import page

    heat = release.heatmap()
    picture = picture_of(heat.in_people() if values == "people" else heat, look)
    text = page(picture, look, areas=content_of_areas(release, table, look, values=values))
    path.write_text(text, encoding="utf-8", newline="\n")
