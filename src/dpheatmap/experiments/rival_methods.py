"""Is anybody better? Our method against every rival on cities, gaze, football and mixtures, by paired tests.

Rivals are implemented as their authors wrote them. Those that measure cells run a second time with our posterior on
their measurements. All maps are different from those on which our method's settings were chosen.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from dpheatmap.evaluate.method_variants import EVERY_METHOD, RIVALS_WITH_POSTERIOR
from dpheatmap.evaluate.paired_tests import holm, paired_p
from dpheatmap.evaluate.peers import PEERS
from dpheatmap.evaluate.scores import METRICS, Metric, Scores
from dpheatmap.evaluate.trial import seed_of
from dpheatmap.experiments.claims import listing
from dpheatmap.experiments.gaze import SIGMA as GAZE_SIGMA
from dpheatmap.experiments.mixtures import mixture
from dpheatmap.experiments.populations import Dataset, Place
from dpheatmap.experiments.study import SIGMA, Data, Finding, Job, Results, Study

EPSILONS = ("0.1", "0.5", "1", "2", "5", "10")
OURS = "ladder"
THEIRS = ("paper", *(peer.name for peer in PEERS))
REFERENCES = {"paper": "Ghazi et al. 2023", **{peer.name: peer.reference for peer in PEERS}}
"""Who published a rival, and when."""
WITH_POSTERIOR = tuple(method.name for method in RIVALS_WITH_POSTERIOR)
LEAST_SIGNAL = 20
"""The least people times epsilon that is tested: below it no method works."""
SIZE = 128
GAUSSIANS = ((5, 0.02), (10, 0.04), (20, 0.15), (40, 0.4), (80, 0.75))
DATASETS = 4


def jobs(data: Data) -> tuple[list[Job], Dataset]:
    """The jobs, with a panel for each kind of map."""
    cities, images, pitches = data.cities(), data.gaze(), data.football()
    found = [
        *_panel("cities, 200 people", cities.places, 200, SIGMA),
        *_panel("cities, 500 people", cities.places[::2], 500, SIGMA),
        *_panel("cities, 2000 people", cities.places, 2000, SIGMA),
        *_panel("gaze, 50 people", images.places[::2], 50, GAZE_SIGMA),
        *_panel("football, 200 people", pitches.places, 200, SIGMA, draws=3),
    ]
    for gaussians, sparsity in GAUSSIANS:
        made = [_mixture(gaussians, sparsity, number) for number in range(DATASETS)]
        found += _panel("mixtures, 200 people", made, 200, SIGMA)
    titles = "; ".join(dataset.title for dataset in (cities, images, pitches))
    notes = (*cities.notes, *images.notes, *pitches.notes)
    return found, Dataset(cities.places, f"{titles}; generated mixtures of Gaussians", cities.stand_in, notes)


def _panel(panel: str, places: Sequence[Place], people: int, sigma: float, draws: int = 1) -> list[Job]:
    methods = (OURS, *THEIRS, *WITH_POSTERIOR)
    return [
        Job(panel, float(epsilon), place, draw, people, Fraction(epsilon), methods, sigma, SIZE)
        for place in places
        if place.people >= people
        for draw in range(draws)
        for epsilon in EPSILONS
        if people * Fraction(epsilon) >= LEAST_SIGNAL
    ]


def _mixture(gaussians: int, sparsity: float, number: int) -> Place:
    rng = np.random.default_rng(seed_of("rivals", gaussians, number))
    made = mixture(gaussians, sparsity, people=200, rng=rng)
    return Place(f"{made.name}, {number}", made.domain, made.user, made.x, made.y)


def judge(jobs: Sequence[Job], results: Results) -> list[Finding]:
    """Holm's test over all comparisons: rivals, kinds of maps, epsilons and metrics."""
    return [
        _nobody_better(jobs, results, THEIRS, "no rival, as its authors wrote it, is significantly better"),
        _nobody_better(jobs, results, WITH_POSTERIOR, "no rival's measurements with our posterior are better"),
    ]


def _nobody_better(jobs: Sequence[Job], results: Results, rivals: Sequence[str], claim: str) -> Finding:
    cases = [(panel, at, metric, rival) for panel, at in _places(jobs) for metric in METRICS for rival in rivals]
    p_values, wins = [], 0
    for panel, at, metric, rival in cases:
        runs = [results[job.key] for job in jobs if (job.panel, job.at) == (panel, at)]
        ours, theirs = ([_error(run[name], metric) for run in runs] for name in (OURS, rival))
        p_values.append(paired_p(ours, theirs))
        wins += sum(ours) < sum(theirs)
    lost = [
        f"{metric.name} on {panel} at {at:g} by {EVERY_METHOD[rival].title}"
        for (panel, at, metric, rival), rejected in zip(cases, holm(p_values), strict=True)
        if rejected
    ]
    return Finding(
        f"{claim} (paired tests, Holm's correction at 5 %)",
        not lost,
        f"{len(cases)} comparisons, our mean is better in {wins}; significantly worse: {listing(lost)}. "
        f"Tried were {names_and_years(rivals)}",
        ours=True,
    )


def names_and_years(rivals: Sequence[str]) -> str:
    """The titles of rivals, each with its authors and year where it is as they wrote it.

    >>> names_and_years(["privtree", "privtree-posterior"])
    'PrivTree (Zhang, Xiao, Xie 2016), PrivTree + posterior'
    """
    named = (f" ({REFERENCES[rival]})" if rival in REFERENCES else "" for rival in rivals)
    return listing([EVERY_METHOD[rival].title + by for rival, by in zip(rivals, named, strict=True)])


def _places(jobs: Sequence[Job]) -> list[tuple[str, float]]:
    return list(dict.fromkeys((job.panel, job.at) for job in jobs))


def _error(scores: Scores, metric: Metric) -> float:
    value: float = getattr(scores, metric.name)
    return -value if metric.more_is_better else value


STUDY = Study(
    name="rivals",
    title="Is anybody better?",
    axis="epsilon",
    jobs=jobs,
    judge=judge,
    logarithmic=True,
)
