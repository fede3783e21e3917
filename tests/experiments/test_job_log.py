"""A killed run goes on where it stopped."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dpheatmap.evaluate.scores import Scores
from dpheatmap.experiments.job_log import SCORES, JobLog

ABOUT = {"study": "comparison", "seed": 0}
FIRST = {"paper": Scores(0.1, 1 / 3, 2e-300, 7.0)}
SECOND = {"paper": Scores(0.2, 0.3, 0.4, 0.5), "hb": Scores(1.0, 0.0, -0.0, 1e300)}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "comparison.jobs.jsonl"
    with JobLog(path, ABOUT, *SCORES) as record:
        record.add("a", FIRST)
        record.add("b", SECOND)
    return path


def test_what_was_added_is_there_again_to_the_last_bit(path: Path) -> None:
    with JobLog(path, ABOUT, *SCORES) as record:
        assert record.results == {"a": FIRST, "b": SECOND}


@pytest.mark.parametrize("cut", [1, 20, 60])
def test_a_line_cut_off_by_a_kill_is_left_out(path: Path, cut: int) -> None:
    path.write_text(path.read_text()[:-cut] if cut > 1 else path.read_text()[:-2])
    with JobLog(path, ABOUT, *SCORES) as record:
        assert record.results == {"a": FIRST}
        record.add("b", SECOND)
    with JobLog(path, ABOUT, *SCORES) as record:
        assert record.results == {"a": FIRST, "b": SECOND}


def test_results_are_on_disk_before_the_record_is_closed(path: Path) -> None:
    with JobLog(path, ABOUT, *SCORES) as record:
        record.add("c", FIRST)
        assert json.loads(path.read_text().splitlines()[-1])["job"] == "c"


def test_the_record_of_another_run_is_set_aside(path: Path) -> None:
    old = path.read_text()
    with JobLog(path, {**ABOUT, "seed": 1}, *SCORES) as record:
        assert record.results == {}
    assert path.with_suffix(".jsonl.old").read_text() == old
