"""Aggregation against just reading: CPU time as a ratio in one run, peak memory, growth from 1 to 20 million rows.

A place with a boundary is held against its box, with the same rows.

At a deep level almost every event has a cell of its own, and the answer is as long as the table. There the aggregation
is held against the leanest query that has the same cells: it reads the columns it needs, counts each person's events
and adds their shares up by cell, without checks, counters or an order. It trusts no statistics of the file either:
with them it would be faster, and wrong as soon as a coordinate is NaN.

Each figure is taken in a process of its own, so that peak memory means something.
"""

from __future__ import annotations

import multiprocessing
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from threading import Event
from typing import NamedTuple

import duckdb
import numpy as np

import dpheatmap as dph
from common import bar, cpu_seconds, peak_megabytes
from dpheatmap._util.duckdb_connection import connect
from dpheatmap.curator.engines.duckdb import UNTRUSTED, UNWANTED
from dpheatmap.curator.engines.tree_order import in_tree_order
from dpheatmap.design.shares import UNITS

PEOPLE = 500_000
DEEP = 16
ROUNDS = 3


def write_events(path: Path, rows: int, *, west: float = 0.0, south: float = 0.0, size: float = 1.0) -> None:
    """Skewed people (a power law of activity) around a few hundred places, as Parquet."""
    duckdb.connect(config={"memory_limit": "1GB"}).execute(
        f"""COPY (
            SELECT CAST(floor({PEOPLE} * pow(random(), 3)) AS BIGINT) AS person,
                {west} + {size} * least(greatest((place * 37 % 100) / 100 + (random() + random() - 1) / 20, 0), 1) AS x,
                {south} + {size} * least(greatest((place * 61 % 100) / 100 + (random() + random() - 1) / 20, 0), 1) AS y
            FROM (SELECT CAST(floor(300 * pow(random(), 2)) AS BIGINT) AS place FROM range({rows}))
        ) TO '{path}' (FORMAT parquet)"""
    )


def read(path: Path) -> tuple[float, float]:
    """CPU seconds and megabytes of summing the three columns."""
    con = duckdb.connect(config={"memory_limit": "400MB"})
    sql = f"SELECT SUM(person), SUM(x), SUM(y) FROM read_parquet('{path}')"
    return cpu_seconds(lambda: con.execute(sql).fetchall(), 3), peak_megabytes()


def aggregate(path: Path) -> tuple[float, float]:
    """CPU seconds and megabytes of the whole aggregation at level 10."""
    domain = dph.Domain.unit(10)
    return cpu_seconds(lambda: dph.aggregate(path, domain, user="person", x="x", y="y")), peak_megabytes()


def box_and_boundary(path: Path) -> tuple[float, float]:
    """CPU seconds of the whole aggregation of a box, and of a city with about 2,400 runs of cells in it."""
    box = dph.Domain.bbox(-74.1, 40.6, -73.8, 40.9, resolution=50)
    turns = np.linspace(0.0, 2.0 * np.pi, 400)
    reach = 0.145 + 0.004 * np.sin(40.0 * turns)  # a ragged coast
    shore = np.stack([-73.95 + reach * np.cos(turns), 40.75 + reach * np.sin(turns)], axis=1)
    city = dph.Domain.polygon({"type": "Polygon", "coordinates": [shore.tolist()]}, resolution=50)
    found = []
    for domain in (box, city):
        domain.locate(np.zeros(1), np.zeros(1))  # finds the cells, once for all tables
        work = partial(dph.aggregate, path, domain, user="person", x="x", y="y")
        found.append(cpu_seconds(work, ROUNDS))
    return found[0], found[1]


class Run(NamedTuple):
    """One way from a file to the cells of a deep level."""

    cpu: float
    total: int
    megabytes: float


def timed(work: Callable[[], int]) -> Run:
    """A run of what returns the sum of its weights."""
    found: list[int] = []
    cpu = cpu_seconds(lambda: found.append(work()))
    return Run(cpu, found[0], peak_megabytes())


def lean(path: Path) -> Run:
    """The lean query, with its cells in NumPy."""
    side = 2**DEEP
    sql = f"""WITH events AS (
            SELECT person, CAST(floor(x * {side}) AS INTEGER) AS cx, CAST(floor(y * {side}) AS INTEGER) AS cy
            FROM read_parquet('{path}') WHERE x BETWEEN 0 AND 1 AND y BETWEEN 0 AND 1),
        shares AS (SELECT person, {UNITS} // COUNT(*) AS units FROM events GROUP BY person)
        SELECT cx, cy, CAST(SUM(units) AS BIGINT) AS weight FROM events JOIN shares USING (person) GROUP BY cx, cy"""
    with connect(memory_limit="800MB", preserve_insertion_order="false") as con:
        con.execute(f"SET disabled_optimizers = '{','.join(UNWANTED | UNTRUSTED)}'")
        return timed(lambda: int(np.asarray(con.execute(sql).fetchnumpy()["weight"]).sum()))


def deep(path: Path) -> Run:
    """The whole aggregation at the same level; compiled loops are loaded before."""
    domain = dph.Domain.unit(DEEP)
    rows = np.zeros(1, np.int64)
    in_tree_order(1, [{"cx": rows, "cy": rows, "weight": rows}], Event())
    return timed(lambda: dph.aggregate(path, domain, user="person", x="x", y="y").total)


def main() -> int:
    millions = 20
    with (
        tempfile.TemporaryDirectory() as folder,
        multiprocessing.get_context("spawn").Pool(1, maxtasksperchild=1) as pool,
    ):
        small, large = Path(folder, "small.parquet"), Path(folder, "large.parquet")
        write_events(small, 1_000_000)
        write_events(large, millions * 1_000_000)
        reading, _ = pool.apply(read, (large,))
        one, _ = pool.apply(aggregate, (small,))
        all_of_it, memory = pool.apply(aggregate, (large,))
        city = Path(folder, "city.parquet")
        write_events(city, 10_000_000, west=-74.1, south=40.6, size=0.3)
        box, boundary = pool.apply(box_and_boundary, (city,))
        rounds = [(pool.apply(lean, (large,)), pool.apply(deep, (large,))) for _ in range(ROUNDS)]
    assert len({run.total for both in rounds for run in both}) == 1, "the sums differ"
    least, ours = (min(run.cpu for run in runs) for runs in zip(*rounds, strict=True))
    print(f"reading {reading:.2f} CPU s, aggregating {all_of_it:.2f} CPU s, of a million rows {one:.2f} CPU s")
    most = max(run.megabytes for _, run in rounds)
    print(f"level {DEEP}: lean {least:.2f} CPU s, aggregating {ours:.2f} CPU s and {most:.0f} MB")
    results = [
        bar(f"aggregation of {millions} million rows over reading them", all_of_it / reading, 16, unit="x"),
        bar("peak memory", memory, 600, unit=" MB"),
        bar("a place with a boundary over its box", boundary / box, 1.3, unit="x"),
        bar("time per row at 20 million over 1 million", all_of_it / one / millions, 1.3, unit="x"),
        bar(f"level {DEEP} of {millions} million rows over the lean query", ours / least, 1.5, unit="x"),
    ]
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
