"""How much better the adaptive design with the posterior is than the paper's method and PrivTree, on real cities.

Mean exact EMD (256 x 256) and KL over 30 city cells x 2 trials, 200 people, sigma 0.02, as ratios in one run. Needs the
data folder (DPHEATMAP_DATA): Gowalla and Foursquare check-ins through recommender-system splits, so people and places
with few visits are missing.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from fractions import Fraction

import numpy as np

import dpheatmap as dph
from common import bar
from dpheatmap.estimate.distribution import Distribution
from dpheatmap.evaluate.ground_truth import true_distribution
from dpheatmap.evaluate.methods import METHODS
from dpheatmap.experiments import stand_in_data
from dpheatmap.heatmap.smoothing import smooth
from dpheatmap.place.domain import Floats

SIGMA, PEOPLE, TRIALS = 0.02, 200, 2
EPSILONS = (Fraction(1, 2), Fraction(1), Fraction(2), Fraction(5), Fraction(10))


def estimates(counts: dph.Counts, epsilon: Fraction) -> dict[str, Distribution]:
    return {
        "paper": METHODS["paper"].estimate(counts, epsilon, None),
        "privtree": METHODS["privtree"].estimate(counts, epsilon, None),
        "adaptive": dph.release(counts, epsilon=epsilon, design="adaptive").distribution(method="posterior"),
    }


def mean_scores() -> dict[tuple[Fraction, str], Floats]:
    """Mean EMD and KL by epsilon and method."""
    scores, rng = defaultdict(list), np.random.default_rng(0)
    for place in stand_in_data.cities().places:
        for _ in range(TRIALS):
            counts = place.sample(PEOPLE, rng)
            true = smooth(true_distribution(counts), SIGMA)
            for epsilon in EPSILONS:
                for name, estimate in estimates(counts, epsilon).items():
                    heat = smooth(estimate, SIGMA)
                    scores[epsilon, name].append((dph.metrics.emd(true, heat), dph.metrics.kl(true, heat)))
    return {key: np.mean(values, axis=0) for key, values in scores.items()}


def main() -> int:
    if stand_in_data.folder() is None:
        print("No data folder: set DPHEATMAP_DATA to one that holds geo_cells.parquet.")
        return 0
    mean, reached = mean_scores(), []
    for epsilon in EPSILONS:
        ours, paper, privtree = (mean[epsilon, name] for name in ("adaptive", "paper", "privtree"))
        print(f"epsilon {float(epsilon):g}: EMD {ours[0]:.4f}, KL {ours[1]:.3f}; paper {paper[0]:.4f}, {paper[1]:.3f}")
        reached.append(bar(f"epsilon {float(epsilon):g}: EMD of the paper's", ours[0] / paper[0], 0.55))
        reached.append(bar(f"epsilon {float(epsilon):g}: KL of the paper's", ours[1] / paper[1], 0.30))
        if epsilon >= 1:
            reached.append(bar(f"epsilon {float(epsilon):g}: EMD of PrivTree's", ours[0] / privtree[0], 0.8))
    return 0 if all(reached) else 1


if __name__ == "__main__":
    sys.exit(main())
