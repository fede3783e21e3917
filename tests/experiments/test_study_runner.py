"""Running a study: resumable, the same on any number of cores, and whole files at the end."""

from __future__ import annotations

import csv
import signal
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from dpheatmap.evaluate.score_table import Series
from dpheatmap.experiments import study_runner as running
from dpheatmap.experiments.populations import Dataset, Place
from dpheatmap.experiments.study import Data, Finding, Job, Study, run_job
from dpheatmap.experiments.study_runner import run_study
from dpheatmap.place.domain import Domain

EPSILONS = (1, 4)


class Invented:
    """Two places of invented people."""

    def cities(self) -> Dataset:
        rng = np.random.default_rng(0)
        places = [
            Place(f"place {k}", Domain.unit(4), np.arange(300) % 60, rng.beta(2, 5, 300), rng.beta(5, 2, 300))
            for k in range(2)
        ]
        return Dataset(tuple(places), "invented people", stand_in=True, notes=("Nobody of these exists.",))

    gaze = football = cities


def jobs(data: Data) -> tuple[list[Job], Dataset]:
    cities = data.cities()
    methods = ("paper", "baseline", "top-0.001", "top-0.01", "top-0.1", "top-1", "privtree")
    return [
        Job("a panel", epsilon, place, trial, 40, Fraction(epsilon), methods, 0.05)
        for place in cities.places
        for trial in range(2)
        for epsilon in EPSILONS
    ], cities


def findings(panels: dict[str, Series]) -> list[Finding]:
    emd = panels["a panel"]["paper"][4.0]["emd"].mean
    return [Finding("more epsilon helps", emd < panels["a panel"]["paper"][1.0]["emd"].mean, f"EMD {emd:.3f}")]


STUDY = Study("little", "A little study", "epsilon", jobs, findings)


def test_what_a_study_writes(tmp_path: Path) -> None:
    said: list[str] = []
    ticks: list[tuple[int, int]] = []
    outcome = run_study(
        STUDY,
        Invented(),
        tmp_path,
        workers=1,
        say=said.append,
        progress=lambda done, total, _: ticks.append((done, total)),
    )
    names = ["little-a-panel.png", "little-a-panel-rivals.png", "little.csv", "little.txt"]
    assert [path.name for path in outcome.files] == names
    assert said == ["Nobody of these exists."]
    assert ticks == [(k, 8) for k in range(1, 9)]
    lines = (tmp_path / "little.csv").read_text().splitlines()
    assert lines[:2] == ["# A little study", "# invented people"]
    rows = list(csv.DictReader(lines[2:]))
    assert len(rows) == 7 * len(EPSILONS)
    assert {row["runs"] for row in rows} == {"4"}
    text = (tmp_path / "little.txt").read_text()
    assert text.startswith("A little study. Data: invented people. ")
    assert ": more epsilon helps (EMD 0." in text
    with Image.open(outcome.figures[0]) as picture:
        assert picture.size[0] > 1500


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("whole")
    run_study(STUDY, Invented(), folder, workers=1)
    return (folder / "little.csv").read_text()


def test_the_same_on_two_cores(tmp_path: Path, whole: str) -> None:
    run_study(STUDY, Invented(), tmp_path, workers=2)
    assert (tmp_path / "little.csv").read_text() == whole


def test_another_seed_gives_other_results(tmp_path: Path, whole: str) -> None:
    run_study(STUDY, Invented(), tmp_path, workers=1, seed=1)
    assert (tmp_path / "little.csv").read_text() != whole


def test_a_stopped_run_goes_on_where_it_was(tmp_path: Path, whole: str, monkeypatch: pytest.MonkeyPatch) -> None:
    ran: list[str] = []

    def stopping(task: tuple[int, Job]) -> object:
        if len(ran) == 3:
            raise KeyboardInterrupt
        ran.append(task[1].key)
        return run_job(task)

    monkeypatch.setattr(running, "run_job", stopping)
    with pytest.raises(KeyboardInterrupt):
        run_study(STUDY, Invented(), tmp_path, workers=1)
    assert not (tmp_path / "little.csv").exists()
    first, ran[:] = set(ran), ["begin again"] * 4
    run_study(STUDY, Invented(), tmp_path, workers=1)
    assert len(ran) == 4 + 5
    assert first.isdisjoint(ran[4:])
    assert (tmp_path / "little.csv").read_text() == whole


def test_a_killed_run_goes_on_where_it_was(tmp_path: Path, whole: str) -> None:
    """kill -9 in the middle, then the same study again."""
    code = (
        "import os, signal, sys; sys.path[:0] = sys.argv[2:]\n"
        "from pathlib import Path\n"
        "from dpheatmap.experiments import study_runner as running\n"
        "from test_study_runner import STUDY, Invented, run_job, run_study\n"
        "begun = []\n"
        "def killed(task):\n"
        "    begun.append(task)\n"
        "    return run_job(task) if len(begun) < 4 else os.kill(os.getpid(), signal.SIGKILL)\n"
        "running.run_job = killed\n"
        "run_study(STUDY, Invented(), Path(sys.argv[1]), workers=1)\n"
    )
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path), str(Path(__file__).parent)])
    assert done.returncode == -signal.SIGKILL
    assert len((tmp_path / "little.jobs.jsonl").read_text().splitlines()) == 1 + 3
    ticks: list[int] = []
    run_study(STUDY, Invented(), tmp_path, workers=1, progress=lambda done, total, _: ticks.append(done))
    assert ticks == [4, 5, 6, 7, 8]
    assert (tmp_path / "little.csv").read_text() == whole
