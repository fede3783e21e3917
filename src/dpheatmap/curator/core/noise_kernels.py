"""The compiled loops of the noise sampler, from integers to integers."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dpheatmap._util.jit import njit
from dpheatmap.place.quadtree import Ints


@njit(cache=True)
def look_up(table: NDArray[np.int16], words: NDArray[np.uint16], weight: int, totals: Ints, undecided: Ints) -> int:
    """Add ``weight`` times each word's outcome to the totals; list the words whose outcome the table leaves open."""
    count = 0
    for i in range(len(words)):
        outcome = table[words[i]]
        undecided[count] = i
        count += outcome < 0
        totals[i] += weight * max(outcome, 0)
    return count


@njit(cache=True)
def search(
    floors: NDArray[np.uint64], starts: Ints, words: NDArray[np.uint64], weights: Ints, totals: Ints, ties: Ints
) -> int:
    """Look each word up among the floors of its factor, ``floors[starts[f] : starts[f + 1]]`` for row f of the words.

    Outcomes times the factor's weight are added to the head (row 0 of the totals, factor 0) or to the magnitude
    (row 1, the digits). Words equal to a floor are listed instead, as ``f * size + i``.
    """
    size = words.shape[1]
    count = 0
    for f in range(len(starts) - 1):
        for i in range(size):
            low, high = starts[f], starts[f + 1]
            while low < high:
                middle = (low + high) >> 1
                if floors[middle] < words[f, i]:
                    low = middle + 1
                else:
                    high = middle
            if low < starts[f + 1] and floors[low] == words[f, i]:
                ties[count] = f * size + i
                count += 1
            else:
                totals[min(f, 1), i] += weights[f] * (low - starts[f])
    return count


@njit(cache=True)
def finish(totals: Ints, block: int, largest: int, noise: Ints) -> None:
    """Turn heads (row 0) and digits (row 1) into noise: 0, or sign times 1 + R * block + digits, up to largest."""
    most = largest // block
    for i in range(len(noise)):
        head = totals[0, i]
        magnitude = min(1 + min((head - 1) >> 1, most) * block + totals[1, i], largest)
        noise[i] = (2 * (head & 1) - 1) * magnitude if head > 0 else 0


def load() -> None:
    """Compile all of them, or load them from the cache; on a new machine that takes seconds."""
    one, two = np.zeros(1, np.int64), np.zeros((2, 1), np.int64)
    look_up(np.zeros(1, np.int16), np.zeros(1, np.uint16), 1, one, np.zeros(2, np.int64))
    search(np.zeros(1, np.uint64), np.zeros(2, np.int64), np.zeros((1, 1), np.uint64), one, two, one)
    finish(two, 1, 1, one)
