"""Evenness of noisy numbers: whether they are nearly the same, and whether they are so in groups."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray


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


def is_rough(
    numbers: NDArray[np.int64], there: NDArray[np.bool_], noises: NDArray[np.object_], roughness: Fraction
) -> bool:
    """Whether more than a part of the sum of squares of noisy numbers lies inside of their groups, the rows.

    The sum of squares inside of a group of m numbers is that of their differences from its mean. ``noises`` are the
    variances of the numbers' noise, whose part is taken off: all of it, and 1 - 1/m of it inside. Numbers that are not
    ``there`` are 0 and don't count.

    >>> twos = np.array([[9, 11], [50, 48]]), np.ones((2, 2), np.bool_), np.zeros((2, 2), object), Fraction(1, 4)
    >>> is_rough(*twos), is_rough(np.array([[20, 0], [0, 98]]), *twos[1:])
    (False, True)
    """
    inside, squares = Fraction(0), Fraction(0)
    for row, here, noise in zip(numbers.tolist(), there.tolist(), noises.tolist(), strict=True):
        members, own = sum(here), Fraction(sum(noise))
        square = sum(number * number for number in row)
        inside += square - Fraction(sum(row) ** 2, members) - own * (members - 1) / members
        squares += square - own
    return inside > roughness * squares
