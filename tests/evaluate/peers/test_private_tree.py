"""PrivTree as a peer: the authors' split of epsilon, and counts made non-negative."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import nnls

import dpheatmap as dph
from dpheatmap.curator import Curator
from dpheatmap.evaluate.peers.non_negative import nearest_non_negative
from dpheatmap.evaluate.peers.private_tree import privtree
from dpheatmap.place.quadtree import Ints
from dpheatmap.testing import generated_people, seeded_curator


def test_half_of_epsilon_goes_into_the_tree(monkeypatch: pytest.MonkeyPatch) -> None:
    prices = []
    tree = Curator.private_tree

    def recorded(self: Curator, epsilon: Fraction) -> tuple[Ints, Ints]:
        prices.append(epsilon)
        return tree(self, epsilon)

    monkeypatch.setattr(Curator, "private_tree", recorded)
    counts = dph.aggregate(generated_people(50), dph.Domain.unit(5), user="person", x="x", y="y")
    privtree(seeded_curator(counts, "0.7", seed=1))
    assert prices == [Fraction(7, 20)]


def test_the_tree_is_finer_where_people_are() -> None:
    crowd = dph.Counts(dph.Domain.unit(8), np.array([4**8 - 1]), np.array([0, 1000]) * 2**30)
    estimate = privtree(seeded_curator(crowd, 1, seed=2))
    at = int(np.argmax(estimate.mass))
    assert estimate.levels[at] == 8
    assert estimate.codes[at] == 4**8 - 1
    assert estimate.mass[at] > 0.9
    assert len(estimate.mass) < 100


def test_nearest_non_negative_counts_against_least_squares() -> None:
    """A heavy row makes the sum hold: what scipy's solver for non-negative least squares finds."""
    rng = np.random.default_rng(3)
    for _ in range(20):
        counts = rng.normal(1.0, 3.0, 6)
        counts[0] += max(0.0, 0.5 - counts.sum())
        found, _ = nnls(np.vstack([np.eye(6), 1e5 * np.ones(6)]), np.append(counts, 1e5 * counts.sum()))
        assert nearest_non_negative(counts) == pytest.approx(found, abs=1e-6)


def test_counts_whose_sum_is_negative_become_zero() -> None:
    assert nearest_non_negative(np.array([1.0, -3.0])).tolist() == [0.0, 0.0]
    assert nearest_non_negative(np.array([1.0, 0.0, 2.0])).tolist() == [1.0, 0.0, 2.0]
