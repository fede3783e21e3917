"""How much better the ladder with the posterior is than the design before, the paper's method and PrivTree, on cities.

Exact EMD (256 x 256) and KL over 30 city cells x 2 trials, 200 people, sigma 0.02, all methods on the same people in
one run. Needs the data folder (DPHEATMAP_DATA): Gowalla and Foursquare check-ins through recommender-system splits, so
people and places with few visits are missing.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from fractions import Fraction

import numpy as np

import dpheatmap as dph
from common import bar
from dpheatmap.evaluate.ground_truth import true_distribution
from dpheatmap.evaluate.methods import METHODS
from dpheatmap.evaluate.process_pool import run_all
from dpheatmap.evaluate.trial import seed_of
from dpheatmap.experiments import stand_in_data
from dpheatmap.heatmap.smoothing import smooth
from dpheatmap.place.domain import Floats

SIGMA, PEOPLE, TRIALS = 0.02, 200, 2
COMPARED = ("ladder", "adaptive", "paper", "privtree")
EPSILONS = ("0.5", "1", "2", "5", "10")
GOALS = {"EMD": (0.055, 0.036, 0.0225, 0.0118, 0.0068), "KL": (0.48, 0.335, 0.215, 0.115, 0.047)}
OF_ADAPTIVE, OF_PAPER, OF_PRIVTREE = 0.93, {"EMD": 0.55, "KL": 0.30}, 0.8


def scores(task: tuple[int, int, str]) -> Floats:
    """EMD and KL of each method compared, on the same people."""
    number, trial, epsilon = task
    counts = (
        stand_in_data.cities().places[number].sample(PEOPLE, np.random.default_rng(seed_of("people", number, trial)))
    )
    true = smooth(true_distribution(counts), SIGMA)
    found = []
    for name in COMPARED:
        heat = smooth(METHODS[name].estimate(counts, Fraction(epsilon), seed_of(name, *task)), SIGMA)
        found.append((dph.metrics.emd(true, heat), dph.metrics.kl(true, heat)))
    return np.array(found)


def all_scores() -> dict[str, Floats]:
    """The scores by epsilon: runs x methods x metrics."""
    cells = range(len(stand_in_data.cities().places))
    tasks = [(cell, trial, epsilon) for cell in cells for trial in range(TRIALS) for epsilon in EPSILONS]
    found = defaultdict(list)
    for (_, _, epsilon), of_methods in run_all(scores, tasks):
        found[epsilon].append(of_methods)
    return {epsilon: np.array(found[epsilon]) for epsilon in EPSILONS}


def judge(by_epsilon: dict[str, Floats], metric: int, name: str) -> list[bool]:
    """Print one metric's figures beside their bars and goals."""
    reached, ratios = [], []
    for k, (epsilon, runs) in enumerate(by_epsilon.items()):
        ours, adaptive, paper, privtree = runs[:, :, metric].T
        ratios.append(ours.mean() / adaptive.mean())
        more = ours - adaptive
        error = more.std(ddof=1) / len(more) ** 0.5
        at = f"epsilon {epsilon}: {name}"
        print(f"{at} {ours.mean():.4f} (goal {GOALS[name][k]}), {ratios[-1]:.3f} of adaptive's {adaptive.mean():.4f}")
        reached.append(bar(f"{at} above adaptive's, in standard errors", more.mean() / error, 2.0))
        bar(f"{at} of the goal", ours.mean() / GOALS[name][k], 1.0)
        reached.append(bar(f"{at} of the paper's", ours.mean() / paper.mean(), OF_PAPER[name]))
        if name == "EMD" and float(epsilon) >= 1:
            reached.append(bar(f"{at} of PrivTree's", ours.mean() / privtree.mean(), OF_PRIVTREE))
    reached.append(bar(f"{name} of adaptive's, mean over epsilon", float(np.mean(ratios)), OF_ADAPTIVE))
    return reached


def main() -> int:
    if stand_in_data.folder() is None:
        print("No data folder: set DPHEATMAP_DATA to one that holds geo_cells.parquet.")
        return 0
    by_epsilon = all_scores()
    reached = [*judge(by_epsilon, 0, "EMD"), *judge(by_epsilon, 1, "KL")]
    return 0 if all(reached) else 1


if __name__ == "__main__":
    sys.exit(main())
