"""The two studies of our own method: their jobs, and that their findings would tell."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np
import pytest

from dpheatmap.evaluate.method_variants import EVERY_METHOD, RIVALS_WITH_POSTERIOR
from dpheatmap.evaluate.peers import PEERS
from dpheatmap.evaluate.scores import METRICS, Mean, Scores
from dpheatmap.experiments import ablation, rival_methods
from dpheatmap.experiments import epsilon as comparison
from dpheatmap.experiments.figures import Sources
from dpheatmap.experiments.study import Job, Results


@pytest.fixture(scope="module")
def jobs() -> list[Job]:
    return rival_methods.STUDY.jobs(Sources(invented=True))[0]


def made_up(jobs: list[Job], error: Callable[[Job, str], float]) -> Results:
    """Results of which all metrics have the same error; 1 - error for those of which more is better."""

    def scores(value: float) -> Scores:
        return Scores(*(1 - value if metric.more_is_better else value for metric in METRICS))

    return {job.key: {name: scores(error(job, name)) for name in job.methods} for job in jobs}


def test_jobs_are_told_apart_and_have_enough_to_see(jobs: list[Job]) -> None:
    assert len({job.key for job in jobs}) == len(jobs)
    assert {job.panel.split(",")[0] for job in jobs} == {"cities", "gaze", "football", "mixtures"}
    assert all(job.people * job.epsilon >= 20 for job in jobs)
    assert all(name in EVERY_METHOD for job in jobs for name in job.methods)


def test_no_finding_without_a_difference(jobs: list[Job]) -> None:
    """Noise alone: with Holm's correction a false alarm has a probability of 5 %, and this seed has none."""
    rng = np.random.default_rng(1)
    found = rival_methods.STUDY.judge(jobs, made_up(jobs, lambda job, name: float(rng.normal(0.5, 0.1))))
    assert [finding.held for finding in found] == [True, True]


@pytest.mark.parametrize(("rival", "which"), [("privtree", 0), ("grid-posterior", 1)])
def test_a_better_rival_is_found_in_the_place_where_it_is_better(jobs: list[Job], rival: str, which: int) -> None:
    rng = np.random.default_rng(2)

    def error(job: Job, name: str) -> float:
        better = name == rival and job.panel.startswith("cities, 500") and job.at == 5
        return float(rng.normal(0.5 - 0.3 * better, 0.05))

    found = rival_methods.STUDY.judge(jobs, made_up(jobs, error))
    assert [finding.held for finding in found] == [which != 0, which != 1]
    assert found[which].evidence.count("cities, 500 people at 5 by " + EVERY_METHOD[rival].title) == 4


def test_the_verdict_names_every_rival_that_was_tried_and_its_year(jobs: list[Job]) -> None:
    as_written, with_posterior = rival_methods.STUDY.judge(jobs, made_up(jobs, lambda job, name: 0.5))
    for peer in PEERS:
        assert f"{peer.title} ({peer.reference})" in as_written.evidence
    assert "Paper's algorithm (Ghazi et al. 2023)" in as_written.evidence
    for method in RIVALS_WITH_POSTERIOR:
        assert method.title in with_posterior.evidence


def test_every_rival_has_a_year() -> None:
    assert all(re.search(r"\b(19|20)\d\d\b", reference) for reference in rival_methods.REFERENCES.values())
    assert set(rival_methods.REFERENCES) == set(rival_methods.THEIRS)


def line(error: float) -> dict[float, dict[str, Mean]]:
    return {at: {m.name: Mean(error, 0.01, 9) for m in METRICS} for at in (0.1, 0.5, 1.0, 2.0, 5.0, 10.0)}


def test_a_part_that_is_better_left_out_is_told() -> None:
    same = {name: line(0.1) for name in ablation.METHODS}
    assert ablation.findings({"cities": same})[0].held
    better = {**same, "no-finish": line(0.08)}
    told = ablation.findings({"cities": better})[0]
    assert not told.held
    assert "No finished cells: EMD -20%, KL -20%" in told.evidence


def test_half_the_error_is_judged_by_each_bar() -> None:
    def held(ours: float, papers: float, privtrees: float) -> str:
        series = {"ladder": line(ours), "paper": line(papers), "privtree": line(privtrees)}
        return comparison._half_the_error(series).evidence

    assert held(0.1, 0.4, 0.2).startswith("missed: none")
    assert "KL at 0.5" in held(0.1, 0.3, 0.2)
    assert "EMD at 10" in held(0.1, 0.17, 0.2)
    assert "PrivTree's EMD at 1," in held(0.1, 0.4, 0.11)
    assert "PrivTree's EMD at 0.5" not in held(0.1, 0.4, 0.11)
