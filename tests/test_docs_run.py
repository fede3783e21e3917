"""What the pages tell readers to run, runs: every block of Python, and every command."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import click
import pytest
from geopandas import GeoDataFrame
from PIL import Image
from shapely import box

import dpheatmap as dph
from dpheatmap.cli import cli, run
from dpheatmap.testing import generated_people
from helpers import ROOT

CITY = (-74.1, 40.6, -73.8, 40.9)
BLOCK = re.compile(r"^```(bash|python)\n(.*?)^```", re.MULTILINE | re.DOTALL)
RUN = ("README.md", "docs/start/guide.md", "docs/guides/maps.md", "docs/guides/areas.md", "docs/guides/places.md",
       "docs/guides/every-day.md", *(f"docs/start/{name}.md" for name in
       ("planner", "gaze", "sports", "privacy-officer", "statistician")))  # fmt: skip
"""Pages whose commands are run in the order of reading; of other pages, only their Python is."""
PAGES = sorted(str(page.relative_to(ROOT)) for page in [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])
LONG = ("compare", "reproduce")
"""Commands that take minutes: they are read, and tests of their own run them."""

# Bash reads a block as it would, but that what is to be run is written down: its words, each ended by a zero byte.
RECORDER = """
pip() { :; }
dpheatmap() { printf '%s\\0' "$@" $'\\n' >> "$RECORD"; }
"""


def blocks(page: str) -> list[tuple[str, str]]:
    """The language and the text of each block, without those that run the project's own scripts."""
    found = BLOCK.findall((ROOT / page).read_text())
    return [(language, text) for language, text in found if not text.startswith("scripts/")]


def commands(text: str, folder: Path) -> list[list[str]]:
    """The arguments of each ``dpheatmap`` that a block of Bash calls."""
    record = folder / "commands"
    record.unlink(missing_ok=True)
    subprocess.run(["bash", "-euc", RECORDER + text], cwd=folder, env={**os.environ, "RECORD": str(record)}, check=True)
    words = record.read_text().split("\0")[:-1] if record.exists() else []
    lines: list[list[str]] = [[]]
    for word in words:
        if word == "\n":
            lines.append([])
        else:
            lines[-1].append(word)
    return lines[:-1]


def read(arguments: list[str]) -> None:
    """Parse a command as it would be before it is run: its options are there and complete."""
    name, command, rest = arguments[0], cli.get_command(click.Context(cli), arguments[0]), arguments[1:]
    if isinstance(command, click.Group):
        name, command, rest = rest[0], command.commands[rest[0]], rest[1:]
    assert command is not None
    command.make_context(name, rest)


def city(folder: Path) -> dph.Release:
    """Riders in a table and in folders of a day each, two districts, and the riders' release."""
    halves = {
        "district": ["West", "East"],
        "geometry": [box(-74.1, 40.6, -73.95, 40.9), box(-73.95, 40.6, -73.8, 40.9)],
    }
    GeoDataFrame(halves, crs=4326).to_file(folder / "districts.gpkg")
    GeoDataFrame({"geometry": halves["geometry"][:1]}, crs=4326).to_file(folder / "city.geojson")
    columns = (
        "person AS rider, x AS lon, y AS lat, TIMESTAMP '2024-06-01' + INTERVAL 1 HOUR * (person % 700) AS started"
    )
    riders = generated_people(150, extent=CITY).project(columns)
    riders.write_parquet(str(folder / "trips.parquet"))
    for day in range(3, 10):
        part = folder / f"trips/day=2024-06-{day:02}"
        part.mkdir(parents=True)
        riders.filter(f"rider % 7 = {day - 3}").write_parquet(str(part / "part-0.parquet"))
    return dph.release(riders, dph.Domain.bbox(*CITY, resolution=400), epsilon=5, user="rider", x="lon", y="lat")


def screens(folder: Path) -> dph.Release:
    """Looks at three images in a table, the images, folders for maps, and the release of a match."""
    seen = "person AS viewer, x, y, ['home.png', 'shop.png', 'help.png'][1 + person % 3] AS stimulus"
    generated_people(60, extent=(0, 0, 640, 480)).project(seen).write_parquet(str(folder / "gaze.parquet"))
    (folder / "shots").mkdir()
    (folder / "maps").mkdir()
    for name in ("photo.png", "shots/home.png", "shots/shop.png", "shots/help.png"):
        Image.new("RGB", (640, 480), "teal").save(folder / name)
    players = generated_people(60, extent=(0, 0, 105, 68))
    return dph.release(players, dph.Domain.image(105, 68), epsilon=2, user="person", x="x", y="y")


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with all that the pages name as there already."""
    folder = tmp_path_factory.mktemp("desk")
    screens(folder).save(folder / "match.dph.parquet")
    first = city(folder)
    for name in ("trips", "june", "monday"):
        first.save(folder / f"{name}.dph.parquet")
    riders = str(folder / "trips.parquet")
    second = dph.release(riders, first.domain, epsilon=5, user="rider", x="lon", y="lat")
    for name in ("july", "tuesday"):
        second.save(folder / f"{name}.dph.parquet")
    deep = dph.Domain.bbox(*CITY, depth=19)
    dph.release(riders, deep, epsilon=5, user="rider", x="lon", y="lat").save(folder / "country.dph.parquet")
    return folder


@pytest.fixture
def desk(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A fresh copy of it to work in."""
    shutil.copytree(made, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page)])
def test_what_a_page_tells_to_run_runs(page: str, desk: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names: dict[str, object] = {}  # later blocks go on with what earlier ones made
    for language, text in blocks(page):
        if language == "python":
            exec(compile(text, page, "exec"), names)
            continue
        for arguments in commands(text, desk):
            if page not in RUN or arguments[0] in LONG:
                read(arguments)
            else:
                assert run(arguments) == 0, f"{page}: {arguments}: {capsys.readouterr().err}"


def test_a_page_that_is_wrong_is_found_out(desk: Path) -> None:
    """The test above reads what stands there: continued lines, loops, comments and quotes."""
    text = "for k in 1 2; do\n  dpheatmap plan \\\n    --title 'a b' \"$k\"  # why\ndone\ndpheatmap ledger show x > y\n"
    looped = [["plan", "--title", "a b", "1"], ["plan", "--title", "a b", "2"]]
    assert commands(text, desk) == [*looped, ["ledger", "show", "x"]]
    with pytest.raises(click.NoSuchOption):
        read(["plan", "--epsilon", "1", "--people", "7", "--unit"])
    with pytest.raises(click.MissingParameter):
        read(["ledger", "limit", "city.ledger"])
