"""Of every kind of table: one person's rows, whatever is in them, add at most W and change nothing else."""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import geopandas
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset
import pyarrow.parquet as pq
import shapely
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.hostile_values import BAD, HOSTILE, assert_no_more_than_one, objects, text
from helpers.tables import outcome

Rows = list[tuple[Any, Any, Any, Any]]
NAMES = ("user", "x", "y", "day")
OTHERS: Rows = [
    ("ann", "0.1", "0.1", "mon"), ("ann", "0.9", "0.1", "tue"), ("bob", "0.1", "0.1", "mon"),
    ("é", "0.6", "1.0", "mon"),
    (None, "0.1", "0.1", "mon"), ("cleo", None, "0.1", "mon"), ("dan", "7", "0.1", None),
]  # fmt: skip


def as_bytes(value: Any) -> bytes:
    """Text with half a letter as the bytes that it might stand for, which are not UTF-8."""
    return value if isinstance(value, bytes) else str(value).encode(errors="surrogatepass")


def arrow(rows: Rows) -> pa.Table:
    def column(values: list[Any]) -> pa.Array:
        known = text([b"" if value is None else as_bytes(value) for value in values])
        missing = pa.array([value is None for value in values])
        return pa.compute.if_else(missing, pa.scalar(None, pa.string()), known)

    return pa.table({name: column([row[k] for row in rows]) for k, name in enumerate(NAMES)})


def frame(rows: Rows) -> pd.DataFrame:
    return pd.DataFrame({name: objects([row[k] for row in rows]) for k, name in enumerate(NAMES)})


def words(rows: Rows) -> Rows:
    """The same with text alone, which may be half a letter."""
    return [tuple(v if v is None or isinstance(v, str) else "\ud800" for v in row) for row in rows]  # type: ignore[misc]


def letters(rows: Rows) -> Rows:
    """The same with text that can be encoded, for tables that hold no other."""
    return [tuple(v if v is None else v.encode(errors="replace").decode() for v in row) for row in words(rows)]  # type: ignore[misc]


def in_parquet(rows: Rows, folder: Path) -> Path:
    pq.write_table(arrow(words(rows)), folder / "t.parquet")
    return folder / "t.parquet"


def a_file_each(rows: Rows, folder: Path) -> Path:
    """The last person's in a file of its own, of plain bytes."""
    pq.write_table(arrow(OTHERS), folder / "m.parquet")
    mine = [row for row in words(rows) if row not in OTHERS]
    columns = {
        name: pa.array([None if row[k] is None else as_bytes(row[k]) for row in mine], pa.binary())
        for k, name in enumerate(NAMES)
    }
    pq.write_table(pa.table(columns), folder / "a.parquet")
    return folder


KINDS: dict[str, Callable[[Rows, Path], Any]] = {
    "pandas": lambda rows, _: frame(rows),
    "numpy": lambda rows, _: {name: frame(rows)[name].to_numpy() for name in NAMES},
    "geopandas": lambda rows, _: geopandas.GeoDataFrame(frame(rows), geometry=[shapely.Point(0, 0)] * len(rows)),
    "pandas text": lambda rows, _: frame(words(rows)).astype("string[python]"),
    "pandas categories": lambda rows, _: pd.DataFrame(
        {name: pd.Categorical(column) for name, column in frame(words(rows)).items()}
    ),
    "pandas arrow": lambda rows, _: arrow(words(rows)).to_pandas(types_mapper=pd.ArrowDtype),
    "numpy text": lambda rows, _: {
        name: np.array(["\ud800" if row[k] is None else row[k] for row in words(rows)]) for k, name in enumerate(NAMES)
    },
    "arrow": lambda rows, _: arrow(words(rows)),
    "arrow reader": lambda rows, _: arrow(words(rows)).to_reader(max_chunksize=3),
    "arrow dataset": lambda rows, _: pyarrow.dataset.dataset(arrow(words(rows))),
    "polars": lambda rows, _: pl.DataFrame(letters(rows), schema=NAMES, orient="row"),
    "relation": lambda rows, _: duckdb.connect().from_arrow(arrow(words(rows))),
    "parquet": in_parquet,
    "a file each": a_file_each,
}
WHERE = "day IN ('mon', 'tue') OR day LIKE '%?' OR LOWER(day) > 'x' OR day > 5"
CHOICES: tuple[dict[str, Any], ...] = (
    {}, {"where": WHERE}, {"partition": {"day": ["mon", "tue"]}, "part": "mon"}, {"where": "user <> 'x' AND x < 2"},
)  # fmt: skip
ODD = [*HOSTILE, *BAD, "0.1", "0.9", "mon", "tue", "1e5"]
values = st.one_of(st.text(st.characters(exclude_categories=[]), max_size=4), st.integers(0, len(ODD) - 1))
"""Text, or a number for one of the odd values, which are best not shown to anybody who compares them."""


@functools.cache
def without(kind: str, choice: int) -> tuple[Any, Any]:
    made = KINDS[kind](OTHERS, Path()) if kind not in ("parquet", "a file each") else arrow(OTHERS)
    return outcome(made, **CHOICES[choice])


@settings(deadline=None, max_examples=120)
@given(
    kind=st.sampled_from(list(KINDS)),
    choice=st.sampled_from(range(len(CHOICES))),
    mine=st.lists(st.tuples(st.integers(0, len(OTHERS)), values, values, values), min_size=1, max_size=5),
    whose=st.one_of(st.just("eve"), values),
)
def test_one_persons_rows_change_nobody_elses_counts(
    kind: str, choice: int, mine: list[Any], whose: Any, tmp_path_factory: Any
) -> None:
    rows = list(OTHERS)
    for place, *row in mine:
        x, y, day = (ODD[value] if isinstance(value, int) else value for value in row)
        rows.insert(place, (ODD[whose] if isinstance(whose, int) else whose, x, y, day))
    table = KINDS[kind](rows, tmp_path_factory.mktemp("t"))
    assert_no_more_than_one(without(kind, choice), outcome(table, **CHOICES[choice]))
