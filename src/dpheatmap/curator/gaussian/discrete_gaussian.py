"""Exact discrete Gaussian noise from a cryptographic source.

**What is drawn.** ``DiscreteGaussian(variance)`` with a rational parameter ``s > 0`` has ``P(k)`` proportional to
``exp(-k^2 / 2s)`` on all integers k. Two such variables, one of them moved by an integer d, have a Renyi divergence of
order alpha of at most ``alpha d^2 / 2s`` (Canonne, Kamath, Steinke 2020, proposition 5).

**How.** A sign and a magnitude ``j = R B + d`` are proposed, ``B = 2^b``, and kept or proposed anew:

1. The *head* R has the weights ``exp(-(R B)^2 / 2s)`` for R < H. Its last outcome, the tail, has the weight
   ``exp(-(H B)^2 / 2s) / (1 - r)`` with ``r = exp(-H B^2 / s)``; then R - H is geometric of ratio r. So the weight of R
   is ``exp(-((H B)^2 + 2 (R - H) H B^2) / 2s)`` there, and ``E_R`` is what stands over 2s in either case.
2. d has b uniform bits.
3. The proposal is kept with probability ``exp(-g)``, ``g = (j^2 - E_R) / 2s >= 0``. And -0 is never kept.

Multiply: +-j is kept with a probability proportional to ``exp(-j^2 / 2s)``, and 0 has one sign. So what is kept has the
law.

**Why it is exact.** R is drawn by inversion, as in `core/noise.py`. A proposal is kept by von Neumann's rule: with g at
most 1 and uniform reals U_1, U_2, ..., let n be the first with ``U_n > U_(n-1)``, where ``U_0 = g``. Then P(n > i) is
``g^i / i!``, and n is odd with probability exp(-g). B is so small that g is at most 1 below the tail. The loop compares
the first 32 bits of the U with bounds of g in 32 bits. It leaves open what these don't decide, and exact fractions
decide it by further bits of the same U. In the tail, which has a probability below 10^-14, exp(-g) is inverted. No
float occurs.
"""

from __future__ import annotations

import os
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate
from math import isqrt

import numpy as np

from dpheatmap._util.certified import Interval, exp_interval, product_interval, quotient_interval
from dpheatmap.curator.core.noise import BLOCK, LARGEST, Factor, Source, random_words
from dpheatmap.errors import ParameterError
from dpheatmap.place.quadtree import Ints

LATER = 8  # words for von Neumann's rule where the first does not decide


class DiscreteGaussian:
    """Integer noise with ``P(k)`` proportional to ``exp(-k^2 / (2 variance))``, for a rational parameter."""

    def __init__(self, variance: Fraction, *, word_bits: int = 64) -> None:
        if variance >= (LARGEST // 64) ** 2:
            raise ParameterError("rho is too small for exact noise in 64-bit integers. Use a larger one.")
        self.variance = variance
        self.bits = max(isqrt(int(variance / 64)).bit_length() - 1, 0)  # B is at most an eighth of the deviation
        self.block = 1 << self.bits
        self.heads = int(variance / self.block**2 - Fraction(1, 2)) if self.bits else isqrt(64 * int(variance)) + 16
        self._head = Factor(self._cuts, word_bits=word_bits)
        self._scale = (self.block**2 << 32) // (2 * variance)  # B^2 / 2s in units of 2^-32

    def _cuts(self, bits: int) -> list[Interval]:
        """The distribution function of the head: sums of weights over the sum of all."""
        one, edge = 1 << bits, Fraction(self.block**2) / (2 * self.variance)
        ratio, step = exp_interval(edge, bits), exp_interval(2 * edge, bits)
        weights = [(one, one)]
        for _ in range(self.heads):
            weights.append(product_interval(weights[-1], ratio, bits))
            ratio = product_interval(ratio, step, bits)
        low, high = exp_interval(2 * edge * self.heads, bits)
        weights[-1] = quotient_interval(weights[-1], (one - high, one - low), bits)
        sums = list(accumulate(weights, lambda a, b: (a[0] + b[0], a[1] + b[1])))
        return [quotient_interval(some, sums[-1], bits) for some in sums[:-1]]

    def exact(self, size: int, source: Source = os.urandom) -> Ints:
        """Draw independent samples of any magnitude: Python's integers if some reach 2^62."""
        found, missing = [np.empty(0, np.int64)], size
        while missing:
            found.append(self._propose(min(missing + missing // 8 + 4, BLOCK), source)[:missing])
            missing -= len(found[-1])
        return np.concatenate(found)

    def _propose(self, size: int, source: Source) -> Ints:
        """Propose so many values, and keep some; in the order of the proposals, so that none is favoured."""
        from dpheatmap.curator.gaussian.gaussian_kernels import von_neumann

        heads, words = self._head.draw(size, source), random_words(size, 64, source)
        digits = (words & np.uint64(self.block - 1)).astype(np.int64)
        first = np.frombuffer(source(4 * size), dtype=np.uint32, count=size)[:, None].copy()
        kept = np.empty(size, np.int8)
        von_neumann(heads, digits, self.bits, self._scale, first, kept)
        kept[digits == 0] = 1  # g = 0
        open_ = np.flatnonzero((kept < 0) & (heads < self.heads))
        fresh = LATER * len(open_)
        more = np.frombuffer(source(4 * fresh), dtype=np.uint32, count=fresh).reshape(-1, LATER)
        more = np.concatenate([first[open_], more], axis=1)
        later = np.empty(len(open_), np.int8)
        von_neumann(heads[open_], digits[open_], self.bits, self._scale, more, later)
        kept[open_] = later
        for i in np.flatnonzero(later < 0):
            at = open_[i]
            kept[at] = self._decide(int(heads[at]), int(digits[at]), [int(word) for word in more[i]], source)
        noise = heads * self.block + digits
        for i in np.flatnonzero(heads == self.heads):
            magnitude = self._tail(int(digits[i]), source)
            kept[i] = magnitude is not None
            if magnitude is not None and magnitude >= LARGEST:
                noise = noise.astype(object)
            noise[i] = magnitude or 0
        minus = (words >> np.uint64(63)).astype(np.bool_)
        kept[minus & (noise == 0)] = 0
        values: Ints = np.where(minus, -noise, noise)[kept > 0]
        return values

    def _decide(self, head: int, digit: int, words: list[int], source: Source) -> bool:
        """Von Neumann's rule by further bits of the uniform reals that begin with the words."""
        before: Fraction | Uniform = Fraction(digit * (2 * head * self.block + digit)) / (2 * self.variance)
        n = 0
        while True:
            uniform = Uniform(words[n] if n < len(words) else int(random_words(1, 32, source)[0]), source)
            n += 1
            if uniform.exceeds(before):
                return n % 2 == 1
            before = uniform

    def _tail(self, digit: int, source: Source) -> int | None:
        """The magnitude of a proposal in the tail, with its last bits given; None if it is not kept."""
        head = self.heads
        while _happens(Fraction(self.heads * self.block**2) / self.variance, source):
            head += 1
        magnitude = head * self.block + digit
        envelope = (self.heads**2 + 2 * (head - self.heads) * self.heads) * self.block**2
        return magnitude if _happens((magnitude**2 - envelope) / (2 * self.variance), source) else None


class Uniform:
    """A uniform real in [0, 1) whose bits are revealed as needed."""

    def __init__(self, word: int, source: Source) -> None:
        self._word, self._bits, self._source = word, 32, source

    @property
    def ends(self) -> tuple[Fraction, Fraction]:
        """The interval that its known bits leave."""
        return Fraction(self._word, 1 << self._bits), Fraction(self._word + 1, 1 << self._bits)

    def reveal(self) -> None:
        """Reveal 64 more bits."""
        self._word, self._bits = self._word << 64 | int(random_words(1, 64, self._source)[0]), self._bits + 64

    def exceeds(self, other: Fraction | Uniform) -> bool:
        """Whether it is above another real; with probability 1 some bits tell."""
        while True:
            low, high = self.ends
            least, most = other.ends if isinstance(other, Uniform) else (other, other)
            if low >= most or high <= least:
                return low >= most
            self.reveal()
            if isinstance(other, Uniform):
                other.reveal()


def _happens(x: Fraction, source: Source) -> bool:
    """An event of probability exp(-x)."""
    return bool(Factor(lambda bits: [exp_interval(x, bits)], 0, 1).resolve(np.zeros(1, np.uint16), source)[0] == 0)


@lru_cache(maxsize=64)
def discrete_gaussian(variance: Fraction) -> DiscreteGaussian:
    """The noise of that parameter. Its tables, which depend on it alone, are cached."""
    return DiscreteGaussian(variance)
