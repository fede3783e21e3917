"""Speed of the dense reconstruction: CPU seconds for a grid of 256 x 256, the worst of several kinds of people.

Each kind has as many people as its grid is made for at epsilon 1, one a cell: everywhere, in Gaussians, in a line, all
in one place; and nobody. OR-tools solves the same flow at 64 x 64 for comparison. The exit code is 0 if the bar is met.
"""

from __future__ import annotations

import sys

import numpy as np

from common import bar, cpu_seconds
from dpheatmap.estimate.dense_estimate import nearest_map
from dpheatmap.flow.masses import signed_supply
from dpheatmap.place.domain import Floats

SIDE, SMALL, LIMIT = 256, 64, 3.0


def noisy_grids(side: int) -> dict[str, Floats]:
    """True counts by kind, and Laplace noise of scale 1."""
    rng = np.random.default_rng(1)
    at = (np.arange(side) + 0.5) / side
    kinds = {"everywhere": np.ones((side, side)), "nobody": np.zeros((side, side))}
    kinds["Gaussians"] = sum(
        np.exp(-((at[:, None] - y) ** 2 + (at - x) ** 2) / (2 * 0.03**2)) for x, y in rng.random((20, 2))
    )
    kinds["a line"] = np.zeros((side, side))
    kinds["a line"][side // 3] = 1
    kinds["one place"] = np.zeros((side, side))
    kinds["one place"][side // 3, side // 2] = 1
    for values in kinds.values():
        values *= side**2 / max(values.sum(), 1.0)
    return {name: values + rng.laplace(0.0, 1.0, values.shape) for name, values in kinds.items()}


def or_tools_seconds(noisy: Floats) -> float:
    """CPU seconds of OR-tools' minimum-cost flow on the same whole numbers."""
    from ortools.graph.python import min_cost_flow

    supply = signed_supply(noisy).units
    number, bank = np.arange(noisy.size).reshape(noisy.shape), noisy.size
    one = np.concatenate([number[:, :-1].ravel(), number[:-1].ravel()])
    other = np.concatenate([number[:, 1:].ravel(), number[1:].ravel()])
    start, stop = (np.concatenate(pair) for pair in ((one, other, number.ravel()), (other, one, np.full(bank, bank))))
    program = min_cost_flow.SimpleMinCostFlow()
    prices = np.concatenate([np.ones(2 * len(one), np.int64), np.zeros(bank, np.int64)])
    program.add_arcs_with_capacity_and_unit_cost(start, stop, np.full(len(start), int(np.abs(supply).sum())), prices)
    program.set_nodes_supplies(np.arange(bank + 1), np.append(supply, -supply.sum()))
    return cpu_seconds(program.solve)


def main() -> int:
    nearest_map(np.random.default_rng(1).normal(1.0, 1.0, (8, 8)))  # compiles
    seconds = {}
    for name, noisy in noisy_grids(SIDE).items():
        seconds[name] = cpu_seconds(lambda noisy=noisy: nearest_map(noisy), 2)  # type: ignore[misc]
        print(f"{SIDE} x {SIDE}, {name}: {seconds[name]:.3f} s", flush=True)
    small = noisy_grids(SMALL)["Gaussians"]
    ratio = or_tools_seconds(small) / cpu_seconds(lambda: nearest_map(small), 5)
    print(f"{SMALL} x {SMALL}, Gaussians: {ratio:.0f} times faster than OR-tools")
    return 0 if bar(f"dense reconstruction of {SIDE} x {SIDE}", max(seconds.values()), LIMIT, unit=" s") else 1


if __name__ == "__main__":
    sys.exit(main())
