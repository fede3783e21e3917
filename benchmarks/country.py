"""From the rows of a country to its map: CPU seconds, memory, and what folding changes, at 10^3 to 10^7 people.

    python benchmarks/country.py             10^3 to 10^6 people, epsilon 1; about two minutes
    python benchmarks/country.py 1e7         other numbers of people; 10^7 takes ten minutes to invent and release
    python benchmarks/country.py 1e6 --epsilon 10

Each map has a process of its own, so that its memory is its own. Up to 10^6 people, the map is compared with that of
the posterior of all measurements, and both with the truth: by total variation.
"""

from __future__ import annotations

import multiprocessing
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple, TypeVar

import numpy as np

import dpheatmap as dph
from common import bar, cpu_seconds, peak_megabytes
from dpheatmap.evaluate.ground_truth import true_distribution
from dpheatmap.heatmap.smoothing import default_sigma, smooth
from dpheatmap.place.domain import Floats
from dpheatmap.testing import generated_people

BOX = (5.9, 47.3, 15.0, 55.1)
RESOLUTION, SIDE = 100, 1024
BARS = {10**6: (8.0, 700.0), 10**7: (25.0, 2000.0)}  # CPU seconds and megabytes of the posterior and the HTML
COMPARED = 10**6  # people: more take minutes at full depth
Result = TypeVar("Result")


class Cost(NamedTuple):
    """CPU seconds of the posterior, and of it and the file; megabytes."""

    posterior: float
    html: float
    megabytes: float


class Made(NamedTuple):
    """A release: numbers of rows and measurements, CPU seconds, megabytes, and the true map."""

    rows: int
    measurements: int
    seconds: float
    megabytes: float
    truth: Floats


def write_people(people: int, path: Path) -> int:
    """Write the rows of a country of invented people; returns their number."""
    table = generated_people(people, extent=BOX)
    table.write_parquet(str(path))
    return len(table)


def release_of(people: int, rows: int, table: Path, epsilon: int, path: Path) -> Made:
    """Release a table, after a small one that loads and compiles."""
    domain = dph.Domain.bbox(*BOX, resolution=RESOLUTION)
    dph.release(generated_people(100, extent=BOX), domain, epsilon=epsilon, user="person", x="x", y="y")
    counts: list[dph.Counts] = []

    def work() -> None:
        counts.append(dph.aggregate(table, domain, user="person", x="x", y="y"))
        dph.release(counts[0], epsilon=epsilon).save(path)

    seconds, megabytes = cpu_seconds(work), peak_megabytes()
    truth = np.zeros(0)
    if people <= COMPARED:
        truth = smooth(true_distribution(counts[0]), default_sigma(domain), SIDE)
    return Made(rows, len(dph.load(path).measurements), seconds, megabytes, truth)


def cost_of(path: Path, small: Path, page: Path) -> Cost:
    """The cost of a map, after a small one that loads and compiles."""
    dph.load(small).heatmap(size=SIDE).save(page)
    release = dph.load(path)
    found: list[dph.Heatmap] = []
    posterior = cpu_seconds(lambda: found.append(release.heatmap(size=SIDE)))
    return Cost(posterior, posterior + cpu_seconds(lambda: found[0].save(page)), peak_megabytes())


class Compared(NamedTuple):
    """Total variation between the map and that of all measurements, and of each with the truth.

    ``visited`` and ``busy`` are the parts of pixels whose 90 % interval holds the truth: of those with over a
    thousandth of the largest value, and of the busiest tenth. ``seconds`` is the CPU time of the whole posterior.
    """

    folded: float
    error: float
    whole: float
    visited: float
    busy: float
    seconds: float


def compared(path: Path, truth: Floats) -> Compared:
    release = dph.load(path)
    heat = release.heatmap(size=SIDE)
    seconds = cpu_seconds(release.distribution)
    whole = smooth(release.distribution(), default_sigma(release.domain), SIDE)
    low, high = heat.interval(0.9)
    held = (low <= truth) & (truth <= high)
    visited, busy = held[truth > 1e-3 * truth.max()].mean(), held[truth >= np.quantile(truth, 0.9)].mean()
    variations = variation(heat.values, whole), variation(heat.values, truth), variation(whole, truth)
    return Compared(*variations, float(visited), float(busy), seconds)


def variation(one: Floats, other: Floats) -> float:
    return float(0.5 * np.abs(one - other).sum())


def main() -> int:
    words = sys.argv[1:]
    epsilon = int(words.pop(words.index("--epsilon") + 1)) if "--epsilon" in words else 1
    wanted = [int(float(word)) for word in words if word != "--epsilon"] or [10**3, 10**4, 10**5, 10**6]
    results, costs = [], dict[int, tuple[int, Cost]]()
    with tempfile.TemporaryDirectory() as folder:
        small, page = Path(folder, "small.dph.parquet"), Path(folder, "map.html")
        _release(1000, epsilon, small)
        print("| people | rows | measurements | rows to release | MB | posterior | with HTML | MB |")
        print("|---|---|---|---|---|---|---|---|")
        for people in wanted:
            path = Path(folder, f"{people}.dph.parquet")
            made = _release(people, epsilon, path)
            cost: Cost = _apart(cost_of, path, small, page)
            costs[people] = made.measurements, cost
            print(
                f"| {people:,} | {made.rows:,} | {made.measurements:,} | {made.seconds:.1f} s | {made.megabytes:,.0f} "
                f"| {cost.posterior:.1f} s | {cost.html:.1f} s | {cost.megabytes:,.0f} |",
                flush=True,
            )
            if people in BARS and epsilon == 1:
                seconds, megabytes = BARS[people]
                results.append(bar(f"posterior and HTML of {people:,} people", cost.html, seconds, unit=" s"))
                results.append(bar(f"memory of {people:,} people", cost.megabytes, megabytes, unit=" MB"))
            if people <= COMPARED:
                found: Compared = _apart(compared, path, made.truth)
                print(
                    f"      total variation: {found.folded:.4f} to the whole posterior ({found.seconds:.1f} CPU s), "
                    f"to the truth {found.error:.4f} and {found.whole:.4f}; intervals hold {found.visited:.2f} of "
                    f"visited pixels, {found.busy:.2f} of the busiest tenth"
                )
                ratio = found.error / found.whole
                results.append(bar("error of the map over that of all measurements", ratio, 1.1, unit="x"))
    if len(costs) > 1:
        (few, cheap), (many, dear) = costs[min(costs)], costs[max(costs)]
        growth = np.log(dear.html / cheap.html) / np.log(many / few)
        results.append(bar("growth of CPU time, as a power of the measurements", float(growth), 0.9))
    return 0 if all(results) else 1


def _release(people: int, epsilon: int, path: Path) -> Made:
    table = path.with_name("people.parquet")
    return _apart(release_of, people, _apart(write_people, people, table), table, epsilon, path)


def _apart(work: Callable[..., Result], *given: object) -> Result:
    """Run work in a process of its own."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(work, given)


if __name__ == "__main__":
    sys.exit(main())
