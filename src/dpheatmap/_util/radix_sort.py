"""Sorting of integers in place, with a second array carried along, in compiled loops.

Keys are dealt to buckets by their leading digit, and each bucket is then sorted by itself. Nothing of the arrays' size
is allocated. How rows move depends on the keys alone, and not on what is carried along.
"""

from __future__ import annotations

from itertools import pairwise
from threading import Event

import numpy as np
from numpy.typing import NDArray

from dpheatmap._util.jit import njit

Ints = NDArray[np.int64]

FEW = 24
"""Keys that are sorted by insertion."""
BITS = 10
"""The longest digit. The buckets of a longer one, a place in each of two arrays, don't stay in a core's own cache."""


def sort_together(keys: Ints, values: Ints, stop: Event) -> None:
    """Sort keys that are less than 2^63 apart, and move each value with its key.

    ``stop`` ends the sort early with a KeyboardInterrupt; other threads may run meanwhile.

    >>> keys, values = np.array([30, -1, 20]), np.array([3, 1, 2])
    >>> sort_together(keys, values, Event())
    >>> keys.tolist(), values.tolist()
    ([-1, 20, 30], [1, 2, 3])
    """
    if len(keys) == 0:
        return
    for start, end in pairwise(deal(keys, values).tolist()):
        if stop.is_set():
            raise KeyboardInterrupt
        sort_bucket(keys[start:end], values[start:end])


@njit(cache=True, nogil=True)
def deal(keys: Ints, values: Ints) -> Ints:
    """Move rows, at least one, to buckets of ascending keys; returns where buckets start, and the end.

    The first differing bits of the keys are the number of the bucket. There are so many buckets that few rows are in
    each. Equal keys are all in one bucket.
    """
    least, most = keys[0], keys[0]
    for key in keys:
        least, most = min(least, key), max(most, key)
    bits = 1
    while bits < BITS and len(keys) >> bits > FEW // 3:
        bits += 1
    shift = 0
    while (most - least) >> shift >= 1 << bits:
        shift += 1
    buckets = ((most - least) >> shift) + 1
    starts = np.zeros(buckets + 1, dtype=np.int64)
    for key in keys:
        starts[((key - least) >> shift) + 1] += 1
    for bucket in range(buckets):
        starts[bucket + 1] += starts[bucket]
    free = starts.copy()
    for bucket in range(buckets):
        for i in range(free[bucket], starts[bucket + 1]):
            key, value = keys[i], values[i]
            of = (key - least) >> shift
            while of != bucket:  # put the row in hand into its bucket, and take the one that lay there
                j = free[of]
                free[of] += 1
                keys[j], key = key, keys[j]
                values[j], value = value, values[j]
                of = (key - least) >> shift
            keys[i], values[i] = key, value
    return starts


@njit(cache=True, nogil=True)
def sort_bucket(keys: Ints, values: Ints) -> None:
    """Sort rows, by dealing them out again until few are left in a bucket, or only equal keys."""
    todo = [(0, len(keys))]
    while len(todo) > 0:
        first, end = todo.pop()
        if end - first <= FEW:
            insert(keys, values, first, end)
        else:
            starts = deal(keys[first:end], values[first:end])
            if len(starts) > 2:
                for k in range(len(starts) - 1):
                    todo.append((first + starts[k], first + starts[k + 1]))


@njit(cache=True, nogil=True)
def insert(keys: Ints, values: Ints, first: int, end: int) -> None:
    """Sort the rows from ``first`` up to ``end`` by insertion."""
    for i in range(first + 1, end):
        key, value = keys[i], values[i]
        j = i
        while j > first and keys[j - 1] > key:
            keys[j], values[j] = keys[j - 1], values[j - 1]
            j -= 1
        keys[j], values[j] = key, value
