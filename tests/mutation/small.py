"""Mutants of a project of two lines, with their controls, in a folder: prints what became of them, and the report."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from mutation import mutants
from mutation.mutants import Mutant
from mutation.record import Record, report
from mutation.trials import Trial, Trials, control, in_a_process

MODULE = "half.py"
PROJECT = {
    f"src/dpheatmap/{MODULE}": "TWO = 2\n\n\ndef half(number):\n    return number // TWO\n",
    "src/dpheatmap/__init__.py": "",
    "tests/test_half.py": """
from dpheatmap.half import half

def test_a_number():
    assert half(8) == 4

def test_whatever_happens():
    raise AssertionError
""",
}
CHANGES = {1: ("TWO = 2", "TWO = 3"), 5: ("number // TWO", "number * TWO")}
"""By the line that is changed; the first runs at import, the other when it is called."""

GOOD, BAD = "tests/test_half.py::test_a_number", "tests/test_half.py::test_whatever_happens"
TRIALS = [
    Trial(Mutant(MODULE, "noticed at import", 0, 1), {GOOD: 0.0, BAD: 0.0}),
    Trial(Mutant(MODULE, "noticed", 0, 5), {GOOD: 0.0, BAD: 0.0}),
    Trial(Mutant(MODULE, "not noticed", 0, 5), {BAD: 0.0}),
    Trial(Mutant(MODULE, "not met", 0, 5), {}),
]


def changed(mutant: Mutant) -> str:
    """In place of cosmic-ray, which is installed for mutation testing alone."""
    return mutants.original(MODULE).replace(*CHANGES[mutant.line])


def main(folder: Path) -> None:
    """Try the mutants, then the controls of those that were killed."""
    for name, text in PROJECT.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    mutants.PACKAGE = folder.parent / "original"
    mutants.PACKAGE.mkdir()
    (mutants.PACKAGE / MODULE).write_text(PROJECT[f"src/dpheatmap/{MODULE}"])
    mutants._changed = changed  # type: ignore[assignment]
    reach: Any = SimpleNamespace(at_import=lambda module, line: line == 1)

    def tried(trials: list[Trial], file: str) -> Record:
        plugin: Callable[[], object] = partial(Trials, folder, trials, reach, Record(folder.parent / file).add)
        assert os.waitpid(in_a_process(folder, ["tests/test_half.py"], plugin), 0)[1] == 0
        return Record(folder.parent / file)

    record = tried(TRIALS, "fates.jsonl")
    kills = record.kills(again=False)
    repeated = [control(trial.mutant, trial.tests, kills[trial.mutant]) for trial in TRIALS if trial.mutant in kills]
    controls = tried(repeated, "controls.jsonl")
    for name, noted in {"mutants": record, "controls": controls}.items():
        print(json.dumps({name: {mutant.operator: fates[0][:2] for mutant, fates in noted.fates.items()}}))
    report({MODULE: [trial.mutant for trial in TRIALS]}, record, controls)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
