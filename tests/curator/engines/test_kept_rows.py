"""Rows that the embedded engine keeps: nobody becomes another, and what becomes of a row depends on that row alone."""

from __future__ import annotations

import decimal
import os
import subprocess
import sys
import uuid
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from datetime import datetime, timedelta
from importlib import import_module
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pytest

import dpheatmap as dph
from dpheatmap.curator.core import query
from dpheatmap.curator.engines import duckdb as engine
from dpheatmap.curator.read.coordinate_system import converting
from dpheatmap.errors import DataError, DomainError
from dpheatmap.place.mask import Runs
from helpers import nasty
from helpers.tables import outcome

COLUMNS: dict[str, Any] = {"user": "u", "x": "x", "y": "y"}
KINDS = ("parquet", "csv", "frame", "relation", "glob")


def given(events: pa.Table, kind: str, folder: Path) -> Any:
    """A table in one of the ways that the embedded engine reads."""
    if kind == "frame":
        return events.to_pandas().astype({"u": "string", "w": "Int64"})
    with duckdb.connect() as con:
        con.register("events", events)
        if kind == "csv":
            con.execute(f"COPY (SELECT * FROM events WHERE u <> '') TO '{folder}/events.csv'")
            return str(folder / "events.csv")
        con.execute(f"COPY events TO '{folder}/events.parquet'")
    if kind == "relation":
        return duckdb.connect().read_parquet(str(folder / "events.parquet"))
    return str(folder / ("*.parquet" if kind == "glob" else "events.parquet"))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "domain", [nasty.REGION, nasty.BEYOND, nasty.UP_TO_GREENWICH[1]], ids=["region", "beyond", "to 360"]
)
@pytest.mark.parametrize("options", [{}, {"weight": "w"}, {"user": None, "each_row_is_a_person": True}])
def test_every_way_in_gives_the_same_integers(
    kind: str, domain: dph.Domain, options: dict[str, Any], tmp_path: Path
) -> None:
    events = nasty.table(domain, 1500)
    rows = [row for row in events.to_pylist() if kind != "csv" or row["u"]]
    weighted, each = "weight" in options, "user" in options
    wanted = nasty.expected(pa.Table.from_pylist(rows, nasty.SCHEMA), domain, weighted=weighted, each=each)
    cells, counters = outcome(given(events, kind, tmp_path), domain, **{**COLUMNS, **options})
    assert {at: weight for at, weight in cells.items() if weight} == wanted[0]
    assert {name: counters[name] for name in wanted[1]} == wanted[1]


big = 2**100
IDS: dict[str, tuple[str, list[Any]]] = {
    "HUGEINT": ("HUGEINT", [big, big + 1, 2**53, 2**53 + 1, -big, -big - 1]),
    "UHUGEINT": ("UHUGEINT", [2**127, 2**127 + 1, 2**53, 2**53 + 1]),
    "UBIGINT": ("UBIGINT", [2**64 - 1, 2**64 - 2, 2**53, 2**53 + 1]),
    "DECIMAL": ("DECIMAL(38, 0)", [decimal.Decimal(10**37), decimal.Decimal(10**37 + 1), decimal.Decimal(2**53 + 1)]),
    "UUID": ("UUID", [uuid.UUID(int=k) for k in (0, 1, 2**127, 2**127 + 1)]),
    "TIMESTAMP_NS": ("TIMESTAMP_NS", [f"2024-01-01 00:00:00.00000000{k}" for k in range(1, 4)]),
    "TIMESTAMP_S": ("TIMESTAMP_S", [f"2024-01-01 00:00:0{k}" for k in range(1, 4)]),
    "TIMESTAMP": ("TIMESTAMP", [datetime(2024, 1, 1) + timedelta(microseconds=k) for k in range(3)]),
    "TIMESTAMPTZ": ("TIMESTAMPTZ", ["2024-10-27 02:30:00+02", "2024-10-27 02:30:00+01"]),
    "TIME": ("TIME", ["00:00:00.000001", "00:00:00.000002"]),
    "BIT": ("BIT", ["0", "00", "1", "01"]),
    "BLOB": ("BLOB", [b"a", b"a\x00", b"\xff", b"\xff\x00"]),
    "VARCHAR": ("VARCHAR", ["a", "a ", "A", "a\u0308", "\u00e4", ""]),
    "ENUM": ("ENUM('1', '01', '1 ')", ["1", "01", "1 "]),
    "BOOLEAN": ("BOOLEAN", [True, False]),
    "DATE": ("DATE", ["2024-01-01", "2024-01-02"]),
}


@pytest.mark.parametrize("kind", IDS)
def test_nobody_becomes_another_when_rows_are_kept(kind: str) -> None:
    """Two people of two events each: if they became one, each event would weigh a quarter."""
    declared, ids = IDS[kind]
    with engine.connection() as (own, folder):
        own.execute(f"CREATE TABLE t (u {declared}, x DOUBLE, y DOUBLE)")
        own.executemany("INSERT INTO t VALUES (?, 0.0, -5.0), (?, 20.0, -5.0)", [[one, one] for one in ids])
        roles = {"weighted": False, "each_row_is_a_person": False, "grouped": False}
        relation = query.mapped_rows("SELECT u AS person, x, y FROM t", nasty.REGION, **roles)
        table = engine_table()
        kept, _ = engine.keep_rows(own, relation, nasty.REGION.runs, None, table=table, folder=folder)
        sql = query.aggregation(kept, nasty.REGION, mapped=True, **roles)
        rows = own.execute(sql).fetchall()
    assert {y: weight for x, y, weight in rows if x < 0}[query.COUNTERS.index("people")] == len(ids)
    assert sorted(weight for x, _, weight in rows if x >= 0) == [len(ids) * 2**29] * 2


def engine_table() -> Any:
    """A table that is read as it is."""
    from dpheatmap.curator.read.table import Table

    return Table("t", {"u": "BIGINT", "x": "DOUBLE", "y": "DOUBLE"}, "the table")


def test_without_the_cast_large_ids_become_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """The planted bug: DuckDB writes such numbers as floats."""
    monkeypatch.setattr(engine, "_LASTING", (*engine._LASTING, "HUGEINT"))
    with pytest.raises(AssertionError):
        test_nobody_becomes_another_when_rows_are_kept("HUGEINT")


def test_nobody_weighs_more_than_1_even_if_runs_overlapped(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is weighed and what it is divided by come from the same rows."""
    runs = nasty.REGION.runs
    assert runs is not None
    twice = Runs(*(np.repeat(column, 2) for column in (runs.row, runs.first, runs.last)))
    monkeypatch.setattr(dph.Domain, "runs", twice)
    events = pa.table({"u": ["a"], "x": [0.0], "y": [-5.0]})
    assert dph.aggregate(events, nasty.REGION, **COLUMNS).total == 2**30


def test_a_statement_for_databases_takes_only_so_many_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(query, "MOST_RUNS", 10)
    with pytest.raises(DomainError, match="pieces of rows"):
        dph.sql(nasty.REGION, dialect="bigquery", table="t", user="u", x="x", y="y")
    events = nasty.table(nasty.REGION, 50)
    assert dph.aggregate(events, nasty.REGION, **COLUMNS).total > 0  # the embedded engine takes any


@pytest.mark.parametrize("dialect", ["bigquery", "databricks", "duckdb", "postgres", "redshift", "snowflake", "trino"])
def test_warehouses_get_the_runs_as_constants(dialect: str) -> None:
    text = dph.sql(nasty.REGION, dialect=dialect, table="t", user="u", x="x", y="y")
    runs = nasty.REGION.runs
    assert runs is not None
    first = (runs.row[0], runs.first[0], runs.last[0])
    assert ", ".join(map(str, first)) in text.replace(" AS run_row", "").replace(" AS run_first", "").replace(
        " AS run_last", ""
    )
    assert "--inside FILE" in text


# Another system of coordinates

SWISS = dph.Domain.bbox(7.3, 46.8, 7.6, 47.1, depth=14)


def swiss_rows(size: int = 4000) -> pa.Table:
    rng = np.random.default_rng(3)
    east, north = rng.uniform(2_590_000, 2_615_000, size), rng.uniform(1_185_000, 1_218_000, size)
    return pa.table({"u": rng.integers(0, 400, size), "x": east, "y": north})


def test_swiss_coordinates_fall_where_pyproj_says() -> None:
    import pyproj

    rows = swiss_rows()
    lon, lat = pyproj.Transformer.from_crs("EPSG:2056", "EPSG:4326", always_xy=True).transform(
        rows["x"].to_numpy(), rows["y"].to_numpy()
    )
    degrees = pa.table({"u": rows["u"], "x": lon, "y": lat})
    assert outcome(rows, SWISS, crs="EPSG:2056", **COLUMNS) == outcome(degrees, SWISS, **COLUMNS)


HOSTILE = [np.nan, np.inf, -np.inf, 1e308, -1e308, 5e-324, 0.0, 1e20, None]


def test_a_row_is_converted_by_itself(tmp_path: Path) -> None:
    """Hostile rows of one person, in any order and number, move nobody else's."""
    rows = swiss_rows(1500)
    before, _ = outcome(rows, SWISS, crs="EPSG:2056", **COLUMNS)
    hostile = pa.table(
        {
            "u": [9999] * 81,
            "x": pa.array(HOSTILE * 9, pa.float64()),
            "y": pa.array([one for one in HOSTILE for _ in range(9)], pa.float64()),
        }
    )
    rng = np.random.default_rng(1)
    for _ in range(3):
        together = pa.concat_tables([rows, hostile.cast(rows.schema)]).take(rng.permutation(1500 + 81))
        pa.parquet.write_table(together, tmp_path / "t.parquet", row_group_size=int(rng.integers(1, 200)))
        after, _ = outcome(str(tmp_path / "t.parquet"), SWISS, crs="EPSG:2056", **COLUMNS)
        changes = {at: after.get(at, 0) - before.get(at, 0) for at in {*before, *after}}
        assert min(changes.values()) >= 0
        assert sum(changes.values()) <= 2**30


def test_a_conversion_with_a_memory_would_be_seen(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The planted bug: a point that can't be converted takes the place of the one before."""
    import pyproj

    class Remembering:
        def transform(self, x: Any, y: Any) -> Any:
            lon, lat = (np.asarray(each) for each in honest.transform(x, y))
            bad = ~np.isfinite(lon)
            last = np.maximum.accumulate(np.where(bad, 0, np.arange(len(lon))))
            return lon[last], lat[last] + 0.001 * np.cumsum(bad)

    honest = pyproj.Transformer.from_crs("EPSG:2056", "EPSG:4326", always_xy=True)
    monkeypatch.setattr(pyproj.Transformer, "from_crs", lambda *_, **__: Remembering())
    with pytest.raises(AssertionError):
        test_a_row_is_converted_by_itself(tmp_path)


@pytest.mark.parametrize("crs", ["EPSG:0", "nonsense", "EPSG:5773", "", "EPSG:4978"])
def test_unknown_systems_are_refused(crs: str) -> None:
    with pytest.raises(dph.errors.ParameterError, match="crs must be"):
        dph.aggregate(swiss_rows(10), SWISS, crs=crs, **COLUMNS)


def test_a_system_of_the_ground_is_for_the_ground() -> None:
    with pytest.raises(dph.errors.ParameterError, match="unit square"):
        dph.aggregate(swiss_rows(10), dph.Domain.unit(4), crs="EPSG:2056", **COLUMNS)


@pytest.mark.parametrize("events", ["postgresql://localhost:9/none"])
def test_other_engines_take_degrees_alone(events: str) -> None:
    with pytest.raises(dph.errors.ParameterError, match="longitudes and latitudes"):
        dph.aggregate(events, SWISS, table="t", crs="EPSG:2056", **COLUMNS)


def test_the_network_of_proj_is_off_while_rows_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    import pyproj

    network: Any = import_module("pyproj.network")
    seen = []
    honest = pyproj.Transformer.from_crs

    def watched(*arguments: Any, **options: Any) -> Any:
        seen.append(network.is_network_enabled())
        return honest(*arguments, **options)

    monkeypatch.setattr(pyproj.Transformer, "from_crs", watched)
    network.set_network_enabled(True)
    try:
        dph.aggregate(swiss_rows(10), SWISS, crs="EPSG:2056", **COLUMNS)
        assert network.is_network_enabled()
    finally:
        network.set_network_enabled(False)
    assert seen == [False]


def test_the_network_of_proj_is_on_for_others_while_rows_are_read() -> None:
    """It is a setting of the whole process, and others may read tables at the same time and end in any order."""
    network: Any = import_module("pyproj.network")
    network.set_network_enabled(True)
    try:
        with duckdb.connect() as con, duckdb.connect() as other, ExitStack() as first, ExitStack() as second:
            first.enter_context(converting(con, "EPSG:2056"))
            second.enter_context(converting(other, "EPSG:2056"))
            assert network.is_network_enabled()
            with ThreadPoolExecutor(1) as new:
                assert new.submit(network.is_network_enabled).result()
            first.close()
            second.close()
            with ThreadPoolExecutor(1) as new:
                assert new.submit(network.is_network_enabled).result()
    finally:
        network.set_network_enabled(False)


LOGGED = """
import logging, sys
logging.basicConfig(level=logging.DEBUG, stream=sys.stdout)
import dpheatmap as dph, pyarrow as pa, pyproj
table = pa.table({"u": ["a"], "x": [-100.0], "y": [40.0]})
dph.aggregate(table, dph.Domain.bbox(-110, 30, -90, 50), user="u", x="x", y="y", crs="EPSG:4267")
print("and others")
pyproj.Transformer.from_crs("EPSG:4267", "EPSG:4326", always_xy=True).transform(-100.0, 40.0)
"""


def test_proj_logs_nothing_about_rows() -> None:
    """Somebody who debugs it would read which operation was best where a person is."""
    done = subprocess.run(
        [sys.executable, "-c", LOGGED],
        env={**os.environ, "PROJ_DEBUG": "3"},
        capture_output=True,
        text=True,
        check=True,
    )
    ours, others = done.stdout.split("and others")
    assert "Using coordinate operation" not in ours
    assert "Using coordinate operation" in others


def test_a_table_that_ends_early_is_refused_with_a_boundary_too(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    path.write_bytes(b"PAR1 no more")
    with pytest.raises(DataError):
        dph.aggregate(str(path), nasty.REGION, **COLUMNS)
