"""A test that fails with nothing changed kills no mutant: its control finds that out."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from mutation.small import BAD, GOOD


def test_a_control_finds_kills_that_were_not_by_the_mutant(tmp_path: Path) -> None:
    program = Path(__file__).with_name("small.py")
    environment = {**os.environ, "PYTHONPATH": str(program.parent.parent)}
    command = [sys.executable, str(program), str(tmp_path / "copy")]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    mutants, controls, *report = done.stdout.splitlines()
    assert json.loads(mutants)["mutants"] == {
        "noticed at import": ["killed", GOOD],
        "noticed": ["killed", GOOD],
        "not noticed": ["killed", BAD],
        "not met": ["survived", ""],
    }
    assert json.loads(controls)["controls"] == {
        "noticed at import": ["survived", GOOD],
        "noticed": ["survived", GOOD],
        "not noticed": ["killed", BAD],
    }
    assert report[2] == "| `half.py` | 4 | 3 | 2 | 2 |"  # of those left, one lives
    assert "Of 3 kills repeated with nothing changed, 1 came again." in report
    assert [line.split(":")[0] for line in report if line.startswith("-")] == [
        "- false `half.py",
        "- survived `half.py",
    ]
