"""The private measure mechanism: consistency, depth, and noise by the authors' formula."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import dpheatmap as dph
from dpheatmap.curator import Curator
from dpheatmap.evaluate.peers import private_measure
from dpheatmap.evaluate.peers.private_measure import pmm, split_masses
from dpheatmap.place.domain import Domain, Floats
from dpheatmap.place.quadtree import Ints
from dpheatmap.testing import generated_people, seeded_curator


def families(rng: np.random.Generator, parents: int) -> tuple[Floats, Ints, Floats]:
    """Masses of parents, and noisy counts of one to four children each."""
    family = np.repeat(np.arange(parents), rng.integers(1, 5, parents))
    return rng.exponential(5.0, parents) * (rng.random(parents) < 0.8), family, rng.normal(2.0, 4.0, len(family))


def test_children_are_not_negative_and_add_up_to_their_parents() -> None:
    mass, family, noisy = families(np.random.default_rng(1), 500)
    children = split_masses(mass, family, noisy)
    assert children.min() >= 0
    assert np.bincount(family, children) == pytest.approx(mass)


def test_all_children_of_a_parent_move_the_same_way() -> None:
    mass, family, noisy = families(np.random.default_rng(2), 500)
    moved = split_masses(mass, family, noisy) - np.maximum(noisy, 0)
    missing = mass - np.bincount(family, np.maximum(noisy, 0))
    assert np.all(moved * missing[family] >= -1e-9)
    assert np.bincount(family, np.abs(moved)) == pytest.approx(np.abs(missing))


def test_children_that_add_up_stay_as_they_are() -> None:
    noisy = np.array([1.0, 0.0, 2.5, 4.0])
    assert split_masses(np.array([3.5, 4.0]), np.array([0, 0, 0, 1]), noisy).tolist() == noisy.tolist()


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, int, Fraction]]:
    """Level, number of cells and price of each question about cells."""
    questions: list[tuple[int, int, Fraction]] = []
    honest = Curator.cells

    def recorded(self: Curator, levels: Ints | int, codes: Ints, epsilon: Fraction) -> Floats:
        questions.append((int(np.max(levels)), len(codes), epsilon))
        return honest(self, levels, codes, epsilon)

    monkeypatch.setattr(Curator, "cells", recorded)
    return questions


def test_prices_grow_with_the_root_of_the_diameters_of_the_level_above(asked: list[tuple[int, int, Fraction]]) -> None:
    counts = dph.aggregate(generated_people(2000), Domain.unit(8), user="person", x="x", y="y")
    pmm(seeded_curator(counts, 1, seed=3))
    (root, *levels) = asked
    assert root == (0, 1, Fraction(1, 20))
    assert [level for level, _, _ in levels] == [1, 2, 3, 4, 5]  # 4^5 = 1024 is nearer to eps n = 2000 than 4^6
    prices = np.array([float(price) for _, _, price in levels])
    # Level j - 1 has 4^(j-1) cells of diameter 2^-(j-1): the sum is 2^(j-1).
    assert prices / prices[0] == pytest.approx(np.sqrt(2.0 ** np.arange(5)))
    assert [cells for _, cells, _ in levels][:2] == [4, 16]


def test_nothing_is_asked_below_empty_cells(asked: list[tuple[int, int, Fraction]]) -> None:
    crowd = dph.Counts(Domain.unit(8), np.array([0]), np.array([0, 10_000]) * 2**30)
    estimate = pmm(seeded_curator(crowd, 10, seed=4))
    assert max(cells for _, cells, _ in asked) <= 256
    assert estimate.mass[estimate.codes == 0].sum() > 0.99


def test_depth_follows_epsilon_times_people() -> None:
    domain = Domain.unit(12)
    deepest = [private_measure._levels(domain, signal)[-1] for signal in (0.0, 8.0, 33.0, 130.0, 1e9)]
    assert deepest == [1, 2, 3, 4, 10]
