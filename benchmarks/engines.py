"""Spark against DuckDB on ten million rows: the same integers in every cell, and what each of them takes.

Spark runs in one process of its own with two threads, DuckDB in this one. CPU time is over all threads.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

import dpheatmap as dph
from aggregation import write_events
from common import bar, cpu_seconds

ROWS = 10_000_000
DOMAIN = dph.Domain.unit(10)
COLUMNS: dict[str, Any] = {"user": "person", "x": "x", "y": "y"}


def spark_session() -> Any:
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    builder = builder.config("spark.driver.memory", "2g").config("spark.sql.shuffle.partitions", "8")
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    return session


def cpu_of(process: int) -> float:
    """The CPU seconds that another process has taken."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "events.parquet")
        write_events(path, ROWS)
        found: list[dph.Counts] = []
        embedded = cpu_seconds(lambda: found.append(dph.aggregate(path, DOMAIN, **COLUMNS)))
        session = spark_session()
        process = session._jvm.java.lang.ProcessHandle.current().pid()
        begun, start = cpu_of(process), time.perf_counter()
        found.append(dph.aggregate(str(path), DOMAIN, engine="spark", **COLUMNS))
        cluster, wall = cpu_of(process) - begun, time.perf_counter() - start
        session.stop()
    here, there = found
    same = np.array_equal(here.codes, there.codes) and np.array_equal(here.sums, there.sums)
    print(f"DuckDB {embedded:.1f} CPU s, Spark {cluster:.1f} CPU s ({wall:.0f} s), {len(here.codes)} cells", flush=True)
    results = [
        bar("cells in which Spark differs from DuckDB", 0 if same else 1, 0),
        bar("Spark's CPU time over DuckDB's", cluster / embedded, 30, unit="x"),
    ]
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
