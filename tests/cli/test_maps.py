"""Maps and images on the command line: every ending, every look, and several images at once."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import dpheatmap as dph
from dpheatmap.cli import run
from dpheatmap.render import FORMATS
from dpheatmap.testing import generated_people

BOX = (7.30, 46.90, 7.50, 47.02)


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A release of an invented city."""
    path = tmp_path_factory.mktemp("release") / "city.dph.parquet"
    domain = dph.Domain.bbox(*BOX, resolution=200)
    people = generated_people(500, extent=BOX)
    dph.release(people, domain, epsilon=1, user="person", x="x", y="y").save(path)
    return str(path)


def test_one_release_every_format(saved: str, tmp_path: Path) -> None:
    outputs = [str(tmp_path / f"map{suffix}") for suffix in FORMATS]
    assert run(["export", saved, *(part for output in outputs for part in ("-o", output)), "--size", "80"]) == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(f"map{suffix}" for suffix in FORMATS)


def test_options_go_to_the_formats_that_take_them(saved: str, tmp_path: Path) -> None:
    png, cells, tiles = (str(tmp_path / name) for name in ("map.png", "map.csv", "map.pmtiles"))
    look = ["--title", "Bikes", "--subtitle", "In June", "--source", "us", "--what", "rides", "--no-basemap"]
    look += ["--colours", "dark", "--limits", "1,50", "--style", "contour", "--h3", "7", "--zooms", "8-10"]
    assert run(["export", saved, "-o", png, "-o", cells, "-o", tiles, *look]) == 0
    assert Path(cells).read_text().startswith("h3,share,")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["-o", "map.tif", "--bare"], "None of the outputs takes --bare"),
        (["-o", "map.geojson", "--no-basemap"], "None of the outputs takes --no-basemap"),
        (["-o", "map.png", "--h3", "8"], "None of the outputs takes --h3"),
        (["-o", "map.csv", "--h3", "99"], "h3 must be a whole number from 0 to 15"),
        (["-o", "map.pmtiles", "--zooms", "8"], "--zooms takes two zooms, as in 6-13"),
        (["-o", "map.pmtiles", "--zooms", "9-8"], "zooms must be two zooms"),
        (["-o", "map.png", "--style", "blobs"], "style must be one of 'bands', 'smooth', 'contour'"),
        (["-o", "map.png", "--colours", "red"], "colours must be one of 'light', 'dark'"),
        (["-o", "map.png", "--limits", "1-50"], "--limits takes two numbers, as in 1,50; it was '1-50'"),
        (["-o", "map.png", "--limits", "50,1"], "limits must be two numbers above 0, the lower first"),
        (["-o", "map.png", "--limits", "3,4"], "limits must have one to 6 of the steps"),
        (["-o", "map.csv", "--limits", "1,50"], "None of the outputs takes --limits"),
        (["-o", "map.html", "--style", "contour"], "An .html has bands or smooth heat"),
        (["-o", "map.png", "--names", "a", "b"], "--names goes with --minus"),
        (["-o", "map.png", "--background", "pitch"], "the place of this map is a box"),
    ],
)
def test_a_look_that_does_not_fit(
    saved: str, arguments: list[str], words: str, capsys: pytest.CaptureFixture[str], tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    assert run(["export", saved, *arguments]) == 2
    assert words in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_what_cannot_be_written_is_refused_before_the_table_is_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    columns = ["--user", "who", "--x", "x", "--y", "y", "--epsilon", "1", "--image", "64x48"]
    for output, extra, code, words in [
        ("map.tif", [], 2, "A GeoTIFF lies on the ground"),
        ("map.csv", ["--h3", "8"], 2, "H3 lies on the ground"),
        ("map.png", ["--background", str(tmp_path / "no.png")], 3, "There is no picture"),
        ("map.png", ["--limits", "3,4"], 2, "limits must have one to 6 of the steps"),
    ]:
        assert run(["release", "/nonexistent.csv", *columns, "-o", str(tmp_path / output), *extra]) == code
        assert words in capsys.readouterr().err


# Several images


@pytest.fixture
def looks(tmp_path: Path) -> list[str]:
    """The command for a table of looks at three screens, one of which is not listed."""
    table = str(tmp_path / "looks.parquet")
    screens = "CASE WHEN x < 0.3 THEN 'home page.png' WHEN x < 0.6 THEN 'shop.png' ELSE 'secret.png' END AS screen"
    generated_people(200).project(f"person, 64 * x AS x, 48 * y AS y, {screens}").write_parquet(table)
    for name in ("home_page", "shop"):
        Image.new("RGB", (64, 48), (200, 200, 220)).save(tmp_path / f"{name}.jpg")
    columns = ["--user", "person", "--x", "x", "--y", "y", "--image-column", "screen"]
    return ["release", table, "--epsilon", "1", *columns, "--image", "64x48"]


def test_several_images(looks: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    outputs = ["-o", str(tmp_path / "{image}.png"), "-o", str(tmp_path / "{image}.dph.parquet")]
    under = ["--background", str(tmp_path / "{image}.jpg")]
    assert run([*looks, "--images", "home page.png,shop.png", *outputs, *under, "--json"]) == 0
    out, err = capsys.readouterr()
    answer = json.loads(out)
    assert answer["epsilon"] == "1"
    assert {name: got["epsilon"] for name, got in answer["images"].items()} == {"home page.png": "1", "shop.png": "1"}
    assert "shop.png: epsilon = 1" in err
    assert "All together: epsilon = 1 per person." in err
    assert "a person's weight of 1 is shared over all of them" in err
    assert "a formality rather" not in err
    for name in ("home_page", "shop"):
        release = dph.load(tmp_path / f"{name}.dph.parquet")
        assert release.epsilon == 1
        assert (tmp_path / f"{name}.png").exists()
    assert not (tmp_path / "secret.png").exists()


def test_epsilon_split_over_a_list_in_a_file(
    looks: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "list.txt").write_text("home page.png\nshop.png\nempty.png\n")
    output, report = str(tmp_path / "{image}.npz"), tmp_path / "report.json"
    options = ["--images-file", str(tmp_path / "list.txt"), "--split", "epsilon", "--private-report", str(report)]
    assert run([*looks, *options, "-o", output]) == 0
    err = capsys.readouterr().err
    assert "empty.png: epsilon = 1/3" in err
    assert "All together: epsilon = 1 per person." in err
    with np.load(tmp_path / "empty.npz") as stored:
        assert str(stored["epsilon"]) == "1/3"
    large = ["12" if word == "1" else word for word in looks]
    assert run([*large, *options, "-o", output]) == 0
    assert "An epsilon of 10 or more is a formality" in capsys.readouterr().err, "4 for each, and 12 together"
    readings = json.loads(report.read_text())["readings"]
    assert [reading["people"] == 0 for reading in readings] == [False, False, True]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--images", "a,b", "-o", "map.png"], "has {image} in its name"),
        (["-o", "{image}.png"], "--images or --images-file"),
        (["--images", "a", "--images-file", "b", "-o", "{image}.png"], "--images or --images-file"),
        (["--split", "epsilon", "-o", "{image}.png"], "--images or --images-file"),
        (["--images-file", "none.txt", "-o", "{image}.png"], "There is no list of images 'none.txt'"),
        (["--images", "x/a.jpg,y/a.png", "-o", "{image}.png"], "Two images would be written to one file"),
        (["--images", ",", "-o", "{image}.png"], "images must be a list of 1 to 10000 names"),
    ],
)
def test_lists_that_do_not_fit(
    looks: list[str], arguments: list[str], words: str, capsys: pytest.CaptureFixture[str], tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    assert run([*looks, *arguments]) == 2
    assert words in capsys.readouterr().err
