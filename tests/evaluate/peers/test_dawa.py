"""DAWA: the Hilbert curve, the least-cost partition against all partitions, and the split of epsilon."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import dpheatmap as dph
from dpheatmap.curator import Curator
from dpheatmap.design.shares import UNITS
from dpheatmap.evaluate.peers.dawa import dawa, hilbert, least_cost
from dpheatmap.place.domain import Domain, Floats
from dpheatmap.place.quadtree import Ints
from dpheatmap.testing import generated_people, seeded_curator


@pytest.mark.parametrize("doublings", [0, 1, 2, 5])
def test_hilbert_visits_every_cell_once_and_steps_to_a_neighbour(doublings: int) -> None:
    y, x = (place.ravel() for place in np.indices((2**doublings, 2**doublings)))
    order = np.argsort(hilbert(x, y, doublings))
    assert np.array_equal(np.sort(hilbert(x, y, doublings)), np.arange(4**doublings))
    assert np.all(np.abs(np.diff(x[order])) + np.abs(np.diff(y[order])) == 1)


def test_dyadic_runs_of_the_curve_are_cells_of_the_quadtree_and_halves_of_them() -> None:
    y, x = (place.ravel() for place in np.indices((32, 32)))
    order = np.argsort(hilbert(x, y, 5))
    for k in range(11):
        columns, rows = (axis[order].reshape(-1, 2**k) for axis in (x, y))
        wide, high = (np.ptp(axis, axis=1) + 1 for axis in (columns, rows))
        assert np.all(wide * high == 2**k)
        assert np.all(columns.min(axis=1) % wide == 0)
        assert np.all(rows.min(axis=1) % high == 0)


def cheapest(starts: list[Ints], deviations: list[Floats], price: float, k: int, first: int, last: int) -> float:
    """The least cost of the cells ``first .. last - 1``, a bucket of order k, over all its partitions."""
    at = int(np.searchsorted(starts[k], first))
    own = float(deviations[k][at]) + price
    if k == 0:
        return own
    inner = [s for s in starts[k - 1].tolist() if first <= s < last]
    ends = [*inner[1:], last]
    parts = (cheapest(starts, deviations, price, k - 1, a, b) for a, b in zip(inner, ends, strict=True))
    return min(own, sum(parts))


def test_the_partition_costs_least_of_all() -> None:
    rng = np.random.default_rng(1)
    for _ in range(60):
        places = np.sort(rng.choice(32, int(rng.integers(1, 25)), replace=False))
        starts = [np.arange(len(places)), *(np.flatnonzero(np.diff(places >> k, prepend=-1)) for k in range(1, 4))]
        deviations = [np.zeros(len(places)), *(rng.exponential(2.0 * k, len(starts[k])) for k in range(1, 4))]
        bucket = least_cost(starts, deviations, 1.0)
        begins = np.flatnonzero(np.diff(bucket, prepend=-1))
        assert np.array_equal(np.unique(bucket), np.arange(len(begins)))
        cost = 0.0
        for first, last in zip(begins, np.append(begins[1:], len(places)), strict=True):
            fitting = [
                deviations[k][at] + 1.0
                for k in range(4)
                for at in np.flatnonzero(starts[k] == first)
                if np.append(starts[k], len(places))[at + 1] == last
            ]
            cost += min(fitting)
        tops = zip(starts[3].tolist(), [*starts[3].tolist()[1:], len(places)], strict=True)
        assert cost == pytest.approx(sum(cheapest(starts, deviations, 1.0, 3, a, b) for a, b in tops))


def test_a_quarter_of_epsilon_finds_the_buckets(monkeypatch: pytest.MonkeyPatch) -> None:
    prices: list[tuple[int, Fraction]] = []
    honest = Curator.deviations

    def recorded(self: Curator, codes: Ints, starts: Ints, epsilon: Fraction) -> Floats:
        prices.append((len(starts), epsilon))
        return honest(self, codes, starts, epsilon)

    monkeypatch.setattr(Curator, "deviations", recorded)
    counts = dph.aggregate(generated_people(50), Domain.unit(5), user="person", x="x", y="y")
    dawa(seeded_curator(counts, "0.6", seed=2))
    assert sum(price for _, price in prices) == Fraction(3, 20)
    assert [buckets for buckets, _ in prices] == [1024 // 2**k for k in range(1, 9)]
    assert float(prices[-1][1] / prices[0][1]) == pytest.approx(2 ** (7 / 5))


def test_even_people_share_buckets_and_uneven_ones_do_not() -> None:
    """Half of the square has 5 people in each cell, a quarter none, and in the last quarter stands one crowd."""
    domain = Domain.unit(5)
    codes = np.arange(1024)
    people = np.where(codes < 512, 5, 0)
    people[1000] = 3000
    counts = dph.Counts(domain, codes, np.concatenate([[0], np.cumsum(people * UNITS)]))
    values = dawa(seeded_curator(counts, 20, seed=3)).raster(32, 32) * people.sum()
    assert values[:16].ravel() == pytest.approx(5.0, abs=0.2)
    assert values[16:, :16].ravel() == pytest.approx(0.0, abs=0.2)
    assert values.max() == pytest.approx(3000, abs=2)
