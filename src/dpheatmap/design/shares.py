"""Epsilon as exact fractions, split so that the parts add up to the whole.

A part is a whole number of shares, of which epsilon has :data:`SHARES`: part = epsilon * share / SHARES. Whole
numbers add up exactly, and the noise scale W / part stays a ratio of integers.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache

import numpy as np

from dpheatmap._util.parameters import as_epsilon, check
from dpheatmap.errors import ParameterError
from dpheatmap.place.quadtree import Ints

SHARES = 2**32
"""The number of shares that epsilon is cut into."""

UNITS = 2**30
"""W: the number of units that one person's whole weight is counted in."""

FARTHEST = 2**61
"""Noisy counts, in units, are held within this on either side of 0."""

PAPER_DECAY = Fraction(math.isqrt(2**127), 2**64)
"""The paper's gamma, 1/sqrt(2), to 64 bits."""


def read_epsilon(value: object) -> Fraction:
    """Read epsilon as the exact fraction it was written as; refuse what is not a number above 0.

    >>> read_epsilon(0.1)
    Fraction(1, 10)
    """
    check(epsilon=value)
    return as_epsilon(value)


def exact_text(epsilon: Fraction) -> str:
    """Write a fraction as a short decimal if that is exact, else as a fraction: nothing is rounded.

    >>> exact_text(Fraction(1, 4)), exact_text(Fraction(1, 3)), exact_text(Fraction(1, 10**6))
    ('0.25', '1/3', '0.000001')
    """
    short = f"{float(epsilon):.12f}".rstrip("0").rstrip(".")
    return short if Fraction(short or 0) == epsilon else str(epsilon)


def split_over_levels(first: int, last: int, decay: Fraction | float = PAPER_DECAY) -> dict[int, int]:
    """The shares of the levels ``first .. last``, proportional to ``decay ** (level - first)``; their sum is SHARES.

    Each share is rounded down, and what that leaves over (less than one share a level) goes to the first level.

    >>> sum(split_over_levels(2, 8).values()) == SHARES
    True
    """
    return dict(_shares(first, last, decay if isinstance(decay, Fraction) else as_epsilon(decay)))


@lru_cache(maxsize=64)
def _shares(first: int, last: int, gamma: Fraction) -> dict[int, int]:
    powers = [gamma**step for step in range(last - first + 1)]
    total = sum(powers)
    shares = {first + step: math.floor(SHARES * power / total) for step, power in enumerate(powers)}
    shares[first] += SHARES - sum(shares.values())
    if min(shares.values()) == 0:
        raise ParameterError(
            f"decay leaves nothing of epsilon for level {last}; it was {float(gamma):g}. Use one closer to 1."
        )
    return shares


def part(epsilon: Fraction, share: int) -> Fraction:
    """The part of epsilon that a share stands for."""
    return epsilon * share / SHARES


def in_whole_units(counts: Ints, units: int) -> Ints:
    """Noisy counts in units of 1 / ``units`` of a person, as designs read them: in units of 1 / W, rounded down.

    >>> in_whole_units(np.array([2, -1]), 4).tolist() == [UNITS // 2, -UNITS // 4]
    True
    """
    if units == UNITS:
        return counts
    whole: Ints = np.clip(counts.astype(object) * UNITS // units, -FARTHEST, FARTHEST).astype(np.int64)
    return whole
