"""Small tables of people as every kind of input that the library reads, and what comes out of them."""

from __future__ import annotations

import gzip
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset
import pyarrow.parquet as pq
import pytest

import dpheatmap as dph
from dpheatmap.place.quadtree import decode

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

UNIT = dph.Domain.unit(3)
W = 2**30
Columns = dict[str, list[Any]]
COMPRESS: dict[str, Callable[[bytes], bytes]] = {".gz": gzip.compress, ".zst": zstd.compress}


def outcome(events: Any, domain: dph.Domain = UNIT, **options: Any) -> tuple[dict[Any, int], dict[str, int]]:
    """The weights of the occupied cells and the counters."""
    counts = dph.aggregate(events, domain, **{"user": "user", "x": "x", "y": "y", **options})
    x, y = decode(counts.codes)
    cells = dict(zip(zip(x.tolist(), y.tolist(), strict=True), np.diff(counts.sums).tolist(), strict=True))
    assert counts.report is not None
    assert counts.report.broken_lines == 0 or options["bad_lines"] == "skip"
    return cells, {
        name: value
        for name, value in vars(counts.report).items()
        if name not in ("seconds", "broken_lines", "empty_lines")
    }


def people(events: Any, **options: Any) -> int:
    return outcome(events, **options)[1]["people"]


# Writers: a table of plain values, None for null, as every kind of input


def as_csv(columns: Columns, path: Path, delimiter: str = ",", newline: str = "\n", start: bytes = b"") -> Path:
    """Every value in quotes, null as nothing at all."""

    def field(value: Any) -> str:
        return "" if value is None else '"' + str(value).replace('"', '""') + '"'

    rows = [list(columns), *zip(*columns.values(), strict=True)]
    content = start + "".join(delimiter.join(map(field, row)) + newline for row in rows).encode()
    path.write_bytes(COMPRESS.get(path.suffix, bytes)(content))
    return path


def as_json(columns: Columns, path: Path) -> Path:
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    text = "".join(json.dumps(row) + "\n" for row in rows)
    path.write_bytes(COMPRESS.get(path.suffix, bytes)(text.encode()))
    return path


def as_parquet(columns: Columns, path: Path) -> Path:
    pq.write_table(pa.table(columns), path)
    return path


def as_relation(columns: Columns, path: Path) -> duckdb.DuckDBPyRelation:
    con = duckdb.connect()
    con.register("arrow", pa.table(columns))
    con.execute("CREATE TABLE people AS SELECT * FROM arrow")
    return con.table("people")


def in_parts(write: Callable[[Columns, Path], Any], ending: str) -> Callable[[Columns, Path], str]:
    """Two files in folders of their own, and a glob that finds both."""

    def writer(columns: Columns, path: Path) -> str:
        for part, rows in (("one", slice(0, 2)), ("two", slice(2, None))):
            (path.parent / part).mkdir()
            write({name: values[rows] for name, values in columns.items()}, path.parent / part / f"p{ending}")
        return f"{path.parent}/**/p{ending}"

    return writer


KINDS: dict[str, Callable[[Columns, Path], Any]] = {
    "csv": lambda c, p: as_csv(c, p.with_suffix(".csv")),
    "csv as text": lambda c, p: str(as_csv(c, p.with_suffix(".csv"))),
    "csv.gz": lambda c, p: as_csv(c, p.with_suffix(".csv.gz")),
    "CSV": lambda c, p: as_csv(c, p.with_suffix(".CSV")),
    "semicolons": lambda c, p: as_csv(c, p.with_suffix(".csv"), ";"),
    "tabs": lambda c, p: as_csv(c, p.with_suffix(".tsv"), "\t"),
    "bars": lambda c, p: as_csv(c, p.with_suffix(".txt"), "|"),
    "crlf": lambda c, p: as_csv(c, p.with_suffix(".csv"), newline="\r\n"),
    "byte order mark": lambda c, p: as_csv(c, p.with_suffix(".csv"), newline="\r\n", start=b"\xef\xbb\xbf"),
    "many csv": in_parts(as_csv, ".csv"),
    "json lines": lambda c, p: as_json(c, p.with_suffix(".jsonl")),
    "ndjson.gz": lambda c, p: as_json(c, p.with_suffix(".ndjson.gz")),
    "json": lambda c, p: as_json(c, p.with_suffix(".json")),
    "csv.zst": lambda c, p: as_csv(c, p.with_suffix(".csv.zst")),
    "many json": in_parts(as_json, ".jsonl"),
    "parquet": lambda c, p: as_parquet(c, p.with_suffix(".parquet")),
    "pq": lambda c, p: as_parquet(c, p.with_suffix(".pq")),
    "many parquet": in_parts(as_parquet, ".parquet"),
    "pandas": lambda c, p: pd.DataFrame(c),
    "pandas objects": lambda c, p: pd.DataFrame({n: pd.Series(v, dtype=object) for n, v in c.items()}),
    "pandas nullable": lambda c, p: pd.DataFrame(c).convert_dtypes(),
    "pandas arrow": lambda c, p: pa.table(c).to_pandas(types_mapper=pd.ArrowDtype),
    "pandas category": lambda c, p: pd.DataFrame(c).astype({"user": "category"}),
    "polars": lambda c, p: pl.DataFrame(c),
    "polars lazy": lambda c, p: pl.LazyFrame(c),
    "polars category": lambda c, p: pl.DataFrame(c).with_columns(pl.col("user").cast(pl.Categorical)),
    "arrow": lambda c, p: pa.table(c),
    "arrow dictionary": lambda c, p: pa.table({**c, "user": pa.array(c["user"]).dictionary_encode()}),
    "arrow batch": lambda c, p: pa.table(c).to_batches()[0],
    "arrow reader": lambda c, p: pa.table(c).to_reader(max_chunksize=2),
    "arrow dataset": lambda c, p: pyarrow.dataset.dataset(pa.table(c)),
    "relation": as_relation,
}
by_kind = pytest.mark.parametrize("kind", KINDS)


OF_LINES = (
    "csv", "csv as text", "csv.gz", "csv.zst", "CSV", "semicolons", "tabs", "bars", "crlf", "byte order mark",
    "many csv",
)  # fmt: skip
"""Kinds in which a value can't hold a line feed."""


def table(kind: str, columns: Columns, folder: Path) -> Any:
    return KINDS[kind](columns, folder / "t")


ROWS: Columns = {
    "user": ["ann", "ann", "bob", None, "eve", "ann", "bob", "zoe", "gil"],
    "x": [0.1, 0.9, 0.1, 0.1, 1.0, 7.0, None, 0.5, -0.5],
    "y": [0.1, 0.1, 0.1, 0.1, 1.0, 0.5, 0.5, None, 0.5],
    "n": [1, 3, 5, 1, 1, 1, 1, 1, None],
}
PLAIN = {(0, 0): W // 2 + W, (7, 0): W // 2, (7, 7): W}
WEIGHTED = {(0, 0): W // 4 + W, (7, 0): 3 * W // 4, (7, 7): W}
COUNTERS = {"rows": 9, "without_person": 1, "invalid": 2, "outside": 2, "inside": 4, "people": 3}
