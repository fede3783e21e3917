"""The durable state of a process, in a SQLite file of its own.

**Contract.** What was written in a transaction is on disk, whole, when it ends, or not there at all. One process at a
time has the file open: two that share a key could publish two sums. What is deleted is overwritten, in the file and in
its journal. In the journal SQLite keeps the former content of a page, to undo an interrupted change, and leaves it
there afterwards: it is overwritten when something was deleted, and in the end.

Waiting for the disk takes most of the time of a contribution. So those that arrive meanwhile wait for each other, and
one transaction stores them all (`together`).
"""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from dpheatmap.collect.collection import Collection
from dpheatmap.errors import DataError

_TABLES = """
CREATE TABLE IF NOT EXISTS facts (name TEXT PRIMARY KEY, value BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS contributions (serial INTEGER PRIMARY KEY, digest BLOB NOT NULL, entry BLOB NOT NULL,
    content BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS admitted (digest BLOB PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS batches (number INTEGER PRIMARY KEY, content BLOB NOT NULL, sent INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS answers (number INTEGER NOT NULL, server INTEGER NOT NULL, digest BLOB NOT NULL,
    body BLOB NOT NULL, PRIMARY KEY (number, server));
"""
_PIECE = 2**20  # bytes that are overwritten at a time


@dataclass
class _Job:
    """Something to be stored with others, and what became of it."""

    work: Callable[[], None]
    done: bool = False
    error: BaseException | None = None


class State:
    """The state of one process in one collection."""

    def __init__(self, path: str | PathLike[str], collection: Collection, role: str) -> None:
        name = Path(fspath(path)).name
        self._journal = Path(f"{fspath(path)}-journal")
        try:
            Path(path).touch(0o600)
            Path(path).chmod(0o600)  # also if the file existed
            self._con = sqlite3.connect(path, timeout=1, isolation_level=None, check_same_thread=False)
            for pragma in (
                "locking_mode = EXCLUSIVE",
                "synchronous = FULL",
                "secure_delete = ON",
                "temp_store = MEMORY",
            ):
                self._con.execute(f"PRAGMA {pragma}").fetchall()
            self._con.executescript(f"BEGIN EXCLUSIVE; {_TABLES} COMMIT;")
        except (sqlite3.Error, OSError) as error:
            raise DataError(
                f"The state {name} can't be used: {error}. Give a file of its own to each process, and start it once."
            ) from None
        self._lock, self._inside = threading.RLock(), False
        self._waiting: list[_Job] = []
        self._door = threading.Lock()
        self._deleted, self._count, self._whole = False, -1, True
        mine = collection.digest + role.encode()
        with self.transaction():
            if self.fact("of") not in (None, mine):
                raise DataError(f"The state {name} is that of another collection or role. Give a new file.")
            self.learn("of", mine)

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Store all writes inside, or none; one thread at a time. A nested transaction is a part of the outer one."""
        with self._lock:
            if self._inside:
                yield
                return
            self._con.execute("BEGIN IMMEDIATE")
            self._inside = True
            try:
                yield
                self._con.execute("COMMIT")
                self._whole = True
                if self._deleted:
                    self._overwrite_journal()
            except BaseException:
                self._count, self._whole = -1, False
                with suppress(sqlite3.Error):  # some failures have rolled it back already
                    self._con.execute("ROLLBACK")
                raise
            finally:
                self._inside = False

    def together(self, work: Callable[[], None], kept: type[Exception]) -> None:
        """Do the work in a transaction that it may share with that of other threads.

        Work that raises ``kept`` must have written nothing by then: the others' is stored all the same. If anything
        else goes wrong, nothing of it is stored, and everybody gets the error.
        """
        job = _Job(work)
        with self._door:
            self._waiting.append(job)
        with self._lock:
            if not job.done:
                self._store(kept)
        if job.error is not None:
            raise job.error

    def _store(self, kept: type[Exception]) -> None:
        """Store the work of all who wait."""
        with self._door:
            jobs, self._waiting = self._waiting, []
        try:
            with self.transaction():
                for job in jobs:
                    try:
                        job.work()
                    except kept as error:
                        job.error = error
        except BaseException as error:
            for job in jobs:
                job.error = job.error or error
            if not isinstance(error, Exception):
                raise
        finally:
            for job in jobs:
                job.done = True

    def _overwrite_journal(self) -> None:
        """Overwrite the former content in the journal, after a transaction that can't be undone any more."""
        self._deleted = False
        with suppress(OSError), self._journal.open("r+b") as file:
            left = os.fstat(file.fileno()).st_size
            while left > 0:
                left -= file.write(bytes(min(left, _PIECE)))
            file.flush()
            os.fsync(file.fileno())
            file.truncate(0)

    def rows(self, sql: str, *values: object) -> list[tuple[Any, ...]]:
        """Read rows, including those of an open transaction of this thread; other threads wait for its end."""
        with self._lock:
            return self._con.execute(sql, values).fetchall()

    def write(self, sql: str, *values: object) -> None:
        """Execute a statement that changes the state."""
        with self.transaction():
            self._deleted |= not sql.startswith("INSERT")
            self._count = -1
            self._con.execute(sql, values)

    def add_contribution(self, serial: int, digest: bytes, entry: bytes, content: bytes) -> None:
        """Store a contribution."""
        there = self.count_contributions()
        self.write("INSERT INTO contributions VALUES (?, ?, ?, ?)", serial, digest, entry, content)
        self._count = there + 1

    def forget_contributions(self) -> None:
        """Delete all contributions. What is left are digests of sealed texts, in no order, to know them again."""
        with self.transaction():
            self.write("INSERT OR IGNORE INTO admitted SELECT digest FROM contributions")
            self.write("DELETE FROM contributions")

    def fact(self, name: str) -> bytes | None:
        """The value that was stored under a name, or None."""
        found = self.rows("SELECT value FROM facts WHERE name = ?", name)
        return bytes(found[0][0]) if found else None

    def learn(self, name: str, value: bytes) -> None:
        """Store a value under a name, once: a stored value stays as it was."""
        self.write("INSERT OR IGNORE INTO facts VALUES (?, ?)", name, value)

    def count_contributions(self) -> int:
        """The number of contributions. They are counted after anything but an addition, and else known."""
        with self._lock:
            if self._count < 0:
                self._count = int(self.rows("SELECT count(*) FROM contributions")[0][0])
            return self._count

    def close(self) -> None:
        """Close the file, so that another process can open it."""
        with self._lock:
            if self._whole:  # else the journal may be needed to undo what failed
                self._overwrite_journal()
            self._con.close()
