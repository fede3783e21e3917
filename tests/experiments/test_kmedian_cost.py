"""The k-median experiment: its jobs, what its findings would tell, and a whole run on few invented people."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from dpheatmap.evaluate.scores import mean_of
from dpheatmap.experiments import kmedian_cost as kmedian
from dpheatmap.experiments.figures import Sources
from dpheatmap.experiments.kmedian_cost import (
    EPSILONS,
    ESTIMATES,
    KS,
    RIVAL,
    Costs,
    Job,
    Ratios,
    case,
    findings,
    run_job,
)


def made_up(added: dict[str, float], power: float = 0.5) -> Costs:
    """Costs that privacy adds ``k ** power`` times a method's part to."""
    costs = {case("true", "", k): 1 / k for k in KS}
    for name, part in added.items():
        costs |= {case(name, e, k): 1 / k + part * k**power for e in EPSILONS for k in KS}
    return costs


def test_ratios_growth_and_bands() -> None:
    runs = [made_up({"ladder": part}) for part in (0.001, 0.003)]
    ratios = Ratios(runs, 2000)
    assert ratios.ratio("ladder", "1", 2).mean == pytest.approx(1 + 0.002 * 2**0.5 * 2)
    assert ratios.added_cost("ladder", "1", 2) == pytest.approx(mean_of([0.001 * 2**0.5, 0.003 * 2**0.5]))
    assert ratios.growth("ladder", "1") == pytest.approx((0.5, 0.5, 0.5))
    assert Ratios([made_up({"ladder": 0.01}, 1.0)], 1).growth("ladder", "2") == pytest.approx((1, 1, 1))
    uneven = Ratios([made_up({"ladder": 0.01}, power) for power in (0.2, 0.8, 1.4)], 3).growth("ladder", "2")
    assert uneven[1:] == pytest.approx((0.2, 1.4))
    assert uneven.low < uneven.power < uneven.high
    assert len(ratios.rows()) == len(EPSILONS) * len(KS)


def test_findings_tell_a_miss_and_a_better_rival() -> None:
    good = findings(Ratios([made_up({"ladder": 0.001, "paper": 0.01}, 0.4)], 2000))
    assert [finding.held for finding in good] == [True, True, True]
    bad = findings(Ratios([made_up({"ladder": 0.1, "paper": 0.01}, 0.9)], 2000))
    assert [finding.held for finding in bad] == [False, False, False]


def test_jobs_take_cells_with_enough_people() -> None:
    found, _ = kmedian.jobs(Sources(invented=True), 0)
    assert {job.people for job in found} == {600}
    assert len({job.key for job in found}) == len(found) == 30


def test_one_job_costs_more_than_without_privacy_and_repeats(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kmedian, "KS", (2, 5))
    monkeypatch.setattr(kmedian, "EPSILONS", ("1",))
    place = Sources(invented=True).cities().places[0]
    costs = run_job(Job(place, 500, 1, None))
    assert costs == run_job(Job(place, 500, 1, None))
    assert set(costs) == {case("true", "", k) for k in (2, 5)} | {case(n, "1", k) for n in ESTIMATES for k in (2, 5)}
    assert costs[case("true", "", 5)] < costs[case("true", "", 2)]
    assert all(costs[case(n, "1", k)] >= 0.99 * costs[case("true", "", k)] for n in ESTIMATES for k in (2, 5))


def test_each_person_gives_one_event() -> None:
    place = Sources(invented=True).cities().places[0]
    job = Job(place, 300, 1, None)
    points = kmedian._one_event_each(job, np.random.default_rng(0))
    assert points.shape == (300, 2)
    where = {(x, y): user for user, x, y in zip(place.user.tolist(), place.x.tolist(), place.y.tolist(), strict=True)}
    assert len({where[x, y] for x, y in points.tolist()}) == 300


def test_a_rival_is_another_python(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A stand-in for diffprivlib's environment, which the tests don't build: same task, same answer's shape."""
    (tmp_path / "diffprivlib").mkdir()
    (tmp_path / "diffprivlib/__init__.py").write_text("")
    (tmp_path / "diffprivlib/models.py").write_text(
        "class KMeans:\n"
        "    def __init__(self, k, *, epsilon, bounds, random_state): self.k = k\n"
        "    def fit(self, points): self.cluster_centers_ = points[: self.k]; return self\n"
    )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    points = np.random.default_rng(1).random((50, 2))
    found = kmedian._of_diffprivlib(sys.executable, points, 3)
    assert list(found) == list(EPSILONS)
    assert found["1"]["5"] == points[:5].tolist()
    assert RIVAL in kmedian.TITLES


def test_a_whole_run_goes_on_from_its_record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Recorded costs are not computed again; figure, table and words are written."""
    monkeypatch.delenv(kmedian.VARIABLE, raising=False)
    monkeypatch.setattr(kmedian, "run_job", made_up_job)
    sources = Sources(invented=True)
    said: list[str] = []
    outcome = kmedian.run_kmedian(sources, tmp_path, workers=1, say=said.append)
    assert [path.name for path in outcome.files] == ["kmedian.png", "kmedian.csv", "kmedian.txt"]
    assert all(path.stat().st_size > 500 for path in outcome.files)
    assert any("scripts/diffprivlib" in line for line in said)
    monkeypatch.setattr(kmedian, "run_job", None)
    again = kmedian.run_kmedian(sources, tmp_path, workers=1)
    assert again.findings == outcome.findings


def made_up_job(job: Job) -> Costs:
    return made_up({"ladder": 0.001 + 1e-5 * len(job.key), "paper": 0.01})
