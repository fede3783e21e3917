"""Tables in memory: pandas, GeoPandas, Polars and Arrow frames, and DuckDB relations."""

from __future__ import annotations

import numbers
from pathlib import Path
from typing import Any

import duckdb
import numpy as np

from dpheatmap.curator.engines.duckdb import quietly
from dpheatmap.curator.read.parquet import geometries_of
from dpheatmap.curator.table import Table, describe, literal, quoted
from dpheatmap.errors import DataError
from dpheatmap.files import not_a_pattern


def open_frame(con: duckdb.DuckDBPyConnection, events: Any, folder: str, user: str | None) -> Table:
    """A data frame, Arrow table or DuckDB relation as a table; ``folder`` is private and temporary."""
    if isinstance(events, duckdb.DuckDBPyRelation):
        return _parquet(con, _copy_relation(events, folder), "the relation")
    frame = _with_text_ids(events, user)
    if _has_points(frame):
        return _parquet(con, _copy_points(frame, folder), "the table")
    return _open_frame(con, frame)


def _open_frame(con: duckdb.DuckDBPyConnection, frame: Any) -> Table:
    try:
        con.register("people_events", frame)
    except (duckdb.Error, ImportError, TypeError):
        known = False
    else:
        known = True
    if not known:
        raise DataError(
            f"A {type(frame).__name__} can't be read, or not with these types. Give a path, a pandas, Polars or Arrow "
            "table, or a DuckDB relation."
        )
    relation = "people_events"
    if hasattr(frame, "read_next_batch"):  # a stream can be read once
        relation = "people_copied"
        quietly(lambda: con.execute(f"CREATE TEMP TABLE {relation} AS SELECT * FROM people_events"), "the table")
    return Table(relation, describe(con, relation, "the table"), "the table")


def _parquet(con: duckdb.DuckDBPyConnection, path: str, name: str) -> Table:
    """What was written to the private folder, as a table."""
    copied = literal(not_a_pattern(path))
    relation = f"read_parquet({copied}, hive_partitioning=false)"
    return Table(relation, describe(con, relation, name), name, geometries=geometries_of(con, copied, name))


def _has_points(frame: Any) -> bool:
    """Whether this is a frame of GeoPandas, which knows its geometry and its coordinate system."""
    return hasattr(frame, "to_parquet") and hasattr(frame, "active_geometry_name")


def _copy_points(frame: Any, folder: str) -> str:
    """Write a frame of GeoPandas to GeoParquet, which keeps what it knows.

    Plain objects are written as their text. Otherwise a column with values of two types, or with text that can't be
    encoded, could not be written: one person's row would refuse the table.
    """
    path = str(Path(folder, "frame.parquet"))
    objects = [name for name in frame.columns if frame[name].dtype in (object, "str", "string")]
    texts = {name: frame[name].map(_encodable, na_action="ignore").astype(object) for name in objects}
    try:
        frame.assign(**texts).to_parquet(path, index=False)
    except (ImportError, TypeError, ValueError):
        written = False
    else:
        written = True
    if not written:
        raise DataError(
            "The GeoDataFrame can't be written as GeoParquet, which knows fewer types of columns. Leave out those that "
            "are not needed."
        )
    return path


def _encodable(value: object) -> str:
    return str(value).encode(errors="replace").decode()


def _copy_relation(relation: duckdb.DuckDBPyRelation, folder: str) -> str:
    """Write a relation to Parquet, batch by batch; large integers as text, for Parquet would make floats of them."""
    large = ("HUGEINT", "UHUGEINT", "BIGNUM")
    columns = [
        f"CAST({quoted(name)} AS VARCHAR) AS {quoted(name)}" if str(kind) in large else quoted(name)
        for name, kind in zip(relation.columns, relation.types, strict=True)
    ]
    path = str(Path(folder, "relation.parquet"))
    quietly(lambda: relation.project(", ".join(columns)).write_parquet(path), "the relation")
    return path


def _with_text_ids(frame: Any, user: str | None) -> Any:
    """A pandas frame, or columns of NumPy's, whose ids are plain objects gets them as text.

    DuckDB takes the text of each object, and would merge the id 7 with the id "7". Text stays as it is here; any other
    object is written after a mark with the name of its type, so that no two different ones become equal.
    """
    import narwhals as nw

    if isinstance(frame, dict) and user in frame and np.asarray(frame[user]).dtype.hasobject:
        ids = [None if value is None else _as_text(value) for value in frame[user]]
        return {**frame, user: np.array(ids, dtype=object)}
    if not nw.dependencies.is_pandas_dataframe(frame):
        return frame
    names = [str(label) for label in frame.columns]
    if len({name.lower() for name in names}) != len(names):
        raise DataError("The table has columns whose names are equal or differ in case alone. Give each its own name.")
    frame = frame.set_axis(names, axis="columns")
    if user not in names or frame[user].dtype != object:
        return frame
    return frame.assign(**{user: frame[user].map(_as_text, na_action="ignore").astype(object)})


_MARK = "\x1f"


def _as_text(value: object) -> str:
    """Ordinary text as it is; anything else, also text with what can't be printed or encoded, after a mark."""
    if isinstance(value, str) and value.isprintable():
        return value
    if not isinstance(value, bool) and isinstance(value, numbers.Integral):
        return f"{_MARK}int:{int(value)}"
    return f"{_MARK}{type(value).__name__}:{value!r}"
