"""The embedded engine: it ends when told to, stays within its memory, leaves nothing behind, and tells nothing."""

from __future__ import annotations

import gzip
import json
import os
import re
import signal
import stat
import subprocess
import sys
import tempfile
import time
import traceback
from functools import partial
from pathlib import Path
from threading import Event, Thread
from typing import Any, NamedTuple

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import dpheatmap as dph
from dpheatmap.curator.engines import duckdb as engine
from dpheatmap.curator.engines.duckdb import connection, quietly, readable, run
from dpheatmap.curator.engines.waiting import waited
from dpheatmap.embedded import connect
from dpheatmap.errors import BrokenRecord, DataError, DpheatmapError
from tables import COUNTERS, ROWS, as_csv, outcome, people

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
        waited(told.wait, stop, lambda: 0.0, cancel)
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
        waited(work, None, lambda: 0.0, cancelled.set)
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
    with connection() as (con, folder):
        answer, seconds = run(con, "SELECT 5::HUGEINT::BIGINT AS a, -1 AS b UNION ALL SELECT 7, 2 ORDER BY a", folder)
    assert {name: column.tolist() for name, column in answer.items()} == {"a": [5, 7], "b": [-1, 2]}
    assert {column.dtype for column in answer.values()} == {np.dtype(np.int64)}
    assert seconds > 0


def test_an_answer_of_many_pieces_keeps_its_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "PIECE", 1000)
    sql = (
        "SELECT 3 * i AS code, (hash(i)::HUGEINT % 1000)::BIGINT AS weight FROM range(300500) t(i) ORDER BY hash(i + 1)"
    )
    with connection() as (con, folder):
        answer, _ = run(con, sql, folder, order=lambda answer: f"SELECT * FROM ({answer}) ORDER BY code")
        assert os.listdir(folder) == ["ordered.parquet"]
        expected = con.execute("SELECT (hash(i)::HUGEINT % 1000)::BIGINT FROM range(300500) t(i)").fetchall()
    assert np.array_equal(answer["code"], 3 * np.arange(300_500))
    assert [(weight,) for weight in answer["weight"].tolist()] == expected


# Errors tell nothing

SECRET = "mallory.secret"


def chain(error: BaseException | None) -> str:
    """Everything that an error carries along: its text, its causes and contexts, its printed traceback."""
    seen = ""
    while error is not None:
        seen += f"{error}{error!r}{error.args}" + "".join(traceback.format_exception(error))
        seen += chain(error.__cause__)
        error = error.__context__
    return seen


def refused(events: Any, **options: Any) -> str:
    with pytest.raises(DpheatmapError) as caught:
        dph.aggregate(events, UNIT, **{**COLUMNS, **options})
    told = chain(caught.value)
    assert "mallory" not in told
    assert "secret" not in told
    assert "4.321" not in told
    return str(caught.value)


def broken(events: Any) -> tuple[str, str]:
    """What is said of a broken line, and what only the data holder's terminal is told."""
    message = refused(events)
    with pytest.raises(BrokenRecord) as caught:
        dph.aggregate(events, UNIT, **COLUMNS)  # type: ignore[arg-type]
    said = message.partition("' is broken")[2].replace("2 MiB", "").replace("UTF-8", "")
    assert not any(character.isdigit() for character in said)
    return message, caught.value.place


BROKEN_LINES = {
    "too few": f"{SECRET},4.321",
    "too many": f"{SECRET},4.321,0.1,0.1",
    "open quote": f'"{SECRET},4.321,0.1',
    "text after a quote": f'"{SECRET}"x,4.321,0.1',
    "a path": f"file: {SECRET},4.321",
    "a quoted path": f"file '{SECRET}',4.321",
    "a line number": f"{SECRET} CSV Error on Line: 4321,4.321",
    "a setting": f'"x\n  file = {SECRET}\ny",4.321',
}


@pytest.mark.parametrize("line", BROKEN_LINES.values(), ids=BROKEN_LINES.keys())
def test_a_broken_line_is_given_by_its_place_alone(line: str, tmp_path: Path) -> None:
    path = tmp_path / "trips.csv"
    path.write_text("user,x,y\na,0.1,0.1\nb,0.1,0.1\n" + line + "\nc,0.1,0.1\n")
    message, place = broken(path)
    assert message.startswith("A line of 'trips.csv' is broken: a quote does not close on it, or it has more or fewer")
    assert "as Parquet" in message
    assert "--bad-lines skip" in message
    assert place.startswith("Line 4 of trips.csv has ")


def test_a_broken_line_deep_in_many_files(tmp_path: Path) -> None:
    for k in range(3):
        rows = [f"u{i},0.1,0.1" for i in range(50_000)]
        if k == 1:
            rows[43_210] = f"{SECRET},0.1"
        (tmp_path / f"part{k}.csv").write_text("\n".join(["user,x,y", *rows, ""]))
    message, place = broken(f"{tmp_path}/*.csv")
    assert message.startswith("A line of 'part1.csv' is broken: ")
    assert place.startswith("Line 43212 of part1.csv has more or fewer fields")


def test_bytes_that_are_no_text(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes(b"user,x,y\n" + SECRET.encode() + b"\xff\xfe,4.321,0.1\n")
    assert "not UTF-8" in refused(tmp_path / "t.csv")


def test_a_word_for_a_number_takes_its_own_row_out(tmp_path: Path) -> None:
    """Whatever the engine's optimizers would make of reading numbers from text: to stop would tell of the word."""
    (tmp_path / "t.csv").write_text("user,x,y\na,0.5,0.5\nb,word,0.5\nc,0.5,\nd,1e999,0.5\n")
    counters = outcome(tmp_path / "t.csv", UNIT)[1]
    assert (counters["inside"], counters["invalid"], counters["people"]) == (1, 3, 1)


def test_broken_parquet_and_json(tmp_path: Path) -> None:
    path = tmp_path / "trips.parquet"
    pq.write_table(pa.table({"user": [SECRET] * 9, "x": [4.321] * 9, "y": [0.1] * 9}), path)
    content = path.read_bytes()
    for left in (0, 10, len(content) // 2, len(content) - 1):
        path.write_bytes(content[:left])
        assert refused(path).startswith("Reading trips.parquet failed")
    for k, text in enumerate(
        [f'{{"user": "{SECRET}", "x": 4.321\n', f'[{{"user": "{SECRET}"}}, oops]', f'"{SECRET}" 4.321 }}{{']
    ):
        (tmp_path / f"t{k}.json").write_text(text)
        message, place = broken(tmp_path / f"t{k}.json")
        assert message.startswith(f"A line of 't{k}.json' is broken: it is not one JSON object")
        assert place == f"Line 1 of t{k}.json is not one JSON object."


def test_compressed_nonsense(tmp_path: Path) -> None:
    (tmp_path / "t.csv.gz").write_bytes(gzip.compress(f"user,x,y\n{SECRET},4.321,0.1\n".encode() * 99)[:60])
    assert "t.csv.gz" in refused(tmp_path / "t.csv.gz")
    (tmp_path / "u.csv.gz").write_bytes(f"user,x,y\n{SECRET},4.321,0.1\n".encode())
    assert "u.csv.gz" in refused(tmp_path / "u.csv.gz")


def test_a_file_without_a_header_is_not_read_out(tmp_path: Path) -> None:
    """Its first row would be taken for names, and names are listed when one is missing."""
    (tmp_path / "t.csv").write_text(f"{SECRET},4.321,0.1\nbob,0.2,0.2\n")
    assert "no coordinate column 'x'" in refused(tmp_path / "t.csv")
    assert "no user column 'mallory.secre'" not in refused(tmp_path / "t.csv", x="4.3", y="0.1")
    (tmp_path / "words.csv").write_text(f"{SECRET},here,there\nbob,0.2,0.2\n")
    assert "no coordinate column 'x'" in refused(tmp_path / "words.csv", where="z = 1")
    (tmp_path / "t.csv").write_text(f"user,x,y\n{SECRET},4.321,0.1\n")
    assert "where names the column 'z', and the table has user, x, y" in refused(tmp_path / "t.csv", where="z = 1")


def test_the_keys_of_json_are_people_s_and_nothing_tells_which_there_are(tmp_path: Path) -> None:
    """A key that nobody has is a column of nulls, in each role and in where."""
    path = tmp_path / "t.jsonl"
    path.write_text(json.dumps({SECRET: {"x": 4.321}, "user": "ann", "x": 0.1, "y": 0.1}) + "\n")
    assert people(path) == 1
    for options in ({"user": "nobody"}, {"x": "X"}, {"weight": "w"}, {"where": "z = 1"}, {"where": "z IS NOT NULL"}):
        assert people(path, **options) == 0


def test_types_are_told_without_their_values() -> None:
    frame = pd.DataFrame({"user": pd.Categorical([SECRET]), "x": 4.321, "y": 0.1})
    for role in ("x", "weight"):  # categories of text are text, from which numbers are read
        report = dph.aggregate(frame, UNIT, **{**COLUMNS, role: "user"}).report  # type: ignore[arg-type]
        assert report is not None
        assert report.invalid == 1
    assert "'user' is of type TIMESTAMP_NS, not a number" in refused(
        frame.assign(user=pd.Categorical(np.array(["2024-06-03"], dtype="datetime64[ns]"))), x="user", user="y"
    )
    frame = frame.assign(user=pd.Categorical(["MAPS"]), x=0.1)
    assert dph.aggregate(frame, UNIT, **COLUMNS).sums[-1] == 2**30  # type: ignore[arg-type]


def test_a_relation_that_fails_on_the_way() -> None:
    failing = duckdb.connect().sql(f"SELECT error('{SECRET}') AS user, 4.321 AS x, 0.1 AS y FROM range(3)")
    assert refused(failing).startswith("Reading the relation failed (InvalidInput)")
    casting = duckdb.connect().sql(f"SELECT i::INTEGER AS user, 4.321 AS x, 0.1 AS y FROM (VALUES ('{SECRET}')) t(i)")
    assert refused(casting).startswith("Reading the relation failed (Conversion)")


@pytest.mark.parametrize(
    "kind",
    [duckdb.OutOfMemoryException, duckdb.ConversionException, duckdb.BinderException, duckdb.Error, duckdb.IOException],
)
@pytest.mark.parametrize(
    "text", [SECRET, f"CSV Error on Line: 4.321 {SECRET}", f"x\n  file = {SECRET}", f"file: '{SECRET}'"]
)
def test_nothing_of_an_engines_error_is_kept(kind: type[duckdb.Error], text: str) -> None:
    assert not {"mallory", "secret", "4.321"} & set(re.findall(r"[\w.]+", str(readable(kind(text), "t.csv"))))

    def fail() -> None:
        raise kind(text)

    with pytest.raises(DataError) as caught:
        quietly(fail)
    assert SECRET not in chain(caught.value)
    assert caught.value.__context__ is None


def test_ctrl_c_inside_the_engine_is_ctrl_c() -> None:
    def interrupted() -> None:
        raise RuntimeError("Query interrupted")

    def broken() -> None:
        raise RuntimeError("something else")

    with pytest.raises(KeyboardInterrupt):
        quietly(interrupted)
    with pytest.raises(RuntimeError, match="something else"):
        quietly(broken)
