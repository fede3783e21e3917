"""Parquet and GeoParquet files, each read by the types that its own schema declares.

**Whose schema is it?** Where each person has a file, a schema is a person's record: pandas writes whole numbers for
somebody who has only such, and floats for the others. So no file's schema may decide how another's is read, or whether.
Files are grouped by the types of the columns that the question names. Each group is a part of the table, read by its
own types, and read(files) = the union of read(file). What the group's schema does not allow (no such column, or no ids
in it) is null in its rows and its rows alone (see `parts.py`). Columns that are not named are not looked at.

The table is refused only if no file fits, because then nobody's rows can be read. As long as the files of others fit
the given names, no person's file decides about a refusal.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path

import duckdb

from dpheatmap._util.files import not_a_pattern
from dpheatmap.curator.counts_file import KEY as COUNTS
from dpheatmap.curator.engines.duckdb import quietly
from dpheatmap.curator.read import geometry
from dpheatmap.curator.read.declared import Files
from dpheatmap.curator.read.question import Question
from dpheatmap.curator.read.sql_text import literal
from dpheatmap.curator.read.table import Table, describe
from dpheatmap.errors import DataError, PrivacyRefusal

Geometries = dict[str, geometry.Geometry]


def open_parquet(
    con: duckdb.DuckDBPyConnection, files: Sequence[str], names: str, name: str, keys: frozenset[str]
) -> Table:
    """Open files as a table, which is `narrowed` to a question; ``keys`` are the names of the folders they lie in."""
    schemas = {
        file: describe(con, f"read_parquet({literal(not_a_pattern(file))}, hive_partitioning=false)", Path(file).name)
        for file in files
    }
    _refuse_counts(con, names, name, len(files))
    points = _geometries_by_file(con, files, name)
    relation = f"read_parquet({names}, hive_partitioning=false)"
    return Table(relation, schemas[files[0]], name, narrowed=partial(_narrow, con, schemas, points, name, keys))


def _narrow(
    con: duckdb.DuckDBPyConnection,
    schemas: Mapping[str, dict[str, str]],
    points: Mapping[str, Geometries],
    name: str,
    keys: frozenset[str],
    question: Question | None,
    folder: str,
) -> Table:
    """The table with the columns of a question, or with all of them, which all files must then share."""
    groups: dict[object, list[str]] = {}
    for file, columns in schemas.items():
        named = list(columns) if question is None else sorted(question.among(columns, points[file]))
        like = (tuple((column, columns[column]) for column in named), tuple(points[file].items()))
        groups.setdefault((*like, *with_folders(columns, keys)), []).append(file)
    if question is None and len(groups) > 1:
        first, other, *_ = groups.values()
        raise unlike(first[0], other[0])
    read, parts = [], []
    for k, group in enumerate(groups.values()):
        columns = schemas[group[0]]
        folders, option = with_folders(columns, keys)
        asked = [*columns, *folders] if question is None else question.among((*columns, *folders), points[group[0]])
        one = Files(con, f"people_files{k}", group, asked, option, Path(folder, f"files{k}"))
        types = {**columns, **dict.fromkeys(folders, "VARCHAR")}
        read.append(one)
        parts.append(Table(one.view(), types, name, folders=folders, geometries=points[group[0]]))
    return _together(parts, read)


def _together(parts: Sequence[Table], read: Sequence[Files]) -> Table:
    def again() -> bool:
        mended = [files.mend() for files in read]
        return any(mended)

    first = parts[0]
    columns = {column: kind for part in reversed(parts) for column, kind in part.columns.items()}
    return Table(
        first.relation, columns, first.name, folders=first.folders, geometries=first.geometries, declared=True,
        parts=tuple(parts) if len(parts) > 1 else (), again=again,
    )  # fmt: skip


def geometries_of(con: duckdb.DuckDBPyConnection, file: str, name: str) -> Geometries:
    """The columns that a GeoParquet file declares as geometries; none for other Parquet files."""
    return _geometries_by_file(con, [file], name)[file]


def _geometries_by_file(con: duckdb.DuckDBPyConnection, files: Sequence[str], name: str) -> dict[str, Geometries]:
    found = {file: _metadata(con, literal(not_a_pattern(file)), name, geometry.KEY) for file in files}
    return {file: _read_geometries(metadata) for file, metadata in found.items()}


def _read_geometries(metadata: Sequence[bytes]) -> Geometries:
    try:
        return geometry.geometries(metadata) or {}
    except (LookupError, TypeError, ValueError, AttributeError, RecursionError):
        return {}


def _refuse_counts(con: duckdb.DuckDBPyConnection, names: str, name: str, files: int) -> None:
    """Refuse files that all hold counts. One among other files has other columns than they do."""
    if len(_metadata(con, names, name, COUNTS)) >= files:
        raise PrivacyRefusal(
            f"{name} holds counts, not events. Release those of one file, as Counts.load gives them; those of several "
            "can't be added up, because a person who is in more than one would weigh more than 1."
        )


def _metadata(con: duckdb.DuckDBPyConnection, names: str, name: str, key: str) -> list[bytes]:
    sql = f"SELECT value FROM parquet_kv_metadata({names}) WHERE TRY(decode(key)) = '{key}'"
    return [value for (value,) in quietly(lambda: con.execute(sql).fetchall(), name)]


def with_folders(columns: Iterable[str], keys: frozenset[str]) -> tuple[frozenset[str], str]:
    """The folders' columns, unless one has the name of a column in the files, and the option that reads them.

    Their values stay text: engines would read 007 as a number, and let a folder user=7 replace the column.
    """
    taken = {column.lower() for column in columns}
    if not keys or any(key.lower() in taken for key in keys):
        return frozenset(), "hive_partitioning=false"
    return keys, "hive_partitioning=true, hive_types_autocast=false"


def unlike(first: str, other: str) -> DataError:
    """The error for files that are read as one table and have different columns."""
    return DataError(
        f"{Path(other).name!r} does not have the columns of {Path(first).name!r}, or not in the same order or of the "
        "same types. Make the files alike."
    )
