"""Aggregation against just reading: CPU time as a ratio in one run, peak memory, growth from 1 to 20 million rows.

Each figure is taken in a process of its own, so that peak memory means something.
"""

from __future__ import annotations

import multiprocessing
import sys
import tempfile
from pathlib import Path

import duckdb

import dpheatmap as dph
from common import bar, cpu_seconds, peak_megabytes

PEOPLE = 500_000


def write_events(path: Path, rows: int) -> None:
    """Skewed people (a power law of activity) around a few hundred places, as Parquet."""
    duckdb.connect(config={"memory_limit": "1GB"}).execute(
        f"""COPY (
            SELECT CAST(floor({PEOPLE} * pow(random(), 3)) AS BIGINT) AS person,
                least(greatest((place * 37 % 100) / 100 + (random() + random() - 1) / 20, 0), 1) AS x,
                least(greatest((place * 61 % 100) / 100 + (random() + random() - 1) / 20, 0), 1) AS y
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
    print(f"reading {reading:.2f} CPU s, aggregating {all_of_it:.2f} CPU s, of a million rows {one:.2f} CPU s")
    results = [
        bar(f"aggregation of {millions} million rows over reading them", all_of_it / reading, 16, unit="x"),
        bar("peak memory", memory, 600, unit=" MB"),
        bar("time per row at 20 million over 1 million", all_of_it / one / millions, 1.3, unit="x"),
    ]
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
