"""Exact discrete Laplace noise from a cryptographic source.

**What is drawn.** ``DiscreteLaplace(rate)`` with a rational rate ``a > 0`` has ``P(k) = (1 - q) / (1 + q) * q^|k|``,
``q = exp(-a)``, on all integers k. Adding it to an integer count that one person changes by at most W, with
``a = epsilon / W``, multiplies the probability of any outcome by at most ``q^-W = e^epsilon``.

**How.** With ``B = 256^J``, a variable of that law is 0, or ``+-(1 + R B + d_(J-1) 256^(J-1) + ... + d_0)``, where

* the *head* (zero, or a sign and R) has ``P(zero) = (1 - q) / (1 + q)`` and
  ``P(sign, R = k) = q / (1 + q) * (1 - r) r^k`` with ``r = q^B``;
* the *digits* are independent of it and of each other, ``P(d_j = d)`` proportional to ``q^(256^j d)``, d = 0 .. 255.

Multiply: ``P(+-(1 + g)) = q / (1 + q) * (1 - r) r^R * prod_j q^(256^j d_j) (1 - q^(256^j)) / (1 - q^(256^(j+1)))``. It
telescopes to ``(1 - q) / (1 + q) * q^(1 + g)``, and (R, digits) <-> g is one to one.

**Why it is exact.** Each factor is drawn by inversion of a uniform real U in [0, 1) whose binary digits are revealed as
needed: the outcome is the number of cut points (values of the distribution function) that are at most U.

1. 16 bits of U say in which of 65536 dyadic intervals it lies. If no cut point lies in that interval, a table knows the
   outcome.
2. Otherwise 48 more bits are compared with the cut points' first 64 bits, which are *certified*: computed in integer
   interval arithmetic, with growing precision until both ends of the interval agree on them.
3. If all 64 bits agree with a cut point's, U gets further bits until an interval around the cut point excludes it. The
   cut points are irrational (exp of a non-zero rational), so this ends, with probability 1 and usually at once.

No step rounds, so the law is the stated one and no float occurs. There is no rejection loop, and apart from the rare
second and third stage the work does not depend on the value drawn.

R is cut off at ``HEAD``; the outcome "HEAD or more" has probability below e^-64 and is continued exactly (a geometric
variable has no memory). `DiscreteLaplace.exact` gives integers of any size, `DiscreteLaplace.sample` those from 2^62 on
as 2^62.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from dpheatmap._util.certified import Interval, exp_interval, power_intervals, quotient_interval
from dpheatmap.errors import ParameterError
from dpheatmap.place.quadtree import Ints

Source = Callable[[int], bytes]
"""Gives so many random bytes. The default, `os.urandom`, keeps no state, so forks and threads can't share a stream."""

RADIX = 256
HEAD = 256
TABLE_BITS = 16
WORD_BITS = 64
BLOCK = 2**16
SMALL = 2**12  # below this many samples the second stage alone is faster than building tables for the first
LARGEST = 2**62


class Factor:
    """A variable on 0, 1, ..., drawn by inversion; ``cuts(bits)`` bounds its distribution function's values."""

    def __init__(
        self, cuts: Callable[[int], Sequence[Interval]], table_bits: int = TABLE_BITS, word_bits: int = WORD_BITS
    ) -> None:
        self._cuts = lru_cache(maxsize=4)(cuts)
        self._table_bits = table_bits
        self._word_bits = word_bits

    @cached_property
    def floors(self) -> NDArray[np.uint64]:
        """The first ``word_bits`` bits of every cut point, certified."""
        return np.array([self._certify(k) for k in range(len(self._cuts(256)))], dtype=np.uint64)

    def _certify(self, k: int) -> int:
        bits = 256
        while True:
            low, high = self._cuts(bits)[k]
            shift = bits - self._word_bits
            # A distribution function stays below 1 before its last outcome, so its floor can't be 2^word_bits.
            high = min(high, (1 << bits) - 1)
            if low >> shift == high >> shift:
                return low >> shift
            bits *= 2

    @cached_property
    def table(self) -> NDArray[np.int16]:
        """The outcome for each value of U's first bits, or -1 where a cut point lies in that dyadic interval."""
        inside = (self.floors >> np.uint64(self._word_bits - self._table_bits)).astype(np.int64)
        table = np.cumsum(np.bincount(inside, minlength=1 << self._table_bits)).astype(np.int16)
        table[inside] = -1
        return table

    def draw(self, size: int, source: Source) -> Ints:
        """Draw independent outcomes, by all three stages."""
        first = np.frombuffer(source(2 * size), dtype=np.uint16, count=size) & np.uint16(len(self.table) - 1)
        outcome: Ints = self.table[first].astype(np.int64)
        left = np.flatnonzero(outcome < 0)
        outcome[left] = self.resolve(first[left], source)
        return outcome

    def resolve(self, first: NDArray[np.uint16], source: Source) -> Ints:
        """Draw outcomes by the second and third stage, for uniform reals whose first bits are given."""
        fresh = np.uint64(self._word_bits - self._table_bits)
        words = (first.astype(np.uint64) << fresh) | random_words(len(first), int(fresh), source)
        outcome = np.searchsorted(self.floors, words, side="left")
        for i in np.flatnonzero(outcome != np.searchsorted(self.floors, words, side="right")):
            outcome[i] = self.untie(int(words[i]), source)
        return outcome

    def untie(self, word: int, source: Source) -> int:
        """The number of cut points at most U, when U's first bits, ``word``, equal those of one or more of them."""
        outcome = int(np.searchsorted(self.floors, np.uint64(word), side="left"))
        upper = int(np.searchsorted(self.floors, np.uint64(word), side="right"))
        bits = self._word_bits
        while outcome < upper:
            precision = max(256, bits + 128)
            low, high = self._cuts(precision)[outcome]
            if word << (precision - bits) > high:
                outcome += 1
            elif (word + 1) << (precision - bits) <= low:
                break
            else:
                word, bits = word << 64 | int(random_words(1, 64, source)[0]), bits + 64
        return outcome


def random_words(size: int, bits: int, source: Source) -> NDArray[np.uint64]:
    """Draw uniform words of up to 64 bits; a source that returns too few bytes is an error, never less noise."""
    return np.frombuffer(source(8 * size), dtype=np.uint64, count=size) & np.uint64((1 << bits) - 1)


def _digit_cuts(rate: Fraction) -> Callable[[int], list[Interval]]:
    """Cut points of ``P(d)`` proportional to ``p^d``, d < RADIX, p = exp(-rate): ``(1 - p^(d+1)) / (1 - p^RADIX)``."""

    def cuts(bits: int) -> list[Interval]:
        one = 1 << bits
        powers = power_intervals(exp_interval(rate, bits), RADIX, bits)
        below = [(one - high, one - low) for low, high in powers]
        return [quotient_interval(below[d + 1], below[RADIX], bits) for d in range(RADIX - 1)]

    return cuts


def _head_cuts(rate: Fraction, block: int, head: int) -> Callable[[int], list[Interval]]:
    """Cut points of the head: 0 = zero, 1 + 2k and 2 + 2k = plus and minus with R = k, at the end R = head or more.

    What lies above them: ``2 q / (1 + q)`` after zero, ``q (r^k + r^(k+1)) / (1 + q)`` after plus k, and
    ``2 q r^(k+1) / (1 + q)`` after minus k; for the last plus, ``q r^head / (1 + q)``.
    """

    def cuts(bits: int) -> list[Interval]:
        one = 1 << bits
        q = exp_interval(rate, bits)
        powers = power_intervals(exp_interval(rate * block, bits), head, bits)
        doubled = [(2 * low, 2 * high) for low, high in powers]
        pairs = [(a[0] + b[0], a[1] + b[1]) for a, b in pairwise(powers)]
        above = [doubled[0]]
        for k in range(head):
            above += [pairs[k], doubled[k + 1]]
        above.append(powers[head])
        weight = quotient_interval(q, (one + q[0], one + q[1]), bits)
        return [(one - (-(-high * weight[1] >> bits)), one - (low * weight[0] >> bits)) for low, high in above]

    return cuts


class DiscreteLaplace:
    """Integer noise with ``P(k)`` proportional to ``exp(-rate |k|)``, for a rational rate."""

    def __init__(
        self, rate: Fraction, *, table_bits: int = TABLE_BITS, word_bits: int = WORD_BITS, head: int = HEAD
    ) -> None:
        if rate * LARGEST <= 64:
            power = (rate.denominator // max(rate.numerator, 1)).bit_length() - 1
            raise ParameterError(
                "epsilon is too small for exact noise in 64-bit integers: the noise would have a scale of "
                f"2^{power} units or more. Use a larger epsilon, or fewer levels."
            )
        self.rate = rate
        self.digits = 0
        while 4 * RADIX**self.digits * rate < 1:
            self.digits += 1
        self.block = RADIX**self.digits
        self._head = head
        factors = [_head_cuts(rate, self.block, head)] + [_digit_cuts(rate * RADIX**j) for j in range(self.digits)]
        self._factors = [Factor(cuts, table_bits, word_bits) for cuts in factors]
        self._weights = np.array([1, *(RADIX**j for j in range(self.digits))], dtype=np.int64)
        self._word_bits = word_bits

    def sample(self, size: int, source: Source = os.urandom) -> Ints:
        """Draw independent samples; magnitudes from 2^62 on are returned as 2^62."""
        clipped: Ints = np.clip(self.exact(size, source), -LARGEST, LARGEST).astype(np.int64)
        return clipped

    def exact(self, size: int, source: Source = os.urandom) -> Ints:
        """Draw independent samples of any magnitude: Python's integers if some may reach 2^62."""
        from dpheatmap.curator.core.noise_kernels import finish

        noise, far = np.empty(size, dtype=np.int64), dict[int, int]()
        farthest = min(2 * self._head, 2 * (LARGEST // self.block - 1))  # heads up to it stay below 2^62
        for start in range(0, size, BLOCK):
            block = noise[start : start + BLOCK]
            heads, digits = totals = np.zeros((2, len(block)), dtype=np.int64)
            (self._draw_few if size < SMALL else self._draw_many)(totals, source)
            finish(totals, self.block, LARGEST, block)
            for i in np.flatnonzero(heads > farthest):
                rounds = (int(heads[i]) - 1) // 2 + (self._geometric(source) if heads[i] > 2 * self._head else 0)
                magnitude = 1 + rounds * self.block + int(digits[i])
                far[start + int(i)] = magnitude if heads[i] & 1 else -magnitude
        noise = noise.astype(object) if far else noise
        noise[list(far)] = list(far.values())
        return noise

    def _draw_many(self, totals: Ints, source: Source) -> None:
        """Draw by all three stages, factor by factor."""
        from dpheatmap.curator.core.noise_kernels import look_up

        size = totals.shape[1]
        undecided = np.empty(size + 1, dtype=np.int64)
        for f, factor in enumerate(self._factors):
            total, weight = totals[min(f, 1)], int(self._weights[f])
            first = np.frombuffer(source(2 * size), dtype=np.uint16, count=size) & np.uint16(len(factor.table) - 1)
            left = undecided[: look_up(factor.table, first, weight, total, undecided)]
            total[left] += weight * factor.resolve(first[left], source)

    def _draw_few(self, totals: Ints, source: Source) -> None:
        """Draw by the second and third stage alone, all factors at once."""
        from dpheatmap.curator.core.noise_kernels import search

        size = totals.shape[1]
        words = random_words(len(self._factors) * size, self._word_bits, source).reshape(-1, size)
        ties = np.empty(words.size, dtype=np.int64)
        for tie in ties[: search(*self._all_floors, words, self._weights, totals, ties)]:
            f, i = divmod(int(tie), size)
            totals[min(f, 1), i] += self._weights[f] * self._factors[f].untie(int(words[f, i]), source)

    @cached_property
    def _all_floors(self) -> tuple[NDArray[np.uint64], Ints]:
        floors = [factor.floors for factor in self._factors]
        return np.concatenate(floors), np.cumsum([0, *map(len, floors)])

    def _geometric(self, source: Source) -> int:
        """A geometric variable of ratio ``exp(-rate * block)``: how often in a row a uniform real stays below it."""
        successes = 0
        below = Factor(lambda bits: [exp_interval(self.rate * self.block, bits)], 0, 1)
        while below.resolve(np.zeros(1, dtype=np.uint16), source)[0] == 0:
            successes += 1
        return successes


@lru_cache(maxsize=64)
def discrete_laplace(rate: Fraction) -> DiscreteLaplace:
    """The noise of that rate. Its tables, which depend on the rate alone, are cached."""
    return DiscreteLaplace(rate)
