"""Spark counts as DuckDB and plain Python do, cell by cell, also if an executor dies; and ends when it is told to."""

from __future__ import annotations

import json
import random
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.orc as orc
import pyarrow.parquet as pq
import pytest
from pyspark.sql.functions import udf

import dpheatmap as dph
from dpheatmap.curator.aggregation import count
from dpheatmap.curator.core.query import aggregation
from dpheatmap.curator.engines import spark as spark_engine
from dpheatmap.curator.engines.spark import _type
from dpheatmap.curator.read.reading import Reading
from dpheatmap.curator.read.slice_numbers import Slices
from dpheatmap.errors import DataError, DpheatmapError, ParameterError
from dpheatmap.slicing.axis import Axis
from dpheatmap.slicing.period import Period
from helpers import nasty, texts_of_times, timed
from helpers.hostile_values import assert_no_more_than_one
from helpers.spark import session
from helpers.tables import W, outcome

pytestmark = pytest.mark.skipif(shutil.which("java") is None, reason="Spark needs Java: scripts/test installs it")
COLUMNS: dict[str, Any] = {"user": "u", "x": "x", "y": "y"}
SECRET = "mallory.secret"


@pytest.fixture(scope="module")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    with session("local[2]", tmp_path_factory.mktemp("spark"), **{"spark.driver.memory": "700m"}) as found:
        yield found


def plain(found: tuple[Any, Any]) -> tuple[Any, Any]:
    cells, counters = found
    counters = {name: value for name, value in counters.items() if name != "broken_lines"}
    return {at: weight for at, weight in cells.items() if weight}, counters


CASES: list[tuple[dph.Domain, dict[str, Any]]] = [
    (dph.Domain.bbox(-180, -85, 180, 85, depth=9), {"weight": "w"}),
    (dph.Domain.unit(7), {}),
    (dph.Domain.image(5, 3), {"weight": "w", "user": None, "each_row_is_a_person": True}),
    (nasty.REGION, {"weight": "w"}),
    (nasty.BEYOND, {}),
]


@pytest.mark.parametrize(("domain", "options"), CASES, ids=lambda case: getattr(case, "kind", ""))
def test_nasty_points_fall_into_the_same_cells(
    spark: Any, domain: dph.Domain, options: dict[str, Any], tmp_path: Path
) -> None:
    events = nasty.table(domain, 6000)
    pq.write_table(events, tmp_path / "events.parquet")
    wanted = nasty.expected(events, domain, weighted="weight" in options, each="user" in options)
    assert plain(outcome(str(tmp_path / "events.parquet"), domain, engine="spark", **{**COLUMNS, **options})) == wanted


@pytest.mark.parametrize("where", [None, "x < 2 AND w >= 0"])
def test_one_person_s_rows_change_nobody_else_s(spark: Any, where: str | None, tmp_path: Path) -> None:
    """All of the awkward numbers and weights at once, put among others: they add at most W."""
    domain, others = dph.Domain.unit(7), nasty.table(dph.Domain.unit(7), 200)
    rows = [("eve ", x, y, w, None) for x in nasty.NUMBERS for y in (0.5, x) for w in nasty.WEIGHTS]
    hostile = pa.Table.from_pylist([dict(zip(nasty.SCHEMA.names, row, strict=True)) for row in rows], nasty.SCHEMA)
    pq.write_table(others, tmp_path / "without.parquet")
    pq.write_table(pa.concat_tables([others.slice(100), hostile, others.slice(0, 100)]), tmp_path / "with.parquet")
    before, after = (
        plain(outcome(str(tmp_path / f"{name}.parquet"), domain, engine="spark", weight="w", where=where, **COLUMNS))
        for name in ("without", "with")
    )
    assert_no_more_than_one(before, after)


def test_predicates_parts_and_ids_under_a_collation(spark: Any, tmp_path: Path) -> None:
    domain = dph.Domain.unit(7)
    events = nasty.table(domain, 3000, seed=2)
    pq.write_table(events, tmp_path / "events.parquet")
    frame = spark.read.parquet(str(tmp_path / "events.parquet")).selectExpr(
        "u COLLATE UNICODE_CI AS u", "x", "y", "w", "d"
    )
    options: dict[str, Any] = {
        "where": "w >= 2 AND NOT u LIKE 'p1%' OR LOWER(u) = 'a'", "partition": {"d": ["north", "south"]},
        "part": "north",
    }  # fmt: skip
    here = plain(outcome(events, domain, **{**COLUMNS, **options}))
    assert plain(outcome(frame, domain, **{**COLUMNS, **options})) == here
    assert [table.name for table in spark.catalog.listTables()] == []


@pytest.mark.parametrize("session_zone", ["America/Los_Angeles", "Europe/Zurich"])
def test_times_are_in_the_same_slices(spark: Any, session_zone: str, tmp_path: Path) -> None:
    events = timed.table()
    pq.write_table(events, tmp_path / "timed.parquet")
    spark.conf.set("spark.sql.session.timeZone", session_zone)
    for column, every, zone, start, end in timed.SLICED:
        slices = Slices(Axis(Period.of(every, zone, start, end), ("bike", "walk")), time=column, group="g")
        here = count(events, dph.Domain.unit(7), Reading(**COLUMNS), slices=slices)
        there = count(
            str(tmp_path / "timed.parquet"), dph.Domain.unit(7), Reading(**COLUMNS, engine="spark"), slices=slices
        )
        assert sum(one.total for one in here) > 0
        for one, other in zip(here, there, strict=True):
            assert one.codes.tolist() == other.codes.tolist(), (column, every)
            assert one.sums.tolist() == other.sums.tolist(), (column, every)


@pytest.mark.parametrize(("seed", "session_zone", "ansi"), [(3, "Pacific/Apia", "true"), (4, "Asia/Tokyo", "false")])
def test_texts_mean_what_python_s_calendar_says(
    spark: Any, seed: int, session_zone: str, ansi: str, tmp_path: Path
) -> None:
    texts = texts_of_times.some(seed, 6000)
    pq.write_table(texts_of_times.table(texts), tmp_path / "written.parquet")
    before = spark.conf.get("spark.sql.ansi.enabled")
    spark.conf.set("spark.sql.session.timeZone", session_zone)
    spark.conf.set("spark.sql.ansi.enabled", ansi)
    slices = Slices(Axis(Period.of("hour-of-week", "America/New_York")), time="t")
    try:
        reading = Reading(**COLUMNS, engine="spark")
        found = count(str(tmp_path / "written.parquet"), dph.Domain.unit(7), reading, slices=slices)
    finally:
        spark.conf.set("spark.sql.ansi.enabled", before)
    texts_of_times.check_reading(texts, found, slices)


@pytest.mark.parametrize("session_zone", ["America/Los_Angeles", "UTC", "Pacific/Apia"])
def test_times_far_off_are_invalid_and_no_zone_moves_a_day(spark: Any, session_zone: str, tmp_path: Path) -> None:
    """Apia had no 30th of December in 2011; the ends of time are beyond any day."""
    spark.conf.set("spark.sql.session.timeZone", session_zone)
    ends = np.array([-(2**63) + 1, 2**63 - 1, 0, 1325203200_000_000], np.int64)
    days = pa.array([-(2**31), 2**31 - 1, 0, 15338], pa.int32()).cast(pa.date32())
    rows = {"u": ["a", "b", "c", "d"], "x": [0.5] * 4, "y": [0.5] * 4}
    table = pa.table({**rows, "clock": pa.array(ends).cast(pa.timestamp("us")), "day": days})
    pq.write_table(table, tmp_path / "far.parquet")
    for column in ("clock", "day"):
        slices = Slices(Axis(Period.of("weekday", "UTC")), time=column)
        reading = Reading(**COLUMNS, engine="spark")
        found = count(str(tmp_path / "far.parquet"), dph.Domain.unit(2), reading, slices=slices)
        people = {label: one.total // W for label, one in zip(slices.axis.labels, found, strict=True) if one.total}
        assert people == {"thu": 1, "fri": 1}, column
        assert found[0].report is not None
        assert found[0].report.invalid == 2


def test_tables_by_name_and_files_of_either_format(spark: Any, tmp_path: Path) -> None:
    """Also several paths, folders, and paths that are no words; a path that ends in a format is no table's name."""
    events = nasty.table(dph.Domain.unit(7), 300, seed=3)
    wanted = plain(outcome(events, dph.Domain.unit(7), **COLUMNS))
    halves = [events.slice(0, 100), events.slice(100)]
    for number, half in enumerate(halves):
        pq.write_table(half, tmp_path / f"{number}.parquet")
        (tmp_path / f"{number}.orc").mkdir()
        orc.write_table(half, tmp_path / f"{number}.orc" / "part.orc")
    spark.read.parquet(str(tmp_path / "*.parquet")).createOrReplaceTempView("trips")
    try:
        for given in (
            "trips",
            [tmp_path / "0.parquet", str(tmp_path / "1.parquet")],
            (str(tmp_path / "0.orc"), f"{tmp_path}/1.orc/"),
        ):
            assert plain(outcome(given, dph.Domain.unit(7), engine="spark", **COLUMNS)) == wanted
    finally:
        spark.catalog.dropTempView("trips")


@pytest.mark.parametrize(
    ("spark_calls_it", "type_"),
    [("string", "TEXT"), ("char(3)", "TEXT"), ("varchar(10)", "TEXT"), ("string collate UNICODE_CI", "TEXT"),
     ("bigint", "BIGINT"), ("decimal(10,2)", "DECIMAL(10,2)"), ("array<string>", "ARRAY<STRING>")],
)  # fmt: skip
def test_types(spark_calls_it: str, type_: str) -> None:
    assert _type(spark_calls_it) == type_


def strips(frame: Any, **options: Any) -> dict[int, int]:
    """The weight of each person, all of whose events are in a strip of cells of their own."""
    cells, _ = outcome(frame, dph.Domain.unit(5), **COLUMNS, **options)
    weights: dict[int, int] = {}
    for (column, _), weight in cells.items():
        weights[column] = weights.get(column, 0) + weight
    return weights


def lots(spark: Any) -> Iterator[Any]:
    """Frames of 32 people with 20 events each, of which others are inside each time that they are read."""
    people = spark.range(640, numPartitions=2).selectExpr("id", "id % 32 AS u", "(id % 32 + 0.5D) / 32 AS x")
    drawn = udf(lambda number: 2.0 * random.random(), "double")  # which PySpark takes for deterministic
    yield people.withColumn("y", drawn("id"))
    yield people.selectExpr("u", "x", "2 * CAST(reflect('java.lang.Math', 'random') AS DOUBLE) AS y")
    yield people.selectExpr("u", "x", "0.5D AS y").sample(0.5)
    later = "CURRENT_TIMESTAMP() + MAKE_INTERVAL(0, 0, 0, 0, 0, 0, 0.1 * (id % 40))"
    early = people.selectExpr("u", "x", "0.5D AS y", f"{later} AS at").where("at <= NOW() + INTERVAL 2 SECONDS")
    yield early
    yield people.where(f"id IN (SELECT id FROM range({640}) WHERE rand() < 0.5)").selectExpr("u", "x", "0.5D AS y")


def test_nobody_weighs_more_than_one_whatever_is_read(spark: Any) -> None:
    for frame in lots(spark):
        weights = strips(frame)
        assert weights
        assert all(W - 20 <= weight <= W for weight in weights.values() if weight)
    assert spark.sparkContext._jsc.getPersistentRDDs().size() == 0


def test_two_readings_would_let_somebody_weigh_more(spark: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The statement of the other engines, on a frame that draws lots: what the one scan is for."""
    monkeypatch.setattr(spark_engine, "aggregation_in_one_scan", aggregation)
    monkeypatch.setattr(spark_engine, "with_counters", lambda columns: columns)
    monkeypatch.setattr(dph.curator.aggregation, "_verify", lambda *_: None)
    assert max(strips(next(lots(spark))).values()) > W


def test_a_repeated_stage_repeats_the_statement(spark: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A person's cells might come partly from one computation and partly from another."""
    asked: list[str] = []

    def repeated(context: Any, group: str) -> bool:
        asked.append(group)
        return len(asked) < 3

    frame = spark.createDataFrame([("a", 0.5, 0.5)], "u string, x double, y double")
    monkeypatch.setattr(spark_engine, "_has_repeated", repeated)
    assert outcome(frame, dph.Domain.unit(3), **COLUMNS)[1]["people"] == 1
    assert len(set(asked)) == 3
    monkeypatch.setattr(spark_engine, "_has_repeated", lambda *_: True)
    with pytest.raises(DataError, match="lost parts of the work in each of 4 trials"):
        outcome(frame, dph.Domain.unit(3), **COLUMNS)


def test_texts_are_not_taken_for_settings(spark: Any) -> None:
    frame = spark.createDataFrame([("a", 0.5, 0.5, "${spark.app.name}")], "u string, x double, y double, of string")
    for part, people in (("${spark.app.name}", 1), (spark.conf.get("spark.app.name"), 0)):
        parts = {"of": ["${spark.app.name}", spark.conf.get("spark.app.name")]}
        assert outcome(frame, dph.Domain.unit(3), **COLUMNS, partition=parts, part=part)[1]["people"] == people
    with pytest.raises(DataError, match="Rename the column"):
        outcome(frame.withColumnRenamed("of", "${x}"), dph.Domain.unit(3), **COLUMNS)


def test_rows_are_not_written_to_stderr(spark: Any, capfd: pytest.CaptureFixture[str]) -> None:
    frame = spark.createDataFrame([(SECRET, 0.5, 0.5)], "u string, x double, y double")
    with pytest.raises(DataError):
        outcome(frame.selectExpr("u", "CAST(u AS DOUBLE) AS x", "y"), dph.Domain.unit(3), **COLUMNS)
    told = capfd.readouterr().err
    written = [line for line in told.splitlines() if SECRET in line and "QueryContextLogger" in line]
    assert written == []


def test_refusals_and_errors_tell_nothing(spark: Any, tmp_path: Path) -> None:
    frame = spark.createDataFrame([(SECRET, 0.5, 0.5, "1")], "u string, x double, y double, w string")
    failing = frame.selectExpr("u", "CAST(u AS DOUBLE) AS x", "y")
    timed = frame.selectExpr("u", "x", "y", "DATE'2024-06-30' AS day", "TIMESTAMP'2024-06-30 23:30:00' AS at")
    wanted = "day = '2024-06-30' AND at > '2024-06-30T23:00' AND EXTRACT(year FROM day) = '2024'"
    assert outcome(timed, dph.Domain.unit(3), **COLUMNS, where=wanted)[1]["people"] == 1
    cases: list[tuple[Any, dict[str, Any], type[DpheatmapError], str]] = [
        (failing, {}, DataError, r"Spark could not read the data frame \(\w+\)"),
        (frame, {"x": "u"}, DataError, "'u' is of type TEXT, not a number"),
        (frame, {"weight": "w"}, DataError, "weights are integers"),
        (frame, {"user": "x"}, DataError, "ids can become equal"),
        (frame, {"where": "x + 1 > 2"}, ParameterError, "where may compare columns with literals"),
        (timed, {"where": "u = 'b' AND day > 'soon'"}, ParameterError, "day is of type DATE"),
        (timed, {"where": "at >= '2024-13-45'"}, ParameterError, "at is of type TIMESTAMP WITH TIME ZONE"),
        (timed, {"where": "day >= 'today'"}, ParameterError, "day is of type DATE"),
        (timed, {"where": "day < at"}, ParameterError, "where may compare columns with literals"),
        (timed, {"partition": {"at": ["a", "b"]}, "part": "a"}, DataError, "in two parts"),
        (frame, {"memory": 100}, ParameterError, "memory means nothing to Spark"),
        (frame.selectExpr("*", "x AS X"), {}, DataError, "differ in case alone"),
        (spark.readStream.format("rate").load(), {}, DataError, "A stream has no end"),
        ("nowhere", {"engine": "spark"}, DataError, r"Spark could not read the table 'nowhere'"),
        (str(tmp_path / "none.parquet"), {"engine": "spark"}, DataError, "Spark could not read the files"),
        ("s3a://bucket/trips.csv", {"engine": "spark"}, DataError, "Spark reads Parquet and ORC from paths"),
        (["a.orc", "b.parquet"], {"engine": "spark"}, DataError, "Some of the paths are of ORC and some are not"),
        (7, {"engine": "spark"}, DataError, "A int can't be read by Spark"),
        ([], {"engine": "spark"}, DataError, "A list can't be read by Spark"),
        (("a.parquet", 7), {"engine": "spark"}, DataError, "A tuple can't be read by Spark"),
        (spark.catalog, {}, DataError, "A Catalog of pyspark.sql.catalog can't be watched or cancelled"),
    ]
    for events, options, error, words in cases:
        with pytest.raises(error, match=words) as caught:
            outcome(events, dph.Domain.unit(3), **{**COLUMNS, **options})
        assert SECRET not in str(caught.value)
        assert caught.value.__context__ is None
    assert spark.sparkContext._jsc.getPersistentRDDs().size() == 0, "what was refused is still kept"


@pytest.fixture(scope="module")
def cluster() -> Any:
    """What happened on a cluster of two executors, one of which was killed."""
    program = Path(__file__).with_name("cluster.py")
    done = subprocess.run([sys.executable, str(program)], capture_output=True, text=True, timeout=900)
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.long
def test_an_executor_that_dies_changes_no_integer(cluster: Any) -> None:
    assert cluster["killed"] == 1
    assert cluster["retried"] >= 1, "the status tracker saw no task fail"
    assert cluster["same"]
    assert cluster["cells"] > 1000
    assert cluster["forward"]
    assert cluster["parts"]


@pytest.mark.long
def test_what_is_not_needed_any_more_is_cancelled(cluster: Any) -> None:
    assert cluster["cancelled"]
    assert cluster["still_active"] == 0


def test_no_number_stops_a_predicate(spark: Any) -> None:
    """Spark's casts stop at what does not fit; a comparison of two types must not."""
    from decimal import Decimal

    ann = ("ann", 0.1, 0.1, Decimal(5), Decimal(5), 5.0, 5)
    eve = ("eve", 0.1, 0.1, Decimal(10) ** 37, Decimal(10) ** 17, float("nan"), 2**62)
    types = "u string, x double, y double, n decimal(38,0), m decimal(38,20), f double, w bigint"
    events = spark.createDataFrame([ann, eve], types)
    for where in (
        "n > 4.5",
        "n >= m",
        "n = f",
        "n IN (5, 0.5)",
        "w > m OR w = 5",
        "n > CAST('4' AS DOUBLE)",
        "n < 1e30",
    ):
        assert outcome(events, where=where, **COLUMNS)[1]["people"] >= 1
    for column in "nmfw":
        assert outcome(events, dph.Domain.image(9, 9), user="u", x=column, y=column)[1]["people"] == 1
    assert outcome(events, weight="w", **COLUMNS)[1]["invalid"] == 1
