"""Speed of the k-median solver: CPU seconds for ten places on an estimate of many cells, after compilation.

The estimate is the posterior of 20,000 invented people at epsilon 1, which has about that many cells. The exit code is
0 if every bar is met.
"""

from __future__ import annotations

import sys
from functools import partial

import dpheatmap as dph
from common import bar, cpu_seconds
from dpheatmap.testing import generated_people, seeded_release

BAR = 2.0


def main() -> int:
    domain = dph.Domain.bbox(-74.1, 40.6, -73.8, 40.9, resolution=50)
    columns = {"user": "person", "x": "x", "y": "y"}
    release = seeded_release(generated_people(20_000, extent=domain.extent), domain, seed=1, epsilon=1, **columns)
    reached = []
    for metric in ("l1", "euclidean"):
        dph.kmedian(release, 2, metric=metric)  # compiles, and keeps the posterior
        seconds = cpu_seconds(partial(dph.kmedian, release, 10, metric=metric), 3)
        reached.append(bar(f"ten places, {metric}", seconds, BAR, unit=" s"))
    return 0 if all(reached) else 1


if __name__ == "__main__":
    sys.exit(main())
