"""Trees of blocks: inference against plain least squares, budgets, pruning, fan-outs, and what they make of people."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest

from dpheatmap.curator import Curator
from dpheatmap.curator.core.counts import Counts
from dpheatmap.design.shares import UNITS
from dpheatmap.estimate.distribution import Distribution
from dpheatmap.evaluate.ground_truth import true_distribution
from dpheatmap.evaluate.peers import hierarchies
from dpheatmap.evaluate.peers.hierarchies import (
    best_fan_out,
    hay_hierarchy,
    hb_hierarchy,
    prune,
    quadtree,
    range_variance,
    zero_empty_subtrees,
)
from dpheatmap.evaluate.peers.inference import ask, block_labels, block_sides, block_sums, make_consistent, to_children
from dpheatmap.place.domain import Domain, Floats
from dpheatmap.place.quadtree import Ints
from dpheatmap.testing import seeded_curator
from helpers.people import on_finest_cells, people_in, some_in_one_cell

Peer = Callable[[Curator], Distribution]


def questions(rows: int, columns: int, sides: list[int]) -> list[Floats]:
    """For each level the matrix that sums finest cells to blocks."""
    labels = [block_labels(rows, columns, side).ravel() for side in sides]
    return [(np.arange(label.max() + 1)[:, None] == label).astype(np.float64) for label in labels]


# Inference


@pytest.mark.parametrize(
    ("rows", "columns", "fan_out", "levels"),
    [(4, 4, 2, 3), (8, 8, 2, 3), (5, 7, 2, 4), (7, 10, 3, 4), (10, 4, 3, 2), (1, 9, 3, 3), (6, 6, 6, 1)],
)
def test_inference_is_weighted_least_squares(rows: int, columns: int, fan_out: int, levels: int) -> None:
    rng = np.random.default_rng(rows * columns)
    sides = [fan_out**level for level in range(levels)]
    matrices = questions(rows, columns, sides)
    variances = rng.uniform(0.1, 10.0, levels).tolist()
    noisy = [rng.normal(3, 9, (-(-rows // side), -(-columns // side))) for side in sides]
    scaled = np.concatenate([m / v**0.5 for m, v in zip(matrices, variances, strict=True)])
    answers = np.concatenate([y.ravel() / v**0.5 for y, v in zip(noisy, variances, strict=True)])
    cells = np.linalg.lstsq(scaled, answers)[0]
    for found, matrix in zip(make_consistent(noisy, variances, fan_out), matrices, strict=True):
        np.testing.assert_allclose(found.ravel(), matrix @ cells, rtol=0, atol=1e-9)


def test_consistent_counts_stay_as_they_are() -> None:
    cells = np.random.default_rng(1).uniform(0, 5, (9, 14))
    tree = [block_sums(cells, side) for side in (1, 2, 4, 8, 16)]
    for found, given in zip(make_consistent(tree, [1.0, 2.0, 0.5, 7.0, 3.0], 2), tree, strict=True):
        np.testing.assert_allclose(found, given, atol=1e-12)


def test_block_sums_and_to_children_are_each_others_transposes() -> None:
    rng = np.random.default_rng(2)
    fine, coarse = rng.normal(size=(7, 11)), rng.normal(size=(3, 4))
    assert np.sum(block_sums(fine, 3) * coarse) == pytest.approx(np.sum(fine * to_children(coarse, 3, fine.shape)))


# Budgets


def test_hay_gives_each_level_the_same(spent: list[Fraction]) -> None:
    curator = seeded_curator(people_in(Domain.image(37, 21), 50), "0.7", seed=1)
    hay_hierarchy(curator)
    assert curator.rest == 0
    assert spent == [Fraction(1, 10)] * 7


def test_hb_does_not_measure_the_root(spent: list[Fraction]) -> None:
    curator = seeded_curator(people_in(Domain.unit(8), 50), "0.7", seed=1)
    hb_hierarchy(curator)
    assert curator.rest == 0
    assert spent == [Fraction(7, 20)] * 2


def test_cormode_gives_a_level_the_cube_root_of_two_times_the_one_above(spent: list[Fraction]) -> None:
    curator = seeded_curator(people_in(Domain.unit(6), 50), "0.7", seed=1)
    quadtree(curator)
    assert curator.rest == 0
    assert sum(spent) == Fraction(7, 10)
    assert len(spent) == 7
    for coarser, finer in itertools.pairwise(spent):
        assert float(finer / coarser) == pytest.approx(2 ** (1 / 3), rel=1e-6)
    assert float(spent[-1] / sum(spent)) == pytest.approx(2**2 * (2 ** (1 / 3) - 1) / (2 ** (7 / 3) - 1), rel=1e-6)


def test_answers_are_the_blocks_counts_and_variances_those_of_their_noise() -> None:
    counts = people_in(Domain.image(10, 6), 400)
    truth = on_finest_cells(true_distribution(counts)) * 400
    errors = []
    for seed in range(60):
        noisy, variances = ask(seeded_curator(counts, 4, seed=seed), (6, 10), [1, 3], [3, 1])
        assert variances == pytest.approx([2 / 9, 2.0])
        errors.append([np.mean((y - block_sums(truth, side)) ** 2) for y, side in zip(noisy, (1, 3), strict=True)])
    assert np.mean(errors, axis=0) == pytest.approx([2 / 9, 2.0], rel=0.25)


@pytest.mark.parametrize(("side", "leaves", "height"), [(1024, 1, 10), (1500, 2, 10), (300, 1, 9)])
def test_cormodes_tree_is_at_most_ten_high(
    side: int, leaves: int, height: int, monkeypatch: pytest.MonkeyPatch, spent: list[Fraction]
) -> None:
    asked: list[int] = []

    def labels(rows: int, columns: int, side: int) -> Ints:
        asked.append(side)
        return block_labels(rows, columns, side)

    monkeypatch.setattr("dpheatmap.evaluate.peers.inference.block_labels", labels)
    found = quadtree(seeded_curator(some_in_one_cell(Domain.image(side, 2), UNITS), 10**6, seed=1))
    assert asked[-1] == leaves
    assert len(spent) == height + 1
    assert on_finest_cells(found)[0, 0] == pytest.approx(1 / leaves**2, abs=1e-2)
    assert found.total == pytest.approx(1, abs=1e-2)


# Small and negative counts


def test_a_node_below_the_threshold_loses_its_children_and_keeps_its_people() -> None:
    leaves = np.array([[9.0, 1.0, 0.5, 0.5], [1.0, 1.0, 2.0, 0.0], [8.0, 8.0, -3.0, 1.0], [8.0, 8.0, 1.0, 0.0]])
    tree = [leaves, block_sums(leaves, 2), block_sums(leaves, 4)]
    areas = [np.ones((4, 4)), np.full((2, 2), 4.0), np.full((1, 1), 16.0)]
    expected = leaves.copy()
    expected[:2, 2:] = 3 / 4
    expected[2:, 2:] = -1 / 4
    np.testing.assert_allclose(prune(tree, areas, 5.0), expected)
    np.testing.assert_allclose(prune(tree, areas, 1000.0), leaves.sum() / 16)
    np.testing.assert_allclose(prune(tree, areas, 1e-9)[:, :2], leaves[:, :2])


def test_a_cut_node_spreads_its_people_by_area_when_the_edge_cuts_its_children() -> None:
    leaves = np.arange(15.0).reshape(3, 5)
    tree = [block_sums(leaves, side) for side in (1, 2, 4, 8)]
    areas = [block_sums(np.ones((3, 5)), side) for side in (1, 2, 4, 8)]
    np.testing.assert_allclose(prune(tree, areas, 1e9), leaves.sum() / 15)


def test_a_subtree_that_is_not_above_zero_becomes_zero() -> None:
    leaves = np.array([[9.0, 1.0, 5.0, -3.0], [-1.0, 1.0, -2.0, -1.0]])
    tree = [leaves, block_sums(leaves, 2), block_sums(leaves, 4)]
    assert zero_empty_subtrees(tree, 2).tolist() == [[9.0, 1.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0]]
    assert not zero_empty_subtrees([leaves, block_sums(leaves, 2), np.array([[0.0]])], 2).any()


@pytest.mark.parametrize(("peer", "fan_out", "levels"), [(hay_hierarchy, 2, 9), (hb_hierarchy, 16, 2)])
def test_hay_and_hb_are_inference_on_their_answers_without_empty_subtrees(
    peer: Peer, fan_out: int, levels: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    answered: list[Floats] = []
    regions = Curator.regions

    def record(curator: Curator, labels: Ints, epsilon: Fraction) -> Floats:
        answered.append(regions(curator, labels, epsilon))
        return answered[-1]

    monkeypatch.setattr(Curator, "regions", record)
    found = on_finest_cells(peer(seeded_curator(people_in(Domain.unit(8), 500), 1, seed=9)))
    assert len(answered) == levels
    noisy = [counts.reshape(round(len(counts) ** 0.5), -1) for counts in reversed(answered)]
    tree = make_consistent(noisy, [1.0] * levels, fan_out)
    expected = np.maximum(tree[0], 0)
    for level in range(1, levels):
        expected *= np.kron(tree[level] > 0, np.ones((fan_out**level,) * 2))
    np.testing.assert_allclose(found, expected / expected.sum(), atol=1e-12)


def test_the_quadtree_is_flat_where_nobody_is_and_fine_where_people_are() -> None:
    x, y = (a.ravel() for a in np.meshgrid(np.arange(8), np.arange(8)))
    counts = Counts.from_cells(Domain.unit(6), x, y, np.full(64, 500 * UNITS))
    found = on_finest_cells(quadtree(seeded_curator(counts, 1, seed=3)))
    assert len(np.unique(found[:8, :8])) == 64
    assert len(np.unique(np.round(found[32:, 32:], 12))) == 1


# The best fan-out


@pytest.mark.parametrize(
    ("rows", "columns", "fan_out"), [(4, 4, 2), (9, 9, 3), (8, 8, 2), (1, 16, 4), (6, 6, 6), (5, 7, 7)]
)
def test_range_variance_is_that_of_least_squares_averaged_over_all_rectangles(
    rows: int, columns: int, fan_out: int
) -> None:
    sides = block_sides(max(rows, columns), fan_out)[:-1]
    matrix = np.concatenate(questions(rows, columns, sides))
    covariance = np.linalg.inv(matrix.T @ matrix) * len(sides) ** 2
    spans = [
        [((np.arange(n) >= a) & (np.arange(n) <= b)).astype(float) for a in range(n) for b in range(a, n)]
        for n in (rows, columns)
    ]
    rectangles = np.array([np.outer(v, h).ravel() for v in spans[0] for h in spans[1]])
    average = np.mean(np.sum((rectangles @ covariance) * rectangles, axis=1))
    assert range_variance(rows, columns, fan_out) == pytest.approx(average, rel=1e-9)


@pytest.mark.parametrize(("rows", "columns"), [(10, 10), (50, 50), (64, 64), (100, 75), (128, 128), (240, 320)])
def test_no_fan_out_is_better_than_the_best(rows: int, columns: int) -> None:
    longest = max(rows, columns)
    least = min(range_variance(rows, columns, fan_out) for fan_out in range(2, longest + 1))
    assert range_variance(rows, columns, best_fan_out(rows, columns)) == pytest.approx(least)


def test_fan_outs_of_usual_grids() -> None:
    assert best_fan_out(256, 256) == 16
    assert best_fan_out(1024, 1024) == 11
    assert best_fan_out(1, 1) == 2
    assert range_variance(256, 256, 256) == pytest.approx((258 / 3) ** 2)
    assert range_variance(256, 256, 16) < range_variance(256, 256, 256) / 2


# People


def test_the_pruned_tree_is_nearer_to_the_truth_than_the_full_one(monkeypatch: pytest.MonkeyPatch) -> None:
    counts = people_in(Domain.unit(7), 2000)
    truth = on_finest_cells(true_distribution(counts)).reshape(16, 8, 16, 8).sum(axis=(1, 3))

    def error() -> float:
        found = on_finest_cells(quadtree(seeded_curator(counts, 1, seed=8)))
        return float(np.abs(found.reshape(16, 8, 16, 8).sum(axis=(1, 3)) - truth).sum())

    with_pruning = error()
    monkeypatch.setattr(hierarchies, "WORTH_SPLITTING", 0.0)
    assert with_pruning < 0.7 * error()
