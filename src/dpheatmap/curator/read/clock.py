"""The reading of a zone's clock for a row, as SQL: whole microseconds, or null where a row has no valid time.

A column of dates or of times without a zone is what a clock showed. Instants (times with a zone, seconds since 1970,
and text that ends in Z or in an offset) become readings by the zone's public table (`slicing/zone.py`). Each row of
text is of one of these kinds by its own form; anything else is null. Nothing here depends on a session's time zone.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from dpheatmap.curator.read.sql_text import literal
from dpheatmap.curator.read.table import FLOATS, WHOLE_NUMBERS
from dpheatmap.slicing.period import END
from dpheatmap.slicing.zone import MICRO, Offset, offsets, reading_of

SINCE_1970 = reading_of(datetime(1970, 1, 1))
"""Microseconds between the beginning of readings and that of epoch seconds."""
DATES, CLOCKS = ("DATE",), ("TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS")
INSTANTS = ("TIMESTAMP WITH TIME ZONE", "TIMESTAMPTZ", "TIMESTAMPTZ_NS")
TEXTS = ("VARCHAR", "JSON", '"NULL"')
MICROS = "EPOCH_US"
"""The function of microseconds since 1970, which `engines/times.py` writes for other engines."""

_DAY = r"\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])"
_TO_THE_SECOND = r"([01]\d|2[0-3]):[0-5]\d(:[0-5]\d"
_TIME, _TO_THE_MICROSECOND = (rf"{_TO_THE_SECOND}(\.\d{{1,{digits}}})?)?" for digits in (9, 6))
_CLOCK = rf"{_DAY}([ T]{_TIME})?"
_OFFSET = r"(Z|[+-]([01]\d|2[0-3])(:?[0-5]\d)?)"
_INSTANT = rf"{_DAY}[ T]{_TIME} ?{_OFFSET}"
_SECONDS = r"-?\d{1,12}(\.\d{1,9})?"
_FIRST_DAY, _LAST_DAY = "CAST('0001-01-01' AS DATE)", "CAST('9999-12-31' AS DATE)"
_LEAST, _MOST = -SINCE_1970 // MICRO, (END - SINCE_1970) // MICRO - 1


class Reading(NamedTuple):
    """A row's time as SQL: what a clock showed, and an instant, both since the calendar began. At most one is given."""

    shown: str
    instant: str


NEVER = "CAST(NULL AS BIGINT)"


def reading_of_column(column: str, kind: str, *, portable: bool) -> Reading | None:
    """The time in a column of a type, or None if columns of it hold no times.

    Other engines, which are ``portable``, take no text. Their infinite times are the matter of `engines/times.py`.
    """
    if kind in DATES:
        shown = (
            f"CASE WHEN {column} BETWEEN {_FIRST_DAY} AND {_LAST_DAY} THEN {MICROS}(CAST({column} AS TIMESTAMP)) END"
        )
        return Reading(_in_range(shown), NEVER)
    if kind in CLOCKS:
        return Reading(_in_range(_micros(f"{'' if portable else 'TRY_'}CAST({column} AS TIMESTAMP)", portable)), NEVER)
    if kind in INSTANTS:
        time = column if portable or kind != "TIMESTAMPTZ_NS" else f"TRY_CAST({column} AS TIMESTAMPTZ)"
        return Reading(NEVER, _in_range(_micros(time, portable)))
    if kind in (*WHOLE_NUMBERS, *FLOATS):
        return Reading(NEVER, _in_range(_seconds(column, kind in FLOATS)))
    if kind in TEXTS and not portable:
        text = f"CAST({column} AS VARCHAR)"
        return _of_text(f"regexp_replace({text}, '^\"(.*)\"$', '\\1')" if kind == "JSON" else text)
    return None


def _micros(time: str, portable: bool) -> str:
    """Microseconds since 1970 of a time; null if it is infinite, which `engines/times.py` sees to elsewhere."""
    return f"{MICROS}({time})" if portable else f"CASE WHEN isfinite({time}) THEN {MICROS}({time}) END"


def local_reading(shown: str, instant: str, zone: str | None) -> str:
    """What a clock of a zone shows: what it showed, or shows at an instant, by bisection of the zone's table."""
    return f"COALESCE({shown}, {instant} + {_ahead(instant, offsets(zone or 'UTC'))})"


def _ahead(instant: str, table: Sequence[Offset]) -> str:
    if len(table) == 1:
        return str(table[0].ahead)
    middle = len(table) // 2
    earlier, later = _ahead(instant, table[:middle]), _ahead(instant, table[middle:])
    return f"CASE WHEN {instant} < {table[middle].since} THEN {earlier} ELSE {later} END"


def _in_range(since_1970: str) -> str:
    """Microseconds since the calendar began, from those since 1970; null outside of the calendar."""
    within = f"BETWEEN {-SINCE_1970} AND {END - SINCE_1970 - 1}"
    return f"CASE WHEN ({since_1970}) {within} THEN ({since_1970}) + {SINCE_1970} END"


def _seconds(column: str, floats: bool) -> str:
    """Microseconds since 1970 from seconds; far ones are null, and so is NaN, which is above or below all."""
    if not floats:
        return f"CASE WHEN {column} BETWEEN {_LEAST} AND {_MOST} THEN CAST({column} AS BIGINT) * {MICRO} END"
    value = f"CAST({column} AS DOUBLE)"
    micros = f"CAST(FLOOR({value} * CAST('{MICRO}' AS DOUBLE)) AS BIGINT)"
    return f"CASE WHEN {value} BETWEEN {_LEAST} AND {_MOST} THEN {micros} END"


def _of_text(text: str) -> Reading:
    def matches(pattern: str) -> str:
        return f"regexp_full_match({text}, {literal(pattern)})"

    shown = (
        f"{MICROS}(TRY_CAST(regexp_extract({text}, {literal(f'^{_DAY}([ T]{_TO_THE_MICROSECOND})?')}) AS TIMESTAMP))"
    )
    offset = f"regexp_extract({text}, {literal(_OFFSET + '$')})"
    hours, rest = f"CAST({offset}[2:3] AS BIGINT)", f"CAST({offset}[-2:] AS BIGINT)"
    minutes = f"(60 * {hours} + CASE WHEN length({offset}) > 3 THEN {rest} ELSE 0 END)"
    ahead = f"CASE {offset}[1] WHEN '-' THEN -{minutes} WHEN '+' THEN {minutes} ELSE 0 END"
    seconds = f"CAST(FLOOR(CAST({text} AS DECIMAL(24, 9)) * {MICRO}) AS BIGINT)"
    instant = (
        f"CASE WHEN {matches(_INSTANT)} THEN {_in_range(f'{shown} - {60 * MICRO} * ({ahead})')} "
        f"WHEN {matches(_SECONDS)} THEN {_in_range(seconds)} END"
    )
    return Reading(f"CASE WHEN {matches(_CLOCK)} THEN {_in_range(shown)} END", instant)
