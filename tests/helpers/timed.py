"""Times in every form, and what clocks show at them, by Python's own calendar: an oracle for slices of time."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

ZONES = ("Europe/Zurich", "America/New_York", "Asia/Kolkata", "Australia/Lord_Howe", "UTC")
INSTANTS = [
    datetime(2024, 3, 31, 0, 59, 59, 999_999, UTC),  # Zurich's clocks are set forward a microsecond later
    datetime(2024, 3, 31, 1, 0, 0, 0, UTC),
    datetime(2024, 10, 27, 0, 30, tzinfo=UTC),  # 02:30 there, for the first time
    datetime(2024, 10, 27, 1, 30, tzinfo=UTC),  # and for the second
    datetime(2024, 10, 27, 1, 0, tzinfo=UTC),
    datetime(1969, 12, 31, 23, 59, 59, 1, UTC),
    datetime(1950, 6, 1, 12, tzinfo=UTC),
    datetime(2024, 6, 3, 4, 0, tzinfo=UTC),
    datetime(2024, 2, 29, 23, 59, 59, 500_000, UTC),
    datetime(2099, 12, 31, 23, 0, tzinfo=UTC),
    datetime(2024, 4, 6, 14, 59, 59, 999_999, UTC),
    *(datetime(2024, 1, 1, tzinfo=UTC) + timedelta(hours=17 * k, microseconds=k) for k in range(40)),
]


def shown(instant: datetime, zone: str) -> datetime:
    """What a clock of the zone shows at an instant."""
    return instant.astimezone(ZoneInfo(zone)).replace(tzinfo=None)


def label(reading: datetime, every: str, start: date | None, end: date | None) -> str | None:
    """The name of the slice of a clock's reading; None outside of a range of whole days, the last included."""
    if start is not None and reading.date() < start:
        return None
    if end is not None and reading.date() > end:
        return None
    days = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
    if every == "hour-of-day":
        return str(reading.hour)
    if every == "weekday":
        return days[reading.weekday()]
    if every == "hour-of-week":
        return f"{days[reading.weekday()]} {reading.hour}"
    assert start is not None
    since = reading - datetime.combine(start, datetime.min.time())
    if every == "day":
        return reading.date().isoformat()
    if every == "week":
        return (start + timedelta(days=7 * (since.days // 7))).isoformat()
    if every == "month":
        first = max(reading.date().replace(day=1), start)
        return first.strftime("%Y-%m")
    hours = int(every.split()[0])
    step = since // timedelta(hours=hours)
    return (datetime.combine(start, datetime.min.time()) + step * timedelta(hours=hours)).strftime("%Y-%m-%d %H:%M")


BAD_TEXTS: list[Any] = [
    "", "yesterday", "2024-13-01", "2024-02-30", "2024-06-03 24:00", "2024-06-03 08:60", "2024-06-03T08:00:00+25:00",
    " 2024-06-03", "2024-06-03 08", "0000-01-01", "12345678901234", "1e9", "NaN", "infinity", "-infinity", "epoch",
    "2024-06-03 08:00:00 Europe/Zurich", "2024-06-03 08:00123", "03.06.2024", "2024-6-3", "2024-06-03\n", None,
]  # fmt: skip


def table() -> Any:
    """A table with times of every type that engines share: a person for each row, and one who is in many slices."""
    import pyarrow as pa

    size = len(INSTANTS)
    clocks = [one.replace(tzinfo=None) for one in INSTANTS]
    people = [f"p{k // 3}" for k in range(size - 2)]
    return pa.table(
        {
            "u": [*people, "late", None],
            "x": [0.01 * (k % 90) for k in range(size)],
            "y": [0.5] * size,
            "instant": pa.array([*INSTANTS[:-2], None, INSTANTS[-1]], pa.timestamp("us", tz="UTC")),
            "clock": pa.array([*clocks[:-2], None, clocks[-1]], pa.timestamp("us")),
            "day": pa.array([one.date() for one in clocks]),
            "seconds": pa.array([int(one.timestamp() // 1) for one in INSTANTS]),
            "float_seconds": pa.array([one.timestamp() for one in INSTANTS[:-1]] + [float("nan")]),
            "g": ["bike", "walk", None] * (size // 3) + ["bike"] * (size % 3),
        }
    )


SLICED: list[tuple[str, str, str | None, date | None, date | None]] = [
    ("instant", "hour-of-week", "Europe/Zurich", None, None),
    ("instant", "month", "America/New_York", date(2023, 12, 15), date(2025, 1, 10)),
    ("clock", "hour-of-day", "Australia/Lord_Howe", None, None),
    ("clock", "5 hours", "UTC", date(2024, 1, 1), date(2024, 1, 31)),
    ("day", "weekday", None, None, None),
    ("day", "week", "Asia/Kolkata", date(2024, 1, 3), date(2024, 12, 31)),
    ("seconds", "day", "Europe/Zurich", date(2024, 1, 1), date(2024, 4, 30)),
    ("float_seconds", "hour-of-day", "Asia/Kolkata", None, None),
]
"""A column, what a slice is, the zone, and the public range."""
