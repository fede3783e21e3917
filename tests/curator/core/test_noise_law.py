"""The law of what the sampler draws from the operating system's randomness, against exact probabilities.

Each p-value is compared with ALPHA = 1e-9. A full run takes fewer than 300 of them, and two bounds of their own rate
1e-7, so a right sampler fails somewhere in this file less than once in a million runs. Where a test asks that something
wrong is *seen*, or that a bound is reached, what it asks lies at least eight standard deviations from what is expected.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from typing import NamedTuple

import mpmath
import numpy as np
import pytest
from mpmath import mp
from scipy import stats

from dpheatmap.curator.core.noise import BLOCK, DiscreteLaplace, Factor
from dpheatmap.design.shares import UNITS
from dpheatmap.evaluate.audit.confidence import epsilon_lower_bound
from dpheatmap.place.domain import Floats
from dpheatmap.place.quadtree import Ints
from helpers import reference
from helpers.audit import chi_square
from helpers.reference import SCALES, WIDEST, digit_law, laplace_bins, laplace_moments

ALPHA = 1e-9
RATES = [*SCALES, WIDEST]
CHUNK = 2**18
MILLIONS = [2**21, pytest.param(2**25, marks=pytest.mark.long)]
THOUSANDS = [2**14, pytest.param(2**17, marks=pytest.mark.long)]

each_rate = pytest.mark.parametrize("rate", RATES, ids=str)


class Cells(NamedTuple):
    """A way to put samples into numbered cells, and the cells' exact probabilities; a sample may be in none."""

    number: Callable[[Ints], Ints]
    law: Floats


def bins(rate: Fraction, size: int, least: int = 200) -> Cells:
    """Intervals of which each expects a good number of that many samples."""
    edges, law = laplace_bins(rate, size, least)
    return Cells(lambda x: np.searchsorted(edges, x, side="right"), np.array(law))


def digit(rate: Fraction, place: int, merged: int = 1) -> Cells:
    """The digit of |X| - 1 worth 256^place, given X != 0; so many neighbouring digits counted as one."""
    law = np.reshape(digit_law(rate, place), (-1, merged)).sum(axis=1)
    return Cells(lambda x: (abs(x[x != 0]) - 1) // 256**place % 256 // merged, law)


def p_values(sampler: DiscreteLaplace, size: int, *kinds: Cells) -> list[float]:
    """The p-values of one set of samples, put into each kind of cells."""
    found = [np.zeros(len(cells.law), dtype=np.int64) for cells in kinds]
    for _ in range(max(1, size // CHUNK)):
        drawn = sampler.sample(min(size, CHUNK))
        for cells, numbers in zip(kinds, found, strict=True):
            numbers += np.bincount(cells.number(drawn), minlength=len(cells.law))
    return [chi_square(numbers, cells.law) for cells, numbers in zip(kinds, found, strict=True)]


@pytest.mark.parametrize("size", MILLIONS)
@each_rate
def test_the_law_at_every_scale_down_to_the_lowest_digit(noise_path: str, rate: Fraction, size: int) -> None:
    """Bins of a huge scale are too wide to see the low digits, so each digit is looked at too."""
    sampler = DiscreteLaplace(rate)
    digits = [digit(rate, place) for place in range(sampler.digits)]
    assert min(p_values(sampler, size, bins(rate, size), *digits)) > ALPHA


@pytest.mark.parametrize("rate", [Fraction(1, 2), Fraction(1, 3 * 2**30)], ids=str)
def test_a_scale_that_is_two_percent_off_would_be_seen(rate: Fraction) -> None:
    assert p_values(DiscreteLaplace(rate * 102 / 100), 2**21, bins(rate, 2**21))[0] < ALPHA


@pytest.mark.parametrize("size", [2**24, pytest.param(2**26, marks=pytest.mark.long)])
def test_two_digits_are_independent(size: int) -> None:
    rate = Fraction(1, 50_000)
    law = np.outer(digit_law(rate, 1), digit_law(rate, 0)).ravel()
    together = Cells(lambda x: (abs(x[x != 0]) - 1) % 256**2, law)
    assert p_values(DiscreteLaplace(rate), size, together)[0] > ALPHA


@pytest.mark.parametrize("size", MILLIONS)
def test_sign_and_head_and_low_digit_are_independent(size: int) -> None:
    rate = Fraction(1, 1000)
    r = math.exp(-256 * rate)
    heads = [*((1 - r) * r**k for k in range(5)), r**5]

    def number(x: Ints) -> Ints:
        x = x[x != 0]
        head, low = np.divmod(abs(x) - 1, 256)
        return ((x > 0) * 6 + np.minimum(head, 5)) * 256 + low

    together = Cells(number, np.outer(np.outer([0.5, 0.5], heads), digit_law(rate, 0)).ravel())
    assert p_values(DiscreteLaplace(rate), size, together)[0] > ALPHA


@pytest.mark.parametrize("size", MILLIONS)
@pytest.mark.parametrize("apart", [1, 2, BLOCK])
def test_samples_are_independent_of_each_other(noise_path: str, apart: int, size: int) -> None:
    """Samples drawn one after another, and in the same place of two blocks."""
    rate = Fraction(1, 3 * 2**30)
    one = bins(rate, size, size // 16)
    assert len(one.law) >= 8

    def pairs(x: Ints) -> Ints:
        numbers = one.number(x).reshape(-1, 2, apart)
        together: Ints = (numbers[:, 0] * len(one.law) + numbers[:, 1]).ravel()
        return together

    assert p_values(DiscreteLaplace(rate), size, Cells(pairs, np.outer(one.law, one.law).ravel()))[0] > ALPHA


@pytest.mark.parametrize("size", MILLIONS)
@each_rate
def test_mean_magnitude_and_variance(rate: Fraction, size: int) -> None:
    """Sums of millions of samples are normal far enough out, and floats add them to more digits than they spread."""
    drawn = (abs(DiscreteLaplace(rate).sample(CHUNK)).astype(np.float64) for _ in range(size // CHUNK))
    sums = np.sum([(x.sum(), (x * x).sum()) for x in drawn], axis=0)
    with mp.workprec(300):
        first, second, fourth = laplace_moments(rate)
        for total, mean, square in [(sums[0], first, second), (sums[1], second, fourth)]:
            z = (mpmath.mpf(total) / size - mean) / mpmath.sqrt((square - mean**2) / size)
            assert 2 * stats.norm.sf(abs(float(z))) > ALPHA


@pytest.mark.parametrize("size", THOUSANDS)
@pytest.mark.parametrize("rate", [Fraction(2, 7), Fraction(1, 20)], ids=str)
def test_the_law_is_that_of_the_canonne_kamath_steinke_sampler(rate: Fraction, size: int) -> None:
    cells = bins(rate, size)
    drawn = [np.array([reference.discrete_laplace(rate) for _ in range(size)]), DiscreteLaplace(rate).sample(size)]
    table = np.array([np.bincount(cells.number(x), minlength=len(cells.law)) for x in drawn])
    assert chi_square(table[0], cells.law) > ALPHA
    assert stats.chi2_contingency(table).pvalue > ALPHA


@pytest.mark.parametrize("size", THOUSANDS)
@pytest.mark.parametrize(
    ("rate", "table_bits", "word_bits", "head"),
    [
        (Fraction(1, 2), 3, 4, 1),
        (Fraction(1, 3), 4, 6, 2),
        (Fraction(1, 1000), 4, 8, 2),
        (Fraction(1, 50_000), 4, 5, 1),
        (Fraction(1, 3 * 2**30), 4, 8, 1),
    ],
    ids=str,
)
def test_the_law_with_every_stage_at_work(
    noise_path: str,
    rate: Fraction,
    table_bits: int,
    word_bits: int,
    head: int,
    size: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """With words so narrow that ties, and heads so short that escapes, are common instead of never seen."""
    calls: Counter[str] = Counter()
    for owner, name in [(Factor, "resolve"), (Factor, "untie"), (DiscreteLaplace, "_geometric")]:
        count_calls(calls, owner, name, monkeypatch)
    sampler = DiscreteLaplace(rate, table_bits=table_bits, word_bits=word_bits, head=head)
    digits = [digit(rate, place, 16) for place in range(sampler.digits)]
    assert min(p_values(sampler, size, bins(rate, size), *digits)) > ALPHA
    assert calls["untie"] > size / 4
    assert calls["_geometric"] > size / 10
    if noise_path == "tables":
        assert max((factor.table >= 0).mean() for factor in sampler._factors) > 0.1  # the first stage decides some
        assert calls["resolve"] - calls["_geometric"] >= len(sampler._factors)  # and leaves some to the second


def count_calls(calls: Counter[str], owner: type, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    function = getattr(owner, name)

    def wrapper(*arguments: object) -> object:
        calls[name] += 1
        return function(*arguments)

    monkeypatch.setattr(owner, name, wrapper)


def bound_on_epsilon(sampler: DiscreteLaplace, size: int) -> float:
    """A bound, wrong once in 1e7 times, on the epsilon of a person's W units; the event is a noisy count above W."""
    with_person, without = (
        sum(int((count + sampler.sample(CHUNK) > UNITS).sum()) for _ in range(size // CHUNK)) for count in (UNITS, 0)
    )
    return epsilon_lower_bound(with_person, size, without, size, 1e-7)


@pytest.mark.parametrize("size", MILLIONS)
def test_the_epsilon_seen_from_outside(size: int) -> None:
    assert 0.95 < bound_on_epsilon(DiscreteLaplace(Fraction(1, UNITS)), size) <= 1
    assert bound_on_epsilon(DiscreteLaplace(Fraction(100, 95 * UNITS)), size) > 1  # noise five percent too small
