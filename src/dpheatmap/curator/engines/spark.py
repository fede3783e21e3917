"""The engine Spark: the cluster counts, and only cells and counters come to the driver, which draws the noise once.

**The same rows twice.** The data frame is read twice, for people's totals and for the cells. The totals are persisted,
because both the counters and the cells need them, and Spark would read everything a third time. If the data frame's
plan reads tables and files by deterministic steps alone, both readings return the same rows, also if an executor is
lost and its part is computed again. Any other data frame (samples, limits, random numbers, functions on whole
partitions) is persisted before the statement begins, and counted to make sure of it.
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from os import PathLike, fspath
from typing import Any, TypeVar

import numpy as np

from dpheatmap.curator.core.answer import Answer
from dpheatmap.curator.engines import OpenTable, Progress
from dpheatmap.curator.engines.transpile import transpile_in_two
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

STEADY = {
    "Relation", "RelationV2", "LogicalRelation", "DataSourceV2Relation", "HiveTableRelation", "LocalRelation", "Range",
    "View", "SubqueryAlias", "Project", "Filter", "Join", "Union", "Aggregate", "Distinct", "Repartition",
    "RepartitionByExpression", "Sort", "InMemoryRelation",
}  # fmt: skip
"""Steps of a plan that return the same rows each time, if their expressions do."""


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
    view = _new_name()
    try:
        with nullcontext(frame) if _is_steady(frame) else _keep(frame) as rows:
            _quietly(lambda: rows.selectExpr(*bytewise).createOrReplaceTempView(view))
            table = Table(quote_name(view), columns, "the data frame", portable=True)
            yield OpenTable(table, lambda sql, grouped, tick: _run(frame.sparkSession, sql, tick))
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


def _is_steady(frame: Any) -> bool:
    """Whether the plan shows that every reading returns the same rows."""
    plan = frame._jdf.queryExecution().analyzed()
    if not plan.deterministic():
        return False
    todo = [plan]
    while todo:
        step = todo.pop()
        if step.nodeName() not in STEADY:
            return False
        children = step.children()
        todo += [children.apply(k) for k in range(children.size())]
    return True


def _run(session: Any, sql: str, tick: Progress | None) -> tuple[Answer, float]:
    """Run the statement; if it is interrupted, all its jobs are cancelled, those not yet begun included."""
    context, view = session.sparkContext, _new_name()
    jobs = of_totals, of_cells = f"{view}_totals", f"{view}_cells"

    def work() -> Answer:
        totals, cells = transpile_in_two(sql, "spark", view)
        context.setJobGroup(of_totals, "dpheatmap: people's events to totals", interruptOnCancel=True)
        with _keep(session.sql(totals)) as kept:
            kept.createOrReplaceTempView(view)
            context.setJobGroup(of_cells, "dpheatmap: people's events to cells", interruptOnCancel=True)
            try:
                found = session.sql(cells).toArrow()
            finally:
                session.catalog.dropTempView(view)
        return Answer.of({name: found[name].to_numpy().astype(np.int64) for name in found.column_names})

    def cancel() -> None:
        for group in jobs:
            context._jsc.sc().cancelJobGroupAndFutureJobs(group)

    furthest = -1.0  # Spark plans further stages as it runs, so the part that is done can fall

    def part() -> float:
        nonlocal furthest
        parts = [_progress_of(context, group) for group in jobs]
        furthest = max(furthest, sum(max(done, 0.0) for done in parts) / len(parts) if max(parts) >= 0 else -1.0)
        return furthest

    return wait_for(lambda: _quietly(work), tick, part, cancel)


@contextmanager
def _keep(frame: Any) -> Iterator[Any]:
    """Persist a data frame until it is left, and return one that reads what is persisted; all of it is computed first.

    Spark would compare plans to find what is persisted, and does not know all of them again: those with a WITH are
    numbered anew in each statement. So what is returned is a data frame whose plan is to read what is persisted.
    """
    from pyspark.sql.classic.dataframe import DataFrame

    session = frame.sparkSession
    # What is persisted is shared by equal plans: without a mark of its own, the first to end would drop the others'.
    own = frame.where(f"'{_new_name()}' <> ''").persist()
    try:
        _quietly(own.count)
        plan = own._jdf.queryExecution().withCachedData()
        if plan.nodeName() != "InMemoryRelation":
            raise AssertionError("Spark did not keep what it was told to; please report this")
        yield DataFrame(session._jvm.org.apache.spark.sql.classic.Dataset.ofRows(session._jsparkSession, plan), session)
    finally:
        own.unpersist()


def _new_name() -> str:
    return f"dpheatmap_{uuid.uuid4().hex}"


def _progress_of(context: Any, group: str) -> float:
    """The part of the tasks of a group's jobs that are done, from the status tracker; below 0 before there are any."""
    tracker = context.statusTracker()
    jobs = [tracker.getJobInfo(job) for job in tracker.getJobIdsForGroup(group)]
    stages = [tracker.getStageInfo(stage) for stage in {stage for job in jobs if job for stage in job.stageIds}]
    tasks = sum(stage.numTasks for stage in stages if stage)
    return sum(stage.numCompletedTasks for stage in stages if stage) / tasks if tasks else -1.0


def _quietly(call: Callable[[], Result], name: str = "the data frame") -> Result:
    """Call Spark, and replace its own errors, so that nothing of their text stays attached."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    try:
        return call()
    except (PySparkException, Py4JError) as error:
        kind = type(error).__name__.removesuffix("Exception")
    raise DataError(
        f"Spark could not read {name} ({kind}). Check the name, the path and your rights, or see Spark's own log."
    )
