"""Whose row is it? Every kind of table gives the same integers, different ids stay apart, and errors tell nothing."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset
import pytest

from dpheatmap.curator.read.event_files import refuse_changes
from dpheatmap.errors import BrokenRecord, DataError, PrivacyRefusal
from dpheatmap.place.domain import Domain
from helpers.tables import (
    COUNTERS,
    KINDS,
    OF_LINES,
    PLAIN,
    ROWS,
    WEIGHTED,
    Columns,
    W,
    as_csv,
    as_json,
    as_parquet,
    by_kind,
    outcome,
    people,
    table,
)

# The same integers


@by_kind
def test_every_kind_of_table_gives_the_same_integers(kind: str, tmp_path: Path) -> None:
    assert outcome(table(kind, ROWS, tmp_path)) == (PLAIN, COUNTERS)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "pandas"])
def test_and_with_weights(kind: str, tmp_path: Path) -> None:
    """In pandas itself, a column of integers with a null is one of floats; see the refusals below."""
    counters = COUNTERS | {"invalid": 3, "outside": 1}
    events = table(kind, ROWS, tmp_path)
    if kind == "pandas category":
        events = events.astype({"n": "Int64"})
    assert outcome(events, weight="n") == (WEIGHTED, counters)


@pytest.mark.parametrize("kind", ["csv", "json lines", "parquet", "pandas", "polars", "arrow", "relation"])
def test_each_row_a_person(kind: str, tmp_path: Path) -> None:
    cells, counters = outcome(table(kind, ROWS, tmp_path), user=None, each_row_is_a_person=True)
    assert cells == {(0, 0): 3 * W, (7, 0): W, (7, 7): W}
    assert counters == {"rows": 9, "without_person": 0, "invalid": 2, "outside": 2, "inside": 5, "people": 5}


def test_floats_in_json_are_nobody(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    ids = ["9007199254740993.0", "9007199254740992.0", "1e3", "1000", "1000000000000000000000000000001", "-5"]
    path.write_text("".join(f'{{"user": {one}, "x": 0.1, "y": 0.1}}\n' for one in ids))
    assert people(path) == 3


def test_a_file_that_changes_while_it_is_read_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("user,x,y\na,0.1,0.1\n")
    with pytest.raises(DataError, match="changed while it was read"), refuse_changes(path):
        path.write_text("user,x,y\na,0.1,0.1\nb,0.1,0.1\n")


def test_numpy_objects_stay_apart() -> None:
    columns = {"user": np.array([7, "7", "\ud800", None], dtype=object), "x": np.full(4, 0.1), "y": np.full(4, 0.1)}
    assert people(columns) == 2, "half of a letter is nobody"


def test_numpy_columns_will_do() -> None:
    columns = {"user": np.array([1, 1, 2]), "x": np.array([0.1, 0.9, 0.1]), "y": np.full(3, 0.1)}
    assert outcome(columns)[0] == {(0, 0): W // 2 + W, (7, 0): W // 2}


# Different ids stay different people

TEXT_PAIRS = {
    "case": ("Ann", "ann"),
    "trailing space": ("ann", "ann "),
    "leading space": (" ann", "ann"),
    "tab": ("ann", "ann\t"),
    "line end": ("ann", "ann\n"),
    "normal form": (unicodedata.normalize("NFC", "Zoë"), unicodedata.normalize("NFD", "Zoë")),
    "compatibility form": ("Å", "\u212b"),
    "accent": ("Zoe", "Zoë"),
    "sharp s": ("ss", "ß"),
    "invisible": ("ann", "ann\u200b"),
    "zeros": ("007", "7"),
    "decimals": ("7", "7.0"),
    "sign": ("7", "+7"),
    "beyond float": (str(2**53), str(2**53 + 1)),
    "beyond 64 bits": (str(2**64), str(2**64 + 1)),
    "beyond 128 bits": (str(2**128), str(2**128 + 1)),
    "exponent": ("1e3", "1000"),
    "words for nothing": ("NULL", "null"),
    "more words for nothing": ("nan", "NaN"),
    "words for nothing in Python": ("None", "NA"),
    "words for truth": ("true", "True"),
    "dates": ("2024-01-01", "2024-01-01 00:00:00"),
    "quotes": ("O'Neil", 'O"Neil'),
    "backslash": ("a\\b", "a\\\\b"),
    "empty": ("", " "),
    "emptiness in quotes": ("", '""'),
    "plane 1": ("😀", "😁"),
}


@by_kind
def test_ids_that_look_alike_stay_apart(kind: str, tmp_path: Path) -> None:
    ids = sorted({one for pair in TEXT_PAIRS.values() for one in pair if kind not in OF_LINES or "\n" not in one})
    columns: Columns = {"user": [*ids, None, *ids], "x": [0.1] * (2 * len(ids) + 1), "y": [0.1] * (2 * len(ids) + 1)}
    cells, counters = outcome(table(kind, columns, tmp_path))
    assert counters["people"] == len(ids)
    assert counters["without_person"] == 1
    # Each of them has two rows of half a person: they are told apart, and neither is split.
    assert cells == {(0, 0): len(ids) * W}


GUESSABLE = (
    "zeros",
    "decimals",
    "sign",
    "beyond float",
    "beyond 64 bits",
    "exponent",
    "words for nothing",
    "dates",
    "empty",
)


@pytest.mark.parametrize("pair", GUESSABLE)
@pytest.mark.parametrize("kind", ["csv", "json lines", "pandas objects"])
def test_nothing_is_guessed_about_ids_that_look_like_something_else(kind: str, pair: str, tmp_path: Path) -> None:
    """A column that holds nothing but numbers, dates or words for nothing is still one of text."""
    columns: Columns = {"user": [*TEXT_PAIRS[pair]], "x": [0.1, 0.9], "y": [0.1, 0.1]}
    assert outcome(table(kind, columns, tmp_path))[0] == {(0, 0): W, (7, 0): W}


INTEGER_KINDS = [
    "csv",
    "json lines",
    "json",
    "parquet",
    "pandas",
    "pandas objects",
    "pandas arrow",
    "polars",
    "arrow",
]


@pytest.mark.parametrize("kind", [*INTEGER_KINDS, "relation"])
def test_large_integers_stay_apart(kind: str, tmp_path: Path) -> None:
    ids = [2**53, 2**53 + 1, 2**63 - 1, 2**63 - 2, -(2**63), -(2**63) + 1, 0, -1]
    columns: Columns = {"user": ids, "x": [0.1] * 8, "y": [0.1] * 8}
    assert people(table(kind, columns, tmp_path)) == 8


def relation(select: str) -> duckdb.DuckDBPyRelation:
    return duckdb.connect().sql(f"SELECT {select} AS user, 0.1 AS x, 0.1 AS y FROM range(3) t(i)")


@pytest.mark.parametrize(
    "make",
    [
        lambda ids, p: as_csv({"user": ids, "x": [0.1] * 3, "y": [0.1] * 3}, p / "t.csv"),
        lambda ids, p: as_json({"user": ids, "x": [0.1] * 3, "y": [0.1] * 3}, p / "t.jsonl"),
        lambda ids, p: as_json({"user": ids, "x": [0.1] * 3, "y": [0.1] * 3}, p / "t.json"),
        lambda ids, p: pd.DataFrame({"user": pd.Series(ids, dtype=object), "x": 0.1, "y": 0.1}),
        lambda ids, p: pa.table({"user": pa.array(ids, pa.decimal128(38)), "x": [0.1] * 3, "y": [0.1] * 3}),
        lambda ids, p: relation(f"(i + {ids[0]}::HUGEINT)"),
        lambda ids, p: relation(f"(i::UHUGEINT + {ids[0]}::UHUGEINT)"),
        lambda ids, p: relation(f"(i + {ids[0]}::HUGEINT)::BIGNUM"),
        lambda ids, p: relation(f"(i + {ids[0]}::HUGEINT)::DECIMAL(38, 0)"),
    ],
)
def test_integers_beyond_64_bits_stay_apart(make: Callable[[list[int], Path], Any], tmp_path: Path) -> None:
    assert people(make([10**36, 10**36 + 1, 10**36 + 2], tmp_path)) == 3


def test_unsigned_integers_to_the_end() -> None:
    frame = pd.DataFrame({"user": np.array([2**64 - 1, 2**64 - 2], dtype=np.uint64), "x": 0.1, "y": 0.1})
    assert people(frame) == 2
    assert people(pl.from_pandas(frame)) == 2
    assert people(relation("340282366920938463463374607431768211453::UHUGEINT + i::UHUGEINT")) == 3


def test_a_pandas_column_of_objects_keeps_7_and_its_text_apart() -> None:
    ids = [
        7,
        "7",
        "int:7",
        "\x1fint:7",
        "\x1f\x1fint:7",
        7.0,
        True,
        "True",
        np.int64(7),
        None,
        float("nan"),
        pd.NA,
        (7,),
    ]
    frame = pd.DataFrame({"user": pd.Series(ids, dtype=object), "x": 0.1, "y": 0.1})
    # 7 and np.int64(7) are one person, the three nulls and the tuple are nobody, and all others people of their own.
    assert people(frame) == len(ids) - 1 - 4
    assert outcome(frame)[1]["without_person"] == 4
    assert people(frame.rename(columns={"user": 0}).set_axis([0, 1, 2], axis=1), user="0", x="1", y="2") == len(ids) - 5


@pytest.mark.parametrize("late", [False, True])
def test_a_sample_never_decides_what_a_pandas_column_holds(late: bool) -> None:
    """The odd one stands first or last among more rows than anything samples."""
    ids: list[Any] = ["7", *[7] * 5000] if not late else [*[7] * 5000, "7"]
    xs: list[Any] = [0.1] * 2501 + ["somewhere"] + [0.1] * 2499  # a sample would take every fifth row
    frame = pd.DataFrame({"user": pd.Series(ids, dtype=object), "x": pd.Series(xs, dtype=object), "y": 0.1})
    _, counters = outcome(frame)
    assert (counters["people"], counters["invalid"]) == (2, 1)


ODD_ROWS = {
    "many keys": json.dumps({"user": "z", "x": 0.5, "y": 0.5, **{f"k{k}": k for k in range(300)}}),
    "other keys": json.dumps({f"k{k}": k for k in range(300)}),
    "an empty key": '{"": 1, "user": "z", "x": 0.5, "y": 0.5}',
    "keys in capitals": '{"USER": "z", "X": 0.5, "Y": 0.5}',
    "both": '{"USER": "y", "user": "z", "X": 0.1, "x": 0.5, "y": 0.5}',
    "a key twice": '{"user": "z", "user": "y", "x": 0.5, "x": 0.1, "y": 0.5}',
    "a deep value": '{"user": "z", "x": 0.5, "y": 0.5, "more": ' + "[" * 500 + "]" * 500 + "}",
    "values that are none": '{"user": {"a": 1}, "x": [1], "y": {"b": 2}}',
    "strange keys": json.dumps({"user": "z", "x": 0.5, "y": 0.5, "a'b\"c": 1, "\n": 2, "~/$*": 3, "\0": 4}),
    "nothing": "{}",
}


@pytest.mark.parametrize("row", ODD_ROWS.values(), ids=ODD_ROWS)
def test_whatever_is_in_one_persons_row_of_json_changes_nobody_elses(row: str, tmp_path: Path) -> None:
    """It is not refused either: that would tell that they are there."""

    def counted(*rows: str) -> tuple[Any, Any]:
        (tmp_path / "t.json").write_text("\n".join(rows))
        return outcome(tmp_path / "t.json", Domain.unit(3), user="user", x="x", y="y")

    others = [json.dumps({"user": f"u{k}", "x": k / 20, "y": 0.25}) for k in range(20)]
    without, _ = counted(*others)
    cells, counters = counted(others[0], row, *others[1:])
    assert counters["rows"] == 21
    more = {at: cells.get(at, 0) - without.get(at, 0) for at in cells.keys() | without.keys()}
    assert {at: weight for at, weight in more.items() if weight} in ({}, {(4, 4): W})


@pytest.mark.parametrize(
    "row", ["null", "5", "true", '"text"', "[1, 2]", '[{"user": "z", "x": 0.5, "y": 0.5}]', "{}{}"]
)
def test_a_line_of_json_that_is_no_object_is_broken(row: str, tmp_path: Path) -> None:
    path = tmp_path / "t.json"
    path.write_text(json.dumps({"user": "ann", "x": 0.1, "y": 0.1}) + "\n" + row)
    with pytest.raises(BrokenRecord):
        people(path)
    assert people(path, bad_lines="skip") == 1


def test_json_keeps_7_and_its_text_apart_and_knows_its_escapes(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    ids = ["7", '"7"', "7.0", '"\\u00e9"', '"é"', '"e\\u0301"', '"\\u002f"', '"/"', '"\\/"', "null", "true", '"true"']
    path.write_text("".join(f'{{"user": {one}, "x": 0.1, "y": 0.1}}\n' for one in ids), encoding="utf-8")
    # "\u00e9" is "é" and the slashes are one, however they are written; null is nobody, and so is a float.
    assert people(path) == len(ids) - 1 - 2 - 2
    assert people(path, where="user = '7'") == 2, "where sees the text of an id"
    assert people(path, where="user <> '7' AND user LIKE '%e%'") == 3


PLACES = {"x": [0.1, 0.1], "y": [0.1, 0.1]}


@pytest.mark.parametrize(
    "make",
    [
        lambda: pd.DataFrame({"user": [1.0, 2.0], **PLACES}),
        lambda: pd.DataFrame({"user": [1, None], **PLACES}),
        lambda: pd.DataFrame({"user": pd.Categorical([1.5, 2.5]), **PLACES}),
        lambda: pl.DataFrame({"user": pl.Series([1.0, 2.0], dtype=pl.Float32), **PLACES}),
        lambda: pa.table({"user": [1.0, None], **PLACES}),
        *(lambda ids=ids: relation(ids) for ids in ("i::DOUBLE", "i::FLOAT", "[i]", "[i::DECIMAL(3, 1)]", "{'a': i}",
          "[TIMESTAMP '2024-01-01']", "to_days(i::INTEGER)", "MAP {'a': i}")),
    ],
)  # fmt: skip
def test_ids_that_could_become_equal_are_refused(make: Callable[[], Any]) -> None:
    with pytest.raises(DataError, match=r"The user column 'user' is of type .*Store ids as integers or text"):
        people(make())
    assert outcome(make(), user=None, each_row_is_a_person=True)[1]["people"] > 0


def test_parquet_floats_are_refused_too(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="of type DOUBLE"):
        people(as_parquet({"user": [1.5], "x": [0.1], "y": [0.1]}, tmp_path / "t.parquet"))


@pytest.mark.parametrize(
    "ids", ["('a' || i)::BLOB", "uuid()", "DATE '2024-01-01' + i::INTEGER", "TIMESTAMP '2024-01-01' + to_seconds(i)",
            "(i || '.5')::DECIMAL(5, 2)", "('a' || i)::ENUM('a0', 'a1', 'a2')", "i::BIT", "i::UTINYINT"]
)  # fmt: skip
def test_other_exact_types_are_ids(ids: str) -> None:
    assert people(relation(ids)) == 3


# Names

NAMES = [
    ("Wer war's?", 'the "id"', "größe", "人"),
    ("select", "a.b", "x; DROP TABLE t --", " padded "),
    ("a,b;c", "{x}", "1", "it''s"),
]


@pytest.mark.parametrize("roles", NAMES)
@pytest.mark.parametrize(
    "kind", ["csv", "semicolons", "json lines", "parquet", "pandas", "polars", "arrow", "relation"]
)
def test_columns_may_have_any_name(kind: str, roles: tuple[str, ...], tmp_path: Path) -> None:
    values: list[list[Any]] = [["a", "b"], [0.1, 0.9], [0.1, 0.1], [1, 2]]
    events = table(kind, dict(zip(roles, values, strict=True)), tmp_path)
    only = " AND ".join(
        '"' + name.replace('"', '""') + f'" = {v}' for name, v in zip(roles[::3], ("'a'", 1), strict=True)
    )
    options: dict[str, Any] = dict(zip(("user", "x", "y", "weight"), roles, strict=True))
    assert outcome(events, **options, where=only)[0] == {(0, 0): W}


PATTERNS = ["a[1]", "[ab]", "a*b", "a?b", "{a,b}", "it's"]
FILES = [
    *((name, ending) for name in PATTERNS for ending in (".csv", ".parquet", ".jsonl")),
    *((name, ".csv") for name in ('a "b" c', "größe 人 😀", "a\\b", "%41", "#1", "~", "-rf", "a;b", "$HOME", "a=1")),
]


@pytest.mark.parametrize(("name", "ending"), FILES)
def test_files_may_have_any_name_and_are_not_patterns(name: str, ending: str, tmp_path: Path) -> None:
    write: Callable[[Columns, Path], Any] = {".csv": as_csv, ".parquet": as_parquet, ".jsonl": as_json}[ending]
    (tmp_path / f"user={name}").mkdir()
    for decoy in ("a1", "a", "b", "acb", "axxb"):
        write({"user": ["decoy"], "x": [0.5], "y": [0.5]}, tmp_path / f"user={name}" / f"{decoy}{ending}")
    path = tmp_path / f"user={name}" / f"{name}{ending}"
    write({"user": ["u", "v"], "x": [0.1, 0.1], "y": [0.1, 0.1]}, path)
    cells, counters = outcome(path)
    assert cells == {(0, 0): 2 * W}
    assert (counters["rows"], counters["people"]) == (2, 2)


def test_a_folder_never_decides_whose_rows_they_are(tmp_path: Path) -> None:
    """Engines read user=7/ as a column; it would make one person of all the people in the file."""
    columns: Columns = {"user": ["u", "v"], "x": [0.1, 0.1], "y": [0.1, 0.1]}
    (tmp_path / "user=7").mkdir()
    for kind in ("csv", "parquet", "json lines"):
        assert people(table(kind, columns, tmp_path / "user=7")) == 2
    del columns["user"]
    with pytest.raises(PrivacyRefusal, match="no user column"):
        people(as_parquet(columns, tmp_path / "user=7" / "other.parquet"))
