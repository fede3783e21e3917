"""Speed of the tree solver of Algorithm 2 against a general one, HiGHS, on the same instances in the same run.

    PYTHONPATH=src python benchmarks/solver.py

Times are CPU seconds, the best of several runs, after compilation. HiGHS is timed on the call alone, not on building
its matrices, and in the fastest of the forms tried: one row for each kept cell, its deviation split into p - n (two
inequalities for each absolute value take it a third to a half longer). The exit code is 0 if every bar is met.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np
from scipy import sparse
from scipy.optimize import linprog

from dpheatmap.budget import UNITS
from dpheatmap.estimate.forest import Level, Masses, solve
from dpheatmap.quadtree import Ints, children, encode, largest

PEOPLE, CLUSTERS, EPSILON = 100_000, 60, 1.0
FASTER, AGREEMENT, SECONDS = 200.0, 1e-9, 0.2

Result = TypeVar("Result")


def people_in_clusters(depth: int, rng: np.random.Generator) -> Ints:
    """The sorted Morton codes, at the finest level, of people in Gaussian clusters on the unit square."""
    centres, spreads = rng.random((CLUSTERS, 2)), 0.03 * rng.random((CLUSTERS, 1))
    home = rng.integers(CLUSTERS, size=PEOPLE)
    places = centres[home] + spreads[home] * rng.normal(size=(PEOPLE, 2))
    cells = np.clip(np.floor(places * 2**depth), 0, 2**depth - 1).astype(np.int64)
    return np.sort(encode(cells[:, 0], cells[:, 1]))


def instance(width: int, depth: int) -> list[Level]:
    """The kept cells of a noisy tree over the unit square, as the solver takes them."""
    rng = np.random.default_rng(1)
    people = people_in_clusters(depth, rng)
    first = int(np.log2(width)) // 2
    scales = np.sqrt(2.0) ** np.arange(depth - first + 1)  # of the noise: 1 / (share of epsilon), up to a factor
    scales *= (1 / scales).sum() / EPSILON
    codes: list[Ints] = []
    values = []
    for level, scale in zip(range(first, depth + 1), scales, strict=True):
        measured = children(codes[-1]) if codes else np.arange(4**first)
        begin, end = (np.searchsorted(people, (measured + k) << 2 * (depth - level)) for k in (0, 1))
        noisy = np.rint((end - begin + rng.laplace(scale=scale, size=len(measured))) * UNITS).astype(np.int64)
        kept = largest(measured, noisy, width if codes else len(measured))
        codes.append(measured[kept])
        values.append(noisy[kept] / UNITS)
    kids = [np.append(np.searchsorted(b >> 2, a), len(b)) for a, b in pairwise(codes)]
    levels = [Level(y, k, 4 - np.diff(k)) for y, k in zip(values, kids, strict=False)]
    return [*levels, Level(values[-1], np.zeros(len(values[-1]) + 1, np.int64), np.zeros(len(values[-1]), np.int64))]


def parents_of(levels: list[Level]) -> tuple[Ints, Ints]:
    """Parents in one numbering of the nodes of all levels: those of the nodes (-1 for roots), of the left-out cells."""
    first = np.cumsum([0, *(len(level.values) for level in levels)])
    numbers = [np.arange(a, b) for a, b in pairwise(first)]
    kept = [np.repeat(v, np.diff(level.kids)) for v, level in zip(numbers, levels, strict=True)]
    left_out = [np.repeat(v, level.left_out) for v, level in zip(numbers, levels, strict=True)]
    return np.concatenate([np.full(len(numbers[0]), -1), *kept]), np.concatenate(left_out)


def left_out_costs(levels: list[Level]) -> list[float]:
    """The cost of a unit of mass in a left-out child of each level's nodes, in multiples of the first weight 2^-q."""
    return [sum(0.5**j for j in range(i + 1, len(levels))) for i in range(len(levels))]


def linear_program(levels: list[Level]) -> dict[str, Any]:
    """The same problem for ``linprog``: a variable for each left-out cell and leaf, and p, n for each kept cell."""
    parent, outer = parents_of(levels)
    leaves = np.arange(len(parent) - len(levels[-1].values), len(parent))
    above, variable = np.concatenate([outer, leaves]), np.arange(len(outer) + len(leaves))
    rows, columns = [], []
    while len(above):
        rows.append(above)
        columns.append(variable)
        above = parent[above]
        above, variable = above[above >= 0], variable[above >= 0]
    row, column = np.concatenate(rows), np.concatenate(columns)
    sums = sparse.csr_array((np.ones(len(row)), (row, column)))
    one = sparse.eye_array(len(parent))
    weights = np.repeat(0.5 ** np.arange(len(levels)), [len(level.values) for level in levels])
    costs = np.repeat(left_out_costs(levels), [level.left_out.sum() for level in levels])
    return {
        "c": np.concatenate([costs, np.zeros(len(leaves)), weights, weights]),
        "A_eq": sparse.hstack([sums, -one, one], format="csc"),
        "b_eq": np.concatenate([level.values for level in levels]),
    }


def cost(levels: list[Level], solution: list[Masses]) -> float:
    """The objective, in multiples of 2^-q."""
    return sum(
        float(0.5**i * np.abs(level.values - masses.nodes).sum() + price * (level.left_out * masses.left_out).sum())
        for i, (level, masses, price) in enumerate(zip(levels, solution, left_out_costs(levels), strict=True))
    )


def best_of(runs: int, call: Callable[[], Result]) -> tuple[float, Result]:
    """The least CPU time of several calls, and the result."""
    times = []
    for _ in range(runs):
        begin = time.process_time()
        result = call()
        times.append(time.process_time() - begin)
    return min(times), result


def report(name: str, figure: str, bar: str, passed: bool) -> bool:
    """Print one line of the table."""
    print(f"{name:<34}{figure:>24}{bar:>16}  {'PASS' if passed else 'MISS'}")
    return passed


def against_highs(width: int, depth: int) -> bool:
    """Both solvers on one instance: time and optimum."""
    levels = instance(width, depth)
    program = linear_program(levels)
    ours, solution = best_of(500, lambda: solve(levels))
    theirs, optimum = best_of(5, lambda: linprog(**program, method="highs").fun)
    gap = abs(cost(levels, solution) / optimum - 1)
    name, times = f"w={width} L={depth}", f"{theirs * 1e3:.1f} / {ours * 1e3:.3f} ms = {theirs / ours:.0f}"
    faster = report(f"{name} HiGHS / ours", times, f">= {FASTER:.0f}", theirs / ours >= FASTER)
    agree = report(f"{name} relative gap", f"{gap:.1e}", f"<= {AGREEMENT:g}", gap <= AGREEMENT)
    return faster and agree


def alone(width: int, depth: int) -> bool:
    """Our solver on an instance that is too large for the other."""
    levels = instance(width, depth)
    seconds, _ = best_of(10, lambda: solve(levels))
    return report(f"w={width} L={depth} ours", f"{seconds:.4f} s", f"< {SECONDS:g} s", seconds < SECONDS)


def main() -> int:
    """Print the table; 0 if every bar is met, else 1."""
    solve(instance(20, 4))  # compiles
    print(f"{'Algorithm 2, reconstruction':<34}{'measured':>24}{'bar':>16}")
    return 0 if all([against_highs(200, 8), against_highs(2000, 8), alone(20000, 20)]) else 1


if __name__ == "__main__":
    sys.exit(main())
