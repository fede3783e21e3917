"""Conversion of Arrow and Polars columns for DuckDB, by the types that the schema declares."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

_LARGEST = 2**63 - 1
_MICROSECONDS = {"s": 10**6, "ms": 10**3}


def readable_arrow(events: Any, names: Sequence[str], user: str | None) -> Any:
    """Convert the named columns of an Arrow table, batch, stream or data set; each row is read by itself."""
    import pyarrow as pa

    schema = events.schema
    chosen = pa.schema([schema.field(schema.names.index(name)) for name in names])
    changed = any(_changes(field.type, field.name == user) for field in chosen)
    if isinstance(events, pa.RecordBatch):
        events = pa.Table.from_batches([events])
    if isinstance(events, pa.Table):
        return _readable(events, names, user)
    if hasattr(events, "scanner"):
        if not changed:
            return events.scanner(columns=list(names))
        events = events.scanner(columns=list(names)).to_reader()
    batches = (part for batch in events for part in _readable(pa.Table.from_batches([batch]), names, user).to_batches())
    return pa.RecordBatchReader.from_batches(_readable(chosen.empty_table(), names, user).schema, batches)


def _readable(table: Any, names: Sequence[str], user: str | None) -> Any:
    import pyarrow as pa

    columns = [table.column(table.schema.names.index(name)) for name in names]
    return pa.table([readable_column(c, n == user) for n, c in zip(names, columns, strict=True)], names=list(names))


def _changes(kind: Any, is_id: bool) -> bool:
    import pyarrow as pa

    coarse = pa.types.is_timestamp(kind) and kind.unit in _MICROSECONDS
    return bool(coarse or (is_id and (pa.types.is_timestamp(kind) or pa.types.is_date64(kind))))


def readable_column(column: Any, is_id: bool) -> Any:
    """Convert a column so that DuckDB reads every row by itself.

    The conversion follows from the column's type. Times as ids become the whole numbers that they are stored as. Other
    times become null if they are out of DuckDB's range.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    if not _changes(column.type, is_id):
        return column
    ticks = column.cast(pa.int64())
    if is_id:
        return ticks
    factor = _MICROSECONDS[column.type.unit]
    furthest = _LARGEST // factor
    known = pc.and_(pc.greater_equal(ticks, -furthest), pc.less_equal(ticks, furthest))
    counted = pc.multiply(pc.if_else(known, ticks, pa.scalar(None, pa.int64())), factor)
    return counted.cast(pa.timestamp("us", column.type.tz))


def readable_polars(events: Any, names: Sequence[str], user: str | None) -> Any:
    """Convert the named columns of a Polars frame in the same way."""
    import polars as pl

    def column(name: str, kind: Any) -> Any:
        if isinstance(kind, pl.Datetime) and name == user:
            return pl.col(name).to_physical()
        if isinstance(kind, pl.Datetime) and kind.time_unit == "ms":
            furthest = _LARGEST // 1000
            near = pl.col(name).to_physical().is_between(-furthest, furthest)
            return pl.when(near).then(pl.col(name)).cast(pl.Datetime("us", kind.time_zone))
        return pl.col(name)

    schema = events.collect_schema()
    chosen = events.select([column(name, schema[name]) for name in names])
    return chosen.collect() if isinstance(chosen, pl.LazyFrame) else chosen
