"""The stores of a ledger's entries: a SQLite file, or a table of PostgreSQL.

**Contract.** `transaction(write=True)` lets one process in at a time: nobody adds rows to those it reads until it ends,
and what it appends is on disk when it has ended, or not there at all. So the decision by the rows and the appended
entry are one step, whoever races and whenever the power fails. If anything goes wrong, an error is raised and the
caller must not go on. An entry that was written nevertheless errs on the safe side.
"""

from __future__ import annotations

import hashlib
import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from os import PathLike
from pathlib import Path
from typing import Any, Protocol

from dpheatmap._util.database_url import WAIT, driver, is_database, public_url
from dpheatmap._util.files import data_folder
from dpheatmap.curator.ledger.chain import Row
from dpheatmap.errors import LedgerError, ParameterError

_COLUMNS = ", ".join(Row._fields)
_TABLE = f"""CREATE TABLE %s (
    number INTEGER PRIMARY KEY, {", ".join(f"{name} TEXT NOT NULL" for name in Row._fields[1:])})"""


class Transaction(Protocol):
    """The entries, while nobody else may change them."""

    def rows(self) -> list[Row]:
        """All entries, in order."""
        ...

    def append(self, row: Row) -> None:
        """Write one more entry."""
        ...


class Store(Protocol):
    """A place for entries."""

    name: str

    @property
    def beside(self) -> Path:
        """The path after which files that belong to the store are named, with endings of their own."""
        ...

    def transaction(self, *, write: bool) -> Any:
        """A context manager that opens a Transaction and ends it; with ``write``, nobody else is inside."""
        ...


def store_at(where: str | PathLike[str]) -> Store:
    """The store that a path or URL names."""
    text = os.fspath(where)
    if "://" in text and not is_database(text):
        raise ParameterError(
            f"A ledger is a file or postgresql://host/name; it was {public_url(text, 'ledger')}. Name one."
        )
    return PostgresStore(text) if is_database(text) else SqliteStore(text)


# SQLite

_KIND = 0x6470684C  # "dphL", the application id in the file's header
_VERSION = 1
_NAME = "entries"
_LONGEST = 10**6  # bytes of one value
_REASONS = {
    sqlite3.SQLITE_FULL: ("the disk is full", "Free some space."),
    sqlite3.SQLITE_READONLY: ("it is write-protected", "Choose a place that can be written to."),
    sqlite3.SQLITE_CANTOPEN: ("it or its folder can't be opened", "Choose a place that can be written to."),
    sqlite3.SQLITE_IOERR: ("the disk is full or failed", "Check the disk."),
    sqlite3.SQLITE_BUSY: (f"another process has held it for {WAIT} seconds", "Try again."),
}


class SqliteStore:
    """One file. Commits wait for the disk: file and folder are synced before they return."""

    def __init__(self, path: str) -> None:
        self.path = Path(path)
        self.name = str(self.path) if self.path.parent == data_folder() else self.path.name

    @property
    def beside(self) -> Path:
        """The file itself, even if the path is a link to it."""
        return Path(os.path.realpath(self.path))

    @contextmanager
    def transaction(self, *, write: bool) -> Iterator[Transaction]:
        """Let one writer in, by BEGIN IMMEDIATE; what a killed process left unfinished is rolled back first."""
        if not write and not self.path.exists():
            yield _Sqlite(None)
            return
        try:
            with closing(self._connect(write)) as con:
                con.execute("BEGIN IMMEDIATE" if write else "BEGIN")
                _check_kind(con, self.name, write)
                yield _Sqlite(con)
                con.execute("COMMIT")  # without it, closing rolls back
        except (sqlite3.Error, UnicodeDecodeError) as error:  # the latter from names that are not text
            raise self._readable(error) from error

    def _connect(self, write: bool) -> sqlite3.Connection:
        mode = "rwc" if write else "rw"
        con = sqlite3.connect(f"{self.path.absolute().as_uri()}?mode={mode}", WAIT, isolation_level=None, uri=True)
        # Anybody may have written the file: nothing in it must run, or make a small file take long to read.
        con.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _LONGEST)
        con.execute("PRAGMA trusted_schema = OFF")
        con.execute("PRAGMA synchronous = EXTRA")
        size = self.path.stat().st_size if self.path.exists() else 0
        calls = iter(range(1000 + size // 10))
        con.set_progress_handler(lambda: next(calls, None) is None, 1000)
        return con

    def _readable(self, error: Exception) -> LedgerError:
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        if code in _REASONS:
            reason, advice = _REASONS[code]
            return LedgerError(f"The ledger {self.name} can't be used: {reason}. {advice}")
        return LedgerError(f"{self.name} is not a ledger, or it is damaged. Go back to a copy that verifies.")


def _check_kind(con: sqlite3.Connection, name: str, write: bool) -> None:
    """Refuse a file of another kind or of a newer version; make the table where there is nothing yet."""
    (kind,), (version,) = (con.execute(f"PRAGMA {p}").fetchone() for p in ("application_id", "user_version"))
    found = con.execute("SELECT type, name, sql FROM sqlite_master LIMIT 2").fetchall()
    if kind == _KIND and version > _VERSION:
        raise LedgerError(f"{name} is a ledger of version {version}, and this one reads {_VERSION}. Update dpheatmap.")
    if found == [("table", _NAME, _TABLE % _NAME)] and (kind, version) == (_KIND, _VERSION):
        return
    if found or kind or version:
        raise LedgerError(f"{name} is not a ledger. Name another file, or a new one.")
    if write:
        con.execute(f"PRAGMA application_id = {_KIND}")
        con.execute(f"PRAGMA user_version = {_VERSION}")
        con.execute(_TABLE % _NAME)


class _Sqlite:
    def __init__(self, con: sqlite3.Connection | None) -> None:
        self._con = con

    def rows(self) -> list[Row]:
        if self._con is None or not self._con.execute("SELECT 1 FROM sqlite_master").fetchone():
            return []
        rows = [Row(*row) for row in self._con.execute(f"SELECT {_COLUMNS} FROM {_NAME} ORDER BY number")]
        if any(not isinstance(value, str) for row in rows for value in row[1:]):
            raise sqlite3.DatabaseError("a value that is not text")
        return rows

    def append(self, row: Row) -> None:
        assert self._con is not None
        self._con.execute(f"INSERT INTO {_NAME} ({_COLUMNS}) VALUES ({', '.join('?' * len(row))})", row)


# PostgreSQL

_LOCK = 0x6470684C
_SCHEMA, _LEDGER = "public", "dpheatmap_ledger"
_PLACE = f"{_SCHEMA}.{_LEDGER}"
_TABLES = """SELECT nspname FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
    WHERE relname = %s AND relkind IN ('r', 'p') AND nspname = ANY (%s::text[])"""


class PostgresStore:
    """The table public.dpheatmap_ledger of a PostgreSQL database, for teams.

    Every statement names the schema, and the search path is the system's own: users, roles and pools of connections
    whose own path begins with another schema, or with temporary tables, get the same ledger as everybody.
    """

    def __init__(self, url: str) -> None:
        self._url = url
        self.name = public_url(url, "ledger")

    @property
    def beside(self) -> Path:
        """A path in the data folder, because paths of files are about this machine alone."""
        named = hashlib.sha256(self.name.encode("utf-8", "surrogatepass")).hexdigest()
        return data_folder() / f"ledger-{named[:16]}"

    @contextmanager
    def transaction(self, *, write: bool) -> Iterator[Transaction]:
        """Let one writer in, by an advisory lock; the number is the primary key, so two can't write the same entry."""
        psycopg = driver("A ledger in PostgreSQL")
        try:
            with closing(psycopg.connect(self._url, connect_timeout=WAIT)) as con:
                con.isolation_level = psycopg.IsolationLevel.READ_COMMITTED  # rows are read after the lock was taken
                (path,) = con.execute("SELECT pg_catalog.current_schemas(false)").fetchone()
                con.execute("SET LOCAL search_path = pg_catalog, pg_temp")
                con.execute(f"SET LOCAL lock_timeout = '{WAIT}s'")
                if write:
                    con.execute("SELECT set_config('synchronous_commit', 'on', true) "
                                "WHERE current_setting('synchronous_commit') IN ('off', 'local')")  # fmt: skip
                    con.execute(f"SELECT pg_advisory_xact_lock({_LOCK})")
                there = self._is_there(con, path)
                if write and not there:
                    con.execute(_TABLE % _PLACE)
                yield _Postgres(con if write or there else None)
                con.commit()
        except psycopg.errors.InsufficientPrivilege:
            raise LedgerError(
                f"The ledger {self.name} can't be used: you lack rights on the table {_PLACE}, or to make it. Ask the "
                "database's owner for them."
            ) from None
        except psycopg.Error as error:
            raise LedgerError(
                f"The ledger {self.name} can't be used ({type(error).__name__}). Check the URL, the server and your "
                "rights there."
            ) from None

    def _is_there(self, con: Any, path: list[str]) -> bool:
        """Whether the table exists; refuses if only one of an earlier version does, in another schema of the path."""
        schemas = [schema for schema in path if not schema.startswith("pg_")]
        found = [schema for (schema,) in con.execute(_TABLES, (_LEDGER, [*schemas, _SCHEMA])).fetchall()]
        if found and _SCHEMA not in found:
            first = next(schema for schema in schemas if schema in found).replace('"', '""')
            raise LedgerError(
                f"The ledger {self.name} lies in the schema {first}, and it must lie in the schema {_SCHEMA}. Move it "
                f'there: ALTER TABLE "{first}".{_LEDGER} SET SCHEMA {_SCHEMA};'
            )
        return bool(found)


class _Postgres:
    def __init__(self, con: Any) -> None:
        self._con = con

    def rows(self) -> list[Row]:
        if self._con is None:
            return []
        found = self._con.execute(f"SELECT {_COLUMNS} FROM {_PLACE} ORDER BY number")
        return [Row(*row) for row in found.fetchall()]

    def append(self, row: Row) -> None:
        marks = ", ".join(["%s"] * len(row))
        self._con.execute(f"INSERT INTO {_PLACE} ({_COLUMNS}) VALUES ({marks})", row)
