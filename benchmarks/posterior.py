"""Speed of the posterior on trees like those of the adaptive design: cells opened where mass is, leaves measured twice.

Times are CPU seconds, the best of several runs, after compilation, for the whole way from measurements to a
distribution: the concentration, both passes and the layout of the leaves. The exit code is 0 if every bar is met.
"""

from __future__ import annotations

import heapq
import sys
from functools import partial

import numpy as np

from common import bar, cpu_seconds
from dpheatmap.estimate.distribution import Distribution
from dpheatmap.estimate.posterior.likelihood import LAPLACE
from dpheatmap.estimate.posterior.observations import Observations
from dpheatmap.estimate.posterior.posterior import infer
from dpheatmap.place.domain import Domain

BARS = {1_000: 0.2, 10_000: 2.0}
FIRST, DEPTH = 2, 14


def observations(cells: int) -> Observations:
    """So many cells: from level 2 on, the fullest one is opened until there are enough; splits are Beta(0.7, 0.7)."""
    rng = np.random.default_rng(1)
    people = float(cells)
    waiting = [(-people / 4**FIRST, FIRST, code) for code in range(4**FIRST)]
    inner: list[tuple[float, int, int]] = []
    while len(waiting) + len(inner) < cells:
        negative, level, code = heapq.heappop(waiting)
        inner.append((negative, level, code))
        west, north, east = rng.beta(0.7, 0.7, 3)
        shares = (west * north, (1 - west) * east, west * (1 - north), (1 - west) * (1 - east))
        for k, share in enumerate(shares):
            heapq.heappush(waiting, (negative * share if level + 1 < DEPTH else 0.0, level + 1, 4 * code + k))
    once = np.array([*inner, *waiting])
    rows = np.concatenate([once, once[len(inner) :]])
    scales = np.where(np.arange(len(rows)) < len(once), 2.0, 0.5)
    noisy = -rows[:, 0] + scales * rng.laplace(size=len(rows))
    levels, codes = (rows[:, k].astype(np.int64) for k in (1, 2))
    return Observations(Domain.unit(DEPTH), levels, codes, noisy, scales, LAPLACE)


def reconstructed(seen: Observations) -> Distribution:
    return infer(seen).distribution()


def main() -> int:
    infer(observations(100)).distribution()
    reached = []
    for cells, limit in BARS.items():
        seen = observations(cells)
        seconds = cpu_seconds(partial(reconstructed, seen), 5)
        reached.append(bar(f"posterior of {cells:,} cells", seconds, limit, unit=" s"))
    return 0 if all(reached) else 1


if __name__ == "__main__":
    sys.exit(main())
