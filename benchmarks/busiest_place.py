"""How often the range that a map gives for its busiest place holds the true value there: maps claim nine of ten.

City cells (DPHEATMAP_DATA) and generated cities, 200 and 1,000 people, epsilon 0.5 to 4. The place was chosen for being
the highest of the map, so a range of one pixel would hold it less often.
"""

from __future__ import annotations

import sys
from fractions import Fraction

import numpy as np

from common import bar
from dpheatmap.evaluate.ground_truth import true_distribution
from dpheatmap.evaluate.process_pool import run_all
from dpheatmap.evaluate.trial import seed_of
from dpheatmap.experiments import generated_data, stand_in_data
from dpheatmap.heatmap.smoothing import smooth
from dpheatmap.testing import seeded_release

EPSILONS = ("0.5", "1", "4")
PEOPLE = (200, 1000)
PLACES = 20
SIGMA, SIZE = 0.02, 128
SOURCES = {"real": stand_in_data.cities, "generated": generated_data.cities}


def judge(task: tuple[str, int, int, str]) -> tuple[bool, bool] | None:
    """Whether the range for the highest of all, and the range of the pixel alone, hold the truth; None without any."""
    source, number, people, epsilon = task
    counts = SOURCES[source]().places[number].sample(people, np.random.default_rng(number))
    heat = seeded_release(counts, seed=seed_of(*task), epsilon=Fraction(epsilon)).heatmap(sigma=SIGMA, size=SIZE)
    if heat.uncertainty is None:
        return None
    true = smooth(true_distribution(counts), SIGMA, SIZE)
    at = np.unravel_index(heat.values.argmax(), heat.values.shape)
    together = [factor * heat.values for factor in heat.uncertainty.roughly.relative_interval_of_highest(0.9)]
    held = [bool(low[at] <= true[at] <= high[at]) for low, high in (together, heat.interval(0.9))]
    return held[0], held[1]


def main() -> int:
    sources = [name for name in SOURCES if name == "generated" or stand_in_data.folder() is not None]
    cities = {
        name: [k for k, city in enumerate(SOURCES[name]().places) if city.people >= PEOPLE[-1]] for name in sources
    }
    tasks = [(s, k, n, e) for s in sources for k in cities[s][:PLACES] for n in PEOPLE for e in EPSILONS]
    found = [result for _, result in run_all(judge, tasks) if result is not None]
    together, alone = np.mean(found, axis=0)
    print(f"      {len(found)} maps; the range of the pixel alone held the truth on {alone:.0%} of them")
    return 0 if bar("maps whose busiest place has the true value in its range", together, 0.9, at_least=True) else 1


if __name__ == "__main__":
    sys.exit(main())
