"""A Spark cluster of two executor processes, one of which dies in mid-job. Run by `test_spark.py`, as a program.

Prints, as JSON, whether the integers are DuckDB's, what the status tracker saw, and what was left of a cancelled job.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import duckdb

import dpheatmap as dph

sys.path.insert(0, str(Path(__file__).parents[2]))
from helpers.spark import session

ROWS = 500_000
DOMAIN = dph.Domain.bbox(-74.1, 40.6, -73.8, 40.9, depth=16)
COLUMNS: dict[str, Any] = {"user": "u", "x": "x", "y": "y", "weight": "w"}
EVENTS = """SELECT {id} * 7919 % 50021 AS u, -74.1 + ({id} * 104729 % 1000003) / CAST('3333343.0' AS DOUBLE) AS x,
    40.6 + ({id} * 15485863 % 999983) / CAST('3333276.0' AS DOUBLE) AS y, {id} % 7 AS w FROM {source}"""


def executors(application: str) -> list[int]:
    """The processes of the cluster's executors."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                command = (entry / "cmdline").read_bytes().decode(errors="replace")
            except OSError:
                continue
            if "CoarseGrainedExecutorBackend" in command and application in command:
                found.append(int(entry.name))
    return found


class CancelledError(Exception):
    """What the progress of the second job raises."""


def main() -> None:
    settings = {"spark.executor.memory": "600m", "spark.sql.shuffle.partitions": "4"}
    with (
        tempfile.TemporaryDirectory(prefix="dpheatmap-spark-") as folder,
        session("local-cluster[2,1,700]", Path(folder), **settings) as spark,
    ):
        print(json.dumps(try_a_cluster(spark)))


def try_a_cluster(spark: Any) -> dict[str, Any]:
    context = spark.sparkContext
    spark.range(0, ROWS, numPartitions=16).createOrReplaceTempView("ids")
    frame = spark.sql(EVENTS.format(id="id", source="ids"))
    killed: list[int] = []
    parts: list[float] = []

    def kill_one(part: float, seconds: float) -> None:
        parts.append(part)
        if part > 0 and not killed and len(found := executors(context.applicationId)) == 2:
            os.kill(found[0], signal.SIGKILL)
            killed.append(found[0])

    there = dph.aggregate(frame, DOMAIN, progress=kill_one, **COLUMNS)
    tracker = context.statusTracker()
    stages = [stage for stage in map(tracker.getStageInfo, range(200)) if stage is not None]
    with duckdb.connect() as con:
        here = dph.aggregate(con.sql(EVENTS.format(id="id", source=f"range({ROWS}) t(id)")), DOMAIN, **COLUMNS)

    def cancel(part: float, seconds: float) -> None:
        if tracker.getActiveJobsIds():
            raise CancelledError

    forever = spark.range(0, 10**11, numPartitions=8).selectExpr("id AS u", "id / 1e11D AS x", "0.5D AS y", "1 AS w")
    was_cancelled = False
    try:
        dph.aggregate(forever, dph.Domain.unit(4), progress=cancel, **COLUMNS)
    except CancelledError:
        was_cancelled = True
    deadline = time.perf_counter() + 120
    active = [1]
    while active and time.perf_counter() < deadline:
        time.sleep(0.2)
        running = [stage for stage in map(tracker.getStageInfo, range(200)) if stage is not None]
        active = [*tracker.getActiveJobsIds(), *(stage.stageId for stage in running if stage.numActiveTasks)]
    return {
        "same": here.codes.tolist() == there.codes.tolist() and here.sums.tolist() == there.sums.tolist(),
        "cells": len(there.codes),
        "rows": there.report.rows if there.report else 0,
        "killed": len(killed),
        "retried": sum(stage.numFailedTasks > 0 or stage.currentAttemptId > 0 for stage in stages),
        "forward": parts == sorted(parts),
        "parts": all(part == -1 or 0 <= part <= 1 for part in parts),
        "cancelled": was_cancelled,
        "still_active": len(active),
    }  # fmt: skip


if __name__ == "__main__":
    main()
