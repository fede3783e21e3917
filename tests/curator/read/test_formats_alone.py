"""Of files of every format: one person's records, whatever is in them, add at most W and change nothing else."""

from __future__ import annotations

import io
import random
import sqlite3
import struct
from pathlib import Path
from typing import Any

import pytest

from dpheatmap.curator.read import flatgeobuf, records, shapefile, sqlite_file
from dpheatmap.curator.read.records import Wanted
from dpheatmap.curator.read.xml_elements import XmlProblem, elements
from dpheatmap.errors import BrokenRecord
from helpers.file_formats import WRITERS, Row, as_flatgeobuf, as_sqlite, choices, track
from helpers.hostile_values import assert_no_more_than_one
from helpers.tables import outcome

OTHERS: list[Row] = [
    ("ann", 0.1, 0.1, "mon"), ("ann", 0.9, 0.1, "tue"), ("bob", 0.1, 0.1, "mon"), ("é", 0.6, 1.0, "mon"),
    (None, 0.1, 0.1, "mon"), ("cleo", None, None, "mon"), ("dan", 7.0, 0.1, None), ("7", 0.4, 0.4, "mon"),
]  # fmt: skip
ODD_IDS: list[Any] = [
    "eve", 7, 7.0, 7.5, True, b"7", b"\xff", "", " ", "\0", "\x1f", "\x1fbytes:37", "\ud800", "x" * 40_000, 10**30, -1,
    'e"', "e\n", "e\\", "]}", "<c>", "&amp;", "_x0041_", "\u2028", "e\u0301", float("nan"), float("inf"),
]  # fmt: skip
ODD_VALUES: list[Any] = [
    0.1, 0.5, 1e308, -1e308, float("nan"), float("inf"), None, "0.1", "x", "", b"\1\2", b"\1" + bytes(20),
    b"\xff" * 300, b"\1\1\0\0\0" + bytes(15), b"\0\0\0\0\1" + bytes(16), 10**20, True, "mon", "tue", "\ud800",
    "y" * 3_000_000, [1], {"a": 1},
    '{"type": "Feature", "properties": {"user": "ann", "day": ["mon"]}, "geometry": {"type": "Point"}}',
    '{"properties": {"user": {"user": "ann"}}, "geometry": {"type": "Point", "coordinates": [[0.1], 0.1]}}',
    '{"properties": {"user": "ann", "user": "bob"}, "geometry": {"type": "P\\u006fint", "coordinates": [0.1, 0.1]}}',
    '{"properties": null, "geometry": {"type": "MultiPoint", "coordinates": [[0.1, 0.1], [0.2, 0.2]]}}',
    '{"a": "]}, {", "properties": {"note": "\\\\", "user": "\\""}, "geometry": {"coordinates": [1e5, -2.5E-3, 7]}}',
    '{"features": [{"properties": {"user": "ann"}}, "]"]}', "{" + '"a":{' * 500 + "}" * 501,
]  # fmt: skip
CHOICES: tuple[dict[str, Any], ...] = ({}, {"where": "day IN ('mon', 'tue') OR day > 5"}, {"where": "user <> 'x'"})


@pytest.mark.parametrize("kind", WRITERS)
def test_one_persons_records_change_nobody_elses_counts(kind: str, tmp_path: Path) -> None:
    rng = random.Random(len(kind))
    for number in range(15):
        choice = {**choices(kind), **rng.choice(CHOICES), "bad_lines": "skip"}
        whose = rng.choice([one for one in ODD_IDS if one not in (7, b"7") or kind not in ("shp", "fgb")])
        rows = list(OTHERS)
        for _ in range(rng.randint(1, 4)):
            x, y, day = (rng.choice(ODD_VALUES) for _ in range(3))
            rows.insert(rng.randint(0, len(rows)), (whose, x, y, day))
        folders = [tmp_path / f"{number}{name}" for name in "ab"]
        for folder in folders:
            folder.mkdir()
        before = outcome(WRITERS[kind](OTHERS, folders[0]), **choice)
        assert before[1]["people"] >= 3
        assert_no_more_than_one(before, outcome(WRITERS[kind](rows, folders[1]), **choice))


@pytest.mark.parametrize("kind", WRITERS)
def test_ids_are_taken_with_their_own_type(kind: str, tmp_path: Path) -> None:
    """The whole number 7, the text and, where there are any, bytes and truth values are people of their own."""
    ids: list[Any] = ["7", 7, "07", "ann", "ann ", "7.0", True, b"7", "\x1fbytes:37", 7.0, None]
    told_apart = {"sqlite": 9, "gpkg": 9, "xlsx": 9, "shp": 5, "geojson": 9, "geojsonl": 9, "fgb": 8}
    rows: list[Row] = [(one, 0.1, 0.1, "mon") for one in ids]
    _, counters = outcome(WRITERS[kind](rows, tmp_path), **choices(kind), bad_lines="skip")
    assert counters["people"] == told_apart[kind], counters


@pytest.mark.parametrize("encoding", ["UTF-8", "UTF-16le", "UTF-16be"])
def test_text_that_is_none_is_nobodys_id_in_a_database(encoding: str, tmp_path: Path) -> None:
    """Half of a pair of surrogates takes the letter behind it for its other half, and one id becomes another."""
    path = tmp_path / "t.sqlite"
    con = sqlite3.connect(path)
    con.execute(f"PRAGMA encoding = '{encoding}'")
    con.execute("CREATE TABLE trips (user, x REAL, y REAL)")
    whole = ["\U00010041", "ann", "\ufeffann", "ann\0", "ann\0b", "", "é", "e\u0301", "\U0001f600\U0001f601"]
    halves = ["\ud800A", "\ud801A", "\ud800", "\udc00", "\udc41\ud800", "\ud83d\U0001f601"]
    for text in (*whole, *halves):
        raw = text.encode(encoding.lower().replace("16", "16-"), "surrogatepass").hex()
        con.execute(f"INSERT INTO trips VALUES (CAST(x'{raw}' AS TEXT), 0.1, 0.1)")
    con.execute("INSERT INTO trips VALUES (7, 0.1, 0.1)")
    con.execute("INSERT INTO trips VALUES (x'37', 0.1, 0.1)")
    con.commit()
    con.close()
    _, counters = outcome(path)
    assert (counters["people"], counters["without_person"]) == (len(whole) + 2, len(halves))


def corrupt(path: Path, rng: random.Random) -> None:
    """Change bytes of the last feature of a FlatGeobuf file, but not its length."""
    data = bytearray(path.read_bytes())
    at = 12 + struct.unpack_from("<I", data, 8)[0]
    while at + 4 + struct.unpack_from("<I", data, at)[0] < len(data):
        at += 4 + struct.unpack_from("<I", data, at)[0]
    for _ in range(rng.randint(1, 30)):
        data[rng.randrange(at + 4, len(data))] = rng.choice([0, 1, 4, 255, rng.randrange(256)])
    path.write_bytes(data)


def test_the_bytes_of_a_feature_lead_to_no_other(tmp_path: Path) -> None:
    rng = random.Random(9)
    plain = [row for row in OTHERS if row[1] is not None]
    before = outcome(as_flatgeobuf(plain, tmp_path), x=None, y=None)
    broken = 0
    for _ in range(40):
        path = as_flatgeobuf([*plain, ("eve", 0.5, 0.5, "mon")], tmp_path)
        corrupt(path, rng)
        after = outcome(path, x=None, y=None, bad_lines="skip")
        assert_no_more_than_one(before, after)
        broken += after[1]["rows"] == before[1]["rows"]
    assert broken > 3


ENCODINGS = ("mallory", "shift_jis", "idna", "hex", "undefined")
"""Encodings that are none, or none that XML is read in; each fails in another way."""
BROKEN_TRACKS = (
    "cut short", "empty", "no XML", "a bomb", "another file", "deep", "no tracks", "a root too many", "a long tag",
    "a long comment",
)  # fmt: skip


def test_one_file_of_tracks_changes_no_other(tmp_path: Path) -> None:
    """A broken file is one broken record, whatever is wrong with it, and wherever."""
    for name, points in {"ann": [(0.1, 0.1), (0.9, 0.1)], "bob": [(0.1, 0.1)]}.items():
        (tmp_path / f"{name}.gpx").write_text(track(points))
    options: dict[str, Any] = {"user": "@file", "x": None, "y": None}
    before = outcome(tmp_path, **options)
    good = track([(0.5, 0.5)] * 50)
    bomb = "<!DOCTYPE gpx [" + '<!ENTITY a "aaaaaaaaaa">' + "".join(
        f'<!ENTITY {chr(98 + k)} "{f"&{chr(97 + k)};" * 10}">' for k in range(9)
    ) + f"]>{good.replace('device', '&j;')}"  # fmt: skip
    outside = f'<!DOCTYPE gpx [<!ENTITY x SYSTEM "file:///etc/passwd">]>{good.replace("device", "&x;")}'
    hostile = {
        "cut short": good[:-30], "empty": "", "no XML": "{", "a bomb": bomb, "another file": outside,
        "deep": "<gpx>" + "<a>" * 5000, "no tracks": "<kml/>", "a root too many": good + good,
        "two bytes": "\udcff\udcfe", "odd numbers": track([("nan", "1"), ("1e999", "x"), ("", "0.1"), ("0.2", "0.2")]),
        "a long tag": good.replace("device", "x" * 5_000_000), "a long comment": f"<!--{'x' * 5_000_000}-->{good}",
        "nested": good.replace("<time>", "<trkpt lat='0' lon='0'/><time>"),
        "long": good.replace("2024", "2" * 3_000_000, 1),
        **{name: f'<?xml version="1.0" encoding="{name}"?>{good}' for name in ENCODINGS},
    }  # fmt: skip
    for name, content in hostile.items():
        (tmp_path / "a-eve.gpx").write_bytes(content.encode(errors="surrogateescape"))
        after = outcome(tmp_path, **options, bad_lines="skip")
        assert_no_more_than_one(before, after)
        if name in (*BROKEN_TRACKS, *ENCODINGS):
            assert after == before, name
            with pytest.raises(BrokenRecord, match=r"A file of 'a-eve\.gpx' is broken"):
                outcome(tmp_path, **options)


@pytest.mark.parametrize("start", ['<gpx creator="', "<gpx><!--", "<gpx><", "<gpx a='' "])
def test_a_tag_without_an_end_is_not_held(start: str) -> None:
    """A few kilobytes unpack to a tag of any length, which the parser would hold, and read anew with each piece."""
    read = 0

    class Endless:
        def read(self, size: int) -> bytes:
            nonlocal read
            read += 1
            assert read < 100
            return start.encode() if read == 1 else b"a" * size

    with pytest.raises(XmlProblem):
        list(elements(Endless()))


def test_a_long_text_between_tags_is_passed_over() -> None:
    """Its pieces are handed on as they come, so there is nothing to be held."""
    text = io.BytesIO(b"<gpx>" + b"a" * (3 << 20) + b"<wpt/>" * 400_000 + b"</gpx>")
    assert sum(element.name == "wpt" for element in elements(text)) == 800_000


# The tests above see what they are for


def test_a_planted_merge_of_types_is_found(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A planted bug: ids are compared by their text."""
    honest = Wanted.line
    monkeypatch.setattr(Wanted, "line", lambda self, values, *xy: honest(self, [v and str(v) for v in values], *xy))
    with pytest.raises(AssertionError):
        test_ids_are_taken_with_their_own_type("sqlite", tmp_path)


def test_a_planted_guess_of_types_is_found(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A planted bug: one text in a column makes text of all that is in it."""
    honest = sqlite_file._rows

    def guessing(con: Any, path: str, sql: str, *values: Any) -> Any:
        rows = list(honest(con, path, sql, *values))
        if "NOT INDEXED" in sql and any(isinstance(row[0], float) for row in rows):
            rows = [(None, *row[1:]) for row in rows]
        yield from rows

    monkeypatch.setattr(sqlite_file, "_rows", guessing)
    with pytest.raises(AssertionError):
        test_one_persons_records_change_nobody_elses_counts("sqlite", tmp_path)


def test_a_planted_reading_on_is_found(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A planted bug: a feature that can't be read ends the file."""

    def giving_up(self: Any, path: str, table: Any, wanted: Wanted) -> Any:
        for line in honest(self, path, table, wanted):
            if line == records.BROKEN:
                return
            yield line

    honest = flatgeobuf.FlatGeobufs.lines
    monkeypatch.setattr(flatgeobuf.FlatGeobufs, "lines", giving_up)
    rows: list[Row] = [("eve", 0.5, 0.5, "mon"), *(row for row in OTHERS if row[1] is not None)]
    path = as_flatgeobuf(rows, tmp_path)
    data = bytearray(path.read_bytes())
    at = 12 + struct.unpack_from("<I", data, 8)[0]
    data[at + 4 : at + 8] = b"\xff" * 4
    path.write_bytes(data)
    assert outcome(path, x=None, y=None, bad_lines="skip")[1]["people"] == 0
    monkeypatch.undo()
    assert outcome(path, x=None, y=None, bad_lines="skip")[1]["people"] == 4


def test_a_row_takes_no_more_than_its_own_memory(tmp_path: Path) -> None:
    """A value of 50 MB in a column that is not asked for, and one in a column that is."""
    rows: list[Row] = [*OTHERS, ("eve", 0.5, 0.5, b"x" * 50_000_000), ("eve", "9" * 50_000_000, 0.5, "mon")]
    assert outcome(as_sqlite(rows, tmp_path))[1]["people"] == 5


def test_the_encodings_of_shapefiles_never_make_one_text_of_two(tmp_path: Path) -> None:
    """Every byte, or every pair of them, is another text, or none."""
    names = [f"iso8859-{k}" for k in (1, 2, 5, 7, 15)] + ["cp437", "cp850", "cp1251", "cp1252", "koi8-r", "ascii"]
    for name in names:
        assert shapefile._ENCODINGS.fullmatch(name)
        found = [shapefile._text(bytes([byte]), name) for byte in range(256)]
        known = [text for text in found if text is not None]
        assert len(set(known)) == len(known) >= 128
        assert all(len(text) == 1 for text in known)
    for name in ("utf-16", "utf-7", "shift_jis", "gbk", "iso2022_jp", "cp932", "idna", "punycode", "hex"):
        assert not shapefile._ENCODINGS.fullmatch(name)
