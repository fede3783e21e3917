"""Times that are written as text, read by SQL that every engine runs alike.

A text is a day, a day and a time, these with Z or an offset behind them, or seconds since 1970, each row by its own
form. Anything else has no time. The form is tested on the *shape* of a text, in which every digit is a 0. Only then are
its digits cast, to whole numbers, and the calendar is arithmetic on them. So no engine's own idea of a time has a say,
nor a session's zone. No row makes an engine fail: whatever is cast is null, or digits alone.

Positions and lengths are those of characters. Engines may count characters beyond ASCII differently, but a text with
any of them has no time.
"""

from __future__ import annotations

from collections.abc import Iterable

from dpheatmap.curator.core.query import quotient
from dpheatmap.curator.read.clock import in_calendar, in_range
from dpheatmap.curator.read.sql_text import STEP
from dpheatmap.slicing.zone import MICRO

_DAY = "0000-00-00"
_TIMES = ("00:00", "00:00:00", *("00:00:00." + "0" * digits for digits in range(1, 10)))
_OFFSETS = [sign + offset for sign in "+-" for offset in ("00", "0000", "00:00")]
_REST = ":00.000000000"
"""What a time to the minute lacks, compared with one to the nanosecond."""
_MOST_DIGITS = 12
"""The most digits of seconds since 1970, before the point."""


def text_steps(relation: str, text: str, shown: str, instant: str) -> str:
    """Add to a relation what a clock showed, and the instant, by its column of text. At most one of them is given."""
    steps = (
        _pieces(text),
        {
            "t_sign": " + ".join(f"STRPOS(t_tail, '{sign}')" for sign in "Z+-"),  # if there are two, no shape fits
            "t_point": "STRPOS(t_number, '.')",
        },
        {
            "t_end": "CASE WHEN t_sign > 2 AND SUBSTR(t_tail, t_sign - 1, 1) = ' ' THEN t_sign - 2 "
            "WHEN t_sign > 0 THEN t_sign - 1 ELSE LENGTH(t_tail) END",
            "t_whole_end": "CASE WHEN t_point > 0 THEN t_point - 1 ELSE LENGTH(t_number) END",
        },
        {
            "t_time": "SUBSTR(SUBSTR(t_tail, 1, t_end), 2)",
            "t_zone": "CASE WHEN t_sign > 0 THEN SUBSTR(t_tail, t_sign) ELSE '' END",
            "t_whole": "SUBSTR(t_number, 1, t_whole_end)",
            "t_part": "CASE WHEN t_point > 0 THEN SUBSTR(t_number, t_point + 1) ELSE '0' END",
        },
        {
            "t_dated": f"t_day_shape = '{_DAY}' AND (LENGTH(t_tail) = 0 OR SUBSTR(t_tail, 1, 1) IN (' ', 'T') "
            f"AND {_is_one_of(_shape('t_time'), _TIMES)} AND {_is_one_of(_shape('t_zone'), ['', 'Z', *_OFFSETS])})",
            "t_counted": f"{_are_digits('t_whole', _MOST_DIGITS)} AND {_are_digits('t_part', 9)}",
        },
        {
            "t_clock": f"CASE WHEN t_dated AND t_tail = '' THEN '00:00{_REST}' "
            f"WHEN t_dated THEN t_time || SUBSTR('{_REST}', LENGTH(t_time) - 4) END",
            "t_ahead": "CASE WHEN t_dated AND LENGTH(t_zone) >= 3 THEN SUBSTR(t_zone, 2, 2) || CASE LENGTH(t_zone) "
            "WHEN 3 THEN '00' WHEN 5 THEN SUBSTR(t_zone, 4, 2) ELSE SUBSTR(t_zone, 5, 2) END "
            "WHEN t_dated THEN '0000' END",
            "t_nano": "CASE WHEN t_counted THEN SUBSTR(t_part || '000000000', 1, 9) END",
        },
        _numbers(text),
        {"t_leap": "CASE WHEN t_year % 400 = 0 OR t_year % 4 = 0 AND t_year % 100 <> 0 THEN 1 ELSE 0 END"},
        {"t_reading": _reading()},
        {
            shown: "CASE WHEN t_zone = '' THEN t_reading END",
            instant: f"CASE WHEN t_zone <> '' THEN {in_calendar('(t_reading - t_minutes_ahead * 60000000)')} "
            f"WHEN t_minus = 1 THEN {in_range('- t_micros - CASE WHEN t_beyond > 0 THEN 1 ELSE 0 END')} "
            f"ELSE {in_range('t_micros')} END",
        },
    )
    for number, step in enumerate(steps):
        added = ", ".join(f"{sql} AS {name}" for name, sql in step.items())
        relation = f"SELECT *, {added} FROM ({relation}) {STEP}{number}"
    return relation


def _pieces(text: str) -> dict[str, str]:
    minus = f"CASE WHEN SUBSTR({text}, 1, 1) = '-' THEN 1 ELSE 0 END"
    return {
        "t_day_shape": _shape(f"SUBSTR({text}, 1, {len(_DAY)})"),
        "t_tail": f"SUBSTR({text}, {len(_DAY) + 1})",
        "t_minus": minus,
        "t_number": f"SUBSTR({text}, 1 + {minus})",
    }


def _numbers(text: str) -> dict[str, str]:
    """The fields of a text as whole numbers, null where it is not of their form."""
    ahead = f"60 * {_whole('SUBSTR(t_ahead, 1, 2)')} + {_whole('SUBSTR(t_ahead, 3, 2)')}"
    micros = f"{MICRO} * {_whole('CASE WHEN t_counted THEN t_whole END')} + {_whole('SUBSTR(t_nano, 1, 6)')}"
    return {
        **{
            f"t_{field}": _whole(f"CASE WHEN t_dated THEN SUBSTR({text}, {first}, {digits}) END")
            for field, first, digits in (("year", 1, 4), ("month", 6, 2), ("day", 9, 2))
        },
        **{
            f"t_{field}": _whole(f"SUBSTR(t_clock, {first}, {digits})")
            for field, first, digits in (("hour", 1, 2), ("minute", 4, 2), ("second", 7, 2), ("micro", 10, 6))
        },
        "t_ahead_hour": _whole("SUBSTR(t_ahead, 1, 2)"),
        "t_ahead_minute": _whole("SUBSTR(t_ahead, 3, 2)"),
        "t_minutes_ahead": f"CASE WHEN SUBSTR(t_zone, 1, 1) = '-' THEN -({ahead}) ELSE {ahead} END",
        "t_micros": micros,
        "t_beyond": _whole("SUBSTR(t_nano, 7, 3)"),
    }


def _reading() -> str:
    """The reading of a clock, null for a day or a time that does not exist."""
    exists = (
        "t_year >= 1 AND t_month BETWEEN 1 AND 12 AND t_day BETWEEN 1 AND CASE WHEN t_month = 2 THEN 28 + t_leap "
        "WHEN t_month IN (4, 6, 9, 11) THEN 30 ELSE 31 END AND t_hour <= 23 AND t_minute <= 59 AND t_second <= 59 "
        "AND t_ahead_hour <= 23 AND t_ahead_minute <= 59"
    )
    before = "(t_year - 1)"
    # Months of 367/12 days, but for February, give the days before a month of the year.
    days = (
        f"365 * {before} + {quotient(before, '4')} - {quotient(before, '100')} + {quotient(before, '400')} "
        f"+ {quotient('(367 * t_month - 362)', '12')} + CASE WHEN t_month <= 2 THEN 0 ELSE t_leap - 2 END + t_day - 1"
    )
    return (
        f"CASE WHEN {exists} THEN (((({days}) * 24 + t_hour) * 60 + t_minute) * 60 + t_second) * {MICRO} + t_micro END"
    )


def _shape(text: str) -> str:
    return f"TRANSLATE({text}, '123456789', '000000000')"


def _are_digits(text: str, most: int) -> str:
    zeros = f"SUBSTR('{'0' * most}', 1, LENGTH({text}))"
    return f"(LENGTH({text}) BETWEEN 1 AND {most} AND {_shape(text)} = {zeros})"


def _whole(digits: str) -> str:
    return f"CAST({digits} AS BIGINT)"


def _is_one_of(text: str, listed: Iterable[str]) -> str:
    """Whether a text is listed. Some engines compare without blanks at the end, so both sides end with a mark."""
    return f"({text} || '|') IN (" + ", ".join(f"'{one}|'" for one in listed) + ")"
