"""Uniform and adaptive grids: their sizes by the authors' formulas, their inference, and what they make of people."""

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
from dpheatmap.evaluate.peers import grids
from dpheatmap.evaluate.peers.non_negative import nearest_non_negative
from dpheatmap.place.domain import Domain, Floats
from dpheatmap.place.quadtree import Ints
from dpheatmap.testing import seeded_curator
from helpers.people import on_finest_cells, people_in

Peer = Callable[[Curator], Distribution]
GRIDS = [grids.uniform_grid, grids.adaptive_grid]


@pytest.mark.parametrize(
    ("peer", "shares"),
    [
        (grids.uniform_grid, [Fraction(1, 20), Fraction(19, 20)]),
        (grids.adaptive_grid, [Fraction(1, 100), Fraction(99, 200), Fraction(99, 200)]),
    ],
)
def test_all_of_epsilon_is_spent_in_these_exact_parts(
    peer: Peer, shares: list[Fraction], spent: list[Fraction]
) -> None:
    curator = seeded_curator(people_in(Domain.unit(6), 50), "0.7", seed=1)
    peer(curator)
    assert curator.rest == 0
    assert spent == [Fraction(7, 10) * share for share in shares]


def test_the_uniform_grid_has_n_epsilon_over_ten_cells() -> None:
    assert grids.cells_of_uniform_grid(4000.0, 0.5) == 200.0
    assert grids.cells_of_uniform_grid(-50.0, 1.0) == 1.0
    assert grids.grid_shape(256, 256, 200.0) == (15, 15)
    assert grids.grid_shape(240, 320, 300.0) == (15, 20)
    assert grids.grid_shape(320, 240, 300.0) == (20, 15)
    assert grids.grid_shape(1, 256, 40.0) == (1, 40)
    assert grids.grid_shape(4, 4, 1e9) == (4, 4)


def test_the_coarse_grid_is_a_quarter_as_fine_and_not_below_ten() -> None:
    assert grids.coarse_side(160_000.0, 1.0) == 32
    assert grids.coarse_side(16_500.0, 1.0) == 11
    assert grids.coarse_side(200.0, 10.0) == 10
    assert grids.coarse_side(-1e6, 1.0) == 10


def test_cells_within_follow_the_noisy_count() -> None:
    people = np.array([-20.0, 0.0, 0.1, 10.0, 40.0, 1000.0])
    assert grids.sides_within(people, 0.5).tolist() == [1, 1, 1, 1, 2, 10]


@pytest.mark.parametrize(("rows", "columns"), [(21, 37), (64, 64), (90, 3)])
def test_finer_cells_are_rectangles_inside_coarse_ones_and_none_is_missing(rows: int, columns: int) -> None:
    rng = np.random.default_rng(2)
    down, across = grids.grid_shape(rows, columns, 30.0)
    row, column = grids._parts(rows, down), grids._parts(columns, across)
    coarse = row[:, None] * across + column[None, :]
    cut_down = np.minimum(rng.integers(1, 6, down * across), np.repeat(np.bincount(row), across))
    cut_across = np.minimum(rng.integers(1, 6, down * across), np.tile(np.bincount(column), down))
    fine = grids._labels_within(coarse, row, column, cut_down, cut_across)
    parents = np.repeat(np.arange(down * across), cut_down * cut_across)
    assert fine.max() + 1 == len(parents)
    assert (parents[fine] == coarse).all()
    for label in range(len(parents)):
        y, x = np.nonzero(fine == label)
        assert len(y) == (np.ptp(y) + 1) * (np.ptp(x) + 1) > 0


def test_constrained_inference_is_least_squares() -> None:
    rng = np.random.default_rng(3)
    children, alpha = np.array([1, 4, 6, 9]), 0.3
    first, second = rng.normal(0, 5, 4), rng.normal(0, 5, 20)
    sums = np.repeat(np.eye(4), children, axis=1)
    questions = np.concatenate([alpha * sums, (1 - alpha) * np.eye(20)])
    answers = np.concatenate([alpha * first, (1 - alpha) * second])
    expected = np.linalg.lstsq(questions, answers)[0]
    found = grids.reconcile(first, second, children, alpha / (1 - alpha))
    np.testing.assert_allclose(found, expected, atol=1e-9)


def test_the_adaptive_grids_map_is_least_squares_of_its_two_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    answered: list[tuple[Ints, Floats]] = []
    regions = Curator.regions

    def record(curator: Curator, labels: Ints, epsilon: Fraction) -> Floats:
        answered.append((labels, regions(curator, labels, epsilon)))
        return answered[-1][1]

    monkeypatch.setattr(Curator, "regions", record)
    domain = Domain.image(60, 40)
    found = grids.adaptive_grid(seeded_curator(people_in(domain, 900), 2, seed=9))
    (coarse, first), (fine, second) = answered
    assert coarse.max() + 1 == len(first) == 13 * 9
    widths = np.array([[np.any(coarse == c, axis=axis).sum() for axis in (0, 1)] for c in range(len(first))])
    cut = np.maximum(1, np.ceil(np.sqrt(np.maximum(first, 0) * 2 * 0.495 / 5)))
    assert len(second) == np.minimum(cut[:, None], widths).prod(axis=1).sum() > 200
    parents = np.zeros(len(second), np.int64)
    parents[fine] = coarse
    sums = (np.arange(len(first))[:, None] == parents).astype(np.float64)
    best = np.linalg.lstsq(np.concatenate([sums, np.eye(len(second))]), np.concatenate([first, second]))[0]
    expected = (nearest_non_negative(best) / np.bincount(fine.ravel()))[fine]
    np.testing.assert_allclose(on_finest_cells(found), expected / expected.sum(), atol=1e-12)


@pytest.mark.parametrize(("width", "height", "lines_x", "lines_y"), [(32, 32, 4, 4), (40, 30, 4, 3), (35, 26, 4, 3)])
def test_people_are_even_inside_a_uniform_grids_cell(
    width: int, height: int, lines_x: int, lines_y: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    counts = people_in(Domain.image(width, height), 300)
    epsilon = 10**6
    monkeypatch.setattr(grids, "BALANCE", 1.01 * 300 * epsilon * 0.95 / (lines_x * lines_y))
    found = on_finest_cells(grids.uniform_grid(seeded_curator(counts, epsilon, seed=5)))
    truth = on_finest_cells(true_distribution(counts))
    x, y = ([-(-i * n // k) for i in range(k + 1)] for n, k in ((width, lines_x), (height, lines_y)))
    for top, bottom in itertools.pairwise(y):
        for left, right in itertools.pairwise(x):
            mean = truth[top:bottom, left:right].mean()
            np.testing.assert_allclose(found[top:bottom, left:right], mean, atol=1e-6)


def test_the_adaptive_grid_is_finer_where_people_are() -> None:
    domain = Domain.unit(6)
    x, y = (a.ravel() for a in np.meshgrid(np.arange(12), np.arange(12)))
    counts = Counts.from_cells(domain, x, y, np.full(144, 400 * UNITS // 144 * 10))
    found = on_finest_cells(grids.adaptive_grid(seeded_curator(counts, 2, seed=6)))
    assert len(np.unique(found[:12, :12])) > 60
    assert len(np.unique(found[32:, 32:])) <= 40
    assert found[:12, :12].sum() > 0.95


def test_a_negative_total_means_one_cell(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Curator, "total", lambda curator, epsilon: curator._spend(epsilon) or -40.0)
    curator = seeded_curator(people_in(Domain.unit(5), 300), 1, seed=7)
    found = on_finest_cells(grids.uniform_grid(curator))
    np.testing.assert_allclose(found, 1 / 1024)


def test_both_beat_the_uniform_map_on_a_city() -> None:
    counts = people_in(Domain.unit(7), 2000)
    truth = on_finest_cells(true_distribution(counts)).reshape(16, 8, 16, 8).sum(axis=(1, 3))
    for peer in GRIDS:
        found = on_finest_cells(peer(seeded_curator(counts, 1, seed=8))).reshape(16, 8, 16, 8).sum(axis=(1, 3))
        assert np.abs(found - truth).sum() < np.abs(truth - 1 / 256).sum() / 2
