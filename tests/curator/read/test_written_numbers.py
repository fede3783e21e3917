"""Numbers as people write them: by a public choice, each text by itself, and never guessed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import dpheatmap as dph
from dpheatmap._util.duckdb_connection import connect
from dpheatmap.cli import run
from dpheatmap.curator import inspect_table
from dpheatmap.curator.read.written_numbers import number_of
from dpheatmap.errors import ParameterError
from helpers.tables import as_csv, outcome

READ: dict[tuple[str, str], dict[str, float | None]] = {
    ("comma", "x"): {
        "7,45": 7.45, "-7,45": -7.45, "2.600.000,5": 2600000.5, "2 600 000,5": 2600000.5, "1'234,5": 1234.5, "7": 7.0,
        "7.450": 7450.0, "2\u202f600\u00a0000": 2600000.0, "7.45": None, "7,4,5": None, "1.23.456,7": None, "": None,
        "7,": None, ",5": None, "7,45N": None, "1e5": None, "nan": None, "7,45 x": None, " 7,45 ": 7.45, "--7": None,
    },
    ("thousands", "x"): {
        "2,600,000.5": 2600000.5, "7.45": 7.45, "-1,234": -1234.0, "1 234.5": 1234.5, "7,45": None, "12,34,567": None,
        "1,234,56": None, "": None, "inf": None, "\u0667": None,
    },
    ("degrees", "y"): {
        "40.7N": 40.7, "40.7 s": -40.7, "N 40.7": 40.7,
        "40°30'N": 40.5, "40° 30' 36\" S": -40.51, "40°30\u203236\u2033N": 40.51,
        "40°30'36''N": 40.51, "40º30\u2019N": 40.5, "40.7": None, "40.7E": None, "N40.7N": None, "40°60'N": None,
        "40°30'60\"N": None, "-40.7N": None, "4000N": None, "N": None, "40N x": None, "40 30N": None,
    },
    ("degrees", "x"): {"73°59'W": -(73 + 59 / 60), "7.5E": 7.5, "W73.9": -73.9, "73.9N": None, "7,5E": None},
}  # fmt: skip


@pytest.mark.parametrize(("way", "axis"), READ)
def test_a_text_is_read_as_a_whole_or_not_at_all(way: str, axis: str) -> None:
    sql = f"SELECT {number_of('t', way, axis)} FROM (SELECT CAST(? AS VARCHAR) AS t)"
    with connect() as con:
        found = {text: con.execute(sql, [text]).fetchall()[0][0] for text in READ[way, axis]}
    assert found == pytest.approx(READ[way, axis])


def test_without_the_choice_such_values_are_invalid(tmp_path: Path) -> None:
    columns: dict[str, list[Any]] = {"user": ["a", "b", "c"], "x": ["0,1", "0.1", "x"], "y": ["0,1", "0.1", "0,1"]}
    path = as_csv(columns, tmp_path / "t.csv", ";")
    assert outcome(path)[1]["people"] == 1
    cells, counters = outcome(path, numbers="comma")
    assert (counters["people"], counters["invalid"]) == (1, 2)
    assert list(cells) == [(0, 0)]
    with pytest.raises(ParameterError, match="numbers must be one of 'comma', 'thousands', 'degrees'"):
        outcome(path, numbers="guess")


def test_numbers_that_are_numbers_are_left_as_they_are(tmp_path: Path) -> None:
    frame = pd.DataFrame({"user": ["a"], "x": [0.1], "y": ["0,1"]})
    assert outcome(frame, numbers="comma")[1]["people"] == 1


@pytest.mark.parametrize("odd", ["9" * 300_000 + ",5", "0" * 200_000, "1.234" * 50_000, "40°" * 10_000, "\0", "é,5"])
@pytest.mark.parametrize("way", ["comma", "thousands", "degrees"])
def test_one_persons_text_changes_nobody_elses(odd: str, way: str, tmp_path: Path) -> None:
    good = {"comma": ("0,1", "0,1"), "thousands": ("0.1", "0.1"), "degrees": ("0.1E", "0.1N")}[way]
    before = outcome(as_csv({"user": ["a"], "x": [good[0]], "y": [good[1]]}, tmp_path / "a.csv"), numbers=way)
    columns: dict[str, list[Any]] = {"user": ["e", "a"], "x": [odd, good[0]], "y": [odd, good[1]]}
    after = outcome(as_csv(columns, tmp_path / "b.csv"), numbers=way)
    assert before[1]["people"] == 1
    assert after[1]["people"] in (1, 2)
    assert all(after[0][at] >= weight for at, weight in before[0].items())


@pytest.mark.parametrize(
    ("x", "y", "way"),
    [("7,45", "46,9", "comma"), ("2,600,000.5", "1,200,000", "thousands"), ("73°59'W", "40.7N", "degrees")],
)
def test_inspect_recognises_them_and_tells_only_the_data_holder(
    x: str, y: str, way: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = as_csv({"user": ["a", "b"], "lon": [x, x], "lat": [y, y]}, tmp_path / "t.csv")
    hints = inspect_table(path, read_rows=True).private["hints"]
    assert any(f"--numbers {way}" in hint for hint in hints)
    assert all("73" not in hint for hint in hints)
    assert run(["inspect", str(path)]) == 0
    assert "--numbers" not in capsys.readouterr().out
    assert inspect_table(as_csv({"lon": ["7.45"], "lat": ["46.9"]}, path), read_rows=True).private["hints"] == []


def test_the_command_takes_it(tmp_path: Path) -> None:
    path = as_csv({"user": ["a", "b"], "lon": ["7,45", "7,5"], "lat": ["46,9", "46,9"]}, tmp_path / "t.csv")
    made = ["--epsilon", "1", "--no-ledger", "-o", str(tmp_path / "r.dph.parquet"), "--private-report"]
    place = ["--bbox=7,46,8,48", "--depth", "8"]
    columns = ["--user", "user", "--x", "lon", "--y", "lat", "--numbers", "comma"]
    assert run(["release", str(path), *columns, *place, *made, str(tmp_path / "p.json")]) == 0
    assert '"people": 2' in (tmp_path / "p.json").read_text()
    assert dph.load(tmp_path / "r.dph.parquet").epsilon == 1
