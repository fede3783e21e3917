"""Certified arithmetic holds real numbers between integers, against mpmath."""

from __future__ import annotations

from fractions import Fraction

import mpmath
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mp

from dpheatmap._util.certified import exp_interval, power_interval, power_intervals, quotient_interval
from helpers.reference import real


@settings(max_examples=300, deadline=None)
@given(
    numerator=st.integers(0, 2**80),
    denominator=st.integers(1, 2**80) | st.integers(0, 200).map(lambda k: 2**k),
    bits=st.integers(64, 700),
)
def test_exp_interval_holds_the_exponential_and_little_else(numerator: int, denominator: int, bits: int) -> None:
    x = Fraction(numerator, denominator)
    low, high = exp_interval(x, bits)
    with mp.workprec(bits + 400):
        value = mpmath.ldexp(mpmath.exp(-real(x)), bits)
        assert low <= value <= high
    assert low >= 0
    assert high <= 2**bits
    assert high - low <= 4 * bits


def test_exp_interval_at_its_ends() -> None:
    assert exp_interval(Fraction(0), 256) == (2**256 - 1, 2**256)
    assert exp_interval(Fraction(10**6), 256) == (0, 1)
    assert exp_interval(Fraction(1, 10**200), 256) == (2**256 - 1, 2**256)


@settings(max_examples=200, deadline=None)
@given(base=st.fractions(0, 1, max_denominator=10**9), exponent=st.integers(0, 10**7), bits=st.integers(64, 700))
def test_power_interval_holds_the_power_and_little_else(base: Fraction, exponent: int, bits: int) -> None:
    low, high = power_interval(base, exponent, bits)
    with mp.workprec(bits + 400):
        assert low <= mpmath.ldexp(real(base) ** exponent, bits) <= high
    assert low >= 0
    assert high <= 2**bits
    assert high - low <= 4 * max(exponent, 1) + 64


@settings(max_examples=200, deadline=None)
@given(ratio=st.fractions(0, 1, max_denominator=10**9), count=st.integers(0, 300), bits=st.integers(64, 300))
def test_power_intervals_are_those_of_each_power(ratio: Fraction, count: int, bits: int) -> None:
    around = (ratio.numerator << bits) // ratio.denominator
    found = power_intervals((around, min(around + 1, 1 << bits)), count, bits)
    assert len(found) == count + 1
    for k, (low, high) in enumerate(found):
        assert low <= ratio**k * 2**bits <= high
        assert high - low <= 4 * (k + 1)


@settings(max_examples=200, deadline=None)
@given(over=st.fractions(0, 1), under=st.fractions(Fraction(1, 1000), 1), bits=st.integers(64, 300))
def test_quotient_interval_holds_the_quotient(over: Fraction, under: Fraction, bits: int) -> None:
    first, second = (
        ((x.numerator << bits) // x.denominator, (x.numerator << bits) // x.denominator + 1) for x in (over, under)
    )
    low, high = quotient_interval(first, second, bits)
    assert low <= over / under * 2**bits <= high
