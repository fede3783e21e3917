"""Allowances: a part of epsilon that every block of cells spends for itself.

A tree that is grown by noisy answers stops early in some places. What a place has not spent by then belongs to it, and
may go into a better count of it. A :class:`~dpheatmap.curator.Curator` charges a question to everybody, so the rest
would be lost. :class:`Allowances` charge it to the blocks that it is about.

**Contract.** All answers together are epsilon-DP for the epsilon that was paid at the start, whatever is asked and
however questions depend on earlier answers.

*Why.* Let one unit be added to one block b, and fix all answers. Regions of one question are disjoint, so b lies in at
most one of them, and all others' answers keep their law. The answer about the region of b has noise of rate
``price / W`` and a value that moves by at most one, so its log-ratio is at most price / W. Questions and prices are
functions of earlier answers, which are fixed. So the log-ratio of all answers is at most the sum of what b was charged
divided by W. No block is ever charged more than its allowance, epsilon. A person has at most W units, and log-ratios
add up over them.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from dpheatmap.curator.core.noise import Source, discrete_laplace
from dpheatmap.curator.core.publishing import add_noise
from dpheatmap.curator.half_deviations import half_deviations, without_overflow
from dpheatmap.design.shares import FARTHEST, UNITS
from dpheatmap.errors import ParameterError
from dpheatmap.place.domain import Floats
from dpheatmap.place.quadtree import Ints

PARTS = 2**32
"""Prices are whole numbers of this many parts of the epsilon that was paid."""


class Allowances:
    """Answers about regions of blocks, each charged to its own blocks; made by :meth:`Curator.allowances`."""

    parts = PARTS

    def __init__(self, weights: Ints, epsilon: Fraction, source: Source) -> None:
        self._weights, self._source = weights, source
        self.epsilon = epsilon
        self._left = np.full(weights.shape, PARTS)

    @property
    def left(self) -> Ints:
        """What each block has left, in parts."""
        return self._left.copy()

    def regions(self, labels: Ints, prices: Ints) -> Floats:
        """The noisy numbers of people in regions 0, 1, ... of blocks, at a price each; a label below 0 is no region.

        *Sensitivity.* A block has one label, so one unit more changes one region's weight by one.
        """
        some = self._charge(labels, prices)
        sums = np.zeros(len(prices), object)
        np.add.at(sums, labels[some], self._weights[some])
        return self._noisy(np.minimum(sums, FARTHEST).astype(np.int64), prices)

    def cuts(self, labels: Ints, beyond: NDArray[np.bool_], prices: Ints) -> Floats:
        """The unevenness of regions that are cut in two: noisy sums of the parts' half deviations, in people.

        Region k consists of its blocks that lie ``beyond`` the cut and those that don't. The half deviation of a part
        is half the sum of ``|weight - mean weight|`` over its blocks.

        *Sensitivity.* The parts of all regions are disjoint. One unit more changes one part's half deviation, rounded
        down, by at most one (see `half_deviations`), so one region's sum by at most one.
        """
        some = self._charge(labels, prices)
        part = 2 * labels[some] + beyond[some]
        order = np.argsort(part, kind="stable")
        starts = np.flatnonzero(np.diff(part[order], prepend=-1))
        uneven = half_deviations(without_overflow(self._weights[some][order]), starts)
        sums = np.zeros(len(prices), uneven.dtype)
        np.add.at(sums, part[order][starts] // 2, uneven)
        return self._noisy(np.minimum(sums, FARTHEST).astype(np.int64), prices)

    def _charge(self, labels: Ints, prices: Ints) -> NDArray[np.bool_]:
        """Charge each block of a region the region's price; returns the blocks that lie in a region."""
        if labels.shape != self._left.shape or int(labels.max(initial=-1)) >= len(prices):
            raise ParameterError(
                f"Labels must have the shape of the blocks, {self._left.shape}, and a price each; "
                f"there were {labels.shape} of them and {len(prices)} prices. Give one label a block."
            )
        some: NDArray[np.bool_] = labels >= 0
        if np.any(prices <= 0) or np.any(prices[labels[some]] > self._left[some]):
            raise ParameterError(
                "A region's price must be above 0 and at most what each of its blocks has left. Split the budget first."
            )
        self._left[some] -= prices[labels[some]]
        return some

    def _noisy(self, values: Ints, prices: Ints) -> Floats:
        """Add noise of rate price / W to values of regions; sums are clipped at the noise's limit."""
        noise = np.empty(len(values), np.int64)
        for price in np.unique(prices):
            law = discrete_laplace(self.epsilon * Fraction(int(price), PARTS) / UNITS)
            noise[prices == price] = law.sample(int(np.count_nonzero(prices == price)), self._source)
        return add_noise(values, noise) / UNITS
