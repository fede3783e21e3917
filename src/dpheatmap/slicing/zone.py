"""Time zones as public tables: from when on a zone's clocks are ahead of UTC by how much.

Engines read such a table by whole-number comparisons, so that no engine's own idea of a zone, nor a session's, has any
say. Before its first row and after its last, a table holds on to the nearest offset.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import NamedTuple
from zoneinfo import ZoneInfo

from dpheatmap.errors import ParameterError

MICRO = 1_000_000
BEGINNING = datetime(1, 1, 1)
"""Clocks are read as microseconds since then, a Monday, so that no reading is below 0."""
_FIRST, _LAST = datetime(1900, 1, 1, tzinfo=UTC), datetime(2100, 1, 1, tzinfo=UTC)


class Offset(NamedTuple):
    """From an instant on, in microseconds since `BEGINNING` in UTC, clocks are ahead by so many microseconds."""

    since: int
    ahead: int


def read_zone(name: object) -> str:
    """Check the name of a time zone."""
    try:
        return ZoneInfo(str(name)).key if isinstance(name, str) else ""
    except (OSError, ValueError):  # an unknown name is a KeyError of its own kind, which is an OSError to some systems
        pass
    except KeyError:
        pass
    raise ParameterError(
        f"time_zone must be the name of a time zone; it was {name!r}. Give one such as 'Europe/Zurich' or 'UTC'."
    )


def reading_of(moment: datetime) -> int:
    """The reading of a clock: microseconds since `BEGINNING`."""
    since = moment.replace(tzinfo=None) - BEGINNING
    return since // timedelta(microseconds=1)


@lru_cache(maxsize=32)
def offsets(name: str) -> tuple[Offset, ...]:
    """The table of a zone from 1900 to 2100, oldest first; the first row holds before, too.

    >>> offsets("UTC")
    (Offset(since=0, ahead=0),)
    """
    zone, day = ZoneInfo(name), timedelta(days=1)

    def ahead(at: datetime) -> timedelta:
        found = at.astimezone(zone).utcoffset()
        assert found is not None
        return found

    table = [Offset(0, _micros(ahead(_FIRST)))]
    at, now = _FIRST, ahead(_FIRST)
    while at < _LAST:
        after = at + day
        then = ahead(after)
        if then != now:
            low, high = at, after  # the change is in between; two changes within a day don't happen
            while high - low > timedelta(seconds=1):
                middle = low + timedelta(seconds=(high - low) // timedelta(seconds=2))
                low, high = (middle, high) if ahead(middle) == now else (low, middle)
            table.append(Offset(reading_of(high), _micros(then)))
        at, now = after, then
    return tuple(table)


def instants(name: str, low: int, high: int) -> tuple[list[Offset], list[tuple[int, int]]]:
    """The rows of a zone's table that show readings from ``low`` up to ``high``, and the spans of instants that do.

    It is one span, or two where an end of the range is shown twice; none if clocks skip all of it.

    >>> instants("UTC", 5, 9)
    ([Offset(since=0, ahead=0)], [(5, 9)])
    """
    table = offsets(name)
    rows: list[Offset] = []
    spans: list[tuple[int, int]] = []
    for row, end in zip(table, [*(later.since for later in table[1:]), high - table[-1].ahead], strict=True):
        first, last = max(row.since, low - row.ahead), min(end, high - row.ahead)
        if first < last:
            rows.append(row)
            spans.append((spans.pop()[0] if spans and spans[-1][1] == first else first, last))
    return rows, spans


def _micros(span: timedelta) -> int:
    return span // timedelta(microseconds=1)
