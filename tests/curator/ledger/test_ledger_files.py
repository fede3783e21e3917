"""The same file under two names is recognised by where it lies, kept as HMACs, and never in anybody's way."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dpheatmap as dph
from dpheatmap.curator.ledger.known_files import KnownFiles, marks_of
from helpers.stories import story

SQUARE = dph.Domain.unit(2)
COLUMNS: dict[str, Any] = {"user": "u", "x": "x", "y": "y", "epsilon": "0.1"}
TABLE = "u,x,y\na,0.5,0.5\n"


@pytest.fixture
def ledger(tmp_path: Path) -> dph.Ledger:
    """A ledger in which two populations may spend."""
    made = dph.Ledger(tmp_path / "city.ledger")
    for population in ("riders", "walkers"):
        made.limit(population, 9)
    return made


@pytest.fixture
def table(tmp_path: Path) -> Path:
    (tmp_path / "data").mkdir()
    path = tmp_path / "data" / "trips.csv"
    path.write_text(TABLE)
    return path


def release(events: object, ledger: dph.Ledger, population: str = "riders") -> None:
    dph.release(events, SQUARE, **COLUMNS, ledger=ledger, population=population)


def known(ledger: dph.Ledger, events: object) -> list[str]:
    return ledger.populations_of(ledger.marks_of(events))


# What is recognised


def test_a_file_is_known_by_what_it_was_charged_to(ledger: dph.Ledger, table: Path) -> None:
    assert known(ledger, table) == []
    release(str(table), ledger)
    assert known(ledger, table) == known(ledger, str(table)) == ["riders"]
    assert ledger.warning("riders", "trips.csv", ledger.marks_of(table)) == ""
    assert ledger.warning("walkers", "trips.csv", ledger.marks_of(table)) == (
        "trips.csv, or a file in its place, was charged to 'riders' before, and now to 'walkers'. If these are the "
        "same people, use one name for them: what is spent under two names is not added up."
    )
    release(table, ledger, "walkers")
    assert known(ledger, table) == ["riders", "walkers"]


ALIASES: dict[str, Callable[[Path], str]] = {
    "a symbolic link": lambda table: _made(table, lambda to: to.symlink_to(table)),
    "a hard link": lambda table: _made(table, lambda to: to.hardlink_to(table)),
    "a link to its folder": lambda table: f"{_made(table, lambda to: to.symlink_to(table.parent))}/trips.csv",
    "a way around": lambda table: f"{table.parent}/../data/./trips.csv",
    "its folder": lambda table: str(table.parent),
    "a pattern": lambda table: f"{table.parent}/tr*.csv",
    "its new name": lambda table: str(table.rename(table.with_name("other.csv"))),
    "a file in its place": lambda table: _replaced(table),
    "a link to its place": lambda table: _made(Path(_replaced(table)), lambda to: to.symlink_to(table)),
}


def _made(table: Path, make: Callable[[Path], None]) -> str:
    alias = table.parent.parent / "alias.csv"
    make(alias)
    return str(alias)


def _replaced(table: Path) -> str:
    new = table.with_name("new")
    new.write_text(TABLE)  # before the old one goes, so that it has another inode
    new.replace(table)
    return str(table)


@pytest.mark.parametrize("way", ALIASES)
def test_a_file_is_known_however_it_is_reached(ledger: dph.Ledger, table: Path, way: str) -> None:
    release(str(table), ledger)
    assert known(ledger, ALIASES[way](table)) == ["riders"]


@pytest.mark.parametrize("way", ["its folder", "a pattern"])
def test_each_file_of_a_folder_is_known(ledger: dph.Ledger, table: Path, way: str) -> None:
    table.with_name("trips2.csv").write_text(TABLE)
    release(ALIASES[way](table), ledger)
    assert known(ledger, table) == known(ledger, table.with_name("trips2.csv")) == ["riders"]


def test_a_copy_is_another_file(ledger: dph.Ledger, table: Path, tmp_path: Path) -> None:
    """Whose releases are caught by the name that they need; content, size and times are not looked at."""
    release(str(table), ledger)
    shutil.copy2(table, tmp_path / "copy.csv")
    (tmp_path / "trips.csv.gz").write_bytes(gzip.compress(table.read_bytes()))
    assert known(ledger, tmp_path / "copy.csv") == known(ledger, tmp_path / "trips.csv.gz") == []
    with open(table, "a") as file:
        file.write("b,0.1,0.1\n" * 1000)
    os.utime(table, (0, 0))
    table.chmod(0o640)
    assert known(ledger, table) == ["riders"]


def test_what_is_no_file_is_not_known(ledger: dph.Ledger, tmp_path: Path) -> None:
    release(pd.DataFrame({"u": ["a"], "x": [0.5], "y": [0.5]}), ledger)
    for events in (
        pd.DataFrame(),
        None,
        7,
        "postgresql://host/name",
        "",
        "/nonexistent",
        "a\0b",
        "\udcff",
        tmp_path / "*",
    ):
        assert known(ledger, events) == []
    assert sorted(path.name for path in tmp_path.iterdir()) == ["city.ledger"]


def test_every_way_in_notes_the_file(ledger: dph.Ledger, table: Path, tmp_path: Path) -> None:
    table.write_text("u,x,y,image\na,0.5,0.5,a.jpg\n")
    other = table.with_name("other.csv")
    shutil.copy(table, other)
    paid: dict[str, Any] = {**COLUMNS, "ledger": ledger, "population": "riders"}
    dph.release_images(table, SQUARE, image="image", images=["a.jpg"], **paid)
    dph.discover(other, **paid)
    assert known(ledger, table) == known(ledger, other) == ["riders"]


def test_what_was_not_charged_is_not_noted(ledger: dph.Ledger, table: Path, tmp_path: Path) -> None:
    for broken in ({"x": "nothing"}, {"epsilon": 10}, {"population": "nobody"}):
        with pytest.raises(dph.errors.DpheatmapError):
            dph.release(table, SQUARE, **{**COLUMNS, "ledger": ledger, "population": "riders", **broken})
    assert [path.name for path in tmp_path.iterdir() if path.is_file()] == ["city.ledger"]


# What is kept


def test_only_hmacs_are_kept_and_neither_chain_nor_export_has_them(
    ledger: dph.Ledger, table: Path, tmp_path: Path
) -> None:
    release(str(table), ledger)
    text = (tmp_path / "city.ledger.files").read_text()
    lines = [line.split(" ") for line in text.splitlines() if line]
    assert [population for _, population in lines] == ["riders", "riders"]
    assert all(len(bytes.fromhex(digest)) == 32 for digest, _ in lines)
    assert "trips" not in text
    assert str(table.stat().st_ino) not in [digest for digest, _ in lines]
    key = (tmp_path / "city.ledger.key").read_bytes()
    assert len(key) == 32
    told = json.dumps([list(row) for row in ledger.entries()]).encode() + (tmp_path / "city.ledger").read_bytes()
    for secret in (key, key.hex().encode(), *(digest.encode() for digest, _ in lines), b"trips"):
        assert secret not in told
    release(str(table), ledger)
    assert (tmp_path / "city.ledger.files").read_text() == text  # nothing is noted twice


def test_two_ledgers_have_nothing_in_common(table: Path, tmp_path: Path) -> None:
    digests = []
    for name in ("a", "b"):
        ledger = dph.Ledger(tmp_path / name)
        ledger.limit("riders", 1)
        release(str(table), ledger)
        digests.append(set((tmp_path / f"{name}.files").read_text().split()) - {"riders"})
    assert not digests[0] & digests[1]


MADE_WIDE = """
import os, sys, stat, dpheatmap as dph
os.umask(0)
def watch(event, arguments):
    assert event != "os.chmod", "made private after it was made"
    if event == "open" and str(arguments[0]).startswith(sys.argv[1]) or event in ("os.link", "os.rename"):
        folder = os.path.dirname(sys.argv[1])
        for entry in os.scandir(folder):
            if entry.is_file() and ("key" in entry.name or "files" in entry.name):
                assert stat.S_IMODE(entry.stat().st_mode) == 0o600, entry.name
sys.addaudithook(watch)
ledger = dph.Ledger(sys.argv[1])
ledger.note_files("riders", ledger.marks_of(sys.argv[2]))
watch("os.link", ())
"""


def test_key_and_list_are_private_from_the_first_moment_on(ledger: dph.Ledger, table: Path, tmp_path: Path) -> None:
    """Whatever the umask is, and at whatever moment somebody looks."""
    run = [sys.executable, "-c", MADE_WIDE, str(tmp_path / "city.ledger"), str(table)]
    subprocess.run(run, check=True)
    for ending in ("key", "files"):
        assert stat.S_IMODE((tmp_path / f"city.ledger.{ending}").stat().st_mode) == 0o600


def test_what_others_could_read_they_no_longer_can(ledger: dph.Ledger, table: Path, tmp_path: Path) -> None:
    release(str(table), ledger)
    beside = [tmp_path / f"city.ledger.{ending}" for ending in ("key", "files")]
    for path in beside:
        path.chmod(0o666)
    assert known(ledger, table) == ["riders"]
    assert [stat.S_IMODE(path.stat().st_mode) for path in beside] == [0o600, 0o600]


def test_a_ledger_that_is_reached_by_a_link_is_the_same(ledger: dph.Ledger, table: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "city.ledger")
    release(str(table), dph.Ledger(tmp_path / "link"))
    assert known(ledger, table) == ["riders"]
    assert not (tmp_path / "link.key").exists()


def test_a_ledger_in_postgresql_keeps_them_in_the_data_folder(
    table: Path, tmp_path: Path, place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "home"))
    ledger = dph.Ledger(place)
    ledger.limit("riders", 1)
    release(str(table), ledger)
    assert known(ledger, table) == ["riders"]
    here = sorted(path.name.split(".")[-1] for path in (tmp_path / "home").rglob("*") if path.is_file())
    assert here == ([] if place.endswith(".ledger") else ["files", "key"])
    assert "not-shown" not in str(list(tmp_path.rglob("*")))


NOTING = """
import sys, dpheatmap as dph
ledger = dph.Ledger(sys.argv[1])
print("ready", flush=True)
sys.stdin.readline()
ledger.note_files(sys.argv[2], ledger.marks_of(sys.argv[3]))
"""


def test_many_at_once_make_one_key_and_lose_nothing(ledger: dph.Ledger, table: Path, tmp_path: Path) -> None:
    started = [
        subprocess.Popen(
            [sys.executable, "-c", NOTING, str(tmp_path / "city.ledger"), f"people {k}", str(table)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )
        for k in range(8)
    ]  # fmt: skip
    for process in started:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in started:
        process.communicate("\n", timeout=300)
        assert process.returncode == 0
    assert known(ledger, table) == [f"people {k}" for k in range(8)]


def test_a_key_that_somebody_makes_at_the_same_moment_stays(
    ledger: dph.Ledger, table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    release(str(table), ledger)
    key = (tmp_path / "city.ledger.key").read_bytes()
    monkeypatch.setattr(os.path, "lexists", lambda path: False)
    ledger.note_files("walkers", ledger.marks_of(table))
    assert (tmp_path / "city.ledger.key").read_bytes() == key
    assert known(ledger, table) == ["riders", "walkers"]


# What is in the way


def _grown(path: Path) -> None:
    path.touch()
    os.truncate(path, 2**40)


def in_the_way(path: Path, how: str, victim: Path) -> None:
    path.unlink(missing_ok=True)
    ways: dict[str, Callable[[], object]] = {
        "missing": lambda: None,
        "empty": path.touch,
        "rubbish": lambda: path.write_bytes(os.urandom(10_000)),
        "lines": lambda: path.write_text("a\n" * 10_000 + "\n \n b\n"),
        "a folder": path.mkdir,
        "a pipe": lambda: os.mkfifo(path),
        "a link": lambda: path.symlink_to(victim),
        "a link to nothing": lambda: path.symlink_to(victim.with_name("nothing")),
        "a hard link": lambda: path.hardlink_to(victim),
        "a device": lambda: path.symlink_to("/dev/zero"),
        "huge": lambda: _grown(path),
    }
    ways[how]()


WAYS = ["missing", "empty", "rubbish", "lines", "a folder", "a pipe", "a link", "a link to nothing", "a hard link",
        "a device", "huge"]  # fmt: skip


@story(
    "Key or list of a ledger's known files missing, damaged, a pipe, or a link to another file",
    "The release is made; only the warning about a second name does not come. Nothing behind a link is touched.",
)
@pytest.mark.parametrize("ending", ["key", "files"])
@pytest.mark.parametrize("way", WAYS)
def test_nothing_in_the_way_stops_a_release_or_is_touched(
    ledger: dph.Ledger, table: Path, tmp_path: Path, way: str, ending: str
) -> None:
    """Neither does a link lead to a file of somebody's that is read, written to or made private."""
    victim = tmp_path / "victim"
    victim.write_text("precious")
    victim.chmod(0o644)
    release(str(table), ledger)
    in_the_way(tmp_path / f"city.ledger.{ending}", way, victim)
    assert known(ledger, table) in ([], ["riders"])
    release(str(table), ledger, "walkers")
    known(ledger, table)
    assert ledger.accounts()["walkers"].charges == 1
    assert victim.read_text() == "precious"
    assert stat.S_IMODE(victim.stat().st_mode) == 0o644
    assert not victim.with_name("nothing").exists()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_may_not_be_written_to_stops_nothing(ledger: dph.Ledger, table: Path, tmp_path: Path) -> None:
    tmp_path.chmod(0o555)
    try:
        ledger.note_files("riders", ledger.marks_of(table))
        assert known(ledger, table) == []
    finally:
        tmp_path.chmod(0o755)


def test_a_disk_that_is_full_or_read_only_stops_nothing(small_disk: Path) -> None:
    table = small_disk / "trips.csv"
    table.write_text(TABLE)
    ledger = dph.Ledger(small_disk / "city.ledger")
    ledger.limit("riders", 9)
    (small_disk / "filler").write_bytes(bytes(2**16 - 6 * 4096))
    with open(small_disk / "filler", "ab") as file:
        while True:
            try:
                os.write(file.fileno(), bytes(512))
            except OSError:
                break
    ledger.note_files("riders", ledger.marks_of(table))
    (small_disk / "filler").unlink()
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    ledger.note_files("riders", ledger.marks_of(table))
    known(ledger, table)


def test_names_that_could_not_be_a_populations_are_not_shown(ledger: dph.Ledger, table: Path, tmp_path: Path) -> None:
    """A list that somebody put there can't write on the terminal what no ledger could."""
    release(str(table), ledger)
    path = tmp_path / "city.ledger.files"
    digest = path.read_text().split()[0]
    for name in ("\x1b[31mred", "x" * 201, "", " riders", "a\x07"):
        with open(path, "a") as file:
            file.write(f"{digest} {name}\n")
    assert known(ledger, table) == ["riders"]


@given(st.binary(max_size=300))
def test_any_list_is_read(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    folder = tmp_path_factory.mktemp("any")
    files = KnownFiles(folder / "l")
    files.add(marks_of(folder.as_posix()), "riders")
    (folder / "t").touch()
    (folder / "l.key").write_bytes(bytes(32))
    (folder / "l.files").write_bytes(content)
    marks = marks_of(str(folder / "t"))
    assert files.populations(marks) == []
    files.add(marks, "riders")
    assert [files.populations([mark]) for mark in marks] == [["riders"], ["riders"]]
