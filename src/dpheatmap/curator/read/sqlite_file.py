"""Tables of SQLite, and layers of GeoPackage, which is SQLite with points.

A column of SQLite may hold values of any type, whatever it declares. Each value is taken with the type that it is
stored with: SQLite returns it as a whole number, a float, text or bytes, and converts nothing, because nothing is
compared or computed. The statement names columns of one table, without an index, a condition or an order, so each row
is the row that is stored. Text is fetched as bytes, and what is not UTF-8, or not UTF-16 if stored so, is null.
A view may look at several rows, and is refused; so is anything else that is not a table.

The file is opened for reading alone, and as one that does not change, so SQLite writes nothing beside it. Changes that
wait in a write-ahead log are not in the file yet; a file with such a log is refused.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import quote

from dpheatmap.curator.read.geometry import Geometry, point_of_wkb, system_of_text
from dpheatmap.curator.read.records import DEGREES, LONGEST_VALUE, Layout, Wanted
from dpheatmap.curator.read.sql_text import quote_name
from dpheatmap.errors import DataError

_ENVELOPES = (0, 32, 48, 48, 64)
"""Bytes of the envelope in the header of a GeoPackage's geometry, by its kind."""
_HEADER = 8
_LONGEST_POINT = 128
"""Bytes of a geometry that are fetched; a point has fewer, with its header."""
_DEGREES = 4326
_UNKNOWN = (-1, 0)
"""Systems of a GeoPackage that are none."""
_STORED = 3
"""The mark of a column that is computed when its row is written."""
_SHOWN = 20
"""The most tables that a message lists."""


class SqliteTables:
    """The reader of tables in a SQLite database."""

    record = "row"
    units: dict[str, str] = {}  # noqa: RUF012

    def layout(self, path: str, table: str | None) -> Layout:
        """The columns of a table, and the one of points if it is a GeoPackage's layer."""
        with closing(_connect(path)) as con:
            name = _table(con, path, table)
            columns = _columns(con, path, name)
            found = _geometry(con, path, name)
        return Layout(columns) if found is None else Layout(columns, *found)

    def lines(self, path: str, table: str | None, wanted: Wanted) -> Iterator[bytes]:
        """Read the rows of a table."""
        with closing(_connect(path)) as con:
            name = _table(con, path, table)
            geometry = _geometry(con, path, name) if wanted.point is not None else None
            # What is too long is not fetched: a value is null then, and a geometry no point.
            whole = _whole_text(con, path)
            chosen = [
                f"CASE WHEN length(CAST({at} AS BLOB)) <= {LONGEST_VALUE}{whole.format(at=at)} THEN {at} END"
                for at in map(quote_name, wanted.columns)
            ]
            if geometry is not None:
                at = quote_name(geometry[0])
                chosen.append(f"CASE WHEN typeof({at}) = 'blob' THEN substr({at}, 1, {_LONGEST_POINT}) END")
            sql = f"SELECT {', '.join(chosen) or 'NULL'} FROM {quote_name(name)} NOT INDEXED"
            many = len(wanted.columns)
            for row in _rows(con, path, sql):
                point = point_of_wkb(_wkb(row[many])) if geometry is not None else None
                yield wanted.line([_text(value) for value in row[:many]], *(point or (None, None)))


def _whole_text(con: sqlite3.Connection, path: str) -> str:
    """The condition that a text is UTF-16, in a database that stores it so.

    SQLite takes half of a pair of surrogates, and whatever follows it, for another letter when it converts text to
    UTF-8, and one id would become another. Such a text is not the same after it was converted, as trim does, and back.
    """
    if [_text(encoding) for (encoding,) in _rows(con, path, "PRAGMA encoding")] == ["UTF-8"]:
        return ""
    return " AND (typeof({at}) <> 'text' OR CAST(trim({at}, '') AS BLOB) = CAST({at} AS BLOB))"


def _table(con: sqlite3.Connection, path: str, wanted: str | None) -> str:
    """The table that is read: the one that is named, or the only one. A GeoPackage lists its own."""
    sql = "SELECT name FROM sqlite_schema WHERE type = 'table' AND rootpage > 0 ORDER BY name"
    names = [str(_text(row[0])) for row in _rows(con, path, sql)]
    known = [name for name in names if not name.startswith("sqlite_")]
    if "gpkg_contents" in known:
        sql = "SELECT table_name FROM gpkg_contents WHERE data_type IN ('features', 'attributes') ORDER BY table_name"
        listed = {_text(name) for (name,) in _rows(con, path, sql)}
        known = [name for name in known if name in listed]
    if wanted is None and len(known) == 1:
        return known[0]
    if wanted is not None and wanted in known:
        return wanted
    shown = ", ".join(repr(name) for name in known[:_SHOWN]) or "none"
    raise DataError(
        f"Name the table of {Path(path).name!r} to read (--table); it was {wanted!r}, and there are: {shown}."
    )


def _columns(con: sqlite3.Connection, path: str, table: str) -> tuple[str, ...]:
    """The columns whose values are stored. Others are computed, and what fails in one row would refuse them all."""
    found = list(_rows(con, path, f"PRAGMA table_xinfo({quote_name(table)})"))
    return tuple(str(_text(name)) for _, name, *_, hidden in found if hidden in (0, _STORED))


def _geometry(con: sqlite3.Connection, path: str, table: str) -> tuple[str, Geometry] | None:
    """The column of a GeoPackage's layer that holds points, and their system; None for other tables."""
    if not list(_rows(con, path, "SELECT 1 FROM sqlite_schema WHERE name = 'gpkg_geometry_columns'")):
        return None
    sql = (
        "SELECT column_name, srs_id, srs_name, definition FROM gpkg_geometry_columns LEFT JOIN gpkg_spatial_ref_sys "
        "USING (srs_id) WHERE table_name = ?"
    )
    for column, number, name, text in _rows(con, path, sql, table):
        if number == _DEGREES:
            return str(_text(column)), DEGREES
        known = number not in _UNKNOWN and isinstance(text, bytes)
        return str(_text(column)), system_of_text(str(_text(text)) if known else "", _text(name) if known else None)
    return None


def _wkb(value: Any) -> bytes | None:
    """The well-known binary in a geometry of a GeoPackage, behind a header of its own."""
    if not isinstance(value, bytes) or isinstance(value, _Bytes) or value[:2] != b"GP" or len(value) < _HEADER:
        return None
    envelope = value[3] >> 1 & 7
    return value[_HEADER + _ENVELOPES[envelope] :] if envelope < len(_ENVELOPES) else None


class _Bytes(bytes):
    """The bytes of a text."""


def _text(value: Any) -> Any:
    if not isinstance(value, _Bytes):
        return value
    try:
        return value.decode()
    except UnicodeDecodeError:
        return None


def _connect(path: str) -> sqlite3.Connection:
    name = Path(path).name
    if any(os.path.exists(f"{path}{ending}") and os.path.getsize(f"{path}{ending}") for ending in ("-wal", "-journal")):
        raise DataError(f"{name!r} has a journal beside it, so somebody is writing to it. Close it there first.")
    try:
        with open(path, "rb") as file:
            is_database = file.read(16) == b"SQLite format 3\0"
    except OSError as error:
        raise DataError(f"{name!r} can't be opened: {error.strerror}. Check the file.") from error
    if not is_database:
        raise DataError(f"{name!r} is not a SQLite database, or an encrypted one. Check the file.")
    con = sqlite3.connect(f"file:{quote(os.path.abspath(path))}?immutable=1&mode=ro", uri=True, check_same_thread=False)
    con.text_factory = _Bytes
    con.execute("PRAGMA query_only = ON")
    return con


def _rows(con: sqlite3.Connection, path: str, sql: str, *values: Any) -> Iterator[tuple[Any, ...]]:
    """The rows of a statement; names are text, and a file that is damaged is refused."""
    whole = True
    try:
        cursor = con.execute(sql, values)
        while rows := cursor.fetchmany(1000):
            yield from rows
    except (sqlite3.Error, OverflowError):
        whole = False
    if not whole:
        raise DataError(f"{Path(path).name!r} is damaged, or holds what this SQLite can't read. Check the file.")
