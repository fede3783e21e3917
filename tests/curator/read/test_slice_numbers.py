"""A row's slice follows from the row alone, by whole-number arithmetic that agrees with Python's own calendar."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dpheatmap as dph
from dpheatmap.curator.aggregation import count
from dpheatmap.curator.core.row_report import RowReport
from dpheatmap.curator.read.reading import Reading
from dpheatmap.curator.read.slice_numbers import Slices
from dpheatmap.design.shares import UNITS
from dpheatmap.errors import DataError, PrivacyRefusal
from dpheatmap.slicing.axis import Axis
from dpheatmap.slicing.period import Period
from dpheatmap.slicing.zone import reading_of
from helpers import texts_of_times, timed

PLACE = dph.Domain.unit(1)
EVERY = [
    ("hour-of-day", None, None),
    ("weekday", None, None),
    ("hour-of-week", date(2024, 3, 1), date(2024, 10, 31)),
    ("day", date(2024, 1, 1), date(2024, 4, 30)),
    ("week", date(2024, 1, 3), date(2024, 12, 31)),
    ("month", date(2023, 12, 15), date(2025, 1, 10)),
    ("5 hours", date(2024, 1, 1), date(2024, 1, 31)),
]


def counted(times: Any, every: str, zone: str | None, start: Any = None, end: Any = None) -> Counter[str | None]:
    """How many rows are in each slice, of one person each; None counts those outside, and 'invalid' the rest."""
    size = len(times)
    table = pa.table({"u": [f"p{k}" for k in range(size)], "x": [0.1] * size, "y": [0.1] * size, "t": times})
    slices = Slices(Axis(Period.of(every, zone, start, end)), time="t")
    found = count(table, PLACE, Reading(user="u", x="x", y="y"), slices=slices)
    report = found[0].report
    assert report is not None
    people: dict[str | None, int] = {None: report.outside, "invalid": report.invalid}
    people |= {label: of.total // UNITS for label, of in zip(slices.axis.labels, found, strict=True)}
    return Counter({name: number for name, number in people.items() if number})


def texts(form: Callable[[datetime], str]) -> Any:
    return pa.array([form(one) for one in timed.INSTANTS])


def offset_by(minutes: int) -> Any:
    ahead = timezone(timedelta(minutes=minutes))
    return texts(lambda one: one.astimezone(ahead).isoformat("T" if minutes % 2 else " "))


FORMS: dict[str, Any] = {
    **{f"{minutes} minutes ahead": offset_by(minutes) for minutes in (-1439, -240, -36, 35, 36, 60, 345, 1439)},
    "nanoseconds with a zone": pa.array(timed.INSTANTS, pa.timestamp("ns", tz="UTC")),
    "timestamptz": pa.array(timed.INSTANTS, pa.timestamp("us", tz="UTC")),
    "timestamptz elsewhere": pa.array(timed.INSTANTS, pa.timestamp("us", tz="Asia/Tokyo")),
    "text in UTC": texts(lambda one: one.strftime("%Y-%m-%dT%H:%M:%S.%fZ")),
    "text with an offset": texts(lambda one: one.strftime("%Y-%m-%d %H:%M:%S.%f+00:00")),
    "text with minus": texts(lambda one: one.isoformat().replace("+00:00", "-00:00").replace(" ", "T")),
    "seconds as text": texts(lambda one: f"{one.timestamp():.6f}"),
}


@pytest.mark.parametrize("zone", timed.ZONES)
@pytest.mark.parametrize(("every", "start", "end"), EVERY, ids=[every for every, _, _ in EVERY])
def test_instants_of_every_form_are_in_the_slice_that_a_clock_shows(
    every: str, start: date | None, end: date | None, zone: str
) -> None:
    wanted = Counter(timed.label(timed.shown(one, zone), every, start, end) for one in timed.INSTANTS)
    for form, times in FORMS.items():
        assert counted(times, every, zone, start, end) == wanted, form


@pytest.mark.parametrize(("every", "start", "end"), EVERY, ids=[every for every, _, _ in EVERY])
def test_clocks_are_taken_as_they_show(every: str, start: date | None, end: date | None) -> None:
    clocks = [one.replace(tzinfo=None) for one in timed.INSTANTS]
    wanted = Counter(timed.label(one, every, start, end) for one in clocks)
    for times in (pa.array(clocks, pa.timestamp("us")), pa.array([one.isoformat(" ") for one in clocks])):
        assert counted(times, every, "Europe/Zurich", start, end) == wanted
        assert counted(times, every, "Asia/Kolkata", start, end) == wanted


def test_whole_seconds_and_dates() -> None:
    seconds = [int(one.timestamp() // 1) for one in timed.INSTANTS]
    wanted = Counter(
        timed.label(timed.shown(one, "Asia/Kolkata"), "hour-of-week", None, None) for one in timed.INSTANTS
    )
    assert counted(pa.array(seconds), "hour-of-week", "Asia/Kolkata") == wanted
    assert counted(pa.array([float(one) for one in seconds]), "hour-of-week", "Asia/Kolkata") == wanted
    days = [one.date() for one in timed.INSTANTS]
    assert counted(pa.array(days), "weekday", None) == Counter(
        timed.label(datetime.combine(day, datetime.min.time()), "weekday", None, None) for day in days
    )


def test_what_is_no_time_is_invalid_for_its_row_alone() -> None:
    good = ["2024-06-03 08:15", "1717395300"]
    found = counted(pa.array([*timed.BAD_TEXTS, *good]), "hour-of-day", "UTC")
    assert found == {"8": 1, "6": 1, "invalid": len(timed.BAD_TEXTS)}
    floats = pa.array([float("nan"), float("inf"), -float("inf"), 1e300, None, 1717395300.5])
    assert counted(floats, "hour-of-day", "UTC") == {"6": 1, "invalid": 5}


@settings(max_examples=60, deadline=None)
@given(st.lists(st.datetimes(datetime(1, 1, 2), datetime(9999, 12, 30)), min_size=1, max_size=20),
       st.sampled_from(EVERY))  # fmt: skip
def test_numpy_and_sql_agree_with_the_calendar(clocks: list[datetime], given_: tuple[str, Any, Any]) -> None:
    every, start, end = given_
    period = Period.of(every, "UTC", start, end)
    numbers = period.number(np.array([reading_of(one) for one in clocks]))
    labels = [None if number < 0 else period.labels[number] for number in numbers]
    wanted = [timed.label(one, every, start, end) for one in clocks]
    assert labels == wanted
    # years below 1000 are written with four digits by isoformat
    assert counted(pa.array([one.isoformat() for one in clocks]), every, "UTC", start, end) == Counter(wanted)


RANGES = {
    "skipped": ("2024-03-31 02:10", "2024-03-31 02:50"),
    "from the second time on": ("2024-10-27 02:20", "2024-11-01"),
    "up to the first time": ("2024-10-26", "2024-10-27 02:40"),
    "within the hour shown twice": ("2024-10-27 02:20", "2024-10-27 02:40"),
    "all of time": (None, None),
}


@pytest.mark.parametrize("ends", RANGES.values(), ids=RANGES)
def test_a_range_may_end_where_clocks_are_set(ends: tuple[str | None, str | None]) -> None:
    """An instant is in the range if what clocks show then is, though it is found without the zone's table."""
    changes = [datetime(2024, 3, 31, tzinfo=UTC), datetime(2024, 10, 26, 23, tzinfo=UTC)]
    instants = [start + timedelta(minutes=5 * k) for start in changes for k in range(40)]
    period = Period.of("hour-of-day", "Europe/Zurich", *ends)
    numbers = period.number(np.array([reading_of(timed.shown(one, "Europe/Zurich")) for one in instants]))
    wanted = Counter(None if number < 0 else str(number) for number in numbers)
    assert counted(pa.array(instants, pa.timestamp("us", tz="UTC")), "hour-of-day", "Europe/Zurich", *ends) == wanted


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 2**32), st.sampled_from(timed.ZONES))
def test_texts_mean_what_python_s_calendar_says(seed: int, zone: str) -> None:
    texts = texts_of_times.some(seed, 2000)
    slices = Slices(Axis(Period.of("hour-of-week", zone)), time="t")
    found = count(texts_of_times.table(texts), dph.Domain.unit(7), Reading(user="u", x="x", y="y"), slices=slices)
    assert texts_of_times.slices_of_rows(found) == texts_of_times.wanted(texts, zone, slices.axis.labels)


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        ("TIMESTAMP", ["infinity", "-infinity", "290000-01-01", "2000-01-01 (BC)"]),
        ("TIMESTAMPTZ", ["infinity", "-infinity", "290000-01-01 00:00:00+00"]),
        ("TIMESTAMP_S", ["infinity", "290000-01-01"]),
        ("TIMESTAMP_MS", ["-infinity", "290000-01-01"]),
        ("TIMESTAMP_NS", ["infinity", "-infinity"]),
        ("DATE", ["infinity", "-infinity", "5881580-07-10", "5877642-06-25 (BC)"]),
        ("HUGEINT", [str(10**30), str(-(10**30))]),
        ("UBIGINT", [str(2**64 - 1)]),
        ("DOUBLE", ["nan", "inf", "-inf", "1e308"]),
    ],
)
def test_times_far_off_are_invalid_for_their_rows_alone(kind: str, values: list[str]) -> None:
    with duckdb.connect() as con:
        rows = [*values, "2024-06-03" if "INT" not in kind and kind != "DOUBLE" else "1717372800"]
        con.execute(f"CREATE TABLE t AS SELECT 'p' || k AS u, 0.1 AS x, 0.1 AS y, CAST(v AS {kind}) AS t FROM "
                    "(SELECT unnest(?) AS v, unnest(range(?)) AS k)", [rows, len(rows)])  # fmt: skip
        slices = Slices(Axis(Period.of("weekday", "UTC")), time="t")
        found = count(con.table("t"), PLACE, Reading(user="u", x="x", y="y"), slices=slices)
    report = found[0].report
    assert report is not None
    assert (report.invalid, report.inside, found[0].total) == (len(values), 1, UNITS)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.one_of(st.text(max_size=40), st.sampled_from(timed.BAD_TEXTS)), max_size=8), st.integers(0, 7))
def test_one_row_s_text_has_no_effect_on_another_s(rows: list[str | None], at: int) -> None:
    good = "2024-06-03 08:15:00"
    alone = counted(pa.array([*rows], pa.string()), "hour-of-day", "UTC") if rows else Counter()
    both = counted(pa.array([*rows[:at], good, *rows[at:]], pa.string()), "hour-of-day", "UTC")
    assert both - alone == {"8": 1}
    assert not alone - both


def test_times_and_groups_at_once_share_one_weight() -> None:
    table = pa.table(
        {
            "u": ["a", "a", "a", "b", "c"],
            "x": [0.1] * 5,
            "y": [0.1] * 5,
            "t": ["2024-06-03 08:00", "2024-06-03 09:00", "2024-06-04 08:00", "2024-06-03 08:30", "2024-06-03 08:00"],
            "g": ["bike", "walk", "bike", "bike", "car"],
        }
    )
    slices = Slices(Axis(Period.of("hour-of-day", "UTC"), ("bike", "walk")), time="t", group="g")
    found = count(table, PLACE, Reading(user="u", x="x", y="y"), slices=slices)
    people = {label: of.total / UNITS for label, of in zip(slices.axis.labels, found, strict=True) if of.total}
    assert people == pytest.approx({"bike 8": 2 / 3 + 1, "walk 9": 1 / 3})
    assert sum(of.total for of in found) <= 2 * UNITS
    only = count(table, PLACE, Reading(user="u", x="x", y="y"), slices=slices.only(8))
    assert [of.total // UNITS for of in only if of.total] == [2]  # both weigh 1 in the one slice that counts


@pytest.mark.parametrize(
    ("times", "every", "zone", "error", "words"),
    [
        (pa.array([datetime(2024, 6, 3)]), "weekday", None, PrivacyRefusal, "no session's zone is taken for it"),
        (pa.array(["2024-06-03"]), "weekday", None, PrivacyRefusal, "time_zone"),
        (pa.array([date(2024, 6, 3)]), "hour-of-day", "UTC", DataError, "has dates alone"),
        (pa.array([True]), "weekday", "UTC", DataError, "BOOLEAN, which holds no times. Name a column"),
    ],
)
def test_refusals_follow_from_types(times: Any, every: str, zone: Any, error: type[Exception], words: str) -> None:
    for table in (times, times[:0]):  # with and without rows
        with pytest.raises(error, match=words):
            counted(table, every, zone)


def test_a_session_s_zone_plays_no_role(monkeypatch: pytest.MonkeyPatch) -> None:
    import time

    wanted = counted(FORMS["timestamptz"], "hour-of-day", "Europe/Zurich")
    monkeypatch.setenv("TZ", "Pacific/Auckland")
    time.tzset()
    try:
        assert counted(FORMS["timestamptz"], "hour-of-day", "Europe/Zurich") == wanted
        assert counted(FORMS["text in UTC"], "hour-of-day", "Europe/Zurich") == wanted
    finally:
        monkeypatch.undo()
        time.tzset()


def test_long_texts_of_one_person_take_no_memory_from_others(tmp_path: Path) -> None:
    """2,500 texts of 60 kB, which fit into a small file, are no times, and nobody else's rows depend on them."""
    mine = [("me", f"2024-01-01T{'5' * 60_000}{row}") for row in range(2500)]
    people = [*mine, *((f"p{k}", "2024-01-01 10:00") for k in range(50))]
    table = pa.table({"u": [u for u, _ in people], "t": [t for _, t in people], "x": [0.5] * len(people)})
    pq.write_table(table, tmp_path / "long.parquet", compression="zstd")
    seen: list[RowReport] = []
    dph.release(
        tmp_path / "long.parquet", dph.Domain.unit(4), epsilon=1, user="u", x="x", y="x", time="t", every="weekday",
        time_zone="UTC", seen=seen.append,
    )  # fmt: skip
    assert (seen[0].invalid, seen[0].people) == (2500, 50)


def test_texts_of_a_parquet_file_are_read_in_a_city_s_zone(tmp_path: Path) -> None:
    """Zones with many changes of clocks once made a plan that did not end."""
    texts = [f"2024-06-{day:02} {hour:02}:15:00" for day in range(1, 29) for hour in range(24)]
    table = pa.table({"u": list(range(len(texts))), "t": texts, "x": [0.5] * len(texts)})
    pq.write_table(table, tmp_path / "texts.parquet")
    table.to_pandas().to_csv(tmp_path / "texts.csv", index=False)
    slices = Slices(Axis(Period.of("hour-of-day", "America/New_York")), time="t")
    reading = Reading(user="u", x="x", y="x")
    for name in ("texts.parquet", "texts.csv"):
        counts = count(tmp_path / name, dph.Domain.unit(3), reading, slices=slices)
        assert [one.total // UNITS for one in counts] == [28] * 24
