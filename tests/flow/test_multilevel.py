"""Flows and potentials that are carried from coarse grids to fine ones stay flows and feasible potentials."""

from __future__ import annotations

import numpy as np
import pytest

from dpheatmap.flow import multilevel
from dpheatmap.flow.multilevel import SCALE
from dpheatmap.flow.network_simplex import Grid, flow_of
from dpheatmap.flow.proof import cost, value
from dpheatmap.place.quadtree import Ints

SHAPES = [(1, 2), (2, 1), (1, 7), (7, 1), (2, 2), (3, 5), (5, 3), (8, 8), (9, 16), (17, 11)]


def random_level(rng: np.random.Generator, rows: int, columns: int) -> list[multilevel.Level]:
    supply = rng.integers(-9, 10, rows * columns) ** 3
    supply[-1] -= supply.sum()
    return multilevel.pyramid(supply, Grid(rows, columns))


def test_a_pyramid_keeps_the_total_and_ends_in_one_pixel() -> None:
    supply = np.append(np.arange(15), -105)
    levels = multilevel.pyramid(supply, Grid(3, 5, banked=True, out=12, into=7))
    assert [level.grid[:2] for level in levels] == [(3, 5), (2, 3), (1, 2), (1, 1)]
    assert [level.grid[3:] for level in levels] == [(12, 7), (6, 4), (3, 2), (2, 1)]
    assert levels[1].supply.tolist() == [0 + 1 + 5 + 6, 2 + 3 + 7 + 8, 4 + 9, 10 + 11, 12 + 13, 14, -105]
    assert levels[-1].supply.tolist() == [105, -105]


@pytest.mark.parametrize(("rows", "columns"), SHAPES)
def test_finer_flows_carry_the_supplies_and_easing_saves(rows: int, columns: int) -> None:
    fine, coarse, *_ = random_level(np.random.default_rng(1), rows, columns)
    tree = multilevel.optimal_tree(*coarse)
    flow = multilevel.finer_flow(flow_of(tree, coarse.grid), coarse.grid, *fine)
    costs = [cost(flow, *fine)]  # raises unless all supplies are taken away
    for _ in range(10):
        multilevel.ease(flow, fine.grid)
        costs.append(cost(flow, *fine))
    best = multilevel.optimal_tree(*fine)
    assert costs == sorted(costs, reverse=True)
    assert costs[-1] >= cost(flow_of(best, fine.grid), *fine)


def test_easing_a_square_is_optimal() -> None:
    """On four pixels the circulation is all there is to choose."""
    rng = np.random.default_rng(2)
    for _ in range(100):
        fine, coarse, *_ = random_level(rng, 2, 2)
        flow = multilevel.finer_flow(flow_of(multilevel.optimal_tree(*coarse), coarse.grid), coarse.grid, *fine)
        multilevel.ease(flow, fine.grid)
        assert cost(flow, *fine) == cost(flow_of(multilevel.optimal_tree(*fine), fine.grid), *fine)


@pytest.mark.parametrize(("rows", "columns"), SHAPES)
def test_finer_potentials_are_feasible_and_stretching_gains(rows: int, columns: int) -> None:
    fine, coarse, *_ = random_level(np.random.default_rng(3), rows, columns)
    potential = SCALE * multilevel.optimal_tree(*coarse).potential.astype(np.int64)
    finer = multilevel.finer_potential(potential, coarse.grid, fine.grid)
    before = value(finer, *fine, SCALE)  # raises unless it is feasible
    multilevel.stretch(finer, *fine)
    after = value(finer, *fine, SCALE)
    best = multilevel.optimal_tree(*fine)
    assert before <= after <= value(best.potential, *fine)


def test_finer_potentials_lie_between_the_middles_of_blocks() -> None:
    """Blocks of potential 0 and 1 have their middles 2 pixels apart: 0.5 and 1.5 of doubled potential between them."""
    finer = multilevel.finer_potential(np.array([0, SCALE]), Grid(1, 2), Grid(2, 4))
    assert (finer.reshape(2, 4) / SCALE).tolist() == [[0, 0.5, 1.5, 2]] * 2


def test_tightened_is_the_least_potential_plus_distance() -> None:
    rng = np.random.default_rng(4)
    for rows, columns in SHAPES:
        potential: Ints = rng.integers(-20, 20, rows * columns)
        row, column = np.divmod(np.arange(rows * columns), columns)
        distance = np.abs(row[:, None] - row) + np.abs(column[:, None] - column)
        found = multilevel.tighten(potential.astype(np.int32), Grid(rows, columns))
        np.testing.assert_array_equal(found, (potential[:, None] + distance).min(axis=0))
