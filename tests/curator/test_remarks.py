"""Remarks for the data holder: on a terminal after payment, and nowhere else; doubts about columns from names alone."""

from __future__ import annotations

import io
import json
import os
import pty
import subprocess
import sys
import warnings
from functools import partial
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import dpheatmap as dph
from dpheatmap.cli import run
from dpheatmap.curator.read.reading import Reading
from dpheatmap.curator.remarks import doubts_of_columns, remark_on
from dpheatmap.errors import PlaceWarning

BOX = dph.Domain.bbox(7.3, 46.9, 7.5, 47.0, depth=12)
COLUMNS: dict[str, Any] = {"user": "u", "x": "lon", "y": "lat"}


def somewhere(x: float, y: float) -> pa.Table:
    return pa.table({"u": ["a", "b"], "lon": [x, x], "lat": [y, y]})


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("kind", ["terminal", "pipe"])
@pytest.mark.parametrize("inside", [True, False])
def test_nobody_on_the_map_is_told_on_a_terminal_alone(
    kind: str, inside: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    stderr = Terminal() if kind == "terminal" else io.StringIO()
    monkeypatch.setattr(sys, "stderr", stderr)
    table = somewhere(7.4 if inside else 20.0, 46.95)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        dph.release(table, BOX, epsilon=1, **COLUMNS)
        dph.release_images(
            table.append_column("i", pa.array(["p", "p"])), BOX, image="i", images=["p"], epsilon=1, **COLUMNS
        )
    told = stderr.getvalue().count("Nobody is on this map.")
    assert told == (2 if kind == "terminal" and not inside else 0)


def test_who_is_shown_the_report_is_not_told_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    stderr = Terminal()
    monkeypatch.setattr(sys, "stderr", stderr)
    seen: list[Any] = []
    dph.release(somewhere(20.0, 46.95), BOX, epsilon=1, seen=seen.append, **COLUMNS)
    assert stderr.getvalue() == ""
    assert "is the place another one?" in remark_on(seen[0])


def test_it_is_told_after_payment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A refused charge tells nothing about people."""
    stderr = Terminal()
    monkeypatch.setattr(sys, "stderr", stderr)
    ledger = dph.Ledger(tmp_path / "l.ledger")
    ledger.limit("riders", 1)
    ledger.charge("riders", 1)
    with pytest.raises(dph.errors.PrivacyRefusal):
        dph.release(somewhere(20.0, 46.95), BOX, epsilon=1, ledger=ledger, population="riders", **COLUMNS)
    assert stderr.getvalue() == ""


def test_the_private_report_has_the_remark_and_nothing_else_has(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    pq.write_table(somewhere(20.0, 46.95), "t.parquet")
    command = [sys.executable, "-m", "dpheatmap", "release", "t.parquet", "--epsilon", "1", "--user", "u", "--x", "lon"]
    command += ["--y", "lat", "--bbox=7.3,46.9,7.5,47.0", "--depth", "12", "--json", "--private-report", "r.json"]
    command += ["-o", "m.dph.parquet", "-o", "m.html", "-o", "m.geojson", "-o", "m.png"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "Nobody" not in done.stdout + done.stderr
    assert "Nobody is on this map." in json.loads(Path("r.json").read_text())["remark"]
    for path in Path().glob("m.*"):
        assert b"Nobody is on" not in path.read_bytes()


def test_a_real_terminal_is_told(tmp_path: Path) -> None:
    pq.write_table(somewhere(20.0, 46.95), tmp_path / "t.parquet")
    code = (
        "import dpheatmap as dph\n"
        "dph.release('t.parquet', dph.Domain.bbox(7.3, 46.9, 7.5, 47.0), epsilon=1, user='u', x='lon', y='lat')"
    )
    main, other = pty.openpty()
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path, stderr=other, check=True)
    os.close(other)
    assert b"Nobody is on this map." in os.read(main, 10_000)


# Doubts about columns


@pytest.mark.parametrize(
    ("x", "y", "kind", "domain", "doubt"),
    [
        ("lon", "lat", "DOUBLE", BOX, ""),
        ("x", "y", "DOUBLE", BOX, ""),
        ("lat", "lon", "DOUBLE", BOX, "swapped"),
        ("Latitude", "Longitude", "VARCHAR", BOX, "swapped"),
        ("easting", "northing", "DOUBLE", BOX, "crs"),
        ("x_2056", "y_2056", "DOUBLE", BOX, "crs"),
        ("lon", "lat", "INTEGER", BOX, "whole numbers"),
        ("lon", "lat", "DOUBLE", dph.Domain.image(64, 48), "look like degrees"),
        ("x", "y", "INTEGER", dph.Domain.image(64, 48), ""),
    ],
)
def test_doubts_follow_from_names_and_types(x: str, y: str, kind: str, domain: dph.Domain, doubt: str) -> None:
    found = doubts_of_columns({x: kind, y: kind}, Reading(user="u", x=x, y=y), domain)
    assert (doubt in found[0]) if doubt else found == []
    assert doubts_of_columns({x: kind, y: kind}, Reading(user="u", x=x, y=y, crs="EPSG:2056"), domain) == []


def test_python_warns_of_columns_and_the_command_line_tells_in_a_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = pa.table({"u": ["a"], "lat": [46.95], "lon": [7.4]})
    with pytest.warns(PlaceWarning, match="swapped"):
        dph.release(table, BOX, epsilon=1, user="u", x="lat", y="lon")
    pq.write_table(table, tmp_path / "t.parquet")
    options = ["--epsilon", "1", "--user", "u", "--x", "lat", "--y", "lon", "--bbox=7.3,46.9,7.5,47.0", "--depth", "12"]
    assert run(["release", str(tmp_path / "t.parquet"), *options, "-o", str(tmp_path / "m.png")]) == 0
    said = capsys.readouterr().err
    assert "Check the place: x is the longitude, and its column is called 'lat'" in said
    assert "PlaceWarning" not in said
    assert "The largest town in it is Bern" in said


def test_a_warning_is_about_the_line_that_called_the_package() -> None:
    table = pa.table({"u": ["a"], "lat": [46.95], "lon": [7.4]})
    for call in (dph.aggregate, partial(dph.release, epsilon=1)):
        with pytest.warns(PlaceWarning, match="swapped") as told:
            call(table, BOX, user="u", x="lat", y="lon")
        assert [Path(warning.filename).name for warning in told] == ["test_remarks.py"]


@pytest.mark.parametrize("kind", ["pandas", "dictionary", "relation", "csv", "json"])
def test_types_that_one_row_may_decide_raise_no_doubts(kind: str, tmp_path: Path) -> None:
    """A missing number makes floats of a column of whole ones, and the doubt would tell of it."""
    frame = pd.DataFrame({"u": ["a", "b"], "lon": [7, 8], "lat": [46, 47]})
    frame.to_csv(tmp_path / "t.csv", index=False)
    frame.to_json(tmp_path / "t.json", orient="records", lines=True)
    with duckdb.connect() as con, warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always", PlaceWarning)
        events = {
            "pandas": frame, "dictionary": {name: frame[name].to_numpy() for name in frame},
            "relation": con.sql("SELECT 'a' AS u, 7 AS lon, 46 AS lat"), "csv": tmp_path / "t.csv",
            "json": tmp_path / "t.json",
        }  # fmt: skip
        dph.aggregate(events[kind], BOX, **COLUMNS)
    assert told == []


def test_whole_numbers_in_a_declared_schema_raise_doubts(tmp_path: Path) -> None:
    pq.write_table(pa.table({"u": ["a"], "lon": [7], "lat": [46]}), tmp_path / "t.parquet")
    with pytest.warns(PlaceWarning, match="whole numbers"):
        dph.aggregate(tmp_path / "t.parquet", BOX, **COLUMNS)


def test_doubts_don_t_depend_on_rows() -> None:
    reading = Reading(user="u", x="lon", y="lat")
    tables = [somewhere(7.4, 46.95), somewhere(np.nan, 1e9), somewhere(7.4, 46.95).slice(0, 0)]
    assert len({str(doubts_of_columns(dict.fromkeys(t.column_names, "DOUBLE"), reading, BOX)) for t in tables}) == 1
