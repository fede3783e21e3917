"""The hint at the package with the coast, for whoever draws a small map on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import dpheatmap as dph
from dpheatmap.cli import run
from dpheatmap.cli.coast_hint import HINT
from dpheatmap.testing import CITY, generated_people
from helpers.coast import EXTRACT, install

TILES = "https://tile.example/{z}/{x}/{y}.png"
REGION = (7.0, 46.7, 7.8, 47.2)


@pytest.fixture(scope="module")
def city(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A release of a box of 0.2 degrees."""
    return released(dph.Domain.bbox(*CITY, depth=12), tmp_path_factory.mktemp("city"))


def released(domain: dph.Domain, folder: Path) -> str:
    path = folder / "made.dph.parquet"
    people = generated_people(300, extent=domain.extent)
    dph.release(people, domain, epsilon=1, user="person", x="x", y="y").save(path)
    return str(path)


@pytest.fixture(autouse=True)
def without_coast(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if no package had a coast."""
    install(monkeypatch)


def hints(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> int:
    """How often a command hints at the package; always on stderr."""
    capsys.readouterr()
    assert run(arguments) == 0
    said = capsys.readouterr()
    assert HINT not in said.out
    return said.err.splitlines().count(HINT)


def test_small_maps_without_a_coast_hint_at_it_once(
    city: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    outputs = [part for name in ("map.png", "map.html", "map.csv") for part in ("-o", str(tmp_path / name))]
    assert hints(["export", city, *outputs], capsys) == 1
    earlier = released(dph.Domain.bbox(*CITY, depth=12), tmp_path)
    assert hints(["export", city, "--minus", earlier, "-o", str(tmp_path / "change.png")], capsys) == 1
    assert hints(["cluster", city, "-k", "2", "-o", str(tmp_path / "places.png")], capsys) == 1
    assert "pip install 'dpheatmap[coast]'" in HINT


def test_a_release_and_a_demo_hint_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = str(tmp_path / "people.parquet")
    generated_people(100, extent=CITY).write_parquet(table)
    place = ["--user", "person", "--x", "x", "--y", "y", f"--bbox={','.join(map(str, CITY))}", "--no-ledger"]
    assert hints(["release", table, "--epsilon", "1", *place, "-o", str(tmp_path / "map.png")], capsys) == 1
    assert hints(["demo", "--people", "100", "--folder", str(tmp_path), "--no-open"], capsys) == 1


def test_with_the_package_nothing_is_said(
    city: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    install(monkeypatch, original=EXTRACT)
    assert hints(["export", city, "-o", str(tmp_path / "map.png"), "-o", str(tmp_path / "map.html")], capsys) == 0


@pytest.mark.parametrize(
    ("outputs", "look", "times"),
    [
        (["map.csv", "map.tif"], [], 0),
        (["map.png"], ["--no-basemap"], 0),
        (["map.png"], ["--bare"], 0),
        (["map.html"], ["--tiles", TILES], 0),
        (["map.html", "map.png"], ["--tiles", TILES], 1),
        (["map.svg"], ["--context", "park.geojson"], 0),
    ],
    ids=str,
)
def test_no_hint_where_no_coast_is_wanted(
    city: str, outputs: list[str], look: list[str], times: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    park = {"type": "LineString", "coordinates": [[7.35, 46.95], [7.4, 46.97]]}
    Path("park.geojson").write_text(json.dumps({"type": "Feature", "properties": {}, "geometry": park}))
    assert hints(["export", city, *(part for name in outputs for part in ("-o", name)), *look], capsys) == times


@pytest.mark.parametrize(
    "domain", [dph.Domain.bbox(*REGION, depth=11), dph.Domain.image(64, 48), dph.Domain.unit(5)], ids=str
)
def test_no_hint_for_larger_boxes_and_other_places(
    domain: dph.Domain, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert hints(["export", released(domain, tmp_path), "-o", str(tmp_path / "map.png")], capsys) == 0
