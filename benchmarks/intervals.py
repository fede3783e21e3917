"""How often 90 % intervals hold the true heat, and how often significant pixels are wrong, on maps not fitted to.

City cells and gaze (DPHEATMAP_DATA), generated mixtures, and generated cities with hidden hot spots of other seeds than
those that the widening was set on (`benchmarks/calibration.py`); pixels, and masses of 16 x 16 and 8 x 8 blocks.
Covered are all pixels, the busiest tenth, and those with anybody near, that is with over a thousandth of the largest
value. The real data came through recommender-system splits: people and places with few visits are missing.

Maps on which nothing rose above the noise have no intervals, and are left out. At the end come the rows of the table in
`docs/explanation/results.md`.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from fractions import Fraction
from functools import cache

import numpy as np

from calibration import hidden_city
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

EPSILONS = ("0.1", "0.2", "0.5", "1", "2", "5", "10")
SIZES = {"pixels": 64, "16 x 16 blocks": 16, "8 x 8 blocks": 8}
KINDS = {
    "cities": (200, 0.02),
    "cities, 2000 people": (2000, 0.02),
    "gaze": (50, GAZE_SIGMA),
    "mixtures": (200, 0.02),
    "hidden": (200, 0.02),
    "hidden, 2000 people": (2000, 0.02),
}
LEVELS = (1.0, 3.0)  # times an even map's
Results = dict[tuple[str, str, str], list[Floats]]


@cache
def places(kind: str) -> tuple[Place, ...]:
    people, _ = KINDS[kind]
    if kind == "cities":
        return stand_in_data.cities().places[::2]
    if kind.startswith("cities"):
        return tuple(place for place in stand_in_data.cities().places if place.people >= people)[::2]
    if kind == "gaze":
        return stand_in_data.gaze().places[::3]
    if kind.startswith("hidden"):
        return tuple(hidden_city(people, 1000 + number) for number in range(12 if people < 1000 else 5))
    return tuple(
        mixture(gaussians, sparsity, people=people, rng=np.random.default_rng(seed_of("coverage", gaussians, number)))
        for gaussians, sparsity in ((5, 0.02), (20, 0.15), (80, 0.75))
        for number in range(4)
    )


def judge(task: tuple[str, int, str]) -> dict[str, Floats]:
    kind, number, epsilon = task
    people, sigma = KINDS[kind]
    counts = places(kind)[number].sample(people, np.random.default_rng(number))
    release = seeded_release(counts, seed=seed_of(*task), epsilon=Fraction(epsilon))
    found: dict[str, Floats] = {}
    for name, size in SIZES.items():
        heat, true = release.heatmap(sigma=sigma, size=size), smooth(true_distribution(counts), sigma, size)
        if heat.uncertainty is None:
            return {}
        low, high = heat.interval(0.9)
        inside = (low <= true) & (true <= high)
        busy, visited = true >= np.quantile(true, 0.9), true > 1e-3 * true.max()
        width = (high - low).sum() / heat.values.sum()
        found[name] = np.array([inside.mean(), inside[busy].mean(), inside[visited].mean(), width])
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
    found: Results = defaultdict(list)
    tasks = [(kind, number, e) for kind in KINDS for number in range(len(places(kind))) for e in EPSILONS]
    for (kind, _, epsilon), result in run_all(judge, tasks):
        for name, values in result.items():
            found[kind, epsilon, name].append(values)
    reached = [_reached(found, kind, epsilon) for kind in KINDS for epsilon in EPSILONS]
    for kind in KINDS:
        for epsilon in EPSILONS:
            print(_row(found, kind, epsilon))
    return 0 if all(reached) else 1


def _reached(found: Results, kind: str, epsilon: str) -> bool:
    reached = []
    for name in SIZES:
        everywhere, busy, visited, _ = np.mean(found[kind, epsilon, name], axis=0)
        what = f"{kind}, epsilon {epsilon}, {name}: covered"
        reached.append(bar(f"{what}, all", everywhere, 0.9, at_least=True))
        reached.append(bar(f"{what}, busiest tenth", busy, 0.85 if name == "pixels" else 0.8, at_least=True))
        reached.append(bar(f"{what}, visited", visited, 0.85, at_least=True))
    worst = _worst(found, kind, epsilon)
    what = f"{kind}, epsilon {epsilon}, pixels: covered, busiest tenth, worst tenth of maps"
    reached.append(bar(what, worst, 0.6, at_least=True))
    what = f"{kind}, epsilon {epsilon}: significant at 95 %, wrong"
    reached.append(bar(f"{what} pixels", float(np.mean(found[kind, epsilon, "discovery"])), 0.05))
    reached.append(bar(f"{what} maps (family)", float(np.mean(found[kind, epsilon, "family"])), 0.05))
    return all(reached)


def _worst(found: Results, kind: str, epsilon: str) -> float:
    """The coverage of the busiest tenth that nine of ten maps exceed."""
    return float(np.quantile([values[1] for values in found[kind, epsilon, "pixels"]], 0.1))


def _row(found: Results, kind: str, epsilon: str) -> str:
    means = [np.mean(found[kind, epsilon, name], axis=0) for name in SIZES]
    covered = [" / ".join(f"{value:.2f}" for value in values[:3]) for values in means]
    wrong = [f"{np.mean(found[kind, epsilon, control]):.1%}" for control in ("discovery", "family")]
    columns = [
        kind, epsilon, covered[0], f"{_worst(found, kind, epsilon):.2f}", f"{means[0][3]:.1f}", *covered[1:], *wrong
    ]  # fmt: skip
    return f"| {' | '.join(columns)} |"


if __name__ == "__main__":
    sys.exit(main())
