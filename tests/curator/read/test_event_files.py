"""Files as they come: folders of partitions, thousands of files, points in one column, broken lines, object stores."""

from __future__ import annotations

import json
import struct
import subprocess
import sys
from pathlib import Path
from typing import Any

import geopandas
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import shapely
from hypothesis import given, settings
from hypothesis import strategies as st

import dpheatmap as dph
from dpheatmap._util.duckdb_connection import connect
from dpheatmap.curator.engines.duckdb import connection
from dpheatmap.curator.read.event_files import open_files
from dpheatmap.curator.read.geometry import coordinates
from dpheatmap.errors import BrokenRecord, DataError, DpheatmapError, ParameterError, PrivacyRefusal
from helpers.tables import Columns, W, as_csv, as_json, as_parquet, outcome, people

# Folders of partitions


def in_folders(folder: Path, kind: str = "parquet") -> Path:
    """Ann is there on two days, Bob on the second."""
    write = {"parquet": as_parquet, "csv": as_csv}[kind]
    for day, users in (("2024-06-01", ["ann"]), ("2024-06-02", ["ann", "bob"])):
        (folder / f"day={day}" / "hour=07").mkdir(parents=True)
        columns: Columns = {"user": users, "x": [0.1] * len(users), "y": [0.1] * len(users)}
        write(columns, folder / f"day={day}" / "hour=07" / f"part.{kind}")
    (folder / "_SUCCESS").write_text("")
    (folder / "day=2024-06-01" / ".part.crc").write_text("x")
    return folder


@pytest.mark.parametrize("kind", ["parquet", "csv"])
def test_names_of_folders_are_columns(kind: str, tmp_path: Path) -> None:
    in_folders(tmp_path, kind)
    for events in (tmp_path, str(tmp_path), f"{tmp_path}/*/*/part.{kind}", f"{tmp_path}/**/*.{kind}"):
        assert outcome(events)[0] == {(0, 0): 2 * W}
        assert outcome(events, where="day = '2024-06-02'")[0] == {(0, 0): 2 * W}
        assert outcome(events, where="day < '2024-06-02' AND hour = '07'")[0] == {(0, 0): W}
        assert outcome(events, where="day = '2023-01-01'")[0] == {}
    with pytest.raises(DataError, match="day"):
        outcome(tmp_path / "day=2024-06-02" / "hour=07" / f"part.{kind}", where="day = '2024-06-02'")


def test_the_value_of_a_folder_is_text(tmp_path: Path) -> None:
    in_folders(tmp_path)
    assert outcome(tmp_path, where="hour = '7'")[0] == {}


def test_a_folder_is_never_a_person_and_never_hides_a_column(tmp_path: Path) -> None:
    in_folders(tmp_path)
    with pytest.raises(PrivacyRefusal, match="'day' stands in the names of folders"):
        people(tmp_path, user="day")
    for user in ("7", "8"):
        (tmp_path / "b" / f"user={user}").mkdir(parents=True)
        as_parquet({"user": ["u", "v"], "x": [0.1] * 2, "y": [0.1] * 2}, tmp_path / "b" / f"user={user}" / "p.parquet")
    assert people(tmp_path / "b") == 2, "the file's own users, not the folders'"


def test_files_with_other_folders_have_none_in_common(tmp_path: Path) -> None:
    in_folders(tmp_path)
    (tmp_path / "late").mkdir()
    as_parquet({"user": ["eve"], "x": [0.1], "y": [0.1]}, tmp_path / "late" / "p.parquet")
    assert people(tmp_path) == 3
    with pytest.raises(DataError, match="day"):
        people(tmp_path, where="day = '2024-06-02'")


# Thousands of files

MANY = """
import resource, sys, dpheatmap as dph
resource.setrlimit(resource.RLIMIT_NOFILE, (400, 400))
counts = dph.aggregate(sys.argv[1], dph.Domain.unit(3), user="user", x="x", y="y")
print(counts.report.people, counts.total)
"""


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_two_thousand_files_need_few_open_ones(ending: str, tmp_path: Path) -> None:
    """One hundred people, each in twenty files; a process may have 400 files open."""
    for k in range(2000):
        path = tmp_path / f"part{k}.{ending}"
        if ending == "csv":
            path.write_text(f"user,x,y\nu{k % 100},0.1,0.1\n")
        else:
            pq.write_table(pa.table({"user": [f"u{k % 100}"], "x": [0.1], "y": [0.1]}), path)
    command = [sys.executable, "-c", MANY, f"{tmp_path}/part*.{ending}"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.stdout == f"100 {100 * (W // 20 * 20)}\n", done.stderr


# Points in one column

BOX = dph.Domain.bbox(-20, -60, 20, 60, depth=9)
POINTS = [shapely.Point(7.4, 46.9), shapely.Point(-7.4e-5, -46.95), shapely.Point(1, 2, 3)]
OTHERS = [None, shapely.Point(), shapely.LineString([(1, 2), (3, 4)]), shapely.MultiPoint([(1, 2)])]


def geoparquet(path: Path, crs: Any = 4326, **options: Any) -> Path:
    points = POINTS if options else [*POINTS, *OTHERS]
    frame = geopandas.GeoDataFrame({"user": [str(k) for k in range(len(points))]}, geometry=points, crs=crs)
    frame.rename_geometry("place").to_parquet(path, **options)
    return path


def test_points_are_the_coordinates(tmp_path: Path) -> None:
    plain = as_parquet(
        {"user": ["0", "1", "2"], "x": [p.x for p in POINTS], "y": [p.y for p in POINTS]}, tmp_path / "plain.parquet"
    )
    expected, _ = outcome(plain, BOX)
    path = geoparquet(tmp_path / "points.parquet")
    for options in ({}, {"geometry": "place"}):
        cells, counters = outcome(path, BOX, x=None, y=None, **options)
        assert cells == expected
        assert counters["invalid"] == len(OTHERS), "no point, no coordinates"
    native = geoparquet(tmp_path / "native.parquet", geometry_encoding="geoarrow")
    assert outcome(native, BOX, x=None, y=None)[0] == expected
    relation = connect().sql(f"SELECT * FROM '{path}'")
    assert outcome(relation, BOX, x=None, y=None)[0] == expected


KINDS_OF_POINTS = [1, 1001, 2001, 3001, 0x80000001, 0x40000001, 0xC0000001]
OTHER_KINDS = [0, 2, 3, 4, 1000, 1002, 2000, 2002, 3000, 3002, 0x20000001, 0x80000002]


@settings(deadline=None, max_examples=12)
@given(st.lists(st.tuples(st.floats(width=64), st.floats(width=64)), min_size=1, max_size=5), st.sampled_from("<>"))
def test_every_float_is_read_bit_by_bit(points: list[tuple[float, float]], order: str) -> None:
    def blobs(kinds: list[int]) -> list[bytes]:
        starts = [struct.pack(f"{order}BI", order == "<", kind) for kind in kinds]
        return [start + struct.pack(f"{order}dd", *point) for start in starts for point in points]

    good, bad = blobs(KINDS_OF_POINTS), [*blobs(OTHER_KINDS), b"", b"\xff" * 21, None]
    short = [good[0][:5], good[0][:-1]]
    x, y = coordinates("w", "BLOB") or ("", "")
    with connect() as con:
        con.register("t", pa.table({"w": [*good, *bad, *short]}))
        found = con.execute(f"SELECT {x} AS x, {y} AS y FROM t").fetchall()
    bits = [struct.pack("dd", *row) for row in found[: len(good)]]
    assert bits == [struct.pack("dd", *point) for point in points] * len(KINDS_OF_POINTS)
    assert found[len(good) :] == [(None, None)] * len(bad + short)


def test_points_that_are_not_in_degrees_are_refused(tmp_path: Path) -> None:
    mercator = geoparquet(tmp_path / "m.parquet", crs=3857)
    with pytest.raises(DataError, match=r"'place' of m\.parquet are in the system 'WGS 84 / Pseudo-Mercator'"):
        outcome(mercator, BOX, x=None, y=None)
    assert outcome(mercator, dph.Domain.image(10, 50), x=None, y=None)[0], "of an image, no system is asked for"
    rotated = "+proj=ob_tran +o_proj=longlat +o_lon_p=0 +o_lat_p=39.25 +lon_0=18 +type=crs"  # degrees of another pole
    for system in (4807, rotated):  # the former in gradians, from Paris
        with pytest.raises(DataError, match=r"'place' of o\.parquet are in the system"):
            outcome(geoparquet(tmp_path / "o.parquet", crs=system), BOX, x=None, y=None)
    unknown = geoparquet(tmp_path / "u.parquet", crs=None)
    with pytest.raises(DataError, match="in an unknown system"):
        outcome(unknown, BOX, x=None, y=None, geometry="place")


def test_each_file_says_for_itself_where_its_points_are(tmp_path: Path) -> None:
    """Where each person has a file, one in another system is that person's alone: its points are invalid."""
    alone, _ = outcome(geoparquet(tmp_path / "a.parquet"), BOX, x=None, y=None)
    geoparquet(tmp_path / "b.parquet", crs=3857)
    cells, counters = outcome(tmp_path, BOX, x=None, y=None)
    assert cells == alone
    assert counters["invalid"] == len(OTHERS) + len([*POINTS, *OTHERS])
    (tmp_path / "a.parquet").unlink()
    with pytest.raises(DataError, match="are in the system"):
        outcome(tmp_path, BOX, x=None, y=None)


@pytest.mark.parametrize("metadata", [b"", b"{", b"[]", b"{}", b'{"primary_column": 3, "columns": []}'])
def test_broken_metadata_is_no_metadata(metadata: bytes, tmp_path: Path) -> None:
    table = pa.table({"user": ["a"], "place": [shapely.to_wkb(POINTS[0])]}).replace_schema_metadata({"geo": metadata})
    pq.write_table(table, tmp_path / "t.parquet")
    with pytest.raises(ParameterError, match="is not GeoParquet"):
        outcome(tmp_path / "t.parquet", BOX, x=None, y=None)
    assert people(tmp_path / "t.parquet", domain=BOX, x=None, y=None, geometry="place") == 1


def test_what_names_the_coordinates(tmp_path: Path) -> None:
    path = as_csv({"user": ["a"], "x": [0.1], "y": [0.1]}, tmp_path / "t.csv")
    with pytest.raises(
        ParameterError, match=r"x and y must name columns; none was given, and t\.csv is not GeoParquet"
    ):
        outcome(path, x=None, y=None)
    with pytest.raises(ParameterError, match="y must name a column"):
        outcome(path, y=None)
    with pytest.raises(ParameterError, match="both were given"):
        outcome(path, geometry="place")
    with pytest.raises(DataError, match="no geometry column 'place'"):
        outcome(path, x=None, y=None, geometry="place")
    with pytest.raises(DataError, match="'user' is of a type that holds no points"):
        outcome(path, x=None, y=None, geometry="user")


# Broken lines

LINES = ["ann,0.1,0.1", '"bob ""b""",0.1,0.1', "cleo,0.9,0.1", ',0.1,"0.1"', '"",0.1,0.1', "dan,,0.1"]
BROKEN = ["eve,0.1", "eve,0.1,0.1,0.1", '"eve,0.1,0.1', 'e"ve,0.1,0.1', '"eve"x,0.1,0.1', 'eve,"0.1,0.1', '"eve""']


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_a_line_that_does_not_fit_is_left_out_alone(delimiter: str, newline: str, tmp_path: Path) -> None:
    """In particular one with an open quote, behind which a reader would swallow the next people's lines."""
    lines = [line for pair in zip(LINES, [*BROKEN[:5], ""], strict=True) for line in pair] + BROKEN[5:]
    path = tmp_path / "t.csv"
    path.write_text(newline.join(line.replace(",", delimiter) for line in ["user,x,y", *lines, *LINES[:1]]))
    whole = tmp_path / "whole.csv"
    whole.write_text("\n".join(["user,x,y", *LINES, *LINES[:1]]))
    assert outcome(path, bad_lines="skip") == outcome(whole) == outcome(whole, bad_lines="skip")
    counts = dph.aggregate(path, dph.Domain.unit(3), user="user", x="x", y="y", bad_lines="skip")
    assert counts.report is not None
    assert counts.report.broken_lines == len(BROKEN)


@settings(deadline=None, max_examples=12)
@given(st.lists(st.sampled_from([*LINES, *BROKEN, '"', '""', '"""', ",,", "x\x00,1,1"]), max_size=8), st.data())
def test_a_line_more_changes_no_other_row(lines: list[str], data: st.DataObject) -> None:
    """What a reader of quotes across lines breaks: one line more moves whole rows of other people."""
    import tempfile

    more = data.draw(st.sampled_from([*LINES, *BROKEN, '"']))
    at = data.draw(st.integers(0, len(lines)))
    with tempfile.TemporaryDirectory() as folder:
        found: list[dict[Any, int]] = []
        for table in (lines, [*lines[:at], more, *lines[at:]], [more]):
            path = Path(folder, f"{len(found)}.csv")
            path.write_text("\n".join(["user,x,y", *table]) + "\n")
            options: dict[str, Any] = {"user": None, "each_row_is_a_person": True, "bad_lines": "skip"}
            found.append(outcome(path, **options)[0])
    before, after, alone = found
    assert {cell: after.get(cell, 0) - before.get(cell, 0) for cell in {*before, *after}} == {
        **dict.fromkeys(before, 0),
        **alone,
    }


def test_bytes_that_are_no_text_are_left_out_and_counted(tmp_path: Path) -> None:
    rows = [b"u%d,0.1,0.1" % k for k in range(5000)]
    rows[4321] = b"\xff\xfe,0.1,0.1"
    (tmp_path / "t.csv").write_bytes(b"\n".join([b"user,x,y", *rows]))
    with pytest.raises(BrokenRecord, match=r"A line of 't\.csv' is broken") as caught:
        people(tmp_path / "t.csv")
    assert caught.value.place == "Line 4323 of t.csv is not UTF-8."
    counts = dph.aggregate(tmp_path / "t.csv", dph.Domain.unit(3), user="user", x="x", y="y", bad_lines="skip")
    assert counts.report is not None
    assert (counts.report.people, counts.report.broken_lines) == (4999, 1)


def test_behind_a_header_that_is_no_text_nothing_is_told(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes(b"us\xff,x,y\nmallory,secret,z\n")
    with pytest.raises(DpheatmapError) as caught:
        people(tmp_path / "t.csv", bad_lines="skip")
    assert "mallory" not in str(caught.value)


@pytest.mark.parametrize("bad_lines", ["stop", "skip"])
def test_the_header_of_a_large_file_is_its_first_line_on_any_number_of_cores(tmp_path: Path, bad_lines: str) -> None:
    """Read by several threads at once, every second time another line came first: false alarms none, misses 2^-30."""
    with (tmp_path / "t.csv").open("w") as file:
        file.write("user,x,y\n")
        for _ in range(5):
            file.write("bob,0.1,0.1\n" * 1_500_000)
    with connection() as (con, _):
        con.execute("SET threads = 8")
        for _ in range(30):
            table = open_files(con, str(tmp_path / "t.csv"), bad_lines)
            assert list(table.columns) == ["user", "x", "y"]


def test_what_has_no_lines_has_none_to_leave_out(tmp_path: Path) -> None:
    columns: dict[str, list[Any]] = {"user": ["a"], "x": [0.1], "y": [0.1]}
    frame = {name: np.array(values) for name, values in columns.items()}
    for events in (as_json(columns, tmp_path / "t.jsonl"), as_parquet(columns, tmp_path / "t.parquet"), frame):
        assert outcome(events, bad_lines="skip") == outcome(events)


def test_an_array_of_json_is_refused_with_the_way_out(tmp_path: Path) -> None:
    """On one line or on many: where its elements begin and end would depend on all that come before."""
    rows = [{"user": f"u{k}", "x": 0.1, "y": 0.1} for k in range(3)]
    for text in (json.dumps(rows, indent=1), "[" + ",\n".join(map(json.dumps, rows)) + "]"):
        (tmp_path / "t.json").write_text(text)
        with pytest.raises(BrokenRecord, match=r"one array becomes lines by: jq -c '\.\[\]' FILE"):
            people(tmp_path / "t.json")


def test_how_many_were_left_out_is_for_the_data_holder(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("\n".join(["user,x,y", "ann,0.1,0.1", "bob,0.1", "cleo"]))
    command = [sys.executable, "-m", "dpheatmap", "release", "t.csv", "--epsilon", "1", "--user", "user", "--x", "x"]
    command += ["--y", "y", "--unit", "--no-ledger", "-o", "r.dph.parquet", "--bad-lines", "skip", "--json"]
    done = subprocess.run(
        [*command, "--private-report", "p.json"], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    report = tmp_path / "p.json"
    assert json.loads(report.read_text())["broken_lines"] == 2
    assert "roken" not in done.stdout + done.stderr


# Object stores


@pytest.mark.parametrize("address", ["s3://bucket/trips/*.parquet", "gs://b/t.parquet", "https://example.org/t.csv"])
def test_object_stores_need_an_extension_that_is_never_fetched(address: str) -> None:
    with pytest.raises(DataError, match=r"needs DuckDB's extension httpfs, which is not installed.*INSTALL httpfs"):
        people(address)


# Frames of GeoPandas


def geo_frame(**columns: Any) -> geopandas.GeoDataFrame:
    points = [shapely.Point(7.4, 46.9), shapely.Point(7.4, 46.9), shapely.Point(9.0, 46.9), shapely.LineString(), None]
    return geopandas.GeoDataFrame(columns, geometry=points, crs=4326)


BERN = dph.Domain.bbox(7.3, 46.8, 7.5, 47.0)


def test_a_frame_of_geopandas_is_read_as_geoparquet_is(tmp_path: Path) -> None:
    frame = geo_frame(rider=["ann", "bob", "ann", "bob", "eve"], weight=[1, 2, 3, 4, 5])
    frame.to_parquet(tmp_path / "t.parquet")
    choices: list[dict[str, Any]] = [{}, {"geometry": "geometry"}, {"weight": "weight"}, {"where": "weight < 2"}]
    for chosen in choices:
        told, asked = (dph.aggregate(t, BERN, user="rider", **chosen) for t in (frame, tmp_path / "t.parquet"))
        assert np.array_equal(told.codes, asked.codes)
        assert np.array_equal(told.sums, asked.sums)
    assert told.report is not None
    assert (told.report.inside, told.report.people) == (1, 1)
    with pytest.raises(DataError, match="needs longitude and latitude"):
        dph.aggregate(frame.to_crs(3857), BERN, user="rider")
    moved = frame.to_crs(3857).rename_geometry("where it was")
    report = dph.aggregate(moved, dph.Domain.image(2**20, 2**23), user="rider").report
    assert report is not None
    assert report.inside > 0


@pytest.mark.parametrize("odd", [7, "\udcff", b"x", None, float("nan"), 10**30, ["list"]])
def test_no_row_refuses_a_frame_of_geopandas(odd: object) -> None:
    columns = {"rider": ["ann", odd, "bob", "7", "eve"], "note": ["a", "b", odd, "7", ""]}
    frame = geo_frame(**{name: pd.Series(values, dtype=object) for name, values in columns.items()})
    report = dph.aggregate(frame, BERN, user="rider").report
    assert report is not None
    assert report.rows == 5
    assert report.people == (1 if odd in (None, "\udcff", ["list"]) or odd != odd else 2)
