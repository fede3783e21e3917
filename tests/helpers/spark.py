"""A Spark session for a test, and what Spark did in it, by its own event log."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple


class Work(NamedTuple):
    """Rows that scans of tables returned, bytes that were written for shuffles, and CPU seconds of the tasks."""

    scanned: int
    shuffled: int
    seconds: float

    def since(self, before: Work) -> Work:
        return Work(self.scanned - before.scanned, self.shuffled - before.shuffled, self.seconds - before.seconds)


@contextmanager
def session(master: str, folder: Path, **settings: str) -> Iterator[Any]:
    """A session that writes its event log, and what executors leave behind, to a folder."""
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    os.environ["PYSPARK_PYTHON"] = sys.executable  # of functions in Python
    import pyspark
    from pyspark.sql import SparkSession

    home, log = folder / "home", folder / "log"
    home.mkdir()
    log.mkdir()
    for part in Path(pyspark.__file__).parent.iterdir():
        (home / part.name).symlink_to(part)
    os.environ["SPARK_HOME"] = str(home)  # executors leave their logs there
    builder = SparkSession.builder.master(master)
    for name, value in {
        "spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false", "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1", "spark.eventLog.enabled": "true", "spark.eventLog.compress": "false",
        "spark.eventLog.rolling.enabled": "false", "spark.eventLog.dir": log.as_uri(),
        "spark.sql.shuffle.partitions": "2", **settings,
    }.items():  # fmt: skip
        builder = builder.config(name, value)
    found = builder.getOrCreate()
    found.sparkContext.setLogLevel("OFF")
    try:
        yield found
    finally:
        found.stop()
        del os.environ["SPARK_HOME"]


def work_of(spark: Any, folder: Path) -> Work:
    """All that was done in the session so far."""
    spark.sparkContext._jsc.sc().listenerBus().waitUntilEmpty()
    events = [json.loads(line) for path in (folder / "log").iterdir() for line in path.read_text().splitlines()]
    plans = [event["sparkPlanInfo"] for event in events if "sparkPlanInfo" in event]
    scans = {number for plan in plans for number in _rows_of_scans(plan)}
    tasks = [event for event in events if event["Event"] == "SparkListenerTaskEnd"]
    figures = [figure for task in tasks for figure in task["Task Info"]["Accumulables"] if figure["ID"] in scans]
    metrics = [task["Task Metrics"] for task in tasks]
    return Work(
        sum(int(figure["Update"]) for figure in figures),
        sum(task["Shuffle Write Metrics"]["Shuffle Bytes Written"] for task in metrics),
        sum(task["Executor CPU Time"] for task in metrics) / 1e9,
    )


def _rows_of_scans(plan: dict[str, Any]) -> Iterator[int]:
    """The numbers under which the log counts the rows that the scans of a plan return."""
    if re.match("(Batch)?Scan (?!OneRowRelation)", plan["nodeName"]):
        yield from (m["accumulatorId"] for m in plan["metrics"] if m["name"] == "number of output rows")
    for step in plan["children"]:
        yield from _rows_of_scans(step)
