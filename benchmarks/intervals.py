"""How often 90 % intervals hold the true heat, and how often significant pixels are wrong, on maps not used for tuning.

City cells and gaze (DPHEATMAP_DATA) and generated mixtures; pixels, and masses of 16 x 16 and 8 x 8 blocks. Covered are
all pixels, the busiest tenth, and those with anybody near, that is with over a thousandth of the largest value. The
real data came through recommender-system splits: people and places with few visits are missing.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from fractions import Fraction
from functools import cache

import numpy as np

from common import bar
from dpheatmap.evaluate.ground_truth import true_distribution
from dpheatmap.evaluate.process_pool import run_all
from dpheatmap.evaluate.trial import seed_of
from dpheatmap.experiments import stand_in_data
from dpheatmap.experiments.gaze import SIGMA as GAZE_SIGMA
from dpheatmap.experiments.mixtures import mixture
from dpheatmap.experiments.populations import Place
from dpheatmap.heatmap.smoothing import smooth
from dpheatmap.place.domain import Floats
from dpheatmap.testing import seeded_release

EPSILONS = ("1", "2", "5", "10")
SIZES = {"pixels": 64, "16 x 16 blocks": 16, "8 x 8 blocks": 8}
KINDS = {"cities": (200, 0.02), "gaze": (50, GAZE_SIGMA), "mixtures": (200, 0.02)}
LEVELS = (1.0, 3.0)  # times an even map's


@cache
def places(kind: str) -> tuple[Place, ...]:
    if kind == "cities":
        return stand_in_data.cities().places[::2]
    if kind == "gaze":
        return stand_in_data.gaze().places[::3]
    return tuple(
        mixture(gaussians, sparsity, people=200, rng=np.random.default_rng(seed_of("coverage", gaussians, number)))
        for gaussians, sparsity in ((5, 0.02), (20, 0.15), (80, 0.75))
        for number in range(5)
    )


def judge(task: tuple[str, int, str]) -> dict[str, Floats]:
    kind, number, epsilon = task
    people, sigma = KINDS[kind]
    counts = places(kind)[number].sample(people, np.random.default_rng(number))
    release = seeded_release(counts, seed=seed_of(*task), epsilon=Fraction(epsilon))
    found = {}
    for name, size in SIZES.items():
        heat, true = release.heatmap(sigma=sigma, size=size), smooth(true_distribution(counts), sigma, size)
        low, high = heat.interval(0.9)
        inside = (low <= true) & (true <= high)
        busy, visited = true >= np.quantile(true, 0.9), true > 1e-3 * true.max()
        found[name] = np.array([inside.mean(), inside[busy].mean(), inside[visited].mean()])
        if name == "pixels":
            for control in ("discovery", "family"):
                shown = [(heat.significant(t / true.size, control=control), true > t / true.size) for t in LEVELS]
                wrong = [(s & ~t).any() if control == "family" else (s & ~t).sum() / max(s.sum(), 1) for s, t in shown]
                found[control] = np.array(wrong, dtype=np.float64)
    return found


def main() -> int:
    if stand_in_data.folder() is None:
        print("No data folder: set DPHEATMAP_DATA to one that holds geo_cells.parquet and salicon_38.parquet.")
        return 0
    found: dict[tuple[str, str, str], list[Floats]] = defaultdict(list)
    tasks = [(kind, number, e) for kind in KINDS for number in range(len(places(kind))) for e in EPSILONS]
    for (kind, _, epsilon), result in run_all(judge, tasks):
        for name, values in result.items():
            found[kind, epsilon, name].append(values)
    reached = []
    for kind in KINDS:
        for epsilon in EPSILONS:
            for name in SIZES:
                everywhere, busy, visited = np.mean(found[kind, epsilon, name], axis=0)
                what = f"{kind}, epsilon {epsilon}, {name}: covered"
                reached.append(bar(f"{what}, all", everywhere, 0.85, at_least=True))
                reached.append(bar(f"{what}, all", everywhere, 0.95))
                reached.append(bar(f"{what}, busiest tenth", busy, 0.8, at_least=True))
                reached.append(bar(f"{what}, visited", visited, 0.8, at_least=True))
            what = f"{kind}, epsilon {epsilon}: significant at 95 %, wrong"
            reached.append(bar(f"{what} pixels", float(np.mean(found[kind, epsilon, "discovery"])), 0.05))
            reached.append(bar(f"{what} maps (family)", float(np.mean(found[kind, epsilon, "family"])), 0.05))
    return 0 if all(reached) else 1


if __name__ == "__main__":
    sys.exit(main())
