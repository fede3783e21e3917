"""``dpheatmap compare``: for the data holder's eyes, and it says so everywhere."""

from __future__ import annotations

import csv
import json
import stat
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from dpheatmap.cli import run
from dpheatmap.cli.compare_command import NOT_COVERED, PRIVATE

METHODS = "paper,baseline,privtree"


@pytest.fixture
def arguments(table: str) -> list[str]:
    columns = ["--user", "person", "--x", "x", "--y", "y"]
    return ["compare", table, *columns, "--unit", "--depth", "5", "--trials", "2", "--epsilon", "1,8"]


def test_everything_it_writes_is_marked_private_at_the_top(
    arguments: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    outputs = {suffix: tmp_path / f"compare.{suffix}" for suffix in ("csv", "json", "png", "svg", "pdf")}
    assert run([*arguments, "--methods", METHODS, *(p for path in outputs.values() for p in ("-o", str(path)))]) == 0
    out, err = capsys.readouterr()
    assert out.startswith(PRIVATE)
    assert out.rstrip().endswith("* the best of its column.")
    assert err.startswith(PRIVATE)
    assert NOT_COVERED in err
    assert outputs["csv"].read_text().startswith(f"# {PRIVATE}\n# {NOT_COVERED}\n")
    stored = json.loads(outputs["json"].read_text())
    assert next(iter(stored)) == "private"
    assert stored["private"] == PRIVATE
    assert len(stored["results"]) == 3 * 2
    rows = list(csv.DictReader(outputs["csv"].read_text().splitlines()[2:]))
    assert [(row["method"], float(row["epsilon"])) for row in rows] == [
        (method, epsilon) for method in METHODS.split(",") for epsilon in (1.0, 8.0)
    ]
    assert [float(row["emd"]) for row in rows] == [row["emd"] for row in stored["results"]]
    assert PRIVATE in outputs["svg"].read_text()
    with Image.open(outputs["png"]) as picture:
        top = np.asarray(picture.convert("RGB"))[:60].astype(int)
    assert ((top[..., 0] > 180) & (top[..., 1] < 60)).sum() > 200, "no red words at the top"
    for path in outputs.values():
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(path.name for path in outputs.values())


def test_all_methods_by_default(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    from dpheatmap.evaluate.methods import METHODS as ALL

    assert run([*arguments[:-1], "2", "--json", "--trials", "1", "--depth", "4"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert [row["method"] for row in answer["results"]] == list(ALL)
    assert all(0 <= row["similarity"] <= 1 and row["emd"] >= 0 and row["emd_95"] is None for row in answer["results"])


def test_less_noise_is_nearer_to_the_truth(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run([*arguments[:-1], "0.01,1000", "--methods", "baseline", "--json"]) == 0
    far, near = json.loads(capsys.readouterr().out)["results"]
    assert near["emd"] < 0.01 < far["emd"]
    assert near["pearson"] > 0.99 > far["pearson"]


def test_methods_that_hold_all_cells_are_left_out_of_fine_domains(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    fine = ["18" if part == "5" else part for part in arguments]
    assert run([*fine[:-1], "1", "--size", "64", "--methods", METHODS, "--json"]) == 0
    out, err = capsys.readouterr()
    assert "Left out, because they hold every finest cell in memory: baseline." in err
    assert [row["method"] for row in json.loads(out)["results"]] == ["paper", "privtree"]
    assert run([*fine, "--methods", "baseline"]) == 2


@pytest.mark.parametrize(
    ("extra", "code", "words"),
    [
        (["--methods", "paper,best"], 2, "it was 'best'"),
        (["--epsilon", "1,zero"], 2, "epsilon must be"),
        (["--sigma", "-1"], 2, "sigma must be"),
        (["--size", "0"], 2, "size must be"),
        (["-o", "compare.xls"], 2, ".csv, .json, .png"),
        (["-o", "no/such/folder/a.csv"], 2, "does not exist"),
        (["--trials", "0"], 2, "--trials"),
    ],
)
def test_bad_settings_are_refused_before_the_table_is_read(
    extra: list[str], code: int, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    columns = ["--user", "person", "--x", "x", "--y", "y"]
    assert run(["compare", "/nonexistent/people.csv", *columns, "--unit", *extra]) == code
    assert words in capsys.readouterr().err


def test_no_place_and_no_person_are_refused_as_a_release_would(
    table: str, arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([part for part in arguments if part != "--unit"]) == 4
    assert run(["compare", table, "--x", "x", "--y", "y", "--unit"]) == 4
    assert "each_row_is_a_person" in capsys.readouterr().err


def test_nobody_inside_is_compared_like_anybody(table: str, capsys: pytest.CaptureFixture[str]) -> None:
    columns = ["--user", "person", "--x", "x", "--y", "y", "--bbox=100,10,101,11", "--depth", "13"]
    assert run(["compare", table, *columns, "--epsilon", "1", "--trials", "1", "--methods", METHODS, "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["results"]) == 3
