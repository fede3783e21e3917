"""The arithmetic of a contribution on a device, and of the noise of a server that sums contributions.

**Contract of `vector_of`.** Whatever one person's points are, each level of the vector has non-negative integers whose
sum is B, or all zeros for somebody with nothing inside the domain. So replacing a person's data by nothing changes
level i by B in L1 norm.

**Why sums of `noisy_vector` are private.** With n_min or more honest people, the noise of level i is discrete Laplace
of rate eps_i / B, plus independent noise (`polya.py`): for any integers, moving the true sums by d multiplies the
probability of level i's values by at most ``exp(|d|_1 eps_i / B) = exp(eps_i)``. Levels are independent, and the eps_i
add up to epsilon. `shuffle_bound.py` shows that the shuffled shares reveal hardly more than these sums.

**Why sums of servers are private.** `server_noise` is a whole discrete Laplace of rate eps_i / B for each coordinate.
Take one honest server and let all others, and everybody else, collude. Of a person's vector z they know all shares but
one, so what the honest server publishes, its sum of shares plus noise, is to them z plus known numbers plus noise, mod
2^64: epsilon-DP by the same argument, with no delta. They choose the set of clients that it sums; the argument holds
for each set, as long as the server publishes one sum only.
"""

from __future__ import annotations

import os

import numpy as np

from dpheatmap.collect.additive_shares import Words, signed_integers, split
from dpheatmap.collect.polya import polya_difference
from dpheatmap.collect.terms import WORD, Terms
from dpheatmap.collect.tree import round_weights
from dpheatmap.curator import LARGEST, DiscreteLaplace, Source, discrete_laplace
from dpheatmap.place.quadtree import Ints


def vector_of(terms: Terms, codes: Ints, weights: Ints, source: Source = os.urandom) -> Ints:
    """Turn one person's weights of last-level cells, in Morton order, into units of 1/B in all cells of all levels."""
    return terms.tree.sum_levels(codes, round_weights(weights, terms.units, source))


def noisy_vector(terms: Terms, vector: Ints, source: Source = os.urandom) -> Ints:
    """Add a person's part of the noise to their vector."""
    vector = vector.copy()
    for level, rate in terms.rates.items():
        here = terms.tree.part(level)
        vector[here] += polya_difference(rate, terms.n_min).sample(here.stop - here.start, source)
    return vector


def messages(terms: Terms, vector: Ints, source: Source = os.urandom) -> Words:
    """All messages (coordinate, share) of a vector, as numbers ``coordinate * Q + share``."""
    coordinates = np.arange(len(vector), dtype=np.uint64) << np.uint64(terms.modulus_bits)
    return (split(vector, terms.shares, terms.modulus_bits, source) | coordinates).ravel()


def server_noise(terms: Terms, source: Source = os.urandom) -> Words:
    """Draw one server's noise for all coordinates, mod 2^64."""
    parts = [(discrete_laplace(rate), terms.tree.part(level)) for level, rate in terms.rates.items()]
    return np.concatenate([wrapped_noise(law, here.stop - here.start, source) for law, here in parts])


def wrapped_noise(law: DiscreteLaplace, size: int, source: Source, largest: int = LARGEST) -> Words:
    """Draw discrete Laplace noise mod 2^64.

    The sampler returns magnitudes from ``largest`` on as ``largest``, and a sum mod 2^64 can't saturate as a curator's
    counts do. A geometric variable has no memory: the excess over ``largest`` has the law of a magnitude above 0, less
    one.
    """
    noise = law.sample(size, source)
    words = noise.astype(np.uint64)
    cut = np.flatnonzero(np.abs(noise) == largest)
    while len(cut):
        further = np.abs(law.sample(len(cut), source))
        words[cut] += (np.sign(noise[cut]) * np.maximum(further - 1, 0)).astype(np.uint64)
        cut = cut[(further == 0) | (further == largest)]
    return words


def decode_shares(sums: list[Words]) -> Ints:
    """Add up the published sums of all servers, and decode them."""
    return signed_integers(np.sum(sums, axis=0, dtype=np.uint64), WORD, 0)
