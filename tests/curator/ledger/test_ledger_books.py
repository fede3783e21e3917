"""The ledger's books: every change to them is found, and what is no ledger is said to be none."""

from __future__ import annotations

import itertools
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psycopg
import pytest

import dpheatmap as dph
from dpheatmap.curator.ledger.chain import Row, hash_of, next_row, replay
from dpheatmap.errors import LedgerError, ParameterError
from dpheatmap.slicing.part import Part
from helpers.people import nobody_in

DOMAIN = dph.Domain.unit(2)
NOBODY = nobody_in(DOMAIN)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A ledger of six entries: two populations, and a partition."""
    path = tmp_path / "city.ledger"
    ledger = dph.Ledger(path)
    ledger.limit("riders", 10)
    ledger.limit("staff", 1)
    ledger.charge("riders", 1)
    ledger.charge("staff", "1/3")
    ledger.charge("riders", 2, of=Part("district", "north", ("north", "south")))
    ledger.charge("riders", "0.1")
    return path


# The chain


def altered(path: Path, *statements: str) -> None:
    with sqlite3.connect(path) as con:
        for statement in statements:
            con.execute(statement)
    con.close()


FIELDS = [name for name in Row._fields if name != "number"]


@pytest.mark.parametrize("number", range(1, 7))
@pytest.mark.parametrize("field", FIELDS)
def test_every_edit_is_found(file: Path, number: int, field: str) -> None:
    altered(file, f"UPDATE entries SET {field} = {field} || ' ' WHERE number = {number}")
    with pytest.raises(LedgerError, match=r"city.ledger was altered or is damaged: entry \d .*\. Go back to a copy"):
        dph.Ledger(file).verify()
    with pytest.raises(LedgerError):  # and nothing is charged on top of it
        dph.Ledger(file).charge("riders", "1/100")


@pytest.mark.parametrize("number", range(1, 6))
def test_every_deletion_is_found(file: Path, number: int) -> None:
    altered(file, f"DELETE FROM entries WHERE number = {number}")
    with pytest.raises(LedgerError, match=f"entry {number} is missing"):
        dph.Ledger(file).verify()
    altered(file, f"UPDATE entries SET number = number - 1 WHERE number > {number}")
    with pytest.raises(LedgerError, match=f"entry {number} is not what it was"):
        dph.Ledger(file).verify()


@pytest.mark.parametrize(("a", "b"), list(itertools.combinations(range(1, 7), 2)))
def test_every_swap_is_found(file: Path, a: int, b: int) -> None:
    numbers = [f"UPDATE entries SET number = {to} WHERE number = {at}" for at, to in ((a, 99), (b, a), (99, b))]
    altered(file, *numbers)
    with pytest.raises(LedgerError, match=f"entry {a} is not what it was"):
        dph.Ledger(file).verify()


def test_hashes_made_anew_are_found_by_the_next_entry(file: Path) -> None:
    rows = dph.Ledger(file).entries()
    forged = rows[2]._replace(epsilon="1/100")
    altered(file, f"UPDATE entries SET epsilon = '1/100', hash = '{hash_of(forged)}' WHERE number = 3")
    with pytest.raises(LedgerError, match="entry 4 is not what it was"):
        dph.Ledger(file).verify()


def test_entries_that_make_no_sense_are_found() -> None:
    kinds = [{"kind": kind} for kind in ("alms", "gift", "present")]
    for change in (*kinds, {"epsilon": "-1"}, {"epsilon": "x"}, {"part": "[1]"}, {"part": "{"},
                   {"population": ""}, {"part": "[" * 10_000}):  # fmt: skip
        row = next_row([], "", "charge", "riders", "1", "")._replace(**change)  # type: ignore[arg-type]
        with pytest.raises(LedgerError, match="entry 1 can't be understood"):
            replay([row._replace(hash=hash_of(row))], "it")


def test_rollback_and_truncation_show_by_releases(file: Path, tmp_path: Path) -> None:
    ledger = dph.Ledger(file)
    old = file.read_bytes()
    made = dph.release(NOBODY, epsilon=1, ledger=file, population="riders")
    assert ledger.verify([made]) == 7
    file.write_bytes(old)
    assert ledger.verify() == 6  # nothing is wrong inside
    with pytest.raises(LedgerError, match="cut short: june is entry 7, and the ledger ends with entry 6"):
        ledger.verify({"june": made})
    ledger.charge("riders", 1)  # another entry where that one was
    with pytest.raises(LedgerError, match=r"rewritten, or june was charged to another one: entry 7"):
        ledger.verify({"june": made})
    with pytest.raises(LedgerError, match="made without a ledger"):
        ledger.verify([dph.release(NOBODY, epsilon=1)])


def test_equal_histories_have_different_heads(tmp_path: Path) -> None:
    """Published heads can't be guessed: each entry holds a random number."""
    ledgers = [dph.Ledger(tmp_path / name) for name in ("a", "b")]
    for ledger in ledgers:
        ledger.limit("riders", 1)
    (a,), (b,) = (ledger.entries() for ledger in ledgers)
    assert a.nonce != b.nonce
    assert a.hash != b.hash


# Files that are none


def spoilt(path: Path, how: str) -> None:
    def run(*statements: str) -> Callable[[], None]:
        return lambda: altered(path, *statements)

    def become_a_folder() -> None:
        path.unlink()
        path.mkdir()

    ways: dict[str, Callable[[], Any]] = {
        "text": lambda: path.write_text("riders,10\n" * 100),
        "another database": lambda: [path.write_bytes(b""), run("CREATE TABLE entries (number)")()],
        "another table": run("CREATE TABLE more (a)"),
        "a trigger": run("CREATE TRIGGER t BEFORE INSERT ON entries BEGIN SELECT RAISE(IGNORE); END"),
        "a view": run("ALTER TABLE entries RENAME TO e", "CREATE VIEW entries AS SELECT * FROM e"),
        "numbers for text": run("UPDATE entries SET made = CAST('x' AS BLOB)"),
        "cut short": lambda: path.write_bytes(path.read_bytes()[:-4096]),
        "zeros": lambda: path.write_bytes(path.read_bytes()[:4096] + bytes(4096)),
        "a folder": become_a_folder,
    }
    ways[how]()


WAYS = ["text", "another database", "another table", "a trigger", "a view", "numbers for text", "cut short", "zeros"]


@pytest.mark.parametrize("way", [*WAYS, "a folder"])
def test_what_is_not_a_ledger_is_said_to_be_none(file: Path, way: str) -> None:
    spoilt(file, way)
    before = file.read_bytes() if file.is_file() else b""
    for use in (dph.Ledger(file).verify, lambda: dph.Ledger(file).charge("riders", 1)):
        with pytest.raises(LedgerError, match=r"city.ledger (is not a ledger|can't be used|.* damaged)"):
            use()
    assert before == (file.read_bytes() if file.is_file() else b"")


def test_a_newer_ledger_is_left_to_newer_software(file: Path) -> None:
    altered(file, "PRAGMA user_version = 2")
    with pytest.raises(LedgerError, match=r"is a ledger of version 2, and this one reads 1\. Update"):
        dph.Ledger(file).verify()
    for other in (1, 2**31 - 1):
        altered(file, f"PRAGMA application_id = {other}")
        with pytest.raises(LedgerError, match="is not a ledger"):
            dph.Ledger(file).verify()


def test_the_ledger_is_one_file_and_reading_makes_none(file: Path, tmp_path: Path) -> None:
    assert dph.Ledger(tmp_path / "none").verify() == 0
    assert [path.name for path in tmp_path.iterdir()] == ["city.ledger"]
    (tmp_path / "empty").touch()  # what a process leaves that is killed before its first entry
    dph.Ledger(tmp_path / "empty").limit("riders", 1)
    assert dph.Ledger(tmp_path / "empty").verify() == 1


def test_a_long_ledger_is_read_like_a_short_one(tmp_path: Path) -> None:
    """The limit on the work that a file may make grows with the file: years of releases stay within it."""
    path = tmp_path / "city.ledger"
    ledger = dph.Ledger(path)
    ledger.limit("riders", 10**6)
    rows = ledger.entries()
    for _ in range(20_000):
        rows.append(next_row(rows, "", "charge", "riders", "1", ""))
    with sqlite3.connect(path) as con:
        con.executemany(f"INSERT INTO entries VALUES ({', '.join('?' * len(Row._fields))})", rows[1:])
    con.close()
    assert ledger.verify() == 20_001
    ledger.charge("riders", 1)
    assert ledger.accounts()["riders"].spent == 20_001


def test_commits_wait_for_the_disk(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []
    honest = sqlite3.connect

    def connect(*args: Any, **options: Any) -> sqlite3.Connection:
        con: sqlite3.Connection = honest(*args, **options)
        con.set_trace_callback(seen.append)
        return con

    monkeypatch.setattr(sqlite3, "connect", connect)
    dph.Ledger(file).charge("riders", 1)
    order = [seen.index(statement) for statement in ("PRAGMA synchronous = EXTRA", "BEGIN IMMEDIATE", "COMMIT")]
    assert order == sorted(order)


# PostgreSQL


def test_a_password_is_never_shown(tmp_path: Path) -> None:
    url = f"postgresql://me:secret@/db?host={tmp_path}&password=secret"
    ledger = dph.Ledger(url)
    assert ledger.name == "postgresql:///db"
    with pytest.raises(LedgerError, match="can't be used") as failure:
        ledger.verify()
    assert "secret" not in f"{failure.value!r} {ledger!r} {failure.value.__cause__!r}"


def test_a_url_that_is_none_is_refused_without_repeating_it() -> None:
    with pytest.raises(ParameterError, match="can't be understood") as failure:
        dph.Ledger("postgresql://me:secret@[half/db")
    assert "secret" not in str(failure.value)


def test_the_table_can_be_read_by_sql(database: str) -> None:
    with psycopg.connect(database, autocommit=True) as con:
        con.execute("DROP TABLE IF EXISTS dpheatmap_ledger")
        assert dph.Ledger(database).verify() == 0
        dph.Ledger(database).limit("riders", 1)
        rows = con.execute("SELECT population, epsilon FROM dpheatmap_ledger").fetchall()
        assert rows == [("riders", "1")]
        con.execute("UPDATE dpheatmap_ledger SET epsilon = '2'")
    with pytest.raises(LedgerError, match="entry 1 is not what it was"):
        dph.Ledger(database).charge("riders", 1)
