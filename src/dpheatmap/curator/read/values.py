"""Conversion of single Python values, from columns of plain objects, one row at a time.

Each function looks at one value and at nothing else, so that a row is a function of its own record. Only types that are
known to be exact and unchanging are understood. Anything else is null, and so is a value that raises an error when it
is looked at. The text of that error never leaves this module.
"""

from __future__ import annotations

import numbers
from collections.abc import Callable, Iterable
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

import numpy as np

MARK = "\x1f"
"""The first character of an id's text if the id itself is not text."""


def ids(values: Iterable[Any]) -> list[str | None]:
    """Convert ids to text, so that no two different ones become equal; None for nobody.

    DuckDB takes the text of each object, and would merge the id 7 with the id "7". Here text stays as it is, with a
    second mark if it begins with one. Anything else gets a mark with the name of its kind. Whole numbers are equal if
    their values are. NaN, NaT, nested values, and text that can't be encoded are nobody.
    """
    return [_safely(_id, value) for value in values]


def texts(values: Iterable[Any]) -> list[str | None]:
    """Convert values of other columns to text, from which numbers are read; None for values without a text."""
    return [_safely(_text, value) for value in values]


def _safely(function: Callable[[Any], str | None], value: Any) -> str | None:
    try:
        return function(value)
    except Exception:  # whatever a person's object raises when it is compared, counted or printed
        return None


def _id(value: Any) -> str | None:
    if isinstance(value, str):
        text = _encodable(value)
        return MARK + text if text.startswith(MARK) else text
    for kinds, name, written in _KINDS:
        if isinstance(value, kinds):
            return None if _is_missing(value) else f"{MARK}{name}:{written(value)}"
    return None


def _text(value: Any) -> str | None:
    if isinstance(value, str):
        return _encodable(value)
    for kinds, name, _ in _KINDS:
        if isinstance(value, kinds):
            return None if _is_missing(value) or name == "bytes" else _encodable(str(value))
    return None


def _encodable(text: str) -> str:
    """The text as a plain ``str``, never a subclass; an error if it has a lone surrogate."""
    plain = str.__str__(text)
    if not plain.isascii():
        plain.encode()
    return plain


def _is_missing(value: Any) -> bool:
    return bool(value != value)


_KINDS: tuple[tuple[Any, str, Callable[[Any], object]], ...] = (
    ((bool, np.bool_), "truth", bool),
    ((np.datetime64, np.timedelta64), "numpy", lambda value: f"{value.dtype} {value.astype(np.int64)}"),
    (numbers.Integral, "int", lambda value: hex(int(value))),
    (float, "float", lambda value: float(value).hex()),
    (np.floating, "numpy", lambda value: f"{value.dtype} {value!r}"),
    (Decimal, "decimal", lambda value: value.as_tuple()),
    (datetime, "datetime", lambda value: value.isoformat()),
    ((date, time), "date", lambda value: value.isoformat()),
    (timedelta, "timedelta", lambda v: (v.days, v.seconds, v.microseconds, getattr(v, "nanoseconds", 0))),
    (UUID, "uuid", lambda value: value.hex),
    (bytes, "bytes", lambda value: bytes(value).hex()),
)
"""Types whose values are exact, under the names of their kinds, and how a value is written without loss.

Times of pandas have more digits than Python's, and are written with all of them. NumPy's durations count as
integers in Python, so they come before integers."""
