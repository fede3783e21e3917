"""The statement for warehouses: the same steps in every dialect, the same integers where it runs, and back again."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import psycopg
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
import sqlglot
from sqlglot import exp

import dpheatmap as dph
from dpheatmap._util.parameters import RULES
from dpheatmap.cli import run
from dpheatmap.errors import DataError, DpheatmapError, ParameterError, PrivacyRefusal
from helpers import nasty

DIALECTS = RULES["dialect"].words.removeprefix("one of ").replace("'", "").split(", ")
CITY = dph.Domain.bbox(-74.1, 40.6, -73.8, 40.9, depth=14)
COLUMNS: dict[str, Any] = {"user": "u", "x": "x", "y": "y"}
EVERYTHING: dict[str, Any] = {
    **COLUMNS, "weight": "w", "where": "w >= 1 AND d <> 'o''x'",
    "partition": {"d": ["north", "south"]}, "part": "north",
}  # fmt: skip


def statement(dialect: str, table: str = "city.trips", domain: dph.Domain = CITY, **options: Any) -> str:
    return dph.sql(domain, dialect=dialect, table=table, **{**COLUMNS, **options})


def test_the_dialects_that_are_promised_are_there() -> None:
    assert {"bigquery", "snowflake", "trino", "databricks", "postgres", "spark"} <= set(DIALECTS)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_it_reads_back_as_the_same_steps(dialect: str) -> None:
    """Parsed in its own dialect, it has the steps of the one statement, and nothing that sqlglot did not understand."""
    tree = sqlglot.parse_one(statement(dialect, **EVERYTHING), dialect=dialect)
    assert isinstance(tree, exp.Query)
    steps = [cte.alias for cte in tree.ctes]
    assert steps[:3] == ["dpheatmap_rows", "events", "tallies"]
    assert {"bounded", "totals", "located", "placed", "counters", "numbers"} <= set(steps)
    assert not list(tree.find_all(exp.Command, exp.Anonymous, exp.IntDiv, exp.Greatest, exp.Least, exp.Round))
    columns = [column.alias_or_name.lower() for column in tree.selects]
    assert columns == ["cx", "cy", "weight"]
    tables = {table.sql(dialect="duckdb").lower() for table in tree.find_all(exp.Table)} - set(steps)
    assert {table.partition(" ")[0] for table in tables} == {"city.trips"}
    divided = [node for node in tree.find_all(exp.Div) if node.find(exp.Mod)]
    assert len(divided) == 1, "one integer division, written so that no dialect rounds it up"
    functions = {type(node).__name__ for node in tree.find_all(exp.Func)} - {"And", "Or", "Not"}
    assert functions <= {
        "Cast", "TryCast", "Coalesce", "Case", "If", "Count", "Sum", "Floor", "Sqrt", "LogicalAnd", "Mod", "Unnest",
    }, functions  # fmt: skip


@pytest.mark.parametrize("dialect", DIALECTS)
def test_floats_are_doubles_and_constants_are_exact(dialect: str) -> None:
    tree = sqlglot.parse_one(statement(dialect), dialect=dialect)
    casts = [node for node in tree.find_all(exp.Cast) if node.this.is_string]
    assert len(casts) > 30
    kinds = {node.to.this for node in casts}
    assert kinds == {exp.DataType.Type.DOUBLE}
    numbers = {float(node.this.this) for node in casts}
    assert {-74.1, 40.9, 360.0, 8 / np.pi, float(2**14)} <= numbers


def test_columns_and_tables_are_spelled_as_they_are_there() -> None:
    assert '"RIDER" AS person' in statement("snowflake", user="rider")
    assert '"rider" AS person' in statement("snowflake", user='"rider"')
    assert '("W" > 1)' in statement("snowflake", where="w > 1")
    assert "`rider` AS person" in statement("bigquery", user="rider")
    assert "FROM `my-project`.`city`.`trips`" in statement("bigquery", table="`my-project.city.trips`")
    assert "FROM `my-project`.city.trips" in statement("bigquery", table="my-project.city.trips")
    assert '"user" AS person' in statement("redshift", user="user"), "unquoted, it would be the name of who asks"


def test_the_comment_tells_what_to_do() -> None:
    text = statement("trino", **EVERYTHING)
    comment = text[: text.index("WITH ")]
    assert all(line.startswith("--") for line in comment.splitlines())
    assert "PRIVATE" in comment
    options = "--bbox=-74.1,40.6,-73.8,40.9 --depth 14 --partition d=north,south --part north"
    assert f"dpheatmap release --counts ANSWER --epsilon 1 {options}" in comment
    assert "Each row counts as another person." in statement("trino", user=None, each_row_is_a_person=True)


@pytest.mark.parametrize("name", ["a\nDROP TABLE trips", "a\r\nb", "a\u2028b"])
def test_no_name_ends_the_comment(name: str) -> None:
    for partition, part in (({"d": [name, "b"]}, name), ({name: ["a", "b"]}, "a")):
        text = statement("postgres", partition=partition, part=part)
        comment = text[: text.index("WITH ")]
        assert all(line.startswith("--") for line in comment.splitlines())
        assert "--partition COLUMN=LIST --part " in comment
        assert sqlglot.parse_one(text, dialect="postgres")


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [({"user": None}, PrivacyRefusal, "No user column"),
     ({"dialect": "oracle"}, ParameterError, "dialect must be one of"),
     ({"table": "a; DROP TABLE b"}, ParameterError, "table must be the name of a table"),
     ({"table": "(SELECT 1)"}, ParameterError, "table must be the name of a table"),
     ({"where": "w + 1 > 2"}, ParameterError, "where may compare"),
     ({"where": "(("}, ParameterError, "one SQL predicate"),
     ({"where": "w > (SELECT 1)"}, PrivacyRefusal, "one row at a time"),
     ({"part": "west"}, ParameterError, "partition"),
     ({"domain": None}, PrivacyRefusal, "No public domain")],
)  # fmt: skip
def test_what_is_refused(options: dict[str, Any], error: type[DpheatmapError], words: str) -> None:
    with pytest.raises(error, match=words):
        dph.sql(**{"domain": CITY, "dialect": "trino", "table": "t", **COLUMNS, **options})


# There and back


@pytest.fixture(scope="module")
def events() -> pa.Table:
    return nasty.table(CITY, 3000)


def answer(events: pa.Table, path: Path, dialect: str = "duckdb", **options: Any) -> Path:
    """What DuckDB answers to the statement for it, as a file."""
    with duckdb.connect() as con:
        con.register("trips", events)
        found = con.sql(statement(dialect, "trips", **options)).to_arrow_table()
    (pyarrow.csv.write_csv if path.suffix == ".csv" else pq.write_table)(found, path)
    return path


@pytest.mark.parametrize("ending", ["parquet", "csv"])
def test_there_and_back(events: pa.Table, tmp_path: Path, ending: str) -> None:
    part = {name: EVERYTHING[name] for name in ("partition", "part")}
    back = dph.read_counts(answer(events, tmp_path / f"a.{ending}", **EVERYTHING), CITY, **part)
    here = dph.aggregate(events, CITY, **EVERYTHING)
    assert np.array_equal(back.codes, here.codes)
    assert np.array_equal(back.sums, here.sums)
    assert back.part == here.part
    assert back.report is not None
    assert here.report is not None
    assert {**vars(back.report), "seconds": 0} == {**vars(here.report), "seconds": 0}


def test_a_real_server_runs_its_dialect(events: pa.Table, database: str, tmp_path: Path) -> None:
    with psycopg.connect(database) as con:
        con.execute("CREATE TEMP TABLE trips (u text, x float8, y float8, w bigint, d text)")
        with con.cursor() as cursor, cursor.copy("COPY trips FROM STDIN") as copy:
            for row in zip(*(column.to_pylist() for column in events.columns), strict=True):
                copy.write_row(row)
        con.execute("SET LOCAL enable_nestloop = off")
        rows = con.execute(statement("postgres", "trips", weight="w").encode()).fetchall()
    pq.write_table(
        pa.table({n: [row[k] for row in rows] for k, n in enumerate(("CX", "CY", "WEIGHT"))}), tmp_path / "a.parquet"
    )
    back = dph.read_counts(tmp_path / "a.parquet", CITY)
    here = dph.aggregate(events, CITY, weight="w", **COLUMNS)
    assert np.array_equal(back.codes, here.codes)
    assert np.array_equal(back.sums, here.sums)


SPOILED: dict[str, tuple[Any, str]] = {
    "a row missing": (lambda t: t.filter(pa.compute.not_equal(t["cx"], -1)), "are not all there, once each"),
    "a row twice": (lambda t: pa.concat_tables([t, t.filter(pa.compute.equal(t["cx"], -1))]), "once each"),
    "a cell twice": (lambda t: pa.concat_tables([t, t.filter(pa.compute.not_equal(t["cx"], -1))]), "has a cell twice"),
    "a cell elsewhere": (lambda t: change(t, "cx", lambda x: x + 10**6 * (x > 0)), "cells outside the domain"),
    "too heavy": (lambda t: change(t, "weight", lambda w: w + (t["cx"].to_numpy() > 0) * 2**35), "weigh more than 1"),
    "below 0": (lambda t: change(t, "weight", lambda w: w - (t["cx"].to_numpy() > 0) * 2**40), "numbers below 0"),
    "just below 0": (lambda t: change(t, "weight", lambda w: np.where(t["cx"].to_numpy() > 0, -1, w)), "below 0"),
    "one row more": (lambda t: change(t, "weight", lambda w: w + first_counter(t)), "rows and people don't add up"),
    "not whole": (lambda t: change(t, "weight", lambda w: w + 0.5), "not all whole numbers"),
    "a column missing": (lambda t: t.drop_columns(["cy"]), "has no column 'cy'"),
    "nothing": (lambda t: t.slice(0, 0), "are not all there"),
}  # fmt: skip


def first_counter(table: pa.Table) -> Any:
    return (table["cx"].to_numpy() < 0) & (table["cy"].to_numpy() == 0)


def change(table: pa.Table, name: str, how: Any) -> pa.Table:
    return table.set_column(table.column_names.index(name), name, pa.array(how(table[name].to_numpy())))


@pytest.mark.parametrize("how", SPOILED)
def test_an_answer_that_does_not_fit_is_refused(events: pa.Table, tmp_path: Path, how: str) -> None:
    path = answer(events, tmp_path / "answer.parquet")
    spoil, words = SPOILED[how]
    pq.write_table(spoil(pq.read_table(path)), path)
    with pytest.raises(DataError, match=words):
        dph.read_counts(path, CITY)


def test_an_answer_with_an_open_quote_is_refused(events: pa.Table, tmp_path: Path) -> None:
    """The lines behind it would be lost without a word, and the counters, if they come first, would not tell."""
    path = answer(events, tmp_path / "answer.csv")
    first, *lines = path.read_text().splitlines()
    lines.sort(key=lambda line: not line.startswith("-1,"))
    path.write_text("\n".join([first, *lines[:-1], '"' + lines[-1]]))
    with pytest.raises(DataError, match="quote"):
        dph.read_counts(path, CITY)


def test_an_answer_to_another_question_is_refused(events: pa.Table, tmp_path: Path) -> None:
    path = answer(events, tmp_path / "answer.parquet")
    assert dph.read_counts(path, CITY).total > 0
    other = dph.Domain.bbox(-74.1, 40.6, -73.8, 40.9, depth=13), dph.Domain.bbox(-74.2, 40.6, -73.8, 40.9, depth=14)
    for domain in other:
        with pytest.raises(DataError, match="another place, another depth or another part of people"):
            dph.read_counts(path, domain)
    with pytest.raises(DataError, match="another part of people"):
        dph.read_counts(path, CITY, partition={"d": ["north", "south"]}, part="north")


def test_nobody_is_an_answer_like_any_other(tmp_path: Path) -> None:
    counts = dph.read_counts(answer(nasty.SCHEMA.empty_table(), tmp_path / "a.parquet"), CITY)
    assert counts.total == 0
    assert dph.release(counts, epsilon=1).epsilon == 1


def test_on_the_command_line(events: pa.Table, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place = ["--bbox=-74.1,40.6,-73.8,40.9", "--depth", "14"]
    columns = ["--user", "u", "--x", "x", "--y", "y"]
    assert run(["sql", "--dialect", "duckdb", *columns, *place]) == 0
    text = capsys.readouterr().out
    assert text.rstrip("\n") == statement("duckdb", "trips")
    assert run(["sql", "--dialect", "trino", "--json", *columns, *place]) == 0
    assert json.loads(capsys.readouterr().out)["dialect"] == "trino"
    assert run(["sql", "--dialect", "trino", "--user", "u", *place]) == 2
    saved, ledger, made = (
        answer(events, tmp_path / "a.parquet"),
        str(tmp_path / "l.ledger"),
        str(tmp_path / "r.dph.parquet"),
    )
    release = ["release", "--counts", str(saved), "--epsilon", "1", "--ledger", ledger, *place, "-o", made]
    dph.Ledger(ledger).limit("riders", 1)
    assert run([*release, "--population", "riders"]) == 0
    assert dph.load(made).ledger is not None
    assert run([*release, "--population", "riders"]) == 4, "the budget is spent"
    assert run(release) == 4, "somebody has a limit, and no name is given"
    assert dph.Ledger(ledger).populations_of(dph.Ledger.marks_of(saved)) == ["riders"]
    dph.Ledger(ledger).limit("walkers", 1)
    named = [*release, "--population", "walkers"]
    capsys.readouterr()
    assert run([*named, "--user", "u"]) == 2
    assert "Warning: a.parquet, or a file in its place, was charged to 'riders' before" in capsys.readouterr().err
    assert run([*named, str(saved)]) == 2
    assert run([*release[:-5], "--unit", "--population", "walkers", "-o", made]) == 3
    assert run(["release", "--epsilon", "1", *place, "-o", made]) == 2


def test_a_database_on_the_command_line(events: pa.Table, database: str, tmp_path: Path) -> None:
    with psycopg.connect(database) as con:
        con.execute("DROP TABLE IF EXISTS rides; CREATE TABLE rides (u text, x float8, y float8)")
        con.execute("INSERT INTO rides VALUES ('a', -74, 40.7)")
    ledger, made = tmp_path / "l.ledger", tmp_path / "r.dph.parquet"
    release = ["release", database, "--epsilon", "1", "--ledger", str(ledger), "--bbox=-74.1,40.6,-73.8,40.9"]
    release += ["--user", "u", "--x", "x", "--y", "y", "-o", str(made)]
    assert run([*release, "--table", "rides"]) == 0
    assert os.path.exists(made)
    (population,) = dph.Ledger(ledger).accounts()
    assert population == "postgresql:///postgres"
    assert run(release) == 2
    assert run([*release, "--table", "nowhere"]) == 3
