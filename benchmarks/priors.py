"""How much a public prior helps, and how little a wrong one harms, on real cities.

Mean exact EMD and KL over 30 city cells, 200 people, epsilon 1, sigma 0.02, as ratios to no prior in one run. The
priors are last month's release of 200 others, the density of all others of the cell, smoothed lightly, and that of
another city. Needs the data folder (DPHEATMAP_DATA). ``--quick`` tries 10 cells once.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from fractions import Fraction

import numpy as np

import dpheatmap as dph
from common import bar
from dpheatmap.estimate.posterior.posterior import reconstruct
from dpheatmap.estimate.posterior.public_measure import public_measure
from dpheatmap.evaluate.ground_truth import true_distribution
from dpheatmap.experiments import stand_in_data
from dpheatmap.experiments.populations import Place
from dpheatmap.heatmap.smoothing import smooth
from dpheatmap.place.domain import Floats
from dpheatmap.place.quadtree import Ints

SIGMA, PEOPLE, LIGHTLY = 0.02, 200, 0.01
EPSILON = Fraction(1)


def density(place: Place, people: Ints) -> Floats:
    """Where some people of a place are, hardly smoothed."""
    return smooth(true_distribution(place.counts_of(place.times(people))), LIGHTLY)


def scores(cells: int, trials: int) -> dict[str, Floats]:
    """EMD and KL by prior, one row a trial."""
    found, rng = defaultdict(list), np.random.default_rng(0)
    places = stand_in_data.cities().places[:cells]
    for k, place in enumerate(places):
        for _ in range(trials):
            order, other = rng.permutation(place.people), places[(k + 1) % len(places)]
            here, before, rest = np.split(order, [PEOPLE, 2 * PEOPLE])
            counts = place.counts_of(place.times(here))
            true = smooth(true_distribution(counts), SIGMA)
            release = dph.release(counts, epsilon=EPSILON)
            priors = {
                "last month": dph.release(place.counts_of(place.times(before)), epsilon=EPSILON),
                "good density": density(place, rest),
                "another city": density(other, np.arange(other.people)),
            }
            maps = {name: reconstruct(release, public_measure(prior, release.domain)) for name, prior in priors.items()}
            for name, estimate in {"none": release.distribution(), **maps}.items():
                heat = smooth(estimate, SIGMA)
                found[name].append((dph.metrics.emd(true, heat), dph.metrics.kl(true, heat)))
    return {name: np.array(rows) for name, rows in found.items()}


def main() -> int:
    if stand_in_data.folder() is None:
        print("No data folder: set DPHEATMAP_DATA to one that holds geo_cells.parquet.")
        return 0
    found = scores(10, 1) if "--quick" in sys.argv else scores(30, 2)
    none, ratios = found["none"], {}
    for name, rows in found.items():
        ratios[name] = rows.mean(axis=0) / none.mean(axis=0)
        error = (rows - ratios[name] * none).std(axis=0) / np.sqrt(len(rows)) / none.mean(axis=0)
        print(
            f"{name}: EMD {rows[:, 0].mean():.4f}, ratio {ratios[name][0]:.3f} +- {error[0]:.3f}; "
            f"KL {rows[:, 1].mean():.3f}, ratio {ratios[name][1]:.3f} +- {error[1]:.3f}"
        )
    reached = [
        bar("last month's release: EMD of no prior's", ratios["last month"][0], 0.97),
        bar("a good density: EMD of no prior's", ratios["good density"][0], 0.8),
        bar("another city: EMD of no prior's", ratios["another city"][0], 1.03),
    ]
    return 0 if all(reached) else 1


if __name__ == "__main__":
    sys.exit(main())
