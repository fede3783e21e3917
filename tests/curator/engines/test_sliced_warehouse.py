"""Slices through warehouses: the answer to one statement has the integers of all slices, and is read as one value."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import psycopg
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import sqlglot
from sqlglot import exp

import dpheatmap as dph
from dpheatmap._util.parameters import RULES
from dpheatmap.cli import run
from dpheatmap.curator.aggregation import count
from dpheatmap.curator.read.reading import Reading
from dpheatmap.curator.sliced_publish import slices_of
from dpheatmap.design.shares import UNITS
from dpheatmap.errors import DataError, DpheatmapError, ParameterError, PrivacyRefusal
from helpers import texts_of_times, timed
from helpers.spark import session

DIALECTS, TIME_TYPES = (
    RULES[name].words.removeprefix("one of ").replace("'", "").split(", ") for name in ("dialect", "time_type")
)
UNIT = dph.Domain.unit(7)
COLUMNS: dict[str, Any] = {"user": "u", "x": "x", "y": "y"}
TYPES = {"instant": "instant", "clock": "clock", "day": "date", "seconds": "seconds", "float_seconds": "seconds"}
GROUPS: dict[str, Any] = {"group": "g", "groups": ["bike", "walk"]}
HOURS: dict[str, Any] = {"time": "clock", "every": "hour-of-day", "time_zone": "Europe/Zurich"}
NOT_EXACT = {("trino", "instant"), ("trino", "clock")}


def options_of(column: str, every: str, zone: str | None, start: date | None, end: date | None) -> dict[str, Any]:
    return {"time": column, "every": every, "time_zone": zone, "start": start, "end": end, **GROUPS}


CASES = [(options_of(*case), TYPES[case[0]]) for case in timed.SLICED]


def axis(time: Any = None, every: Any = None, time_zone: Any = None, start: Any = None, end: Any = None,
         group: Any = None, groups: Any = None) -> Any:  # fmt: skip
    return slices_of(time, every, time_zone, start, end, group, groups)


def statement(dialect: str, time_type: str | None, **options: Any) -> str:
    return dph.sql(UNIT, dialect=dialect, table="trips", time_type=time_type, **{**COLUMNS, **options})


def save(rows: list[Any], path: Path) -> Path:
    names = ("group_number", "cx", "cy", "weight")
    pq.write_table(pa.table({name: [row[k] for row in rows] for k, name in enumerate(names)}), path)
    return path


def answer(events: pa.Table, path: Path, time_type: str | None, **options: Any) -> Path:
    """What DuckDB answers to the statement for it, in another zone than any that is asked for, as a file."""
    with duckdb.connect() as con:
        con.execute("SET TimeZone = 'Pacific/Auckland'")
        con.register("trips", events)
        return save(con.execute(statement("duckdb", time_type, **options)).fetchall(), path)


def read(path: Path, **options: Any) -> dph.SlicedCounts:
    found = dph.read_counts(path, UNIT, **options)
    assert isinstance(found, dph.SlicedCounts)
    return found


def assert_same(events: Any, back: dph.SlicedCounts, options: dict[str, Any]) -> None:
    """The integers of all slices, and the counters, are those of the embedded engine."""
    here = count(events, UNIT, Reading(**COLUMNS), slices=axis(**options))
    assert sum(one.total for one in here) > 0
    for one, other in zip(here, back.slices, strict=True):
        assert one.codes.tolist() == other.codes.tolist()
        assert one.sums.tolist() == other.sums.tolist()
    assert here[0].report is not None
    assert back.report is not None
    assert {**vars(back.report), "seconds": 0} == {**vars(here[0].report), "seconds": 0}


# The text


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("time_type", TIME_TYPES)
def test_it_reads_back_and_depends_on_no_session(dialect: str, time_type: str) -> None:
    names = ["bi'ke", "wa\\lk", "Zürich"]
    options: dict[str, Any] = {
        "time": "t", "every": "weekday", "time_zone": "America/New_York", "group": "g", "groups": names,
    }  # fmt: skip
    if (dialect, time_type) in NOT_EXACT:
        with pytest.raises(ParameterError, match=r"no exact number of microseconds.* text or seconds since 1970"):
            statement(dialect, time_type, **options)
        return
    text = statement(dialect, time_type, **options)
    tree = sqlglot.parse_one(text, dialect=dialect)
    assert isinstance(tree, exp.Query)
    assert [column.alias_or_name.lower() for column in tree.selects] == ["group_number", "cx", "cy", "weight"]
    assert not list(tree.find_all(exp.Command, exp.IntDiv, exp.Round))
    assert set(names) <= {node.this for node in tree.find_all(exp.Literal) if node.is_string}
    body = text[text.index("WITH ") :].upper()
    assert "EPOCH_US" not in body or dialect == "duckdb"
    asking = r"CURRENT_|\bNOW\(|GETDATE|SYSDATE|LOCALTIME|TO_CHAR|TO_TIMESTAMP|FORMAT|STRFTIME|UNIX_TIMESTAMP"
    assert not re.search(asking, body), "a function that asks the session"
    plain = [node for node in tree.find_all(exp.Cast) if node.find(exp.Column) and not node.is_type("text", "varchar")]
    zoned = [node.sql(dialect) for node in plain if node.is_type("timestamptz", "timestampltz")]
    assert not zoned, "a cast of a column that goes by the session's zone"
    allowed = {"UNIX_MICROS", "UNIX_DATE", "DATE_PART", "DATEDIFF", "DATE_DIFF", "TIMESTAMP", "EPOCH_US"}
    assert {str(node.this).upper() for node in tree.find_all(exp.Anonymous)} <= allowed


def test_snowflake_s_columns_are_in_capitals_and_its_clocks_have_no_zone() -> None:
    text = statement("snowflake", "clock", **HOURS, **GROUPS)
    assert 'CAST("CLOCK" AS TIMESTAMPNTZ)' in text
    assert 'CAST("G" AS VARCHAR)' in text


def test_the_comment_tells_the_options() -> None:
    text = statement("bigquery", "text", time="t", every="3 hours", time_zone="UTC", start="2024-06-03",
                     end="2024-06-03 18:30", **GROUPS)  # fmt: skip
    comment = text[: text.index("WITH ")]
    assert all(line.startswith("--") for line in comment.splitlines())
    assert "--time t --every '3 hours' --time-zone UTC --from 2024-06-03 --to 2024-06-03T18:30:00 --group g" in comment
    assert "--groups bike,walk" in comment
    assert "The time column must hold text such as" in comment
    hidden = statement("bigquery", None, group="a\nDROP TABLE b", groups=["a\nDROP TABLE c", "d,e"])
    comment = hidden[: hidden.index("WITH ")]
    assert "--group COLUMN --groups-file FILE" in comment
    assert all(line.startswith("--") for line in comment.splitlines())
    last = statement("bigquery", "date", time="t", every="month", start="9999-01-01", end="9999-12-31")
    assert "--from 9999-01-01 --to 9999-12-31 " in last


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [({"time_type": None}, ParameterError, "time and time_type go together"),
     ({"time": None, "every": None, "time_zone": None}, ParameterError, "time_type is about a column of times"),
     ({"time": None, "every": None, "time_zone": None, **GROUPS}, ParameterError, "time and time_type go together"),
     ({"time_zone": None}, PrivacyRefusal, "time_zone"),
     ({"time_type": "date"}, DataError, "dates alone, and slices of hours"),
     ({"every": "day"}, PrivacyRefusal, "public range"),
     ({"group": "g"}, PrivacyRefusal, "public list of groups"),
     ({"time": None}, ParameterError, "about slices of time")],
)  # fmt: skip
def test_what_is_refused(options: dict[str, Any], error: type[DpheatmapError], words: str) -> None:
    with pytest.raises(error, match=words):
        statement("bigquery", **{"time_type": "clock", **HOURS, **options})


# There and back


@pytest.mark.parametrize(("options", "time_type"), CASES)
def test_duckdb_gives_the_same_integers(options: dict[str, Any], time_type: str, tmp_path: Path) -> None:
    path = answer(timed.table(), tmp_path / "a.parquet", time_type, **options)
    assert_same(timed.table(), read(path, **options), options)


@pytest.fixture
def server(database: str) -> Callable[[pa.Table, str], Callable[[str], list[Any]]]:
    """A table on a real server, whose session has settings of its own, and the answers to statements there."""

    def fill(events: pa.Table, kinds: str) -> Callable[[str], list[Any]]:
        def ask(text: str) -> list[Any]:
            with psycopg.connect(database) as con:
                con.execute("SET TimeZone = 'Pacific/Auckland'")
                con.execute("SET DateStyle = 'SQL, DMY'")
                con.execute(f"CREATE TEMP TABLE trips ({kinds})".encode())
                with con.cursor() as cursor, cursor.copy("COPY trips FROM STDIN") as copy:
                    for row in zip(*(column.to_pylist() for column in events.columns), strict=True):
                        copy.write_row(row)
                con.execute("SET LOCAL enable_nestloop = off")
                return con.execute(text.encode()).fetchall()

        return ask

    return fill


def test_a_real_server_gives_the_same_integers(server: Any, tmp_path: Path) -> None:
    kinds = """u text, x float8, y float8, instant timestamptz, clock timestamp, day date, seconds numeric,
        float_seconds float8, g text"""
    ask = server(timed.table(), kinds)
    for options, time_type in CASES:
        path = save(ask(statement("postgres", time_type, **options)), tmp_path / "a.parquet")
        assert_same(timed.table(), read(path, **options), options)


WRITTEN: dict[str, Any] = {"time": "t", "every": "hour-of-week", "time_zone": "America/New_York"}


def test_texts_are_read_alike(server: Any, tmp_path: Path) -> None:
    texts = texts_of_times.some(5, 3000)
    events = texts_of_times.table(texts)
    wanted = texts_of_times.wanted(texts, "America/New_York", axis(**WRITTEN).axis.labels)
    assert len(wanted) > 1000
    ask = server(events, "u text, x float8, y float8, t text")
    there = save(ask(statement("postgres", "text", **WRITTEN)), tmp_path / "p.parquet")
    for path in (there, answer(events, tmp_path / "d.parquet", "text", **WRITTEN)):
        back = read(path, **WRITTEN)
        assert texts_of_times.slices_of_rows(list(back.slices)) == wanted
        assert_same(events, back, WRITTEN)


def test_spark_gives_the_same_integers(tmp_path: Path) -> None:
    texts = texts_of_times.table(texts_of_times.some(6, 2000))
    pq.write_table(timed.table(), tmp_path / "timed.parquet")
    pq.write_table(texts, tmp_path / "written.parquet")
    with session("local[2]", tmp_path, **{"spark.sql.session.timeZone": "Pacific/Apia"}) as spark:
        for file, events, cases in (
            ("timed", timed.table(), CASES), ("written", texts, [(WRITTEN, "text")]),
        ):  # fmt: skip
            spark.read.parquet(str(tmp_path / f"{file}.parquet")).createOrReplaceTempView("trips")
            for options, time_type in cases:
                rows = [tuple(row) for row in spark.sql(statement("spark", time_type, **options)).collect()]
                assert_same(events, read(save(rows, tmp_path / "a.parquet"), **options), options)


def test_far_times_stop_nothing(server: Any, tmp_path: Path) -> None:
    """A row that could stop a statement would tell that it is there."""
    options: dict[str, Any] = {"every": "weekday", "time_zone": "UTC"}
    far = pa.table({
        "u": ["a", "b", "c"], "x": [0.5] * 3, "y": [0.5] * 3, "t": pa.array([2**62, -(2**62), 0], pa.timestamp("s")),
        "s": [1e308, float("nan"), 0.0],
    })  # fmt: skip
    for column, time_type in (("t", "clock"), ("s", "seconds")):
        back = read(answer(far, tmp_path / "a.parquet", time_type, time=column, **options), time=column, **options)
        assert back.report is not None
        assert (back.report.invalid, back.report.inside) == (2, 1)
    words = ["infinity", "-infinity", "294276-12-31", "4713-01-01 BC", "2024-06-03"]
    huge = pa.table({
        **{name: ["a"] * 5 if name == "u" else ["0.5"] * 5 for name in "uxy"},
        **dict.fromkeys("tzd", words), "s": ["NaN", "1e400", "-1e400", "1e20", "0"],
    })  # fmt: skip
    kinds = "u text, x float8, y float8, t timestamp, z timestamptz, d date, s numeric"
    for column, time_type in (("t", "clock"), ("z", "instant"), ("d", "date"), ("s", "seconds")):
        rows = server(huge, kinds)(statement("postgres", time_type, time=column, **options))
        back = read(save(rows, tmp_path / "a.parquet"), time=column, **options)
        assert back.report is not None
        assert (back.report.invalid, back.report.inside) == (4, 1), column


# What comes back


@pytest.fixture
def hours(tmp_path: Path) -> Path:
    return answer(timed.table(), tmp_path / "answer.parquet", "clock", **HOURS, **GROUPS)


def test_a_person_weighs_1_in_all_slices_together(tmp_path: Path) -> None:
    rows = pa.table({"u": ["a"] * 8, "x": [0.5] * 8, "y": [0.5] * 8, "t": list(range(0, 8 * 3600, 3600))})
    options: dict[str, Any] = {"time": "t", "every": "hour-of-day", "time_zone": "UTC"}
    back = read(answer(rows, tmp_path / "a.parquet", "seconds", **options), **options)
    assert [one.total for one in back.slices] == [UNITS // 8] * 8 + [0] * 16


@pytest.mark.parametrize(
    "other",
    [{"time": "day"}, {"every": "weekday"}, {"time_zone": "UTC"}, {"start": "2024-01-01"}, {"end": "2024-01-01"},
     {"group": "mode"}, {"groups": ["walk", "bike"]}, {"groups": ["bike"]}, {"group": None, "groups": None},
     {"partition": {"d": ["north"]}, "part": "north"}],
    ids=str,
)  # fmt: skip
def test_an_answer_for_other_slices_is_refused(hours: Path, other: dict[str, Any]) -> None:
    assert len(read(hours, **HOURS, **GROUPS).slices) == 48
    with pytest.raises(DataError, match="another part of people, or other slices"):
        dph.read_counts(hours, UNIT, **{**HOURS, **GROUPS, **other})


def test_one_map_is_no_slices_and_slices_are_no_map(hours: Path, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="or other slices"):
        dph.read_counts(hours, UNIT)
    with duckdb.connect() as con:
        con.register("trips", timed.table())
        found = con.sql(dph.sql(UNIT, dialect="duckdb", table="trips", **COLUMNS)).to_arrow_table()
    pq.write_table(found, tmp_path / "one.parquet")
    with pytest.raises(DataError, match="it is about one map, and slices were asked for"):
        dph.read_counts(tmp_path / "one.parquet", UNIT, **HOURS)


SPOILED: dict[str, tuple[Callable[[dict[str, Any]], Any], str]] = {
    "a slice too many": (lambda t: {**t, "group_number": np.where(t["cx"] >= 0, 48, -1)}, "slices beyond the last"),
    "no slice": (lambda t: {**t, "group_number": np.full(len(t["cx"]), -1)}, "slices beyond the last"),
    "a cell twice": (lambda t: {k: np.append(v, v[t["cx"] >= 0][:1]) for k, v in t.items()}, "a cell twice"),
    "too heavy": (lambda t: {**t, "weight": t["weight"] + (t["cx"] >= 0) * UNITS}, "weigh more than 1"),
    "below 0": (lambda t: {**t, "weight": np.where(t["cx"] >= 0, -1, t["weight"])}, "numbers below 0"),
}  # fmt: skip


@pytest.mark.parametrize("how", SPOILED)
def test_an_answer_that_does_not_fit_is_refused(hours: Path, how: str) -> None:
    spoil, words = SPOILED[how]
    table = {name: column.to_numpy() for name, column in zip(*_columns(hours), strict=True)}
    pq.write_table(pa.table(spoil(table)), hours)
    with pytest.raises(DataError, match=words):
        dph.read_counts(hours, UNIT, **HOURS, **GROUPS)


def _columns(path: Path) -> tuple[list[str], list[Any]]:
    table = pq.read_table(path)
    return table.column_names, table.columns


def test_they_are_released_and_charged_once(hours: Path, tmp_path: Path) -> None:
    counts = read(hours, **HOURS, **GROUPS)
    ledger = dph.Ledger(tmp_path / "l.ledger")
    ledger.limit("riders", 1)
    seen: list[Any] = []
    made = dph.release(counts, epsilon=1, ledger=ledger, population="riders", seen=seen.append)
    assert isinstance(made, dph.SlicedRelease)
    assert made.axis == axis(**HOURS, **GROUPS).axis
    assert seen == [counts.report]
    account = ledger.accounts()["riders"]
    assert account.charges == account.spent == 1
    with pytest.raises(PrivacyRefusal, match="riders"):
        dph.release(counts, epsilon=1, ledger=ledger, population="riders")
    assert ledger.accounts()["riders"].charges == 1
    assert repr(counts) == "<SlicedCounts of a unit domain, private: 48 slices>"


def test_a_part_s_counts_are_charged_to_the_part(tmp_path: Path) -> None:
    people: dict[str, Any] = {"partition": {"u": ["p1", "p2"]}, "part": "p1"}
    path = answer(timed.table(), tmp_path / "a.parquet", "clock", **HOURS, **people)
    counts = read(path, **HOURS, **people)
    assert counts.part is not None
    assert counts.part.value == "p1"
    ledger = dph.Ledger(tmp_path / "l.ledger")
    ledger.limit("riders", 1)
    made = dph.release(counts, epsilon=1, ledger=ledger, population="riders")
    assert made.ledger is not None
    assert ledger.accounts()["riders"].spent == 1
    other = {**people, "part": "p2"}
    path = answer(timed.table(), tmp_path / "b.parquet", "clock", **HOURS, **other)
    dph.release(read(path, **HOURS, **other), epsilon=1, ledger=ledger, population="riders")
    assert ledger.accounts()["riders"].spent == 1, "the parts are different people"


@pytest.mark.parametrize(
    ("options", "words"),
    [({"split": "epsilon"}, "These counts have their slices"), (HOURS, "These counts have their slices"),
     ({"user": "u"}, "already have their domain and columns"), ({"domain": dph.Domain.unit(3)}, "another domain"),
     ({"design": "paper"}, "design 'ladder'"), ({"noise": "gaussian"}, "Laplace noise")],
    ids=str,
)  # fmt: skip
def test_counts_have_their_slices(hours: Path, options: dict[str, Any], words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        dph.release(read(hours, **HOURS, **GROUPS), **{"epsilon": 1, **options})


def test_on_the_command_line(hours: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sliced = ["--time", "clock", "--every", "hour-of-day", "--time-zone", "Europe/Zurich", "--group", "g"]
    sliced += ["--groups", "bike,walk"]
    place, columns = ["--unit", "--depth", "7"], ["--user", "u", "--x", "x", "--y", "y"]
    assert run(["sql", "--dialect", "duckdb", *columns, *place, *sliced, "--time-type", "clock"]) == 0
    assert capsys.readouterr().out.rstrip("\n") == statement("duckdb", "clock", **HOURS, **GROUPS)
    assert run(["sql", "--dialect", "duckdb", *columns, *place, *sliced]) == 2
    assert "--time-type" in capsys.readouterr().err
    ledger, made = str(tmp_path / "l.ledger"), str(tmp_path / "r.dph.parquet")
    dph.Ledger(ledger).limit("riders", 1)
    paid = ["--epsilon", "1", "--ledger", ledger, "--population", "riders", *place, "-o", made]
    release = ["release", "--counts", str(hours), *paid]
    assert run([*release, *sliced[:-1], "walk,bike"]) == 3, "the list in another order has other numbers"
    assert run([*release, *sliced, "--split", "epsilon"]) == 2
    assert dph.Ledger(ledger).accounts()["riders"].charges == 0
    assert run([*release, *sliced]) == 0
    loaded = dph.load(made)
    assert isinstance(loaded, dph.SlicedRelease)
    assert loaded.slices[:2] == ("bike 0", "bike 1")
    assert run([*release, *sliced]) == 4, "the budget is spent"
    assert dph.Ledger(ledger).accounts()["riders"].charges == 1
    assert dph.Ledger(ledger).populations_of(dph.Ledger.marks_of(hours)) == ["riders"]
