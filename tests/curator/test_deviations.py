"""The half deviations of buckets: exact, moved by one unit by at most one, and as private as promised when noisy."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray

import dpheatmap as dph
from dpheatmap.curator import Curator
from dpheatmap.curator import rivals as questions
from dpheatmap.curator.core.noise import DiscreteLaplace, discrete_laplace
from dpheatmap.curator.half_deviations import half_deviations
from dpheatmap.design.shares import UNITS
from dpheatmap.errors import ParameterError
from dpheatmap.evaluate.audit.confidence import epsilon_lower_bound
from dpheatmap.evaluate.peers.dawa import least_cost
from dpheatmap.place.quadtree import Ints
from helpers.audit import chi_square

EPSILON = Fraction(2)


def by_definition(weights: list[int]) -> int:
    """Half the sum of distances from the mean, in fractions, rounded down."""
    mean = Fraction(sum(weights), len(weights))
    return math.floor(sum(abs(w - mean) for w in weights) / 2)


def random_buckets(rng: np.random.Generator) -> tuple[Ints, Ints]:
    """Weights of all sizes, many of them equal or 0, and buckets of all lengths."""
    cells = int(rng.integers(1, 30))
    weights = rng.integers(0, 10 ** int(rng.integers(1, 12)), cells) * rng.integers(0, 2, cells)
    starts = np.flatnonzero(np.append(True, rng.random(cells - 1) < 0.3))
    return weights, starts


def test_half_deviations_are_those_of_the_definition() -> None:
    rng = np.random.default_rng(1)
    for _ in range(300):
        weights, starts = random_buckets(rng)
        expected = [by_definition(bucket.tolist()) for bucket in np.split(weights, starts[1:])]
        assert half_deviations(weights, starts).tolist() == expected


def test_the_largest_weights_that_counts_accept_do_not_overflow() -> None:
    most = 2**62 - 1
    for weights in ([most, 0, 0, 0], [most // 4] * 4, [0] * 5 + [most // 2, most // 2 - 9], [most // 3, 1, most // 3]):
        assert half_deviations(np.array(weights), np.array([0])).tolist() == [by_definition(weights)]


def test_one_unit_moves_one_half_deviation_by_at_most_one() -> None:
    rng = np.random.default_rng(2)
    for _ in range(300):
        weights, starts = random_buckets(rng)
        before = half_deviations(weights, starts)
        cell = int(rng.integers(len(weights)))
        weights[cell] += 1
        moved = half_deviations(weights, starts) - before
        own = np.searchsorted(starts, cell, side="right") - 1
        assert abs(moved[own]) <= 1
        assert np.count_nonzero(np.delete(moved, own)) == 0


def test_buckets_that_share_a_cell_are_refused() -> None:
    curator = Curator(dph.Counts.from_cells(dph.Domain.unit(2), *np.zeros((3, 0), np.int64)), 1)
    for codes, starts in (([1, 2, 1], [0]), ([1, 2], [1]), ([1, 2], [0, 0]), ([1, 2], [0, 2]), ([], [])):
        with pytest.raises(ParameterError, match="disjoint"):
            curator.deviations(np.array(codes, np.int64), np.array(starts, np.int64), curator.rest)
    assert curator.rest == 1


# An audit of DAWA's first stage on curves of four cells: many of them in one domain, in buckets of their own, so that
# one question is many independent runs. Its output, the partition, is one of five.

SIDE = 256
PARTITIONS = 5
SHAPES = {
    "nobody else": ((0, 0, 0, 0), (1.0, 0, 0, 0)),
    "even": ((2, 2, 2, 2), (0, 0, 1.0, 0)),
    "uneven": ((3, 0, 0, 0), (0.5, 0, 0, 0.5)),
    "filled up": ((2, 0, 2, 2), (0, 1.0, 0, 0)),
}
RUNS = 4
ALPHA = 1e-6 / (len(SHAPES) * PARTITIONS * 2)


def partitions(weights: tuple[float, ...], runs: int) -> Ints:
    """How often each of the five partitions comes out; all of epsilon is spent on the two lengths alike."""
    domain = dph.Domain.unit(8)
    codes = domain.codes(8)
    people = np.tile(np.array([round(w * UNITS) for w in weights]), len(codes) // 4)
    counts = dph.Counts(domain, codes, np.concatenate([[0], np.cumsum(people)]))
    found = np.zeros(PARTITIONS, np.int64)
    for _ in range(runs):
        curator = Curator(counts, EPSILON)
        pairs, fours = np.arange(0, len(codes), 2), np.arange(0, len(codes), 4)
        deviations = [np.zeros(len(codes))]
        for starts in (pairs, fours):
            deviations.append(np.maximum(curator.deviations(codes, starts, EPSILON / 2), 0.0))
        assert curator.rest == 0
        bucket = least_cost([np.arange(len(codes)), pairs, fours], deviations, 0.7)
        begins = np.diff(bucket, prepend=-1).reshape(-1, 4)
        whole = begins.sum(axis=1) == 1
        kind = np.where(whole, 0, 1 + begins[:, 1] + 2 * begins[:, 3])
        found += np.bincount(kind, minlength=PARTITIONS)
    return found


def bounds(shape: str) -> list[float]:
    """Lower bounds on epsilon from each of the partitions, the person added and removed."""
    others, person = SHAPES[shape]
    without, added = (partitions(w, RUNS) for w in (others, tuple(np.add(others, person))))
    size = int(without.sum())
    pairs = list(zip(without.tolist(), added.tolist(), strict=True))
    return [epsilon_lower_bound(a, size, b, size, ALPHA) for a, b in pairs + [(b, a) for a, b in pairs]]


@pytest.mark.parametrize("shape", SHAPES)
def test_audit_of_the_partition(shape: str) -> None:
    assert max(bounds(shape)) <= EPSILON


def quarter_of_the_scale(rate: Fraction) -> DiscreteLaplace:
    return discrete_laplace(rate * 4)


def test_audit_finds_noise_of_a_quarter_of_the_scale(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(questions, "discrete_laplace", quarter_of_the_scale)
    assert max(bounds("filled up")) > EPSILON


def test_audit_finds_noise_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Noise on pairs only: what is decided by the whole curve's deviation is told exactly."""
    honest = Curator._noisy

    def careless(self: Curator, counts: Ints, epsilon: Fraction) -> Ints:
        noisy = honest(self, counts, epsilon)
        return counts if len(counts) == SIDE * SIDE // 4 else noisy

    monkeypatch.setattr(Curator, "_noisy", careless)
    assert max(bounds("nobody else")) > EPSILON


def test_noisy_deviations_have_the_promised_law() -> None:
    """Quartiles of the noise, at the rate that the question's price gives."""
    domain = dph.Domain.unit(8)
    codes = domain.codes(8)
    counts = dph.Counts(domain, codes[:4], np.array([0, 3, 3, 3, 3]) * UNITS)
    curator = Curator(counts, 3)
    noise = curator.deviations(codes, np.arange(0, len(codes), 2), Fraction(2))
    noise[0] -= 1.5
    cuts: NDArray[np.float64] = np.array([-math.log(2) / 2, 0.0, math.log(2) / 2])
    assert chi_square(np.bincount(np.searchsorted(cuts, noise), minlength=4), [0.25] * 4) > 1e-8
    assert curator.rest == 1
