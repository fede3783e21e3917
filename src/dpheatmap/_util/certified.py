"""Certified arithmetic: integers around real numbers, rounded outward at every step. No float occurs."""

from __future__ import annotations

from fractions import Fraction

Interval = tuple[int, int]
"""Bounds ``low <= 2^bits * value <= high`` of a real number, for a number of bits known from the context."""


def exp_interval(x: Fraction, bits: int) -> Interval:
    """Integers around ``2^bits * exp(-x)`` for a rational ``x >= 0``.

    ``x`` is halved until it is below 1/16; the alternating series brackets exp(-x / 2^k) between partial sums, and
    the bracket is squared k times. Every operation rounds outward.
    """
    halvings = max(0, (x.numerator * 16 // x.denominator).bit_length())
    one = 1 << bits
    scaled = (x.numerator << bits) // (x.denominator << halvings)
    y_low, y_high = scaled, scaled + 1
    low = high = 0
    term_low = term_high = one
    k = 0
    while term_high > 1:
        low, high = (low + term_low, high + term_high) if k % 2 == 0 else (low - term_high, high - term_low)
        k += 1
        term_low = (term_low * y_low >> bits) // k
        term_high = -((-term_high * y_high >> bits) // k)
    low, high = low - term_high, min(high + term_high, one)
    for _ in range(halvings):
        low, high = low * low >> bits, -(-high * high >> bits)
    return low, high


def power_intervals(ratio: Interval, count: int, bits: int) -> list[Interval]:
    """Intervals around ``ratio^0 .. ratio^count``."""
    powers = [(1 << bits, 1 << bits)]
    for _ in range(count):
        powers.append(product_interval(powers[-1], ratio, bits))
    return powers


def product_interval(one: Interval, other: Interval, bits: int) -> Interval:
    """An interval around a product of two numbers that are not negative."""
    return one[0] * other[0] >> bits, -(-one[1] * other[1] >> bits)


def quotient_interval(over: Interval, under: Interval, bits: int) -> Interval:
    """An interval around a quotient of two positive numbers."""
    return (over[0] << bits) // under[1], -(-(over[1] << bits) // under[0])


def power_interval(base: Fraction, exponent: int, bits: int) -> Interval:
    """Integers around ``2^bits * base^exponent`` for a base from 0 to 1, by squaring."""
    scaled = (base.numerator << bits) // base.denominator
    square, power = (scaled, min(scaled + 1, 1 << bits)), (1 << bits, 1 << bits)
    while exponent:
        if exponent & 1:
            power = product_interval(power, square, bits)
        square = product_interval(square, square, bits)
        exponent >>= 1
    return power
