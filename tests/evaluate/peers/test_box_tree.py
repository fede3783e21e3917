"""Trees of boxes: cuts, labels, and least squares against a general solver."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpheatmap.evaluate.peers.box_tree import Boxes, Level, consistent_leaves
from dpheatmap.place.domain import Floats
from dpheatmap.place.quadtree import Ints

seeds = st.integers(0, 2**32).map(np.random.default_rng)


def random_tree(rng: np.random.Generator, shape: tuple[int, int]) -> list[Level]:
    """Boxes that are cut anywhere, or not at all, down to four levels, with counts of any precision."""
    boxes, levels = Boxes.whole(*shape), []
    for depth in range(4):
        split = (rng.random(len(boxes)) < 0.7) & (boxes.rows * boxes.columns > 1) & (depth < 3)
        levels.append(Level(boxes, rng.normal(5, 9, len(boxes)), rng.uniform(0.1, 9, len(boxes)), split))
        if not split.any():
            break
        some = boxes.only(split)
        down = np.where(some.columns == 1, True, np.where(some.rows == 1, False, rng.random(len(some)) < 0.5))
        boxes = some.cut(rng.integers(1, np.where(down, some.rows, some.columns)), down)
    return levels


def by_least_squares(levels: list[Level], shape: tuple[int, int], leaf: Ints, leaves: int) -> Floats:
    """Every count is a sum of leaves; each equation is divided by its standard error."""
    rows, answers = [], []
    for level in levels:
        labels = level.boxes.labels(shape)
        for k in range(len(level.boxes)):
            held = np.isin(np.arange(leaves), leaf[labels == k]).astype(float)
            rows.append(held / np.sqrt(level.variance[k]))
            answers.append(level.people[k] / np.sqrt(level.variance[k]))
    solution: Floats = np.linalg.lstsq(np.array(rows), np.array(answers))[0]
    return solution


@given(seeds)
def test_leaves_are_those_of_least_squares_on_all_counts(rng: np.random.Generator) -> None:
    shape = (int(rng.integers(1, 9)), int(rng.integers(1, 9)))
    levels = random_tree(rng, shape)
    people, leaf = consistent_leaves(levels, shape)
    assert set(leaf.ravel().tolist()) == set(range(len(people)))
    assert people == pytest.approx(by_least_squares(levels, shape, leaf, len(people)), abs=1e-6)


@given(seeds)
def test_labels_tell_each_cell_its_box(rng: np.random.Generator) -> None:
    shape = (int(rng.integers(1, 9)), int(rng.integers(1, 9)))
    for level in random_tree(rng, shape):
        boxes = level.boxes
        expected = np.full(shape, -1)
        for k in range(len(boxes)):
            assert np.all(expected[boxes.y0[k] : boxes.y1[k], boxes.x0[k] : boxes.x1[k]] == -1)
            expected[boxes.y0[k] : boxes.y1[k], boxes.x0[k] : boxes.x1[k]] = k
        assert np.array_equal(boxes.labels(shape), expected)


def test_parts_lie_side_by_side() -> None:
    parts = Boxes.whole(4, 6).cut(np.array([2]), np.array([False]))
    assert parts.labels((4, 6)).tolist() == [[0, 0, 1, 1, 1, 1]] * 4
    parts = parts.cut(np.array([1, 3]), np.array([True, False]))
    assert parts.labels((4, 6)).tolist() == [[0, 0, 2, 2, 2, 3]] + [[1, 1, 2, 2, 2, 3]] * 3
