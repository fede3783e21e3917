"""A row is a function of its own record: one person's values, whatever they are, change nobody else's counts.

Nor do they refuse the table, which would tell that they are there. Here for tables in memory; of Parquet in
`test_parquet_alone.py`.
"""

from __future__ import annotations

import datetime as dt
import decimal
import uuid
from collections.abc import Callable
from typing import Any

import duckdb
import geopandas
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset
import pytest
import shapely
from hypothesis import given, settings
from hypothesis import strategies as st

import dpheatmap as dph
from dpheatmap.errors import DataError
from helpers.hostile_values import (
    BAD,
    GOOD,
    HOSTILE,
    HUGE,
    Explosive,
    ExplosiveText,
    assert_alone,
    assert_no_more_than_one,
    objects,
    text,
)
from helpers.tables import UNIT, Columns, outcome, people

OTHERS: Columns = {
    "user": ["ann", "ann", "bob", "cleo"],
    "x": [0.1, 0.9, 0.1, 0.6],
    "y": [0.1, 0.1, 0.1, 0.6],
    "n": [1, 3, 5, 2],
    "day": ["mon", "tue", "mon", "mon"],
    "part": ["north"] * 4,
}
CASES: dict[str, dict[str, Any]] = {
    "user": {},
    "x": {},
    "y": {},
    "n": {"weight": "n"},
    "day": {"where": "day = 'mon' OR day <> 'x' OR day > 5 OR LOWER(day) LIKE 'm%'"},
    "part": {"partition": {"part": ["north", "south"]}, "part": "north"},
    "note": {},
}
"""Columns in which the one value stands, and what makes them of consequence."""


# Plain objects


def frame_with(column: str, *values: Any) -> pd.DataFrame:
    """The others' rows, and rows of one more person with these values in the column."""
    more = {"user": "eve", "x": 0.3, "y": 0.3, "n": 1, "day": "mon", "part": "north", "note": ""}
    rows = {name: [*OTHERS.get(name, [""] * 4), *[value] * len(values)] for name, value in more.items()}
    rows[column][4:] = values
    return pd.DataFrame({name: objects(entries) for name, entries in rows.items()})


AS: dict[str, Callable[[pd.DataFrame], Any]] = {
    "pandas": lambda frame: frame,
    "numpy": lambda frame: {name: frame[name].to_numpy() for name in frame.columns},
    "geopandas": lambda frame: geopandas.GeoDataFrame(frame, geometry=[shapely.Point(0, 0)] * len(frame)),
}


@pytest.mark.parametrize("kind", AS)
@pytest.mark.parametrize("column", CASES)
def test_no_object_changes_other_peoples_counts(column: str, kind: str) -> None:
    options = CASES[column]
    before = outcome(AS[kind](frame_with(column)), **options)
    for values in [[value] for value in HOSTILE] if column == "user" else [HOSTILE]:
        assert_no_more_than_one(before, outcome(AS[kind](frame_with(column, *values)), **options))


def test_an_object_in_the_column_of_images_is_on_none() -> None:
    frame = frame_with("day", *HOSTILE)
    columns: dict[str, Any] = {"image": "day", "user": "user", "x": "x", "y": "y"}
    made = dph.release_images(frame, UNIT, images=["mon", "tue"], epsilon=1, **columns)
    assert list(made) == ["mon", "tue"]


def test_values_that_are_no_person() -> None:
    nobody = [
        None,
        float("nan"),
        pd.NaT,
        pd.NA,
        np.datetime64("NaT"),
        "\ud800",
        "a\udcff",
        [7],
        (7,),
        {"a": 7},
        Explosive(),
    ]
    frame = pd.DataFrame({"user": pd.Series(nobody, dtype=object), "x": 0.1, "y": 0.1})
    assert outcome(frame)[1]["without_person"] == len(nobody)
    frame["user"] = pd.Series([ExplosiveText("ann"), "ann", *nobody[2:]], dtype=object)
    assert people(frame) == 1, "its letters are what counts"


def test_objects_that_differ_are_different_people() -> None:
    now, ns = pd.Timestamp(1001, tz="UTC"), np.datetime64(1001, "ns")
    ids = [
        7, "7", True, "True", b"7", 7.0, "7.0", decimal.Decimal(7), decimal.Decimal("7.0"), np.float32(7),
        np.str_("seven"),
        "\x1fint:0x7", "\x1f\x1fint:0x7", "", 10**5000, 10**5000 + 1, -7, now, now + pd.Timedelta(1), ns,
        np.datetime64(1002, "ns"),
        np.timedelta64(7, "s"), pd.Timedelta(7), pd.Timedelta(8), dt.date(2024, 1, 1), dt.datetime(2024, 1, 1),
        dt.time(7), uuid.UUID(int=7), "a\0b", "a\0c", "a", "a ", "😀",
    ]  # fmt: skip
    for columns in ([*ids, None], [*ids, *reversed(ids)]):
        frame = pd.DataFrame({"user": pd.Series(columns, dtype=object), "x": 0.1, "y": 0.1})
        assert people(frame) == len(ids)
        assert people({name: frame[name].to_numpy() for name in frame.columns}) == len(ids)
    same = pd.Series([7, np.int64(7), np.uint8(7), True, np.True_], dtype=object)
    assert people(pd.DataFrame({"user": same, "x": 0.1, "y": 0.1})) == 2


@settings(deadline=None, max_examples=40)
@given(
    st.lists(st.one_of(st.text(), st.integers(), st.binary(), st.booleans(), st.floats(allow_nan=False)), max_size=8)
)
def test_the_map_of_ids_is_one_to_one(ids: list[Any]) -> None:
    different = {(type(one), one if one != 0 else str(one)) for one in ids}
    frame = pd.DataFrame({"user": pd.Series(ids, dtype=object), "x": 0.1, "y": 0.1})
    assert people(frame) == len(different)


@pytest.mark.parametrize("column", CASES)
def test_a_row_of_17_megabytes_is_one_row(column: str) -> None:
    frame = frame_with(column, HUGE)
    without = frame_with(column)
    relation = duckdb.connect().from_df(frame.astype(dict.fromkeys(("user", "day", "part", "note"), "str")))
    for table in (frame, relation):
        assert_alone(without, table, **CASES[column])


def test_lists_have_no_dtype_of_their_own() -> None:
    with pytest.raises(DataError, match="A dict can't be read"):
        people({"user": [1, 2], "x": [0.1, 0.1], "y": [0.1, 0.1]})


# Columns that nobody named


def test_columns_that_are_not_named_are_of_no_consequence() -> None:
    frame = pd.DataFrame({name: values for name, values in OTHERS.items() if name in ("user", "x", "y")})
    expected = outcome(frame)
    odd: dict[str, Any] = {
        "objects": pd.Series([Explosive()] * 4, dtype=object), "complex": [1j] * 4,
        "period": pd.period_range("2024", periods=4),
        "interval": pd.interval_range(0, 4), "sparse": pd.arrays.SparseArray([1, 0, 0, 2]), "huge": [HUGE] * 4,
        "categories": pd.Categorical(pd.Series([1, "1", None, 2], dtype=object)),
    }  # fmt: skip
    assert outcome(frame.assign(**odd)) == expected
    polars = pl.DataFrame(OTHERS).with_columns(pl.Series("odd", [object()] * 4, dtype=pl.Object))
    assert outcome(polars) == expected
    arrow = pa.table(OTHERS).append_column("odd", pa.array([1, 2, 3, 4], pa.decimal256(50)))
    for table in (arrow, arrow.to_reader(), pyarrow.dataset.dataset(arrow), arrow.to_batches()[0]):
        assert outcome(table) == expected
    shapes = geopandas.GeoDataFrame(frame.assign(**odd), geometry=[shapely.Point(0, 0)] * 4)
    assert outcome(shapes) == expected
    relation = duckdb.connect().sql("SELECT 'ann' AS user, 0.1 AS x, 0.1 AS y, CAST('nothing' AS INTEGER) AS odd")
    assert people(relation) == 1
    with pytest.raises(
        DataError, match="There is no coordinate column 'lon' in the table, which has user, x, y, objects"
    ):
        people(frame.assign(**odd), x="lon")


# Text


TEXTS: dict[str, Callable[[pa.Array], Any]] = {
    "arrow": lambda ids: pa.table({"user": ids}),
    "arrow dictionary": lambda ids: pa.table(
        {"user": pa.DictionaryArray.from_arrays(pa.array(range(len(ids))), ids, safe=False)}
    ),
    "arrow batch": lambda ids: pa.table({"user": ids}).to_batches()[0],
    "arrow reader": lambda ids: pa.table({"user": ids}).to_reader(),
    "arrow dataset": lambda ids: pyarrow.dataset.dataset(pa.table({"user": ids})),
    "pandas arrow": lambda ids: pd.DataFrame(
        {"user": pd.Series(pd.arrays.ArrowExtensionArray(pa.chunked_array([ids])))}
    ),
    "pandas string": lambda ids: pd.DataFrame(
        {"user": pd.Series(pd.arrays.ArrowStringArray(pa.chunked_array([ids]).cast(pa.large_string())))}
    ),
}


@pytest.mark.parametrize("kind", TEXTS)
def test_arrows_text_that_is_not_utf8_is_nobodys(kind: str) -> None:
    options: dict[str, Any] = {"x": "user", "y": "user", "domain": dph.Domain.image(10, 10)}
    _, counters = outcome(TEXTS[kind](text([*BAD, *GOOD, *BAD, b"3"])), **options)
    assert (counters["without_person"], counters["inside"], counters["invalid"]) == (2 * len(BAD), 1, len(GOOD))
    for where in ("user = '3'", "user > 2", "LOWER(user) LIKE '3%'", "user <> 'b'", "UPPER(user) = '3'"):
        assert outcome(TEXTS[kind](text([*BAD, *GOOD, b"3"])), where=where, **options)[1]["inside"] == 1


@pytest.mark.parametrize(
    "column",
    [
        lambda values: pd.Series(values, dtype="string[python]"),
        lambda values: pd.Series(values, dtype=pd.StringDtype("python", na_value=np.nan)),
        lambda values: pd.Series(pd.Categorical(pd.Series(values, dtype=object))),
        lambda values: pd.Series(values, dtype=object),
        lambda values: np.array([value or "none" for value in values]),
    ],
)
def test_text_of_pandas_and_numpy_that_is_none(column: Callable[[list[Any]], Any]) -> None:
    ids = column(["ann", "\ud800", "bob", "\udfff", None, "ann", "\x1fann", "é"])
    make: Callable[..., Any] = (lambda **c: c) if isinstance(ids, np.ndarray) else (lambda **c: pd.DataFrame(c))
    table = make(user=ids, x=np.full(8, 0.1), y=np.full(8, 0.1))
    absent = 0 if isinstance(ids, np.ndarray) else 1
    _, counters = outcome(table)
    assert (counters["people"], counters["without_person"]) == (5 - absent, 2 + absent)
    assert outcome(table, where="user = 'ann' OR user LIKE 'b%'")[1]["people"] == 2
    assert outcome(make(user=np.arange(8), x=ids, y=np.full(8, 0.1)))[1]["invalid"] == 8


def test_categories_are_read_by_the_type_of_the_categories() -> None:
    """One row without a category made floats of whole numbers, and two categories of one text refused the table."""
    places = {"x": [0.1] * 4, "y": [0.1] * 4}
    for missing in (2**53, None):
        assert people(pd.DataFrame({"user": pd.Categorical([1, 2**53 + 1, missing, 2]), **places})) == 3 + (
            missing == 2**53
        )
        mixed = pd.Categorical(pd.Series([1, "1", missing, True], dtype=object))
        assert people(pd.DataFrame({"user": mixed, **places})) == 2 + (missing == 2**53)
    with pytest.raises(DataError, match="'user' is of type DOUBLE"):
        people(pd.DataFrame({"user": pd.Categorical([1.5, 2.5, None, 1.5]), **places}))


# Times


@pytest.mark.parametrize("unit", ["ns", "us", "ms", "s"])
@pytest.mark.parametrize("zone", [None, "UTC", "Europe/Zurich"])
def test_people_whose_ids_are_times_a_tick_apart_are_two(unit: Any, zone: str | None) -> None:
    ticks = [1001, 1002, 1003, 2**62, 2**62 + 1, -(2**62), None]
    arrow = pa.table({"user": pa.array(ticks, pa.timestamp(unit, zone)), "x": [0.1] * 7, "y": [0.1] * 7})
    numbers = np.array([-(2**63) if one is None else one for one in ticks])
    times = pd.Series(numbers.view(f"datetime64[{unit}]"))
    times = times if zone is None else times.dt.tz_localize("UTC").dt.tz_convert(zone)
    tables: list[Any] = [
        arrow, arrow.to_reader(), pyarrow.dataset.dataset(arrow), arrow.to_batches()[0],
        pd.DataFrame({"user": times, "x": 0.1, "y": 0.1}), arrow.to_pandas(types_mapper=pd.ArrowDtype),
        pd.DataFrame({"user": pd.Categorical(times), "x": 0.1, "y": 0.1}),
    ]  # fmt: skip
    if zone is None:
        tables += [{"user": numbers.view(f"{kind}64[{unit}]"), "x": np.full(7, 0.1), "y": np.full(7, 0.1)}
                   for kind in ("datetime", "timedelta")]  # fmt: skip
        tables.append(pd.DataFrame({"user": numbers.view(f"timedelta64[{unit}]"), "x": 0.1, "y": 0.1}))
    if unit != "s":
        tables += [pl.from_arrow(arrow), pl.from_arrow(arrow).lazy()]  # type: ignore[union-attr]
    for table in tables:
        assert outcome(table)[1] | {"rows": 7} == {
            "rows": 7, "without_person": 1, "invalid": 0, "outside": 0, "inside": 6, "people": 6
        }  # fmt: skip


@pytest.mark.parametrize("unit", ["us", "ms", "s"])
@pytest.mark.parametrize("zone", [None, "UTC"])
def test_a_time_that_is_too_far_away_is_null_for_its_row(unit: Any, zone: str | None) -> None:
    second = {"us": 10**6, "ms": 1000, "s": 1}[unit]
    ticks = [1_700_000_000 * second, 2**62, -(2**62), None, 86400 * second]
    arrow = pa.table(
        {"user": list("abcde"), "x": [0.1] * 5, "y": [0.1] * 5, "t": pa.array(ticks, pa.timestamp(unit, zone))}
    )
    times = pd.Series(np.array([-(2**63) if one is None else one for one in ticks]).view(f"datetime64[{unit}]"))
    times = times if zone is None else times.dt.tz_localize("UTC")
    frame = pd.DataFrame({"user": list("abcde"), "x": 0.1, "y": 0.1, "t": times})
    tables: list[Any] = [
        arrow,
        arrow.to_reader(),
        pyarrow.dataset.dataset(arrow),
        frame,
        arrow.to_pandas(types_mapper=pd.ArrowDtype),
    ]
    if zone is None:
        tables.append({name: frame[name].to_numpy() for name in frame.columns})
    if unit != "s":
        tables.append(pl.from_arrow(arrow))
    for table in tables:
        where = "t >= '2023-06-01' AND t < '2024-06-01' AND EXTRACT(year FROM t) = 2023"
        assert outcome(table, where=where)[1]["people"] == 1
