"""The embedded engine: DuckDB, out of core and interruptible, with errors that quote no rows."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import duckdb
import numpy as np

from dpheatmap._util.duckdb_connection import connect, interruptible
from dpheatmap._util.files import not_a_pattern
from dpheatmap.curator.core.answer import FIRST_COUNTER, Answer
from dpheatmap.curator.engines import OpenTable, Progress
from dpheatmap.curator.engines.waiting import wait_for
from dpheatmap.errors import DataError
from dpheatmap.place.quadtree import SPREAD, Ints

if TYPE_CHECKING:
    from dpheatmap.curator.read.grouping import Grouping
    from dpheatmap.curator.read.reading import Reading
    from dpheatmap.curator.read.record_stream import RecordStream
    from dpheatmap.curator.read.table import Table

Result = TypeVar("Result")

MEMORY = 800
"""Default memory of the engine in megabytes; what does not fit goes to a private temporary folder."""

THREAD = 50
"""Megabytes that each thread needs for its own part of the work. With less, on many cores, the statement did not
fit any more, or went to disk and back ten times as often."""

PIECE = 2**20
"""Rows of an answer that are fetched at a time."""

UNWANTED = {"join_order", "build_side_probe_side"}
"""Optimizers switched off: with them, DuckDB would hash the events instead of the totals, at four times the memory."""


@contextmanager
def open_table(events: Any, reading: Reading, grouping: Grouping | None) -> Iterator[OpenTable]:
    """Open a path, glob, data frame, Arrow table or DuckDB relation; files must not change until it is closed."""
    from dpheatmap.curator.read.canonical import read_events
    from dpheatmap.curator.read.event_files import refuse_changes
    from dpheatmap.curator.read.question import Question

    with connection(reading.memory or MEMORY) as (con, folder), refuse_changes(events):
        table = read_events(con, events, folder, reading.bad_lines, Question.of(reading, grouping))
        stream = table.stream

        def answer_of(sql: str, grouped: bool, tick: Progress | None) -> tuple[Answer, float]:
            work = partial(run, con, sql, folder, tick, partial(in_tree_order, grouped=grouped))
            columns, seconds = readably(table, work)
            return Answer(columns["code"], columns["weight"], columns.get("group_number")), seconds

        if stream is None:
            yield OpenTable(table, answer_of)
        else:
            kept = partial(keep_rows, con, stream=stream, folder=folder)
            yield OpenTable(table, answer_of, kept, lambda: (stream.broken, stream.empty))


def keep_rows(
    con: duckdb.DuckDBPyConnection, relation: str, tick: Progress | None, *, stream: RecordStream, folder: str
) -> tuple[str, float]:
    """Read text files once, into the private folder; returns the relation there, and the seconds it took.

    The aggregation reads its rows twice. In the folder they are numbers already, and need no memory.
    """
    from dpheatmap.curator.read.record_stream import own_problem

    path = Path(folder, "rows.parquet")

    def work() -> None:
        with own_problem(stream):
            quietly(lambda: _write(con, relation, path))

    _, seconds = wait_for(work, tick, lambda: stream.done, stream.cancel)
    return f"SELECT * FROM {_read(path)}", seconds


@contextmanager
def connection(memory: int = MEMORY) -> Iterator[tuple[duckdb.DuckDBPyConnection, str]]:
    """Open a new DuckDB with bounded memory and a private spill folder, which is removed with it.

    It has a thread for each core, as far as its memory is enough.
    """
    with tempfile.TemporaryDirectory(prefix="dpheatmap-") as spill:
        con = connect(
            memory_limit=f"{memory}MB",
            temp_directory=spill,
            preserve_insertion_order="false",
            pandas_analyze_sample="0",  # columns of plain objects are text, and no sample of them decides
        )
        cores = con.execute("SELECT current_setting('threads')").fetchall()[0][0]
        con.execute(f"SET threads = {max(1, min(cores, memory // THREAD))}")
        con.execute("SET enable_geoparquet_conversion = false")  # otherwise an invalid geometry ends the reading
        known = {name for (name,) in con.execute("SELECT name FROM duckdb_optimizers()").fetchall()}
        con.execute(f"SET disabled_optimizers = '{','.join(sorted(UNWANTED & known))}'")
        try:
            yield con, spill
        finally:
            con.close()


def run(
    con: duckdb.DuckDBPyConnection,
    sql: str,
    folder: str,
    tick: Progress | None = None,
    order: Callable[[str], str] | None = None,
) -> tuple[dict[str, Ints], float]:
    """Run a statement: its answer as arrays, and the seconds it took. Ctrl-C cancels it.

    While it runs, ``tick`` is called with the part done and the seconds gone by. ``folder`` is private and temporary.
    ``order`` wraps a statement that reads the answer into one that sorts it.
    """
    return wait_for(
        lambda: quietly(lambda: _by_way_of_disk(con, sql, folder, order)),
        tick,
        lambda: con.query_progress() / 100,
        con.interrupt,
    )


def _by_way_of_disk(
    con: duckdb.DuckDBPyConnection, sql: str, folder: str, order: Callable[[str], str] | None
) -> dict[str, Ints]:
    """Write the answer to a file as it comes, and read it back piece by piece into arrays of its size.

    An answer that is fetched at once is held by DuckDB and by NumPy, and DuckDB's part of it is not spilled. Sorting is
    a statement of its own: within one, the sort and the aggregation would share the memory, and not fit.
    """
    written = Path(folder, "answer.parquet")
    _write(con, sql, written)
    if order is not None:
        unordered, written = written, Path(folder, "ordered.parquet")
        con.execute("SET preserve_insertion_order = true")
        _write(con, order(f"SELECT * FROM {_read(unordered)}"), written)
        unordered.unlink()
    table = _read(written, ", file_row_number=true")
    rows = con.execute(f"SELECT COUNT(*) FROM {table}").fetchall()[0][0]
    names = [name for name, *_ in con.execute(f"DESCRIBE SELECT * EXCLUDE file_row_number FROM {table}").fetchall()]
    answer = {name: np.empty(rows, dtype=np.int64) for name in names}
    for first in range(0, rows, PIECE):
        piece = f"SELECT * FROM {table} WHERE file_row_number BETWEEN {first} AND {first + PIECE - 1}"
        for name, values in con.execute(f"{piece} ORDER BY file_row_number").fetchnumpy().items():
            if name in answer:
                answer[name][first : first + PIECE] = values
    return answer


def _write(con: duckdb.DuckDBPyConnection, sql: str, path: Path) -> None:
    target = str(path).replace("'", "''")
    con.execute(f"COPY ({sql}) TO '{target}' (FORMAT parquet, COMPRESSION uncompressed)")


def _read(path: Path, options: str = "") -> str:
    source = not_a_pattern(path).replace("'", "''")
    return f"read_parquet('{source}', hive_partitioning=false{options})"


def readably(table: Table, call: Callable[[], Result]) -> Result:
    """Call a function that reads a table; if it fails, call it again with each value read by itself.

    A value that is not of its declared type is no reason to refuse the table: it belongs to one person.
    """
    try:
        return call()
    except DataError as error:
        problem = error
    if table.again is None or not table.again():
        raise problem
    return call()


def quietly(call: Callable[[], Result], name: str = "the table") -> Result:
    """Call DuckDB, and replace its own errors, so that nothing of their text stays attached."""
    try:
        with interruptible():
            return call()
    except duckdb.Error as error:
        problem = readable(error, name)
    raise problem


def readable(error: duckdb.Error, name: str = "the table") -> DataError:
    """An error that tells what is wrong and where, without DuckDB's own text, which quotes rows."""
    if isinstance(error, duckdb.OutOfMemoryException):
        return DataError("The aggregation did not fit into its memory or its temporary folder. Give it more memory.")
    if isinstance(error, duckdb.BinderException):
        return DataError(f"where compares what can't be compared in {name}. Cast it, as in CAST(time AS TIMESTAMP).")
    kind = type(error).__name__.removesuffix("Exception")
    return DataError(
        f"Reading {name} failed ({kind}). Check that the file is whole and of the type that its ending says."
    )


def in_tree_order(sql: str, *, grouped: bool) -> str:
    """Wrap the statement of `query.py` to return (group_number, code, weight) in tree order; for DuckDB."""
    place = "group_number, " if grouped else ""
    # The bits of a counter's column, -1, could not be shifted.
    bits = "CAST(CASE WHEN cx < 0 THEN 0 ELSE cx END AS BIGINT) AS a, CAST(cy AS BIGINT) AS b"
    query = f"SELECT {place}cx < 0 AS counter, cy, {bits}, weight FROM ({sql})"
    for shift, mask in SPREAD:
        spread = ", ".join(f"({bits} | ({bits} << {shift})) & {mask} AS {bits}" for bits in "ab")
        query = f"SELECT {place}counter, cy, {spread}, weight FROM ({query})"
    code = f"CASE WHEN counter THEN {FIRST_COUNTER} + cy ELSE a | (b << 1) END AS code"
    return f"SELECT {place}{code}, weight FROM ({query}) ORDER BY {place}code"
