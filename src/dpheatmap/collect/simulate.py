"""Simulated collections without the network, for experiments; shares are left out where they cancel."""

from __future__ import annotations

import os
from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike

from dpheatmap.collect.additive_shares import Words, signed_integers
from dpheatmap.collect.contribution import noisy_vector, vector_of
from dpheatmap.collect.local import LocalTerms
from dpheatmap.collect.server_terms import ServerTerms
from dpheatmap.collect.share_sums import ShareSums
from dpheatmap.collect.shuffle_terms import ShuffleTerms
from dpheatmap.collect.tally import Tally
from dpheatmap.collect.transcript import ContributionSet, Step, follow
from dpheatmap.curator import Source
from dpheatmap.place.quadtree import Ints
from dpheatmap.releases.measurements import Measurements
from dpheatmap.releases.release import Release

People = Iterable[tuple[ArrayLike, ArrayLike]]
"""The x and y of each person's points."""


def simulate(terms: ServerTerms | ShuffleTerms, people: People, source: Source = os.urandom) -> Release:
    """Simulate the release of these people on these terms.

    >>> from dpheatmap.place.domain import Domain
    >>> terms = ServerTerms.of(Domain.unit(4), epsilon=1, n_min=2, n_max=100)
    >>> simulate(terms, [([0.1, 0.2], [0.1, 0.1])] * 50).trust
    Trust(who='servers', participants=50, unit='person')
    """
    total, count = np.zeros(terms.tree.size, dtype=np.int64), 0
    for x, y in people:
        vector = vector_of(terms, *terms.tree.leaves(x, y), source)
        total += vector if isinstance(terms, ServerTerms) else noisy_vector(terms, vector, source)
        count += 1
    seeded = source is not os.urandom
    if isinstance(terms, ServerTerms):
        return terms.release(_answers(terms, total, count, source), count, seeded=seeded)
    sums = signed_integers(total.astype(np.uint64), terms.modulus_bits, terms.largest_sum)
    return terms.release(sums, count, seeded=seeded)


def _answers(terms: ServerTerms, total: Ints, participants: int, source: Source) -> Measurements:
    """What servers answer, if the first one's shares are everybody's numbers, and those of the others are zeros."""
    rest = np.zeros(len(total), np.uint64)
    servers = [ShareSums(terms, total.astype(np.uint64)), *(ShareSums(terms, rest) for _ in range(terms.servers - 1))]

    def hear(step: Step) -> list[Words]:
        return [server.answer(step.asked, source) for server in servers]

    return follow(terms, ContributionSet(participants, bytes(32)), hear).measured


def simulate_together(terms: ShuffleTerms, people: People, rng: np.random.Generator) -> Release:
    """Simulate the release of exactly n_min people with all noise drawn at once: the law of `simulate`, not private.

    The parts of n_min people add up to a discrete Laplace (`polya.py`). If E is exponential, ``floor(E / a)`` is
    geometric of ratio exp(-a), and the difference of two such is a discrete Laplace of rate a. So one pair of E for
    each coordinate gives the noise of every B: with a = eps_i / B it is, in people, ``(E - E') / eps_i`` to within 1 /
    B. From a generator in the same state all terms on a domain have the *same* noise up to that.

    >>> from dpheatmap.place.domain import Domain
    >>> coarse, fine = (
    ...     ShuffleTerms.of(Domain.unit(2), epsilon=1, delta=1e-3, n_min=5, n_max=5, units=units)
    ...     for units in (2**6, 2**20)
    ... )
    >>> people = [([0.1], [0.1])] * 5
    >>> a, b = (simulate_together(terms, people, np.random.default_rng(1)) for terms in (coarse, fine))
    >>> apart = np.abs(a.measurements.counts / a.units - b.measurements.counts / b.units)
    >>> bool(np.all(apart < 1 / 2**6 + 1 / 2**20))
    True
    """
    of_noise, of_rounding = rng.spawn(2)
    vectors = [vector_of(terms, *terms.tree.leaves(x, y), of_rounding.bytes) for x, y in people]
    if len(vectors) != terms.n_min:
        raise ValueError("only n_min people have a whole Laplace")
    rates = np.empty(terms.tree.size)
    for level, rate in terms.rates.items():
        rates[terms.tree.part(level)] = float(rate)
    up, down = np.floor(of_noise.standard_exponential((2, terms.tree.size)) / rates).astype(np.int64)
    return terms.release(np.sum(vectors, axis=0) + up - down, len(vectors), seeded=True)


def simulate_locally(terms: LocalTerms, finest: Ints, rng: np.random.Generator) -> Release:
    """Simulate the release of people given by the code of one finest cell each, or `NOTHING`; not private.

    >>> from dpheatmap.place.domain import Domain
    >>> terms = LocalTerms.of(Domain.unit(3), epsilon=4)
    >>> r = simulate_locally(terms, np.zeros(100_000, np.int64), np.random.default_rng(0))
    >>> bool(abs(r.measurements.counts[0] / r.units - 100_000) < 5000)
    True
    """
    tally = Tally(terms)
    cells = finest >> 2 * (terms.domain.depth - terms.design.last)  # `NOTHING` stays as it is
    levels = terms.drawn_levels(len(cells), rng.bytes)
    for level, how in terms.responses.items():
        told = terms.values(level, cells[levels == level])
        tally.add_many(level, how.simulate_tally(told, rng), len(told))
    return tally.release(seeded=True)
