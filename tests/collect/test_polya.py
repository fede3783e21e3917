"""The law of Polya differences. Each p-value is compared with 1e-9; there are fewer than 100."""

from __future__ import annotations

import os
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mpmath import mp

from dpheatmap.collect import polya
from dpheatmap.collect.polya import PolyaDifference, log_interval, mean_interval, uniform_below
from dpheatmap.errors import ParameterError
from dpheatmap.place.quadtree import Ints
from helpers.audit import chi_square
from helpers.collecting import ALPHA, laplace_p_value
from helpers.reference import real

CASES = [(Fraction(1), 2), (Fraction(1, 3), 5), (Fraction(1, 50), 3), (Fraction(1, 1300), 10), (Fraction(1, 2**33), 4)]
SIZE = 2**15

each_case = pytest.mark.parametrize(("rate", "people"), CASES, ids=str)


def sums(rate: Fraction, people: int, draws: int) -> Ints:
    law = PolyaDifference(rate, people)
    return sum((law.sample(SIZE) for _ in range(draws)), start=np.zeros(SIZE, dtype=np.int64))


@each_case
def test_as_many_as_there_are_people_add_up_to_discrete_laplace(rate: Fraction, people: int) -> None:
    assert laplace_p_value(sums(rate, people, people), rate) > ALPHA


def test_one_too_few_would_be_seen() -> None:
    """The planted bug: noise that is too small by a tenth."""
    assert laplace_p_value(sums(Fraction(1, 1300), 10, 9), Fraction(1, 1300)) < ALPHA


def test_one_sided_noise_would_be_seen() -> None:
    """The slip of the paper: Polya noise alone, without the difference."""
    assert laplace_p_value(np.abs(sums(Fraction(1, 50), 1, 1)), Fraction(1, 50)) < ALPHA


@each_case
def test_parts_have_the_logarithmic_law(rate: Fraction, people: int) -> None:
    parts = PolyaDifference(rate, people)._parts(SIZE, os.urandom)
    q = mpmath.exp(-real(rate))
    scale = -1 / mpmath.log(1 - q)
    law: list[float] = []
    while len(law) < 60 and scale * q ** (len(law) + 1) / (len(law) + 1) * SIZE > 200:
        law.append(float(scale * q ** (len(law) + 1) / (len(law) + 1)))
    rest = 1 - sum(law)
    if rest * SIZE < 200:
        rest += law.pop()
    counted = np.bincount(np.minimum(parts, len(law) + 1), minlength=len(law) + 2)[1:]
    assert chi_square(counted, [*law, rest]) > ALPHA


@given(st.integers(1, 2**200), st.sampled_from([64, 128, 256]))
def test_logarithms_are_bracketed(y: int, bits: int) -> None:
    y = min(y, 1 << bits)
    low, high = log_interval((y, y), bits)
    with mp.workprec(2 * bits + 64):
        exact = -mpmath.log(mpmath.mpf(y) / 2**bits) * 2**bits
        assert low <= exact <= high
    assert high - low < 2**20


@each_case
def test_the_mean_and_the_tail_are_bracketed(rate: Fraction, people: int) -> None:
    with mp.workprec(400):
        mean = -2 * mpmath.log(1 - mpmath.exp(-real(rate))) / people
        low, high = mean_interval(rate, people, 256)
        assert low <= mean * 2**256 <= high
        most = polya._most_parts(rate, people)
        tail = mpmath.nsum(lambda k: mpmath.exp(-mean) * mean**k / mpmath.factorial(k), [most, most + 200])
        assert tail < mpmath.mpf(2) ** -polya.TAIL_BITS
        cuts = polya._poisson_cuts(rate, people)(256)
        total = mpmath.mpf(0)
        for k, (below, above) in enumerate(cuts):
            total += mpmath.exp(-mean) * mean**k / mpmath.factorial(k)
            assert below <= total * 2**256 <= above
        weights = [mpmath.exp(-real(rate) * 2**j) for j in range(len(polya._proposal_cuts(rate)(256)) + 1)]
        for j, (below, above) in enumerate(polya._proposal_cuts(rate)(256)):
            assert below <= sum(weights[: j + 1]) / sum(weights) * 2**256 <= above
        assert weights[-1] ** 2 / weights[0] < mpmath.mpf(2) ** -polya.TAIL_BITS


def test_uniform_integers_below_any_limit() -> None:
    limits = np.repeat(np.array([1, 2, 3, 5, 8, 1000]), 20_000)
    drawn = uniform_below(limits, os.urandom)
    assert np.all(drawn < limits)
    for limit in (2, 3, 5, 8):
        assert chi_square(np.bincount(drawn[limits == limit]), [1 / limit] * limit) > ALPHA


@pytest.mark.parametrize("rate", [Fraction(1, 2**41), Fraction(2)])
def test_rates_that_it_is_not_for_are_refused(rate: Fraction) -> None:
    with pytest.raises(ParameterError, match="units must be at least epsilon"):
        PolyaDifference(rate, 5)
