"""How the QGIS plugin finds and runs the command: answers, words, progress, errors, and cancelling."""

from __future__ import annotations

import re
import subprocess
import time
import zipfile
from pathlib import Path

import pytest

import dpheatmap as dph
from dpheatmap.cli import run
from dpheatmap.testing import generated_people
from helpers import ROOT
from helpers.qgis_plugin import PLUGIN, command_in, module_of

command = module_of(PLUGIN / "command.py")


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(command_in(tmp_path_factory.mktemp("bin")))


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("table") / "people.csv"
    generated_people(300).write_csv(str(path))
    return str(path)


def release_of(table: str, output: Path) -> list[str]:
    columns = ["--user=person", "--x=x", "--y=y", "--no-ledger", "--unit", "--depth", "5"]
    return ["release", table, "--epsilon", "1", *columns, "-o", str(output)]


def test_the_command_is_that_of_the_setting_or_on_the_path(
    program: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert command.find_command(program) == program
    with pytest.raises(command.CommandError, match=r"is not there, or can't be run: '/nowhere'"):
        command.find_command("/nowhere")
    monkeypatch.setenv("PATH", str(Path(program).parent))
    assert command.find_command("") == program
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(command.CommandError, match="was not found"):
        command.find_command("")


def test_answers_words_and_progress_arrive(
    program: str, table: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What QGIS sets for its own Python does not reach the command's."""
    monkeypatch.setenv("PYTHONHOME", "/nowhere")
    said, parts = list[str](), list[float]()
    answer = command.run_command(program, release_of(table, tmp_path / "a.dph.parquet"), said.append, parts.append)
    assert answer["epsilon"] == "1"
    assert dph.load(tmp_path / "a.dph.parquet").epsilon == 1
    assert any("Pure differential privacy" in line for line in said)
    assert not any("progress" in line for line in said)
    assert parts
    assert all(0 <= part <= 100 for part in parts)


def test_progress_is_told_to_programs_that_ask(
    table: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(release_of(table, tmp_path / "a.dph.parquet")) == 0
    assert "progress" not in capsys.readouterr().err
    monkeypatch.setenv("DPHEATMAP_PROGRESS", "json")
    assert run(release_of(table, tmp_path / "b.dph.parquet")) == 0
    assert '{"progress": 0.0, "what": "Releasing"}' in capsys.readouterr().err.splitlines()


def test_errors_are_the_commands_own(program: str, table: str, tmp_path: Path) -> None:
    said = list[str]()
    wrong = [part.replace("--user=person", "--user=nobody") for part in release_of(table, tmp_path / "a.dph.parquet")]
    with pytest.raises(command.CommandError, match=r"^There is no user column 'nobody'") as caught:
        command.run_command(program, wrong, said.append)
    assert not str(caught.value).startswith("Error")
    assert not any("nobody" in line for line in said), "it is told once"
    with pytest.raises(command.CommandError, match="No such option"):
        command.run_command(program, ["release", "--sideways"], said.append)
    assert list(tmp_path.iterdir()) == []


def test_a_cancelled_command_ends_and_leaves_nothing(program: str, tmp_path: Path) -> None:
    """The user cancels when the command has begun to read; it ends as by Ctrl-C."""
    large = tmp_path / "large.csv"
    generated_people(200_000).write_csv(str(large))
    begun = list[float]()
    start = time.monotonic()
    with pytest.raises(command.CancelledError):
        command.run_command(
            program,
            release_of(str(large), tmp_path / "a.dph.parquet"),
            lambda line: None,
            begun.append,
            lambda: bool(begun),
        )
    assert time.monotonic() - start < 60
    assert [path.name for path in tmp_path.iterdir()] == ["large.csv"]


def test_an_answer_that_is_none_is_told(tmp_path: Path) -> None:
    other = tmp_path / "dpheatmap"
    other.write_text("#!/bin/sh\necho hello\n")
    other.chmod(0o755)
    with pytest.raises(command.CommandError, match="no answer that can be read"):
        command.run_command(str(other), [])
    other.write_text("#!/bin/sh\nexit 7\n")
    with pytest.raises(command.CommandError, match="exit code 7"):
        command.run_command(str(other), [])


def test_the_zip_is_what_qgis_installs(tmp_path: Path) -> None:
    for name in ("one", "two"):
        subprocess.run([ROOT / "scripts/qgis", str(tmp_path / name)], check=True, capture_output=True)
    (made,), (again,) = (list((tmp_path / name).iterdir()) for name in ("one", "two"))
    assert made.name == f"dpheatmap_processing-{dph.__version__}.zip"
    assert made.read_bytes() == again.read_bytes()
    with zipfile.ZipFile(made) as packed:
        names = packed.namelist()
        metadata = packed.read("dpheatmap_processing/metadata.txt").decode()
    assert {name.split("/")[0] for name in names} == {"dpheatmap_processing"}
    assert {"__init__.py", "LICENSE", "icon.svg", "metadata.txt"} <= {name.split("/")[1] for name in names}
    for key in ("name", "qgisMinimumVersion", "description", "about", "author", "hasProcessingProvider"):
        assert re.search(rf"^{key}=.", metadata, re.MULTILINE), key
    assert f"version={dph.__version__}\n" in metadata


def test_the_plugin_imports_nothing_of_ours() -> None:
    """QGIS has a Python of its own, without dpheatmap."""
    for path in PLUGIN.glob("*.py"):
        assert not re.search(r"^\s*(import|from) dpheatmap\b", path.read_text(), re.MULTILINE), path.name
