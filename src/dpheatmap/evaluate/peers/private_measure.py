"""The private measure mechanism (He, Vershynin, Zhu 2023, "Algorithmically Effective DP Synthetic Data")."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from dpheatmap.curator import Curator
from dpheatmap.estimate.distribution import Distribution
from dpheatmap.place.domain import Domain, Floats
from dpheatmap.place.quadtree import Ints, children, decode

TOTAL = Fraction(1, 20)
BRANCHES = 4
MOST_LEAVES = 2**20


def pmm(curator: Curator) -> Distribution:
    """Count all levels of a hierarchical partition, with optimal noise for EMD, and make them consistent top-down.

    The authors bound the EMD by ``sum_j s_j D_(j-1) / n`` plus the leaves' diameter, where s_j is the scale of the
    noise on level j and D_j the sum of the diameters of its cells: mass moved by noise on a cell stays in its parent.
    Under ``sum_j 1 / s_j = eps`` this is least if ``eps_j = 1 / s_j`` is proportional to ``sqrt(D_(j-1))``; in the
    plane it grows with the level, by sqrt 2 here. The levels end where there are about eps n cells.

    *How epsilon is spent.* On the number of people 5 %, which also is the root's count (theirs gets about that), the
    rest on the levels as above. Each level's question is about disjoint cells; the levels' costs add up.

    *What is different.* They split in two and know n. Here a cell splits in four, one level of theirs for x and one
    for y at once: half as many levels share epsilon, and the bound is the same up to a constant. They put a cell's
    mass on a point of it; here it lies evenly in the cell, which is never further than their bound and nearer on
    average. The first level measured is that of PrivTree's roots. Nothing is measured below a cell of mass 0: all
    would be set to 0, so the result has the same law.
    """
    domain = curator.domain
    people = max(curator.total(curator.part(TOTAL)), 0.0)
    levels = _levels(domain, float(curator.epsilon) * people)
    shares, left = _shares(domain, levels), curator.rest
    codes, family, mass = (
        domain.codes(levels[0]),
        np.zeros(domain.count(levels[0]), np.int64),
        np.array([people]),
    )
    for level in levels[:-1]:
        mass = split_masses(mass, family, curator.cells(level, codes, left * shares[level]))
        alive = mass > 0.0
        codes, mass = children(codes[alive]), mass[alive]
        family = np.repeat(np.arange(len(mass)), BRANCHES)
        inside = domain.meets(level + 1, *decode(codes))
        codes, family = codes[inside], family[inside]
    mass = split_masses(mass, family, curator.cells(levels[-1], codes, curator.rest))
    return Distribution.from_people(domain, np.full(len(codes), levels[-1]), codes, mass)


def _levels(domain: Domain, signal: float) -> range:
    """The levels from PrivTree's roots to the one whose number of cells is nearest to eps n, in steps of four."""
    first = domain.first_level(BRANCHES)
    return range(first, max(first, domain.first_level(int(np.clip(2.0 * signal, BRANCHES, MOST_LEAVES)))) + 1)


def _shares(domain: Domain, levels: range) -> dict[int, Fraction]:
    """Parts of the rest of epsilon, proportional to the square root of the sum of diameters one level up."""
    top = domain.cells(levels[0])
    above = [max(top.columns, top.rows) / 2.0 ** levels[0]]
    above += [domain.count(level) / 2.0**level for level in levels[:-1]]
    root = np.sqrt(above)
    return {
        level: Fraction(share).limit_denominator(2**32) for level, share in zip(levels, root / root.sum(), strict=True)
    }


def split_masses(mass: Floats, family: Ints, noisy: Floats) -> Floats:
    """Compute non-negative masses of children that add up to their parents', ``mass[family]``, from noisy counts.

    Children of one parent are adjacent, in the order of the parents; each parent has one to four.

    Negative counts become 0. Where the children's sum is then too large, each loses the same amount, but not more than
    it has; where it is too small, each gains the same. So all children of a cell change in one direction, as the
    authors require: this never moves more than the difference of the sums.

    >>> split_masses(np.array([6.0, 1.0]), np.array([0, 0, 0, 1, 1]), np.array([5.0, 4.0, -2.0, -1.0, 0.5])).tolist()
    [3.5, 2.5, 0.0, 0.25, 0.75]
    """
    size = np.bincount(family, minlength=len(mass))
    slot = np.arange(len(family)) - (np.cumsum(size) - size)[family]
    held = np.zeros((len(mass), BRANCHES))
    held[family, slot] = np.maximum(noisy, 0.0)
    # If the k largest alone lost the surplus, it would be (their sum - mass) / k each. The right k is where this is
    # largest: up to there the next one has more than that, beyond it less.
    sums = np.cumsum(-np.sort(-held, axis=1), axis=1)
    surplus = sums - mass[:, None]
    give = np.where(surplus[:, -1] < 0.0, surplus[:, -1] / size, (surplus / np.arange(1, BRANCHES + 1)).max(axis=1))
    return np.maximum(held[family, slot] - give[family], 0.0)
