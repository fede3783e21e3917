"""Scores of a map: the paper's four metrics against the true map, and their means with 95 % bands."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from dpheatmap.evaluate import metrics
from dpheatmap.place.domain import Floats

TOLERANCE = 0.001
"""The relative width of the certified bracket of EMD, whose middle is reported."""


class Scores(NamedTuple):
    """The four metrics of an estimated heatmap against the true one."""

    similarity: float
    pearson: float
    kl: float
    emd: float


class Metric(NamedTuple):
    """A metric as tables and figures show it."""

    name: str
    title: str
    more_is_better: bool


METRICS = (
    Metric("similarity", "Similarity", True),
    Metric("pearson", "Pearson coefficient", True),
    Metric("kl", "KL divergence", False),
    Metric("emd", "Earth mover's distance", False),
)


def score(true: Floats, estimate: Floats) -> Scores:
    """Compute the four metrics of an estimated heatmap."""
    return Scores(
        metrics.similarity(true, estimate),
        metrics.pearson(true, estimate),
        metrics.kl(true, estimate),
        metrics.emd(true, estimate, tolerance=TOLERANCE).middle,
    )


class Mean(NamedTuple):
    """A mean and the half-width of its 95 % interval; infinite if there is one value only."""

    mean: float
    half_width: float
    runs: int


def mean_of(values: Sequence[float]) -> Mean:
    """The mean of independent runs with Student's 95 % interval.

    >>> mean_of([1.0, 2.0, 3.0])  # doctest: +ELLIPSIS
    Mean(mean=2.0, half_width=2.484..., runs=3)
    """
    runs = len(values)
    mean = math.fsum(values) / runs
    if runs == 1:
        return Mean(mean, math.inf, 1)
    variance = math.fsum((value - mean) ** 2 for value in values) / (runs - 1)
    return Mean(mean, _student(runs - 1) * math.sqrt(variance / runs), runs)


def ratio_of(ours: Sequence[float], theirs: Sequence[float]) -> Mean:
    """The ratio of two means over the same runs, with its 95 % interval; the variation that runs share cancels.

    To first order, the error of the ratio R of the means is that of the mean of ``(ours - R theirs) / mean(theirs)``.

    >>> ratio_of([2.0, 4.0, 6.0], [1.0, 2.0, 3.0])
    Mean(mean=2.0, half_width=0.0, runs=3)
    """
    below = math.fsum(theirs) / len(theirs)
    ratio = math.fsum(ours) / len(ours) / below
    rest = mean_of([a - ratio * b for a, b in zip(ours, theirs, strict=True)])
    return Mean(ratio, rest.half_width / below, rest.runs)


def means(scores: Iterable[Scores]) -> dict[str, Mean]:
    """The mean of each metric, by its name."""
    columns = zip(*scores, strict=True)
    return {metric.name: mean_of(column) for metric, column in zip(METRICS, columns, strict=True)}


def _student(freedom: int) -> float:
    """The 97.5 % quantile of Student's t: in closed form for 1 and 2, else by Cornish and Fisher, to 0.2 %."""
    if freedom == 1:
        return math.tan(0.475 * math.pi)
    if freedom == 2:
        return 0.95 * math.sqrt(2 / (1 - 0.95**2))
    z = 1.959963984540054
    terms = (
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
        (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160,
    )
    return z + sum(term / float(freedom) ** (k + 1) for k, term in enumerate(terms))
