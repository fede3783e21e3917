"""Counts to a Release: the one place where data crosses the wall.

**Contract of `measure_levels`** (the paper's Algorithm 1, lazily). Given counts in which one person weighs at most
W units in every level, and shares that add up to SHARES, the returned measurements are epsilon-DP for adding or
removing one person's whole data.

**Why.** Number the levels q .. L and let eps_i be their parts, sum eps_i = epsilon.

1. *One level.* The cells visited at level i are fixed by what was measured above. Their true counts form a part of the
   level's vector, which one person changes by at most W in L1 norm. Each count gets its own discrete Laplace noise
   of rate eps_i / W. For any integer vector z, moving the true counts by the vector d multiplies the probability of
   seeing z by at most ``prod_v exp(|d_v| eps_i / W) <= exp(eps_i)``. This is exact: counts and noise are integers, and
   the noise has exactly that law (`noise.py`).
2. *Adaptivity.* Which cells are visited at level i + 1 is a function of the *noisy* values of level i and of the public
   domain: neither the true counts nor anything else of the data enters. So, given the outputs so far, the next step is
   a fixed mechanism, the same for neighbouring data.
3. *Composition.* The probability of a whole output is the product of the steps' conditional probabilities, and each
   ratio is at most exp(eps_i): the product is at most exp(sum eps_i) = exp(epsilon), for every output. The shares are
   integers with sum SHARES, so the sum is epsilon exactly.

**Lazy noise has the law of full noise.** Algorithm 1 as printed adds independent noise to every cell of every level;
the selection then looks at the cells it reaches only. Drawing a cell's noise when it is reached instead of beforehand
changes nothing: noise is independent of everything else, so the joint law of (visited cells, their noisy values) is the
same. The set of visited cells is a function of published values, so publishing it tells nothing new.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from fractions import Fraction
from functools import lru_cache
from types import MappingProxyType

import numpy as np

from dpheatmap.budget import SHARES, UNITS, part
from dpheatmap.curator.counts import Counts
from dpheatmap.curator.noise import DiscreteLaplace, Source, discrete_laplace, saturating_add
from dpheatmap.release import Measurements
from dpheatmap.selection import all_cells, next_cells


def measure_levels(
    counts: Counts, epsilon: Fraction, shares: Mapping[int, int], width: int, source: Source = os.urandom
) -> Measurements:
    """Measure all cells of the first level, then, level by level, the children of the ``width`` largest noisy ones."""
    if sum(shares.values()) != SHARES:
        raise ValueError("the shares of the levels must add up to epsilon")
    noise = noise_of_levels(epsilon, tuple(shares.items()))
    first, domain = min(shares), counts.domain
    cells = all_cells(domain, first)
    found = []
    for level in range(first, max(shares) + 1):
        noisy = saturating_add(counts.at(level, cells), noise[level].sample(len(cells), source))
        found.append((np.full(len(cells), level), cells, noisy, np.full(len(cells), shares[level])))
        cells = next_cells(domain, level, cells, noisy, None if level == first else width)
    return Measurements(*(np.concatenate(column) for column in zip(*found, strict=True)))


@lru_cache(maxsize=16)
def noise_of_levels(epsilon: Fraction, shares: tuple[tuple[int, int], ...]) -> Mapping[int, DiscreteLaplace]:
    """The noise of each level: rate eps_i / W, as exact fractions. Refuses an epsilon that is too small for it."""
    return MappingProxyType({level: discrete_laplace(part(epsilon, share) / UNITS) for level, share in shares})
