"""Instance-optimal estimation in the Wasserstein distance, on trees (Feldman, McMillan, Sivakumar, Talwar 2024)."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from dpheatmap.curator import Curator
from dpheatmap.estimate.distribution import Distribution
from dpheatmap.evaluate.peers.private_measure import BRANCHES, MOST_LEAVES, split_masses
from dpheatmap.place.domain import Domain, Floats
from dpheatmap.place.quadtree import Ints

TOTAL = Fraction(1, 20)
LOCATE = Fraction(1, 2)
"""The part of the rest that looks for the active cells; the other half counts them."""
THRESHOLD = 1.0
"""A cell is active above so many scales of the noise."""

Layer = tuple[int, Ints, NDArray[np.bool_]]
"""A level, the cells that were looked at on it, and which of them are active."""


def active_nodes(curator: Curator) -> Distribution:
    """Look for the cells of a quadtree that hold enough people to be seen, count those, and make them consistent.

    The authors reduce the plane to a tree of cells whose sides halve, in which the EMD is a sum over cells of the error
    of their masses times their diameters. A cell of less than about 1 / (eps n) of the mass can't be told from an empty
    one by any private method, so nothing is lost by not looking below it. The others, few on easy maps, are *active*.

    1. From the top down, the children of active cells are counted. Those whose noisy count exceeds the threshold are
       active. This takes half of epsilon, in equal parts for all levels.
    2. The active cells are counted anew with the other half, again in equal parts for the levels. (Their siblings are
       part of the same question, at no extra cost, and not used.)
    3. The counts are projected onto distributions: from the top down, a cell's mass is shared by its active children
       as in :func:`~dpheatmap.evaluate.peers.private_measure.split_masses`. A cell without active children keeps its
       mass, which lies evenly in it.

    *Privacy.* The cells of one question are disjoint, and which they are depends on earlier answers only. The parts
    for the levels add up. So it is epsilon-DP without a delta.

    *Source.* The paper's abstract and summaries of it; its full text was not at hand. The two stages and the projection
    are its outline as we know it, and details may differ.

    *What is different.* The paper's rates hold up to factors of log n, so depth and threshold are free. Here the tree
    ends where there are about eps n cells, and the threshold is one scale of the noise; of those tried, this has the
    least EMD on public maps. They know n; here 5 % of epsilon pays for it. Levels at which nothing is left to look at
    are not paid for: the counts share what is left. Mass lies evenly in a cell instead of on a point of it. A tree put
    over the plane at random bounds the distortion of distances on average; the quadtree is fixed here, as for all
    methods.
    """
    domain = curator.domain
    people = max(curator.total(curator.part(TOTAL)), 0.0)
    layers = locate(curator, _levels(domain, float(curator.epsilon) * people))
    levels, codes, masses = [], [], []
    mass, family = np.array([people]), np.zeros(len(layers[0][1]), np.int64)
    price = curator.rest / len(layers)
    for k, (level, cells, active) in enumerate(layers):
        shared = share_out(mass, family, active, curator.cells(level, cells, price))
        leaf = ~active if k + 1 < len(layers) else np.ones(len(cells), np.bool_)
        levels.append(np.full(int(leaf.sum()), level))
        codes.append(cells[leaf])
        masses.append(shared[leaf])
        mass = shared[active]
        if k + 1 < len(layers):
            family = np.searchsorted(cells[active], layers[k + 1][1] >> 2)
    return Distribution.from_people(domain, np.concatenate(levels), np.concatenate(codes), np.concatenate(masses))


def locate(curator: Curator, levels: range) -> list[Layer]:
    """Find the active cells from the top down, each level at the same price, as long as there are any."""
    domain, price = curator.domain, curator.rest * LOCATE / len(levels)
    cells, layers = domain.codes(levels[0]), list[Layer]()
    for level in levels:
        active = curator.cells(level, cells, price) > THRESHOLD / float(price)
        if active.any() or not layers:
            layers.append((level, cells, active))
        if not active.any() or level == levels[-1]:
            break
        cells = domain.children(level, cells[active])
    return layers


def share_out(mass: Floats, family: Ints, active: NDArray[np.bool_], noisy: Floats) -> Floats:
    """Share the masses of cells, ``mass[family]``, among their active children; evenly among all where none is active.

    >>> family, active = np.array([0, 0, 0, 1, 1]), np.array([True, True, False, False, False])
    >>> share_out(np.array([6.0, 1.0]), family, active, np.array([5.0, 4.0, 0.0, 0.0, 0.0])).tolist()
    [3.5, 2.5, 0.0, 0.5, 0.5]
    """
    some = np.bincount(family, active, minlength=len(mass)) > 0
    kept = active | ~some[family]
    shared = np.zeros(len(family))
    shared[kept] = split_masses(mass, family[kept], np.where(active, noisy, 0.0)[kept])
    return shared


def _levels(domain: Domain, signal: float) -> range:
    """The levels from PrivTree's roots to the first with about eps n cells."""
    first = domain.first_level(BRANCHES)
    return range(first, max(first, domain.first_level(int(np.clip(signal, BRANCHES, MOST_LEAVES)))) + 1)
