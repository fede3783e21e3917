"""HTF: the search for cuts, the budgets of levels, when boxes are split, and what they spend."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpheatmap.curator import Counts, Curator
from dpheatmap.design.shares import UNITS
from dpheatmap.evaluate.peers import homogeneous_tree
from dpheatmap.evaluate.peers.box_tree import Boxes
from dpheatmap.evaluate.peers.cut_search import QUESTIONS, Purse, cut_boxes, search
from dpheatmap.evaluate.peers.homogeneous_tree import block_side, budgets, grow, htf
from dpheatmap.place.domain import Domain, Floats
from dpheatmap.place.quadtree import Ints
from dpheatmap.testing import seeded_curator
from helpers.people import on_finest_cells, people_in

PARTS = 2**32


def counts_of(people: Floats) -> Counts:
    """An image with so many people in each pixel."""
    rows, columns = people.shape
    y, x = (place.ravel() for place in np.indices(people.shape))
    return Counts.from_cells(Domain.image(columns, rows), x, y, np.rint(people.ravel() * UNITS).astype(np.int64))


def purse_of(people: Floats, epsilon: object = 10**5) -> Purse:
    """Allowances of that image, its blocks the pixels."""
    curator = seeded_curator(counts_of(people), epsilon, seed=1)
    return curator.allowances(1, curator.rest)


# Cuts


@pytest.mark.parametrize("where", [2, 4, 6, 8, 10, 12, 14])
@pytest.mark.parametrize("down", [False, True])
def test_without_noise_the_cut_is_where_the_density_changes(where: int, down: bool) -> None:
    """Places that the search can ask about: it halves what is left, three times."""
    people = np.full((16, 16), 2.0)
    people[:, where:] = 30.0
    parts = cut_boxes(purse_of(people.T if down else people), Boxes.whole(16, 16), int(down), PARTS)
    assert abs(int((parts.rows if down else parts.columns)[0]) - where) <= 1


@given(st.integers(2, 300), st.integers(0, 2**32))
def test_the_search_asks_seven_times_inside_and_returns_the_best_it_saw(length: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    height, asked = rng.random(length), []

    def uneven(at: Ints) -> Floats:
        asked.append(int(at[0]))
        values: Floats = height[at]
        return values

    best = int(search(uneven, np.array([length]))[0])
    assert len(asked) == QUESTIONS
    assert 1 <= min(asked) <= max(asked) <= length - 1
    assert height[best] == height[asked].min()


def test_boxes_of_two_cells_are_cut_for_nothing() -> None:
    purse = purse_of(np.ones((2, 2)))
    parts = cut_boxes(purse, Boxes.whole(2, 2), 0, PARTS // 10)
    assert parts.columns.tolist() == [1, 1]
    assert purse.left.min() == PARTS


def test_a_row_is_cut_across_and_a_column_down_at_any_depth() -> None:
    for depth in (0, 1):
        assert cut_boxes(purse_of(np.ones((1, 8))), Boxes.whole(1, 8), depth, PARTS).rows.tolist() == [1, 1]
        assert cut_boxes(purse_of(np.ones((8, 1))), Boxes.whole(8, 1), depth, PARTS).columns.tolist() == [1, 1]


def test_a_search_costs_its_boxes_its_budget_and_others_nothing() -> None:
    purse, left = purse_of(np.ones((8, 8))), Boxes(np.array([0]), np.array([8]), np.array([0]), np.array([4]))
    cut_boxes(purse, left, 0, 7 * 1000)
    assert np.unique(purse.left[:, :4]).tolist() == [PARTS - 7000]
    assert np.unique(purse.left[:, 4:]).tolist() == [PARTS]


# Budgets


@given(st.integers(0, 40))
def test_budgets_leave_the_most_for_the_last_level(height: int) -> None:
    search_, counts = budgets(height, PARTS)
    last = PARTS - height * search_ - sum(counts)
    assert len(counts) == height
    assert last > 0
    assert sorted([*counts, last]) == [*counts, last]
    assert search_ * height <= PARTS * homogeneous_tree.CUTS


@pytest.mark.parametrize("epsilon", ["0.2", "3"])
def test_every_block_spends_all_that_it_has(epsilon: str, monkeypatch: pytest.MonkeyPatch) -> None:
    held: list[Purse] = []
    honest = Curator.allowances

    def recorded(self: Curator, side: int, price: Fraction) -> Purse:
        held.append(honest(self, side, price))
        return held[-1]

    monkeypatch.setattr(Curator, "allowances", recorded)
    for domain in (Domain.unit(5), Domain.image(37, 21), Domain.image(1, 1)):
        curator = seeded_curator(people_in(domain), epsilon, seed=2)
        htf(curator)
        assert curator.rest == 0
        assert np.all(held[-1].left == 0)


def test_boxes_with_few_people_are_not_split() -> None:
    people = np.zeros((16, 16))
    people[3, 12] = 4000.0
    levels = grow(purse_of(people, 10), 8)
    for level in levels[1:]:
        assert not level.split[level.people < 0.4].any()
    assert levels[0].split.all()
    assert sum(len(level.boxes) for level in levels) < 60


def test_what_stops_early_is_counted_better_than_what_does_not() -> None:
    """The rest of a box that is not split goes into its own count: no leaf is worse off than one on the last level."""
    rng = np.random.default_rng(4)
    levels = grow(purse_of(rng.exponential(0.4, (16, 16)), 2), 6)
    stopped = np.concatenate([level.variance[~level.split] for level in levels[:-1]])
    assert len(stopped) > 0
    split = np.concatenate([level.variance[level.split] for level in levels])
    assert stopped.max() < split.min()


# People


def test_blocks_are_as_many_as_leaves_at_most() -> None:
    for rows, columns, leaves in ((256, 256, 800.0), (240, 320, 5000.0), (1, 90, 10.0), (60, 80, 0.2)):
        side = block_side(rows, columns, leaves)
        assert -(-rows // side) * -(-columns // side) <= max(leaves, 1)
        assert side == 1 or -(-rows // (side // 2)) * -(-columns // (side // 2)) > max(leaves, 1)


def test_a_crowd_in_the_last_cells_of_a_domain_that_is_not_square_is_found() -> None:
    domain = Domain.image(37, 21)
    crowd = Counts.from_cells(domain, np.array([36]), np.array([20]), np.array([5000 * UNITS]))
    found = on_finest_cells(htf(seeded_curator(crowd, 5, seed=5)))
    assert found[20, 36] > 0.9


def test_even_cuts_are_better_than_cuts_anywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two plateaus: with the search, the tree's cuts follow their border, and less is spread beyond it."""
    people = np.full((32, 32), 0.05)
    people[:, 4:6] = 40.0
    truth, counts = people / people.sum(), counts_of(people)
    monkeypatch.setattr(homogeneous_tree, "BALANCE", 1000.0)
    monkeypatch.setattr(homogeneous_tree, "block_side", lambda rows, columns, leaves: 1)

    def error() -> float:
        found = [on_finest_cells(htf(seeded_curator(counts, 4, seed=seed))) for seed in range(4)]
        return float(np.mean([np.abs(values - truth).sum() for values in found]))

    searched = error()
    monkeypatch.setattr(homogeneous_tree, "cut_boxes", _in_the_middle)
    assert searched < 0.8 * error()


def _in_the_middle(purse: Purse, boxes: Boxes, depth: int, budget: int) -> Boxes:
    down = np.full(len(boxes), depth % 2 == 1)
    return boxes.cut(np.maximum(np.where(down, boxes.rows, boxes.columns) // 2, 1), down)
