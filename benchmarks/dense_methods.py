"""Which reconstruction is the better default on a dense release: the posterior, or the paper's nearest map in EMD.

Both on the same releases, of people of the kinds of `shapes.py` and, with the data folder (DPHEATMAP_DATA), of real
cities. For each case: the mean error by the posterior, and how many times larger the other's is, with a 95 % interval
over draws; the differences in KL divergence and similarity. The exit code is 0 if the posterior is nowhere worse for
sure.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from fractions import Fraction

import numpy as np

import dpheatmap as dph
from advice import SIGMA, SIZE
from common import bar
from dpheatmap.evaluate.ground_truth import true_distribution
from dpheatmap.evaluate.process_pool import run_all
from dpheatmap.experiments import stand_in_data
from dpheatmap.heatmap.smoothing import smooth
from dpheatmap.place.domain import Floats
from dpheatmap.testing import seeded_release
from shapes import DOMAINS, GAUSSIANS, SHAPES, SQUARE, people_of

DRAWS, CITIES, FEW_PLACES = 6, "real cities", ("3 places", "10 places")
CASES = ((200, "1/4"), (200, "1"), (1000, "1"), (1000, "5"))
Case = tuple[str, int, str]


def scores(task: tuple[Case, int]) -> Floats:
    """A row for each method: error, KL divergence, similarity."""
    (kind, people, epsilon), draw = task
    if kind == CITIES:
        places = [place for place in stand_in_data.cities(depth=DOMAINS[SQUARE].depth).places if place.people >= people]
        counts = places[draw % len(places)].sample(people, np.random.default_rng(draw))
    else:
        counts = people_of(kind, people, draw)
    true = smooth(true_distribution(counts), SIGMA, SIZE)
    release = seeded_release(counts, seed=draw, epsilon=Fraction(epsilon), design="dense")
    heats = [release.heatmap(sigma=SIGMA, size=SIZE, method=method).values for method in ("posterior", "dense")]
    m = dph.metrics
    return np.array(
        [(m.emd(true, heat, tolerance=0.02).middle, m.kl(true, heat), m.similarity(true, heat)) for heat in heats]
    )


def main() -> int:
    kinds = [*FEW_PLACES, *GAUSSIANS, *SHAPES, *([CITIES] if stand_in_data.folder() else [])]
    found = defaultdict(list)
    tasks = [((kind, *case), draw) for kind in kinds for case in CASES for draw in range(DRAWS)]
    for (case, _), values in run_all(scores, tasks):
        found[case].append(values)
    worse = 0
    for case, runs in sorted(found.items()):
        values = np.array(runs)
        ratio = np.log(values[:, 1, 0] / values[:, 0, 0])
        low, high = np.exp(ratio.mean() + np.array([-1.96, 1.96]) * ratio.std(ddof=1) / np.sqrt(len(ratio)))
        _, kl, similarity = (values[:, 1] - values[:, 0]).mean(axis=0)
        worse += high < 1
        print(
            f"{case}: {values[:, 0, 0].mean():.4f}, dense {np.exp(ratio.mean()):.2f} times that ({low:.2f} to "
            f"{high:.2f}), KL {kl:+.3f}, similarity {similarity:+.3f}",
            flush=True,
        )
    return 0 if bar("cases in which the posterior is worse for sure", worse, 0) else 1


if __name__ == "__main__":
    sys.exit(main())
