"""How much it helps to use other releases and public maps, and how little a wrong one harms, on real cities.

Mean exact EMD and KL over 30 city cells, 200 people, epsilon 1, sigma 0.02, as ratios in one run.

* Priors, against none: last month's release of 200 others, the density of all others of the cell, smoothed lightly,
  and that of another city.
* Two releases of one table at epsilon 1/2 each, combined, against one of them; and one release at epsilon 1.
* Releases of two days with 200 other people each, combined, against one of them, all on the truth of both days; and
  both maps added up without telling each other anything.
* The part of true values that 90 % intervals hold: of all pixels, and of the busiest tenth.

Needs the data folder (DPHEATMAP_DATA). ``--quick`` tries 10 cells once.
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

SIGMA, SIZE, PEOPLE, LIGHTLY = 0.02, 64, 200, 0.01
EPSILON = Fraction(1)


def density(place: Place, people: Ints) -> Floats:
    """Where some people of a place are, hardly smoothed."""
    return smooth(true_distribution(place.counts_of(place.times(people))), LIGHTLY)


def score(true: Floats, heat: Floats) -> tuple[float, float]:
    """EMD and KL of a map."""
    return float(dph.metrics.emd(true, heat)), dph.metrics.kl(true, heat)


def scores_of_priors(cells: int, trials: int) -> dict[str, Floats]:
    """EMD and KL by prior, one row a trial; the first is what the others are compared with."""
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
                found[name].append(score(true, smooth(estimate, SIGMA)))
    return {name: np.array(rows) for name, rows in found.items()}


def scores_of_one_table(cells: int, trials: int) -> dict[str, Floats]:
    """EMD and KL of two releases of one table, combined, and of single ones."""
    found, rng = defaultdict(list), np.random.default_rng(1)
    for place in stand_in_data.cities().places[:cells]:
        for _ in range(trials):
            counts = place.counts_of(place.times(rng.permutation(place.people)[:PEOPLE]))
            true = smooth(true_distribution(counts), SIGMA)
            first, second = (dph.release(counts, epsilon=EPSILON / 2) for _ in range(2))
            maps: dict[str, dph.Release | dph.Combination] = {
                "one at 1/2": first,
                "two at 1/2": dph.combine([first, second], same=True),
                "one at 1": dph.release(counts, epsilon=EPSILON),
            }
            for name, made in maps.items():
                found[name].append(score(true, smooth(made.distribution(), SIGMA)))
    return {name: np.array(rows) for name, rows in found.items()}


def scores_of_two_days(cells: int, trials: int) -> dict[str, Floats]:
    """EMD and KL of releases of two days, combined, and of one of them, on the truth of both days."""
    found, rng = defaultdict(list), np.random.default_rng(2)
    for place in stand_in_data.cities().places[:cells]:
        for _ in range(trials):
            both, _ = np.split(rng.permutation(place.people), [2 * PEOPLE])
            true = smooth(true_distribution(place.counts_of(place.times(both))), SIGMA)
            days = [dph.release(place.counts_of(place.times(people)), epsilon=EPSILON) for people in np.split(both, 2)]
            alone = [day.distribution() for day in days]
            people = [shown.total for shown in alone]
            maps = {
                "one day": smooth(alone[0], SIGMA),
                "two days": smooth(dph.combine(days, same=False).distribution(), SIGMA),
                "two days, added up": np.average([smooth(shown, SIGMA) for shown in alone], axis=0, weights=people),
            }
            for name, heat in maps.items():
                found[name].append(score(true, heat))
    return {name: np.array(rows) for name, rows in found.items()}


def covered(heat: dph.Heatmap, true: Floats) -> tuple[float, float]:
    """The part of true values that intervals hold: of all pixels, and of the busiest tenth."""
    low, high = heat.interval()
    held = (low <= true) & (true <= high)
    return float(held.mean()), float(held[true >= np.quantile(true, 0.9)].mean())


def coverage(cells: int, trials: int) -> dict[str, Floats]:
    """What intervals hold on maps with a prior and of combined releases, and on that of one release."""
    found, rng = defaultdict(list), np.random.default_rng(3)
    for place in stand_in_data.cities().places[:cells]:
        for _ in range(trials):
            both, _ = np.split(rng.permutation(place.people), [2 * PEOPLE])
            tables = [place.counts_of(place.times(people)) for people in (*np.split(both, 2), both)]
            today, _, all_days = (smooth(true_distribution(counts), SIGMA, SIZE) for counts in tables)
            days = [dph.release(counts, epsilon=EPSILON) for counts in tables[:2]]
            halves = [dph.release(tables[0], epsilon=EPSILON / 2) for _ in range(2)]
            maps = {
                "one release": (days[0].heatmap(sigma=SIGMA, size=SIZE), today),
                "last month": (days[0].heatmap(sigma=SIGMA, size=SIZE, prior=days[1]), today),
                "two at 1/2": (dph.combine(halves, same=True).heatmap(sigma=SIGMA, size=SIZE), today),
                "two days": (dph.combine(days, same=False).heatmap(sigma=SIGMA, size=SIZE), all_days),
            }
            for name, (heat, true) in maps.items():
                found[name].append(covered(heat, true))
    means = {name: np.array(rows).mean(axis=0) for name, rows in found.items()}
    for name, (every, busiest) in means.items():
        print(f"{name}: intervals hold {every:.3f} of all pixels, {busiest:.3f} of the busiest tenth")
    return means


def ratios_to_first(found: dict[str, Floats]) -> dict[str, Floats]:
    """Print mean scores, and their ratios to those of the first, with standard errors; returns the ratios."""
    base, ratios = next(iter(found.values())), {}
    for name, rows in found.items():
        ratios[name] = rows.mean(axis=0) / base.mean(axis=0)
        error = (rows - ratios[name] * base).std(axis=0) / np.sqrt(len(rows)) / base.mean(axis=0)
        print(
            f"{name}: EMD {rows[:, 0].mean():.4f}, ratio {ratios[name][0]:.3f} +- {error[0]:.3f}; "
            f"KL {rows[:, 1].mean():.3f}, ratio {ratios[name][1]:.3f} +- {error[1]:.3f}"
        )
    return ratios


def main() -> int:
    if stand_in_data.folder() is None:
        print("No data folder: set DPHEATMAP_DATA to one that holds geo_cells.parquet.")
        return 0
    size = (10, 1) if "--quick" in sys.argv else (30, 2)
    ratios = ratios_to_first(scores_of_priors(*size))
    table = ratios_to_first(scores_of_one_table(*size))
    days = ratios_to_first(scores_of_two_days(*size))
    held = coverage(*size)
    reached = [
        bar("last month's release: EMD of no prior's", ratios["last month"][0], 0.97),
        bar("a good density: EMD of no prior's", ratios["good density"][0], 0.8),
        bar("another city: EMD of no prior's", ratios["another city"][0], 1.03),
        bar("two releases at 1/2: EMD of one's", table["two at 1/2"][0], 0.95),
        bar("two days: EMD of one day's", days["two days"][0], 0.95),
        *(bar(f"{name}: busiest tenth outside of intervals", 1 - part[1], 0.2) for name, part in held.items()),
    ]
    return 0 if all(reached) else 1


if __name__ == "__main__":
    sys.exit(main())
