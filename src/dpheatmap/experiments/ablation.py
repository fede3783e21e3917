"""Ablation of our method: one part left out or replaced at a time, on cities, gaze and mixtures."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from dpheatmap.evaluate.method_variants import ABLATIONS, EVERY_METHOD
from dpheatmap.evaluate.score_table import Series
from dpheatmap.evaluate.trial import seed_of
from dpheatmap.experiments.claims import mean
from dpheatmap.experiments.gaze import SIGMA as GAZE_SIGMA
from dpheatmap.experiments.mixtures import mixture
from dpheatmap.experiments.populations import Dataset, Place
from dpheatmap.experiments.study import SIGMA, Data, Finding, Job, Study

EPSILONS = ("0.5", "1", "2", "5", "10")
METHODS = ("ladder", *(method.name for method in ABLATIONS))
SIZE = 128


def jobs(data: Data) -> tuple[list[Job], Dataset]:
    """The jobs: three kinds of maps x 5 epsilons."""
    cities, images = data.cities(), data.gaze()
    even = [_mixture(number) for number in range(10)]
    panels: list[tuple[str, Sequence[Place], int, float]] = [
        ("cities", cities.places, 200, SIGMA),
        ("gaze", images.places[1::2], 50, GAZE_SIGMA),
        ("80 Gaussians", even, 200, SIGMA),
    ]
    found = [
        Job(panel, float(epsilon), place, 0, people, Fraction(epsilon), METHODS, sigma, SIZE)
        for panel, places, people, sigma in panels
        for place in places
        for epsilon in EPSILONS
    ]
    return found, Dataset(cities.places, f"{cities.title}; {images.title}; generated", cities.stand_in, cities.notes)


def _mixture(number: int) -> Place:
    made = mixture(80, 0.75, people=200, rng=np.random.default_rng(seed_of("ablation", number)))
    return Place(f"{made.name}, {number}", made.domain, made.user, made.x, made.y)


def findings(panels: dict[str, Series]) -> list[Finding]:
    """For each part, how much larger EMD and KL are without it, on average over epsilon."""
    found = []
    for panel, series in panels.items():
        told = []
        for name in METHODS[1:]:
            emd, kl = (_relative_increase(series, name, metric) for metric in ("emd", "kl"))
            told.append(f"{EVERY_METHOD[name].title}: EMD {emd:+.0%}, KL {kl:+.0%}")
        no_better = all(
            _relative_increase(series, name, "emd") > -0.02 or _relative_increase(series, name, "kl") > -0.02
            for name in METHODS[1:]
        )
        found.append(
            Finding(f"{panel}: no part is better left out, in EMD and KL", no_better, "; ".join(told), ours=True)
        )
    return found


def _relative_increase(series: Series, name: str, metric: str) -> float:
    """The mean over epsilons of the ratio to our method, less 1."""
    ratios = [mean(series, name, at, metric) / mean(series, "ladder", at, metric) for at in series[name]]
    return float(np.exp(np.mean(np.log(ratios)))) - 1.0


STUDY = Study(
    name="ablation",
    title="What each part brings",
    axis="epsilon",
    jobs=jobs,
    findings=findings,
    logarithmic=True,
)
