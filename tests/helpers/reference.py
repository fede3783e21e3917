"""Plain references that the tests compare the fast code with: slow, short, and written from the literature."""

from __future__ import annotations

import math
import secrets
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
from mpmath import mp

from dpheatmap.curator.core.noise import LARGEST
from dpheatmap.place.quadtree import Ints

SCALES = [
    Fraction(3),
    Fraction(1, 2),
    Fraction(1, 50),
    Fraction(1, 1000),
    Fraction(7, 3 * 10**5),
    Fraction(1, 3 * 2**30),
]
"""Rates of small, middle and huge scales of noise."""

WIDEST = Fraction(64, LARGEST - 1)
"""The rate of the largest scale that is not refused."""


def bernoulli(p: Fraction) -> bool:
    """True with probability p."""
    return secrets.randbelow(p.denominator) < p.numerator


def bernoulli_exp(gamma: Fraction) -> bool:
    """True with probability exp(-gamma), gamma >= 0: Algorithm 1 of Canonne, Kamath and Steinke (2020).

    For gamma up to 1, the length K of a run of Bernoulli(gamma / K) has P(K > k) = gamma^k / k!, so K is odd with the
    probability that the alternating series of exp(-gamma) adds up to. A larger gamma is cut into ones and a rest.
    """
    if any(not bernoulli_exp(Fraction(1)) for _ in range(math.ceil(gamma) - 1)):
        return False
    rest = gamma - max(math.ceil(gamma) - 1, 0)
    k = 1
    while bernoulli(rest / k):
        k += 1
    return k % 2 == 1


def discrete_laplace(rate: Fraction) -> int:
    """An integer k with weight exp(-rate |k|): Algorithm 2 of Canonne, Kamath and Steinke (2020)."""
    s, t = rate.numerator, rate.denominator
    while True:
        u = secrets.randbelow(t)
        if not bernoulli_exp(Fraction(u, t)):
            continue
        v = 0
        while bernoulli_exp(Fraction(1)):
            v += 1
        magnitude, negative = (u + t * v) // s, bernoulli(Fraction(1, 2))
        if magnitude or not negative:
            return -magnitude if negative else magnitude


def real(x: Fraction) -> Any:
    """A fraction as a number of mpmath's current precision."""
    return mpmath.mpf(x.numerator) / x.denominator


def laplace_below(rate: Fraction, k: int) -> Any:
    """P(X < k) of the discrete Laplace law: ``P(X >= k) = q^k / (1 + q)`` for k > 0, q = exp(-rate), and symmetry."""
    q = mpmath.exp(-real(rate))
    return 1 - q**k / (1 + q) if k > 0 else q ** (1 - k) / (1 + q)


def laplace_bins(rate: Fraction, size: int, least: int = 200) -> tuple[Ints, list[float]]:
    """Edges between bins that each expect at least that many of ``size`` samples, and the bins' exact probabilities.

    Edges are tried at the integers about 0, at the 64-quantiles, and where the tails have halved and halved again.
    """
    with mp.workprec(300):
        q = mpmath.exp(-real(rate))
        tails = [mpmath.mpf(j) / 64 for j in range(1, 32)] + [mpmath.mpf(2) ** -j for j in range(7, size.bit_length())]
        upper = [int(mpmath.ceil(-mpmath.log(p * (1 + q)) / real(rate))) for p in tails]
        tried = sorted({k for k in [*range(1, 9), *upper] if 0 < k < 2**62})
        edges, below = [], [mpmath.mpf(0)]
        for edge in [*(1 - k for k in reversed(tried)), *tried]:
            here = laplace_below(rate, edge)
            if min(here - below[-1], 1 - here) * size >= least:
                edges.append(edge)
                below.append(here)
        return np.array(edges, np.int64), [float(b - a) for a, b in zip(below, [*below[1:], 1], strict=True)]


def digit_law(rate: Fraction, place: int, radix: int = 256) -> list[float]:
    """The law of the digit of |X| - 1 worth ``radix^place``, given X != 0: weights ``exp(-rate radix^place d)``."""
    with mp.workprec(300):
        p = mpmath.exp(-real(rate * radix**place))
        return [float(p**d * (1 - p) / (1 - p**radix)) for d in range(radix)]


def laplace_moments(rate: Fraction) -> tuple[Any, Any, Any]:
    """E|X|, E X^2 and E X^4 of the discrete Laplace law."""
    q = mpmath.exp(-real(rate))
    both = 2 * (1 - q) / (1 + q)
    return (
        both * q / (1 - q) ** 2,
        both * q * (1 + q) / (1 - q) ** 3,
        both * q * (1 + 11 * q + 11 * q**2 + q**3) / (1 - q) ** 5,
    )
