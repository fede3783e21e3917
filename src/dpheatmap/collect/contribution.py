"""The arithmetic of a contribution on a device.

**Contract of `vector_of`.** Whatever one person's points are, each level of the vector has non-negative integers whose
sum is B, or all zeros for somebody with nothing inside the domain. So replacing a person's data by nothing changes
level i by B in L1 norm. With servers there is one level, the finest.

**Why sums of `noisy_vector` are private.** With n_min or more honest people, the noise of level i is discrete Laplace
of rate eps_i / B, plus independent noise (`polya.py`): for any integers, moving the true sums by d multiplies the
probability of level i's values by at most ``exp(|d|_1 eps_i / B) = exp(eps_i)``. Levels are independent, and the eps_i
add up to epsilon. `shuffle_bound.py` shows that the shuffled shares reveal hardly more than these sums.
"""

from __future__ import annotations

import os

import numpy as np

from dpheatmap.collect.additive_shares import Words, split
from dpheatmap.collect.polya import polya_difference
from dpheatmap.collect.server_terms import ServerTerms
from dpheatmap.collect.shuffle_terms import ShuffleTerms
from dpheatmap.collect.tree import round_weights
from dpheatmap.curator import Source
from dpheatmap.place.quadtree import Ints


def vector_of(terms: ServerTerms | ShuffleTerms, codes: Ints, weights: Ints, source: Source = os.urandom) -> Ints:
    """Turn one person's weights of last-level cells, in Morton order, into units of 1/B in all cells that are sent."""
    return terms.tree.sum_levels(codes, round_weights(weights, terms.units, source))


def noisy_vector(terms: ShuffleTerms, vector: Ints, source: Source = os.urandom) -> Ints:
    """Add a person's part of the noise to their vector."""
    vector = vector.copy()
    for level, rate in terms.rates.items():
        here = terms.tree.part(level)
        vector[here] += polya_difference(rate, terms.n_min).sample(here.stop - here.start, source)
    return vector


def messages(terms: ShuffleTerms, vector: Ints, source: Source = os.urandom) -> Words:
    """All messages (coordinate, share) of a vector, as numbers ``coordinate * Q + share``."""
    coordinates = np.arange(len(vector), dtype=np.uint64) << np.uint64(terms.modulus_bits)
    return (split(vector, terms.shares, terms.modulus_bits, source) | coordinates).ravel()
