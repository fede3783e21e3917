"""Evenness of noisy numbers: whether they are nearly the same."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction


def each_if_even(numbers: Sequence[int], noise: Fraction, evenness: Fraction) -> Fraction | None:
    """What each of noisy numbers is on average, if they are nearly the same; None if they are not.

    The evenness of K numbers is (sum of y)^2 / (K sum of y^2), where ``noise``, the variance of all noise together, is
    taken off the squares: 1 if all are the same, 1/K if all but one are 0.

    >>> each_if_even([9, 10, 11], Fraction(0), Fraction(1, 2)), each_if_even([30, 0, 0], Fraction(0), Fraction(1, 2))
    (Fraction(10, 1), None)
    """
    squares = sum(number * number for number in numbers) - noise
    together = max(sum(numbers), 0)
    if together * together <= evenness * len(numbers) * squares:
        return None
    return Fraction(together, len(numbers))
