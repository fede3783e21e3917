"""Ledgers in trouble: races, kills, full disks, folders that can't be written to."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import psycopg
import pytest

import dpheatmap as dph
from dpheatmap.errors import LedgerError
from helpers.stories import story

HERE = Path(__file__).parent
PROCESSES, FITS = 16, 10
REFUSED = """
import os, sys, numpy as np, dpheatmap as dph
from dpheatmap.curator.publish import release_from
from dpheatmap.errors import LedgerError
{before}
def source(size):
    print("noise was drawn")
    return bytes(size)
none = np.zeros(0, np.int64)
counts = dph.Counts.from_cells(dph.Domain.unit(2), none, none, none)
try:
    release_from(source, counts, None, epsilon=1, ledger=sys.argv[1], population="riders")
except LedgerError as error:
    print("refused:", error)
"""


def program(name: str, *arguments: object) -> Any:
    """What one of the programs beside this file prints."""
    done = subprocess.run(
        [sys.executable, str(HERE / name), *map(str, arguments)], capture_output=True, text=True, timeout=900
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return json.loads(done.stdout)


WON = {"0": FITS, "4": PROCESSES - FITS}
"""How the processes of a race end: by exit code, how many."""


def race(where: object, rounds: int, way: str = "release") -> Any:
    """How the processes of each round ended, after a look at the ledger that they leave."""
    results = program("race.py", where, PROCESSES, rounds, FITS, way)
    ledger = dph.Ledger(str(where))
    assert ledger.verify() == rounds * (1 + FITS + (way == "use"))
    assert all(account.left == 0 for account in ledger.accounts().values())
    return results


def fresh(database: str) -> str:
    with psycopg.connect(database) as con:
        con.execute("DROP TABLE IF EXISTS dpheatmap_ledger")
    return database


@story(
    "16 processes at once release from a budget that fits 10",
    "Exactly 10 succeed, in every round; the others are refused with exit code 4.",
)
def test_a_race_is_won_by_as_many_as_fit(tmp_path: Path) -> None:
    assert race(tmp_path / "city.ledger", 8) == 8 * [WON]


@story(
    "The same in PostgreSQL",
    "The same.",
)
def test_a_race_in_postgresql(database: str) -> None:
    assert race(fresh(database), 8) == 8 * [WON]


@story(
    "16 processes at once charge rho, reserve series, or use one, where 10 fit",
    "Exactly 10 succeed, in a file and in PostgreSQL.",
)
@pytest.mark.parametrize("way", ["rho", "reserve", "use"])
def test_a_race_for_what_is_charged_otherwise(place: str, way: str) -> None:
    assert race(place, 2, way) == 2 * [WON]


@pytest.mark.long
def test_a_race_long(tmp_path: Path) -> None:
    assert race(tmp_path / "city.ledger", 50) == 50 * [WON]


@pytest.mark.long
def test_a_race_in_postgresql_long(database: str) -> None:
    assert race(fresh(database), 50) == 50 * [WON]


def kill(folder: Path, kills: int) -> Counter[tuple[int, int]]:
    """Kill releases at random moments; what was left, as numbers of (charges, files)."""
    where = folder / "city.ledger"
    (folder / "files").mkdir()
    left = Counter((charge, file) for charge, file in program("kills.py", where, folder / "files", kills))
    assert set(left) <= {(0, 0), (1, 0), (1, 1)}, "a file without its charge"
    files = [path for path in (folder / "files").iterdir() if not path.name.startswith(".")]
    releases = {path.name: dph.load(path) for path in files}  # each of them whole
    assert len(releases) == 5 + left[1, 1]
    ledger = dph.Ledger(where)
    ledger.verify(releases)
    assert ledger.accounts()["people"].charges == 5 + left[1, 0] + left[1, 1]
    entries = [release.ledger.number for release in releases.values() if release.ledger]
    assert len(set(entries)) == len(releases)
    ledger.charge("people", 1)  # the next one works
    assert sorted(path.name for path in folder.iterdir()) == ["city.ledger", "files"]
    return left


@story(
    "`kill -9` at random moments of a release",
    "Never a release file whose charge is missing, never a broken ledger; the next command works. A charge without its "
    "file may stay, and a hidden temporary file, which the next release to the same name removes.",
)
def test_kill_9_never_leaves_a_file_without_its_charge(tmp_path: Path) -> None:
    assert kill(tmp_path, 40).total() == 40


@pytest.mark.long
def test_kill_9_long(tmp_path: Path) -> None:
    left = kill(tmp_path, 200)
    assert min(left[state] for state in ((0, 0), (1, 0), (1, 1))) > 0, "kills came at one stage only"


@story(
    "`kill -9` at random moments of charging rho, reserving series and using them",
    "An entry that was confirmed is there, at most one more is, and the ledger is whole.",
)
def test_kill_9_loses_no_entry_that_was_confirmed(place: str) -> None:
    found = program("entry_kills.py", place, 30)
    assert all(known <= there <= known + 1 for known, there in found)
    assert any(known for known, _ in found), "kills came before the first entry only"


def refused(where: Path, before: str = "") -> str:
    """What a release says that must be refused before it draws noise."""
    code = REFUSED.format(before=before)
    done = subprocess.run([sys.executable, "-c", code, str(where)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("refused: ")
    assert "noise" not in done.stdout
    return done.stdout


@story(
    "A full disk under the ledger",
    "Refused before noise is drawn; the ledger is as it was.",
)
def test_a_full_disk_refuses_before_noise_is_drawn(small_disk: Path) -> None:
    where = small_disk / "city.ledger"
    dph.Ledger(where).limit("riders", 10)
    before = where.read_bytes()
    (small_disk / "filler").write_bytes(bytes(2**16 - 2 * 4096))
    assert "the disk is full" in refused(where)
    (small_disk / "filler").unlink()
    assert where.read_bytes() == before
    dph.Ledger(where).charge("riders", 1)


def test_a_full_disk_refuses_whatever_is_charged(small_disk: Path) -> None:
    where = small_disk / "city.ledger"
    ledger = dph.Ledger(where)
    ledger.limit("riders", 10, delta="1e-6")
    series = ledger.reserve("riders", "0.1", releases=2).number
    before = where.read_bytes()
    (small_disk / "filler").write_bytes(bytes(2**16 - 2 * 4096))
    uses: list[Callable[[], object]] = [
        lambda: ledger.charge("riders", rho="0.1"),
        lambda: ledger.reserve("riders", "0.1", releases=3),
        lambda: ledger.charge("riders", "0.1", series=series),
    ]
    for use in uses:
        with pytest.raises(LedgerError, match="the disk is full"):
            use()
    (small_disk / "filler").unlink()
    assert where.read_bytes() == before
    ledger.charge("riders", "0.1", series=series)


def test_a_file_that_the_system_does_not_let_grow(tmp_path: Path) -> None:
    where = tmp_path / "city.ledger"
    dph.Ledger(where).limit("riders", 10)
    limited = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))"
    assert "the disk is full or failed" in refused(where, limited)
    assert dph.Ledger(where).verify() == 1


@story(
    "A read-only disk under the ledger",
    "Refused before noise is drawn; what was spent can still be read.",
)
def test_a_read_only_disk_refuses_before_noise_is_drawn(small_disk: Path) -> None:
    where = small_disk / "city.ledger"
    dph.Ledger(where).limit("riders", 10)
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    assert "can't be used: it" in refused(where)
    assert dph.Ledger(where).accounts()["riders"].left == 10  # reading works


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_may_not_be_written_to(tmp_path: Path) -> None:
    where = tmp_path / "city.ledger"
    dph.Ledger(where).limit("riders", 10)
    tmp_path.chmod(0o555)
    try:
        assert "can't be used: it" in refused(where)
    finally:
        tmp_path.chmod(0o755)


@story(
    "A process that holds the ledger and does not let go",
    "Others wait for a minute and are refused then.",
)
def test_a_ledger_that_somebody_holds_is_waited_for_and_then_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import sqlite3

    from dpheatmap.curator.ledger import stores as ledger_stores

    where = tmp_path / "city.ledger"
    dph.Ledger(where).limit("riders", 10)
    monkeypatch.setattr(ledger_stores, "WAIT", 0.05)
    holder = sqlite3.connect(where, isolation_level=None)
    holder.execute("BEGIN EXCLUSIVE")
    with pytest.raises(LedgerError, match="another process has held it for"):
        dph.Ledger(where).charge("riders", 1)
    holder.close()
    dph.Ledger(where).charge("riders", 1)


@story(
    "A clock that jumps",
    "No sum depends on it: entries are ordered by their chain, not by their time.",
)
def test_a_clock_that_jumps_changes_no_sum(tmp_path: Path) -> None:
    from datetime import UTC, datetime

    ledger = dph.Ledger(tmp_path / "city.ledger")
    ledger.limit("riders", 3)
    for year in (2024, 1970, 9999):
        ledger.charge("riders", 1, made=datetime(year, 1, 1, tzinfo=UTC))
    assert ledger.accounts()["riders"].left == 0
    assert ledger.verify() == 4


@story(
    "A database that can't be reached",
    "Refused before the table is read.",
)
def test_a_database_that_is_gone_refuses(tmp_path: Path) -> None:
    drawn: list[int] = []
    none = np.zeros(0, np.int64)
    counts = dph.Counts.from_cells(dph.Domain.unit(2), none, none, none)
    with pytest.raises(LedgerError, match=r"postgresql:///db can't be used \(OperationalError\)"):
        dph.release(
            counts, epsilon=1, ledger=f"postgresql:///db?host={tmp_path}", population="riders",
            seen=lambda report: drawn.append(1),
        )  # fmt: skip
    assert drawn == []
