"""Active nodes: which cells are looked at, how mass is shared among them, and the split of epsilon."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpheatmap.curator import Counts, Curator
from dpheatmap.design.shares import UNITS
from dpheatmap.evaluate.ground_truth import true_distribution
from dpheatmap.evaluate.peers.active_nodes import _levels, active_nodes, locate, share_out
from dpheatmap.place.domain import Domain, Floats
from dpheatmap.place.quadtree import Ints, encode
from dpheatmap.testing import seeded_curator
from helpers.people import every_domain, nobody_in, on_finest_cells, people_in

Asked = list[tuple[int, int, Fraction]]


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Asked:
    """Level, number of cells and price of each question about cells."""
    questions: Asked = []
    honest = Curator.cells

    def recorded(self: Curator, levels: Ints | int, codes: Ints, epsilon: Fraction) -> Floats:
        questions.append((int(np.max(levels)), len(codes), epsilon))
        return honest(self, levels, codes, epsilon)

    monkeypatch.setattr(Curator, "cells", recorded)
    return questions


def two_crowds() -> Counts:
    x, y = np.array([3, 200]), np.array([250, 9])
    return Counts.from_cells(Domain.unit(8), x, y, np.array([3000, 1000]) * UNITS)


def test_half_finds_the_cells_and_half_counts_them_in_equal_parts(asked: Asked) -> None:
    active_nodes(seeded_curator(two_crowds(), "0.8", seed=1))
    (total, *rest) = asked
    assert total == (0, 1, Fraction(1, 25))
    levels = [level for level, _, _ in rest]
    assert levels == [1, 2, 3, 4, 5] * 2  # 4^5 = 1024 cells are the most below 3200
    assert [price for _, _, price in rest] == [Fraction(19, 25) / 10] * 10
    assert [cells for _, cells, _ in rest[:5]] == [cells for _, cells, _ in rest[5:]]


def test_levels_that_are_not_reached_are_not_paid_for() -> None:
    """What is left of the first half is shared by the counts of the levels that were."""
    curator = seeded_curator(nobody_in(Domain.unit(8)), 1, seed=2)
    layers = locate(curator, range(1, 8))
    assert len(layers) < 5
    assert curator.rest >= 1 - Fraction(1, 14) * (len(layers) + 1)


def test_only_children_of_active_cells_are_looked_at() -> None:
    layers = locate(seeded_curator(two_crowds(), 100, seed=3), range(1, 7))
    for (_, cells, active), (_, below, _) in pairwise(layers):
        assert set((below >> 2).tolist()) == set(cells[active].tolist())
    finest, cells, active = layers[-1]
    assert finest == 6
    assert set((encode(np.array([3, 200]), np.array([250, 9])) >> 4).tolist()) <= set(cells[active].tolist())


def test_two_crowds_are_found_with_their_shares() -> None:
    found = on_finest_cells(active_nodes(seeded_curator(two_crowds(), 50, seed=4)))
    assert found[250, 3] == pytest.approx(0.75, abs=0.01)
    assert found[9, 200] == pytest.approx(0.25, abs=0.01)


@every_domain
def test_without_noise_it_is_the_truth(domain: Domain) -> None:
    counts = people_in(domain, 300)
    found = active_nodes(seeded_curator(counts, 10**6, seed=5))
    assert np.abs(on_finest_cells(found) - on_finest_cells(true_distribution(counts))).sum() / 2 < 1e-3
    assert found.total == pytest.approx(300, abs=0.5)


@pytest.mark.parametrize("seed", range(5))
def test_nobody_at_all_is_a_map_too(seed: int) -> None:
    curator = seeded_curator(nobody_in(Domain.image(20, 11)), "0.1", seed=seed)
    assert active_nodes(curator).mass.sum() == pytest.approx(1)
    assert curator.rest == 0


@given(st.integers(0, 2**32), st.integers(1, 40))
def test_shares_are_not_negative_and_add_up_to_their_parents(seed: int, parents: int) -> None:
    rng = np.random.default_rng(seed)
    family = np.repeat(np.arange(parents), rng.integers(1, 5, parents))
    mass, active = rng.exponential(5.0, parents) * (rng.random(parents) < 0.8), rng.random(len(family)) < 0.4
    shared = share_out(mass, family, active, rng.normal(2.0, 4.0, len(family)))
    assert shared.min() >= 0
    assert np.bincount(family, shared) == pytest.approx(mass)
    some = np.bincount(family, active) > 0
    assert np.all(shared[~active & some[family]] == 0)
    even = ~some[family]
    assert shared[even] == pytest.approx((mass / np.bincount(family))[family][even])


def test_the_tree_ends_at_about_epsilon_times_people() -> None:
    domain = Domain.unit(12)
    assert [_levels(domain, signal)[-1] for signal in (0.0, 15.0, 16.0, 1000.0, 1024.0, 1e9)] == [1, 1, 2, 4, 5, 10]
