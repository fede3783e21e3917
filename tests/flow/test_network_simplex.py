"""The network simplex method against OR-tools, to the last unit, and its tree against one built anew."""

from __future__ import annotations

import numpy as np
import pytest
from ortools.graph.python import min_cost_flow

from dpheatmap.flow import multilevel
from dpheatmap.flow import network_simplex as simplex
from dpheatmap.flow.network_simplex import Edges, Grid, Tree
from dpheatmap.flow.proof import cost, value
from dpheatmap.place.quadtree import Ints


def or_tools(supply: Ints, grid: Grid) -> int:
    """The least cost by OR-tools."""
    number = np.arange(grid.rows * grid.columns).reshape(grid.rows, grid.columns)
    a = np.concatenate([number[:, :-1].ravel(), number[:-1].ravel()])
    b = np.concatenate([number[:, 1:].ravel(), number[1:].ravel()])
    tails, heads, prices = [a, b], [b, a], [np.ones(2 * len(a), np.int64)]
    if grid.banked:
        bank = np.full(number.size, number.size)
        tails, heads = [*tails, number.ravel(), bank], [*heads, bank, number.ravel()]
        prices += [np.full(number.size, grid.out), np.full(number.size, grid.into)]
    tail, head = np.concatenate(tails), np.concatenate(heads)
    program = min_cost_flow.SimpleMinCostFlow()
    room = np.full(len(tail), int(np.abs(supply).sum()) + 1)
    program.add_arcs_with_capacity_and_unit_cost(tail, head, room, np.concatenate(prices))
    program.set_nodes_supplies(np.arange(len(supply)), supply)
    assert program.solve() == program.OPTIMAL
    return int(program.optimal_cost())


def random_supply(rng: np.random.Generator, pixels: int, kind: str) -> Ints:
    """Supplies of the pixels, not necessarily balanced."""
    if kind == "checkerboard":
        return np.where(np.arange(pixels) % 2 == 0, 1, -1)
    if kind == "sparse":
        return np.where(rng.random(pixels) < 0.05, rng.integers(-1000, 1000, pixels), 0)
    if kind == "ties":
        return rng.integers(-1, 2, pixels)
    if kind == "corner":
        return np.append(np.full(pixels - 1, 1), -(pixels - 1))
    return rng.integers(-(10**6), 10**6, pixels)


def balanced(supply: Ints) -> Ints:
    """The last pixel takes what is too much."""
    supply = supply.copy()
    supply[-1] -= supply.sum()
    return supply


def assert_optimal(tree: Tree, supply: Ints, grid: Grid) -> None:
    spent = cost(simplex.flow_of(tree, grid), supply, grid)
    assert spent == value(tree.potential, supply, grid) == or_tools(supply, grid)


@pytest.mark.parametrize("kind", ["any", "sparse", "ties", "corner", "checkerboard"])
def test_same_optimum_as_or_tools(kind: str) -> None:
    rng = np.random.default_rng(1)
    for rows, columns in [(1, 2), (2, 1), (1, 9), (9, 1), (2, 2), (3, 3), (5, 8), (8, 5), (13, 13), (7, 31), (24, 24)]:
        grid = Grid(rows, columns)
        supply = balanced(random_supply(rng, rows * columns, kind))
        assert_optimal(multilevel.optimal_tree(supply, grid), supply, grid)


@pytest.mark.parametrize("kind", ["any", "sparse", "ties", "corner", "checkerboard"])
@pytest.mark.parametrize(("out", "into"), [(0, 0), (0, 5), (3, 0), (2, 2), (40, 40)])
def test_same_optimum_as_or_tools_with_a_bank(kind: str, out: int, into: int) -> None:
    rng = np.random.default_rng(2)
    for rows, columns in [(1, 1), (1, 2), (3, 1), (2, 2), (4, 7), (11, 6), (16, 16)]:
        grid = Grid(rows, columns, banked=True, out=out, into=into)
        supply = random_supply(rng, rows * columns, kind)
        supply = np.append(supply, -supply.sum())
        assert_optimal(multilevel.optimal_tree(supply, grid), supply, grid)


def test_same_optimum_as_or_tools_on_a_middle_grid() -> None:
    rng = np.random.default_rng(3)
    row, column = np.mgrid[:64, :64] / 64
    smooth = np.zeros((64, 64))
    for sign in [1, -1] * 10:
        y, x, width = rng.random(3)
        smooth += sign * np.exp(-((row - y) ** 2 + (column - x) ** 2) / (0.02 + 0.05 * width))
    for supply in (balanced(np.rint(1e6 * smooth).astype(np.int64).ravel()), balanced(random_supply(rng, 4096, "any"))):
        assert_optimal(multilevel.optimal_tree(supply, Grid(64, 64)), supply, Grid(64, 64))


def assert_well_formed(tree: Tree, supply: Ints, grid: Grid) -> None:
    """The list is a preorder of the tree; sizes, ends, flows and potentials are what the parents say they are."""
    nodes, bank = len(supply), grid.rows * grid.columns
    (root,) = np.flatnonzero(tree.parent < 0).tolist()
    order = [root]
    while len(order) < nodes:
        order.append(int(tree.following[order[-1]]))
        assert tree.preceding[order[-1]] == order[-2]
    assert sorted(order) == list(range(nodes))
    assert tree.following[order[-1]] == root
    size, flow = np.ones(nodes, np.int64), simplex.perturb(supply)
    for v in reversed(order[1:]):
        size[tree.parent[v]] += size[v]
        flow[tree.parent[v]] += flow[v]
    place = {v: k for k, v in enumerate(order)}
    for k, v in enumerate(order):
        assert tree.size[v] == size[v]
        assert tree.last[v] == order[k + size[v] - 1]
        if v == root:
            continue
        p = int(tree.parent[v])
        assert place[p] < k <= place[p] + size[p] - 1
        assert tree.flow[v] == flow[v] != 0
        there, back = (grid.out, grid.into) if p == bank else (grid.into, grid.out) if v == bank else (1, 1)
        assert tree.potential[v] - tree.potential[p] == (there if flow[v] > 0 else -back)


@pytest.mark.parametrize("banked", [False, True])
def test_every_pivot_keeps_the_tree_well_formed_and_saves(banked: bool) -> None:
    rng = np.random.default_rng(4)
    for kind in ("any", "ties", "sparse"):
        grid = Grid(6, 7, banked, 2, 3)
        supply = random_supply(rng, 42, kind)
        supply = np.append(supply, -supply.sum()) if banked else balanced(supply)
        tree = start(grid, supply)
        assert_well_formed(tree, supply, grid)
        costs = [cost(simplex.flow_of(tree, grid), supply, grid)]
        for _ in range(300):
            arcs = [(v, w, a, b) for v, w, a, b in all_edges(grid) if violated(tree, v, w, a, b)]
            if not arcs:
                break
            simplex._pivot_between(tree, *arcs[rng.integers(len(arcs))])
            assert_well_formed(tree, supply, grid)
            costs.append(cost(simplex.flow_of(tree, grid), supply, grid))
        assert costs == sorted(costs, reverse=True)
        assert_optimal(tree, supply, grid)


def start(grid: Grid, supply: Ints) -> Tree:
    """A comb: the first row and all columns, and the bank at the last pixel."""
    right, down = np.zeros((grid.rows, grid.columns), bool), np.zeros((grid.rows, grid.columns), bool)
    right[0, :-1], down[:-1] = True, True
    bank = np.zeros(right.size, bool)
    bank[-1] = grid.banked
    tree: Tree = simplex.plant_tree(Edges(right.ravel(), down.ravel(), bank), simplex.perturb(supply), grid)
    return tree


def all_edges(grid: Grid) -> list[tuple[int, int, int, int]]:
    """All edges and what they cost there and back."""
    edges = []
    for v in range(grid.rows * grid.columns):
        if (v + 1) % grid.columns:
            edges.append((v, v + 1, 1, 1))
        if v + grid.columns < grid.rows * grid.columns:
            edges.append((v, v + grid.columns, 1, 1))
        if grid.banked:
            edges.append((v, grid.rows * grid.columns, grid.out, grid.into))
    return edges


def violated(tree: Tree, v: int, w: int, there: int, back: int) -> bool:
    return not -back <= tree.potential[v] - tree.potential[w] <= there


def test_edges_that_are_no_tree_are_refused() -> None:
    none = np.zeros(4, bool)
    with pytest.raises(ValueError, match="do not reach all nodes"):
        simplex.plant_tree(Edges(none, none, none), np.zeros(4, np.int64), Grid(2, 2))
