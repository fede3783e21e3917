"""Systematic rounding, and vectors over all levels."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpheatmap.collect import tree
from dpheatmap.collect.contribution import vector_of
from dpheatmap.errors import ParameterError
from dpheatmap.place.domain import Domain
from dpheatmap.place.quadtree import Ints
from helpers.collecting import shuffle_terms

WEIGHTS = st.lists(st.integers(0, 2**31), min_size=1, max_size=40).map(lambda w: np.array(w, dtype=np.int64))
POINTS = st.lists(st.tuples(st.floats(-0.2, 1.2), st.floats(-0.2, 1.2)), max_size=30)

Rounding = Callable[[Ints, int], Ints]


def check_rounding(rounding: Rounding, weights: Ints, units: int) -> None:
    """The sum is exact, and so is every range of cells to within less than 1."""
    whole = rounding(weights, units)
    total = int(weights.sum())
    assert whole.min() >= 0
    assert whole.sum() == (units if total else 0)
    if total:
        sums = np.concatenate([[0], np.cumsum(whole)])
        exact = [Fraction(units * int(c), total) for c in np.concatenate([[0], np.cumsum(weights)])]
        for first in range(len(sums)):
            for last in range(first, len(sums)):
                assert abs(int(sums[last] - sums[first]) - (exact[last] - exact[first])) < 1


@given(WEIGHTS, st.integers(1, 2**30))
def test_rounding_keeps_the_sum_and_every_range(weights: Ints, units: int) -> None:
    check_rounding(tree.round_weights, weights, units)


def test_weights_beyond_64_bits_are_rounded_exactly() -> None:
    """As a table of many ids has them; 64-bit integers would turn over, and a person weigh any number of units."""
    for weights in ([2**31] * 40, [2**61 - 1, 1, 0, 2**40], [3, 2**33, 5]):
        check_rounding(tree.round_weights, np.array(weights), 2**30)


def test_floors_and_nearest_integers_would_be_seen() -> None:
    """The planted bugs: floors lose mass, and rounding each cell for itself makes up or loses some."""
    weights = np.array([1, 1, 1])
    for planted in (lambda w, u: w * u // w.sum(), lambda w, u: np.rint(w * u / w.sum()).astype(np.int64)):
        with pytest.raises(AssertionError):
            check_rounding(planted, weights, 256)


def test_rounding_is_unbiased() -> None:
    """Over all values of the random mark, each as likely as any other, the mean is exact."""
    weights, units = np.array([3, 0, 5, 2, 7]), 4
    found = np.zeros(5, dtype=np.int64)
    for mark in range(17):
        found += tree.round_weights(weights, units, partial(int.to_bytes, mark, byteorder="little"))
    assert found.tolist() == (weights * units).tolist()


@given(POINTS, st.sampled_from([1, 7, 256, 2**30]))
def test_each_level_has_a_persons_whole_weight(points: list[tuple[float, float]], units: int) -> None:
    terms = replace(shuffle_terms(4), units=units)
    x, y = np.array(points).reshape(-1, 2).T
    inside = bool(np.any((x >= 0) & (x <= 1) & (y >= 0) & (y <= 1)))
    vector = vector_of(terms, *terms.tree.leaves(x, y))
    assert vector.min() >= 0
    for level in range(2, 5):
        assert vector[terms.tree.part(level)].sum() == (units if inside else 0)
    leaves = vector[terms.tree.part(4)].reshape(-1, 4).sum(axis=1)
    assert np.array_equal(leaves, vector[terms.tree.part(3)])


@pytest.mark.parametrize("domain", [Domain.unit(5), Domain.image(50, 20), Domain.bbox(6.9, 50.9, 7.3, 51.0, depth=12)])
def test_coordinates_are_those_of_the_release(domain: Domain) -> None:
    """A person in one cell shows up, in the release's own order, in that cell and in all that it lies in."""
    from dpheatmap.design.paper import all_at_once

    design = all_at_once(domain)
    built = tree.tree_of(domain, design.first, design.last)
    levels, codes = design.coordinates(domain)
    assert built.size == len(levels)
    e = domain.extent
    leaf, points = built.leaves([e.x0 * 0.3 + e.x1 * 0.7], [e.y0 * 0.4 + e.y1 * 0.6])
    vector = built.sum_levels(leaf, points)
    assert np.array_equal(codes[vector == 1], leaf[0] >> 2 * (design.last - levels[vector == 1]))
    assert vector.sum() == len(design.shares)


def test_points_must_come_in_pairs() -> None:
    for x, y in (([0.1], [0.1, 0.2]), ("x", [0.1]), ([[0.1]], [[0.1]]), (0.5, 0.5)):
        with pytest.raises(ParameterError, match="two lists of numbers, equally long"):
            tree.tree_of(Domain.unit(3), 2, 3).leaves(x, y)


def test_points_that_are_no_numbers_are_outside() -> None:
    leaves, _ = tree.tree_of(Domain.unit(3), 2, 3).leaves([math.nan, math.inf, 0.5], [0.5, 0.5, math.nan])
    assert len(leaves) == 0
