"""What a boundary buys: the map of a coastal city whose water is known to be empty, against that of its box.

The people are those of Gowalla in New York (DPHEATMAP_DATA), of whom only visits inside the boundary count, in both
maps. One boundary is that of all land around the city, from the package's own basemap of 1:10 million, widened by
500 m. The other is a rough outline of Manhattan, a slanted island in an upright box. Both maps are compared with the
true one, whose heat ends at the boundary, too.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from functools import cache

import duckdb
import numpy as np
import shapely

import dpheatmap as dph
from common import bar
from dpheatmap.evaluate.ground_truth import true_distribution
from dpheatmap.evaluate.process_pool import run_all
from dpheatmap.evaluate.trial import seed_of
from dpheatmap.experiments import stand_in_data
from dpheatmap.experiments.populations import Place
from dpheatmap.heatmap.smoothing import smooth
from dpheatmap.place.domain import Bounds
from dpheatmap.render import basemap
from dpheatmap.testing import seeded_release

BOX = (-74.26, 40.49, -73.70, 40.92)
NEAR = 0.005  # degrees around the land
MANHATTAN = (
    (-74.019, 40.700), (-74.008, 40.699), (-73.972, 40.711), (-73.970, 40.728), (-73.940, 40.775), (-73.926, 40.800),
    (-73.932, 40.835), (-73.905, 40.873), (-73.927, 40.880), (-73.950, 40.850), (-73.975, 40.798), (-74.012, 40.755),
)  # fmt: skip
SIZE, SMOOTHING, FINE = 96, 0.01, 0.002  # of the longer side
EPSILONS = (0.2, 0.5, 1, 2, 5)
PEOPLE = (200, 1000, 5000)
SEEDS = 12
NAMES = ("New York", "Manhattan")


def boundary(name: str) -> shapely.Geometry:
    """The boundary of a place."""
    if name == "Manhattan":
        return shapely.Polygon(MANHATTAN)
    land = [shapely.make_valid(shapely.Polygon(rings[0], rings[1:])) for rings in basemap.land(Bounds(*BOX))]
    return shapely.intersection(shapely.buffer(shapely.union_all(land), NEAR), shapely.box(*BOX))


@cache
def places(name: str) -> tuple[Place, Place]:
    """The visits inside a boundary: in the box around it, and in the boundary."""
    outline = boundary(name)
    file = f"{stand_in_data.folder()}/gowalla_nyc_timed.parquet"
    found = duckdb.execute("SELECT user, lon, lat FROM read_parquet(?) ORDER BY ALL", [file]).fetchnumpy()
    inside = shapely.contains_xy(outline, found["lon"], found["lat"])
    user, x, y = (found[column][inside] for column in ("user", "lon", "lat"))
    resolution = FINE * dph.Domain.bbox(*outline.bounds, resolution=100).longer_side
    region = dph.Domain.polygon(shapely.geometry.mapping(outline), resolution=resolution)
    box = dph.Domain.bbox(*region.extent, resolution=resolution)
    return Place.of_events(name, box, user, x, y), Place.of_events(name, region, user, x, y)


def judge(task: tuple[str, int, float, int]) -> tuple[float, float, float]:
    """The distance from the true map, in km, of the box's map, of the same cut at the boundary, and of the region's."""
    name, people, epsilon, seed = task
    maps = []
    for place in places(name):
        counts = place.sample(people, np.random.default_rng(seed))
        sigma = SMOOTHING * counts.domain.longer_side
        release = seeded_release(counts, seed=seed_of("boundary", *task), epsilon=epsilon)
        maps.append(release.heatmap(sigma=sigma, size=SIZE).values)
    true = smooth(true_distribution(counts), sigma, SIZE)
    in_box, in_region = maps
    cut = np.where(true > 0, in_box, 0.0)
    side = counts.domain.longer_side / 1000
    whole, after, region = (
        side * dph.metrics.emd(found / found.sum(), true / true.sum()) for found in (in_box, cut, in_region)
    )
    return whole, after, region


def main() -> int:
    if stand_in_data.folder() is None:
        print("The data of New York is not here: set DPHEATMAP_DATA.")
        return 0
    found = defaultdict(list)
    tasks = [
        (name, people, epsilon, seed)
        for name in NAMES
        for people in PEOPLE
        for epsilon in EPSILONS
        for seed in range(SEEDS)
    ]
    for (name, people, epsilon, _), result in run_all(judge, tasks):
        found[name, people, epsilon].append(result)
    reached = []
    for name in NAMES:
        domain = places(name)[1].domain
        depth = domain.depth
        inside = domain.place.mask(depth).count(depth) / domain.cells(depth).count
        print(f"{name}: {inside:.0%} of the box is inside. Distance from the truth:")
        print("| people | epsilon | box | box, cut afterwards | boundary |")
        means = {key[1:]: np.mean(results, axis=0) for key, results in found.items() if key[0] == name}
        for (people, epsilon), (box, after, region) in sorted(means.items()):
            print(f"| {people:,} | {epsilon:g} | {box:.2f} km | {after:.2f} km | {region:.2f} km |")
        logs = np.log(list(means.values()))
        gain, later = np.exp((logs[:, 2:] - logs[:, :2]).mean(axis=0))
        reached.append(bar(f"{name}: the boundary's distance from the truth against the box's", float(gain), 1))
        print(f"{name}: against the box's, cut afterwards: {later:.2f}", flush=True)
    return 0 if all(reached) else 1


if __name__ == "__main__":
    sys.exit(main())
