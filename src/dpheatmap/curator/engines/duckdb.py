"""The embedded engine: DuckDB, out of core and interruptible, with errors that quote no rows."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager, nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Any, TypeVar

import duckdb
import numpy as np

from dpheatmap._util.duckdb_connection import connect, interruptible
from dpheatmap._util.files import not_a_pattern
from dpheatmap.curator.core.query import RUNS
from dpheatmap.curator.engines import OpenTable, Progress
from dpheatmap.curator.engines.answer import AddedUp, Answer
from dpheatmap.curator.engines.waiting import wait_for
from dpheatmap.curator.read.arrow_stream import whole_numbers
from dpheatmap.curator.read.sql_text import STEP
from dpheatmap.errors import DataError
from dpheatmap.place.quadtree import Ints

if TYPE_CHECKING:
    from dpheatmap.curator.read.reading import Reading
    from dpheatmap.curator.read.slice_numbers import Slices
    from dpheatmap.curator.read.table import Table
    from dpheatmap.place.mask import Runs

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

UNTRUSTED = {
    "statistics_propagation", "filter_pullup", "filter_pushdown", "cte_filter_pusher", "join_filter_pushdown",
    "row_group_pruner",
}  # fmt: skip
"""Optimizers switched off: with them, the smallest and largest values in the footer of a Parquet file would decide
which rows are read, and which conditions are tested at all. These values are statistics of everybody's rows, and leave
NaN out: one person's row could let the rows of others in or out. So no condition reaches a scan, and no statistic a
plan. What is read of a row follows from that row alone."""


_PLAIN = ", PARQUET_VERSION V2, DICTIONARY_SIZE_LIMIT 1"
"""The option of Parquet files that are read once or twice: looking for equal values takes longer than it saves."""

_LASTING = (
    "TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "VARCHAR", "BLOB",
    "UUID", "BOOLEAN", "DATE", "TIMESTAMP", "TIMESTAMP WITH TIME ZONE",
)  # fmt: skip
"""Types of ids that Parquet keeps as they are."""


@contextmanager
def open_table(events: Any, reading: Reading, slices: Slices | None) -> Iterator[OpenTable]:
    """Open a path, glob, data frame, Arrow table or DuckDB relation; files must not change until it is closed."""
    from dpheatmap.curator.read.canonical import read_events
    from dpheatmap.curator.read.coordinate_system import converting
    from dpheatmap.curator.read.event_files import refuse_changes
    from dpheatmap.curator.read.question import Question

    with (
        connection(reading.memory or MEMORY) as (con, folder),
        nullcontext() if reading.crs is None else converting(con, reading.crs),
        refuse_changes(events),
    ):
        table = read_events(con, events, folder, reading.bad_lines, Question.of(reading, slices), reading.table)
        stream = table.stream

        def answer_of(sql: str, grouped: bool, tick: Progress | None) -> tuple[Answer, float]:
            return readably(table, lambda: run(con, sql, folder, sort_rows, tick))

        def sums_of(sql: str, size: int, tick: Progress | None) -> tuple[AddedUp, float]:
            return readably(table, lambda: add_up(con, sql, size, tick))

        opened = OpenTable(table, answer_of, keep=partial(keep_rows, con, table=table, folder=folder), add_up=sums_of)
        if stream is None:  # points are converted once, and trips numbered once
            yield replace(opened, read_once=reading.crs is not None or reading.several_points)
        else:
            yield replace(opened, read_once=True, lines_left_out=lambda: (stream.broken, stream.empty))


def keep_rows(
    con: duckdb.DuckDBPyConnection,
    relation: str,
    runs: Runs | None,
    tick: Progress | None,
    *,
    table: Table,
    folder: str,
) -> tuple[str, float]:
    """Read a relation once, into the private folder; returns the relation there, and the seconds it took.

    The aggregation reads its rows twice. In the folder they are numbers already, and need no memory. A relation that is
    joined with the runs of a boundary finds them in a table of the connection.
    """
    from dpheatmap.curator.read.record_stream import own_problem

    path, stream = Path(folder, "rows.parquet"), table.stream
    if runs is not None:
        columns = ", ".join(f"UNNEST(CAST(? AS INTEGER[])) AS run_{name}" for name in ("row", "first", "last"))
        con.execute(f"CREATE OR REPLACE TEMP TABLE {RUNS} AS SELECT {columns}", [
            runs.row.tolist(), runs.first.tolist(), runs.last.tolist(),
        ])  # fmt: skip

    def work() -> None:
        with own_problem(stream):
            readably(table, lambda: quietly(lambda: _write(con, _with_lasting_ids(con, relation), path, _PLAIN)))

    if stream is None:
        _, seconds = wait_for(work, tick, lambda: con.query_progress() / 100, con.interrupt)
    else:
        _, seconds = wait_for(work, tick, lambda: stream.done, stream.cancel)
    return f"SELECT * FROM {_read(path)}", seconds


def _with_lasting_ids(con: duckdb.DuckDBPyConnection, relation: str) -> str:
    """A relation whose ids are the same after they were written to Parquet and read again.

    DuckDB writes some whole numbers as floats, which would make one person of several. Ids of such types become text,
    in which every value is written differently.
    """
    types = {name: kind for name, kind, *_ in con.execute(f"DESCRIBE {relation}").fetchall()}
    if "person" not in types or types["person"] in _LASTING:
        return relation
    return f"SELECT * REPLACE (CAST(person AS VARCHAR) AS person) FROM ({relation})"


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
        con.execute(f"SET disabled_optimizers = '{','.join(sorted((UNWANTED | UNTRUSTED) & known))}'")
        try:
            yield con, spill
        finally:
            con.close()


def run(
    con: duckdb.DuckDBPyConnection,
    sql: str,
    folder: str,
    collect: Callable[[int, Iterator[dict[str, Ints]], Event], Result],
    tick: Progress | None = None,
) -> tuple[Result, float]:
    """Run a statement: what ``collect`` makes of its answer, and the seconds both took. Ctrl-C cancels them.

    ``collect`` is given the number of rows, the pieces that hold them in any order, and what is set if it should stop.
    While it runs, ``tick`` is called with the part done and the seconds gone by. ``folder`` is private and temporary.
    """
    stop = Event()

    def cancel() -> None:
        stop.set()
        con.interrupt()

    def work() -> Result:
        return collect(*_by_way_of_disk(con, sql, folder), stop)

    return wait_for(lambda: quietly(work), tick, lambda: con.query_progress() / 100, cancel)


def add_up(con: duckdb.DuckDBPyConnection, sql: str, size: int, tick: Progress | None) -> tuple[AddedUp, float]:
    """Add the weights of a statement's rows (number, weight) up by number, as they come: the sums, and the seconds.

    Memory is that of the sums, however many rows there are.
    """
    stop = Event()

    def cancel() -> None:
        stop.set()
        con.interrupt()

    def work() -> AddedUp:
        sums = np.zeros(size, dtype=np.int64)
        _prepare(con, sql)
        try:
            with closing(whole_numbers(con.sql(sql))) as pieces:
                for number, weight in pieces:
                    if stop.is_set():
                        raise KeyboardInterrupt
                    if np.min(number, initial=0) < 0:
                        raise AssertionError("a cell of the answer lies outside of the place; please report this")
                    np.add.at(sums, number.astype(np.intp), weight)
        except OSError as error:
            problem = str(error)
        else:
            return AddedUp(sums)
        raise duckdb.OutOfMemoryException if problem.startswith("Out of Memory") else duckdb.Error

    return wait_for(lambda: quietly(work), tick, lambda: con.query_progress() / 100, cancel)


def sort_rows(rows: int, pieces: Iterable[dict[str, Ints]], stop: Event) -> Answer:
    """Make the answer of the statement's rows; loading compiled loops, in half a second, pays from two pieces on."""
    if rows <= PIECE:
        return Answer.of(columns_of(rows, pieces, stop))
    from dpheatmap.curator.engines.tree_order import in_tree_order

    return in_tree_order(rows, pieces, stop)


def columns_of(rows: int, pieces: Iterable[dict[str, Ints]], stop: Event) -> dict[str, Ints]:
    """The columns of an answer as arrays."""
    columns: dict[str, Ints] = {}
    first = 0
    for piece in pieces:
        columns = columns or {name: np.empty(rows, dtype=np.int64) for name in piece}
        end = first + len(next(iter(piece.values())))
        for name, values in piece.items():
            columns[name][first:end] = values
        first = end
    return columns


def _by_way_of_disk(con: duckdb.DuckDBPyConnection, sql: str, folder: str) -> tuple[int, Iterator[dict[str, Ints]]]:
    """Write the answer to files as it comes, and read them back: the number of rows, and at least one piece of them.

    An answer that is fetched at once is held by DuckDB and by NumPy, and DuckDB's part of it is not spilled. Of one
    that is fetched as it comes, nobody knows how long arrays must be, and the aggregation still has its memory. A file
    holds one piece, because finding a piece in a long file takes reading all of it.
    """
    answer = Path(folder, "answer")
    shutil.rmtree(answer, ignore_errors=True)
    _prepare(con, sql)
    _write(con, sql, answer, f"{_PLAIN}, ROW_GROUP_SIZE {PIECE}, ROW_GROUPS_PER_FILE 1, WRITE_EMPTY_FILE true")
    files = sorted(answer.iterdir())
    rows = sum(con.execute(f"SELECT COUNT(*) FROM {_read(file)}").fetchall()[0][0] for file in files)

    def pieces() -> Iterator[dict[str, Ints]]:
        for file in files:
            piece = con.execute(f"SELECT * FROM {_read(file)}").fetchnumpy()
            yield {name: np.asarray(values, dtype=np.int64) for name, values in piece.items()}

    return rows, pieces()


def _prepare(con: duckdb.DuckDBPyConnection, sql: str) -> None:
    if f") {STEP}_text" in sql:
        con.execute("PRAGMA disable_optimizer")  # it puts the steps of texts into each other, and does not end


def _write(con: duckdb.DuckDBPyConnection, sql: str, path: Path, options: str = "") -> None:
    target = str(path).replace("'", "''")
    con.execute(f"COPY ({sql}) TO '{target}' (FORMAT parquet, COMPRESSION uncompressed{options})")


def _read(path: Path) -> str:
    source = not_a_pattern(path).replace("'", "''")
    return f"read_parquet('{source}', hive_partitioning=false)"


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
