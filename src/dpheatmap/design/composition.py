"""From one promise to another: zero-concentrated accounts, and many releases of equal budgets.

Each function gives a number that is rounded towards privacy and certified: a float may propose it, but it is returned
only after the inequality that makes it true was checked in integers (`_util/certified.py`).

**From rho to (epsilon, delta).** What is rho-zCDP is (epsilon, delta)-DP for every alpha > 1 with

    exp((alpha - 1) (alpha rho - epsilon)) / (alpha - 1) * (1 - 1 / alpha)^alpha <= delta

(Canonne, Kamath, Steinke 2020, proposition 12). Any alpha proves it; the best one is looked for in floats. What is
epsilon-DP is rho-zCDP with rho = epsilon^2 / 2 (Bun, Steinke 2016), and the rho of releases add up.

**Many releases, budgets fixed beforehand.** k releases, each epsilon_0-DP, are together (epsilon, delta)-DP with

    delta = sum over l of C(k, l) max(0, exp((k - l) epsilon_0) - exp(epsilon + l epsilon_0)) / (1 + exp(epsilon_0))^k,

and no smaller delta holds for all such mechanisms (Kairouz, Oh, Viswanath 2015). Their theorem is for budgets that
don't depend on what was published before.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache

from dpheatmap._util.certified import exp_interval, power_interval, power_intervals

FIGURES = 6
"""Significant digits of the numbers given."""
_BITS = 512
_FINE = 16  # orders alpha below _WHOLE are multiples of 1 / _FINE
_WHOLE = 64
_GRIDS, _POINTS = 6, 100
_STEPS = 60
_LEAST = 1e-60


def rho_of_pure(epsilon: Fraction) -> Fraction:
    """The rho of a release that is epsilon-DP."""
    return epsilon**2 / 2


@lru_cache(maxsize=256)
def rho_within(epsilon: Fraction, delta: Fraction) -> Fraction:
    """The largest rho that is found to be (epsilon, delta)-DP, rounded down; 0 if none is.

    >>> float(rho_within(Fraction(1), Fraction(1, 10**6)))
    0.0243559
    """
    best = _best_order(lambda alpha: -(float(epsilon) - _excess(alpha, delta)) / alpha)
    guess = (float(epsilon) - _excess(float(best), delta)) / float(best)
    for step in range(_STEPS if guess > _LEAST else 0):
        rho = round_down(Fraction(guess) / _wider(step))
        if _certified(rho, epsilon, delta, best):
            return rho
    return Fraction(0)  # as for limits that no float tells from 0


@lru_cache(maxsize=256)
def epsilon_of_rho(rho: Fraction, delta: Fraction) -> Fraction:
    """The least epsilon that is found for rho-zCDP at a delta, rounded up; 0 for nothing.

    >>> float(epsilon_of_rho(Fraction(1, 41), Fraction(1, 10**6)))
    1.00076
    """
    if rho == 0:
        return Fraction(0)
    rho = max(rho, Fraction(_LEAST))  # what holds for more holds for less
    best = _best_order(lambda alpha: alpha * float(rho) + _excess(alpha, delta))
    guess = max(float(best) * float(rho) + _excess(float(best), delta), float(rho))
    tried = (round_up(Fraction(guess) * _wider(step)) for step in itertools.count())
    return next(epsilon for epsilon in tried if _certified(rho, epsilon, delta, best))


def pure_within(rho: Fraction) -> Fraction:
    """The largest epsilon of a pure release whose rho is at most this, rounded down.

    >>> pure_within(Fraction(1, 8)), float(pure_within(Fraction(1)))
    (Fraction(1, 2), 1.41421)
    """
    if rho <= 0:
        return Fraction(0)
    scale = 10 ** (2 * FIGURES + len(str(rho.denominator // rho.numerator)))
    return round_down(Fraction(math.isqrt(2 * rho.numerator * scale**2 // rho.denominator), scale))


@lru_cache(maxsize=256)
def each_of_series(releases: int, epsilon: Fraction, delta: Fraction) -> Fraction:
    """The largest epsilon of each of so many releases that together are (epsilon, delta)-DP, rounded down.

    >>> float(each_of_series(52, Fraction(1), Fraction(1, 10**6)))
    0.0337416
    """
    low = round_down(epsilon / releases)
    high = max(round_down(epsilon), low)
    while (middle := round_down((low + high) / 2)) > low:
        low, high = (middle, high) if composes(releases, middle, epsilon, delta) else (low, middle)
    return low


@lru_cache(maxsize=256)
def epsilon_of_series(releases: int, each: Fraction, delta: Fraction) -> Fraction:
    """The least epsilon that is found for so many releases, each with its own, at a delta; rounded up.

    >>> float(epsilon_of_series(52, Fraction("0.0337416"), Fraction(1, 10**6)))
    0.999999
    """
    low, high = releases * each / 10**FIGURES, releases * each  # nothing finer is looked for
    while (middle := round_down((low + high) / 2)) > low:
        low, high = (low, middle) if composes(releases, each, middle, delta) else (middle, high)
    return high


def composes(releases: int, each: Fraction, epsilon: Fraction, delta: Fraction) -> bool:
    """Whether so many releases, each with its epsilon, are proved to be (epsilon, delta)-DP together.

    Both sides of the formula are divided by exp(k epsilon_0), so that every exponent is at most 0.
    """
    if releases * each <= epsilon:
        return True
    bits = releases + _BITS
    powers = power_intervals(exp_interval(each, bits), releases, bits)
    last = -(-(releases - epsilon / each) // 2) - 1  # the largest l with a term above 0
    less = exp_interval((releases - last) * each - epsilon, bits)[0]
    above = 0
    for beyond in range(last, -1, -1):
        above += math.comb(releases, beyond) * (powers[beyond][1] - less)
        less = less * powers[1][0] >> bits
    # The denominator (1 + exp(-epsilon_0))^k, halved as often as there are releases to lie in (0, 1].
    halved = power_interval(Fraction((1 << bits) + powers[1][0], 2 << bits), releases, bits)[0]
    return Fraction(above) <= delta * (halved << releases)


def _excess(alpha: float, delta: Fraction) -> float:
    """What epsilon is above alpha rho, for the delta and order given."""
    log_delta = math.log(delta.denominator) - math.log(delta.numerator)
    return (log_delta - math.log(alpha)) / (alpha - 1.0) + math.log1p(-1.0 / alpha)


def _best_order(cost: Callable[[float], float]) -> Fraction:
    """An order alpha of nearly the least cost, by grids over log(alpha - 1), each finer; a short fraction."""
    low, high = math.log(1.0 / _FINE), math.log(1e12)
    for _ in range(_GRIDS):
        step = (high - low) / _POINTS
        best = min((low + step * i for i in range(_POINTS + 1)), key=lambda log: cost(1.0 + math.exp(log)))
        low, high = max(best - step, low), best + step
    alpha = 1.0 + math.exp(best)
    return Fraction(round(alpha * _FINE), _FINE) if alpha < _WHOLE else Fraction(round(alpha))


def _certified(rho: Fraction, epsilon: Fraction, delta: Fraction, alpha: Fraction) -> bool:
    """Whether the inequality above holds for an order alpha = p / q: its q-th power, in integers.

    The exponent is cut where exp is below the right side anyway, since delta (alpha - 1) is above 2^-far. That only
    makes the left side larger, and numbers stay as short for an epsilon of a million as for one of 1.
    """
    p, q = alpha.numerator, alpha.denominator
    far = delta.denominator.bit_length() - delta.numerator.bit_length() + 1 + _FINE.bit_length()
    exponent = min(q * (alpha - 1) * (epsilon - alpha * rho), Fraction(q * far))
    if exponent < -q * far:
        return False
    bits = _BITS + 2 * math.ceil(abs(exponent))  # enough for digits of exp(-exponent)
    low, high = exp_interval(abs(exponent), bits)
    decay = Fraction(high, 1 << bits) if exponent >= 0 else Fraction(1 << bits, low)
    least = (delta * (alpha - 1)) ** q * 2**bits
    return bool(decay * power_interval(1 - 1 / alpha, p, bits)[1] <= least)


def _wider(step: int) -> Fraction:
    """The factor by which a float's proposal is given up, if it was too bold: more with each step."""
    return 1 + Fraction(2**step - 1, 10**FIGURES)


def round_down(value: Fraction) -> Fraction:
    """A number above 0 with as many digits as are given, rounded down.

    >>> float(round_down(Fraction(2, 3)))
    0.666666
    """
    step = _step(value)
    return value // step * step


def round_up(value: Fraction) -> Fraction:
    """A number above 0 with as many digits as are given, rounded up.

    >>> float(round_up(Fraction(2, 3)))
    0.666667
    """
    step = _step(value)
    return -(-value // step) * step


def _step(value: Fraction) -> Fraction:
    """A unit in the last of the digits that are given."""
    digits = math.floor(math.log10(value.numerator) - math.log10(value.denominator)) + 1
    return Fraction(10) ** (digits - FIGURES)
