"""Text files to counts, against the leanest query of DuckDB's own reader on the same file: CPU as a ratio, and memory.

The lean query reads the columns it needs by DuckDB's CSV or JSON reader on all cores, counts each person's events and
adds their shares up by cell: no checks, no counters, and one person's quote can take other people's rows with it.
Each figure is taken in a process of its own; kernels are compiled before.

    python benchmarks/text.py                the figures of docs/guides/scale.md
    python benchmarks/text.py 1e6            fewer rows
"""

from __future__ import annotations

import multiprocessing
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np

import dpheatmap as dph
from common import bar, cpu_seconds, peak_megabytes
from dpheatmap._util.duckdb_connection import connect
from dpheatmap.design.shares import UNITS

LEVEL = 10
ROUNDS = 3


def write_events(path: Path, rows: int) -> None:
    """A million people anywhere in the unit square, as CSV or JSON lines."""
    connect(memory_limit="1GB").execute(
        f"""COPY (SELECT 'rider-' || CAST(floor(1000000 * random()) AS BIGINT) AS rider, '2024-06-01' AS day,
            round(random(), 8) AS x, round(random(), 8) AS y FROM range({rows}))
        TO '{path}' (FORMAT {"csv" if path.suffix == ".csv" else "json"})"""
    )


class Run(NamedTuple):
    """One way from a file to counts: seconds, the sum of the counts, and the most memory."""

    cpu: float
    wall: float
    total: int
    megabytes: float


def timed(work: Callable[[], int]) -> Run:
    """A run of what returns the sum of its counts."""
    found: list[int] = []
    start = time.perf_counter()
    cpu = cpu_seconds(lambda: found.append(work()))
    return Run(cpu, time.perf_counter() - start, found[0], peak_megabytes())


def lean(path: Path) -> Run:
    """The lean query."""
    kinds = "{'rider': 'VARCHAR', 'day': 'VARCHAR', 'x': 'DOUBLE', 'y': 'DOUBLE'}"
    if path.suffix == ".csv":
        table = f"read_csv('{path}', auto_detect=false, header=true, columns={kinds})"
    else:
        table = f"read_json('{path}', format='newline_delimited', columns={kinds})"
    side = 2**LEVEL
    sql = f"""WITH events AS (
            SELECT rider, CAST(floor(x * {side}) AS INTEGER) AS cx, CAST(floor(y * {side}) AS INTEGER) AS cy
            FROM {table} WHERE x BETWEEN 0 AND 1 AND y BETWEEN 0 AND 1),
        shares AS (SELECT rider, {UNITS} // COUNT(*) AS units FROM events GROUP BY rider)
        SELECT cx, cy, CAST(SUM(units) AS BIGINT) AS weight FROM events JOIN shares USING (rider) GROUP BY cx, cy"""
    with connect(memory_limit="800MB", preserve_insertion_order="false") as con:
        con.execute("SET disabled_optimizers = 'join_order,build_side_probe_side'")
        return timed(lambda: int(np.asarray(con.execute(sql).fetchnumpy()["weight"]).sum()))


def ours(path: Path, bad_lines: str) -> Run:
    """The aggregation."""
    small = path.with_name(f"small{path.suffix}")
    with path.open("rb") as file:
        small.write_bytes(b"".join(file.readline() for _ in range(100)))
    domain = dph.Domain.unit(LEVEL)
    dph.aggregate(small, domain, user="rider", x="x", y="y")
    return timed(lambda: dph.aggregate(path, domain, user="rider", x="x", y="y", bad_lines=bad_lines).total)


def main() -> int:
    rows = int(float(sys.argv[1])) if len(sys.argv) > 1 else 10_000_000
    results = []
    with (
        tempfile.TemporaryDirectory() as folder,
        multiprocessing.get_context("spawn").Pool(1, maxtasksperchild=1) as pool,
    ):
        for name, count, limit in (("trips.csv", rows, 1.6), ("trips.jsonl", rows // 2, 2.5)):
            path = Path(folder, name)
            write_events(path, count)
            pool.apply(ours, (path, "stop"))  # compiles, and warms the disk's cache
            least: list[Run] = []
            stop: list[Run] = []
            skip: list[Run] = []
            for _ in range(ROUNDS):
                least.append(pool.apply(lean, (path,)))
                stop.append(pool.apply(ours, (path, "stop")))
                skip.append(pool.apply(ours, (path, "skip")))
            assert len({run.total for run in (*least, *stop, *skip)}) == 1, "the sums differ"
            cpu, stopped, skipped = (min(run.cpu for run in runs) for runs in (least, stop, skip))
            wall = min(run.wall for run in stop)
            print(
                f"{name}: {count:,} rows, {path.stat().st_size / 1e6:.0f} MB: lean {cpu:.2f} CPU s, stop "
                f"{stopped:.2f} CPU s in {wall:.2f} s, skip {skipped:.2f} CPU s"
            )
            results += [
                bar(f"{name}, CPU over the lean query", stopped / cpu, limit, unit="x"),
                bar(f"{name}, broken lines left out", skipped / cpu, limit, unit="x"),
                bar(f"{name}, peak memory", max(run.megabytes for run in (*stop, *skip)), 600, unit=" MB"),
                bar(f"{name}, cores used", stopped / wall, 1.2, at_least=True),
            ]
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
