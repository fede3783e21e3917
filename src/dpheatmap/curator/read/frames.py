"""Tables in memory: pandas, GeoPandas, Polars and Arrow frames, NumPy columns, and DuckDB relations.

Only the columns that a question names are handed to the engine, whatever the others hold. In these, the value that is
read is a function of the row's own value and of the column's declared type (see `columns.py`, `values.py` and
`arrow.py`), and text whose bytes are not UTF-8 is null.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import duckdb
import narwhals as nw
import numpy as np

from dpheatmap._util.files import not_a_pattern
from dpheatmap.curator.engines.duckdb import quietly
from dpheatmap.curator.read.arrow import readable_arrow, readable_polars
from dpheatmap.curator.read.columns import readable
from dpheatmap.curator.read.parquet import geometries_of
from dpheatmap.curator.read.question import Question
from dpheatmap.curator.read.reading import Reading
from dpheatmap.curator.read.sql_text import literal, quote_name
from dpheatmap.curator.read.table import Table, describe
from dpheatmap.errors import DataError

Result = TypeVar("Result")

_AS_TEXT = ("HUGEINT", "UHUGEINT", "BIGNUM")
"""DuckDB's types whose values would become floats in Parquet."""
_FRAME, _COPIED = "people_events", "people_copied"


def open_frame(con: duckdb.DuckDBPyConnection, events: Any, folder: str, question: Question | None) -> Table:
    """Open a data frame, Arrow table or DuckDB relation as a table; ``folder`` is private and temporary.

    Without a ``question`` all columns are read.
    """
    if _is_of(events, "TrajectoryCollection", "Trajectory"):  # of MovingPandas: points, with their time as a column
        events = _call_quietly(events, lambda: events.to_point_gdf().reset_index())
    if isinstance(events, duckdb.DuckDBPyRelation):
        types = {name: str(kind) for name, kind in zip(events.columns, events.types, strict=True)}
        return _copy_of(con, _copy_relation(events, types, folder, question), "the relation", types)
    if nw.dependencies.is_pandas_dataframe(events):
        return _open_pandas(con, events, folder, question)
    user = None if question is None else question.user
    if isinstance(events, dict):
        if not all(isinstance(values, np.ndarray) for values in events.values()):
            raise _unknown(events)  # the dtype of a list would follow from its values
        names = _columns_to_read(question, events)
        kept = _call_quietly(events, lambda: {name: readable(events[name], is_id=name == user) for name in names})
        return _register_frame(con, kept, {name: str(values.dtype) for name, values in events.items()}, names)
    if nw.dependencies.is_polars_dataframe(events) or nw.dependencies.is_polars_lazyframe(events):
        types = {name: type(kind).__name__ for name, kind in _call_quietly(events, events.collect_schema).items()}
        names = _columns_to_read(question, types)
        return _register_frame(con, _call_quietly(events, lambda: readable_polars(events, names, user)), types, names)
    if hasattr(getattr(events, "schema", None), "names"):
        types = {field.name: str(field.type) for field in events.schema}
        names = _columns_to_read(question, types)
        return _register_frame(con, _call_quietly(events, lambda: readable_arrow(events, names, user)), types, names)
    return _register_frame(con, events, {}, None)


def with_own_columns(events: Any, reading: Reading) -> Reading:
    """The reading of a scikit-mobility frame, whose columns have names of their own, where no others are given."""
    if not _is_of(events, "TrajDataFrame") or reading.x is not None or reading.geometry is not None:
        return reading
    user = "uid" if reading.user is None and not reading.rows_alone else reading.user
    return replace(reading, user=user, x="lng", y="lat")


def _is_of(frame: Any, *names: str) -> bool:
    """Whether a frame is of a class of one of these names. Its library need not be there."""
    return any(kind.__name__ in names for kind in type(frame).__mro__)


def _columns_to_read(question: Question | None, names: Iterable[str]) -> list[str]:
    return list(names) if question is None else question.among(names)


def _unknown(frame: Any) -> DataError:
    return DataError(
        f"A {type(frame).__name__} can't be read, or not with these types. Give a path, a pandas, Polars or Arrow "
        "table, or a DuckDB relation."
    )


def _call_quietly(frame: Any, call: Callable[[], Result]) -> Result:
    """Call a frame's own library, and replace its errors, which quote values."""
    try:
        return call()
    except Exception:
        pass
    raise _unknown(frame)


def _register_frame(
    con: duckdb.DuckDBPyConnection, frame: Any, types: Mapping[str, str], names: Sequence[str] | None
) -> Table:
    """Register a frame with DuckDB, narrowed to columns of these names, or to all that it finds if that is None."""
    if names is not None and not names and types:
        return Table("(SELECT NULL WHERE FALSE)", types, "the table")  # the table has none of the named columns
    try:
        con.register(_FRAME, frame)
        found = {name: kind for name, kind, *_ in con.execute(f"DESCRIBE {_FRAME}").fetchall()}
    except (duckdb.Error, ImportError, TypeError):
        found = {}
    if not found:
        raise _unknown(frame)
    select = f"SELECT {', '.join(_text_or_null(name, kind) for name, kind in found.items())} FROM {_FRAME}"
    relation = f"({select})"
    if hasattr(frame, "read_next_batch"):  # a stream can be read once
        relation = _COPIED
        quietly(lambda: con.execute(f"CREATE TEMP TABLE {relation} AS {select}"), "the table")
    return Table(relation, {**types, **describe(con, relation, "the table")}, "the table")


def _text_or_null(name: str, kind: str) -> str:
    """A column as SQL. Arrow does not check that text is UTF-8, and DuckDB's functions would stop at some that is not.

    It is a function of the bytes of one value: that value, or null.
    """
    at = quote_name(name)
    return f"TRY(decode(encode({at}))) AS {at}" if kind == "VARCHAR" else at


def _open_pandas(con: duckdb.DuckDBPyConnection, frame: Any, folder: str, question: Question | None) -> Table:
    names = [str(label) for label in frame.columns]
    if len({name.lower() for name in names}) != len(names):
        raise DataError("The table has columns whose names are equal or differ in case alone. Give each its own name.")
    frame = frame.set_axis(names, axis="columns")
    types = {name: str(kind) for name, kind in zip(names, frame.dtypes, strict=True)}
    points = getattr(frame, "active_geometry_name", None)
    asked = names if question is None else question.among(names, [] if points is None else [points])
    user = None if question is None else question.user
    columns = _call_quietly(frame, lambda: {name: readable(frame[name], is_id=name == user) for name in asked})
    shapes = [name for name in asked if types[name] == "geometry"]
    if shapes:
        active = points if points in shapes else shapes[0]
        return _copy_of(con, _copy_points(columns, active, folder), "the table", types)
    import pandas as pd

    return _register_frame(con, pd.DataFrame(columns, index=frame.index), types, asked)


def _copy_of(con: duckdb.DuckDBPyConnection, path: str, name: str, types: Mapping[str, str]) -> Table:
    """The table of what was written to the private folder."""
    relation = f"read_parquet({literal(not_a_pattern(path))}, hive_partitioning=false)"
    found = describe(con, relation, name)
    columns = {column: found.get(column, kind) for column, kind in types.items()}
    return Table(relation, columns, name, geometries=geometries_of(con, path, name))


def _copy_points(columns: Mapping[str, Any], active: str, folder: str) -> str:
    """Write GeoPandas columns to GeoParquet, which keeps the metadata of their points."""
    import geopandas

    path = str(Path(folder, "frame.parquet"))
    try:
        geopandas.GeoDataFrame(columns, geometry=active).to_parquet(path, index=False)
    except (ImportError, TypeError, ValueError):
        written = False
    else:
        written = True
    if not written:
        raise DataError(
            "The GeoDataFrame can't be written as GeoParquet, which knows fewer types of columns. Give ids as text or "
            "integers."
        )
    return path


def _copy_relation(
    relation: duckdb.DuckDBPyRelation, types: Mapping[str, str], folder: str, question: Question | None
) -> str:
    """Write a relation to Parquet, batch by batch, with large integers as text, which would become floats.

    What the relation itself computes is the data holder's own query. If that fails on a row, so does this.
    """
    points = [name for name, kind in types.items() if kind.startswith("GEOMETRY")]
    asked = list(types) if question is None else question.among(types, points)
    columns = [
        f"CAST({quote_name(name)} AS VARCHAR) AS {quote_name(name)}"
        if types[name] in _AS_TEXT
        else _text_or_null(name, types[name])
        for name in asked
    ] or ["NULL AS nothing"]
    path = str(Path(folder, "relation.parquet"))
    quietly(lambda: relation.project(", ".join(columns)).write_parquet(path), "the relation")
    return path
