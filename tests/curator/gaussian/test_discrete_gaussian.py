"""The sampler of discrete Gaussian noise: its law, stage by stage, and against two other samplers.

Tests of samples have a false-alarm rate below 1e-6 each: a chi-square statistic of k cells is within
``k + 2 sqrt(7 k) + 14 * 2`` but for 1e-6 of the time (Laurent and Massart's bound with x = 14).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from itertools import accumulate

import mpmath
import numpy as np
import opendp.prelude as dp
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mp

from dpheatmap.curator.core.noise import LARGEST
from dpheatmap.curator.gaussian import discrete_gaussian as module
from dpheatmap.curator.gaussian.discrete_gaussian import DiscreteGaussian, Uniform
from dpheatmap.curator.gaussian.gaussian_kernels import von_neumann
from dpheatmap.design.shares import UNITS
from dpheatmap.errors import ParameterError
from dpheatmap.place.quadtree import Ints
from dpheatmap.testing import SeededSource
from helpers.reference import real

VARIANCES = [
    Fraction(1, 3),
    Fraction(1),
    Fraction(50),
    Fraction(255),
    Fraction(256),
    Fraction(1001, 2),
    Fraction(10**6),
]
WIDE = UNITS**2 / (2 * Fraction(1, 50))
MOST = 28.0  # 2 x of the bound above, x = 14


def chi_square_is_fine(observed: Ints, expected: list[float]) -> bool:
    """Whether counts in cells go with their expectations, which should be 5 or more each."""
    statistic = sum((o - e) ** 2 / e for o, e in zip(observed.tolist(), expected, strict=True))
    cells = len(expected) - 1
    return bool(statistic <= cells + 2 * math.sqrt(14 * cells) + MOST)


def cells_of(variance: Fraction, size: int) -> tuple[list[int], list[float]]:
    """Cut points of about 40 cells on all integers, and the expected number of samples in each."""
    deviation = math.sqrt(variance)
    reach = math.ceil(9 * deviation) + 3
    law = {k: math.exp(-(k**2) / (2 * float(variance))) for k in range(-reach, reach + 1)}
    total = sum(law.values())
    cuts, expected, inside = [], [], 0.0
    for k in range(-reach, reach + 1):
        inside += size * law[k] / total
        if inside >= max(5.0, size / 40):
            cuts.append(k)
            expected.append(inside)
            inside = 0.0
    expected[-1] += inside
    return cuts[:-1], expected


def counts_in(cuts: list[int], samples: Ints) -> Ints:
    return np.bincount(np.searchsorted(cuts, samples, side="left"), minlength=len(cuts) + 1)


@pytest.mark.parametrize("variance", VARIANCES, ids=str)
@pytest.mark.parametrize("word_bits", [16, 64])
def test_samples_have_the_law(variance: Fraction, word_bits: int) -> None:
    """With few certified bits, ties are common and are decided by further ones."""
    size = 40_000
    samples = DiscreteGaussian(variance, word_bits=word_bits).exact(size, SeededSource(7))
    assert len(samples) == size
    cuts, expected = cells_of(variance, size)
    assert chi_square_is_fine(counts_in(cuts, samples), expected)


def test_a_wrong_variance_would_be_seen() -> None:
    samples = DiscreteGaussian(Fraction(1100)).exact(40_000, SeededSource(7))
    cuts, expected = cells_of(Fraction(1000), 40_000)
    assert not chi_square_is_fine(counts_in(cuts, samples), expected)


def test_the_width_of_a_release_has_the_moments_of_a_normal_law() -> None:
    """Six standard errors on either side: a false alarm in 5e8 runs."""
    size = 400_000
    samples = DiscreteGaussian(WIDE).exact(size, SeededSource(11)).astype(np.float64) / math.sqrt(WIDE)
    assert abs(samples.mean()) < 6 / math.sqrt(size)
    assert abs((samples**2).mean() - 1) < 6 * math.sqrt(2 / size)
    assert abs((samples**4).mean() - 3) < 6 * math.sqrt(96 / size)
    low = DiscreteGaussian(WIDE).exact(size, SeededSource(12)) & 0xFF  # the last bits are uniform
    assert chi_square_is_fine(np.bincount(low, minlength=256), [size / 256] * 256)


def canonne_kamath_steinke(variance: int, size: int, rng: np.random.Generator) -> Ints:
    """Their algorithm 3 with floats for the coin's probability, which is near enough for a test."""
    t = math.isqrt(variance) + 1
    found = np.empty(0, np.int64)
    while len(found) < size:
        magnitude = rng.geometric(1 - math.exp(-1 / t), 4 * size) - 1
        minus = rng.random(4 * size) < 0.5
        kept = ~(minus & (magnitude == 0))
        kept &= rng.random(4 * size) < np.exp(-((magnitude - variance / t) ** 2) / (2 * variance))
        found = np.concatenate([found, np.where(minus, -magnitude, magnitude)[kept]])
    return found[:size]


def opendp_gaussian(variance: int, size: int, _: np.random.Generator) -> Ints:
    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.l2_distance(T="f64")
    measurement = space >> dp.m.then_gaussian(scale=math.sqrt(variance))
    return np.array(measurement([0] * size), dtype=np.int64)


@pytest.mark.parametrize("peer", [canonne_kamath_steinke, opendp_gaussian])
@pytest.mark.parametrize("variance", [4, 400])
def test_samples_are_like_those_of_others(peer: Callable[..., Ints], variance: int) -> None:
    size = 20_000
    theirs = peer(variance, size, np.random.default_rng(5))
    ours = DiscreteGaussian(Fraction(variance)).exact(size, SeededSource(13))
    cuts, expected = cells_of(Fraction(variance), size)
    for samples in (theirs, ours):
        assert chi_square_is_fine(counts_in(cuts, samples), expected)
    a, b = (counts_in(cuts, samples).astype(np.float64) for samples in (ours, theirs))
    statistic, cells = float(((a - b) ** 2 / (a + b)).sum()), len(expected) - 1
    assert statistic <= cells + 2 * math.sqrt(14 * cells) + MOST


@pytest.mark.parametrize("variance", [*VARIANCES, WIDE, Fraction(2**100)], ids=str)
def test_the_heads_floors_are_the_first_bits_of_its_law(variance: Fraction) -> None:
    sampler = DiscreteGaussian(variance)
    with mp.workprec(1200):
        edge = real(Fraction(sampler.block**2) / (2 * variance))
        weights = [mpmath.exp(-edge * r**2) for r in range(sampler.heads + 1)]
        weights[-1] /= 1 - mpmath.exp(-2 * edge * sampler.heads)
        total = sum(weights)
        wanted = [
            min(int(mpmath.floor(mpmath.ldexp(w / total, 64))), 2**64 - 1) for w in list(accumulate(weights))[:-1]
        ]
    assert sampler._head.floors.tolist() == wanted


@pytest.mark.parametrize(
    "variance", [Fraction(256), Fraction(1001, 2), Fraction(10**6), WIDE, Fraction(2**100)], ids=str
)
def test_below_the_tail_von_neumanns_rule_applies(variance: Fraction) -> None:
    sampler = DiscreteGaussian(variance)
    assert sampler.bits > 0
    worst = Fraction((sampler.block - 1) * (2 * (sampler.heads - 1) * sampler.block + sampler.block - 1)) / (
        2 * variance
    )
    assert worst <= 1
    # The tail begins beyond 7.8 deviations, and the kernel's products fit into 64 bits.
    assert (sampler.heads * sampler.block) ** 2 >= 60 * variance
    assert sampler.heads < 256
    assert sampler._scale <= 2**25


@settings(max_examples=300, deadline=None)
@given(
    variance=st.sampled_from([Fraction(256), Fraction(1001, 2), Fraction(10**6), WIDE, Fraction(2**100)]),
    head=st.integers(0, 300),
    digit=st.integers(0, 2**60),
    words=st.lists(st.integers(0, 2**32 - 1) | st.sampled_from([0, 1, 2**31, 2**32 - 1]), min_size=1, max_size=9),
    seed=st.integers(0, 10**6),
)
def test_the_loop_decides_as_exact_fractions_do(
    variance: Fraction, head: int, digit: int, words: list[int], seed: int
) -> None:
    sampler = DiscreteGaussian(variance)
    head, digit = head % sampler.heads, digit % sampler.block
    kept = np.empty(1, np.int8)
    von_neumann(
        np.array([head]), np.array([digit]), sampler.bits, sampler._scale, np.array([words], dtype=np.uint32), kept
    )
    if kept[0] >= 0:  # else the words leave it open
        assert bool(kept[0]) == sampler._decide(head, digit, words, SeededSource(seed))


@pytest.mark.parametrize("gamma", [Fraction(1, 100), Fraction(1, 2), Fraction(1)])
def test_von_neumanns_rule_keeps_with_the_probability_of_an_exponential(gamma: Fraction) -> None:
    """With words of so few bits that most ties go on; six standard errors."""
    source, trials = SeededSource(3), 4000
    sampler = DiscreteGaussian(Fraction(1) / (2 * gamma))
    kept = sum(sampler._decide(0, 1, [], source) for _ in range(trials))
    likely = math.exp(-gamma)
    assert abs(kept - trials * likely) < 6 * math.sqrt(trials * likely * (1 - likely)) + 1


def test_uniform_reals_are_compared_by_as_many_bits_as_it_takes() -> None:
    class Script:
        def __init__(self, *words: int) -> None:
            self._words = list(words)

        def __call__(self, size: int) -> bytes:
            return b"".join(self._words.pop(0).to_bytes(8, "little") for _ in range(size // 8))

    first, second = Uniform(5, Script(7, 9)), Uniform(5, Script(7, 8))
    assert first.exceeds(second)
    assert not Uniform(2**31, Script(0, 0)).exceeds(Fraction(2**95 + 1, 2**96) + Fraction(1, 2**96))
    assert Uniform(2**31, Script(1)).exceeds(Fraction(1, 2))


def test_the_tail_is_drawn_exactly(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a head of two blocks the tail is common, and the law is the same."""

    class Short(DiscreteGaussian):
        def __init__(self, variance: Fraction) -> None:
            super().__init__(variance)
            self.heads = 2

    size, variance = 6000, Fraction(5)
    samples = Short(variance).exact(size, SeededSource(17))
    cuts, expected = cells_of(variance, size)
    assert chi_square_is_fine(counts_in(cuts, samples), expected)
    far = np.flatnonzero(np.abs(samples) >= 2)
    assert len(far) > size / 10


def test_samples_that_64_bits_can_not_hold_stay_exact(monkeypatch: pytest.MonkeyPatch) -> None:
    sampler = DiscreteGaussian(Fraction(2**100))
    monkeypatch.setattr(sampler._head, "draw", lambda size, source: np.full(size, sampler.heads))
    monkeypatch.setattr(sampler, "_tail", lambda digit, source: LARGEST * 8)
    assert set(map(abs, sampler.exact(5, SeededSource(1)).tolist())) == {LARGEST * 8}


def test_a_parameter_beyond_64_bits_is_refused() -> None:
    with pytest.raises(ParameterError, match="rho is too small for exact noise"):
        DiscreteGaussian(Fraction(2) ** 113)


def test_a_source_that_gives_too_little_is_an_error() -> None:
    with pytest.raises(ValueError, match="buffer is smaller"):
        DiscreteGaussian(Fraction(1000)).exact(10, lambda size: b"\0")


def test_equal_parameters_share_their_tables() -> None:
    assert module.discrete_gaussian(Fraction(7)) is module.discrete_gaussian(Fraction(14, 2))
