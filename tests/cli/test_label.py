"""The label of a release on the command line, and its entry for the public registry."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

import dpheatmap as dph
from dpheatmap.cli import run
from dpheatmap.releases.deployment_schema import problems_of
from dpheatmap.testing import generated_people, seeded_release

COLUMNS = ["--user", "person", "--x", "x", "--y", "y", "--unit", "--depth", "4", "--epsilon", "1/2", "--no-ledger"]
WEEK = ["--time", "person", "--every", "weekday", "--time-zone", "UTC"]
ABOUT = 'name = "Trips"\ndata_curators = ["City"]\npublication_date = 2026-01-31\n'


@pytest.fixture(scope="module", params=["plain", "sliced"])
def release(request: pytest.FixtureRequest, table: str, tmp_path_factory: pytest.TempPathFactory) -> str:
    path = str(tmp_path_factory.mktemp("label") / "made.dph.parquet")
    assert run(["release", table, *COLUMNS, *(WEEK if request.param == "sliced" else []), "-o", path]) == 0
    return path


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "about.toml").write_text(ABOUT)
    return tmp_path


def test_it_prints_every_part_of_the_label(release: str, capsys: pytest.CaptureFixture[str]) -> None:
    label = dph.load(release).label
    assert run(["label", release]) == 0
    printed = capsys.readouterr().out
    assert len(printed.splitlines()) == len(label)
    assert all(f": {text}\n" in printed for text in label.values())
    assert run(["label", release, "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"label": dict(label)}


def test_it_writes_the_label(release: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["label", release, "-o", "label.txt"]) == 0
    assert capsys.readouterr().out == "label.txt\n"
    assert "epsilon = 0.5" in (folder / "label.txt").read_text()


def test_it_writes_a_valid_entry_and_says_what_is_open(
    release: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["label", release, "--registry", "--about", "about.toml", "-o", "city_trips_2026.yaml"]) == 0
    told = capsys.readouterr()
    assert told.out == "city_trips_2026.yaml\n"
    assert "Still to fill in: deployment.basic.intended_use, " in told.err
    assert "publication_date" not in told.err
    entry = yaml.safe_load((folder / "city_trips_2026.yaml").read_text())
    assert problems_of(entry) == []
    assert entry["url_slug"] == "trips-city-2026"
    assert entry["deployment"]["privacy_loss"]["privacy_parameters"] == {"epsilon": 0.5}


def test_it_prints_the_same_entry(release: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["label", release, "--registry", "-o", "trips.yaml"]) == 0
    capsys.readouterr()
    assert run(["label", release, "--registry"]) == 0
    assert capsys.readouterr().out == (folder / "trips.yaml").read_text()
    assert run(["label", release, "--registry", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["entry"] == yaml.safe_load((folder / "trips.yaml").read_text())
    assert answer["to_fill_in"][0] == "url_slug"


@pytest.mark.parametrize(
    ("options", "code", "words"),
    [
        (["--about", "about.toml"], 2, "--about goes with --registry"),
        (["--registry", "-o", "City-Trips.yaml"], 2, "small letters, digits and _"),
        (["--registry", "-o", "trips.json"], 2, "must end in one of .yaml"),
        (["-o", "trips.yaml"], 2, "must end in one of .txt"),
        (["--registry", "-o", "about.toml/../trips.yaml"], 2, "does not exist"),
        (["--registry", "--about", "missing.toml"], 3, "can't be read"),
        (["--registry", "--about", "wrong.toml"], 3, "is not TOML"),
        (["--registry", "--about", "bytes.toml"], 3, "is not TOML"),
        (["--registry", "--about", "other.toml"], 2, "nothing to tell about 'epsilon'"),
    ],
)
def test_it_refuses(
    options: list[str], code: int, words: str, release: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "wrong.toml").write_text("name: Trips\n")
    (folder / "bytes.toml").write_bytes(b'name = "\xff"\n')
    (folder / "other.toml").write_text("epsilon = 0.1\n")
    before = sorted(folder.iterdir())
    assert run(["label", release, *options]) == code
    told = capsys.readouterr()
    assert words in told.err
    assert told.out == ""
    assert sorted(folder.iterdir()) == before


def test_a_seed_is_told_and_never_entered(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = seeded_release(generated_people(9), dph.Domain.unit(3), seed=1, epsilon=1, user="person", x="x", y="y")
    made.save("seeded.dph.parquet")
    assert run(["label", "seeded.dph.parquet"]) == 0
    assert capsys.readouterr().out.startswith("Warning: NOT PRIVATE")
    assert run(["label", "seeded.dph.parquet", "--registry", "-o", "seeded.yaml"]) == 4
    assert not (folder / "seeded.yaml").exists()
