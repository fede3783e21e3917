"""Whether the constants that widen intervals (uncertainty.py) fit generated maps, and a scan of others.

    python benchmarks/calibration.py          checks the constants in use, on four kinds of generated maps
    python benchmarks/calibration.py --scan   prints the same figures for other values of FAINT and UNSEEN

Nothing here is real data, so that cities and gaze stay unseen for `benchmarks/intervals.py`. The signal is the number
of people times epsilon. Figures are means over maps: of all pixels, of the busiest tenth, of the busiest tenth on the
worst tenth of the maps, and the width, the sum of all intervals' lengths (the map's own sum is 1).
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction

import numpy as np

import dpheatmap as dph
from common import bar
from dpheatmap.evaluate.ground_truth import true_distribution
from dpheatmap.evaluate.process_pool import run_all
from dpheatmap.experiments.mixtures import mixture
from dpheatmap.experiments.populations import Place
from dpheatmap.heatmap import uncertainty
from dpheatmap.heatmap.smoothing import smooth
from dpheatmap.place.domain import Floats
from dpheatmap.testing import generated_people, seeded_release
from planning import generated_city

SIGMA, SIZE, MAPS = 0.02, 64, 4
PEOPLE, EPSILONS = (200, 2000), ("0.1", "0.2", "0.5", "1", "2", "5", "10")
CONFIDENCES = (0.6, 0.8, 0.9, 0.95)
FAINTS, UNSEENS = (3.0, 4.0, 5.0), (0.25, 0.35, 0.5)
OTHERS = 10_000  # added to seeds, so that no other benchmark or test has the same maps


def hidden_city(people: int, seed: int) -> Place:
    """A few very busy venues over a diffuse background; how many, how busy, how narrow and where is random.

    The cells measured at a weak signal hold both, so the map looks even at their scale: the hardest kind.
    """
    rng = np.random.default_rng([seed, 77])
    venues = int(rng.integers(1, 30))
    weight = np.arange(1, venues + 1) ** -rng.uniform(0.8, 1.6)
    at, spread = rng.random((venues, 2)), 0.003 * 10 ** rng.random(venues)
    busy, width = rng.uniform(0.3, 0.9), rng.choice([0.15, 0.3, 10.0])
    user = np.repeat(np.arange(people), rng.geometric(1 / 4, people))
    venue = rng.choice(venues, len(user), p=weight / weight.sum())
    hot = at[venue] + spread[venue][:, None] * rng.standard_normal((len(user), 2))
    diffuse = np.mod(0.5 + width * rng.standard_normal((len(user), 2)), 1.0)
    x, y = np.clip(np.where(rng.random((len(user), 1)) < busy, hot, diffuse), 0, 1).T
    return Place(f"hidden {seed}", dph.Domain.unit(8), user, x, y)


def some_city(people: int, seed: int) -> Place:
    return generated_city(people, OTHERS + seed)


def some_mixture(people: int, seed: int) -> Place:
    gaussians, sparsity = ((5, 0.02), (20, 0.15), (80, 0.75))[seed % 3]
    return mixture(gaussians, sparsity, people=people, rng=np.random.default_rng([seed, 31]))


def some_people(people: int, seed: int) -> Place:
    events = generated_people(people, seed=OTHERS + seed).fetchnumpy()
    return Place.of_events(f"people {seed}", dph.Domain.unit(8), events["person"], events["x"], events["y"])


KINDS: dict[str, Callable[[int, int], Place]] = {
    "hidden": hidden_city, "city": some_city, "mixture": some_mixture, "people": some_people
}  # fmt: skip
Task = tuple[str, int, int, str]


@contextmanager
def constants(faint: float, unseen: float) -> Iterator[None]:
    before = uncertainty.FAINT, uncertainty.UNSEEN
    uncertainty.FAINT, uncertainty.UNSEEN = faint, unseen
    try:
        yield
    finally:
        uncertainty.FAINT, uncertainty.UNSEEN = before


def judge(task: Task) -> dict[tuple[float, ...], Floats]:
    """Coverage of all pixels and of the busiest tenth, and the width, by constants and confidence."""
    kind, seed, people, epsilon = task
    counts = KINDS[kind](people, seed).sample(people, np.random.default_rng(seed))
    heat = seeded_release(counts, seed=7 * seed + 3, epsilon=Fraction(epsilon)).heatmap(sigma=SIGMA, size=SIZE)
    if heat.uncertainty is None:
        return {}
    true = smooth(true_distribution(counts), SIGMA, SIZE)
    busy = true >= np.quantile(true, 0.9)
    used = uncertainty.FAINT, uncertainty.UNSEEN
    cases = [(*used, confidence) for confidence in CONFIDENCES]
    if "--scan" in sys.argv:
        cases = [(faint, unseen, 0.9) for faint in FAINTS for unseen in UNSEENS]
    found: dict[tuple[float, ...], Floats] = {}
    for faint, unseen, confidence in cases:
        with constants(faint, unseen):
            low, high = heat.interval(confidence)
        inside = (low <= true) & (true <= high)
        found[faint, unseen, confidence] = np.array([inside.mean(), inside[busy].mean(), (high - low).sum()])
    return found


def main() -> int:
    found: dict[tuple[float, ...], list[tuple[Task, Floats]]] = defaultdict(list)
    tasks = [(kind, seed, n, e) for n in PEOPLE for e in EPSILONS for seed in range(1, MAPS + 1) for kind in KINDS]
    for task, result in run_all(judge, tasks):
        for case, values in result.items():
            found[case].append((task, values))
    for case, results in sorted(found.items()):
        print("FAINT {}, UNSEEN {}, confidence {}".format(*case))
        for kind in KINDS:
            print(f"  {kind}: " + "; ".join(_line(results, kind, epsilon) for epsilon in EPSILONS), flush=True)
    if "--scan" in sys.argv:
        return 0
    reached = [_reached(case, results) for case, results in found.items()]
    return 0 if all(reached) else 1


def _line(results: list[tuple[Task, Floats]], kind: str, epsilon: str) -> str:
    values = np.array([values for task, values in results if task[0] == kind and task[3] == epsilon])
    everywhere, busy, width = values.mean(axis=0)
    worst = np.quantile(values[:, 1], 0.1)
    return f"epsilon {epsilon} {everywhere:.2f} {busy:.2f} ({worst:.2f}) width {width:.2g}"


def _reached(case: tuple[float, ...], results: list[tuple[Task, Floats]]) -> bool:
    """Print the bars: all pixels at every confidence, the busiest tenth at 90 %, by epsilon."""
    reached, confidence = [], case[-1]
    for epsilon in EPSILONS:
        values = np.array([values for task, values in results if task[3] == epsilon])
        what = f"epsilon {epsilon}, {confidence:.0%} intervals: covered"
        reached.append(bar(f"{what}, all", values[:, 0].mean(), confidence, at_least=True))
        if confidence == 0.9:
            reached.append(bar(f"{what}, busiest tenth", values[:, 1].mean(), 0.85, at_least=True))
            worst = float(np.quantile(values[:, 1], 0.1))
            reached.append(bar(f"{what}, busiest tenth, worst tenth of maps", worst, 0.6, at_least=True))
    return all(reached)


if __name__ == "__main__":
    sys.exit(main())
