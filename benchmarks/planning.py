"""Whether `plan` foresees the errors of the designs' heatmaps, and the simulation that it foresees them by.

    python benchmarks/planning.py              compares with real cities (DPHEATMAP_DATA); the bar is for the default
    python benchmarks/planning.py --simulate   makes the tables in forecast.py anew: generated people, no data

Heatmaps are those that a release of the design gives by default, by the posterior.

The people generated live in districts of an invented city and meet at its venues, of which few are busy and many are
not. The real cities are Gowalla and Foursquare check-ins through recommender-system splits: people and places with few
visits are missing.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from fractions import Fraction

import numpy as np

import dpheatmap as dph
from common import bar
from dpheatmap.evaluate.ground_truth import true_distribution
from dpheatmap.evaluate.process_pool import run_all
from dpheatmap.experiments import stand_in_data
from dpheatmap.experiments.populations import Place
from dpheatmap.heatmap.smoothing import smooth
from dpheatmap.place.domain import Floats
from dpheatmap.testing import seeded_release
from shapes import DOMAINS, SQUARE, scattered

SIGMA, SIZE = 0.02, 128
SIGNALS = (10, 30, 100, 200, 300, 1000, 3000, 10**4, 3 * 10**4, 10**5)
CITIES, PEOPLE = {"ladder": 12, "adaptive": 12, "paper": 6, "dense": 4}, 1000
DISTRICTS, VENUES = 12, 400
SIGNALS_BY_PLACES, NUMBERS_OF_PLACES, DRAWS = (50, 200, 800, 3200, 12_800), (1, 4, 16, 64, 256, 1024, 4096), 4
EPSILONS = (Fraction(3), Fraction(1), Fraction(1, 4))


def falling(count: int) -> Floats:
    weights = 1.0 / np.arange(1, count + 1)
    shares: Floats = weights / weights.sum()
    return shares


def generated_city(people: int, seed: int) -> Place:
    rng = np.random.default_rng(seed)
    district = rng.choice(DISTRICTS, VENUES, p=falling(DISTRICTS))
    width = 0.05 * np.exp(0.6 * rng.standard_normal(DISTRICTS))
    centre = rng.normal(0.5, 0.2, (DISTRICTS, 2))
    venue = np.mod(centre[district] + width[district][:, None] * rng.standard_normal((VENUES, 2)), 1.0)
    popularity = rng.permutation(falling(VENUES))
    user = np.repeat(np.arange(people), rng.geometric(1 / 5, people))
    at_home = rng.random(len(user)) < 0.6
    visited = rng.choice(VENUES, len(user), p=popularity)
    home = rng.choice(DISTRICTS, people, p=falling(DISTRICTS))[user]
    for k in np.unique(district):
        mine, near = np.flatnonzero(at_home & (home == k)), popularity * (district == k)
        visited[mine] = rng.choice(VENUES, len(mine), p=near / near.sum())
    x, y = np.clip(venue[visited] + 0.002 * rng.standard_normal((len(user), 2)), 0, 1).T
    return Place(f"generated {seed}", dph.Domain.unit(8), user, x, y)


def error(counts: dph.Counts, epsilon: Fraction, seed: int, design: str = "ladder") -> float:
    made = seeded_release(counts, seed=seed, epsilon=epsilon, design=design)
    heat = made.heatmap(sigma=SIGMA, size=SIZE)
    true = smooth(true_distribution(counts), SIGMA, SIZE)
    return dph.metrics.emd(true, heat.values, tolerance=0.005).middle


def simulated(task: tuple[str, int, int]) -> float:
    design, signal, seed = task
    counts = generated_city(PEOPLE, seed).sample(PEOPLE, np.random.default_rng(seed))
    return error(counts, Fraction(signal, PEOPLE), seed, design)


def simulated_by_places(task: tuple[str, int, int, int]) -> float:
    design, signal, places, draw = task
    rng, epsilon = np.random.default_rng([signal, places, draw]), EPSILONS[draw % len(EPSILONS)]
    people = round(signal / epsilon)
    x, y = scattered(places, people, rng).T
    place = Place(f"{places} places", DOMAINS[SQUARE], np.arange(people), x, y)
    return error(place.sample(people, rng), epsilon, draw, design)


def simulate() -> None:
    by_places = [
        (design, signal, places, draw)
        for design in CITIES for signal in SIGNALS_BY_PLACES for places in NUMBERS_OF_PLACES for draw in range(DRAWS)
    ]  # fmt: skip
    rows: dict[tuple[str, int], Floats] = defaultdict(lambda: np.zeros(len(NUMBERS_OF_PLACES)))
    for (design, signal, places, _), value in run_all(simulated_by_places, by_places):
        rows[design, signal][NUMBERS_OF_PLACES.index(places)] += value / DRAWS
    for (design, signal), row in sorted(rows.items()):
        print(f"{design}, {signal}: ({', '.join(f'{value:.2g}' for value in row)}),", flush=True)
    found = defaultdict(list)
    tasks = [(design, s, seed) for design, cities in CITIES.items() for s in SIGNALS for seed in range(cities)]
    for (design, signal, _), value in run_all(simulated, tasks):
        found[design, signal].append(value)
    for (design, signal), errors in found.items():
        print(f"{design}: ({signal}, {np.mean(errors):.3g}),", flush=True)


def measured(task: tuple[str, int, int, str]) -> float:
    design, number, people, epsilon = task
    counts = stand_in_data.cities().places[number].sample(people, np.random.default_rng(number))
    return error(counts, Fraction(epsilon), number, design)


def main() -> int:
    if "--simulate" in sys.argv:
        simulate()
        return 0
    if stand_in_data.folder() is None:
        print("No data folder: set DPHEATMAP_DATA to one that holds geo_cells.parquet.")
        return 0
    large = [k for k, place in enumerate(stand_in_data.cities().places) if place.people >= 2000]
    cases = [("ladder", 200, list(range(0, 30, 2))), *((design, 2000, large) for design in CITIES)]
    tasks = [(d, k, n, e) for d, n, numbers in cases for k in numbers for e in ("0.1", "0.5", "1", "2", "5", "10")]
    found = defaultdict(list)
    for (design, _, people, epsilon), value in run_all(measured, tasks):
        found[design, people, epsilon].append(value)
    reached = []
    for (design, people, epsilon), errors in sorted(found.items()):
        foreseen = dph.plan(dph.Domain.unit(8), epsilon=epsilon, users=people, design=design).expected_emd
        what = f"{design}, n {people}, epsilon {epsilon}: EMD {np.mean(errors):.4f}, plan {foreseen:.4f}, off by"
        near = bar(what, abs(foreseen / float(np.mean(errors)) - 1), 0.3)
        reached.append(near or design != "ladder")
    return 0 if all(reached) else 1


if __name__ == "__main__":
    sys.exit(main())
