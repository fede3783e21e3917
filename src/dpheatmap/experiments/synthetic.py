"""Sparsity: the paper's appendix on mixtures of Gaussians, 200 people, epsilon 1."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from dpheatmap.evaluate.score_table import Series
from dpheatmap.evaluate.scores import METRICS
from dpheatmap.evaluate.trial import seed_of
from dpheatmap.experiments.claims import first_and_last, improvements, listing, trend
from dpheatmap.experiments.mixtures import mixture
from dpheatmap.experiments.populations import Dataset
from dpheatmap.experiments.study import SIGMA, WITH_RIVALS, Data, Finding, Job, Study

FIXED, VARIED = "20 Gaussians", "5 to 80 Gaussians"
BY_SPARSITY = ((20, 0.02), (20, 0.05), (20, 0.1), (20, 0.2), (20, 0.3))
BY_GAUSSIANS = ((5, 0.02), (10, 0.04), (20, 0.15), (20, 0.3), (80, 0.75))
PEOPLE, DATASETS = 200, 10


def jobs(data: Data) -> tuple[list[Job], Dataset]:
    """The jobs: two panels x 5 sparsities x 10 generated data sets."""
    found = []
    for panel, settings in ((FIXED, BY_SPARSITY), (VARIED, BY_GAUSSIANS)):
        for gaussians, sparsity in settings:
            for number in range(DATASETS):
                rng = np.random.default_rng(seed_of("mixture", panel, sparsity, number))
                place = mixture(gaussians, sparsity, people=PEOPLE, rng=rng)
                found.append(Job(panel, 100 * sparsity, place, number, PEOPLE, Fraction(1), WITH_RIVALS, SIGMA))
    return found, Dataset((), "Generated mixtures of Gaussians", stand_in=False, notes=())


def findings(panels: dict[str, Series]) -> list[Finding]:
    """The paper's claims about sparsity."""
    found = []
    for panel, series in panels.items():
        found.append(_trend(panel, series, "paper", "the paper's algorithm gets worse", better=False))
        found.append(_trend(panel, series, "baseline", "the baseline gets better", better=True))
    (a, b), (c, d) = (first_and_last(panels[panel], "paper", "kl") for panel in (FIXED, VARIED))
    found.append(
        Finding(
            "the paper's algorithm gets worse more slowly if the number of Gaussians stays the same",
            b / a < d / c,
            f"its KL changes by a factor of {b / a:.2f} with 20 Gaussians and of {d / c:.2f} with 5 to 80",
        )
    )
    return found


def _trend(panel: str, series: Series, method: str, claim: str, *, better: bool) -> Finding:
    """A rough trend, in the paper's words: in three of the four metrics, from the first place to the last."""
    up = improvements(series, method)
    along = [m.name for m in METRICS if (m.name in up) == better]
    return Finding(
        f"{panel}: {claim} as more cells are occupied",
        len(along) >= 3,
        f"so in {listing(along)}; {trend(series, method)}, {trend(series, method, 'kl')}, "
        f"{trend(series, method, 'similarity')}",
    )


STUDY = Study(
    name="synthetic",
    title="Sparse and dense: mixtures of Gaussians, 200 people, epsilon 1",
    axis="occupied cells in %",
    jobs=jobs,
    findings=findings,
    logarithmic=True,
)
