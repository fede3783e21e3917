"""People in areas: how often 90 % intervals hold the true numbers, and what a thousand districts cost.

Areas are the parts of a map nearest to one of some random points, from a tenth of the map up, and all of it. The maps
are of the kinds of `benchmarks/intervals.py`, but others: the widening of the intervals was set on those. Real ones
need DPHEATMAP_DATA.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from fractions import Fraction
from functools import cache

import numpy as np
import shapely
from geopandas import GeoSeries

import dpheatmap as dph
from calibration import hidden_city
from common import bar, cpu_seconds
from country import BOX, RESOLUTION
from dpheatmap.design.shares import UNITS
from dpheatmap.estimate.areas.area_source import read_areas
from dpheatmap.estimate.areas.area_table import area_table
from dpheatmap.estimate.areas.coverage import cover
from dpheatmap.evaluate.ground_truth import true_distribution
from dpheatmap.evaluate.process_pool import run_all
from dpheatmap.evaluate.trial import seed_of
from dpheatmap.experiments import stand_in_data
from dpheatmap.experiments.mixtures import mixture
from dpheatmap.experiments.populations import Place
from dpheatmap.testing import generated_people, seeded_release
from intervals import KINDS

EPSILONS = ("0.5", "1", "2", "5", "10")
PARTS = (2, 4, 10)


@cache
def places(kind: str) -> tuple[Place, ...]:
    """Maps of a kind that are not among those of `benchmarks/intervals.py`."""
    people, _ = KINDS[kind]
    if kind.startswith("cities"):
        return tuple(place for place in stand_in_data.cities().places if place.people >= people)[1::2]
    if kind == "gaze":
        return stand_in_data.gaze().places[1::3]
    if kind.startswith("hidden"):
        return tuple(hidden_city(people, 5000 + number) for number in range(12 if people < 1000 else 5))
    return tuple(
        mixture(gaussians, sparsity, people=people, rng=np.random.default_rng(seed_of("areas", gaussians, number)))
        for gaussians, sparsity in ((5, 0.02), (20, 0.15), (80, 0.75))
        for number in range(4)
    )


def districts(domain: dph.Domain, parts: int, seed: int) -> dict[str, shapely.Geometry]:
    """Parts of a place, each nearest to one of some random points."""
    x0, y0, x1, y1 = domain.extent
    points = np.random.default_rng(seed).uniform((x0, y0), (x1, y1), (parts, 2))
    whole = shapely.box(x0, y0, x1, y1)
    cells = shapely.get_parts(shapely.voronoi_polygons(shapely.MultiPoint(points), extend_to=whole))
    return {str(number): cell for number, cell in enumerate(shapely.intersection(cells, whole))}


def judge(task: tuple[str, int, str]) -> dict[str, list[float]]:
    """For each size of areas, whether the intervals of shares and of people hold the truth."""
    kind, number, epsilon = task
    people, _ = KINDS[kind]
    counts = places(kind)[number].sample(people, np.random.default_rng(7000 + number))
    release = seeded_release(counts, seed=seed_of("areas", *task), epsilon=Fraction(epsilon))
    truth = true_distribution(counts)
    found = {}
    for parts in (1, *PARTS):
        areas = (
            {"all": shapely.box(*counts.domain.extent)} if parts == 1 else districts(counts.domain, parts, 900 + number)
        )
        shapes = read_areas(areas, counts.domain).shapes(counts.domain)
        true = cover(shapes, counts.domain, truth.levels, truth.codes).total(truth.mass)
        table = area_table(release, areas, confidence=0.9, name=None, layer=None)
        number_of = true * counts.total / UNITS
        in_people = (table.people_low <= number_of + 1e-9) & (number_of <= table.people_high + 1e-9)
        in_share = (table.low <= true + 1e-9) & (true <= table.high + 1e-9)
        large = true >= 0.0 if parts == 1 else shapes.sizes >= 0.1 * shapes.sizes.sum()
        found[f"1/{parts}"] = [float(in_share[large].mean()), float(in_people[large].mean()), float(large.any())]
    return found


def coverage() -> list[bool]:
    """The bars of coverage, by kind of map and epsilon."""
    results = []
    found = defaultdict(list)
    kinds = KINDS if stand_in_data.folder() is not None else ("mixtures", "hidden")
    tasks = [(kind, number, epsilon) for kind in kinds for number in range(len(places(kind))) for epsilon in EPSILONS]
    for (kind, _, epsilon), result in run_all(judge, tasks):
        for name, (share, people, any_large) in result.items():
            if any_large:
                found[kind, epsilon, name].append((share, people))
    for kind in kinds:
        for epsilon in EPSILONS:
            rows = [np.mean(found[kind, epsilon, f"1/{parts}"], axis=0) for parts in (1, *PARTS)]
            words = "  ".join(f"{share:.2f} {people:.2f}" for share, people in rows)
            print(f"{kind}, epsilon {epsilon}: shares and people of 1/1, 1/2, 1/4, 1/10: {words}", flush=True)
    for kind in kinds:
        for index, what in enumerate(("shares", "people")):
            held = [
                pair[index]
                for (of, _, name), pairs in found.items()
                if of == kind and (index or name != "1/1")
                for pair in pairs
            ]
            results.append(bar(f"{kind}: {what} covered", float(np.mean(held)), 0.85, at_least=True))
            results.append(bar(f"{kind}: {what} covered", float(np.mean(held)), 0.95))
    return results


def thousand_districts() -> float:
    """CPU seconds of a thousand districts of a country of 10^5 people, whose posterior is known already."""
    domain = dph.Domain.bbox(*BOX, resolution=RESOLUTION)
    release = dph.release(generated_people(100_000, extent=BOX), domain, epsilon=1, user="person", x="x", y="y")
    areas = GeoSeries(districts(domain, 1000, 1), crs="EPSG:4326")
    release.areas(areas)
    return cpu_seconds(lambda: release.areas(areas), 3)


def main() -> int:
    results = coverage()
    results.append(bar("a thousand districts beyond the posterior", thousand_districts(), 2, unit=" s"))
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
