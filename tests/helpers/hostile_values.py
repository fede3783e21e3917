"""Values that one person may have in a table, and what must hold whatever they are: nobody else's counts change."""

from __future__ import annotations

import decimal
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

import dpheatmap as dph
from helpers.tables import UNIT, W, outcome

SECRET = "mallory's words"


class Explosive:
    """A value that fails whatever one does with it, with words of its own."""

    def _fail(self, *_: object) -> Any:
        raise RuntimeError(SECRET)

    __str__ = __repr__ = __eq__ = __ne__ = __hash__ = __bool__ = __len__ = __float__ = __int__ = _fail


class ExplosiveText(str):
    __slots__ = ()
    __str__ = __repr__ = __hash__ = Explosive._fail


class ExplosiveNumber(float):
    __str__ = __repr__ = __eq__ = __ne__ = __float__ = Explosive._fail
    __hash__ = float.__hash__


HOSTILE: list[Any] = [
    Explosive(), ExplosiveNumber(0.5), "\ud800", "a\udcff", [1], {"a": 1}, {1}, (7,), b"x", b"\xff", 10**5000,
    -(10**400),
    decimal.Decimal("sNaN"), decimal.Decimal("1e999999"), float("nan"), float("inf"), pd.NaT, pd.NA, None, 1j,
    np.array([1, 2]), object(), type, print, True, "1e999", "0x10", "nan", " ", "", "\0", "?",
]  # fmt: skip
"""What one person may have in any column of plain objects."""


HUGE = "9" * 17_000_000


def objects(values: list[Any]) -> Any:
    column = np.empty(len(values), dtype=object)
    for k, value in enumerate(values):
        column[k] = value
    return pd.Series(column, dtype=object)


def text(values: list[bytes]) -> pa.Array:
    """Text of Arrow's that nobody has checked."""
    offsets = np.cumsum([0, *map(len, values)]).astype(np.int32)
    return pa.Array.from_buffers(
        pa.string(), len(values), [None, pa.py_buffer(offsets.tobytes()), pa.py_buffer(b"".join(values))]
    )


BAD = [b"b\xff", b"b\xfe", b"b\xc0\x80", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"caf\xe9", b"\x80"]
GOOD = [b"a", b"b", b"b?", "b\ufffd".encode(), "é".encode(), "e\u0301".encode(), b"a\0", b"", "😀".encode()]


def assert_alone(without: Any, events: Any, domain: dph.Domain = UNIT, **options: Any) -> None:
    """All counts are what they were, but for at most one person's more."""
    assert_no_more_than_one(outcome(without, domain, **options), outcome(events, domain, **options))


def assert_no_more_than_one(before: tuple[Any, Any], after: tuple[Any, Any]) -> None:
    more = {at: after[0].get(at, 0) - before[0].get(at, 0) for at in {*before[0], *after[0]}}
    assert min(more.values(), default=0) >= 0
    assert sum(more.values()) <= W
    assert 0 <= after[1]["people"] - before[1]["people"] <= 1
