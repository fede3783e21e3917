"""One trial: every method on the same people at the same epsilon, judged by the true map."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from dpheatmap.curator import Counts
from dpheatmap.evaluate.ground_truth import true_distribution
from dpheatmap.evaluate.method_variants import EVERY_METHOD, TITLES
from dpheatmap.evaluate.scores import Scores, score
from dpheatmap.heatmap.smoothing import smooth


@dataclass(frozen=True, eq=False)
class Trial:
    """A trial: methods on counts at an epsilon, smoothed by sigma; without a seed the noise is cryptographic."""

    counts: Counts
    epsilon: Fraction
    methods: tuple[str, ...]
    sigma: float
    size: int | None = None
    seed: int | None = None


def run_trial(trial: Trial) -> dict[str, Scores]:
    """Run the trial and compute the scores of each method."""
    true = smooth(true_distribution(trial.counts), trial.sigma, trial.size)
    scores = {}
    for name in trial.methods:
        seed = None if trial.seed is None else seed_of(trial.seed, name)
        estimate = EVERY_METHOD[name].estimate(trial.counts, trial.epsilon, seed)
        scores[name] = score(true, smooth(estimate, trial.sigma, trial.size))
    return scores


def seed_of(*parts: object) -> int:
    """A seed that depends only on its parts: not on the order of runs, nor on what else runs.

    >>> seed_of("comparison", 3) == seed_of("comparison", 3) != seed_of("comparison", 4)
    True
    """
    return int.from_bytes(hashlib.sha256("\0".join(map(str, parts)).encode()).digest()[:8])


def group_scores(results: Iterable[tuple[float, dict[str, Scores]]]) -> dict[str, dict[float, list[Scores]]]:
    """Group scores by method and place on the axis."""
    found: dict[str, dict[float, list[Scores]]] = {}
    for place, scores in results:
        for name, one in scores.items():
            found.setdefault(name, {}).setdefault(place, []).append(one)
    return {name: found[name] for name in TITLES if name in found}
