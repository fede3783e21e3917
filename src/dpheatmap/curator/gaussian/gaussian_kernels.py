"""The compiled loop of the Gaussian sampler, from integers to integers."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dpheatmap._util.jit import njit
from dpheatmap.place.quadtree import Ints


@njit(cache=True)
def von_neumann(
    heads: Ints, digits: Ints, bits: int, scale: int, words: NDArray[np.uint32], kept: NDArray[np.int8]
) -> None:
    """Keep proposals with probability ``exp(-g)``, ``g = u (2 R + u) c`` with ``u = d / 2^bits`` and c = scale / 2^32.

    u is known to 24 bits and c to 32, which gives bounds of g in 32 bits. kept is 1, 0, or -1 where the words leave it
    open: where the first lies within the bounds, two words are equal, or there are too few.
    """
    for i in range(len(heads)):
        u = digits[i] >> (bits - 24) if bits > 24 else digits[i] << (24 - bits)
        low = (((u * ((heads[i] << 25) + u)) >> 25) * scale) >> 23
        high = ((((((u + 1) * ((heads[i] << 25) + u + 1)) >> 25) + 1) * (scale + 1)) >> 23) + 1
        word = np.int64(words[i, 0])
        kept[i] = 1 if word >= high else -1
        if word < low:
            for n in range(1, words.shape[1]):
                after = np.int64(words[i, n])
                if after >= word:
                    kept[i] = -1 if after == word else 1 - n % 2
                    break
                word = after


def load() -> None:
    """Compile it, or load it from the cache."""
    one = np.zeros(1, np.int64)
    von_neumann(one, one, 1, 1, np.zeros((1, 1), np.uint32), np.zeros(1, np.int8))
