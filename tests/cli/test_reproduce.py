"""``dpheatmap reproduce``: the paper's experiments from the command line."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from dpheatmap.cli import run
from dpheatmap.experiments import figures
from dpheatmap.experiments.figures import FIGURES, STUDIES, Sources
from dpheatmap.experiments.populations import Dataset
from dpheatmap.experiments.report import report
from dpheatmap.experiments.study import Data, Job
from dpheatmap.experiments.study_runner import run_gallery


def test_a_gallery_of_invented_people(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["reproduce", "maps", "--invented", "--folder", str(tmp_path / "new" / "folder"), "--json"]) == 0
    out, err = capsys.readouterr()
    written = [Path(path) for path in json.loads(out)["outputs"]]
    assert [path.name for path in written] == ["maps.png", "maps.csv", "maps.txt", "report.md"]
    assert all(path.stat().st_size > 100 for path in written)
    assert "no evidence for any claim" in err
    assert "the paper's algorithm gives the map nearest to the original" in err


def test_a_study_in_short(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """The whole way of a study, with fewer jobs: what it says without a terminal, and that it goes on when repeated."""
    whole = STUDIES["comparison"].jobs

    def few(data: Data) -> tuple[list[Job], Dataset]:
        """All epsilons on one place, of 64 x 64 cells."""
        jobs, dataset = whole(data)
        return [replace(job, place=job.place.at_depth(6)) for job in jobs[:6]], dataset

    study = STUDIES["comparison"]
    monkeypatch.setitem(figures.STUDIES, "comparison", replace(study, jobs=few))
    command = ["reproduce", "comparison", "--invented", "--folder", str(tmp_path), "--workers", "1"]
    assert run(command) == 0
    out, err = capsys.readouterr()
    assert "comparison: 6 of 6 runs" in err
    assert [Path(line).name for line in out.splitlines()] == [
        "comparison.png", "comparison-rivals.png", "comparison.csv", "comparison.txt", "report.md",
    ]  # fmt: skip
    table = (tmp_path / "comparison.csv").read_text()
    assert run(command) == 0
    assert "runs," not in capsys.readouterr().err
    assert (tmp_path / "comparison.csv").read_text() == table


def test_the_report_has_every_claim_and_figure(tmp_path: Path) -> None:
    outcome = run_gallery(figures.GALLERIES["gaze-maps"], Sources(invented=True), tmp_path)
    finding = outcome.findings[0]
    ours = finding._replace(claim="something else", held=False, ours=True)
    found = [finding._replace(held=True), finding._replace(held=False), ours]
    text = report([outcome._replace(findings=found)])
    assert text.startswith("1 of the paper's 2 claims held.")
    assert text.count(finding.claim) == 4
    assert text.count(ours.claim) == 2
    assert "(gaze-maps.png)" in text
    assert "| **not held** |" in text
    assert outcome.data in text


def test_a_missing_matplotlib_is_told_before_anything_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    assert run(["reproduce", "comparison", "--invented", "--folder", str(tmp_path / "figures")]) == 1
    assert "pip install 'dpheatmap[plot]'" in capsys.readouterr().err
    assert not (tmp_path / "figures").exists()


def test_an_unknown_figure_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["reproduce", "figure-7"]) == 2
    assert f"{', '.join(FIGURES)} or all" in capsys.readouterr().err
    assert {"comparison", "bounds", "kmedian", "shuffle", "local", "gaze-maps"} < set(FIGURES)
    assert len(FIGURES) == 13


def test_without_data_it_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("DPHEATMAP_DATA", str(tmp_path / "nowhere"))
    assert run(["reproduce", "maps", "--folder", str(tmp_path)]) == 3
    assert "DPHEATMAP_DATA" in capsys.readouterr().err
    assert run(["reproduce", "maps", "--folder", str(tmp_path), "--snap", str(tmp_path)]) == 3
    assert "oc-gowalla_totalCheckins.txt" in capsys.readouterr().err
