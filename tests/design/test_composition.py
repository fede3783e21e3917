"""Numbers that turn one promise into another, against mpmath and against divergences that are added up."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import mpmath
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mp

from dpheatmap._util.certified import exp_interval
from dpheatmap.design import composition
from dpheatmap.design.composition import (
    composes,
    each_of_series,
    epsilon_of_rho,
    epsilon_of_series,
    pure_within,
    rho_of_pure,
    rho_within,
)

epsilons = st.fractions(Fraction(1, 100), 30, max_denominator=10**6).filter(lambda e: e > 0)
deltas = st.integers(5, 60).map(lambda digits: Fraction(1, 10**digits))


def least_delta(rho: Fraction, epsilon: Fraction) -> mpmath.mpf:
    """The least delta over many orders, in 60 digits."""
    with mp.workdps(60):
        r, e = (mpmath.mpf(x.numerator) / x.denominator for x in (rho, epsilon))
        orders = [1 + mpmath.mpf(10) ** (k / mpmath.mpf(100)) for k in range(-100, 900)]
        return min(mpmath.exp((a - 1) * (a * r - e) + a * mpmath.log1p(-1 / a)) / (a - 1) for a in orders)


@settings(max_examples=25, deadline=None)
@given(epsilon=epsilons, delta=deltas)
def test_a_rho_within_a_limit_keeps_it_and_hardly_more_would(epsilon: Fraction, delta: Fraction) -> None:
    rho = rho_within(epsilon, delta)
    exact = mpmath.mpf(delta.numerator) / delta.denominator
    assert least_delta(rho, epsilon) <= exact * (1 + mpmath.mpf(10) ** -1)  # the orders here are a grid
    assert least_delta(rho * Fraction(101, 100), epsilon) > exact


@settings(max_examples=25, deadline=None)
@given(rho=epsilons, delta=deltas)
def test_an_epsilon_of_rho_and_the_rho_within_it_are_inverse(rho: Fraction, delta: Fraction) -> None:
    epsilon = epsilon_of_rho(rho, delta)
    assert rho * Fraction(9999, 10000) <= rho_within(epsilon, delta)
    assert rho_within(epsilon * Fraction(99, 100), delta) < rho


@pytest.mark.parametrize("rho", [Fraction(1, 10**40), Fraction(5 * 10**11), Fraction(5 * 10**14)])
def test_numbers_stay_short_whatever_was_spent(rho: Fraction, monkeypatch: pytest.MonkeyPatch) -> None:
    """A million of epsilon has a rho of 5e11, whose rounded epsilon is a million above the least one."""

    def short(x: Fraction, bits: int) -> tuple[int, int]:
        assert bits < 2**11, "it would take minutes, or all memory"
        return exp_interval(x, bits)

    monkeypatch.setattr(composition, "exp_interval", short)
    epsilon = epsilon_of_rho.__wrapped__(rho, Fraction(1, 10**6))
    assert rho <= epsilon < rho * Fraction(11, 10)


def test_the_simple_conversion_is_never_better() -> None:
    for rho, delta in product(
        (Fraction(1, 1000), Fraction(1, 10), Fraction(2)), (Fraction(1, 10**3), Fraction(1, 10**9))
    ):
        simple = float(rho) + 2 * math.sqrt(float(rho) * math.log(1 / float(delta)))
        assert float(epsilon_of_rho(rho, delta)) <= simple
    assert epsilon_of_rho(Fraction(0), Fraction(1, 10)) == 0
    assert rho_of_pure(Fraction(1, 2)) == Fraction(1, 8)


def randomised_response_delta(releases: int, each: float, epsilon: float) -> float:
    """The delta of randomised responses, which are the worst: over all outcomes, what is above exp(epsilon) times."""
    likely, unlikely = math.exp(each) / (1 + math.exp(each)), 1 / (1 + math.exp(each))
    outcomes = product((0, 1), repeat=releases)
    pairs = (
        (math.prod(unlikely if bit else likely for bit in one), math.prod(likely if bit else unlikely for bit in one))
        for one in outcomes
    )
    return sum(max(p - math.exp(epsilon) * q, 0.0) for p, q in pairs)


@pytest.mark.parametrize("releases", [1, 2, 5, 12])
@pytest.mark.parametrize("each", [Fraction(1, 20), Fraction(1, 3), Fraction(2)])
def test_a_series_composes_exactly_as_randomised_responses_do(releases: int, each: Fraction) -> None:
    for part in (Fraction(1, 10), Fraction(1, 2), Fraction(9, 10)):
        epsilon = releases * each * part
        delta = Fraction(randomised_response_delta(releases, float(each), float(epsilon)))
        assert composes(releases, each, epsilon, delta * (1 + Fraction(1, 10**9)))
        assert not composes(releases, each, epsilon, delta * (1 - Fraction(1, 10**9)))


def test_each_of_a_series_is_the_most_that_composes() -> None:
    limit, delta = Fraction(1), Fraction(1, 10**6)
    for releases in (1, 2, 30, 52):
        each = each_of_series(releases, limit, delta)
        assert each >= limit / releases * Fraction(99999, 100000)
        assert composes(releases, each, limit, delta)
        assert not composes(releases, each * Fraction(10001, 10000), limit, delta)
    # A dozen releases gain hardly anything, a year's weeks three quarters.
    assert 12 * each_of_series(12, limit, delta) < Fraction(101, 100)
    assert 52 * each_of_series(52, limit, delta) > Fraction(7, 4)


@given(st.fractions(Fraction(1, 10**12), 10**6, max_denominator=10**12).filter(lambda rho: rho > 0))
def test_the_pure_release_within_a_rho_is_the_largest_of_six_digits(rho: Fraction) -> None:
    epsilon = pure_within(rho)
    assert rho_of_pure(epsilon) <= rho < rho_of_pure(epsilon * (1 + Fraction(2, 10**5)))
    assert pure_within(Fraction(0)) == pure_within(-rho) == 0


@settings(max_examples=25, deadline=None)
@given(st.integers(1, 60), st.fractions(Fraction(1, 100), 2, max_denominator=100), st.integers(3, 12))
def test_the_epsilon_of_a_series_is_the_least_that_is_proved(releases: int, each: Fraction, digits: int) -> None:
    delta = Fraction(1, 10**digits)
    epsilon = epsilon_of_series(releases, each, delta)
    assert composes(releases, each, epsilon, delta)
    assert not composes(releases, each, epsilon * (1 - Fraction(2, 10**5)), delta)


@pytest.mark.parametrize("delta", [Fraction(1, 10), Fraction(1, 10**6), Fraction(1, 10**399)])
@pytest.mark.parametrize("size", [Fraction(1, 10**399), Fraction(1, 10**60), Fraction(1, 10**12), Fraction(10**5)])
def test_numbers_of_any_size_are_converted(size: Fraction, delta: Fraction) -> None:
    """A ledger's limits may be of any size; what no float tells from 0 has room for nothing."""
    assert rho_within(size, delta) >= 0
    assert size <= epsilon_of_rho(size, delta)
    assert epsilon_of_series(52, size, delta) <= 52 * size
