"""Collections without the network, for experiments: the same arithmetic, with shares left out where they cancel."""

from __future__ import annotations

import os
from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike

from dpheatmap.collect.contribution import decoded_shares, noisy, server_noise, vector_of
from dpheatmap.collect.shares import signed
from dpheatmap.collect.terms import Terms
from dpheatmap.curator.noise import Source
from dpheatmap.release import Release


def simulated(terms: Terms, people: Iterable[tuple[ArrayLike, ArrayLike]], source: Source = os.urandom) -> Release:
    """The release of these people, each given by the x and y of their points, on these terms.

    >>> from dpheatmap.domain import Domain
    >>> terms = Terms.of("servers", Domain.unit(4), epsilon=1, n_min=2, n_max=100)
    >>> simulated(terms, [([0.1, 0.2], [0.1, 0.1])] * 50).mechanism
    Mechanism(trusted='servers', summed=Fraction(2, 1), participants=50)
    """
    total, count = np.zeros(terms.tree.size, dtype=np.int64), 0
    for x, y in people:
        vector = vector_of(terms, *terms.tree.leaves(x, y))
        total += vector if terms.model == "servers" else noisy(terms, vector, source)
        count += 1
    words = total.astype(np.uint64)
    if terms.model == "servers":
        sums = decoded_shares([words, *(server_noise(terms, source) for _ in range(terms.servers))])
    else:
        sums = signed(words, terms.modulus_bits, terms.largest_sum)
    return terms.release(sums, count, seeded=source is not os.urandom)
