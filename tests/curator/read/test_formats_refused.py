"""Files of other formats as they come: what they hold is read, and what is no such file is refused in one sentence."""

from __future__ import annotations

import gzip
import json
import sqlite3
import tracemalloc
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import geopandas
import numpy as np
import pytest
import shapely

import dpheatmap as dph
from dpheatmap.cli import run
from dpheatmap.curator import inspect_table
from dpheatmap.curator.read.geojson_records import ENDED, STATES, split_elements
from dpheatmap.curator.read.records import Wanted
from dpheatmap.curator.read.workbook import Workbooks
from dpheatmap.errors import BrokenRecord, DataError, ParameterError, PrivacyRefusal
from helpers.file_formats import (
    OF_POINTS,
    WRITERS,
    Row,
    as_geojson,
    as_geopackage,
    as_shapefile,
    as_sqlite,
    as_workbook,
    choices,
    feature,
    track,
    workbook,
)
from helpers.tables import W, outcome, people

SECRET = "mallory's words"
ROWS: list[Row] = [
    ("ann", 0.1, 0.1, "mon"),
    ("ann", 0.9, 0.1, "tue"),
    ("bob", 0.1, 0.1, SECRET),
    ("cleo", None, None, ""),
]
CELLS = {(0, 0): W // 2 + W, (7, 0): W // 2}
POINTS: dict[str, Any] = {"x": None, "y": None}


@pytest.mark.parametrize("kind", WRITERS)
def test_a_file_is_read_and_inspected(kind: str, tmp_path: Path) -> None:
    path = WRITERS[kind](ROWS, tmp_path)
    cells, counters = outcome(path, **choices(kind))
    assert cells == CELLS
    assert (counters["rows"], counters["invalid"]) == (4, 1)
    assert outcome(path, **choices(kind), where="day = 'mon'")[0] == {(0, 0): W}
    found = inspect_table(path, read_rows=True)
    assert found.private["rows"] == 4
    assert "user" in found.guesses["user"]
    assert ("geometry" in found.guesses) == (kind in OF_POINTS)
    with pytest.raises((DataError, PrivacyRefusal), match="'nobody'") if "geojson" not in kind else no_people(path):
        people(path, **{**choices(kind), "user": "nobody"})


class no_people:  # noqa: N801
    """GeoJSON has no header: a property that nobody has is a column of nulls."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __enter__(self) -> None:
        assert people(self._path, **POINTS, user="nobody") == 0

    def __exit__(self, *_: object) -> None:
        pass


HARM: dict[str, Callable[[bytes], bytes]] = {
    "nothing": lambda data: b"",
    "text": lambda data: b"user,x,y\n" * 50,
    "the first half": lambda data: data[: len(data) // 2],
    "zeros": lambda data: bytes(len(data)),
    "the end": lambda data: data[len(data) // 2 :],
}


@pytest.mark.parametrize("harm", HARM)
@pytest.mark.parametrize("kind", WRITERS)
def test_what_is_no_such_file_is_refused_in_one_sentence(
    kind: str, harm: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nothing is charged, nothing is written, and nothing of the file is quoted."""
    path = WRITERS[kind](ROWS * 200, tmp_path)
    path.write_bytes(HARM[harm](path.read_bytes()))
    ledger = tmp_path / "l.ledger"
    dph.Ledger(ledger).limit("p", epsilon=1)
    before = ledger.read_bytes()
    columns = ["--user", "user"] + ([] if kind in OF_POINTS else ["--x", "x", "--y", "y"])
    made = ["--epsilon", "1", "--unit", "--depth", "3", "--ledger", str(ledger), "--population", "p"]
    if kind == "geojsonl" and harm in ("nothing", "the first half", "the end"):
        return  # lines are lines
    code = run(["release", str(path), *columns, *made, "-o", str(tmp_path / "r.dph.parquet")])
    told = capsys.readouterr().err
    assert code == 3, told
    assert "Traceback" not in told
    assert SECRET not in told
    assert "mallory" not in told
    assert not (tmp_path / "r.dph.parquet").exists()
    assert ledger.read_bytes() == before


# Systems of coordinates


@pytest.mark.parametrize("ending", ["gpkg", "shp", "fgb", "geojson"])
def test_other_systems_are_refused_or_converted(ending: str, tmp_path: Path) -> None:
    points = [shapely.Point(7.4, 46.9), shapely.Point(7.6, 46.9)]
    frame = geopandas.GeoDataFrame({"user": ["ann", "bob"]}, geometry=points, crs=4326)
    box = dph.Domain.bbox(7, 46, 8, 47, depth=10)
    for system, options in ((4326, {}), (4258, {}), (2056, {"crs": "EPSG:2056"})):
        path = tmp_path / f"{system}.{ending}"
        frame.to_crs(system).to_file(path)
        if options or (ending == "geojson" and system != 4326):
            with pytest.raises(DataError, match=r"and a box needs longitude and latitude.*--crs"):
                outcome(path, box, **POINTS)
            options = options or {"crs": f"EPSG:{system}"}
        assert outcome(path, box, **POINTS, **options)[1]["people"] == 2


def test_geopackages_and_shapefiles_without_a_system_are_refused(tmp_path: Path) -> None:
    box = dph.Domain.bbox(0, 0, 1, 1, depth=10)
    with pytest.raises(DataError, match="in an unknown system"):
        outcome(as_geopackage(ROWS, tmp_path, system=0), box, **POINTS)
    path = as_shapefile(ROWS, tmp_path)
    path.with_suffix(".prj").unlink()
    with pytest.raises(DataError, match="in an unknown system"):
        outcome(path, box, **POINTS)


# SQLite


def test_one_of_several_tables_is_named(tmp_path: Path) -> None:
    path = as_sqlite(ROWS, tmp_path)
    con = sqlite3.connect(path)
    con.execute("CREATE TABLE stations (id, x, y)")
    con.execute("CREATE VIEW busy AS SELECT user, x, y FROM trips GROUP BY user")
    con.commit()
    con.close()
    with pytest.raises(DataError, match=r"Name the table .*--table.*'stations', 'trips'\."):
        people(path)
    assert people(path, table="trips") == 2
    for other in ("busy", "sqlite_schema", "trips; DROP TABLE trips"):
        with pytest.raises(DataError, match="Name the table"):
            people(path, table=other)
    with pytest.raises(ParameterError, match="table means nothing"):
        people(as_geojson(ROWS, tmp_path), table="trips", **POINTS)
    assert inspect_table(path, read_rows=False, table="stations").columns.keys() == {"id", "x", "y"}


def test_computed_columns_are_none(tmp_path: Path) -> None:
    """One row could fail to be computed, and refuse all."""
    path = tmp_path / "t.db"
    con = sqlite3.connect(path)
    con.execute("CREATE TABLE t (user, x, y)")
    con.executemany("INSERT INTO t (user, x, y) VALUES (?, ?, ?)", [("ann", 0.1, 0.1), ("{", 0.1, 0.1)])
    con.execute("ALTER TABLE t ADD COLUMN n AS (json_extract(user, '$'))")
    con.commit()
    con.close()
    assert inspect_table(path, read_rows=True).columns.keys() == {"user", "x", "y"}
    assert people(path) == 2


def test_a_database_that_is_written_to_is_refused(tmp_path: Path) -> None:
    path = as_sqlite(ROWS, tmp_path)
    con = sqlite3.connect(path)
    con.execute("PRAGMA journal_mode = WAL")
    con.execute("INSERT INTO trips VALUES ('zoe', 0.1, 0.1, 'mon')")
    con.commit()
    with pytest.raises(DataError, match="somebody is writing to it"):
        people(path)
    con.close()
    before = sorted(tmp_path.iterdir())
    assert people(path) == 3
    assert sorted(tmp_path.iterdir()) == before, "nothing was written beside it"


# Workbooks


def sheet(*rows: str) -> str:
    return f"<worksheet><sheetData>{''.join(f'<row>{row}</row>' for row in rows)}</sheetData></worksheet>"


NAMES = "".join(f'<c t="inlineStr"><is><t>{name}</t></is></c>' for name in ("user", "x", "y", "day"))
PLACE = "<c><v>0.1</v></c><c><v>0.1</v></c>"


def test_cells_are_taken_by_their_own_type_and_style(tmp_path: Path) -> None:
    days = ['s="1"><v>45444.25</v>', 's="2"><v>45444</v>', 's="3"><v>45444</v>', "><v>45444</v>", 't="e"><v>#N/A</v>']
    rows = [f'<c t="str"><v>u{k}</v></c>{PLACE}<c {day}</c>' for k, day in enumerate(days)]
    path = workbook({"A": sheet(NAMES, *rows)}, tmp_path)
    for where, many in (
        ("day = '2024-06-01 06:00:00'", 1), ("day = '2024-06-01 00:00:00'", 1), ("day = '45444'", 2),
        ("day IS NULL", 1),
    ):  # fmt: skip
        assert people(path, where=where) == many, where
    old = workbook({"A": sheet(NAMES, *rows)}, tmp_path, settings='<workbookPr date1904="1"/>')
    assert people(old, where="day = '2028-06-02 06:00:00'") == 1
    assert people(old, user="day") == 1, "as an id, a date is the number that is stored"


def test_pronunciation_fonts_and_empty_rows(tmp_path: Path) -> None:
    rich = "<c t='inlineStr'><is><r><t>an</t></r><r><t>n</t></r><rPh><t>AN</t></rPh></is></c>"
    path = workbook({"A": sheet(NAMES, rich + PLACE, "", f"<c t='str'><v>ann</v></c>{PLACE}")}, tmp_path)
    assert people(path) == 1
    report = dph.aggregate(path, dph.Domain.unit(3), user="user", x="x", y="y").report
    assert report is not None
    assert (report.rows, report.empty_lines) == (2, 1)


def test_long_texts_are_nobodys_and_nobody_merges(tmp_path: Path) -> None:
    cells = [f"<c t='str'><v>{letter * 40_000}</v></c>{PLACE}" for letter in "ab"]
    _, counters = outcome(workbook({"A": sheet(NAMES, *cells)}, tmp_path))
    assert (counters["without_person"], counters["people"]) == (2, 0)


@pytest.mark.parametrize("settings", ["", '<workbookPr date1904="1"/>'])
def test_a_date_beyond_all_dates_is_a_number(settings: str, tmp_path: Path) -> None:
    """In a column that nobody asks for, too: one person's cell would refuse everybody's."""
    days = (45444, 2_958_465, 2_957_004, "2958465.99999999953", 10**15, "1e300")
    rows = [f'<c t="str"><v>u{k}</v></c>{PLACE}<c s="1"><v>{day}</v></c>' for k, day in enumerate(days)]
    path = workbook({"A": sheet(NAMES, *rows)}, tmp_path, settings=settings)
    assert people(path) == people(path, where="day IS NOT NULL") == len(days)


def test_a_cell_of_many_pieces_and_a_row_of_many_cells_have_bounds(tmp_path: Path) -> None:
    """A workbook is packed: a cell or a row that unpacks to a thousand times its size must not be held in memory."""
    pieces = f"<r><t>{'x' * 30_000}</t></r>"
    for row in (
        f"<c t='inlineStr'><is>{pieces * 1000}</is></c>{PLACE}",
        f"<c><v>7</v></c>{PLACE}{'<c><v>1</v></c>' * 60_000}",
    ):
        path = workbook({"A": sheet(NAMES, f"<c t='str'><v>ann</v></c>{PLACE}", row)}, tmp_path)
        tracemalloc.start()
        list(Workbooks().lines(str(path), None, Wanted(["user", "x", "y"], "user")))
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert most < 6e6


@pytest.mark.parametrize(
    ("xml", "words"),
    [
        (sheet("<c><v>7</v></c>" + PLACE), "does not name the columns in text"),
        (sheet("<c t='str'><v>7.45</v></c>"), "looks like data"),
        (sheet("<c r='A1' t='str'><v>user</v></c><c r='C1' t='str'><v>x</v></c>"), "empty cells between names"),
        (sheet("<c t='str'><v>x</v></c><c t='str'><v>X</v></c>"), "empty or repeated names"),
        (sheet(), "does not name the columns in text"),
        ('<!DOCTYPE worksheet [<!ENTITY a "b">]>' + sheet(NAMES, f"<c t='str'><v>&a;</v></c>{PLACE}"), "is damaged"),
        (sheet(NAMES)[:-20], "is damaged"),
    ],
)
def test_sheets_that_are_no_tables_are_refused(xml: str, words: str, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=words) as refusal:
        people(workbook({"A": xml}, tmp_path))
    assert "7.45" not in str(refusal.value)


def test_one_of_several_sheets_is_named(tmp_path: Path) -> None:
    path = workbook({"A & B": sheet(NAMES, f"<c t='str'><v>u</v></c>{PLACE}"), "Notes": sheet()}, tmp_path)
    with pytest.raises(DataError, match=r"Name the sheet .*'A & B', 'Notes'"):
        people(path)
    assert people(path, table="A & B") == 1
    (tmp_path / "locked.xlsx").write_bytes(bytes.fromhex("D0CF11E0A1B11AE1") + bytes(4000))
    with pytest.raises(DataError, match=r"not a workbook .*or one with a password"):
        people(tmp_path / "locked.xlsx")


# GeoJSON


@pytest.mark.parametrize(
    "text",
    [
        '{"features": [%s, {"a": "\n"}]}', '{"features": [%s, {"a" 1}]}', '{"features": [%s, nul]}',
        '{"features": [%s}]}',
        '{"features": [%s]', '{"features": [%s]} {', '{"features": [%s], "features": []}', '{"features": [%s "x"]}',
        '{"features": [%s], "crs": {"properties": {"name": "EPSG:2056"}}}', '{"features": [%s, {"a": "]}', "[%s]",
        '{"crs": {"type": "link"}, "features": [%s]}', '{"a": ' + '"b' * 40_000 + '", "features": [%s]}', '{"x": [%s]}',
    ],
)  # fmt: skip
def test_what_is_no_document_is_refused_as_a_whole(text: str, tmp_path: Path) -> None:
    """Whatever is done with broken lines: elements that are no JSON may have taken others with them."""
    (tmp_path / "t.geojson").write_text(text.replace("%s", feature(("ann", 0.1, 0.1, SECRET))))
    for bad_lines in ("stop", "skip"):
        with pytest.raises(DataError, match=r"'t\.geojson'") as refusal:
            people(tmp_path / "t.geojson", **POINTS, bad_lines=bad_lines)
        assert not isinstance(refusal.value, BrokenRecord)
        assert SECRET not in str(refusal.value)


def test_documents_are_read_however_they_are_laid_out(tmp_path: Path) -> None:
    features = [json.loads(feature(row)) for row in ROWS]
    expected = outcome(as_geojson(ROWS, tmp_path), **POINTS)
    told = {"bbox": [0, 0, 1, 1], "note": 'a "features": [ in a text'}
    for indent in (None, 0, 2):
        document = {"type": "FeatureCollection", **told, "features": features, "after": [{"features": 7}]}
        text = json.dumps(document, indent=indent)
        (tmp_path / "u.geojson").write_text(text)
        assert outcome(tmp_path / "u.geojson", **POINTS) == expected
        (tmp_path / "v.geojson").write_bytes(b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode())
        assert outcome(tmp_path / "v.geojson", **POINTS) == expected
        (tmp_path / "w.geojson.gz").write_bytes(gzip.compress(text.encode()))
        assert outcome(tmp_path / "w.geojson.gz", **POINTS) == expected
    (tmp_path / "s.geojsons").write_text("".join(f"\x1e{json.dumps(one)}\n" for one in features))
    assert outcome(tmp_path / "s.geojsons", **POINTS) == expected
    (tmp_path / "e.geojson").write_text('{"features": []}')
    assert outcome(tmp_path / "e.geojson", **POINTS)[0] == {}


def test_pieces_of_a_document_don_t_matter() -> None:
    """Whatever is cut: strings, escapes and brackets go on in the next piece."""
    odd = json.dumps({"a": '\\"],}{[', "b": [[], {"c": "\\"}]})
    elements = [*map(feature, ROWS), odd, "[1, [2]]", '"x, y"']
    inside = ",\r\n ".join(elements).encode() + b"]"
    for size in range(1, 9):
        state, found = np.zeros(STATES, np.int64), b""
        for at in range(0, len(inside), size):
            piece = np.frombuffer(inside[at : at + size], np.uint8)
            out = np.empty(len(piece), np.uint8)
            _, written = split_elements(piece, len(piece), out, state)
            found += out[:written].tobytes()
        assert [line.strip().decode() for line in found.split(b"\n")] == elements
        assert state[ENDED]


def test_a_feature_that_is_too_long_or_no_text_is_broken_alone(tmp_path: Path) -> None:
    good, long = feature(ROWS[0]), feature(("eve", 0.5, 0.5, "x" * 3_000_000))
    bad = feature(("eve", 0.5, 0.5, "?!")).encode().replace(b"?!", b"\xff\xfe")
    for nasty in (long.encode(), bad):
        (tmp_path / "t.geojson").write_bytes(b'{"features": [%b, %b, %b]}' % (good.encode(), nasty, good.encode()))
        assert people(tmp_path / "t.geojson", **POINTS, bad_lines="skip") == 1
        with pytest.raises(BrokenRecord, match=r"A feature of 't\.geojson' is broken") as problem:
            people(tmp_path / "t.geojson", **POINTS)
        assert problem.value.place == "Feature 2 of t.geojson can't be read."


# Tracks


def test_whose_tracks_are_must_be_said_and_is_on_the_label(tmp_path: Path) -> None:
    for name in ("a/1", "a/2", "b/1"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / f"{name}.gpx").write_text(track([(0.1, 0.1)], creator="one"))
    for options in ({"user": None}, {"user": None, "each_row_is_a_person": True}, {"user": "name"}):
        with pytest.raises(PrivacyRefusal, match="--user @file, @folder or @creator"):
            outcome(tmp_path, **{**POINTS, **options})
    for user, many, words in (
        ("@file", 3, "Each file"),
        ("@folder", 2, "each folder"),
        ("@creator", 1, "each creator"),
    ):
        assert people(tmp_path, **POINTS, user=user) == many
        made = dph.release(tmp_path, dph.Domain.unit(3), epsilon=1, user=user)
        assert words in made.label["who"]
        made.save(tmp_path / "r.dph.parquet")
        assert dph.load(tmp_path / "r.dph.parquet").label == made.label
        (tmp_path / "r.dph.parquet").unlink()


def test_tracks_routes_and_waypoints_have_times(tmp_path: Path) -> None:
    point = '%s lat="0.1" lon="0.1"><time>2024-06-01T08:00:00Z</time><extensions><time>x</time></extensions></%s>'
    inside = "".join(f"<{point % (name, name)}" for name in ("wpt", "rtept", "trkpt"))
    (tmp_path / "t.gpx").write_text(f'<gpx xmlns="http://www.topografix.com/GPX/1/1"><time>y</time>{inside}</gpx>')
    _, counters = outcome(tmp_path / "t.gpx", **POINTS, user="@file", where="time = '2024-06-01T08:00:00Z'")
    assert counters["rows"] == 3


# Shapefiles


def test_shapefiles_need_their_dbf_and_a_known_encoding(tmp_path: Path) -> None:
    path = as_shapefile([("é", 0.1, 0.1, "ü")], tmp_path)
    assert people(path, **POINTS, where="day = 'ü'") == 1
    assert people(tmp_path, **POINTS) == 1, "a folder, with the files beside"
    path.with_suffix(".cpg").write_text("SHIFT_JIS")
    with pytest.raises(DataError, match="names no encoding that is read"):
        people(path, **POINTS)
    path.with_suffix(".cpg").unlink()
    assert people(path, **POINTS, where="day = 'ü'") == 0, "Latin-1 has other letters"
    path.with_suffix(".dbf").unlink()
    with pytest.raises(DataError, match=r"has no \.dbf beside it"):
        people(path, **POINTS)


def test_files_of_a_pattern_must_be_alike(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
    as_workbook(ROWS, tmp_path / "a")
    workbook({"A": sheet("<c t='str'><v>user</v></c>")}, tmp_path / "b")
    with pytest.raises(DataError, match="does not have the columns of"):
        people(f"{tmp_path}/*/t.xlsx")
    as_workbook(ROWS, tmp_path / "b")
    assert people(f"{tmp_path}/*/t.xlsx") == 2


def test_a_workbook_in_a_zip_is_not_opened(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "t.zip", "w") as file:
        file.write(as_workbook(ROWS, tmp_path), "t.xlsx")
    with pytest.raises(DataError, match="has no file in it"):
        people(tmp_path / "t.zip")
