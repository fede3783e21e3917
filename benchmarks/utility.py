"""How good the paper's method is on real cities, and whether `plan` foresees it.

Needs the data folder (DPHEATMAP_DATA, default ../shared/data): 30 city cells of Gowalla and Foursquare. These come
through recommender-system splits, so people and places with few visits are missing.
"""

from __future__ import annotations

import os
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import duckdb
import numpy as np
import ot

import dpheatmap as dph
from common import bar
from dpheatmap.domain import Floats
from dpheatmap.estimate.distribution import Distribution
from dpheatmap.heatmap import gaussian_filter

DOMAIN = dph.Domain.unit(8)
SIGMA = 0.02
# What an independent prototype reached with 200 people: epsilon -> (CC, KL). It cut its Gaussian at 4 sigma.
PROTOTYPE = {0.5: (0.57, 3.2), 1: (0.77, 2.0), 2: (0.89, 1.1), 5: (0.95, 0.65), 10: (0.97, 0.42)}


def data_folder() -> Path:
    return Path(os.environ.get("DPHEATMAP_DATA", "../shared/data"))


def sampled_cells(people: int, trials: int, seed: int = 0) -> Iterator[dph.Counts]:
    """Counts of so many people drawn from each city cell that has them."""
    con, rng = duckdb.connect(), np.random.default_rng(seed)
    con.execute(f"CREATE VIEW cells AS SELECT * FROM '{data_folder() / 'geo_cells.parquet'}'")
    for (cell,) in con.execute("SELECT DISTINCT cell FROM cells ORDER BY 1").fetchall():
        events = con.execute("SELECT user, x, y FROM cells WHERE cell = ?", [cell]).df()
        users = events["user"].unique()
        for _ in range(trials if len(users) >= people else 0):
            chosen = rng.choice(users, people, replace=False)
            yield dph.aggregate(events[events["user"].isin(chosen)], DOMAIN, user="user", x="x", y="y")


def truth(counts: dph.Counts) -> Floats:
    weights = np.diff(counts.sums)
    levels = np.full(len(weights), DOMAIN.depth)
    return Distribution(DOMAIN, levels, counts.codes, weights / weights.sum(), 1.0).raster(256, 256)


def correlation(a: Floats, b: Floats) -> float:
    return float(np.corrcoef(a.ravel(), b.ravel())[0, 1])


def divergence(true: Floats, estimate: Floats, tiny: float = 2.2204e-16) -> float:
    return float((true * np.log(tiny + true / (estimate + tiny))).sum())


def earth_mover(a: Floats, b: Floats) -> float:
    """EMD in sides of the square, on 32 x 32 blocks."""
    centres = (np.arange(32) + 0.5) / 32
    points = np.stack(np.meshgrid(centres, centres), axis=-1).reshape(-1, 2)
    distances = np.abs(points[:, None] - points[None]).sum(axis=-1)
    blocks = [m.reshape(32, 8, 32, 8).sum(axis=(1, 3)).ravel() for m in (a, b)]
    return float(ot.emd2(*(block / block.sum() for block in blocks), distances, numItermax=2_000_000))


def compare_with_prototype() -> list[bool]:
    scores = defaultdict(list)
    for counts in sampled_cells(200, trials=2):
        true = gaussian_filter(truth(counts), DOMAIN, SIGMA)
        for epsilon in PROTOTYPE:
            heat = dph.release(counts, epsilon=epsilon).heatmap(sigma=SIGMA, method="paper").values
            scores[epsilon].append((correlation(true, heat), divergence(true, heat)))
    results = []
    for epsilon, (cc, kl) in PROTOTYPE.items():
        mean = np.mean(scores[epsilon], axis=0)
        results.append(bar(f"epsilon {epsilon}: mean CC (prototype {cc})", mean[0], cc - (1 - cc) / 3, at_least=True))
        results.append(bar(f"epsilon {epsilon}: mean KL (prototype {kl})", mean[1], kl * 4 / 3))
    return results


def compare_with_plan() -> list[bool]:
    results = []
    for people in (200, 2000):
        found = defaultdict(list)
        for counts in list(sampled_cells(people, trials=1))[::3]:
            for epsilon in (0.1, 0.5, 1, 2, 5, 10):
                estimate = dph.release(counts, epsilon=epsilon).distribution().raster(256, 256)
                found[epsilon].append(earth_mover(truth(counts), estimate))
        for epsilon, errors in found.items():
            foreseen = dph.plan(DOMAIN, epsilon=epsilon, users=people).expected_emd
            mean = float(np.mean(errors))
            what = f"n {people}, epsilon {epsilon}: EMD {mean:.4f}, plan {foreseen:.4f}, off by"
            results.append(bar(what, abs(foreseen / mean - 1), 0.3))
    return results


def main() -> int:
    if not (data_folder() / "geo_cells.parquet").exists():
        print("No data folder: set DPHEATMAP_DATA to one that holds geo_cells.parquet.")
        return 0
    return 0 if all([*compare_with_prototype(), *compare_with_plan()]) else 1


if __name__ == "__main__":
    sys.exit(main())
