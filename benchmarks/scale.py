"""How the aggregation grows: CPU seconds and peak memory of 10^6, 10^7 and 10^8 events, and what follows for more.

    python benchmarks/scale.py                 the table of docs/guides/scale.md and its bars; about five minutes of CPU
    python benchmarks/scale.py 1e6 1e7         other numbers of events
    python benchmarks/scale.py --spark 1e7     also on a Spark cluster of two executors: cells, scans and shuffles

Events are generated, written to Parquet in a temporary folder, and removed. Each run has a process of its own, so that
its memory is its own: it includes Python, the fetched cells and the counts made of them.
"""

from __future__ import annotations

import math
import multiprocessing
import sys
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import numpy as np

import dpheatmap as dph
from common import bar, cpu_seconds, peak_megabytes
from dpheatmap._util.duckdb_connection import connect

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
from helpers.spark import Work, session, work_of

PEOPLE = 2_000_000
SPREAD = 85  # so that 10^8 events lie in 67 million cells of level 16
LEVELS = (10, 16)
COLUMNS = {"user": "person", "x": "x", "y": "y"}


class Run(NamedTuple):
    """One aggregation."""

    rows: int
    level: int
    cells: int
    seconds: float
    megabytes: float


def write_events(path: Path, rows: int, people: int = PEOPLE) -> None:
    """Skewed people (a power law of activity) around a few hundred places, as Parquet."""
    connect(memory_limit="1GB").execute(
        f"""COPY (
            SELECT CAST(floor({people} * pow(random(), 3)) AS BIGINT) AS person,
                least(greatest((place * 37 % 100) / 100 + (random() + random() - 1) / {SPREAD}, 0), 1) AS x,
                least(greatest((place * 61 % 100) / 100 + (random() + random() - 1) / {SPREAD}, 0), 1) AS y
            FROM (SELECT CAST(floor(300 * pow(random(), 2)) AS BIGINT) AS place FROM range({rows}))
        ) TO '{path}' (FORMAT parquet)"""
    )


def aggregated(path: Path, rows: int, level: int, counts_file: Path) -> Run:
    """CPU seconds and megabytes of the aggregation of a file, whose counts are saved afterwards."""
    found: list[dph.Counts] = []
    seconds = cpu_seconds(lambda: found.append(dph.aggregate(path, dph.Domain.unit(level), **COLUMNS)))  # type: ignore[arg-type]
    run = Run(rows, level, len(found[0].codes), seconds, peak_megabytes())
    found[0].save(counts_file)
    return run


def released(counts_file: Path) -> tuple[float, float]:
    """CPU seconds and megabytes of a release from stored counts, which are mapped and mostly not read."""
    dph.release(dph.Counts.from_cells(dph.Domain.unit(4), *np.zeros((3, 0), np.int64)), epsilon=1)  # compiles
    seconds = cpu_seconds(lambda: dph.release(dph.Counts.load(counts_file), epsilon=1))
    return seconds, peak_megabytes()


class SparkRun(NamedTuple):
    """One aggregation on Spark: wall seconds, what its event log tells, and whether each cell has DuckDB's integer."""

    seconds: float
    work: Work
    same: bool


def on_spark(path: Path, level: int, counts_file: Path) -> SparkRun:
    """The same on Spark with two executors."""
    with (
        tempfile.TemporaryDirectory() as folder,
        session("local-cluster[2,1,1024]", Path(folder), **{"spark.sql.shuffle.partitions": "8"}) as spark,
    ):
        start = time.perf_counter()
        counts = dph.aggregate(spark.read.parquet(str(path)), dph.Domain.unit(level), **COLUMNS)  # type: ignore[arg-type]
        seconds = time.perf_counter() - start
        work = work_of(spark, Path(folder))
    stored = dph.Counts.load(counts_file)
    same = np.array_equal(stored.codes, counts.codes) and np.array_equal(stored.sums, counts.sums)
    return SparkRun(seconds, work, same)


def report_spark(run: SparkRun, rows: int, level: int) -> list[bool]:
    """Print a run on Spark, and hold it to its bars."""
    scans = run.work.scanned / rows
    print(
        f"Spark, {rows:,} events at level {level}: {run.seconds:.0f} s, of tasks {run.work.seconds:.0f} CPU s; "
        f"{scans:.2f} scans; {run.work.shuffled / 1e6:,.0f} MB shuffled, {run.work.shuffled / rows:.1f} bytes an event"
    )
    return [
        bar("Spark's cells that differ from DuckDB's", 0 if run.same else 1, 0),
        bar("Spark's scans of the table", scans, 1.01),
    ]


def growth(runs: list[Run]) -> tuple[float, float]:
    """The power and the seconds per million events of ``seconds = a rows^b``, by least squares on logarithms."""
    x, y = (np.log([getattr(run, name) for run in runs]) for name in ("rows", "seconds"))
    power, constant = np.polyfit(x, y, 1)
    return float(power), float(math.exp(constant + power * math.log(1e6)))


def main() -> int:
    wanted = [int(float(word)) for word in sys.argv[1:] if not word.startswith("-")] or [10**6, 10**7, 10**8]
    spark = "--spark" in sys.argv and find_spec("dpheatmap.curator.engines.spark") is not None
    runs: list[Run] = []
    results = []
    with (
        tempfile.TemporaryDirectory() as folder,
        multiprocessing.get_context("spawn").Pool(1, maxtasksperchild=1) as pool,
    ):
        events, stored = Path(folder, "events.parquet"), Path(folder, "city.counts.parquet")
        print("| events | level | occupied cells | CPU s | µs per event | peak MB |\n|---|---|---|---|---|---|")
        for rows in wanted:
            write_events(events, rows)
            for level in LEVELS:
                runs.append(run := pool.apply(aggregated, (events, rows, level, stored)))
                print(
                    f"| {rows:,} | {level} | {run.cells:,} | {run.seconds:.1f} | {run.seconds / rows * 1e6:.2f} | "
                    f"{run.megabytes:,.0f} |",
                    flush=True,
                )
                if spark:
                    results += report_spark(pool.apply(on_spark, (events, level, stored)), rows, level)
        seconds, megabytes = pool.apply(released, (stored,))
        print(f"\na release from the last counts, stored and mapped: {seconds:.2f} CPU s, {megabytes:,.0f} MB")
    if len(wanted) > 1:
        for level in LEVELS:
            power, million = growth([run for run in runs if run.level == level])
            print(f"level {level}: CPU seconds grow as events^{power:.2f}; {million:.2f} s a million")
    found = {(run.rows, run.level): run for run in runs}
    if {10**7, 10**8} <= {run.rows for run in runs}:
        small, large, deep = found[10**7, 10], found[10**8, 10], found[10**8, 16]
        results += [
            bar("memory of 10^8 events at level 10", large.megabytes, 1000, unit=" MB"),
            bar("memory of 10^8 events at level 16", deep.megabytes, 2200, unit=" MB"),
            bar("time per event at 10^8 over 10^7, level 10", large.seconds / small.seconds / 10, 1.3, unit="x"),
            bar("the same at level 16", deep.seconds / found[10**7, 16].seconds / 10, 1.3, unit="x"),
        ]
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
