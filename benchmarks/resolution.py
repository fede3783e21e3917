"""What depth costs: a release from ready counts at depth 24 against depth 8, the same width, in one run.

At width 20, depth 24 has 23 measured levels and depth 8 has 7: more than three times the measurements. The first
release of a process, which is what a person waits for, also loads the kernels; further ones take milliseconds.
"""

from __future__ import annotations

import multiprocessing
import sys

import dpheatmap as dph
from common import bar, cpu_seconds
from dpheatmap.testing import generated_people


def releases(depth: int) -> tuple[float, float]:
    """CPU seconds of the first release of a process, and of a later one."""
    counts = dph.aggregate(generated_people(20_000), dph.Domain.unit(depth), user="person", x="x", y="y")

    def work() -> None:
        dph.release(counts, epsilon=1)

    return cpu_seconds(work), cpu_seconds(work, 500)


def main() -> int:
    context = multiprocessing.get_context("spawn")
    seconds = {}
    for depth in (8, 24):
        with context.Pool(1) as pool:
            pool.apply(releases, (depth,))  # compiles, where nothing is cached yet
        with context.Pool(1) as pool:
            seconds[depth] = pool.apply(releases, (depth,))
        print(f"depth {depth}: first {1e3 * seconds[depth][0]:.0f} ms, later {1e3 * seconds[depth][1]:.2f} ms")
    results = [
        bar(f"{which} release, depth 24 over depth 8", seconds[24][k] / seconds[8][k], 2, unit="x")
        for k, which in enumerate(("first", "later"))
    ]
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
