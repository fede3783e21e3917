"""Records on their way to DuckDB: several scans, an early end, Ctrl-C, progress, and files that fail meanwhile."""

from __future__ import annotations

import gc
import gzip
import os
import re
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

import dpheatmap as dph
from dpheatmap._util.duckdb_connection import connect
from dpheatmap.curator.engines.duckdb import connection
from dpheatmap.curator.read import arrow_stream, blocks, record_stream
from dpheatmap.curator.read.record_stream import RecordStream
from dpheatmap.curator.read.text import CsvParser, csv_header
from dpheatmap.curator.read.text_file import TextFile
from dpheatmap.errors import BrokenRecord, DataError, ParameterError
from helpers.tables import UNIT, outcome

ROWS = 200_000


@pytest.fixture(scope="module")
def trips(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("trips") / "trips.csv"
    path.write_text("user,x,y\n" + "".join(f"u{k},0.{k % 9},0.1\n" for k in range(ROWS)))
    return path


def stream_of(path: Path, size: int = 1 << 20) -> RecordStream:
    header = csv_header(TextFile(str(path)))
    return RecordStream([TextFile(str(path), header.start)], CsvParser(header, header.columns), False, 2, size)


@pytest.fixture
def con() -> Iterator[duckdb.DuckDBPyConnection]:
    with connect(threads="2") as con:
        yield con


def nothing_is_held() -> bool:
    gc.collect()
    threads = [thread for thread in threading.enumerate() if thread.name.startswith(record_stream.THREADS)]
    return not arrow_stream.held and not arrow_stream._in_capsules and not threads


def test_a_stream_can_be_scanned_again_and_with_itself(trips: Path, con: duckdb.DuckDBPyConnection) -> None:
    con.register("t", stream_of(trips, size=50_000))
    for _ in range(3):
        assert con.execute("SELECT COUNT(*), COUNT(DISTINCT column0) FROM t").fetchall() == [(ROWS, ROWS)]
    joined = "SELECT COUNT(*) FROM t AS a JOIN t AS b ON a.column0 = b.column0"
    assert con.execute(joined).fetchall() == [(ROWS,)]
    con.unregister("t")
    assert nothing_is_held()


def test_a_scan_may_end_early(trips: Path, con: duckdb.DuckDBPyConnection) -> None:
    con.register("t", stream_of(trips, size=10_000))
    for _ in range(20):
        assert len(con.execute("SELECT * FROM t LIMIT 5").fetchall()) == 5
    con.unregister("t")
    assert nothing_is_held()


def test_a_capsule_that_nobody_takes_is_released(trips: Path) -> None:
    capsule = stream_of(trips).__arrow_c_stream__()
    assert len(arrow_stream._in_capsules) == 1
    del capsule
    assert nothing_is_held()


def test_values_reach_duckdb_byte_by_byte(tmp_path: Path, con: duckdb.DuckDBPyConnection) -> None:
    values = ["", "a", "1234567", "12345678", "123456789012", "1234567890123", "é" * 6, "é" * 7, "x\0y", "a" * 100_000]
    (tmp_path / "t.csv").write_bytes(b"v,w\n" + b"".join(b'"%b",\n' % value.encode() for value in values))
    con.register("t", stream_of(tmp_path / "t.csv"))
    assert con.execute("SELECT column0, column1 FROM t").fetchall() == [(value, None) for value in values]


def test_progress_is_that_of_the_files(trips: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each block waits until the last progress was told, so that there is some to tell."""
    told: list[float] = []
    honest = blocks.block_of_file

    def slow(*arguments: object) -> object:
        time.sleep(0.2)
        return honest(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(record_stream, "block_of_file", slow)
    packed = trips.with_suffix(".csv.gz")
    packed.write_bytes(gzip.compress(trips.read_bytes(), 1))
    dph.aggregate(trips, UNIT, user="user", x="x", y="y", progress=lambda part, seconds: told.append(part))
    reading = told[: told.index(max(told)) + 1]
    assert reading == sorted(reading)
    assert any(0 < part < 1 for part in reading)
    assert outcome(packed) == outcome(trips)


@pytest.mark.parametrize("times", [1, 2])
def test_ctrl_c_ends_the_reading_and_leaves_nothing(
    times: int, tmp_path: Path, trips: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It comes while a block is read, once or twice."""
    honest, begun = blocks.block_of_file, threading.Event()

    def slow(*arguments: object) -> object:
        if not begun.is_set():
            begun.set()
            for _ in range(times):
                os.kill(os.getpid(), signal.SIGINT)
                time.sleep(0.3)
        return honest(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(record_stream, "block_of_file", slow)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with pytest.raises(KeyboardInterrupt):
        dph.aggregate(trips, UNIT, user="user", x="x", y="y")
    assert begun.is_set()
    assert list(tmp_path.iterdir()) == []
    assert nothing_is_held()


def test_a_file_that_goes_away_is_told_and_nothing_hangs(trips: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def gone(*_: object) -> object:
        raise FileNotFoundError(2, "No such file or directory")

    monkeypatch.setattr(record_stream, "block_of_file", gone)
    with pytest.raises(DataError, match=r"'trips\.csv' can't be read any more: No such file"):
        dph.aggregate(trips, UNIT, user="user", x="x", y="y")
    assert nothing_is_held()


def test_a_file_that_grows_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "t.csv"
    path.write_text("user,x,y\n" + "ann,0.1,0.1\n" * 10)
    honest = blocks.block_of_file

    def grown(*arguments: object) -> object:
        with path.open("a") as file:
            file.write("bob,0.1,0.1\n")
        return honest(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(record_stream, "block_of_file", grown)
    with pytest.raises(DataError, match="changed while it was read"):
        outcome(path)


def test_a_compressed_file_that_is_damaged_is_refused(tmp_path: Path) -> None:
    content = b"user,x,y\n" + os.urandom(300_000).hex().encode() + b"\nann,0.1,0.1\n"
    packed = gzip.compress(content)
    for cut in (len(packed) - 4, len(packed) // 2, 30):
        (tmp_path / "t.csv.gz").write_bytes(packed[:cut])
        with pytest.raises(DataError, match=r"'t\.csv\.gz' can't be decompressed to its end"):
            outcome(tmp_path / "t.csv.gz", bad_lines="skip")


def test_the_private_copy_of_rows_is_removed(trips: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with connection() as (_, folder):
        assert os.stat(folder).st_mode & 0o077 == 0
    dph.aggregate(trips, UNIT, user="user", x="x", y="y")
    assert list(tmp_path.iterdir()) == []


def test_a_broken_line_never_hangs(tmp_path: Path) -> None:
    """DuckDB waited for its own writers for ever, in one of fifty refusals; told of an end, it has nothing to abort."""
    lines = b"".join(b"p%d,0.%d,0.1\n" % (k % 999, k % 9 + 1) for k in range(ROWS))
    for k in range(40):
        at = lines.index(b"\n", len(lines) * (k + 4) // 50) + 1
        (tmp_path / "t.csv").write_bytes(b"user,x,y\n" + lines[:at] + b'"\n' + lines[at:])
        with pytest.raises(BrokenRecord):
            outcome(tmp_path / "t.csv")
    assert nothing_is_held()


def test_duckdb_has_no_threads_for_writing_that_it_could_wait_for(con: duckdb.DuckDBPyConnection) -> None:
    assert con.execute("SELECT current_setting('async_threads')").fetchall() == [(0,)]


def test_every_scan_of_a_stream_asks_whether_it_was_whole() -> None:
    """To DuckDB a stream that fails has ended: who reads rows without asking would lose people without a word."""
    package = Path(dph.__file__).parent
    readers = {
        str(path.relative_to(package)): "own_problem(" in path.read_text()
        for path in package.rglob("*.py")
        if re.search(r"(?<!def )(read_events|open_(files|csv|json))\(", path.read_text())
    }
    opening = {"curator/read/canonical.py", "curator/read/event_files.py"}  # they hand tables on, and read none
    assert readers.pop("curator/engines/duckdb.py")
    assert {file for file, asks in readers.items() if not asks} == opening


def test_names_that_no_key_can_have_are_refused(tmp_path: Path) -> None:
    (tmp_path / "t.jsonl").write_text("{}")
    for name in ("a\0b", "\ud800"):
        with pytest.raises(ParameterError):
            outcome(tmp_path / "t.jsonl", x=name)


def test_a_file_that_can_t_be_opened_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "t.csv"
    path.write_text("user,x,y\n")

    def locked(*_: object) -> object:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("builtins.open", locked)
    with pytest.raises(DataError, match=r"'t\.csv' can't be opened: Permission denied"):
        csv_header(TextFile(str(path)))
