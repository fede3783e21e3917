"""A relation that DuckDB can read, with the facts about its columns that are known before a row is read."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import duckdb

from dpheatmap.curator.engines.duckdb import quietly
from dpheatmap.curator.read.geometry import Geometry
from dpheatmap.errors import DataError

if TYPE_CHECKING:
    from dpheatmap.curator.read.question import Question
    from dpheatmap.curator.read.record_stream import RecordStream

TEXT = "TEXT"
"""The type of text in engines with typed columns, which is never read as numbers, as that of a CSV file is."""
FLOATS = ("FLOAT", "DOUBLE")
WHOLE_NUMBERS = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT",
                 "UHUGEINT")  # fmt: skip
# Types whose values are equal only if they are the same. Intervals, for example, are not: 30 days equal a month.
IDS = (*WHOLE_NUMBERS, "VARCHAR", TEXT, "JSON", "ENUM", "BLOB", "UUID", "BOOLEAN", "DATE", "TIME", "BIT", '"NULL"')


@dataclass(frozen=True)
class Table:
    """A relation that an engine can read: the SQL after FROM, and its columns with their types in DuckDB.

    ``listed`` tells whether errors may list the columns, which they must not if the columns may be data. ``folders``
    are columns in the names of folders. ``geometries`` are those that GeoParquet describes, the primary one first.
    ``ids`` are columns whose values are compared as people by another column. ``stream`` reads the records of text
    files. ``points`` are x and y, as SQL, of other engines' columns of points. ``portable`` relations are transpiled
    from DuckDB's dialect to theirs. ``declared`` tells whether no row decides the types, as in Parquet and databases.

    Files of different schemas are the ``parts`` of a table, each with columns of its own. ``narrowed`` takes a question
    and a private folder, and returns the table with the question's columns alone. After a failed reading, ``again``
    makes a table readable if some values are not of their declared type, and tells whether it could. ``units`` are the
    columns of ids that stand for something else than a person, and what that is.
    """

    relation: str
    columns: Mapping[str, str]
    name: str
    listed: bool = True
    folders: frozenset[str] = frozenset()
    geometries: Mapping[str, Geometry] = field(default_factory=dict)
    ids: Mapping[str, str] = field(default_factory=dict)
    stream: RecordStream | None = None
    points: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    portable: bool = False
    declared: bool = False
    parts: tuple[Table, ...] = ()
    narrowed: Callable[[Question | None, str], Table] | None = None
    again: Callable[[], bool] | None = None
    units: Mapping[str, str] = field(default_factory=dict)


def describe(con: duckdb.DuckDBPyConnection, relation: str, name: str) -> dict[str, str]:
    """The columns of a relation and their types."""
    rows = quietly(lambda: con.execute(f"DESCRIBE SELECT * FROM {relation}").fetchall(), name)
    return {column: re.sub(r"(?s)ENUM\(.*\)", "ENUM", kind) for column, kind, *_ in rows}  # an enum's values are data


def type_of(table: Table, role: str, name: str) -> str:
    """The type of the column of a role, such as that of people."""
    if name not in table.columns:
        raise DataError(missing_column(table, role, name))
    return table.columns[name]


def missing_column(table: Table, role: str, name: str) -> str:
    """The sentence about a column that is not there."""
    if not table.listed:
        return f"There is no {role} column {name!r} in {table.name}. Check its first line with dpheatmap inspect."
    near = difflib.get_close_matches(name, table.columns, 1, 0.5)
    hint = f"Did you mean {near[0]!r}?" if near else "Run dpheatmap inspect to see what fits."
    return f"There is no {role} column {name!r} in {table.name}, which has {', '.join(table.columns)}. {hint}"


def is_id(kind: str) -> bool:
    """Whether values of a type are equal only if they are the same."""
    return kind in IDS or re.fullmatch(r"DECIMAL\(\d+,\d+\)|TIMESTAMP[\w ]*", kind) is not None
