"""Two servers that look where people are: their maps beside those of servers that publish every cell at once.

Needs the data folder (DPHEATMAP_DATA, default ../shared/data): city cells of Gowalla and Foursquare, and gaze. Where
people are many and even, and nothing is gained by looking, the maps are of people drawn from 80 Gaussians.

The published cells and the bytes of a device are those of 256 x 256 cells. B is the number of units that a person's
weight is rounded to.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator
from fractions import Fraction

import numpy as np

import dpheatmap as dph
from common import bar, cpu_seconds
from dpheatmap.collect.contribution import vector_of
from dpheatmap.collect.seed_shares import split_by_seeds
from dpheatmap.collect.server_terms import ServerTerms
from dpheatmap.collect.simulate import simulate
from dpheatmap.curator import discrete_laplace
from dpheatmap.design.paper import all_at_once
from dpheatmap.design.privacy_loss import PureLoss
from dpheatmap.design.shares import UNITS, part
from dpheatmap.estimate.distribution import Distribution
from dpheatmap.evaluate.ground_truth import true_distribution
from dpheatmap.evaluate.scores import ratio_of, score
from dpheatmap.experiments import stand_in_data
from dpheatmap.experiments.populations import Place
from dpheatmap.heatmap.smoothing import smooth
from dpheatmap.releases.noise_law import LaplaceNoise
from dpheatmap.releases.release import Release
from dpheatmap.releases.trust import Trust

SIGMA, SIZE = 0.02, 64
MAPS = 24
CROWDS = ((200, "0.1"), (200, "1"), (200, "4"), (200, "10"), (1000, "2"))
"""Numbers of people and epsilons: epsilon n from 20 to 2,000."""
FEW_UNITS = (4, 15, UNITS)


def at_once(counts: dph.Counts, epsilon: Fraction, people: int) -> Release:
    """What two servers would publish of all cells of the paper's levels, each with its noise, without looking."""
    design = all_at_once(counts.domain)
    levels, codes = design.coordinates(counts.domain)
    sums = []
    for level, share in sorted(design.shares.items()):
        law, here = discrete_laplace(part(epsilon, share) / UNITS), codes[levels == level]
        sums.append(counts.exact(level, here) + law.sample(len(here)) + law.sample(len(here)))
    return Release.collected(
        counts.domain, design, np.concatenate(sums), loss=PureLoss(epsilon), trust=Trust("servers", people),
        noise=LaplaceNoise(Fraction(2)),
    )  # fmt: skip


def emd(true: np.ndarray, found: Distribution) -> float:
    return score(true, smooth(found, SIGMA, SIZE)).emd


def crowds(places: Iterable[Place], people: int) -> Iterator[tuple[dph.Counts, list[tuple[np.ndarray, np.ndarray]]]]:
    rng = np.random.default_rng(1)
    for place in places:
        if place.people >= people:
            drawn = rng.choice(place.people, people, replace=False)
            yield place.counts_of(place.times(drawn)), [place.points_of(person) for person in drawn]


def gaussians(people: int) -> Place:
    """One point a person, from 80 Gaussians in the unit square."""
    rng = np.random.default_rng(7)
    middles, of = rng.uniform(0.1, 0.9, (80, 2)), rng.integers(0, 80, people)
    x, y = (middles[of] + rng.normal(0, 0.03, (people, 2))).clip(0, 1).T
    return Place.of_events("80 Gaussians", dph.Domain.unit(8), np.arange(people), x, y)


def compare(what: str, places: list[Place], people: int, epsilon: str, limit: float) -> bool:
    """The ratio of the EMDs, looking over not looking, and the cells that are published."""
    found = defaultdict[object, list[float]](list)
    for counts, points in crowds(places, people):
        true, exact = smooth(true_distribution(counts), SIGMA, SIZE), Fraction(epsilon)
        found["at once"].append(emd(true, at_once(counts, exact, people).distribution()))
        for units in FEW_UNITS:
            enough = max(units, int(exact))
            terms = ServerTerms.of(counts.domain, epsilon=exact, n_min=people, n_max=people, units=enough)
            release = simulate(terms, points)
            found[units].append(emd(true, release.distribution()))
            found["cells"].append(len(release.measurements))
    ratios = {units: ratio_of(found[units], found["at once"]) for units in FEW_UNITS}
    told = ", ".join(f"{ratio.mean:.2f} ± {ratio.half_width:.2f} with B = {units}" for units, ratio in ratios.items())
    runs, whole, cells = len(found["at once"]), np.mean(found["at once"]), found["cells"]
    print(
        f"{what}, {people} people, epsilon {epsilon}, {runs} maps: EMD {whole:.4f} at once, by looking {told} of that; "
        f"{np.median(cells):.0f} cells published, {max(cells)} at most",
        flush=True,
    )
    return bar(f"{what}, epsilon n = {float(Fraction(epsilon) * people):g}: EMD by looking", ratios[15].mean, limit)


def cost() -> list[bool]:
    """What a device sends and computes at 256 x 256 cells, and what a server computes for one of them."""
    terms = ServerTerms.of(dph.Domain.unit(8), epsilon=1, n_min=2, n_max=9)
    x, y = np.random.default_rng().uniform(0, 1, (2, 60))

    def contribute() -> list[bytes]:
        return split_by_seeds(vector_of(terms, *terms.tree.leaves(x, y)), 2)

    sent = sum(map(len, contribute()))
    before = 2 * 8 * len(all_at_once(terms.domain).coordinates(terms.domain)[0])
    return [
        bar("a device's bytes, of those for all levels at once", sent / before, 0.5),
        bar("a contribution", 1000 * cpu_seconds(contribute, 5), 20, unit=" CPU ms"),
    ]


def measure() -> list[bool]:
    """All figures, each beside its bar."""
    results = cost()
    if stand_in_data.folder() is None:
        print("No data folder: set DPHEATMAP_DATA to one that holds geo_cells.parquet.")
    else:
        cities = sorted(stand_in_data.cities().places, key=lambda place: -place.people)[:MAPS]
        results += [compare("cities", cities, people, epsilon, 0.85) for people, epsilon in CROWDS]
        gaze = list(stand_in_data.gaze().places)[:MAPS]
        results += [compare("gaze", gaze, 50, epsilon, 1.0) for epsilon in ("1", "10")]
    for people, epsilon in ((200, "10"), (4000, "5"), (4000, "25")):
        results.append(compare("80 Gaussians", [gaussians(people)] * 4, people, epsilon, 1.0))
    return results


if __name__ == "__main__":
    sys.exit(0 if all(measure()) else 1)
