"""The reading of a zone's clock for a row, as SQL: whole microseconds, or null where a row has no valid time.

A column of dates or of times without a zone is what a clock showed. Instants (times with a zone, and seconds since
1970) become readings by the zone's public table (`slicing/zone.py`). Each row of text is of one of these kinds, by its
own form (`text_times.py`). Nothing here depends on a session's time zone.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from dpheatmap.curator.read.table import FLOATS, TEXT, WHOLE_NUMBERS
from dpheatmap.slicing.period import END
from dpheatmap.slicing.zone import MICRO, Offset, instants, reading_of

SINCE_1970 = reading_of(datetime(1970, 1, 1))
"""Microseconds between the beginning of readings and that of epoch seconds."""
DATES, CLOCKS = ("DATE",), ("TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS")
INSTANTS = ("TIMESTAMP WITH TIME ZONE", "TIMESTAMPTZ", "TIMESTAMPTZ_NS")
TEXTS = ("VARCHAR", TEXT, "JSON", '"NULL"')
MICROS = "EPOCH_US"
"""The function of microseconds since 1970, which `engines/times.py` writes for other engines."""

_FIRST_DAY, _LAST_DAY = "CAST('0001-01-01' AS DATE)", "CAST('9999-12-31' AS DATE)"
_LEAST, _MOST = -SINCE_1970 // MICRO, (END - SINCE_1970) // MICRO - 1


LONGEST = 36
"""The letters of the longest form of a time as text."""
NEVER, UNWRITTEN = "CAST(NULL AS BIGINT)", "CAST(NULL AS VARCHAR)"


class Reading(NamedTuple):
    """A row's time as SQL: what a clock showed, an instant, both since the calendar began, or text. One is given."""

    shown: str = NEVER
    instant: str = NEVER
    text: str = UNWRITTEN


def reading_of_column(column: str, kind: str, *, portable: bool) -> Reading | None:
    """The time in a column of a type, or None if columns of it hold no times.

    The infinite times of other engines, which are ``portable``, are the matter of `engines/times.py`.
    """
    if kind in DATES:
        shown = (
            f"CASE WHEN {column} BETWEEN {_FIRST_DAY} AND {_LAST_DAY} THEN {MICROS}(CAST({column} AS TIMESTAMP)) END"
        )
        return Reading(in_range(shown))
    if kind in CLOCKS:
        return Reading(in_range(_micros(f"{'' if portable else 'TRY_'}CAST({column} AS TIMESTAMP)", portable)))
    if kind in INSTANTS:
        time = column if portable or kind != "TIMESTAMPTZ_NS" else f"TRY_CAST({column} AS TIMESTAMPTZ)"
        return Reading(instant=in_range(_micros(time, portable)))
    if kind in (*WHOLE_NUMBERS, *FLOATS):
        return Reading(instant=in_range(_seconds(column, kind in FLOATS)))
    if kind in TEXTS:
        text = f"CAST({column} AS VARCHAR)"
        text = f"regexp_replace({text}, '^\"(.*)\"$', '\\1')" if kind == "JSON" else text
        return Reading(text=short_text(text))
    return None


def short_text(text: str) -> str:
    """A text that may be a time: longer ones are none, and steps that copy them would take the memory of everybody."""
    return f"CASE WHEN LENGTH({text}) <= {LONGEST} THEN {text} END"


def _micros(time: str, portable: bool) -> str:
    """Microseconds since 1970 of a time; null if it is infinite, which `engines/times.py` sees to elsewhere."""
    return f"{MICROS}({time})" if portable else f"CASE WHEN isfinite({time}) THEN {MICROS}({time}) END"


class LocalTime(NamedTuple):
    """What a clock of a zone shows, as SQL, and whether that is in a public range. It means nothing outside of it."""

    reading: str
    within: str


def local_time(shown: str, instant: str, zone: str | None, low: int, high: int) -> LocalTime:
    """What a clock showed, or shows at an instant, by bisection of the zone's table.

    Whether an instant is in the range follows from the instant alone. So who only counts rows has no need of the table.
    """
    table, spans = instants(zone or "UTC", low, high)
    there = " OR ".join(f"({instant} >= {first} AND {instant} < {last})" for first, last in spans) or "FALSE"
    return LocalTime(
        f"COALESCE({shown}, {instant} + {_ahead(instant, table)})",
        f"COALESCE({shown} >= {low} AND {shown} < {high}, {there}, FALSE)",
    )


def _ahead(instant: str, table: Sequence[Offset]) -> str:
    if not table:
        return "0"
    if len(table) == 1:
        return str(table[0].ahead)
    middle = len(table) // 2
    earlier, later = _ahead(instant, table[:middle]), _ahead(instant, table[middle:])
    return f"CASE WHEN {instant} < {table[middle].since} THEN {earlier} ELSE {later} END"


def in_range(since_1970: str) -> str:
    """Microseconds since the calendar began, from those since 1970; null outside of the calendar."""
    within = f"BETWEEN {-SINCE_1970} AND {END - SINCE_1970 - 1}"
    return f"CASE WHEN ({since_1970}) {within} THEN ({since_1970}) + {SINCE_1970} END"


def in_calendar(reading: str) -> str:
    """A reading, or null outside of the calendar."""
    return f"CASE WHEN {reading} BETWEEN 0 AND {END - 1} THEN {reading} END"


def _seconds(column: str, floats: bool) -> str:
    """Microseconds since 1970 from seconds; far ones are null, and so is NaN, which is above or below all.

    As floats, whole seconds of the calendar are exact, too: 10^6 is 2^6 times 15625, and 15625 of them are below 2^53.
    """
    if not floats:
        return f"CASE WHEN {column} BETWEEN {_LEAST} AND {_MOST} THEN CAST({column} AS BIGINT) * {MICRO} END"
    value = f"CAST({column} AS DOUBLE)"
    micros = f"CAST(FLOOR({value} * CAST('{MICRO}' AS DOUBLE)) AS BIGINT)"
    return f"CASE WHEN {column} BETWEEN {_LEAST} AND {_MOST} THEN {micros} END"
