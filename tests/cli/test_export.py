"""Interactive maps and differences on the command line."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import dpheatmap as dph
from dpheatmap.cli import run

TILES = "https://tile.example/{z}/{x}/{y}.png"


@pytest.fixture
def releases(tmp_path: Path) -> tuple[str, str]:
    """Two releases of a box, and a third of another."""
    cells = np.array([0, 1, 1]), np.array([0, 0, 1]), np.array([2**30, 2**30, 2**29])
    for name, box in {"a": (6.0, 50.0, 7.0, 51.0), "b": (6.0, 50.0, 7.0, 51.0), "c": (6.0, 50.0, 7.0, 50.5)}.items():
        domain = dph.Domain.bbox(*box, depth=10)
        finest = domain.cells(10)
        counts = dph.Counts.from_cells(domain, finest.x0 + cells[0], finest.y0 + cells[1], cells[2])
        dph.release(counts, epsilon=1).save(tmp_path / f"{name}.dph.parquet")
    return str(tmp_path / "a.dph.parquet"), str(tmp_path / "b.dph.parquet")


def test_an_interactive_map_from_a_release(releases: tuple[str, str], tmp_path: Path) -> None:
    page = tmp_path / "map.html"
    assert run(["export", releases[0], "-o", str(page)]) == 0
    assert "connect-src blob:;" in page.read_text()
    assert run(["export", releases[0], "-o", str(page), "-o", str(tmp_path / "map.png"), "--tiles", TILES]) == 0
    assert "connect-src blob: https://tile.example;" in page.read_text()


def test_tiles_are_checked(releases: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for output, tiles, words in (
        ("map.html", "https://tile.example/1.png", "{z}, {x} and {y}; it was"),
        ("map.png", TILES, "None of the outputs takes --tiles"),
    ):
        assert run(["export", releases[0], "-o", str(tmp_path / output), "--tiles", tiles]) == 2
        assert words in capsys.readouterr().err
        assert not (tmp_path / output).exists()


def test_tiles_on_an_image_are_refused_before_anything_is_spent(
    table: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    saved = tmp_path / "a.dph.parquet"
    columns = ["--user", "person", "--x", "x", "--y", "y", "--image", "8x8", "--epsilon", "1"]
    outputs = ["-o", str(saved), "-o", str(tmp_path / "map.html")]
    assert run(["release", table, *columns, *outputs, "--tiles", TILES]) == 2
    assert "Map tiles go with a box" in capsys.readouterr().err
    assert not saved.exists()


def test_a_difference(releases: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    a, b = releases
    outputs = [str(tmp_path / name) for name in ("d.html", "d.png")]
    written = [part for output in outputs for part in ("-o", output)]
    assert run(["export", b, "--minus", a, *written, "--sigma", "9000", "--size", "16"]) == 0
    assert capsys.readouterr().out.split() == outputs
    assert "What changed" in Path(outputs[0]).read_text()
    assert Path(outputs[1]).read_bytes().startswith(b"\x89PNG")


def test_both_sides_of_a_difference_are_named(releases: tuple[str, str], tmp_path: Path) -> None:
    a, b = releases
    output = tmp_path / "d.svg"
    arguments = ["--names", "by day", "at night", "--subtitle", "In June", "--sigma", "9000", "--size", "16"]
    assert run(["export", b, "--minus", a, "-o", str(output), *arguments]) == 0
    words = output.read_text()
    assert "By day and at night: what changed" in words
    assert "In June" in words


@pytest.mark.parametrize("option", [["--limits", "1,50"], ["--style", "smooth"], ["--what", "rides"]])
def test_a_difference_does_not_take_every_look(
    releases: tuple[str, str], tmp_path: Path, option: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    a, b = releases
    assert run(["export", b, "--minus", a, "-o", str(tmp_path / "d.png"), *option]) == 2
    assert f"A map of what changed does not take {option[0]}" in capsys.readouterr().err


def test_a_difference_has_one_system_of_coordinates(
    releases: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    a, b = releases
    assert run(["export", b, "--minus", a, "-o", str(tmp_path / "d.tif"), "--crs", "EPSG:5070"]) == 2
    assert "is in EPSG:3857 alone; --crs was 'EPSG:5070'" in capsys.readouterr().err


def test_differences_that_make_no_sense(
    releases: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    a, b = releases
    other, page = str(tmp_path / "c.dph.parquet"), str(tmp_path / "d.html")
    for minus, output, words in (
        (a, page, "needs two releases"),
        (other, page, "two maps of one place"),
        (b, str(tmp_path / "d.dph.parquet"), "holds a release"),
        (b, str(tmp_path / "d.npz"), "must end in one of .html, .png, .svg, .pdf"),
    ):
        assert run(["export", a, "--minus", minus, "-o", output]) == 2
        assert words in capsys.readouterr().err
    assert not Path(page).exists()
