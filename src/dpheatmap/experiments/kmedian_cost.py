"""The cost of privacy in k-median: how much more do private places cost than the best without privacy?

A person's cost is the L1 distance to the nearest centre, in sides of the city cell, averaged over their events. Each
method estimates where people are, and the same solver finds centres on the estimate; diffprivlib's k-means finds its
own. The centres are judged on the true people and compared with the solver's centres on the true people.

diffprivlib runs in an environment of its own, because it breaks on current versions of scikit-learn:
``scripts/diffprivlib`` makes it, and the variable DPHEATMAP_DIFFPRIVLIB names its Python. It protects rows, so it is
given one event of each person, drawn at random, and the corners of the cell.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from importlib import resources
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from dpheatmap import __version__
from dpheatmap.estimate.places import weighted_points
from dpheatmap.evaluate.ground_truth import true_distribution
from dpheatmap.evaluate.methods import METHODS
from dpheatmap.evaluate.scores import Mean, mean_of
from dpheatmap.evaluate.trial import seed_of
from dpheatmap.experiments.job_log import JobLog
from dpheatmap.experiments.populations import Dataset, Place
from dpheatmap.experiments.study import Data, Finding
from dpheatmap.experiments.study_runner import Outcome, Progress, run_missing, save_figure, write_outcome
from dpheatmap.place.domain import Floats

NAME, TITLE = "kmedian", "k-median: the cost of private places beside that without privacy"
VARIABLE = "DPHEATMAP_DIFFPRIVLIB"
PEOPLE = 2000
KS = (2, 5, 10, 20)
EPSILONS = ("0.5", "1", "2", "5")
ESTIMATES = ("ladder", "paper", "uniform-grid", "privtree")
RIVAL = "diffprivlib"
TITLES = {
    "ladder": "ours",
    "paper": "the paper's",
    "privtree": "PrivTree",
    "uniform-grid": "uniform grid",
    RIVAL: "diffprivlib's k-means",
}
BAR = 1.10
MOST_CELLS = 30_000


@dataclass(frozen=True, eq=False)
class Job:
    """One draw of people from a place: all methods, epsilons and numbers of centres on it."""

    place: Place
    people: int
    seed: int
    rival: str | None

    @property
    def key(self) -> str:
        """The key of the job."""
        return self.place.name


Costs = dict[str, float]
"""Costs by method, epsilon and number of centres, keyed by :func:`case`."""


def case(method: str, epsilon: str, k: int) -> str:
    """The key of a cost; without privacy, the method is "true" and there is no epsilon."""
    return f"{method}/{epsilon}/{k}"


def run_job(job: Job) -> Costs:
    """Compute the true costs of each method's centres."""
    from dpheatmap.estimate.median import k_median

    rng = np.random.default_rng(seed_of(job.seed, NAME, job.key))
    counts = job.place.sample(job.people, rng)
    x, y, weight = weighted_points(true_distribution(counts))

    def cost(centres: Floats) -> float:
        away = np.abs(x[:, None] - centres[:, 0]) + np.abs(y[:, None] - centres[:, 1])
        return float(np.average(away.min(axis=1), weights=weight))

    found = {case("true", "", k): cost(k_median(x, y, weight, k)[0]) for k in KS}
    for name, epsilon in product(ESTIMATES, EPSILONS):
        estimate = METHODS[name].estimate(counts, Fraction(epsilon), seed_of(job.seed, job.key, name, epsilon))
        fine = len(estimate.mass) > MOST_CELLS  # a grid lists every finest cell, far finer than its own
        points = weighted_points(estimate.coarser(estimate.domain.depth - 1) if fine else estimate)
        found |= {case(name, epsilon, k): cost(k_median(*points, k)[0]) for k in KS}
    if job.rival is not None:
        drawn = _one_event_each(job, rng)
        made = _of_diffprivlib(job.rival, drawn, seed_of(job.seed, job.key, RIVAL) % 2**31)
        found |= {case(RIVAL, e, k): cost(np.array(made[e][str(k)])) for e, k in product(EPSILONS, KS)}
    return found


def _one_event_each(job: Job, rng: np.random.Generator) -> Floats:
    """One random event of each of the people whom the job draws."""
    place, drawn = job.place, np.zeros(job.place.people, bool)
    again = np.random.default_rng(seed_of(job.seed, NAME, job.key))
    drawn[again.choice(place.people, job.people, replace=False)] = True
    mine = rng.permutation(np.flatnonzero(drawn[place.user]))
    _, first = np.unique(place.user[mine], return_index=True)
    return np.stack([place.x[mine[first]], place.y[mine[first]]], axis=1)


def _of_diffprivlib(python: str, points: Floats, seed: int) -> dict[str, dict[str, list[list[float]]]]:
    """The centres of diffprivlib's k-means by epsilon and k, from a process of its own."""
    script = resources.files("dpheatmap.experiments").joinpath("diffprivlib_kmeans.py").read_text(encoding="utf-8")
    task = {"points": points.tolist(), "epsilons": EPSILONS, "ks": KS, "seed": seed}
    out = subprocess.run([python, "-c", script], input=json.dumps(task), capture_output=True, text=True, check=True)
    made: dict[str, dict[str, list[list[float]]]] = json.loads(out.stdout)
    return made


def jobs(data: Data, seed: int) -> tuple[list[Job], Dataset]:
    """The jobs: the cells with enough people."""
    cities = data.cities()
    rival = os.environ.get(VARIABLE)
    people = min(PEOPLE, max(place.people for place in cities.places))
    large = [place for place in cities.places if place.people >= people]
    return [Job(place, people, seed, rival) for place in large], cities


class Growth(NamedTuple):
    """The exponent a of added cost ~ k^a, and its 95 % interval."""

    power: float
    low: float
    high: float


_RESAMPLED = 2000


class Ratios:
    """Costs of all jobs, as ratios to the cost without privacy and as additions to it."""

    def __init__(self, costs: Sequence[Costs], people: int) -> None:
        self._costs = costs
        self.people = people
        self.runs = len(costs)
        self.methods = [name for name in TITLES if case(name, "1", KS[0]) in costs[0]]

    def ratio(self, method: str, epsilon: str, k: int) -> Mean:
        """The ratio of the cost to that without privacy."""
        return mean_of([one[case(method, epsilon, k)] / one[case("true", "", k)] for one in self._costs])

    def added_cost(self, method: str, epsilon: str, k: int) -> Mean:
        """The cost added by privacy, in sides."""
        return mean_of([one[case(method, epsilon, k)] - one[case("true", "", k)] for one in self._costs])

    def growth(self, method: str, epsilon: str) -> Growth:
        """Fit the growth of the added cost with k, by least squares on logarithms of its means.

        The interval comes from runs drawn with replacement (bootstrap): the added cost of few places is small compared
        with its own error, and the exponent depends on it.
        """
        added = np.array(
            [[one[case(method, epsilon, k)] - one[case("true", "", k)] for k in KS] for one in self._costs]
        )
        drawn = np.random.default_rng(0).integers(self.runs, size=(_RESAMPLED, self.runs))
        means = np.vstack([added.mean(axis=0), added[drawn].mean(axis=1)])
        powers = np.polyfit(np.log(KS), np.log(np.maximum(means, 1e-9)).T, 1)[0]
        low, high = np.quantile(powers[1:], [0.025, 0.975])
        return Growth(float(powers[0]), float(low), float(high))

    def rows(self) -> list[dict[str, Any]]:
        """One row a method, epsilon and k."""
        return [
            {"method": method, "epsilon": float(epsilon), "k": k, "runs": self.runs, "ratio": ratio.mean,
             "ratio_95": ratio.half_width, "added": added.mean, "added_95": added.half_width}
            for method, epsilon, k in product(self.methods, EPSILONS, KS)
            for ratio, added in [(self.ratio(method, epsilon, k), self.added_cost(method, epsilon, k))]
        ]  # fmt: skip


def findings(ratios: Ratios) -> list[Finding]:
    """The findings: our requirement, the rivals, and the growth of the added cost with k."""
    ratio, half, _ = ratios.ratio("ladder", "1", 10)
    found = [
        Finding(
            f"at epsilon 1, {ratios.people} people and k = 10 private places cost at most {BAR:.2f} of the others",
            ratio <= BAR,
            f"{ratio:.3f} ± {half:.3f}",
            ours=True,
        )
    ]
    for name in ratios.methods[1:]:
        better = sum(
            ratios.ratio("ladder", epsilon, k).mean <= ratios.ratio(name, epsilon, k).mean
            for epsilon, k in product(EPSILONS, KS)
        )
        theirs = ratios.ratio(name, "1", 10).mean
        cases = len(EPSILONS) * len(KS)
        found.append(
            Finding(
                f"ours cost less than {TITLES[name]}",
                better > cases / 2,
                f"in {better} of {cases} cases; at epsilon 1 and k = 10 theirs cost {theirs:.3f}",
                ours=True,
            )
        )
    growth = {epsilon: ratios.growth("ladder", epsilon) for epsilon in EPSILONS}
    found.append(
        Finding(
            "what privacy adds to the cost grows with k no faster than sqrt(k), as the bound on it does",
            all(fit.power <= 0.5 for fit in growth.values()),
            "k to the power of "
            + ", ".join(f"{a:.2f} ({low:.1f} to {high:.1f}) at epsilon {e}" for e, (a, low, high) in growth.items()),
            ours=True,
        )
    )
    return found


def run_kmedian(
    data: Data,
    folder: Path,
    *,
    seed: int = 0,
    workers: int | None = None,
    progress: Progress | None = None,
    say: Callable[[str], None] = lambda line: None,
) -> Outcome:
    """Run what is not yet in the folder's log, and write figure, table and findings."""
    from dpheatmap.experiments.kmedian_chart import figure_of

    todo, dataset = jobs(data, seed)
    for note in dataset.notes:
        say(note)
    if todo[0].rival is None:
        say(f"diffprivlib's k-means is left out: run scripts/diffprivlib, and set {VARIABLE} to what it prints.")
    about = {"study": NAME, "seed": seed, "version": __version__, "data": dataset.title, "rival": bool(todo[0].rival)}
    with JobLog[Costs](folder / f"{NAME}.jobs.jsonl", about, dict, dict) as log:
        results = run_missing(todo, lambda job: job.key, run_job, log, workers, progress)
        ratios = Ratios([results[job.key] for job in todo], todo[0].people)
    figures = [save_figure(figure_of(ratios, dataset.title), folder / f"{NAME}.png")]
    return write_outcome(NAME, TITLE, dataset, findings(ratios), figures, ratios.rows(), folder)
