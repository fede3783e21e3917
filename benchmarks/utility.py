"""How good the paper's own method is on real cities, beside an independent prototype of it.

Needs the data folder (DPHEATMAP_DATA, default ../shared/data): 30 city cells of Gowalla and Foursquare. These come
through recommender-system splits, so people and places with few visits are missing.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Iterator

import numpy as np

import dpheatmap as dph
from common import bar
from dpheatmap.evaluate.ground_truth import true_distribution
from dpheatmap.experiments import stand_in_data
from dpheatmap.heatmap.smoothing import smooth

DOMAIN = dph.Domain.unit(8)
SIGMA = 0.02
# What an independent prototype reached with 200 people: epsilon -> (CC, KL). It cut its Gaussian at 4 sigma.
PROTOTYPE = {0.5: (0.57, 3.2), 1: (0.77, 2.0), 2: (0.89, 1.1), 5: (0.95, 0.65), 10: (0.97, 0.42)}


def sampled_cells(people: int, trials: int, seed: int = 0) -> Iterator[dph.Counts]:
    """Counts of so many people drawn from each city cell that has them."""
    rng = np.random.default_rng(seed)
    for place in stand_in_data.cities().places:
        for _ in range(trials if place.people >= people else 0):
            yield place.sample(people, rng)


def compare_with_prototype() -> list[bool]:
    scores = defaultdict(list)
    for counts in sampled_cells(200, trials=2):
        true = smooth(true_distribution(counts), SIGMA)
        for epsilon in PROTOTYPE:
            heat = dph.release(counts, epsilon=epsilon, design="paper").heatmap(sigma=SIGMA, method="paper").values
            scores[epsilon].append((dph.metrics.pearson(true, heat), dph.metrics.kl(true, heat)))
    results = []
    for epsilon, (cc, kl) in PROTOTYPE.items():
        mean = np.mean(scores[epsilon], axis=0)
        results.append(bar(f"epsilon {epsilon}: mean CC (prototype {cc})", mean[0], cc - (1 - cc) / 3, at_least=True))
        results.append(bar(f"epsilon {epsilon}: mean KL (prototype {kl})", mean[1], kl * 4 / 3))
    return results


def main() -> int:
    if stand_in_data.folder() is None:
        print("No data folder: set DPHEATMAP_DATA to one that holds geo_cells.parquet.")
        return 0
    return 0 if all(compare_with_prototype()) else 1


if __name__ == "__main__":
    sys.exit(main())
