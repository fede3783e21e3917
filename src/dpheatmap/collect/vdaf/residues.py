"""Compiled arithmetic modulo an odd prime p below 2^128.

A residue is two words of 64 bits, the low one first, and an array of residues has them in its last axis. What a prime
needs is an array of words, `constants`: p, ``-1 / p`` mod 2^64, and the square of R = 2^128 mod p.

*Montgomery's product* of a and b is ``a b / R`` mod p. Each of two steps adds a multiple of p that clears the lowest
word, then drops that word. With a < 2^128 and b < p the result before the last subtraction is below
``(a b + R p) / R < 2 p``, so one subtraction is enough. ``a b`` itself is two such products: ``(a b / R) R^2 / R``.

Nothing here takes the same time for all values.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from dpheatmap._util.jit import multiply_add, njit

Residues = NDArray[np.uint64]
Word = np.uint64
Pair = tuple[np.uint64, np.uint64]
Kernel = Callable[[Residues, Residues, Residues], Residues]

_ZERO, _ONE = np.uint64(0), np.uint64(1)


def constants_of(modulus: int) -> Residues:
    """What the kernels need to know about a prime."""
    word = 1 << 64
    square = (1 << 256) % modulus
    parts = (modulus, modulus >> 64, -pow(modulus, -1, word), square, square >> 64)
    return np.array([part % word for part in parts], dtype=np.uint64)


@njit(cache=True)
def _less(a0: Word, a1: Word, b0: Word, b1: Word) -> bool:
    return bool(a1 < b1 or (a1 == b1 and a0 < b0))


@njit(cache=True)
def _minus(a0: Word, a1: Word, b0: Word, b1: Word) -> Pair:
    """a - b mod 2^128."""
    return a0 - b0, a1 - b1 - np.uint64(a0 < b0)


@njit(cache=True)
def _sum(a0: Word, a1: Word, b0: Word, b1: Word, constants: Residues) -> Pair:
    low, carry = multiply_add(a0, _ONE, b0, _ZERO)
    high, carry = multiply_add(a1, _ONE, b1, carry)
    if carry or not _less(low, high, constants[0], constants[1]):
        return _minus(low, high, constants[0], constants[1])
    return low, high


@njit(cache=True)
def _difference(a0: Word, a1: Word, b0: Word, b1: Word, constants: Residues) -> Pair:
    low, high = _minus(a0, a1, b0, b1)
    if _less(a0, a1, b0, b1):  # adding p is taking -p away
        minus0, minus1 = _minus(_ZERO, _ZERO, constants[0], constants[1])
        return _minus(low, high, minus0, minus1)
    return low, high


@njit(cache=True)
def _montgomery(a0: Word, a1: Word, b0: Word, b1: Word, constants: Residues) -> Pair:
    """a b / 2^128 mod p, for b < p."""
    p0, p1 = constants[0], constants[1]
    t0, t1, t2 = _ZERO, _ZERO, _ZERO
    for step in range(2):
        digit = a0 if step == 0 else a1
        t0, carry = multiply_add(digit, b0, t0, _ZERO)
        t1, carry = multiply_add(digit, b1, t1, carry)
        t2, t3 = multiply_add(t2, _ONE, carry, _ZERO)
        factor = t0 * constants[2]
        _, carry = multiply_add(factor, p0, t0, _ZERO)
        t0, carry = multiply_add(factor, p1, t1, carry)
        t1, carry = multiply_add(t2, _ONE, carry, _ZERO)
        t2 = t3 + carry
    if t2 or not _less(t0, t1, p0, p1):
        return _minus(t0, t1, p0, p1)
    return t0, t1


@njit(cache=True)
def _scale(a0: Word, a1: Word, constants: Residues) -> Pair:
    """a R mod p, which makes Montgomery's product with a the plain one."""
    return _montgomery(a0, a1, constants[3], constants[4], constants)


@njit(cache=True)
def _product(a0: Word, a1: Word, b0: Word, b1: Word, constants: Residues) -> Pair:
    s0, s1 = _scale(a0, a1, constants)
    return _montgomery(s0, s1, b0, b1, constants)


@njit(cache=True)
def add_pairs(a: Residues, b: Residues, constants: Residues) -> Residues:
    """Add two lists of residues."""
    out = np.empty_like(a)
    for i in range(len(a)):
        out[i, 0], out[i, 1] = _sum(a[i, 0], a[i, 1], b[i, 0], b[i, 1], constants)
    return out


@njit(cache=True)
def subtract_pairs(a: Residues, b: Residues, constants: Residues) -> Residues:
    """Subtract a list of residues from another."""
    out = np.empty_like(a)
    for i in range(len(a)):
        out[i, 0], out[i, 1] = _difference(a[i, 0], a[i, 1], b[i, 0], b[i, 1], constants)
    return out


@njit(cache=True)
def multiply_pairs(a: Residues, b: Residues, constants: Residues) -> Residues:
    """Multiply two lists of residues, one by one."""
    out = np.empty_like(a)
    for i in range(len(a)):
        out[i, 0], out[i, 1] = _product(a[i, 0], a[i, 1], b[i, 0], b[i, 1], constants)
    return out


@njit(cache=True)
def add_up(values: Residues, constants: Residues) -> Residues:
    """The running sums of residues, beginning with 0: one more than there are values."""
    out = np.zeros((len(values) + 1, 2), dtype=np.uint64)
    for i in range(len(values)):
        out[i + 1, 0], out[i + 1, 1] = _sum(out[i, 0], out[i, 1], values[i, 0], values[i, 1], constants)
    return out


@njit(cache=True)
def power_series(bases: Residues, count: int, constants: Residues) -> Residues:
    """The powers 1, b, b^2, ... of each base: so many, in a row for each base."""
    out = np.zeros((len(bases), count, 2), dtype=np.uint64)
    for i in range(len(bases)):
        out[i, 0, 0] = _ONE
        s0, s1 = _scale(bases[i, 0], bases[i, 1], constants)
        for j in range(1, count):
            out[i, j, 0], out[i, j, 1] = _montgomery(s0, s1, out[i, j - 1, 0], out[i, j - 1, 1], constants)
    return out


@njit(cache=True)
def combine_rows(weights: Residues, rows: Residues, constants: Residues) -> Residues:
    """The sum of rows, each times its weight."""
    out = np.zeros((rows.shape[1], 2), dtype=np.uint64)
    for i in range(len(weights)):
        s0, s1 = _scale(weights[i, 0], weights[i, 1], constants)
        for j in range(rows.shape[1]):
            x0, x1 = _montgomery(s0, s1, rows[i, j, 0], rows[i, j, 1], constants)
            out[j, 0], out[j, 1] = _sum(out[j, 0], out[j, 1], x0, x1, constants)
    return out


@njit(cache=True)
def sum_products(rows: Residues, constants: Residues) -> Residues:
    """Of each row the sum of the products of its 1st and 2nd entry, its 3rd and 4th, and so on."""
    out = np.zeros((len(rows), 2), dtype=np.uint64)
    for i in range(len(rows)):
        for j in range(0, rows.shape[1], 2):
            x0, x1 = _montgomery(rows[i, j, 0], rows[i, j, 1], rows[i, j + 1, 0], rows[i, j + 1, 1], constants)
            out[i, 0], out[i, 1] = _sum(out[i, 0], out[i, 1], x0, x1, constants)
        out[i, 0], out[i, 1] = _scale(out[i, 0], out[i, 1], constants)
    return out


@njit(cache=True)
def transform_rows(rows: Residues, powers: Residues, constants: Residues) -> None:
    """Replace each column by the values that the polynomial with these coefficients has at the powers of a root.

    The number of rows n is a power of two, and ``powers`` are the first n powers of a root of unity of order n. Values
    of a polynomial of 2 h coefficients come from the values of its even and its odd half at the h squares:
    ``p(w) = even(w^2) + w odd(w^2)`` and ``p(-w) = even(w^2) - w odd(w^2)``.
    """
    n, width = rows.shape[0], rows.shape[1]
    at = 0
    for i in range(1, n):  # order rows by their numbers with bits reversed
        bit = n >> 1
        while at & bit:
            at ^= bit
            bit >>= 1
        at |= bit
        if i < at:
            for j in range(width):
                for k in range(2):
                    rows[i, j, k], rows[at, j, k] = rows[at, j, k], rows[i, j, k]
    half = 1
    while half < n:
        for first in range(half):
            step = first * (n // (2 * half))
            s0, s1 = _scale(powers[step, 0], powers[step, 1], constants)
            for even in range(first, n, 2 * half):
                for j in range(width):
                    a0, a1 = rows[even, j, 0], rows[even, j, 1]
                    b0, b1 = _montgomery(s0, s1, rows[even + half, j, 0], rows[even + half, j, 1], constants)
                    rows[even, j, 0], rows[even, j, 1] = _sum(a0, a1, b0, b1, constants)
                    rows[even + half, j, 0], rows[even + half, j, 1] = _difference(a0, a1, b0, b1, constants)
        half *= 2


@njit(cache=True)
def products_of_others(values: Residues, constants: Residues) -> Residues:
    """For each value the product of all others."""
    out = np.zeros_like(values)
    out[0, 0] = _ONE
    for i in range(1, len(values)):
        v0, v1 = values[i - 1, 0], values[i - 1, 1]
        out[i, 0], out[i, 1] = _product(v0, v1, out[i - 1, 0], out[i - 1, 1], constants)
    after0, after1 = _ONE, _ZERO
    for i in range(len(values) - 1, -1, -1):
        out[i, 0], out[i, 1] = _product(out[i, 0], out[i, 1], after0, after1, constants)
        after0, after1 = _product(after0, after1, values[i, 0], values[i, 1], constants)
    return out


@njit(cache=True)
def keep_residues(words: Residues, masks: Residues, constants: Residues) -> Residues:
    """Of random numbers, cut to the prime's bits, those that are below the prime."""
    out = np.empty_like(words)
    found = 0
    for i in range(len(words)):
        low, high = words[i, 0] & masks[0], words[i, 1] & masks[1]
        if _less(low, high, constants[0], constants[1]):
            out[found, 0], out[found, 1] = low, high
            found += 1
    return out[:found]
