"""Speed of the tree solver of Algorithm 2 against a general one, HiGHS, on the same instances in the same run.

Times are CPU seconds, the best of several runs, after compilation. HiGHS is timed on the call alone, not on building
its matrices, and in the fastest of the forms tried: one row for each kept cell, its deviation split into p - n (two
inequalities for each absolute value take it a third to a half longer). The exit code is 0 if every bar is met.
"""

from __future__ import annotations

import sys
from itertools import pairwise
from typing import Any

import numpy as np
from scipy import sparse
from scipy.optimize import linprog

from common import bar, cpu_seconds
from dpheatmap.design.shares import UNITS
from dpheatmap.estimate.forest import Level, Masses, solve
from dpheatmap.place.quadtree import Ints, children, encode, largest

PEOPLE, CLUSTERS, EPSILON = 100_000, 60, 1.0


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


def against_highs(width: int, depth: int) -> list[bool]:
    """Both solvers on one instance: time and optimum."""
    levels = instance(width, depth)
    program = linear_program(levels)
    ours = cpu_seconds(lambda: solve(levels), 500)
    theirs = cpu_seconds(lambda: linprog(**program, method="highs"), 5)
    gap = abs(cost(levels, solve(levels)) / linprog(**program, method="highs").fun - 1)
    print(f"w = {width}, L = {depth}: {1e3 * ours:.3f} ms, HiGHS {1e3 * theirs:.1f} ms")
    return [
        bar(f"w = {width}, L = {depth}: times faster than HiGHS", theirs / ours, 200, at_least=True, unit="x"),
        bar(f"w = {width}, L = {depth}: relative difference of the optima", gap, 1e-9),
    ]


def alone(width: int, depth: int) -> list[bool]:
    """Our solver on an instance that is too large for the other."""
    levels = instance(width, depth)
    return [bar(f"w = {width}, L = {depth}", cpu_seconds(lambda: solve(levels), 10), 0.2, unit=" s")]


def main() -> int:
    solve(instance(20, 4))  # compiles
    return 0 if all([*against_highs(200, 8), *against_highs(2000, 8), *alone(20000, 20)]) else 1


if __name__ == "__main__":
    sys.exit(main())
