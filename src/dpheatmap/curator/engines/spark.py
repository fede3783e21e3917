"""The engine Spark: the cluster counts, and only cells come to the driver, which draws the noise once.

**One scan.** Spark can't promise that two readings of a data frame see the same rows: files are replaced, tables are
written to, functions draw lots or ask the clock, sums of floats depend on the order, and what was persisted is computed
again. So everything is counted in one reading (`one_scan_query.py`): all rows of a person come to one task, which
weighs them.

**Lost parts.** If an executor is lost while cells are added up, Spark computes its tasks again, and a person's cells
may then come partly from the first computation and partly from the second. Spark tells which stages it repeated. Then
the whole statement is run again, up to `TRIALS` times.

**No statistics.** Files and cached tables know the smallest and largest values of their parts, and Spark leaves parts
out by them. They are statistics of everybody's rows, and leave NaN out: one person's row could let the rows of others
in or out. So that is switched off while the statement runs.
"""

from __future__ import annotations

import logging
import re
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from os import PathLike, fspath
from typing import Any, TypeVar

import numpy as np

from dpheatmap.curator.engines import OpenTable, Progress
from dpheatmap.curator.engines.answer import Answer
from dpheatmap.curator.engines.one_scan_query import aggregation_in_one_scan, with_counters
from dpheatmap.curator.engines.transpile import transpile
from dpheatmap.curator.engines.waiting import wait_for
from dpheatmap.curator.read.sql_text import quote_name
from dpheatmap.curator.read.table import TEXT, Table
from dpheatmap.errors import DataError, MissingDependency

Result = TypeVar("Result")

_TYPES = {
    "tinyint": "TINYINT", "smallint": "SMALLINT", "int": "INTEGER", "bigint": "BIGINT", "float": "FLOAT",
    "double": "DOUBLE", "string": TEXT, "boolean": "BOOLEAN", "binary": "BLOB", "date": "DATE",
    "timestamp": "TIMESTAMP WITH TIME ZONE", "timestamp_ntz": "TIMESTAMP",
}  # fmt: skip

TRIALS = 4
"""How often the statement is run until no stage of it had to be repeated."""

_SKIPPING = (
    "spark.sql.parquet.filterPushdown", "spark.sql.orc.filterPushdown", "spark.sql.parquet.aggregatePushdown",
    "spark.sql.orc.aggregatePushdown", "spark.sql.inMemoryColumnarStorage.partitionPruning",
)  # fmt: skip
"""Settings by which Spark leaves out parts of a table."""

_LOGGERS = ("SQLQueryContextLogger", "DataFrameQueryContextLogger")
"""Loggers by which PySpark writes errors, rows included, to stderr before it raises them."""


@contextmanager
def open_frame(events: Any) -> Iterator[OpenTable]:
    """Open a Spark data frame, a table by its name, a path or paths, as a view of the session until it is closed."""
    frame = _frame(events)
    if frame.isStreaming:
        raise DataError("A stream has no end, and people's shares need all of their events. Give a table.")
    columns = {name: _type(kind) for name, kind in frame.dtypes}
    if len({name.lower() for name in columns}) != len(frame.dtypes):
        raise DataError("The data frame has columns whose names are equal or differ in case alone. Give each its own.")
    bytewise = [
        f"CAST({_name(name)} AS STRING) COLLATE UTF8_BINARY AS {_name(name)}" if columns[name] == TEXT else _name(name)
        for name in frame.columns
    ]
    if any("${" in name for name in columns):
        raise DataError("Spark would replace '${' in the name of a column by one of its settings. Rename the column.")
    view = _new_name()
    try:
        _quietly(lambda: frame.selectExpr(*bytewise).createOrReplaceTempView(view))
        table = Table(quote_name(view), columns, "the data frame", portable=True)
        yield OpenTable(
            table, lambda sql, grouped, tick: _run(frame.sparkSession, sql, tick), statement=aggregation_in_one_scan
        )
    finally:
        frame.sparkSession.catalog.dropTempView(view)


def _frame(events: Any) -> Any:
    """The data frame itself, or what the session reads under a name or paths."""
    try:
        from pyspark.sql import SparkSession
        from pyspark.sql.classic.dataframe import DataFrame
    except ImportError as error:
        raise MissingDependency("pyspark", "Spark", "spark") from error
    if isinstance(events, DataFrame):
        return events
    if type(events).__module__.startswith("pyspark."):
        raise DataError(
            f"A {type(events).__name__} of {type(events).__module__} can't be watched or cancelled from here. Give a "
            "data frame of a session with a SparkContext, or use dpheatmap sql and --counts."
        )
    given = list(events) if isinstance(events, (list, tuple)) else [events]
    if not given or not all(isinstance(path, (str, PathLike)) for path in given):
        raise DataError(
            f"A {type(events).__name__} can't be read by Spark. Give a data frame, a table's name or paths."
        )
    return _read(SparkSession.builder.getOrCreate(), [fspath(path) for path in given])


def _read(session: Any, paths: list[str]) -> Any:
    """A table by its name, or files of one format."""
    name, *others = paths
    if not others and re.fullmatch(r"[\w`.-]+", name) and not name.endswith((".parquet", ".orc")):
        return _quietly(lambda: session.table(name), f"the table {name!r}")
    ends = [path.rstrip("/") for path in paths]
    orc = [path.endswith(".orc") for path in ends]
    if any(path.endswith((".csv", ".json", ".jsonl", ".txt", ".gz", ".avro")) for path in ends):
        raise DataError("Spark reads Parquet and ORC from paths. Read other files into a data frame, and give that.")
    if any(orc) and not all(orc):
        raise DataError("Some of the paths are of ORC and some are not. Give paths of one format, or a data frame.")
    return _quietly(lambda: session.read.format("orc" if any(orc) else "parquet").load(paths), "the files")


def _type(kind: str) -> str:
    """The name of a Spark type in DuckDB; text of any collation is text."""
    plain = re.sub(r" collate .*|(?<=char)\(\d+\)", "", kind)
    return _TYPES.get("string" if plain in ("char", "varchar") else plain, plain.upper())


def _name(column: str) -> str:
    return "`" + column.replace("`", "``") + "`"


def _run(session: Any, sql: str, tick: Progress | None) -> tuple[Answer, float]:
    """Run the statement; if it is interrupted, all its jobs are cancelled, those not yet begun included."""
    context = session.sparkContext
    groups = [_new_name() for _ in range(TRIALS)]
    # A text that holds ${...} would be replaced by one of Spark's settings; names of columns hold none.
    text = transpile(sql, "spark").replace("${", "$' || '{")
    running = groups[0]

    def work() -> Answer:
        nonlocal running
        for group in groups:
            running = group
            context.setJobGroup(group, "dpheatmap: people's events to cells", interruptOnCancel=True)
            found = session.sql(text).toArrow()
            if not _has_repeated(context, group):
                columns = {name: found[name].to_numpy().astype(np.int64) for name in found.column_names}
                return Answer.of(with_counters(columns))
        raise DataError(f"Spark lost parts of the work in each of {TRIALS} trials. Run it on executors that last.")

    def cancel() -> None:
        for group in groups:
            context._jsc.sc().cancelJobGroupAndFutureJobs(group)

    furthest = -1.0  # Spark plans further stages as it runs, so the part that is done can fall

    def part() -> float:
        nonlocal furthest
        furthest = max(furthest, _progress_of(context, running))
        return furthest

    with _without_skipping(session):
        return wait_for(lambda: _quietly(work), tick, part, cancel)


@contextmanager
def _without_skipping(session: Any) -> Iterator[None]:
    """Let a session read every row of a table, whatever its statistics say."""
    before = {name: session.conf.get(name) for name in _SKIPPING}
    try:
        for name in _SKIPPING:
            session.conf.set(name, "false")
        yield
    finally:
        for name, value in before.items():
            session.conf.set(name, value)


def _stages(context: Any, group: str) -> list[Any]:
    """What the status tracker knows of the stages of a group's jobs; None for one that it has forgotten."""
    tracker = context.statusTracker()
    jobs = [tracker.getJobInfo(job) for job in tracker.getJobIdsForGroup(group)]
    return [tracker.getStageInfo(stage) for stage in {stage for job in jobs if job for stage in job.stageIds}]


def _has_repeated(context: Any, group: str) -> bool:
    """Whether Spark ran a stage of a group's jobs more than once, or can't tell any more."""
    return any(stage is None or stage.currentAttemptId > 0 for stage in _stages(context, group))


def _new_name() -> str:
    return f"dpheatmap_{uuid.uuid4().hex}"


def _progress_of(context: Any, group: str) -> float:
    """The part of the tasks of a group's jobs that are done, from the status tracker; below 0 before there are any.

    Tasks that were done again count twice, so it may seem to be more than all.
    """
    stages = _stages(context, group)
    tasks = sum(stage.numTasks for stage in stages if stage)
    return min(sum(stage.numCompletedTasks for stage in stages if stage) / tasks, 1.0) if tasks else -1.0


def _quietly(call: Callable[[], Result], name: str = "the data frame") -> Result:
    """Call Spark, and replace its own errors, so that nothing of their text stays attached."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    loggers = [logging.getLogger(name) for name in _LOGGERS]
    before = [logger.disabled for logger in loggers]
    try:
        for logger in loggers:
            logger.disabled = True
        return call()
    except (PySparkException, Py4JError) as error:
        kind = type(error).__name__.removesuffix("Exception")
    finally:
        for logger, disabled in zip(loggers, before, strict=True):
            logger.disabled = disabled
    raise DataError(
        f"Spark could not read {name} ({kind}). Check the name, the path and your rights, or see Spark's own log."
    )
