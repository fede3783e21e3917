"""``dpheatmap discover``: the box as an option for the release, what it cost, and no exact number."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import dpheatmap as dph
from dpheatmap.cli import run
from dpheatmap.place.projection import NORTHERNMOST
from dpheatmap.testing import generated_people


def trips_of(people: int, path: Path) -> str:
    """A table of people in a city of Berlin's place and size."""
    generated_people(people, extent=(13.2, 52.4, 13.6, 52.6)).write_csv(str(path))
    return str(path)


@pytest.fixture
def trips(tmp_path: Path) -> str:
    return trips_of(5000, tmp_path / "trips.csv")


ARGUMENTS = ["--epsilon", "0.2", "--user", "person", "--x", "x", "--y", "y"]


def test_the_command_prints_the_option_for_the_release(
    trips: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ledger = str(tmp_path / "city.ledger")
    dph.Ledger(ledger).limit("riders", 1)
    budget = ["--ledger", ledger, "--population", "riders"]
    assert run(["discover", trips, *ARGUMENTS, *budget]) == 0
    out, err = capsys.readouterr()
    assert out.startswith("--bbox=")
    assert "at least 95 % of people, with a confidence of 95 %" in err
    assert "This cost epsilon = 0.2." in err
    assert "Charged to 'riders'" in err
    saved = str(tmp_path / "a.dph.parquet")
    assert run(["release", trips, *ARGUMENTS[:1], "0.8", *ARGUMENTS[2:], *budget, out.strip(), "-o", saved]) == 0
    assert dph.load(saved).domain.extent == tuple(float(edge) for edge in out.strip()[7:].split(","))
    assert dph.Ledger(ledger).accounts()["riders"].left == 0


def test_the_commands_json_has_no_exact_number(trips: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    report = tmp_path / "report.json"
    assert run(["discover", trips, *ARGUMENTS, "--no-ledger", "--json", "--private-report", str(report)]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert set(answer) == {"bbox", "found", "share", "confidence", "epsilon", "people", "label"}
    assert answer["found"] is True
    assert answer["people"] != 5000
    assert json.loads(report.read_text())["people"] == 5000


def test_the_command_says_that_it_found_nothing_and_ends_well(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit code 0, as for a box: a refusal would tell."""
    one = trips_of(1, tmp_path / "one.csv")
    assert run(["discover", one, "--epsilon", "0.05", *ARGUMENTS[2:], "--no-ledger"]) == 0
    out, err = capsys.readouterr()
    assert out.strip() == f"--bbox=-180.0,{-NORTHERNMOST},180.0,{NORTHERNMOST}"
    assert "No box smaller than the world" in err


@pytest.mark.parametrize(
    ("extra", "words"), [(["--share", "1"], "share must be"), (["--confidence", "0.4"], "confiden")]
)
def test_the_command_refuses_what_is_no_share(
    trips: str, extra: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["discover", trips, *ARGUMENTS, *extra, "--no-ledger"]) == 2
    assert words in capsys.readouterr().err
