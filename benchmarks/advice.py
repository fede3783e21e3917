"""Whether `plan` names the better design: synthetic people in 4 places or 120 Gaussians, with little signal or much.

A case is a kind of people, their number and epsilon; its errors are means over draws of people and noise. It is clear
if the errors of the two designs differ by more than 20 %. Two questions: the default design (adaptive, posterior) or
the dense one (with its own reconstruction), and the paper's design or the dense one. Of people in few places the plan
is told how many; of the others nothing.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from fractions import Fraction

import numpy as np

import dpheatmap as dph
from common import bar
from dpheatmap.evaluate.pool import run_all
from dpheatmap.evaluate.truth import true_distribution
from dpheatmap.experiments.bounds import few_places
from dpheatmap.experiments.mixtures import mixture
from dpheatmap.smoothing import smoothed
from dpheatmap.testing import seeded_release

SIGMA, SIZE, DEPTH, DRAWS = 0.02, 64, 7, 3
KINDS = ((4, 0.0), (16, 0.0), (2, 0.01), (6, 0.04), (30, 0.2), (120, 0.7))
"""Gaussians and the share of cells that they fill; or places, filling next to none."""
CASES = ((200, "1/4"), (200, "1"), (1000, "1"), (1000, "5"), (1000, "40"))
METHODS = {"adaptive": "posterior", "paper": "paper", "dense": "dense"}
CLEAR, RIGHT, SEED = 1.2, 0.9, 20_262

Case = tuple[int, float, int, str]


def errors(task: tuple[Case, int]) -> dict[str, float]:
    """The error of each design on one draw."""
    (number, filled, people, epsilon), draw = task
    rng = np.random.default_rng([SEED, number, people, draw])
    if filled:
        place = mixture(number, filled, people=people, depth=DEPTH, rng=rng)
    else:
        place = few_places(number, people, draw + SEED).at_depth(DEPTH)
    counts = place.sample(people, rng)
    true = smoothed(true_distribution(counts), SIGMA, SIZE)
    found = {}
    for design, method in METHODS.items():
        made = seeded_release(counts, seed=draw, epsilon=Fraction(epsilon), design=design)
        heat = made.heatmap(sigma=SIGMA, size=SIZE, method=method)
        found[design] = dph.metrics.emd(true, heat.values, tolerance=0.01).middle
    return found


def judge(sparse: str, means: dict[Case, dict[str, float]]) -> bool:
    """How many of the clear cases the advice is right in."""
    clear, right = 0, 0
    for (number, filled, people, epsilon), error in means.items():
        better, worse = sorted((sparse, "dense"), key=error.__getitem__)
        if error[worse] <= CLEAR * error[better]:
            continue
        known = None if filled else number
        advice = dph.plan(dph.Domain.unit(DEPTH), epsilon=epsilon, users=people, design=sparse, places=known).better
        clear, right = clear + 1, right + (advice == better)
        if advice != better:
            print(f"wrong: {number} filling {filled:.1%}, {people} people, epsilon {epsilon}: {error}")
    always = max(sum(e[a] * CLEAR < e[b] for e in means.values()) for a, b in ((sparse, "dense"), ("dense", sparse)))
    print(f"{clear} of {len(means)} cases are clear; always the same answer would be right in {always}")
    return bar(f"{sparse} or dense: advice right in the clear cases", right / clear, RIGHT, at_least=True)


def main() -> int:
    cases = [(*kind, *case) for kind in KINDS for case in CASES]
    found: dict[Case, list[dict[str, float]]] = defaultdict(list)
    for (case, _), error in run_all(errors, [(case, draw) for case in cases for draw in range(DRAWS)]):
        found[case].append(error)
    means = {case: {d: float(np.mean([e[d] for e in runs])) for d in METHODS} for case, runs in found.items()}
    for case, error in sorted(means.items()):
        print(case, " ".join(f"{design} {value:.4f}" for design, value in error.items()), flush=True)
    return 0 if all([judge("adaptive", means), judge("paper", means)]) else 1


if __name__ == "__main__":
    sys.exit(main())
