"""Files and tables that don't fit: what is missing, unknown, unlike or unnamed is refused in words."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from dpheatmap.errors import DataError, PrivacyRefusal
from helpers.tables import ROWS, as_csv, as_parquet, outcome, people


def test_missing_and_unknown_files(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"No file is called '.*/none.csv' or matches it"):
        people(tmp_path / "none.csv")
    for none in (f"{tmp_path}/*.parquet", ""):
        with pytest.raises(DataError, match="No file is called"):
            people(none)
    with pytest.raises(DataError, match="There is no file in the folder"):
        people(tmp_path)
    for name in ("t.ods", "t", "t.gz", "t.csv.bz2"):
        (tmp_path / name).write_text("user,x,y\n")
        with pytest.raises(DataError, match=f"'{name}' has no known ending. Use one of .csv"):
            people(tmp_path / name)
    with pytest.raises(DataError, match="has no known ending"):
        people(tmp_path)


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("bad_lines", ["stop", "skip"])
def test_utf_16_is_told(tmp_path: Path, encoding: str, bad_lines: str) -> None:
    (tmp_path / "t.csv").write_text("\ufeffuser,x,y\nann,0.1,0.2\n", encoding=encoding)
    with pytest.raises(DataError, match=r"'t\.csv' is UTF-16"):
        people(tmp_path / "t.csv", bad_lines=bad_lines)


def test_names_that_are_no_text_are_told(tmp_path: Path) -> None:
    path = os.fsencode(tmp_path) + b"/caf\xe9.csv"
    try:
        with open(path, "w") as file:
            file.write("user,x,y\nann,0.1,0.2\n")
    except OSError:
        pytest.skip("this file system has names of text only")
    with pytest.raises(DataError, match="is not UTF-8, or this terminal is not"):
        people(os.fsdecode(path))


@pytest.mark.parametrize("events", [None, 5, [1, 2], object(), {"user": 1}])
def test_what_is_no_table_is_refused(events: Any) -> None:
    with pytest.raises(DataError, match=f"A {type(events).__name__} can't be read"):
        people(events)


def test_a_glob_of_different_formats(tmp_path: Path) -> None:
    as_csv(ROWS, tmp_path / "a.csv")
    as_parquet(ROWS, tmp_path / "a.parquet")
    with pytest.raises(DataError, match="of different formats"):
        people(f"{tmp_path}/a.*")


def test_pipes_are_refused_before_they_are_opened(tmp_path: Path) -> None:
    """Opening one would wait for its writer, and the second reading would find it empty."""
    os.mkfifo(tmp_path / "trips.csv")
    for pipe in ("-", str(tmp_path / "trips.csv"), "/dev/null"):
        with pytest.raises(DataError, match=r"is a pipe or a device, .* Write it to a file first"):
            people(pipe)


def test_files_of_a_glob_must_be_alike(tmp_path: Path) -> None:
    """Columns in another order would make ids of coordinates, and another type could make one id of two."""
    as_csv({"user": ["a"], "x": [0.1], "y": [0.1]}, tmp_path / "a.csv")
    as_csv({"x": [0.1], "y": [0.1], "user": ["a"]}, tmp_path / "b.csv")
    as_parquet({"user": [1], "x": [0.1], "y": [0.1]}, tmp_path / "a.parquet")
    as_parquet({"user": [1.2, 1.4], "x": [0.1, 0.1], "y": [0.1, 0.1]}, tmp_path / "b.parquet")
    with pytest.raises(DataError, match=r"'b\.csv' does not have the columns of 'a\.csv'"):
        people(f"{tmp_path}/*.csv")
    # A file of Parquet may be one person's. Its schema refuses nobody: floats are nobody's ids.
    _, counters = outcome(f"{tmp_path}/*.parquet")
    assert (counters["people"], counters["without_person"]) == (1, 2)
    # Parquet is read by name, so an order of its own does no harm.
    as_parquet({"y": [0.1], "user": [2], "x": [0.9]}, tmp_path / "b.parquet")
    assert outcome(f"{tmp_path}/*.parquet")[0] == {(0, 0): 2**30, (7, 0): 2**30}


@pytest.mark.parametrize(
    ("header", "words"),
    [("", "has no header line"), ("\n", "has no header line"), ("user,x,x\n", "empty or repeated names"),
     ("user,x,X\n", "empty or repeated names"), ("user,,y\n", "empty or repeated names")],
)  # fmt: skip
def test_a_csv_needs_a_header(header: str, words: str, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(header + ("a,0.1,0.1\n" if header.strip() else ""))
    with pytest.raises(DataError, match=words):
        people(tmp_path / "t.csv")


def test_pandas_columns_of_the_same_name() -> None:
    frame = pd.DataFrame([["a", "b", 0.1, 0.1]], columns=["user", "USER", "x", "y"])
    for names in (["user", "USER", "x", "y"], ["user", "user", "x", "y"]):
        with pytest.raises(DataError, match="equal or differ in case alone"):
            people(frame.set_axis(names, axis=1))


def test_missing_columns_are_named_with_a_hint(tmp_path: Path) -> None:
    path = as_csv(ROWS, tmp_path / "trips.csv")
    with pytest.raises(
        PrivacyRefusal, match=r"There is no user column 'usr' in trips.csv, which has user, x, y, n\. Did you"
    ):
        people(path, user="usr")
    with pytest.raises(DataError, match="no coordinate column 'longitude'"):
        people(path, x="longitude")
    with pytest.raises(DataError, match="no weight column 'visits'"):
        people(path, weight="visits")


def test_people_must_be_named_or_denied(tmp_path: Path) -> None:
    path = as_csv(ROWS, tmp_path / "trips.csv")
    with pytest.raises(PrivacyRefusal, match="No user column was named"):
        people(path, user=None)
    with pytest.raises(PrivacyRefusal, match="Choose one"):
        people(path, each_row_is_a_person=True)
