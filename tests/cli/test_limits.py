"""Limits on the command line: a spent table stays spent, however it is reached, and a limit is changed on record."""

from __future__ import annotations

import csv
import gzip
import io
import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

import dpheatmap as dph
from dpheatmap.cli import run
from dpheatmap.curator.ledger.ledger import Ledger

COLUMNS = ["--user", "u", "--x", "x", "--y", "y"]
TABLE = "u,x,y,image\na,0.5,0.5,a.jpg\nb,0.25,0.25,a.jpg\n"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to be in, with a table and a ledger in which riders may spend 1 and have."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "trips.csv").write_text(TABLE)
    (tmp_path / "out").mkdir()
    assert run(["ledger", "limit", "city.ledger", "--population", "riders", "--epsilon", "1"]) == 0
    assert release("data/trips.csv", "--population", "riders") == 0
    return tmp_path


def release(file: str, *more: str) -> int:
    options = [
        *COLUMNS,
        "--unit",
        "--depth",
        "3",
        "--epsilon",
        "1",
        "--ledger",
        "city.ledger",
        "-o",
        "out/a.dph.parquet",
    ]
    return run(["release", file, *options, *more])


def _copied(here: Path) -> str:
    shutil.copy(here / "data" / "trips.csv", here / "copy.csv")
    return "copy.csv"


def _linked(here: Path) -> str:
    (here / "link.csv").symlink_to(here / "data" / "trips.csv")
    return "link.csv"


def _packed(here: Path) -> str:
    (here / "trips.csv.gz").write_bytes(gzip.compress(TABLE.encode()))
    return "trips.csv.gz"


WAYS: dict[str, Callable[[Path], str]] = {
    "the file": lambda here: "data/trips.csv",
    "a copy": _copied,
    "a link": _linked,
    "gzip": _packed,
    "the folder": lambda here: "data",
    "a pattern": lambda here: "data/*.csv",
    "a file that is not there": lambda here: "nothing.csv",
}


@pytest.mark.parametrize("way", WAYS)
def test_a_spent_table_is_not_released_again_by_leaving_its_name_out(
    here: Path, way: str, capsys: pytest.CaptureFixture[str]
) -> None:
    file, before = WAYS[way](here), Ledger("city.ledger").entries()
    (here / "out" / "a.dph.parquet").unlink()
    capsys.readouterr()
    assert release(file) == 4
    told = capsys.readouterr()
    assert told.out == ""
    assert "city.ledger holds a limit for 'riders', so a release must name its population." in told.err
    assert "Give --population NAME" in told.err
    assert release(file, "--population", "riders") == 4
    assert run(["discover", file, *COLUMNS, "--epsilon", "1", "--ledger", "city.ledger"]) == 4
    images = ["--image-column", "image", "--images", "a.jpg", "-o", "out/{image}.dph.parquet"]
    options = [*COLUMNS, "--unit", "--epsilon", "1", "--ledger", "city.ledger"]
    assert run(["release", file, *options, *images]) == 4
    assert Ledger("city.ledger").entries() == before
    assert list((here / "out").iterdir()) == []


def test_counts_of_a_warehouse_need_a_name_too(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Before they are read: these don't exist."""
    options = ["--unit", "--depth", "3", "--epsilon", "1", "--ledger", "city.ledger", "-o", "out/b.dph.parquet"]
    assert run(["release", "--counts", "answer.csv", *options]) == 4
    assert "must name its population" in capsys.readouterr().err
    assert len(Ledger("city.ledger").entries()) == 2


def test_without_any_limit_a_name_may_be_left_out(here: Path) -> None:
    assert (
        run(["release", "data/trips.csv", *COLUMNS, "--unit", "--epsilon", "1", "--ledger", "new", "-o", "a.csv"]) == 0
    )
    assert list(Ledger("new").accounts()) == ["trips.csv"]


# The limit itself


def test_a_limit_is_changed_by_its_own_command_alone(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    named = ["city.ledger", "--population", "riders"]
    assert run(["ledger", "limit", *named, "--epsilon", "40"]) == 4
    told = capsys.readouterr().err
    assert "'riders' has a limit of 1 in city.ledger already, and a limit is set once." in told
    assert "dpheatmap ledger change-limit LEDGER --population riders --from 1 --to 40" in told
    assert run(["ledger", "change-limit", *named, "--from", "2", "--to", "40"]) == 4
    assert "is 1, and it was to be changed from 2" in capsys.readouterr().err
    assert run(["ledger", "change-limit", *named, "--from", "1", "--to", "many"]) == 2
    assert run(["ledger", "change-limit", *named, "--to", "40"]) == 2
    assert str(Ledger("city.ledger").accounts()["riders"].limit) == "1"
    capsys.readouterr()
    assert run(["ledger", "change-limit", *named, "--from", "1.0", "--to", "40"]) == 0
    assert "'riders' in city.ledger: 1 of 40 spent, 39 left." in capsys.readouterr().err
    assert run(["ledger", "export", "city.ledger"]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert (rows[-1]["kind"], rows[-1]["epsilon"], rows[-1]["part"]) == ("change", "40", '{"from": "1"}')
    assert release("data/trips.csv", "--population", "riders") == 0


@pytest.mark.parametrize("epsilon", ["1/1" + "0" * 5000, "1e-5000", "0." + "1" * 5000, "1e999999999"])
def test_an_epsilon_of_thousands_of_digits_is_refused_in_a_sentence(
    here: Path, epsilon: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert release("data/trips.csv", "--population", "riders", "--epsilon", epsilon) == 2
    assert run(["ledger", "limit", "city.ledger", "--population", "others", "--epsilon", epsilon]) == 2
    told = capsys.readouterr().err
    assert told.count("epsilon must be a number above 0 and at most 1000000, of at most 400 digits; it was ") == 2
    assert len(told) < 1500
    assert "integer string conversion" not in told


# The same file under another name


def test_the_same_file_under_another_name_is_warned_about(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Ledger("city.ledger").limit("walkers", 9)
    capsys.readouterr()
    assert release(_linked(here), "--population", "walkers", "--json") == 0
    told = capsys.readouterr()
    json.loads(told.out)
    assert (
        "Warning: link.csv, or a file in its place, was charged to 'riders' before, and now to 'walkers'." in told.err
    )
    assert told.err.index("Warning: ") < told.err.index("Charged to 'walkers'")
    assert release(_copied(here), "--population", "walkers") == 0
    assert "Warning" not in capsys.readouterr().err
    assert (
        run(["discover", "data", *COLUMNS, "--epsilon", "1", "--ledger", "city.ledger", "--population", "walkers"]) == 0
    )
    assert "Warning: data, or a file in its place, was charged to 'riders' before" in capsys.readouterr().err


def test_the_warning_comes_before_the_table_is_read(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Ledger("city.ledger").limit("walkers", 9)
    (here / "data" / "trips.csv").write_text("nothing,here\n1,2\n")
    assert release("data/trips.csv", "--population", "walkers") == 3
    told = capsys.readouterr().err
    assert told.index("Warning: ") < told.index("no ")
    assert Ledger("city.ledger").populations_of(Ledger.marks_of("data/trips.csv")) == ["riders"]


def test_the_export_has_nothing_of_files(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    assert run(["ledger", "export", "city.ledger"]) == 0
    told = capsys.readouterr().out
    digests = [line.split()[0] for line in Path("city.ledger.files").read_text().splitlines() if line]
    assert len(digests) == 2
    assert not [digest for digest in digests if digest in told]
    assert Path("city.ledger.key").read_bytes().hex() not in told
    made = dph.load("out/a.dph.parquet")
    assert not [digest for digest in digests if digest in str(made.label) + str(made.ledger)]
