"""Speed and memory of the earth mover's distance on smooth maps: true heatmaps of a made-up city and released ones.

Times are CPU seconds, the best of several runs, after compilation; each figure is the worst over all pairs of maps.
OR-tools is timed on its solve() alone, ours on the whole call. Memory is the growth of a process of its own, from just
before the call to its peak, after a first call has compiled everything; the peak is set back before (Linux only). The
exit code is 0 if every bar is met.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np

import dpheatmap as dph
from common import bar, cpu_seconds
from dpheatmap.estimate.distribution import Distribution
from dpheatmap.evaluate.metrics import emd
from dpheatmap.flow.masses import supply_of_difference
from dpheatmap.heatmap.smoothing import gaussian_filter
from dpheatmap.place.domain import Floats
from dpheatmap.testing import generated_people

EPSILONS, PEOPLE, SIGMA, TOLERANCE = (0.5, 1, 5), (200, 2000), 0.02, 0.001
Pair = tuple[Floats, Floats]


def smooth_pairs(depth: int) -> dict[str, Pair]:
    """True and released heatmaps of 2^depth x 2^depth pixels."""
    domain, pairs = dph.Domain.unit(depth), {}
    for people in PEOPLE:
        counts = dph.aggregate(generated_people(people, seed=people), domain, user="person", x="x", y="y")
        weights = np.diff(counts.sums)
        levels = np.full(len(weights), depth)
        raster = Distribution(domain, levels, counts.codes, weights / weights.sum(), 1.0).raster(2**depth, 2**depth)
        true = gaussian_filter(raster, domain, SIGMA)
        for epsilon in EPSILONS:
            heat = dph.release(counts, epsilon=epsilon).heatmap(sigma=SIGMA).values
            pairs[f"{people} people, epsilon {epsilon}"] = (true, heat)
    return pairs


def or_tools_seconds(a: Floats, b: Floats) -> tuple[float, float]:
    """CPU seconds of OR-tools' minimum-cost flow on the same whole numbers, and the distance that it finds."""
    from ortools.graph.python import min_cost_flow

    supply = supply_of_difference(a, b)
    number = np.arange(a.size).reshape(a.shape)
    one = np.concatenate([number[:, :-1].ravel(), number[:-1].ravel()])
    other = np.concatenate([number[:, 1:].ravel(), number[1:].ravel()])
    program = min_cost_flow.SimpleMinCostFlow()
    room = np.full(2 * len(one), int(np.abs(supply.units).sum()))
    program.add_arcs_with_capacity_and_unit_cost(
        np.concatenate([one, other]), np.concatenate([other, one]), room, np.ones(len(room), np.int64)
    )
    program.set_nodes_supplies(np.arange(a.size), supply.units)
    seconds = cpu_seconds(program.solve)
    return seconds, float(supply.in_sides(program.optimal_cost(), max(a.shape)))


def compare_with_or_tools() -> list[bool]:
    ratios, gaps = [], []
    for name, (a, b) in smooth_pairs(7).items():
        ours = cpu_seconds(lambda a=a, b=b: emd(a, b), 10)  # type: ignore[misc]
        theirs, distance = or_tools_seconds(a, b)
        ratios.append(theirs / ours)
        gaps.append(abs(emd(a, b) / distance - 1))
        print(f"128 x 128, {name}: EMD {distance:.5f}, {1e3 * ours:.1f} ms, OR-tools {1e3 * theirs:.0f} ms", flush=True)
    return [
        bar("128 x 128: times faster than OR-tools", min(ratios), 20, at_least=True, unit="x"),
        bar("128 x 128: relative difference of the optima", max(gaps), 1e-15),
    ]


def time_at_256() -> list[bool]:
    exact, brackets = [], []
    for name, (a, b) in smooth_pairs(8).items():
        exact.append(cpu_seconds(lambda a=a, b=b: emd(a, b), 5))  # type: ignore[misc]
        brackets.append(cpu_seconds(lambda a=a, b=b: emd(a, b, TOLERANCE), 5))  # type: ignore[misc]
        loose = cpu_seconds(lambda a=a, b=b: emd(a, b, 0.01), 5)  # type: ignore[misc]
        lower, upper = emd(a, b, TOLERANCE)
        print(
            f"256 x 256, {name}: EMD {emd(a, b):.5f} in {exact[-1]:.3f} s, within {upper / lower - 1:.2%} in "
            f"{brackets[-1]:.3f} s, within 1 % in {loose:.3f} s",
            flush=True,
        )
    return [
        bar("256 x 256: exact", max(exact), 2, unit=" s"),
        bar("256 x 256: within 0.1 %", max(brackets), 0.5, unit=" s"),
    ]


def kilobytes(field: str) -> int:
    """A field of the process's own status."""
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(f"{field}:"))


def report_growth() -> int:
    """In a process of its own: how much an exact call at 256 x 256 adds, at its peak, to what is held before it."""
    rng = np.random.default_rng(1)
    domain = dph.Domain.unit(8)
    a, b = (gaussian_filter(x / x.sum(), domain, SIGMA) for x in rng.random((2, 256, 256)) ** 1000)
    emd(a[:64, :64], b[:64, :64])  # compiles
    before = kilobytes("VmRSS")
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    emd(a, b)
    print(kilobytes("VmHWM") - before)
    return 0


def memory_at_256() -> list[bool]:
    if not Path("/proc/self/clear_refs").exists():
        print("The peak of the memory can't be set back on this system: not measured.")
        return []
    child = subprocess.run([sys.executable, __file__, "--growth"], capture_output=True, text=True, check=True)
    return [bar("256 x 256: memory over the arrays", int(child.stdout) / 1024, 60, unit=" MB")]


def main() -> int:
    a, b = np.random.default_rng(1).random((2, 16, 16))
    emd(a, b), emd(a, b, 0.1), emd(a, b, TOLERANCE)  # compiles
    return 0 if all([*time_at_256(), *compare_with_or_tools(), *memory_at_256()]) else 1


if __name__ == "__main__":
    sys.exit(report_growth() if sys.argv[1:] == ["--growth"] else main())
