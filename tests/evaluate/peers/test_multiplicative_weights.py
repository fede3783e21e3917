"""MWEM: updates by multiplicative weights, rounds, and what each asks."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import dpheatmap as dph
from dpheatmap.evaluate.peers.multiplicative_weights import _shares_of_area, _workload, mwem, replay
from dpheatmap.place.domain import Domain
from dpheatmap.testing import generated_people, seeded_curator


def test_replay_reaches_what_was_measured_and_keeps_the_rest_flat() -> None:
    coarse = (np.array([0, 4]), np.array([0.75, 0.25]))
    fine = (np.array([0, 2, 4, 6]), np.array([0.5, 0.25, 0.125, 0.125]))
    weights = np.full(8, 0.125)
    for _ in range(20):
        weights = replay(weights, [coarse, fine])
    assert weights == pytest.approx([0.25, 0.25, 0.125, 0.125, 0.0625, 0.0625, 0.0625, 0.0625], abs=1e-3)


def test_replay_of_contradicting_answers_lies_between_them() -> None:
    weights = np.full(2, 0.5)
    for _ in range(20):
        weights = replay(weights, [(np.array([0, 1]), np.array([0.9, 0.1])), (np.array([0, 1]), np.array([0.7, 0.3]))])
    assert weights.sum() == pytest.approx(1)
    assert weights[0] == pytest.approx(0.8, abs=0.02)


def test_negative_answers_leave_little_but_not_less_than_nothing() -> None:
    weights = replay(np.full(4, 0.25), [(np.arange(4), np.array([1.2, -0.2, 0.1, -0.1]))])
    assert weights.min() > 0
    assert weights[0] > 0.8


def test_the_workload_is_every_cell_of_every_level() -> None:
    domain = Domain.image(5, 3)
    codes = domain.codes(3)
    levels, cells, begin, end = _workload(domain, codes, 3)
    for level, cell, first, last in zip(levels, cells, begin, end, strict=True):
        assert np.array_equal(codes[first:last], codes[codes >> 2 * (3 - level) == cell])
    assert len(cells) == sum(domain.cells(level).count for level in range(domain.first_level(4), 4))
    assert np.all(end > begin)


def test_the_first_histogram_is_flat_on_the_domain() -> None:
    domain = Domain.image(5, 3)
    assert _shares_of_area(domain, domain.codes(1), 1) == pytest.approx([12 / 15, 3 / 15])


@pytest.mark.parametrize(("people", "epsilon", "rounds"), [(50, "0.01", 1), (200, "1", 3), (1500, "2", 7)])
def test_rounds_follow_epsilon_times_people(people: int, epsilon: str, rounds: int, spent: list[Fraction]) -> None:
    counts = dph.aggregate(generated_people(people), Domain.unit(6), user="person", x="x", y="y")
    mwem(seeded_curator(counts, epsilon, seed=1))
    total, *rest = spent
    assert total == Fraction(epsilon) / 20
    assert len(rest) == 2 * rounds
    assert set(rest) == {Fraction(epsilon) * 19 / 20 / (2 * rounds)}
