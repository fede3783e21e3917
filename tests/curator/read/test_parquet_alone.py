"""A row of Parquet is a function of its own record: no value, and no file of one person, changes another's counts."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dpheatmap as dph
from dpheatmap.curator.engines.duckdb import connection
from dpheatmap.curator.read.declared import Files
from dpheatmap.curator.read.footer import without_meaning
from dpheatmap.errors import DataError, DpheatmapError, ParameterError, PrivacyRefusal
from helpers.hostile_values import BAD, GOOD, HUGE, assert_alone, text
from helpers.tables import UNIT, W, outcome, people

# Text that is not UTF-8


def written(path: Path, rows: dict[str, list[Any]], **options: Any) -> Path:
    """Bytes as text that nobody has checked."""
    columns = {name: text(values) if isinstance(values[0], bytes) else values for name, values in rows.items()}
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table(columns), path, **options)
    return path


def rows_of(count: int, **columns: list[bytes]) -> dict[str, list[Any]]:
    plain: dict[str, list[Any]] = {
        "user": [b"u%d" % k for k in range(count)], "x": [b"0.1"] * count, "y": [b"0.1"] * count,
        "day": [b"mon"] * count, "part": [b"north"] * count, "n": [3] * count,
    }  # fmt: skip
    return plain | columns


ROLES: dict[str, dict[str, Any]] = {
    "user": {},
    "x": {},
    "day": {"where": "day = 'mon' OR day > 'a' OR LOWER(day) LIKE '%' OR day IS NULL OR day IN ('b?', 'b')"},
    "part": {"partition": {"part": ["north", "south"]}, "part": "north"},
    "note": {"weight": "n"},
}


@pytest.mark.parametrize("dictionary", [False, True])
@pytest.mark.parametrize("role", ROLES)
def test_text_that_is_not_utf8_is_null_for_its_row(role: str, dictionary: bool, tmp_path: Path) -> None:
    values = {"user": b"u%d", "x": b"0.%d", "day": b"mon", "part": b"north", "note": b""}[role]
    good = [values % k if b"%d" in values else values for k in range(9)]
    without = written(tmp_path / "without.parquet", rows_of(9, **{role: good}))
    for bad in BAD:
        path = tmp_path / "with.parquet"
        written(path, rows_of(10, **{role: [*good[:4], bad, *good[4:]]}), use_dictionary=dictionary)
        assert_alone(without, path, **ROLES[role])


def test_ids_that_differ_where_they_are_not_text_never_become_one(tmp_path: Path) -> None:
    """`utf8_validation` with "replace" or "ignore" makes four people of these sixteen."""
    ids = [*BAD, *GOOD]
    path = written(tmp_path / "t.parquet", rows_of(len(ids), user=ids))
    _, counters = outcome(path)
    assert (counters["people"], counters["without_person"]) == (len(GOOD), len(BAD))
    assert people(path, where="user = 'b?' OR user = 'b'") == 2
    assert outcome(path, where="day = 'mon'", user=None, each_row_is_a_person=True)[1]["people"] == len(ids)


@settings(deadline=None, max_examples=25)
@given(value=st.one_of(st.binary(max_size=6), st.text(max_size=3).map(lambda text: text.encode())))
def test_a_text_is_read_alike_with_and_without_its_declaration(value: bytes, tmp_path_factory: Any) -> None:
    """Alone, a value fails or is read; beside one that fails, it is null or the same."""
    folder = tmp_path_factory.mktemp("t")
    alone = written(folder / "alone.parquet", {"user": [value]})
    both = written(folder / "both.parquet", {"user": [b"\xff", value]})
    with connection() as (con, private):
        try:
            expected = con.execute(f"SELECT user FROM '{alone}'").fetchall()
        except duckdb.Error:
            expected = [(None,)]
        files = Files(con, "seen", [str(both)], ["user"], "hive_partitioning=false", Path(private, "f"))
        assert files.mend()
        assert sorted(con.execute("SELECT user FROM seen").fetchall(), key=str) == sorted([(None,), *expected], key=str)


def test_of_many_files_only_the_bad_ones_are_copied(tmp_path: Path) -> None:
    for day in ("mon", "tue"):
        written(tmp_path / f"day={day}" / "p.parquet", {"user": [b"%s" % day.encode()], "x": [0.1], "y": [0.1]})
    written(tmp_path / "day=mon" / "q.parquet", {"user": [b"\xff", b"bob"], "x": [0.1] * 2, "y": [0.1] * 2})
    assert people(tmp_path) == 3
    assert people(tmp_path, where="day = 'mon'") == 2, "a copy lies in a folder of the same name"


@pytest.mark.parametrize("column", ["user", "x", "day", "note"])
def test_a_value_of_17_megabytes_is_one_row(column: str, tmp_path: Path) -> None:
    good = rows_of(3, note=[b"", b"", b""])
    without = written(tmp_path / "without.parquet", good)
    more = {"user": b"eve", "x": b"0.1", "y": b"0.1", "day": b"mon", "part": b"north", "n": 3, "note": b""}
    for value in (HUGE.encode(), HUGE.encode() + b"\xff"):
        rows = {name: [*values, value if name == column else more[name]] for name, values in good.items()}
        assert_alone(without, written(tmp_path / "with.parquet", rows), where="day > 'a' AND day < 'x'")


# Other values that are not what is declared


def test_times_and_json_that_are_none_are_null_for_their_row(tmp_path: Path) -> None:
    for zone in (None, "UTC"):
        times = pa.array([1_700_000_000_000, 2**62, None, 86_400_000], pa.timestamp("ms", zone))
        exact = pa.array([1_700_000_000_000_000, 5, None, 7], pa.timestamp("us", zone))
        table = pa.table({"user": list("abcd"), "x": [0.1] * 4, "y": [0.1] * 4, "t": times, "u": exact})
        pq.write_table(table, tmp_path / "t.parquet")
        where = "EXTRACT(year FROM t) = 2023 AND EXTRACT(year FROM u) = 2023 AND t >= '2023-06-01'"
        assert people(tmp_path / "t.parquet", where=where) == 1
        assert outcome(tmp_path / "t.parquet", user="t")[1]["without_person"] == 2
    json = pa.array(['{"a": 1}', "{bad", None, "7"], pa.json_())
    pq.write_table(pa.table({"user": json, "x": [0.1] * 4, "y": [0.1] * 4}), tmp_path / "j.parquet")
    assert people(tmp_path / "j.parquet") == 1, "an object is nobody, in Parquet as in a JSON file"


POINT = struct.pack("<BIdd", 1, 1, 0.1, 0.1)
SHAPES = {
    "empty": b"",
    "one byte": b"\x01",
    "cut": POINT[:-1],
    "cut header": POINT[:5],
    "more behind": POINT + b"x",
    "no such order": b"\x07" + POINT[1:],
    "no such kind": POINT[:1] + b"\x63" + POINT[2:],
    "big endian": struct.pack(">BIdd", 0, 1, 0.1, 0.1),
    "with a system": struct.pack("<BIIdd", 1, 0x20000001, 4326, 0.1, 0.1),
    "not a number": struct.pack("<BIdd", 1, 1, np.nan, np.inf),
    "line": struct.pack("<BIIdddd", 1, 2, 2, 0.1, 0.1, 0.2, 0.2),
    "points": struct.pack("<BII", 1, 4, 1) + POINT,
    "many": struct.pack("<BII", 1, 4, 2**32 - 1),
    "nested": struct.pack("<BII", 1, 7, 1) * 500 + POINT,
    "deep": struct.pack("<BII", 1, 7, 1) * 100_000 + POINT,
    "huge": POINT + b"\0" * 17_000_000,
    "text": b"POINT(0.1 0.1)",
}


def as_native(path: Path, shapes: list[bytes | None], kind: int = 17) -> Path:
    """A column of Parquet's own type of geometry (17) or geography (18).

    Writers check what they are given. So this is a column of plain bytes, declared afterwards, in the footer.
    """
    rows = {"user": [f"u{k}" for k in range(len(shapes))], "place": pa.array(shapes, pa.binary())}
    pq.write_table(pa.table(rows), path, store_schema=False, write_statistics=False)
    content, name = path.read_bytes(), b"\x18\x05place"
    length = int.from_bytes(content[-8:-4], "little")
    footer = content[-8 - length : -8].replace(name, name + bytes([0x6C, 0x0C, 2 * kind, 0, 0]), 1)
    path.write_bytes(content[: -8 - length] + footer + len(footer).to_bytes(4, "little") + content[-4:])
    return path


@pytest.mark.parametrize("kind", [17, 18])
@pytest.mark.parametrize("shape", SHAPES)
def test_a_native_geometry_that_is_none_is_invalid_for_its_row(shape: str, kind: int, tmp_path: Path) -> None:
    options: dict[str, Any] = {"x": None, "y": None, "geometry": "place"}
    without = as_native(tmp_path / "without.parquet", [POINT] * 3, kind)
    assert outcome(without, **options)[0] == {(0, 0): 3 * W}
    assert_alone(without, as_native(tmp_path / "t.parquet", [POINT, POINT, SHAPES[shape], POINT], kind), **options)


def test_each_geometry_is_read_alike_alone_and_beside_one_that_is_none(tmp_path: Path) -> None:
    options: dict[str, Any] = {"x": None, "y": None, "geometry": "place"}
    alone = {name: outcome(as_native(tmp_path / "t.parquet", [shape]), **options)[0] for name, shape in SHAPES.items()}
    both = {
        name: outcome(as_native(tmp_path / "t.parquet", [b"\x07", shape]), **options)[0]
        for name, shape in SHAPES.items()
    }
    assert alone == both
    assert {name for name, cells in alone.items() if cells} <= {"big endian", "with a system"}


@pytest.mark.parametrize("shape", SHAPES)
def test_and_so_is_one_of_plain_bytes(shape: str, tmp_path: Path) -> None:
    def table(shapes: list[bytes]) -> pa.Table:
        return pa.table({"user": [f"u{k}" for k in range(len(shapes))], "place": pa.array(shapes, pa.binary())})

    more = [POINT, POINT, SHAPES[shape], POINT]
    options: dict[str, Any] = {"x": None, "y": None, "geometry": "place"}
    pq.write_table(table(more), tmp_path / "t.parquet")
    for events in (table(more), table(more).to_reader(), tmp_path / "t.parquet"):
        assert_alone(table([POINT] * 3), events, **options)


# One file a person


def one(path: Path, **columns: Any) -> Path:
    pq.write_table(
        pa.table({"user": ["bob"] * 2, "x": [0.1, 0.9], "y": [0.1, 0.1], "n": [1, 3], "t": ["mon"] * 2} | columns), path
    )
    return path


ODD_FILES: dict[str, dict[str, Any]] = {
    "whole numbers": {"x": [0, 1], "y": [0, 1]},
    "small numbers": {"x": pa.array([0, 1], pa.int8()), "n": pa.array([1, 3], pa.uint8())},
    "weights with a point": {"n": [1.0, 3.0]},
    "text": {"x": ["0.1", "0.9"], "n": ["1", "3"]},
    "nothing": {"x": pa.nulls(2), "y": pa.nulls(2), "n": pa.nulls(2), "user": pa.nulls(2), "t": pa.nulls(2)},
    "nested": {"x": [[0.1]] * 2, "user": [{"a": 1}] * 2, "t": [["mon"]] * 2},
    "ids that are numbers": {"user": [7, 7]},
    "ids that are floats": {"user": [7.0, 7.0]},
    "ids that are bytes": {"user": [b"bob", b"bob"]},
    "ids that are dates": {"user": pa.array([1, 1], pa.date32())},
    "times": {"t": pa.array([1, 2], pa.timestamp("us"))},
    "numbers in where": {"t": [1, 2]},
    "truths in where": {"t": [True, False]},
    "bytes in where": {"t": [b"mon", b"\xff"]},
    "more columns": {"more": [{"a": 1}] * 2},
    "text that is none": {"user": text([b"\xff", b"bob"])},
}
WHERE = "t = 'mon' AND t <> 'x'"


@pytest.mark.parametrize("last", [False, True])
@pytest.mark.parametrize("odd", ODD_FILES)
def test_a_persons_file_of_other_types_is_theirs_alone(odd: str, last: bool, tmp_path: Path) -> None:
    for k in range(3):
        one(tmp_path / f"m{k}.parquet", user=[f"u{k}"] * 2, x=[0.1, 0.6])
    choices: list[dict[str, Any]] = [
        {}, {"weight": "n"}, {"where": WHERE}, {"partition": {"t": ["mon", "tue"]}, "part": "mon"},
        {"where": "t LIKE 'm%' AND CAST(t AS VARCHAR) = 'mon'"},
    ]  # fmt: skip
    before = [outcome(tmp_path, **chosen) for chosen in choices]
    one(tmp_path / f"{'z' if last else 'a'}.parquet", **ODD_FILES[odd])
    for chosen, (cells, counters) in zip(choices, before, strict=True):
        after, recounted = outcome(tmp_path, **chosen)
        more = {at: after.get(at, 0) - cells.get(at, 0) for at in {*cells, *after}}
        assert min(more.values()) >= 0
        assert sum(more.values()) <= W
        assert recounted["rows"] >= counters["rows"]


@pytest.mark.parametrize("column", ["user", "x", "y", "n", "t"])
def test_a_file_without_a_column_is_nobodys(column: str, tmp_path: Path) -> None:
    one(tmp_path / "m.parquet", user=["ann"] * 2)
    options: dict[str, Any] = {"weight": "n", "where": "t = 'mon'"}
    before, _ = outcome(tmp_path, **options)
    table = pq.read_table(one(tmp_path / "a.parquet"))
    pq.write_table(table.drop_columns([column]), tmp_path / "a.parquet")
    assert outcome(tmp_path, **options)[0] == before
    (tmp_path / "m.parquet").unlink()
    with pytest.raises(DpheatmapError, match=repr(column)):
        outcome(tmp_path, **options)


def test_ids_of_several_types_stay_apart_and_those_of_one_number_together(tmp_path: Path) -> None:
    kinds = {
        "a": pa.int8(),
        "b": pa.int64(),
        "c": pa.uint64(),
        "d": pa.string(),
        "e": pa.binary(),
        "f": pa.decimal128(19),
    }
    for name, kind in kinds.items():
        one(tmp_path / f"{name}.parquet", user=pa.array([7, 7]).cast(kind) if name != "e" else pa.array([b"7"] * 2))
    assert people(tmp_path) == 4, "whole numbers are one, text, bytes and decimals are others"
    cells, _ = outcome(f"{tmp_path}/[abc].parquet")
    assert sum(cells.values()) == 6 * (W // 6)


def test_what_no_file_has_is_refused(tmp_path: Path) -> None:
    one(tmp_path / "a.parquet", user=[1.5, 2.5])
    one(tmp_path / "b.parquet", user=[[1]] * 2)
    with pytest.raises(DataError, match=r"The user column 'user' is of type DOUBLE"):
        people(tmp_path)
    with pytest.raises(PrivacyRefusal, match="no user column 'whom'"):
        people(tmp_path, user="whom")
    one(tmp_path / "b.parquet", x=[1, 2])
    with pytest.raises(DataError, match="where names the column 'z'"):
        people(tmp_path, where="z = 1")
    with pytest.raises(ParameterError, match="Literals in where must be values of the type"):
        people(tmp_path, where="n = 'seven'")


def test_counts_among_other_files_are_read_as_nobodys(tmp_path: Path) -> None:
    dph.aggregate(one(tmp_path / "m.parquet"), UNIT, user="user", x="x", y="y").save(tmp_path / "c.parquet")
    assert people(tmp_path) == 1
    (tmp_path / "m.parquet").unlink()
    with pytest.raises(PrivacyRefusal, match="holds counts"):
        people(tmp_path)


# The footer


@settings(deadline=None, max_examples=200)
@given(st.binary(max_size=60))
def test_what_is_no_footer_fails_as_such(data: bytes) -> None:
    """By the errors that are caught, or it is read as one, of which nothing is left to take away."""
    try:
        plain = without_meaning(data, ["user"])
    except (ValueError, IndexError):
        return
    assert without_meaning(plain, ["user"]) == plain


def test_errors_tell_no_value(tmp_path: Path) -> None:
    rows: dict[str, list[Any]] = {"user": [b"secret\xff"], "x": [0.1], "y": [0.1]}
    path = written(tmp_path / "t.parquet", rows)
    path.write_bytes(path.read_bytes().replace(b"\x19\x3c", b"\x19\x4c", 1))
    with pytest.raises(DpheatmapError) as caught:
        people(path)
    assert "secret" not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None
