"""Exact sampler of Polya differences: n people's noise of this law adds up to discrete Laplace noise.

**What is drawn.** Discrete Laplace noise of rate a is the difference of two geometric variables of ratio ``q =
exp(-a)``. A geometric variable is a sum of n independent Polya (negative binomial) variables of shape 1/n, whose
generating function is ``((1 - q) / (1 - q z))^(1/n)``. So the sum of n Polya differences is discrete Laplace, exactly.
Further ones are additional independent noise, which can't weaken the guarantee of the first n.

**How.** The logarithm of that generating function is ``(L / n) (S(z) - 1)`` with ``L = -ln(1 - q)`` and ``S(z) = sum
over k >= 1 of q^k / (k L) z^k``: a Polya variable is a Poisson number, of mean L / n, of *parts* with the logarithmic
law ``P(k) = q^k / (k L)``. A difference of two is a Poisson number, of mean 2 L / n, of parts with random signs.

1. The number of parts is drawn by inversion (`Factor` of `noise.py`): integer intervals around the distribution
   function, refined until they decide.
2. A part is drawn by rejection. Propose j = 0, 1, ... with weight ``q^(2^j)``, by inversion, and k evenly from ``2^j ..
   2^(j+1) - 1``: weight ``q^(2^j) / 2^j``. Accept with the probability ``2^j / k``, by a uniform integer below k, times
   one proportional to ``q^d`` with ``d = k - 2^j``: that |X| > d for a discrete Laplace X of the rate, which has the
   probability ``2 q^(d+1) / (1 + q)``. The product of the three is proportional to ``q^k / k``.

**What is not exact.** Poisson numbers and proposals end where less than 2^-TAIL_BITS of their law is left. A proposal
is accepted with a probability above 1/8 and there are fewer than 2^5 parts on average, at any rate allowed here, so the
law of a coordinate's noise is within `TOTAL_VARIATION` of the exact one. `Terms` adds that up into delta.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache

import numpy as np

from dpheatmap._util.certified import Interval, exp_interval
from dpheatmap.curator import Factor, Source, discrete_laplace, random_words
from dpheatmap.errors import ParameterError
from dpheatmap.place.quadtree import Ints

TAIL_BITS = 128
TOTAL_VARIATION = Fraction(1, 2**118)
"""The total variation distance of one coordinate's noise from the exact law, at most."""

SMALLEST_RATE, LARGEST_RATE = Fraction(1, 2**40), Fraction(1)


def log_interval(y: Interval, bits: int) -> Interval:
    """Integers around ``2^bits * -ln(y)`` for an interval around y, 0 < y <= 1, in units of 2^-bits.

    ``y = f 2^-s`` with 1/2 < f <= 1, and ``-ln f = 2 artanh((1 - f) / (1 + f))``, whose series has positive terms that
    fall by a factor of 9 or more. Every operation rounds outward.
    """
    low, high = y
    shift = max(0, bits - high.bit_length())
    halves = _doubled_artanh(1 << (bits - 1), bits)
    near, far = _doubled_artanh(min(high << shift, 1 << bits), bits), _doubled_artanh(low << shift, bits)
    return near[0] + shift * halves[0], far[1] + shift * halves[1]


def _doubled_artanh(f: int, bits: int) -> Interval:
    """Integers around ``2^bits * -ln(f / 2^bits)``."""
    one = 1 << bits
    z_low = ((one - f) << bits) // (one + f)
    z_high = z_low + 1
    low = high = 0
    term_low, term_high, k = z_low, z_high, 1
    while term_high > 1:
        low, high = low + term_low // k, high + term_high // k + 1
        term_low = term_low * z_low * z_low >> 2 * bits
        term_high = (term_high * z_high * z_high >> 2 * bits) + 1
        k += 2
    return 2 * low, 2 * (high + 2)  # the rest of the series is below twice its first term


def mean_interval(rate: Fraction, people: int, bits: int) -> Interval:
    """Integers around ``2^bits * 2 L / n``: the mean number of parts of a difference."""
    one = 1 << bits
    low, high = exp_interval(rate, bits)
    log_low, log_high = log_interval((one - high, one - low), bits)
    return 2 * log_low // people, -(-2 * log_high // people)


def _poisson_cuts(rate: Fraction, people: int) -> Callable[[int], list[Interval]]:
    """Values of the distribution function of the number of parts, up to a negligible tail."""

    def cuts(bits: int) -> list[Interval]:
        mean = mean_interval(rate, people, bits)
        least = exp_interval(Fraction(mean[1], 1 << bits), bits)[0]
        most = exp_interval(Fraction(mean[0], 1 << bits), bits)[1]
        term, total, found = (least, most), (0, 0), []
        for k in range(1, _most_parts(rate, people) + 1):
            total = total[0] + term[0], total[1] + term[1]
            found.append(total)
            term = term[0] * mean[0] // (k << bits), -(-term[1] * mean[1] // (k << bits))
        return found

    return cuts


@lru_cache(maxsize=64)
def _most_parts(rate: Fraction, people: int) -> int:
    """A number of parts K with P(N >= K) < 2^-TAIL_BITS: from twice the mean on, terms fall by half or more."""
    bits = 2 * TAIL_BITS
    mean = mean_interval(rate, people, bits)[1]
    term, k = 1 << bits, 0
    while k << bits < 2 * mean or term >> (bits - TAIL_BITS - 1):
        k += 1
        term = term * mean // (k << bits) + 1
    return k


def _proposal_cuts(rate: Fraction) -> Callable[[int], list[Interval]]:
    """Values of the distribution function of j, of weight ``q^(2^j)``, up to a negligible tail."""
    count = 1
    while rate * 2**count < TAIL_BITS:  # then q^(2^j) < e^-TAIL_BITS, and those that follow are far smaller
        count += 1

    def cuts(bits: int) -> list[Interval]:
        weights = [exp_interval(rate * 2**j, bits) for j in range(count)]
        lows, highs = (np.cumsum(np.array(ends, dtype=object)).tolist() for ends in zip(*weights, strict=True))
        return [
            ((low << bits) // (low + highs[-1] - high), -(-(high << bits) // (high + lows[-1] - low)))
            for low, high in zip(lows[:-1], highs[:-1], strict=True)
        ]

    return cuts


class PolyaDifference:
    """Integer noise of which ``people`` independent draws add up to discrete Laplace noise of a rational rate."""

    def __init__(self, rate: Fraction, people: int) -> None:
        if not SMALLEST_RATE <= rate <= LARGEST_RATE:
            raise ParameterError(
                "units must be at least epsilon and at most 2^40 times the least part of it, so that noise is whole "
                f"numbers of a fair size; a level's epsilon was {float(rate):g} a unit. Use other units."
            )
        self.rate, self.people = rate, people
        self._number = Factor(_poisson_cuts(rate, people))
        self._proposal = Factor(_proposal_cuts(rate))
        self._laplace = discrete_laplace(rate)

    def sample(self, size: int, source: Source = os.urandom) -> Ints:
        """Draw independent samples."""
        where = np.repeat(np.arange(size), self._number.draw(size, source))
        parts = self._parts(len(where), source)
        signs = (random_words(len(where), 1, source) * 2).astype(np.int64) - 1
        noise = np.zeros(size, dtype=np.int64)
        np.add.at(noise, where, signs * parts)
        return noise

    def _parts(self, size: int, source: Source) -> Ints:
        """Draw from the logarithmic law, by rejection."""
        parts = np.empty(size, dtype=np.int64)
        waiting = np.arange(size)
        while len(waiting):
            j = self._proposal.draw(len(waiting), source)
            start = np.int64(1) << j
            beyond = random_words(len(waiting), 62, source).astype(np.int64) & (start - 1)
            accepted = uniform_below(start + beyond, source) < start
            accepted &= np.abs(self._laplace.sample(len(waiting), source)) > beyond
            parts[waiting[accepted]] = (start + beyond)[accepted]
            waiting = waiting[~accepted]
        return parts


def uniform_below(limits: Ints, source: Source) -> Ints:
    """Draw for each limit a uniform integer from 0 to one less."""
    masks = (np.int64(1) << np.frexp(limits.astype(np.float64))[1]) - 1  # a power of two above the limit, less one
    drawn = np.empty(len(limits), dtype=np.int64)
    waiting = np.arange(len(limits))
    while len(waiting):
        drawn[waiting] = random_words(len(waiting), 62, source).astype(np.int64) & masks[waiting]
        waiting = waiting[drawn[waiting] >= limits[waiting]]
    return drawn


@lru_cache(maxsize=64)
def polya_difference(rate: Fraction, people: int) -> PolyaDifference:
    """The noise of that rate for that many people; its tables are cached."""
    return PolyaDifference(rate, people)
