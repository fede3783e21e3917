"""The adaptive federated heatmap: rounds that get dearer, leaves that split well above the noise."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import dpheatmap as dph
from dpheatmap.curator import Curator
from dpheatmap.evaluate.peers import federated
from dpheatmap.evaluate.peers.federated import _grow_leaves, federated_heatmap
from dpheatmap.place.domain import Domain, Floats
from dpheatmap.place.quadtree import Ints
from dpheatmap.testing import generated_people, seeded_curator


@pytest.fixture
def rounds(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Ints, Ints, float]]:
    """Levels and codes of the leaves and the price of each question about cells."""
    questions: list[tuple[Ints, Ints, float]] = []
    honest = Curator.cells

    def recorded(self: Curator, levels: Ints | int, codes: Ints, epsilon: Fraction) -> Floats:
        questions.append((np.broadcast_to(levels, np.shape(codes)), codes, float(epsilon)))
        return honest(self, levels, codes, epsilon)

    monkeypatch.setattr(Curator, "cells", recorded)
    return questions


def areas(levels: Ints) -> float:
    return float((0.25**levels).sum())


def test_rounds_get_dearer_and_their_leaves_cover_the_domain(rounds: list[tuple[Ints, Ints, float]]) -> None:
    counts = dph.aggregate(generated_people(1000), Domain.unit(8), user="person", x="x", y="y")
    federated_heatmap(seeded_curator(counts, 2, seed=1))
    total, first, *later = rounds
    assert total[2] == 0.1
    assert first[0].tolist() == [1, 1, 1, 1]
    assert all(areas(levels) == 1.0 for levels, _, _ in rounds)
    # Two standard deviations of Laplace noise, 2 sqrt 2 / eps, are n / R.
    assert first[2] == pytest.approx(2 * np.sqrt(2) * 4 / 1000, rel=0.1)
    for (levels, _, price), (_, _, before) in zip(later[:-1], [first, *later[:-2]], strict=True):
        assert price == pytest.approx(first[2] * len(levels) / 4, rel=1e-6)
        assert price >= before
    assert len(later) > 2


def test_a_crowd_in_one_cell_is_found_at_the_finest_level(rounds: list[tuple[Ints, Ints, float]]) -> None:
    crowd = dph.Counts(Domain.unit(8), np.array([4**7]), np.array([0, 1000]) * 2**30)
    estimate = federated_heatmap(seeded_curator(crowd, 2, seed=2))
    at = int(np.argmax(estimate.mass))
    assert (estimate.levels[at], estimate.codes[at]) == (8, 4**7)
    assert estimate.mass[at] > 0.9
    assert len(estimate.mass) < 200


def test_without_a_split_the_rest_of_epsilon_is_spent_at_once(
    rounds: list[tuple[Ints, Ints, float]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(federated, "SPLIT", np.inf)
    counts = dph.aggregate(generated_people(1000), Domain.unit(8), user="person", x="x", y="y")
    curator = seeded_curator(counts, 2, seed=3)
    estimate = federated_heatmap(curator)
    assert [len(codes) for _, codes, _ in rounds] == [1, 4, 4]
    assert sum(price for _, _, price in rounds) == pytest.approx(2)
    assert estimate.levels.tolist() == [1, 1, 1, 1]


def test_leaves_outside_the_domain_are_not_made() -> None:
    domain = Domain.image(5, 3)
    split = np.array([True, False])
    levels, codes, count, precision = _grow_leaves(
        domain, split, np.array([1, 1]), np.array([0, 1]), np.array([7.0, 3.0]), np.array([1.0, 2.0])
    )
    assert levels.tolist() == [1, 2, 2, 2, 2]
    assert codes.tolist() == [1, 0, 1, 2, 3]
    assert (count.tolist(), precision.tolist()) == ([3.0, 0, 0, 0, 0], [2.0, 0, 0, 0, 0])
    levels, codes, _, _ = _grow_leaves(domain, ~split, np.array([1, 1]), np.array([0, 1]), np.zeros(2), np.zeros(2))
    assert codes.tolist() == [0, 4, 6]
