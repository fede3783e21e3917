"""Ctrl-C ends a command with one line, however early it comes; the signal is raised where a named module is loaded."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from helpers import ROOT

INTERRUPT = """
import os, signal, sys

def interrupt(event, arguments):
    if event == "import" and arguments[0] == os.environ["INTERRUPTED_AT"]:
        os.environ["INTERRUPTED_AT"] = ""
        signal.raise_signal(signal.SIGINT)

sys.addaudithook(interrupt)
"""


def interrupted(folder: Path, command: list[str], module: str) -> subprocess.CompletedProcess[str]:
    (folder / "sitecustomize.py").write_text(INTERRUPT)
    paths = os.pathsep.join([str(folder), str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])
    env = {**os.environ, "PYTHONPATH": paths, "INTERRUPTED_AT": module}
    return subprocess.run([sys.executable, *command], env=env, capture_output=True, text=True)


def script(folder: Path) -> list[str]:
    """The command as installers write it, from the project's own entry point."""
    entry = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["scripts"]["dpheatmap"]
    module, function = entry.split(":")
    path = folder / "dpheatmap"
    path.write_text(f"import sys\nfrom {module} import {function}\nsys.exit({function}())\n")
    return [str(path)]


@pytest.mark.parametrize("way", ["module", "script"])
@pytest.mark.parametrize("module", ["dpheatmap.errors", "numpy", "dpheatmap.planning.plans", "click.types",
                                    "dpheatmap.cli.shared_options"])  # fmt: skip
def test_one_line_and_130_wherever_it_is_loading(tmp_path: Path, way: str, module: str) -> None:
    command = ["-m", "dpheatmap"] if way == "module" else script(tmp_path)
    ended = interrupted(tmp_path, [*command, "plan", "--epsilon", "1", "--users", "100", "--unit"], module)
    assert ended.stderr == "\nInterrupted; nothing half-written was left behind.\n"
    assert (ended.returncode, ended.stdout) == (130, "")


def test_programs_that_use_the_library_are_interrupted_as_they_like(tmp_path: Path) -> None:
    (tmp_path / "theirs.py").write_text("try:\n import dpheatmap\nexcept KeyboardInterrupt:\n print('theirs')")
    for command in (["-m", "theirs"], [str(tmp_path / "theirs.py")]):
        ended = interrupted(tmp_path, command, "dpheatmap._util.lazy")
        assert (ended.returncode, ended.stdout, ended.stderr) == (0, "theirs\n", "")


def test_a_signal_that_is_ignored_stays_ignored(tmp_path: Path) -> None:
    """As of a command that a shell runs in the background."""
    quiet = f"import os, signal, sys; signal.signal({int(signal.SIGINT)}, signal.SIG_IGN); os.execv(sys.executable, "
    command = [sys.executable, "-m", "dpheatmap", "--version"]
    ended = interrupted(tmp_path, ["-c", f"{quiet}{command!r})"], "numpy")
    assert (ended.returncode, ended.stderr) == (0, "")
    assert ended.stdout.startswith("dpheatmap, version ")
