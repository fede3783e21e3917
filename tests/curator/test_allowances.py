"""Allowances: answers about regions, charged to their own blocks, never beyond what a block has; and their noise."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

import dpheatmap as dph
from dpheatmap.curator import Curator
from dpheatmap.curator import allowances as answers
from dpheatmap.curator.allowances import PARTS, Allowances
from dpheatmap.curator.core.noise import DiscreteLaplace, discrete_laplace
from dpheatmap.design.shares import FARTHEST, UNITS
from dpheatmap.errors import ParameterError
from dpheatmap.evaluate.audit.confidence import epsilon_lower_bound
from dpheatmap.place.quadtree import Ints
from dpheatmap.testing import SeededSource

HUGE = Fraction(10**6)
WHOLE = np.array([PARTS])


def purse(weights: list[list[int]], epsilon: Fraction = HUGE, seed: int = 1) -> Allowances:
    return Allowances(np.array(weights), epsilon, SeededSource(seed))


def of_one(weights: NDArray[np.int64], beyond: NDArray[np.bool_]) -> int:
    """The unevenness of one region cut in two, in fractions: what `cuts` answers, before noise."""
    total = 0
    for part in (weights[~beyond].tolist(), weights[beyond].tolist()):
        if part:
            mean = Fraction(sum(part), len(part))
            total += math.floor(sum(abs(w - mean) for w in part) / 2)
    return total


class Exact(Allowances):
    """Allowances that tell the value without noise, in units: for tests of what noise is added to."""

    def _noisy(self, values: Ints, prices: Ints) -> Ints:  # type: ignore[override]
        return values


grids = st.integers(0, 2**32).map(np.random.default_rng)


def random_grid(rng: np.random.Generator) -> tuple[NDArray[np.int64], Ints, NDArray[np.bool_]]:
    """Weights of all sizes, many of them equal or 0, regions of any form, and parts of them."""
    shape = tuple(int(side) for side in rng.integers(1, 7, 2))
    weights = rng.integers(0, 10 ** int(rng.integers(1, 12)), shape) * rng.integers(0, 2, shape)
    return weights, rng.integers(-1, 4, shape), rng.random(shape) < 0.5


@given(grids)
def test_cuts_are_the_sum_of_half_deviations_by_definition(rng: np.random.Generator) -> None:
    weights, labels, beyond = random_grid(rng)
    found = Exact(weights, HUGE, SeededSource(1)).cuts(labels, beyond, np.full(4, 5))
    assert found.tolist() == [of_one(weights[labels == k], beyond[labels == k]) for k in range(4)]


@given(grids)
def test_one_unit_moves_one_answer_by_at_most_one(rng: np.random.Generator) -> None:
    """The sensitivity that both proofs rest on, for whole numbers of units of any size."""
    weights, labels, beyond = random_grid(rng)
    more = weights.copy()
    cell = tuple(int(rng.integers(side)) for side in weights.shape)
    more[cell] += 1
    one, other = (Exact(w, HUGE, SeededSource(1)) for w in (weights, more))
    prices = np.full(4, 5)
    for few, many in (
        (one.regions(labels, prices), other.regions(labels, prices)),
        (one.cuts(labels, beyond, prices), other.cuts(labels, beyond, prices)),
    ):
        moved = np.abs(many - few)
        assert moved.max() <= 1
        assert set(np.flatnonzero(moved).tolist()) <= {int(labels[cell])}


@given(grids)
def test_no_block_ever_pays_more_than_it_has(rng: np.random.Generator) -> None:
    """Whatever is asked: what is refused costs nothing, and what is answered is charged to its own blocks."""
    weights, _, _ = random_grid(rng)
    held = Allowances(weights, Fraction(1), SeededSource(1))
    paid = np.zeros(weights.shape, np.int64)
    for _ in range(8):
        labels = rng.integers(-1, 3, weights.shape)
        prices = rng.integers(1, 5, 3) * (PARTS // 8)
        charge = np.where(labels >= 0, prices[labels], 0)
        if np.any((paid + charge > PARTS) & (labels >= 0)):
            with pytest.raises(ParameterError, match="has left"):
                held.regions(labels, prices)
        else:
            held.regions(labels, prices)
            paid += charge
        assert np.array_equal(held.left, PARTS - paid)


def test_what_is_left_can_not_be_written_to() -> None:
    held = purse([[1, 2]])
    held.left[:] = 2 * PARTS
    with pytest.raises(ParameterError, match="has left"):
        held.regions(np.array([[0, 0]]), 2 * WHOLE)


def test_labels_and_prices_that_do_not_fit_are_refused() -> None:
    held = purse([[1, 2], [3, 4]])
    for labels, prices in ((np.zeros((1, 2), np.int64), WHOLE), (np.ones((2, 2), np.int64), WHOLE)):
        with pytest.raises(ParameterError, match="one label a block"):
            held.regions(labels, prices)
    for price in (0, -1):
        with pytest.raises(ParameterError, match="above 0"):
            held.cuts(np.zeros((2, 2), np.int64), np.zeros((2, 2), np.bool_), np.array([price]))
    assert held.left.min() == PARTS


def test_a_curator_is_paid_at_once_and_blocks_add_up_their_cells() -> None:
    domain = dph.Domain.image(5, 3)
    counts = dph.Counts.from_cells(domain, np.array([0, 1, 4]), np.array([0, 1, 2]), np.array([3, 2, 7]) * UNITS)
    curator = Curator(counts, HUGE)
    held = curator.allowances(2, HUGE / 2)
    assert curator.rest == HUGE / 2
    assert held.left.shape == (2, 3)
    found = held.regions(np.arange(6).reshape(2, 3), np.full(6, PARTS))
    np.testing.assert_allclose(found, [5, 0, 0, 0, 0, 7], atol=1e-3)
    with pytest.raises(ParameterError, match="what is left of epsilon"):
        curator.allowances(1, HUGE)


def test_no_number_of_people_is_too_many() -> None:
    held = purse([[FARTHEST, FARTHEST, FARTHEST, 0]])
    region = np.zeros((1, 4), np.int64)
    assert held.regions(region, WHOLE // 2).tolist() == pytest.approx([2**31])
    beyond = np.array([[False, False, True, True]])
    assert held.cuts(region, beyond, WHOLE // 2).tolist() == pytest.approx([2**30])


@pytest.mark.parametrize("ask", ["regions", "cuts"])
def test_the_noise_has_the_scale_of_each_region_s_price(ask: str) -> None:
    """Mean sizes of Laplace noise are 1 / (epsilon price); 20,000 samples give them to 0.7 %, one sigma."""
    size = 20_000
    held = Allowances(np.zeros((2, size), np.int64), Fraction(3), SeededSource(5))
    labels, prices = np.arange(2 * size).reshape(2, size), np.repeat([PARTS // 2, PARTS // 8], size)
    extra = (np.zeros((2, size), np.bool_),) if ask == "cuts" else ()
    noise = np.abs(getattr(held, ask)(labels, *extra, prices)).reshape(2, size).mean(axis=1)
    assert noise * 3 == pytest.approx([2, 8], rel=0.04)


# An audit: a count decides whether the rest goes into a second count at once, or into two parts of the box.

EPSILON = Fraction(1)
RUNS = 60_000
ALPHA = 1e-7


def stopped_and_counted(person: float) -> Ints:
    """How often each outcome occurs: whole or cut, and what was counted is above half a person or not."""
    weights = np.zeros((2, RUNS), np.int64)
    weights[0] = round(person * UNITS)
    held = Allowances(weights, EPSILON, SeededSource(int(person * 8) + 3))
    price = PARTS // 2
    first = held.regions(np.tile(np.arange(RUNS), (2, 1)), np.full(RUNS, price))
    whole = first < 0.5
    stopped, cut = (np.where(some, np.cumsum(some) - 1, -1) for some in (whole, ~whole))
    second = held.regions(np.tile(stopped, (2, 1)), np.full(whole.sum(), price))
    lower = np.where(whole, -1, cut + np.count_nonzero(~whole))
    upper = held.regions(np.stack([cut, lower]), np.full(2 * np.count_nonzero(~whole), price))[: (~whole).sum()]
    assert held.left.max() == 0
    return np.array([(second > 0.5).sum(), (second <= 0.5).sum(), (upper > 0.5).sum(), (upper <= 0.5).sum()])


def bound() -> float:
    without, added = stopped_and_counted(0.0), stopped_and_counted(1.0)
    pairs = list(zip(without.tolist(), added.tolist(), strict=True))
    return max(epsilon_lower_bound(a, RUNS, b, RUNS, ALPHA) for a, b in pairs + [(b, a) for a, b in pairs])


def test_audit_of_a_box_that_stops_and_spends_its_rest() -> None:
    assert bound() <= EPSILON


def third_of_the_scale(rate: Fraction) -> DiscreteLaplace:
    return discrete_laplace(rate * 3)


def test_audit_finds_noise_of_a_third_of_the_scale(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answers, "discrete_laplace", third_of_the_scale)
    assert bound() > EPSILON
