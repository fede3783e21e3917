"""Errors of the embedded engine tell what is wrong and where, and nothing of anybody's row."""

from __future__ import annotations

import gzip
import json
import re
import traceback
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import dpheatmap as dph
from dpheatmap.curator.engines.duckdb import quietly, readable
from dpheatmap.errors import BrokenRecord, DataError, DpheatmapError
from helpers.tables import outcome, people

UNIT = dph.Domain.unit(4)
COLUMNS = {"user": "user", "x": "x", "y": "y"}

SECRET = "mallory.secret"


def chain(error: BaseException | None) -> str:
    """Everything that an error carries along: its text, its causes and contexts, its printed traceback."""
    seen = ""
    while error is not None:
        seen += f"{error}{error!r}{error.args}" + "".join(traceback.format_exception(error))
        seen += chain(error.__cause__)
        error = error.__context__
    return seen


def refused(events: Any, **options: Any) -> str:
    with pytest.raises(DpheatmapError) as caught:
        dph.aggregate(events, UNIT, **{**COLUMNS, **options})
    told = chain(caught.value)
    assert "mallory" not in told
    assert "secret" not in told
    assert "4.321" not in told
    return str(caught.value)


def broken(events: Any) -> tuple[str, str]:
    """What is said of a broken line, and what only the data holder's terminal is told."""
    message = refused(events)
    with pytest.raises(BrokenRecord) as caught:
        dph.aggregate(events, UNIT, **COLUMNS)  # type: ignore[arg-type]
    said = message.partition("' is broken")[2].replace("2 MiB", "").replace("UTF-8", "")
    assert not any(character.isdigit() for character in said)
    return message, caught.value.place


BROKEN_LINES = {
    "too few": f"{SECRET},4.321",
    "too many": f"{SECRET},4.321,0.1,0.1",
    "open quote": f'"{SECRET},4.321,0.1',
    "text after a quote": f'"{SECRET}"x,4.321,0.1',
    "a path": f"file: {SECRET},4.321",
    "a quoted path": f"file '{SECRET}',4.321",
    "a line number": f"{SECRET} CSV Error on Line: 4321,4.321",
    "a setting": f'"x\n  file = {SECRET}\ny",4.321',
}


@pytest.mark.parametrize("line", BROKEN_LINES.values(), ids=BROKEN_LINES.keys())
def test_a_broken_line_is_given_by_its_place_alone(line: str, tmp_path: Path) -> None:
    path = tmp_path / "trips.csv"
    path.write_text("user,x,y\na,0.1,0.1\nb,0.1,0.1\n" + line + "\nc,0.1,0.1\n")
    message, place = broken(path)
    assert message.startswith("A line of 'trips.csv' is broken: a quote does not close on it, or it has more or fewer")
    assert "as Parquet" in message
    assert "--bad-lines skip" in message
    assert place.startswith("Line 4 of trips.csv has ")


def test_a_broken_line_deep_in_many_files(tmp_path: Path) -> None:
    for k in range(3):
        rows = [f"u{i},0.1,0.1" for i in range(50_000)]
        if k == 1:
            rows[43_210] = f"{SECRET},0.1"
        (tmp_path / f"part{k}.csv").write_text("\n".join(["user,x,y", *rows, ""]))
    message, place = broken(f"{tmp_path}/*.csv")
    assert message.startswith("A line of 'part1.csv' is broken: ")
    assert place.startswith("Line 43212 of part1.csv has more or fewer fields")


def test_bytes_that_are_no_text(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes(b"user,x,y\n" + SECRET.encode() + b"\xff\xfe,4.321,0.1\n")
    assert "not UTF-8" in refused(tmp_path / "t.csv")


def test_a_word_for_a_number_takes_its_own_row_out(tmp_path: Path) -> None:
    """Whatever the engine's optimizers would make of reading numbers from text: to stop would tell of the word."""
    (tmp_path / "t.csv").write_text("user,x,y\na,0.5,0.5\nb,word,0.5\nc,0.5,\nd,1e999,0.5\n")
    counters = outcome(tmp_path / "t.csv", UNIT)[1]
    assert (counters["inside"], counters["invalid"], counters["people"]) == (1, 3, 1)


def test_broken_parquet_and_json(tmp_path: Path) -> None:
    path = tmp_path / "trips.parquet"
    pq.write_table(pa.table({"user": [SECRET] * 9, "x": [4.321] * 9, "y": [0.1] * 9}), path)
    content = path.read_bytes()
    for left in (0, 10, len(content) // 2, len(content) - 1):
        path.write_bytes(content[:left])
        assert refused(path).startswith("Reading trips.parquet failed")
    for k, text in enumerate(
        [f'{{"user": "{SECRET}", "x": 4.321\n', f'[{{"user": "{SECRET}"}}, oops]', f'"{SECRET}" 4.321 }}{{']
    ):
        (tmp_path / f"t{k}.json").write_text(text)
        message, place = broken(tmp_path / f"t{k}.json")
        assert message.startswith(f"A line of 't{k}.json' is broken: it is not one JSON object")
        assert place == f"Line 1 of t{k}.json is not one JSON object."


def test_compressed_nonsense(tmp_path: Path) -> None:
    (tmp_path / "t.csv.gz").write_bytes(gzip.compress(f"user,x,y\n{SECRET},4.321,0.1\n".encode() * 99)[:60])
    assert "t.csv.gz" in refused(tmp_path / "t.csv.gz")
    (tmp_path / "u.csv.gz").write_bytes(f"user,x,y\n{SECRET},4.321,0.1\n".encode())
    assert "u.csv.gz" in refused(tmp_path / "u.csv.gz")


def test_a_file_without_a_header_is_not_read_out(tmp_path: Path) -> None:
    """Its first row would be taken for names, and names are listed when one is missing."""
    (tmp_path / "t.csv").write_text(f"{SECRET},4.321,0.1\nbob,0.2,0.2\n")
    assert "no coordinate column 'x'" in refused(tmp_path / "t.csv")
    assert "no user column 'mallory.secre'" not in refused(tmp_path / "t.csv", x="4.3", y="0.1")
    (tmp_path / "words.csv").write_text(f"{SECRET},here,there\nbob,0.2,0.2\n")
    assert "no coordinate column 'x'" in refused(tmp_path / "words.csv", where="z = 1")
    (tmp_path / "t.csv").write_text(f"user,x,y\n{SECRET},4.321,0.1\n")
    assert "where names the column 'z', and the table has user, x, y" in refused(tmp_path / "t.csv", where="z = 1")


def test_the_keys_of_json_are_people_s_and_nothing_tells_which_there_are(tmp_path: Path) -> None:
    """A key that nobody has is a column of nulls, in each role and in where."""
    path = tmp_path / "t.jsonl"
    path.write_text(json.dumps({SECRET: {"x": 4.321}, "user": "ann", "x": 0.1, "y": 0.1}) + "\n")
    assert people(path) == 1
    for options in ({"user": "nobody"}, {"x": "X"}, {"weight": "w"}, {"where": "z = 1"}, {"where": "z IS NOT NULL"}):
        assert people(path, **options) == 0


def test_types_are_told_without_their_values() -> None:
    frame = pd.DataFrame({"user": pd.Categorical([SECRET]), "x": 4.321, "y": 0.1})
    for role in ("x", "weight"):  # categories of text are text, from which numbers are read
        report = dph.aggregate(frame, UNIT, **{**COLUMNS, role: "user"}).report  # type: ignore[arg-type]
        assert report is not None
        assert report.invalid == 1
    assert "'user' is of type TIMESTAMP_NS, not a number" in refused(
        frame.assign(user=pd.Categorical(np.array(["2024-06-03"], dtype="datetime64[ns]"))), x="user", user="y"
    )
    frame = frame.assign(user=pd.Categorical(["MAPS"]), x=0.1)
    assert dph.aggregate(frame, UNIT, **COLUMNS).sums[-1] == 2**30  # type: ignore[arg-type]


def test_a_relation_that_fails_on_the_way() -> None:
    failing = duckdb.connect().sql(f"SELECT error('{SECRET}') AS user, 4.321 AS x, 0.1 AS y FROM range(3)")
    assert refused(failing).startswith("Reading the relation failed (InvalidInput)")
    casting = duckdb.connect().sql(f"SELECT i::INTEGER AS user, 4.321 AS x, 0.1 AS y FROM (VALUES ('{SECRET}')) t(i)")
    assert refused(casting).startswith("Reading the relation failed (Conversion)")


@pytest.mark.parametrize(
    "kind",
    [duckdb.OutOfMemoryException, duckdb.ConversionException, duckdb.BinderException, duckdb.Error, duckdb.IOException],
)
@pytest.mark.parametrize(
    "text", [SECRET, f"CSV Error on Line: 4.321 {SECRET}", f"x\n  file = {SECRET}", f"file: '{SECRET}'"]
)
def test_nothing_of_an_engines_error_is_kept(kind: type[duckdb.Error], text: str) -> None:
    assert not {"mallory", "secret", "4.321"} & set(re.findall(r"[\w.]+", str(readable(kind(text), "t.csv"))))

    def fail() -> None:
        raise kind(text)

    with pytest.raises(DataError) as caught:
        quietly(fail)
    assert SECRET not in chain(caught.value)
    assert caught.value.__context__ is None


def test_ctrl_c_inside_the_engine_is_ctrl_c() -> None:
    def interrupted() -> None:
        raise RuntimeError("Query interrupted")

    def broken() -> None:
        raise RuntimeError("something else")

    with pytest.raises(KeyboardInterrupt):
        quietly(interrupted)
    with pytest.raises(RuntimeError, match="something else"):
        quietly(broken)
