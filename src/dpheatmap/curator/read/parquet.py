"""Parquet and GeoParquet: columns have declared types, and what a file says about itself is public."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import duckdb

from dpheatmap.curator import geometry
from dpheatmap.curator.counts_file import KEY as COUNTS
from dpheatmap.curator.engines.duckdb import quietly
from dpheatmap.curator.table import Table, describe, literal
from dpheatmap.errors import DataError, PrivacyRefusal
from dpheatmap.files import not_a_pattern


def open_parquet(
    con: duckdb.DuckDBPyConnection, files: Sequence[str], names: str, name: str, keys: frozenset[str]
) -> Table:
    """Files of one schema as a table; ``keys`` are the names of the folders that they lie in."""

    def alone(file: str) -> dict[str, str]:
        return describe(con, f"read_parquet({literal(not_a_pattern(file))}, hive_partitioning=false)", Path(file).name)

    columns = alone(files[0])
    for file in files[1:]:
        # DuckDB would cast a later file to the types of the first, and ids with it.
        if alone(file) != columns:
            raise unlike(files[0], file)
    _refuse_counts(con, names, name)
    folders, option = with_folders(columns, keys)
    relation = f"read_parquet({names}, {option})"
    return Table(
        relation, describe(con, relation, name), name, folders=folders, geometries=geometries_of(con, names, name)
    )


def geometries_of(con: duckdb.DuckDBPyConnection, names: str, name: str) -> dict[str, geometry.Geometry]:
    """The columns that files of GeoParquet, all alike, say are geometries; none of other Parquet."""
    try:
        return geometry.geometries(_metadata(con, names, name, geometry.KEY)) or {}
    except (LookupError, TypeError, ValueError, AttributeError, RecursionError):
        return {}


def _refuse_counts(con: duckdb.DuckDBPyConnection, names: str, name: str) -> None:
    if _metadata(con, names, name, COUNTS):
        raise PrivacyRefusal(
            f"{name} holds counts, not events. Release those of one file, as Counts.load gives them; those of several "
            "can't be added up, because a person who is in more than one would weigh more than 1."
        )


def _metadata(con: duckdb.DuckDBPyConnection, names: str, name: str, key: str) -> list[bytes]:
    sql = f"SELECT value FROM parquet_kv_metadata({names}) WHERE decode(key) = '{key}'"
    return [value for (value,) in quietly(lambda: con.execute(sql).fetchall(), name)]


def with_folders(columns: Iterable[str], keys: frozenset[str]) -> tuple[frozenset[str], str]:
    """The folders' columns, unless one has the name of a column in the files, and the option that reads them.

    Their values stay text: engines would make numbers of 007, and let a folder user=7 take the place of the column.
    """
    taken = {column.lower() for column in columns}
    if not keys or any(key.lower() in taken for key in keys):
        return frozenset(), "hive_partitioning=false"
    return keys, "hive_partitioning=true, hive_types_autocast=false"


def unlike(first: str, other: str) -> DataError:
    """The refusal of files that are read as one table and have not the same columns."""
    return DataError(
        f"{Path(other).name!r} does not have the columns of {Path(first).name!r}, or not in the same order or of the "
        "same types. Make the files alike."
    )
