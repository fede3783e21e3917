"""Collections without the network, for experiments: the same arithmetic, with shares left out where they cancel."""

from __future__ import annotations

import os
from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike

from dpheatmap.collect.contribution import decoded_shares, noisy, server_noise, vector_of
from dpheatmap.collect.local import LocalTerms
from dpheatmap.collect.shares import signed
from dpheatmap.collect.tally import Tally
from dpheatmap.collect.terms import Terms
from dpheatmap.curator.noise import Source, discrete_laplace
from dpheatmap.quadtree import Ints
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
        vector = vector_of(terms, *terms.tree.leaves(x, y), source)
        total += vector if terms.model == "servers" else noisy(terms, vector, source)
        count += 1
    words = total.astype(np.uint64)
    if terms.model == "servers":
        sums = decoded_shares([words, *(server_noise(terms, source) for _ in range(terms.servers))])
    else:
        sums = signed(words, terms.modulus_bits, terms.largest_sum)
    return terms.release(sums, count, seeded=source is not os.urandom)


def simulated_together(terms: Terms, people: Iterable[tuple[ArrayLike, ArrayLike]], source: Source) -> Release:
    """The release of exactly n_min people in the shuffle model, with all their noise drawn at once.

    The parts of n_min people add up to a discrete Laplace exactly (`polya.py`), so that this has the law of `simulated`
    in a fiftieth of its time.
    """
    vectors = [vector_of(terms, *terms.tree.leaves(x, y), source) for x, y in people]
    if terms.model != "shuffle" or len(vectors) != terms.n_min:
        raise ValueError("only n_min people in the shuffle model have a whole Laplace")
    sums = np.sum(vectors, axis=0)
    for level, rate in terms.rates.items():
        here = terms.tree.part(level)
        sums[here] += discrete_laplace(rate).sample(here.stop - here.start, source)
    return terms.release(sums, len(vectors), seeded=source is not os.urandom)


def simulated_locally(terms: LocalTerms, finest: Ints, rng: np.random.Generator) -> Release:
    """The release of so many people, given by the code of one finest cell each or `NOTHING`, all at once; not private.

    >>> from dpheatmap.domain import Domain
    >>> terms = LocalTerms.of(Domain.unit(3), epsilon=4)
    >>> r = simulated_locally(terms, np.zeros(100_000, np.int64), np.random.default_rng(0))
    >>> bool(abs(r.measurements.counts[0] / r.units - 100_000) < 5000)
    True
    """
    tally = Tally(terms)
    cells = finest >> 2 * (terms.domain.depth - terms.design.last)  # which leaves `NOTHING` as it is
    levels = terms.drawn_levels(len(cells), rng.bytes)
    for level, how in terms.responses.items():
        told = terms.values(level, cells[levels == level])
        tally.add_many(level, how.simulated_tally(told, rng), len(told))
    return tally.release(seeded=True)
