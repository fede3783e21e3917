"""The sampler bit by bit: certified cut points, inversion of given reals, streams that never repeat.

Nothing here is left to chance: `test_noise_law.py` tests the law of what is drawn, `test_integers.py` that no float is.
"""

from __future__ import annotations

import math
import os
import subprocess
import sys
import threading
from bisect import bisect_left
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from functools import cache
from itertools import accumulate

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mp

from dpheatmap.curator.core import noise, noise_kernels
from dpheatmap.curator.core.counts import Counts
from dpheatmap.curator.core.measure import measure_counts
from dpheatmap.curator.core.noise import BLOCK, HEAD, LARGEST, SMALL, DiscreteLaplace, Factor
from dpheatmap.curator.core.publishing import add_noise
from dpheatmap.design.privacy_loss import PureLoss
from dpheatmap.design.shares import FARTHEST, UNITS
from dpheatmap.errors import ParameterError
from dpheatmap.place.domain import Domain
from dpheatmap.place.quadtree import Ints
from dpheatmap.testing import SeededSource
from helpers.designs import paper_design
from helpers.reference import SCALES, WIDEST, real

RATES = [Fraction(10**6), *SCALES, Fraction(1234567891, 2**62), WIDEST]
FIGURES = 1024  # bits that the references give of each cut point

each_rate = pytest.mark.parametrize("rate", RATES, ids=str)


@cache
def cut_points(rate: Fraction) -> list[list[int]]:
    """Distribution functions of head and digits, ``floor(F * 2^FIGURES)``, from the probabilities that are stated."""
    with mp.workprec(FIGURES + 200):
        digits = DiscreteLaplace(rate).digits
        q, r = mpmath.exp(-real(rate)), mpmath.exp(-real(rate * 256**digits))
        heads = [q / (1 + q) * (1 - r) * r**k for k in range(HEAD)]
        laws = [[(1 - q) / (1 + q), *(p for p in heads for _ in "+-"), q / (1 + q) * r**HEAD]]
        for j in range(digits):
            p = mpmath.exp(-real(rate * 256**j))
            laws.append([p**d * (1 - p) / (1 - p**256) for d in range(255)])
        # A function that rounds up to 1 is one whose digits are all ones, as far as they are given.
        most = (1 << FIGURES) - 1
        return [[min(most, int(mpmath.floor(mpmath.ldexp(f, FIGURES)))) for f in accumulate(law)] for law in laws]


class Script:
    """A source that hands out given 64-bit words, and zeros after the last."""

    def __init__(self, words: list[int]) -> None:
        self._words = list(words)

    def __call__(self, size: int) -> bytes:
        given, self._words = self._words[: size // 8], self._words[size // 8 :]
        return np.array(given + [0] * (size // 8 - len(given)), dtype=np.uint64).tobytes()


@each_rate
def test_the_floors_are_the_first_bits_of_the_cut_points(rate: Fraction) -> None:
    for factor, cuts in zip(DiscreteLaplace(rate)._factors, cut_points(rate), strict=True):
        assert factor.floors.tolist() == [cut >> FIGURES - 64 for cut in cuts]


@pytest.mark.parametrize("bits", [1, 2, 5, 9, 33, 63])
def test_narrow_floors_are_the_first_bits_too(bits: int) -> None:
    wide, narrow = (
        DiscreteLaplace(Fraction(1, 1000), word_bits=word, table_bits=0, head=head)
        for word, head in [(64, 3), (bits, 3)]
    )
    for a, b in zip(wide._factors, narrow._factors, strict=True):
        assert (a.floors >> np.uint64(64 - bits)).tolist() == b.floors.tolist()


@pytest.mark.parametrize(("side", "floor"), [(1, 2**63), (-1, 2**63 - 1)])
def test_a_cut_point_beside_a_power_of_two_is_certified_with_more_bits(side: int, floor: int) -> None:
    cut = Fraction(1, 2) + side * Fraction(1, 3 * 2**600)
    factor = Factor(lambda bits: [(math.floor(cut * 2**bits) - 99, math.floor(cut * 2**bits) + 99)])
    assert factor.floors.tolist() == [floor]


def invert(factor: Factor, word: int, tail: list[int]) -> int:
    """A factor's outcome for the real number whose binary digits are a word's and the tail's, by table if it can."""
    first = word >> factor._word_bits - factor._table_bits
    known = int(factor.table[first])
    return known if known >= 0 else int(factor.resolve(np.array([first], dtype=np.uint16), Script([word, *tail]))[0])


@pytest.mark.parametrize(("table_bits", "word_bits"), [(16, 64), (4, 64), (2, 5), (0, 1), (8, 8)])
@pytest.mark.parametrize("rate", [Fraction(3), Fraction(1, 2), Fraction(1, 50), Fraction(7, 3 * 10**5)], ids=str)
def test_inversion_is_exact_on_both_sides_of_every_cut(rate: Fraction, table_bits: int, word_bits: int) -> None:
    """U runs along a cut point's own digits, for 20 to 190 bits, and then passes below or above it."""
    sampler = DiscreteLaplace(rate, table_bits=table_bits, word_bits=word_bits)
    for factor, cuts in zip(sampler._factors, cut_points(rate), strict=True):
        total = word_bits + 7 * 64
        exact = [cut >> FIGURES - total for cut in cuts]
        for cut in exact:
            for agreed in (20, 64, 130, 190):
                for step in (-1, 0, 1):
                    u = max(0, min((cut >> total - agreed) + step, (1 << agreed) - 1)) << total - agreed
                    tail = [u >> 64 * i & 2**64 - 1 for i in reversed(range(7))]
                    # A cut point is irrational, so it is at most U if and only if its first bits are below those of U.
                    assert invert(factor, u >> 7 * 64, tail) == bisect_left(exact, u)


@pytest.mark.parametrize("rate", RATES[1:], ids=str)
def test_few_samples_put_the_inverted_factors_together(rate: Fraction) -> None:
    """One sample from given words, at and beside the cut points' floors, with ties broken by one more word."""
    sampler, random = DiscreteLaplace(rate), np.random.default_rng(5)
    exact = [[cut >> FIGURES - 128 for cut in cuts] for cuts in cut_points(rate)]
    for _ in range(300):
        reals = []
        for cuts in exact:
            word = (cuts[random.integers(min(len(cuts), 60))] >> 64) + int(random.integers(-1, 2))
            reals.append(max(0, min(word, 2**64 - 1)) << 64 | int.from_bytes(random.bytes(8), "big"))
        ties = [u & 2**64 - 1 for u, cuts in zip(reals, exact, strict=True) if u >> 64 in {cut >> 64 for cut in cuts}]
        head, *digits = (bisect_left(cuts, u) for u, cuts in zip(reals, exact, strict=True))
        wanted = assembled(head, sum(d * 256**j for j, d in enumerate(digits)), sampler.block)
        assert sampler.sample(1, Script([*(u >> 64 for u in reals), *ties])).tolist() == [wanted]


def test_several_words_at_once_are_looked_up_each_in_its_place() -> None:
    """Three words for each of three factors; those equal to a floor are listed with their place, and add nothing."""
    floors, starts = np.array([10, 20, 30, 5, 15, 7], np.uint64), np.array([0, 3, 5, 6])
    words = np.array([[9, 20, 31], [5, 6, 16], [8, 7, 0]], np.uint64)
    totals, ties = np.zeros((2, 3), np.int64), np.zeros(9, np.int64)
    count = noise_kernels.search(floors, starts, words, np.array([1, 1, 256]), totals, ties)
    assert [divmod(tie, 3) for tie in ties[:count].tolist()] == [(0, 1), (1, 0), (2, 1)]
    assert totals.tolist() == [[0, 0, 3], [256, 1, 2]]


def assembled(head: int, low: int, block: int) -> int:
    """The noise that a head and the digits' sum stand for."""
    magnitude = min(LARGEST, 1 + (head - 1) // 2 * block + low)
    return 0 if head == 0 else magnitude if head % 2 else -magnitude


@pytest.mark.parametrize("size", [0, 1, SMALL - 1, SMALL, BLOCK + 1, 2 * BLOCK + SMALL])
def test_every_sample_is_written(noise_path: str, size: int) -> None:
    """All digits of U equal to those of 1/3 = 0.0101...: every sample is the same, and there is one in every place."""
    sampler = DiscreteLaplace(Fraction(1, 2**40))
    (one,) = sampler.sample(1, lambda n: b"\x55" * n).tolist()
    assert one != 0
    assert sampler.sample(size, lambda n: b"\x55" * n).tolist() == [one] * size
    assert sampler.sample(size, lambda n: b"\0" * n).tolist() == [0] * size


@pytest.mark.parametrize("rate", [Fraction(1, 3), Fraction(1, 1000), Fraction(1, 2**40), WIDEST], ids=str)
def test_the_last_outcomes_are_the_largest_noise(noise_path: str, rate: Fraction) -> None:
    """U = 0.111...: the last outcome of every factor, minus and HEAD or more; and then no success beyond HEAD."""
    sampler = DiscreteLaplace(rate)
    last = -min(LARGEST, (HEAD + 1) * sampler.block)
    assert sampler.sample(9, lambda n: b"\xff" * n).tolist() == [last] * 9


@pytest.mark.parametrize("rounds", [0, 1, 5, 61, 62, 63, 200])
def test_the_tail_is_continued_exactly_and_clipped_only_in_samples(rounds: int) -> None:
    """Scripted: the last outcome of every factor, then so many successes, each a real below exp(-1), and a failure.

    The head ends at R = 1 here, so the tail begins right after it; with a block of 2^56, 63 rounds reach 2^62.
    """
    sampler = DiscreteLaplace(WIDEST, head=1)
    assert sampler.block == 2**56
    last = [2**64 - 1] * (1 + sampler.digits)
    found = sampler.exact(1, Script([*last, *([0, 0] * rounds), 1]))
    wanted = -(1 + (1 + rounds) * 2**56 + 2**56 - 1)
    assert [int(number) for number in found] == [wanted]
    assert found.dtype == object
    sample = sampler.sample(1, Script([*last, *([0, 0] * rounds), 1]))
    assert sample.dtype == np.int64
    assert sample.tolist() == [max(wanted, -LARGEST)]


@settings(max_examples=200, deadline=None)
@given(
    heads=st.lists(
        st.tuples(st.integers(0, 2 * HEAD) | st.integers(120, 132), st.integers(0, 2**56 - 1)), min_size=1, max_size=9
    )
)
def test_what_reaches_2_to_the_62_is_an_integer_of_any_size(heads: list[tuple[int, int]]) -> None:
    """Heads and digits are given; up to R = HEAD - 1, magnitudes are 1 + R 2^56 + digits, whatever fits in 64 bits."""
    sampler = DiscreteLaplace(WIDEST)

    def given_outcomes(totals: Ints, source: object) -> None:
        totals[:] = np.array(heads).T

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sampler, "_draw_few", given_outcomes)
        found, sample = sampler.exact(len(heads)), sampler.sample(len(heads))
    signed = [0 if head == 0 else (1 + (head - 1) // 2 * 2**56 + low) * (1 if head % 2 else -1) for head, low in heads]
    assert [int(number) for number in found] == signed
    assert (found.dtype == object) == any(head > 126 for head, _ in heads)
    assert sample.tolist() == [max(-LARGEST, min(LARGEST, number)) for number in signed]


def test_a_source_that_runs_dry_is_an_error_and_never_less_noise(noise_path: str) -> None:
    with pytest.raises(ValueError, match="buffer"):
        DiscreteLaplace(Fraction(1, 1000)).sample(100, lambda n: os.urandom(n)[: n // 2])


@settings(max_examples=300, deadline=None)
@given(
    digits=st.integers(0, 7),
    heads=st.lists(st.tuples(st.integers(0, 2 * HEAD + 2), st.integers(0, 2**56 - 1)), min_size=1, max_size=20),
)
def test_finish_assembles_signed_noise_without_overflow(digits: int, heads: list[tuple[int, int]]) -> None:
    block = 256**digits
    totals = np.array([[head for head, _ in heads], [low % block for _, low in heads]], dtype=np.int64)
    drawn = np.empty(len(heads), dtype=np.int64)
    noise_kernels.finish(totals, block, LARGEST, drawn)
    assert drawn.tolist() == [assembled(head, low % block, block) for head, low in heads]


@settings(max_examples=500)
@given(counts=st.integers(0, 2**70) | st.integers(2**63 - 5, 2**63 + 5), noise=st.integers(-(2**70), 2**70))
def test_noise_is_added_exactly_and_only_the_sum_is_clipped(counts: int, noise: int) -> None:
    got = add_noise(*(np.array([n], object if abs(n) >= 2**63 else np.int64) for n in (counts, noise)))
    assert got.dtype == np.int64
    assert got.tolist() == [max(-FARTHEST, min(FARTHEST, counts + noise))]


def test_an_epsilon_too_small_is_refused_and_the_next_one_samples() -> None:
    for rate in (Fraction(64, LARGEST), Fraction(1, 10**400), Fraction(0), Fraction(-1)):
        with pytest.raises(ParameterError, match="epsilon is too small"):
            DiscreteLaplace(rate)
    assert len(set(DiscreteLaplace(WIDEST).sample(SMALL).tolist())) == SMALL
    with pytest.raises(ParameterError, match="scale of 2\\^56 units or more"):
        measure_counts(one_cell(), PureLoss(Fraction(64 * UNITS, LARGEST)), paper_design({0: 2**32}, 1))
    assert (
        len(measure_counts(one_cell(), PureLoss(Fraction(64 * UNITS, LARGEST - 1)), paper_design({0: 2**32}, 1)).counts)
        == 1
    )


def one_cell() -> Counts:
    """A domain of one cell with one person in it."""
    zero = np.zeros(1, dtype=np.int64)
    return Counts.from_cells(Domain.unit(0), zero, zero, zero + UNITS)


# Streams.

DRAWS = pytest.mark.parametrize("size", [64, SMALL], ids=["words", "tables"])


def repeated(samples: list[Ints]) -> int:
    """How many samples at the largest scale are not unique: of 20,480, any two are equal once in 2^57 pairs."""
    together = np.concatenate(samples)
    return len(together) - len(np.unique(together))


def forked(draw: Callable[[], Ints], children: int) -> Iterator[Ints]:
    """What as many forks of this process draw."""
    pipes = []
    for _ in range(children):
        receiving, sending = os.pipe()
        child = os.fork()
        if child == 0:
            try:
                with os.fdopen(sending, "wb") as pipe:
                    pipe.write(draw().tobytes())
            finally:
                os._exit(0)
        os.close(sending)
        pipes.append((child, receiving))
    for child, receiving in pipes:
        with os.fdopen(receiving, "rb") as pipe:
            yield np.frombuffer(pipe.read(), dtype=np.int64)
        os.waitpid(child, 0)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
@DRAWS
def test_forks_share_no_stream(size: int) -> None:
    sampler = noise.discrete_laplace(WIDEST)
    warm = sampler.sample(size)
    drawn = [*forked(lambda: noise.discrete_laplace(WIDEST).sample(size), 3), sampler.sample(size), warm]
    assert [len(each) for each in drawn] == [size] * 5
    assert repeated(drawn) == 0
    seeded = SeededSource(1)
    assert repeated(list(forked(lambda: sampler.sample(size, seeded), 2))) == size  # what the test is there to see


@DRAWS
def test_threads_share_no_stream(size: int) -> None:
    together, fresh = threading.Barrier(4), DiscreteLaplace(WIDEST)

    def draw(_: int) -> Ints:
        together.wait()
        return fresh.sample(size)

    with ThreadPoolExecutor(4) as pool:
        assert repeated(list(pool.map(draw, range(4)))) == 0


def test_loading_them_is_all_that_a_sampler_needs() -> None:
    code = (
        "from fractions import Fraction\n"
        "from dpheatmap.curator.core import noise_kernels as n\n"
        "from dpheatmap.curator.core.noise import SMALL, DiscreteLaplace\n"
        "n.load()\n"
        "loaded = [k.signatures for k in (n.look_up, n.search, n.finish)]\n"
        "[DiscreteLaplace(Fraction(1, 1000)).sample(size) for size in (1, SMALL)]\n"
        "assert loaded == [k.signatures for k in (n.look_up, n.search, n.finish)], loaded\n"
        "assert [len(s) for s in loaded] == [1, 1, 1], loaded\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
