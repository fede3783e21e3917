"""Conversion of pandas and NumPy columns for DuckDB, by their dtype, or value by value for plain objects."""

from __future__ import annotations

from typing import Any

import numpy as np

from dpheatmap.curator.read.arrow import readable_column
from dpheatmap.curator.read.values import ids, texts

NOT_A_TIME = -(2**63)
"""The stored number of a missing time."""
_LARGEST = 2**63 - 1
_MICROSECONDS = {"s": 10**6, "ms": 10**3}
"""Units of time that DuckDB converts to microseconds, and fails on a time that is out of range."""


def readable(column: Any, *, is_id: bool) -> Any:
    """Convert a pandas column or an array so that DuckDB reads every row by itself; ``is_id`` if it holds ids.

    The conversion follows from the dtype. Numbers, booleans and Arrow's columns are left as they are. Text that Python
    holds, and plain objects, are converted value by value. Times as ids become the whole numbers that they are stored
    as, because DuckDB keeps microseconds of some: people who differ by a nanosecond would become one.
    """
    kind = getattr(column.dtype, "kind", "O")
    if hasattr(column, "cat"):
        return _of_categories(column, is_id)
    storage = getattr(column.dtype, "storage", None)  # for pandas' own type of text
    if storage == "pyarrow" or hasattr(column.dtype, "pyarrow_dtype"):
        return _of_arrow(column, is_id)
    if kind == "U" or storage == "python":
        return _objects(column, texts(column))
    if column.dtype == object:
        return _objects(column, (ids if is_id else texts)(column))
    if kind in "mM":
        return _times(column, is_id)
    return column


def _of_arrow(column: Any, is_id: bool) -> Any:
    """A column that Arrow holds, as an Arrow column, whose bytes DuckDB reads."""
    import pandas as pd

    values = readable_column(column.array.__arrow_array__(), is_id)
    return pd.Series(pd.arrays.ArrowExtensionArray(values), index=column.index)


def _objects(like: Any, values: list[str | None]) -> Any:
    objects = np.empty(len(values), dtype=object)
    objects[:] = values
    return _series(like, objects)


def _series(like: Any, values: Any) -> Any:
    """The values as a pandas column if ``like`` is one, else as an array."""
    if isinstance(like, np.ndarray):
        return values
    import pandas as pd

    return pd.Series(values, index=like.index, dtype=values.dtype)


def _of_categories(column: Any, is_id: bool) -> Any:
    """The values of a categorical column, of a type that follows from that of the categories alone.

    DuckDB would refuse two categories with the same text, and turn whole numbers into floats if one row has none.
    """
    import pandas as pd

    values = readable(pd.Series(column.cat.categories), is_id=is_id)
    if values.dtype.kind in "iub":
        values = values.convert_dtypes()
    missing = {"fill_value": None} if values.dtype == object else {}
    return pd.Series(values.array.take(column.cat.codes.to_numpy(), allow_fill=True, **missing), index=column.index)


def _times(column: Any, is_id: bool) -> Any:
    """Whole numbers if these are ids, otherwise times; those out of DuckDB's range are null."""
    if not isinstance(column, np.ndarray):
        return _times_of_pandas(column, is_id)
    ticks = np.ma.getdata(column).view(np.int64)
    missing = np.ma.getmaskarray(column) | (ticks == NOT_A_TIME)
    if is_id:
        return np.ma.masked_array(ticks, missing)
    known = np.where(missing, NOT_A_TIME, ticks)
    return _in_range(known, np.datetime_data(column.dtype)[0]) if column.dtype.kind == "M" else column


def _times_of_pandas(column: Any, is_id: bool) -> Any:
    import pandas as pd

    ticks = column.array.asi8
    if is_id:
        return pd.Series(pd.arrays.IntegerArray(ticks.copy(), ticks == NOT_A_TIME), index=column.index)
    if column.dtype.kind != "M":
        return column
    zone = getattr(column.dtype, "tz", None)
    known = pd.Series(_in_range(ticks, column.array.unit), index=column.index)
    return known if zone is None else known.dt.tz_localize("UTC").dt.tz_convert(zone)


def _in_range(ticks: Any, unit: str) -> Any:
    """Times from their ticks, those of a coarse unit in microseconds."""
    if unit not in _MICROSECONDS:
        return ticks.view(f"datetime64[{unit}]")
    factor = _MICROSECONDS[unit]
    furthest = _LARGEST // factor
    known = (ticks >= -furthest) & (ticks <= furthest)
    return np.where(known, np.where(known, ticks, 0) * factor, NOT_A_TIME).view("datetime64[us]")
