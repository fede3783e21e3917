"""Differences of maps as integer supplies of the pixels, with a bound on the effect of rounding.

Rounding each pixel by itself would change the total. Let D_k be the sum of the signed masses of the first k pixels
along a path that winds through the grid, row by row, back and forth. D_k is rounded, not the masses; the new masses are
the differences of its values. The old masses become the new ones when D_k - round(D_k), at most half a unit, is moved
from each pixel to the next one of the path, which is a neighbour. So the rounding changes any earth mover's distance by
at most half a unit times one step for each pixel.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import accumulate
from typing import NamedTuple

import numpy as np

from dpheatmap.flow.network_simplex import bits_of_perturbation
from dpheatmap.place.domain import Floats
from dpheatmap.place.quadtree import Ints

_FLOAT_ERROR = 2.0**-49  # of a difference of two shares, each computed by a few operations with errors of 2^-53
_CLOSE = 2.0**22


class Supply(NamedTuple):
    """Integer masses in units of 2^-power, row by row; ``slack``, in units x steps, bounds the effect of rounding."""

    units: Ints
    power: int
    slack: int

    def in_sides(self, cost: int, side: int) -> Fraction:
        """Convert a cost from units x steps to mass x sides."""
        return Fraction(cost, side) / Fraction(2) ** self.power


def supply_of_difference(a: Floats, b: Floats) -> Supply:
    """Compute the normalised ``a`` less the normalised ``b``; all 0 only if they are equal.

    Let P be the mass in which they differ. All of it moves at least one step, so an error of P times something is
    relative to the distance. If the error of floats were larger than P / 2^22, integers of any length are used.
    """
    if np.array_equal(a, b):
        return Supply(np.zeros(a.size, np.int64), 0, 0)
    ways = _cumulative(_snake_order(a)), _cumulative(_snake_order(b))
    path = ways[0] / ways[0][-1] - ways[1] / ways[1][-1]
    moving = float(np.abs(np.diff(path, prepend=0.0)).sum()) / 2
    if a.size * _FLOAT_ERROR * _CLOSE > moving:
        return _difference_of_close(a, b)
    power = _power_for(int(np.frexp(moving)[1]), a.size)
    units = _row_order(np.rint(np.ldexp(path, power)).astype(np.int64), a.shape)
    return Supply(units, power, int(np.ceil(a.size * (0.5 + np.ldexp(_FLOAT_ERROR, power)))))


def signed_supply(v: Floats) -> Supply:
    """Convert a signed array; ``slack`` is not given, because the total is rounded too."""
    path = _cumulative(_snake_order(v))
    _, exponent = np.frexp(np.abs(v).max())
    total = np.abs(np.ldexp(v, -exponent)).sum()
    power = _power_for(int(np.frexp(total)[1]), v.size)
    units = np.rint(np.ldexp(path, power - _limb(v.size))).astype(np.int64)
    return Supply(_row_order(units, v.shape), power - int(exponent), 0)


def _difference_of_close(a: Floats, b: Floats) -> Supply:
    """Compute the difference of maps too close for floats: the sums are exact, in integers of any length."""
    ways = [list(accumulate(_as_integers(_snake_order(values)))) for values in (a, b)]
    total = ways[0][-1] * ways[1][-1]
    path = [ours * ways[1][-1] - theirs * ways[0][-1] for ours, theirs in zip(*ways, strict=True)]
    moving = sum(abs(later - earlier) for earlier, later in zip([0, *path], path, strict=False))
    if moving == 0:
        return Supply(np.zeros(a.size, np.int64), 0, 0)
    power = _power_for(moving.bit_length() - total.bit_length(), a.size)  # moving is twice P
    rounded = [((abs(x) << (power + 1)) + total) // (2 * total) * (1 if x > 0 else -1) for x in path]
    return Supply(_row_order(np.array(rounded, np.int64), a.shape), power, (a.size + 1) // 2)


def _as_integers(values: Floats) -> list[int]:
    """Multiply floats by the power of two that makes all of them integers."""
    mantissas, exponents = np.frexp(values)
    whole = np.ldexp(mantissas, 53).astype(np.int64).tolist()
    shifts = np.where(values == 0, 0, exponents - exponents[values > 0].min()).tolist()
    return [number << shift for number, shift in zip(whole, shifts, strict=True)]


def _power_for(exponent: int, pixels: int) -> int:
    """The power of two for masses of a total below 2^exponent with which no later computation overflows.

    The total becomes at most 2^61 / M, where M > 2 (pixels + 1) is the factor of the network simplex method. So flows
    times M stay below 2^62, and costs do too, as no path has more steps than there are pixels.
    """
    return 61 - bits_of_perturbation(pixels + 1) - exponent


def _limb(pixels: int) -> int:
    """The number of bits of a pixel's mass with which sums over all pixels have 62 bits."""
    return 62 - pixels.bit_length()


def _cumulative(values: Floats) -> Floats:
    """Sums of the first k values, times a power of two, exact to the last bits: each value is summed as two integers.

    The largest value becomes one just below 2^limb; the second integer holds the fractional part.
    """
    limb = _limb(len(values))
    _, exponent = np.frexp(np.abs(values).max())
    scaled = np.ldexp(values, limb - exponent)
    whole = np.trunc(scaled)
    rest = np.rint(np.ldexp(scaled - whole, limb))
    sums: Floats = np.cumsum(whole.astype(np.int64)) + np.ldexp(np.cumsum(rest.astype(np.int64)).astype(float), -limb)
    return sums


def _snake_order(values: Floats) -> Floats:
    """The pixels along the path: every other row runs backwards."""
    path = values.copy()
    path[1::2] = path[1::2, ::-1]
    return path.ravel()


def _row_order(path: Ints, shape: tuple[int, ...]) -> Ints:
    """The masses, row by row, whose sums along the path are given."""
    units = np.diff(path, prepend=0).reshape(shape)
    units[1::2] = units[1::2, ::-1].copy()
    return units.ravel()
