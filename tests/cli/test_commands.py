"""The commands as people use them: what goes where, and how they end."""

from __future__ import annotations

import json
import os
import pty
import re
import stat
import subprocess
import sys
from pathlib import Path

import duckdb
import numpy as np
import pytest
from PIL import Image

import dpheatmap as dph
from dpheatmap.cli import COMMANDS, run

DPHEATMAP = [sys.executable, "-m", "dpheatmap"]


@pytest.fixture
def arguments(table: str, tmp_path: Path) -> list[str]:
    columns = ["--user", "person", "--x", "x", "--y", "y"]
    return ["release", table, "--epsilon", "1", *columns, "--unit", "-o", str(tmp_path / "a.dph.parquet")]


def without(arguments: list[str], option: str, values: int = 1) -> list[str]:
    at = arguments.index(option)
    return arguments[:at] + arguments[at + 1 + values :]


def test_a_release_writes_what_was_asked_for(arguments: list[str], tmp_path: Path) -> None:
    outputs = [str(tmp_path / name) for name in ("map.png", "map.npz", "map.csv")]
    assert (
        run([*arguments, *(part for path in outputs for part in ("-o", path)), "--sigma", "0.05", "--size", "64"]) == 0
    )
    release = dph.load(tmp_path / "a.dph.parquet")
    assert release.epsilon == 1
    assert not release.seeded
    with np.load(outputs[1]) as stored:
        assert np.array_equal(stored["values"], release.heatmap(sigma=0.05, size=64).values)
    with Image.open(outputs[0]) as picture:
        assert picture.format == "PNG"
    assert len(Path(outputs[2]).read_text().splitlines()) == 1 + 64 * 64


def test_a_dense_release_and_its_maps(arguments: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    saved, picture = tmp_path / "a.dph.parquet", str(tmp_path / "map.png")
    assert run([*arguments, "--design", "dense", "--users", "300", "--method", "dense", "-o", picture]) == 0
    design = dph.load(saved).design
    assert (design.name, design.first, design.last) == ("dense", 4, 4)
    for method in ("paper", "posterior", "dense"):
        assert run(["export", str(saved), "-o", picture, "--method", method]) == 0
    capsys.readouterr()
    assert run([*arguments, "--design", "dense", "--users", "0"]) == 2
    assert "users must be a whole number from 1" in capsys.readouterr().err


def test_an_adaptive_release_and_its_map(
    arguments: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    saved, picture = tmp_path / "a.dph.parquet", str(tmp_path / "map.png")
    assert run([*arguments, "--design", "adaptive", "-o", picture]) == 0
    assert dph.load(saved).design.name == "adaptive"
    before = saved.read_bytes()
    capsys.readouterr()
    assert run([*arguments, "--design", "adaptive", "--method", "paper"]) == 2
    assert "Use method='posterior'" in capsys.readouterr().err
    assert run([*arguments, "--users", "50"]) == 2
    assert "users is for the design 'dense'" in capsys.readouterr().err
    assert run(["export", str(saved), "-o", picture, "--method", "paper"]) == 2
    assert run(["export", str(saved), "-o", picture, "--method", "posterior"]) == 0
    assert saved.read_bytes() == before


def test_stdout_has_the_files_and_stderr_the_words(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(arguments) == 0
    out, err = capsys.readouterr()
    assert out.strip() == arguments[-1]
    assert "epsilon = 1" in err


def test_json_is_json_and_has_no_exact_number(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run([*arguments, "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["epsilon"] == "1"
    assert answer["outputs"] == [arguments[-1]]
    assert set(answer) == {"epsilon", "outputs", "label"}


def test_exact_numbers_go_to_the_private_report_alone(
    arguments: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    report = tmp_path / "report.json"
    assert run([*arguments, "--private-report", str(report)]) == 0
    numbers = json.loads(report.read_text())
    assert numbers["people"] == 300
    assert numbers["rows"] == numbers["inside"] + numbers["outside"] + numbers["invalid"] + numbers["without_person"]
    assert stat.S_IMODE(report.stat().st_mode) == 0o600
    assert str(numbers["rows"]) not in "".join(capsys.readouterr())


def on_a_terminal(arguments: list[str]) -> str:
    """What a command shows on a terminal."""
    leader, follower = pty.openpty()
    process = subprocess.Popen([*DPHEATMAP, *arguments], stdout=follower, stderr=follower, stdin=follower)
    os.close(follower)
    shown = b""
    while True:
        try:
            chunk = os.read(leader, 65536)
        except OSError:  # the terminal closed
            break
        if not chunk:
            break
        shown += chunk
    os.close(leader)
    assert process.wait() == 0
    return re.sub(r"\s+", " ", shown.decode())


def test_a_terminal_shows_them_to_the_data_holder(arguments: list[str]) -> None:
    shown = on_a_terminal(arguments)
    assert "For your eyes only" in shown
    assert "by 300 people" in shown
    assert "a second" in shown
    assert "Releasing" in shown
    assert "Drawing" in shown  # which takes longer than the rest, where kernels are compiled for the first time


@pytest.mark.parametrize(
    ("row", "why"),
    [
        ("ann;7.45;46.95", "Are x and y swapped, or metres instead of degrees, or is the place another one?"),
        ("ann;0,1;0,2", "No coordinates could be read"),
        (";0.1;0.2", "Is this the column of people?"),
        ("", "Is the file empty, or does --where leave everything out?"),
        ("ann;0.1;0.2", None),
    ],
)
def test_the_data_holder_is_told_why_nobody_is_on_a_map(
    row: str, why: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "t.csv").write_text(f"u;x;y\n{row}".strip() + "\n")
    release = ["release", str(tmp_path / "t.csv"), "--epsilon", "1", "--user", "u", "--x", "x", "--y", "y", "--unit"]
    release += ["--no-ledger", "-o", str(tmp_path / "a.dph.parquet")]
    assert run(release) == 0
    assert "Nobody is on this map" not in capsys.readouterr().err  # of a pipe, anybody may be at the end
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    assert run(release) == 0
    told = capsys.readouterr().err
    assert (f"Nobody is on this map. {why}" in told) if why else ("Nobody is on" not in told)


@pytest.mark.parametrize("scheme", ["mysql", "ftp", "postgresql"])
def test_passwords_of_addresses_are_never_shown(scheme: str, capsys: pytest.CaptureFixture[str]) -> None:
    url = f"{scheme}://ann:secret@nowhere.invalid/city?key=secret"
    columns = ["--epsilon", "1", "--user", "u", "--x", "x", "--y", "y"]
    for command in (["inspect", url], ["release", "--counts", url, "--epsilon", "1", "--unit", "-o", "a.png"],
                    ["discover", url, *columns, "--no-ledger"], ["compare", url, *columns, "--unit"]):  # fmt: skip
        assert run(command) in (2, 3)
        said = "".join(capsys.readouterr())
        assert f"{scheme}://nowhere.invalid/city" in said
        assert "secret" not in said
    if scheme != "postgresql":
        assert run(["ledger", "show", url]) == 2
        assert f"it was {scheme}://nowhere.invalid/city. Name one." in capsys.readouterr().err


def test_inspect_keeps_exact_numbers_off_stdout(table: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    report = tmp_path / "report.json"
    assert run(["inspect", table, "--json", "--private-report", str(report)]) == 0
    out, err = capsys.readouterr()
    answer, private = json.loads(out), json.loads(report.read_text())
    assert answer["guesses"] == {"user": ["person"], "x": ["x"], "y": ["y"]}
    assert private["rows"] > 300
    assert 0 <= private["columns"]["x"]["lowest"] < private["columns"]["x"]["highest"] <= 1
    assert str(private["rows"]) not in out + err
    assert "the unit square" in "".join(private["hints"])
    assert "rows:" in on_a_terminal(["inspect", table])


@pytest.mark.parametrize(
    ("rows", "hint"),
    [
        (["ann;7.45 deg;46.95 deg"], "no value of 'lon' and 'lat' reads as a number"),
        (["ann;7,45;46,95"], "values of 'lon' and 'lat' have decimal commas: say so (--numbers comma)"),
        (["ann;7.45;46.95°N"], "values of 'lat' have letters for north, south, east or west"),
        (["ann;829330;5933600"], "these are not degrees"),
        (["ann;46.95;97.45"], "are x and y swapped?"),
        ([], ""),
        (["ann;7.45;46.95"], ""),
    ],
)
def test_inspect_hints_at_coordinates_that_wont_do(
    tmp_path: Path, rows: list[str], hint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    table, report = tmp_path / "t.csv", tmp_path / "report.json"
    table.write_text("\n".join(["rider;lon;lat", *rows]) + "\n", encoding="utf-8")
    assert run(["inspect", str(table), "--private-report", str(report)]) == 0
    hints = json.loads(report.read_text())["hints"]
    assert [hint in one for one in hints] == ([True] if hint else [])
    out, err = capsys.readouterr()
    assert not hint or hint not in out + err
    assert "Next: dpheatmap release" in err
    assert "--user rider --x lon --y lat" in err


@pytest.mark.parametrize(("kind", "problem"), [("TIMESTAMP", "tells when and not who"), ("DOUBLE", "can become equal")])
def test_inspect_doubts_ids_of_the_wrong_kind(
    kind: str, problem: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    columns = f"NULL::{kind} AS user, 0.5 AS x, 0.5 AS y"
    duckdb.execute(f"COPY (SELECT {columns}) TO '{tmp_path}/t.parquet'")
    assert run(["inspect", str(tmp_path / "t.parquet"), "--json"]) == 0
    (told,) = json.loads(capsys.readouterr().out)["problems"]
    assert problem in told


def test_inspect_does_not_read_out_a_row_in_place_of_a_header(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "t.csv").write_text("mallory,4.321,0.1\nbob,0.2,0.2\n")
    assert run(["inspect", str(tmp_path / "t.csv")]) == 3
    shown = "".join(capsys.readouterr())
    assert "header line" in shown
    assert "mallory" not in shown
    assert "4.321" not in shown


@pytest.mark.parametrize(
    ("change", "code", "words"),
    [
        (lambda a: without(a, "--user"), 4, "No user column"),
        (lambda a: [*without(a, "--user"), "--user", "nobody"], 4, "no user column 'nobody'"),
        (lambda a: without(a, "--unit", 0), 4, "No place was given"),
        (lambda a: [*a, "--where", "x < (SELECT AVG(x) FROM t)"], 4, "one row at a time"),
        (lambda a: [*without(a, "--x"), "--x", "longitude"], 3, "no coordinate column 'longitude'"),
        (lambda a: [a[0], "missing.parquet", *a[2:]], 3, "No file"),
        (lambda a: [*without(a, "--epsilon"), "--epsilon", "0"], 2, "epsilon must be a number above 0"),
        (lambda a: [*without(a, "--epsilon"), "--epsilon", "many"], 2, "epsilon must be"),
        (lambda a: without(a, "--epsilon"), 2, "Missing option"),
        (lambda a: [*a, "--width", "0"], 2, "width must be"),
        (lambda a: [*a, "--sigma", "-1"], 2, "sigma must be"),
        (lambda a: [*a, "-o", "map.gif"], 2, "must end in one of"),
        (lambda a: [*a, "-o", "no/such/folder/map.png"], 2, "does not exist"),
        (lambda a: [*a, "--image", "640x480"], 2, "several were given"),
        (lambda a: [*without(a, "--unit", 0), "--image", "640"], 2, "takes 2 numbers"),
        (lambda a: [*without(a, "--unit", 0), "--bbox=-170,-20,190,20"], 2, "antimeridian"),
        (lambda a: [*a, "--resolution", "50"], 2, "goes with --bbox"),
        (lambda a: [*a, "--method", "magic"], 2, "method must be"),
    ],
)  # fmt: skip
def test_refusals_have_their_exit_code_and_leave_nothing(
    arguments: list[str], change: object, code: int, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert callable(change)
    assert run(change(arguments)) == code
    out, err = capsys.readouterr()
    assert words in err
    assert out == ""
    assert not Path(arguments[-1]).exists()
    assert "Traceback" not in err


def test_what_depends_on_people_never_refuses(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tables = {
        "header only": "who,x,y\n",
        "one person": "who,x,y\na,0.5,0.5\n",
        "nobody inside": "who,x,y\na,7,7\nb,8,8\n",
        "no valid row": "who,x,y\na,nan,\n,0.5,0.5\n",
    }
    shown = set()
    for k, text in enumerate(tables.values()):
        path, output = tmp_path / "t.csv", str(tmp_path / f"{k}.dph.parquet")
        path.write_text(text)
        columns = ["--user", "who", "--x", "x", "--y", "y", "--unit", "--depth", "3"]
        assert run(["release", str(path), "--epsilon", "1", *columns, "--no-ledger", "-o", output]) == 0
        shown.add("".join(capsys.readouterr()).replace(output, ""))
        assert dph.load(output).heatmap().values.sum() == pytest.approx(1)
    assert len(shown) == 1, "what is said must not depend on the people"


def test_a_failed_output_keeps_what_was_there(arguments: list[str], tmp_path: Path) -> None:
    assert run(arguments) == 0
    before = Path(arguments[-1]).read_bytes()
    assert run([*arguments, "--where", "x <"]) == 2
    assert Path(arguments[-1]).read_bytes() == before
    assert os.listdir(tmp_path) == ["a.dph.parquet"]


def test_export_makes_maps_from_a_saved_release(
    arguments: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(arguments) == 0
    assert run(["export", arguments[-1], "-o", str(tmp_path / "b.npz"), "--sigma", "0.1", "--json"]) == 0
    with np.load(tmp_path / "b.npz") as stored:
        assert np.array_equal(stored["values"], dph.load(arguments[-1]).heatmap(sigma=0.1).values)
    capsys.readouterr()
    (tmp_path / "broken.dph.parquet").write_bytes(Path(arguments[-1]).read_bytes()[:-20])
    assert run(["export", str(tmp_path / "broken.dph.parquet"), "-o", str(tmp_path / "c.png")]) == 3
    assert "cut short" in capsys.readouterr().err


def test_plan_reads_no_data_and_answers_both_ways(capsys: pytest.CaptureFixture[str]) -> None:
    options = ["plan", "--epsilon", "0.1", "--users", "200", "--bbox=-74.1,40.6,-73.8,40.9"]
    assert run(options) == 0
    assert "expect little more than the outline" in capsys.readouterr().out
    assert run([*options, "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["epsilon"] == "1/10"
    assert [level["level"] for level in answer["levels"]] == [
        *range(11, 17),
        18,
    ]  # the ladder does not measure the level above the last


def test_a_plan_says_which_design_is_better_and_what_is_guaranteed(capsys: pytest.CaptureFixture[str]) -> None:
    options = ["plan", "--epsilon", "1", "--users", "100000", "--unit", "--depth", "8"]
    assert run(options) == 0
    out = capsys.readouterr().out
    assert "Better: ladder. The ladder follows people" in out
    assert "the paper's design guarantees 0.0241 of the side" in out
    assert run([*options, "--design", "dense", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert (answer["design"], answer["better"], len(answer["levels"])) == ("dense", "ladder", 1)
    assert 0 < answer["bounds"]["lower"] < answer["bounds"]["sparse"] < answer["bounds"]["dense"]
    assert run(["plan", "--epsilon", "1", "--users", "10", "--unit"]) == 0
    assert "the paper's design guarantees nothing yet" in capsys.readouterr().out


def test_demo_does_the_whole_job(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["demo", "--folder", str(tmp_path / "d"), "--people", "500", "--json", "--no-open"]) == 0
    out, err = capsys.readouterr()
    table, saved, picture, page = json.loads(out)["outputs"]
    assert Path(page).read_text(encoding="utf-8").startswith("<!doctype html>")
    assert dph.load(saved).epsilon == 1
    with Image.open(picture) as drawn:
        assert min(drawn.size) > 500
    by_hand = next(line for line in err.splitlines() if line.strip().startswith("dpheatmap release")).split()
    assert by_hand[2] == table
    assert run(by_hand[1:]) == 0


def test_help_is_there_for_every_command_and_fits(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--help"]) == 0
    top = capsys.readouterr().out
    for name, summary in COMMANDS.items():
        assert f"{name} " in top
        assert summary in top
        assert run([name, "--help"]) == 0
        assert f"Usage: dpheatmap {name}" in capsys.readouterr().out
    assert run(["no-such-command"]) == 2


def test_help_imports_nothing_heavy() -> None:
    code = (
        "import sys; from dpheatmap.cli import run; run(['--help'])\n"
        "print(sorted({'duckdb', 'numba', 'PIL', 'sqlglot', 'rich', 'pandas'} & set(sys.modules)), file=sys.stderr)"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stderr.strip() == "[]"


INTERRUPTED = """
import os, runpy, signal
from dpheatmap.curator.engines import duckdb
write = duckdb._write
def interrupted(*arguments):
    duckdb._write = write
    os.kill(os.getpid(), signal.SIGINT)
    write(*arguments)
duckdb._write = interrupted
runpy.run_module("dpheatmap", run_name="__main__", alter_sys=True)
"""
"""Runs the program and interrupts it at one moment for sure: when its query begins."""


def test_ctrl_c_ends_with_130_and_leaves_nothing(arguments: list[str], tmp_path: Path) -> None:
    output, spill = tmp_path / "a.dph.parquet", tmp_path / "spill"
    spill.mkdir()
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED, *arguments],
        env={**os.environ, "TMPDIR": str(spill)}, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 130, done.stderr
    assert "Interrupted" in done.stderr
    assert not output.exists()
    assert os.listdir(spill) == []


def test_a_mistyped_command_is_answered_with_the_one_that_was_meant(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["relase"]) == 2
    assert "There is no command 'relase'. Did you mean 'release'?" in capsys.readouterr().err
    assert run(["bake"]) == 2
    assert "Did you mean" not in capsys.readouterr().err


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_an_answer_that_cant_be_written_is_told() -> None:
    with open("/dev/full", "w") as full:
        plan = [*DPHEATMAP, "plan", "--epsilon", "1", "--users", "500", "--unit"]
        done = subprocess.run(plan, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr == "Error: The answer could not be written: No space left on device. Send it to another place.\n"


def test_inspect_does_not_depend_on_one_person_s_keys(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Keys that are numbers, endless ones and very many are shown to the data holder at most, and end nothing."""
    path = tmp_path / "t.jsonl"
    for odd in ({"7": 1}, {"9" * 900_000 + "x": 1}, {f"k{n}": n for n in range(50_000)}):
        path.write_text(json.dumps({"user": "ann", "x": 0.1, "y": 0.1}) + "\n" + json.dumps(odd) + "\n")
        assert run(["inspect", str(path), "--private-report", str(tmp_path / "report.json")]) == 0
        out, _ = capsys.readouterr()
        assert "ann" not in out
        assert "user" not in out.replace("people's", "")
        assert "user" in json.loads((tmp_path / "report.json").read_text())["columns"]
