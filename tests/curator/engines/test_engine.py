"""The embedded engine: it ends when told to, stays within its memory, and leaves nothing behind."""

from __future__ import annotations

import os
import re
import signal
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from threading import Event, Thread
from typing import NamedTuple

import duckdb
import numpy as np
import pytest

import dpheatmap as dph
from dpheatmap._util.duckdb_connection import connect
from dpheatmap.curator.engines import duckdb as engine
from dpheatmap.curator.engines.duckdb import columns_of, connection, run
from dpheatmap.curator.engines.tree_order import in_tree_order
from dpheatmap.curator.engines.waiting import wait_for
from dpheatmap.place.quadtree import Ints, encode
from helpers.tables import COUNTERS, ROWS, as_csv, outcome

UNIT = dph.Domain.unit(4)
COLUMNS = {"user": "user", "x": "x", "y": "y"}


@pytest.fixture(scope="module")
def crowd(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three million events of a million and a half people."""
    path = tmp_path_factory.mktemp("crowd") / "crowd.parquet"
    with duckdb.connect() as con:
        con.execute(f"""COPY (
            SELECT hash(i % 1500000) AS user, (i * 7919 % 1000003) / 1000003 AS x, (i * 104729 % 999983) / 999983 AS y
            FROM range(3000000) t(i)) TO '{path}'""")
    return path


class WholeRun(NamedTuple):
    """What an aggregation of the crowd takes that nobody ends, and what it tells meanwhile: parts and seconds."""

    cpu_seconds: float
    told: list[tuple[float, float]]


@pytest.fixture(scope="module")
def whole(crowd: Path) -> WholeRun:
    told: list[tuple[float, float]] = []
    start = time.process_time()
    dph.aggregate(crowd, UNIT, **COLUMNS, progress=lambda part, seconds: told.append((part, seconds)))  # type: ignore[arg-type]
    return WholeRun(time.process_time() - start, told)


def leftovers(folder: Path) -> list[str]:
    return [name for name in os.listdir(folder) if name.startswith("dpheatmap-")]


# Ended when told to

CHILD = """
import os, signal, sys, time, dpheatmap as dph

def interrupt(part, seconds):
    print("spilling to", [n for n in os.listdir(os.environ["TMPDIR"]) if n.startswith("dpheatmap-")], flush=True)
    global told
    told = time.process_time()
    os.kill(os.getpid(), signal.SIGINT)

try:
    dph.aggregate(sys.argv[1], dph.Domain.unit(4), user="user", x="x", y="y", memory=64, progress=interrupt)
except KeyboardInterrupt:
    print("interrupted after", time.process_time() - told)
"""


def test_ctrl_c_ends_an_aggregation_at_once_and_leaves_nothing(crowd: Path, whole: WholeRun, tmp_path: Path) -> None:
    """The child interrupts itself a tenth of a second into the query; what it computes after that is next to nothing.

    CPU seconds don't depend on what else the machine does. Measured: 0.01, of 0.8 to 1.1 of a whole run.
    """
    done = subprocess.run(
        [sys.executable, "-c", CHILD, str(crowd)],
        env={**os.environ, "TMPDIR": str(tmp_path)}, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert re.search(r"spilling to \['dpheatmap-\w+'\]", done.stdout)
    found = re.search(r"interrupted after ([\d.]+)", done.stdout)
    assert found
    assert float(found.group(1)) < whole.cpu_seconds / 4
    assert done.stdout.count("spilling") == 1
    assert leftovers(tmp_path) == []


def test_a_signal_from_outside_ends_it_too(crowd: Path, tmp_path: Path) -> None:
    code = (
        "import sys, dpheatmap as dph\n"
        "tell = lambda part, seconds: print('running', flush=True)\n"
        "while True:\n"
        "    dph.aggregate(sys.argv[1], dph.Domain.unit(4), user='user', x='x', y='y', memory=64, progress=tell)\n"
    )
    child = subprocess.Popen(
        [sys.executable, "-c", code, str(crowd)], env={**os.environ, "TMPDIR": str(tmp_path)},
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert child.stdout is not None
    assert child.stdout.readline() == "running\n"
    child.send_signal(signal.SIGINT)
    _, errors = child.communicate()
    assert errors.rstrip().endswith("KeyboardInterrupt")
    assert child.returncode in (1, 130, -signal.SIGINT)
    assert leftovers(tmp_path) == []


class StopError(Exception):
    pass


def test_whatever_progress_raises_ends_it(
    crowd: Path, whole: WholeRun, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    seen, told = [], []

    def stop(part: float, seconds: float) -> None:
        seen.append(leftovers(tmp_path))
        told.append(time.process_time())
        raise StopError

    with pytest.raises(StopError):
        dph.aggregate(crowd, UNIT, **COLUMNS, progress=stop)  # type: ignore[arg-type]
    assert time.process_time() - told[0] < whole.cpu_seconds / 4
    assert len(seen) == 1
    assert len(seen[0]) == 1
    assert leftovers(tmp_path) == []


def test_ctrl_c_twice_still_waits_for_the_work_to_end() -> None:
    """Else what it works on would be closed under it, at which DuckDB ends the program."""
    told, calls = Event(), []

    def cancel() -> None:
        calls.append(told.is_set())
        if len(calls) < 3:
            raise KeyboardInterrupt
        told.set()

    def stop(part: float, seconds: float) -> None:
        raise StopError

    with pytest.raises(StopError):
        wait_for(told.wait, stop, lambda: 0.0, cancel)
    assert told.is_set()
    assert len(calls) >= 3


@pytest.mark.parametrize("begun_before", [True, False])
def test_ctrl_c_while_the_work_is_being_started(begun_before: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """A thread may run already when the one that starts it is interrupted: it is waited for. Or not yet: never then."""
    begun, cancelled, ended, threads = Event(), Event(), Event(), []

    class Interrupted(Thread):
        def start(self) -> None:
            threads.append(self)
            if begun_before:
                super().start()
                begun.wait()
            raise KeyboardInterrupt

    def work() -> None:
        begun.set()
        cancelled.wait()
        ended.set()

    monkeypatch.setattr("dpheatmap.curator.engines.waiting.Thread", Interrupted)
    with pytest.raises(KeyboardInterrupt):
        wait_for(work, None, lambda: 0.0, cancelled.set)
    assert ended.is_set() == begun_before
    if not begun_before:
        Thread.start(threads[0])
        threads[0].join()
    assert begun.is_set() == begun_before


def test_progress_is_told_in_seconds_and_parts(whole: WholeRun) -> None:
    assert len(whole.told) >= 2
    assert [seconds for _, seconds in whole.told] == sorted(seconds for _, seconds in whole.told)
    assert all(part <= 1 for part, _ in whole.told)


# Memory and temporary files


def with_cores(cores: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let DuckDB run as on a machine of so many cores."""
    monkeypatch.setattr(engine, "connect", partial(connect, threads=str(cores)))


@pytest.mark.parametrize("cores", [2, 64])
def test_a_small_memory_gives_the_same_numbers(crowd: Path, cores: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """64 MB, less than the people's totals need: they go to disk and come back right, however many cores there are."""
    with_cores(cores, monkeypatch)
    counts = dph.aggregate(crowd, UNIT, **COLUMNS, memory=64)  # type: ignore[arg-type]
    assert counts.report is not None
    assert (counts.report.rows, counts.report.people) == (3_000_000, 1_500_000)
    i = np.arange(3_000_000)
    columns, rows, _ = UNIT.locate((i * 7919 % 1000003) / 1000003, (i * 104729 % 999983) / 999983)
    expected = np.bincount(rows * 16 + columns, minlength=256) * 2**29
    table = counts.to_arrow().to_pydict()
    got = np.zeros(256, dtype=np.int64)
    got[np.array(table["y"]) * 16 + np.array(table["x"])] = table["weight"]
    assert np.array_equal(got, expected)


@pytest.mark.parametrize(
    ("cores", "memory", "threads"), [(2, 800, 2), (16, 800, 16), (64, 800, 16), (64, 3200, 64), (64, 64, 1), (2, 64, 1)]
)
def test_there_are_as_many_threads_as_the_memory_is_enough_for(
    cores: int, memory: int, threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """64 threads with 800 MB needed ten times the CPU seconds of 16, and 4 with 64 MB did not fit."""
    with_cores(cores, monkeypatch)
    with connection(memory) as (con, _):
        assert con.execute("SELECT current_setting('threads')").fetchone() == (threads,)


def test_the_folder_is_private_and_goes_away(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with connection(64) as (con, folder):
        assert os.path.dirname(folder) == str(tmp_path)
        assert stat.S_IMODE(os.stat(folder).st_mode) == 0o700
        settings = con.execute("SELECT current_setting('temp_directory'), current_setting('memory_limit')").fetchone()
        assert settings is not None
        assert settings[0] == folder
        assert settings[1] == "61.0 MiB"
    assert leftovers(tmp_path) == []
    with pytest.raises(StopError), connection():
        raise StopError
    assert leftovers(tmp_path) == []


def test_the_folder_may_have_any_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "it's [user=7]*"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    assert outcome(as_csv(ROWS, tmp_path / "t.csv"))[1] == COUNTERS
    assert leftovers(folder) == []


def test_relations_are_copied_there_and_nowhere_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    events = duckdb.connect().sql("SELECT i AS user, 0.1 AS x, 0.1 AS y FROM range(1000) t(i)")
    assert dph.aggregate(events, UNIT, **COLUMNS).sums[-1] == 1000 * 2**30  # type: ignore[arg-type]
    assert os.listdir(tmp_path) == []


def test_it_never_goes_to_the_network_for_extensions() -> None:
    with connection() as (con, _):
        assert con.execute("SELECT current_setting('autoinstall_known_extensions')").fetchone() == (False,)


def test_the_answer_is_integers() -> None:
    sql = "SELECT 5::HUGEINT::BIGINT AS a, -1 AS b UNION ALL SELECT 7, 2"
    with connection() as (con, folder):
        answer, seconds = run(con, sql, folder, columns_of)
    assert sorted(zip(answer["a"].tolist(), answer["b"].tolist(), strict=True)) == [(5, -1), (7, 2)]
    assert {column.dtype for column in answer.values()} == {np.dtype(np.int64)}
    assert seconds > 0


def test_an_answer_without_rows_has_its_columns() -> None:
    with connection() as (con, folder):
        answer, _ = run(con, "SELECT 5 AS a, 6 AS b WHERE FALSE", folder, columns_of)
    assert {name: column.tolist() for name, column in answer.items()} == {"a": [], "b": []}


def test_an_answer_of_many_pieces_is_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "PIECE", 1000)
    sql = "SELECT i AS cx, 0 AS cy, 3 * i AS weight FROM range(300500) t(i) ORDER BY hash(i + 1)"
    with connection() as (con, folder):
        answer, _ = run(con, sql, folder, in_tree_order)
        assert os.listdir(folder) == ["answer"]  # and none that is sorted
    cells = np.arange(300_500)
    assert np.array_equal(answer.codes, encode(cells, 0 * cells))
    assert np.array_equal(answer.weights, 3 * cells)


@pytest.mark.parametrize("piece", [1, 100, 2**20])
def test_a_long_answer_and_a_short_one_are_sorted_alike(piece: int, monkeypatch: pytest.MonkeyPatch) -> None:
    i = np.arange(300)
    x, y = i * 79 % 311 / 311, i * 107 % 313 / 313
    domain = dph.Domain.unit(10)
    events = connect().sql("SELECT i AS user, i * 79 % 311 / 311 AS x, i * 107 % 313 / 313 AS y FROM range(300) t(i)")
    monkeypatch.setattr(engine, "PIECE", piece)
    counts = dph.aggregate(events, domain, **COLUMNS)  # type: ignore[arg-type]
    columns, rows, _ = domain.locate(x, y)
    assert np.array_equal(counts.codes, np.unique(encode(columns, rows)))
    assert counts.total == 300 * 2**30


def test_work_on_the_answer_is_told_to_stop() -> None:
    """Ctrl-C comes while no statement runs: what is made of the answer must learn of it, too."""
    begun = Event()

    def collect(rows: int, pieces: Iterator[dict[str, Ints]], stop: Event) -> None:
        begun.set()
        assert stop.wait(60)

    def tell(part: float, seconds: float) -> None:
        if begun.is_set():
            raise StopError

    with connection() as (con, folder), pytest.raises(StopError):
        run(con, "SELECT 1 AS a", folder, collect, tell)
