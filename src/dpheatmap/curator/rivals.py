"""A curator for other mechanisms, who answers questions about counts with noise until epsilon is spent.

Rivals and baselines are outside the wall. All they see of people are the answers of a :class:`Curator`, each paid for.
What they compute from them is post-processing, so their privacy is that of the questions below.

**Contract.** Everything a Curator answers, taken together, is epsilon-DP for adding or removing one person's whole
data, whatever is asked and however questions depend on earlier answers: each answer is DP for the part of epsilon that
it names, given the answers before it, and parts that add up to more than epsilon are refused (basic composition).
Nothing is known for free, not even the number of people: it is a question like any other.

In what follows one person changes the finest cells' weights by a non-negative integer vector d with sum at most W
units. It is enough to bound by eps / W the log-ratio of an answer's probabilities when *one unit* is added to one
finest cell: going from a data set to its neighbour takes at most W such steps, and log-ratios add up.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from dpheatmap.curator.allowances import Allowances
from dpheatmap.curator.core.counts import Counts
from dpheatmap.curator.core.noise import Source, discrete_laplace
from dpheatmap.curator.core.publishing import add_noise
from dpheatmap.curator.half_deviations import half_deviations, without_overflow
from dpheatmap.design.shares import FARTHEST, UNITS, read_epsilon
from dpheatmap.errors import ParameterError
from dpheatmap.place.domain import CellRange, Domain, Floats
from dpheatmap.place.quadtree import Ints, decode

BRANCHES = 4
HALF = 2**31 - 1
LOG_BRANCHES = Fraction("1.38629436111989062")  # ln 4, rounded up


class Curator:
    """A curator who answers questions about counts with noise, as long as epsilon lasts."""

    def __init__(self, counts: Counts, epsilon: object, source: Source | None = None) -> None:
        self._counts = counts
        self._source = os.urandom if source is None else source
        self.epsilon = read_epsilon(epsilon)
        self.rest = self.epsilon

    @property
    def domain(self) -> Domain:
        """The public place."""
        return self._counts.domain

    def part(self, share: Fraction | float) -> Fraction:
        """A share of the whole epsilon, as an exact fraction that is never more than what is left."""
        return min(self.epsilon * Fraction(share).limit_denominator(2**32), self.rest)

    def total(self, epsilon: Fraction) -> float:
        """The noisy number of people."""
        return float(self.cells(np.zeros(1, np.int64), np.zeros(1, np.int64), epsilon)[0])

    def cells(self, levels: Ints | int, codes: Ints, epsilon: Fraction) -> Floats:
        """The noisy numbers of people in disjoint cells, of one level or of several.

        *Why it is epsilon-DP.* The cells are disjoint, so one unit more changes one of the counts by one, and noise of
        rate eps / W multiplies the probability of any answer by at most exp(eps / W).
        """
        levels = np.broadcast_to(np.asarray(levels, np.int64), np.shape(codes))
        counts = self._exact(levels, codes)
        begin, end = (at << (2 * (self.domain.depth - levels)) for at in (codes, codes + 1))
        order = np.argsort(begin)
        if np.any(end[order][:-1] > begin[order][1:]):
            raise ParameterError("The cells of one question must be disjoint; some overlap. Ask for them separately.")
        return self._noisy(counts, epsilon) / UNITS

    def regions(self, labels: Ints, epsilon: Fraction) -> Floats:
        """The noisy numbers of people in regions 0, 1, ... of the grid of finest cells; a label below 0 is no region.

        *Why it is epsilon-DP.* A cell has one label, so regions are disjoint: as for :meth:`cells`.
        """
        finest = self.domain.cells(self.domain.depth)
        if labels.shape != (finest.rows, finest.columns):
            raise ParameterError(
                f"Labels must have the shape of the finest cells, {finest.rows} x {finest.columns}; "
                f"it was {labels.shape}. Give one label a cell."
            )
        x, y = decode(self._counts.codes)
        sums = self._sums(labels[y - finest.y0, x - finest.x0], int(labels.max(initial=-1)) + 1)
        return self._noisy(sums, epsilon) / UNITS

    def rings(self, boxes: Sequence[CellRange], epsilon: Fraction) -> Floats:
        """The noisy numbers of people outside all boxes of finest cells, in each but not in the next, and in the last.

        *Why it is epsilon-DP.* A cell belongs to one ring, by the number of boxes before the first that it is not in.
        So rings are disjoint: as for :meth:`cells`.
        """
        x, y = decode(self._counts.codes)
        ring, inside = np.zeros(len(x), np.int64), np.ones(len(x), np.bool_)
        for box in boxes:
            inside &= (x >= box.x0) & (x < box.x1) & (y >= box.y0) & (y < box.y1)
            ring += inside
        return self._noisy(self._sums(ring, len(boxes) + 1), epsilon) / UNITS

    def deviations(self, codes: Ints, starts: Ints, epsilon: Fraction) -> Floats:
        """The unevenness of people inside buckets of finest cells: noisy half deviations, in people.

        Bucket k holds the cells ``codes[starts[k] : starts[k + 1]]``, the last one the rest; its half deviation is
        half the sum of ``|count - mean count|`` over its cells.

        *Why it is epsilon-DP.* No cell occurs twice, so buckets are disjoint: one unit more changes one of the half
        deviations, rounded down to units, by at most one (see `half_deviations`), and noise of rate
        eps / W multiplies the probability of any answer by at most exp(eps / W).
        """
        twice = np.any(np.diff(np.sort(codes)) == 0)
        if twice or len(starts) == 0 or starts[0] != 0 or np.any(np.diff(starts, append=len(codes)) <= 0):
            raise ParameterError("The buckets of one question must be disjoint and not empty. Ask for them separately.")
        weights = without_overflow(self._exact(np.full(len(codes), self.domain.depth), codes))
        return self._noisy(np.minimum(half_deviations(weights, starts), FARTHEST).astype(np.int64), epsilon) / UNITS

    def furthest(self, levels: Ints, codes: Ints, people: Floats, epsilon: Fraction) -> int:
        """The position of a cell whose true number of people is far from the one given: report noisy max.

        The winner is the largest of ``|count - guess| + noise``, in units, the noise of rate ``eps / 2W``; of equal
        ones it is the first. The cells may overlap.

        *Why it is epsilon-DP.* Let i win. Fix everybody else's noise: i wins iff its own noise is at least a threshold
        t, which is the largest of the others' noisy scores (plus one for those that come first) minus i's score. One
        unit more moves every score by at most one, so t by at most two, and the probability that discrete Laplace noise
        of rate r reaches a threshold changes by a factor of at most exp(2 r) = exp(eps / W). This holds whatever the
        others' noise, hence on average over it. Sums are not clipped, since clipped ones would tie: scores up to 2^61
        and noise up to 2^62 fit into 64 bits. (Noise is cut there, with probability below exp(-1000) for an epsilon of
        1e-6 or more.)
        """
        guess = np.rint(np.clip(people, 0, 2**30) * UNITS).astype(np.int64)
        scores = np.abs(self._exact(levels, codes) - guess)
        return int(np.argmax(scores + self._noise(len(scores), epsilon, sensitivity=2)))

    def allowances(self, side: int, epsilon: Fraction) -> Allowances:
        """Pay once, and let every block of ``side x side`` finest cells spend that part of epsilon for itself.

        Blocks begin at the grid's first row and column; those at the far edges may be cut off.

        *Why it is epsilon-DP.* A finest cell lies in one block, so one unit more changes one block's weight by one: see
        :mod:`~dpheatmap.curator.allowances`.
        """
        finest = self.domain.cells(self.domain.depth)
        rows, columns = -(-finest.rows // side), -(-finest.columns // side)
        x, y = decode(self._counts.codes)
        block = (y - finest.y0) // side * columns + (x - finest.x0) // side
        self._spend(epsilon)
        return Allowances(self._sums(block, rows * columns).reshape(rows, columns), epsilon, self._source)

    def private_tree(self, epsilon: Fraction) -> tuple[Ints, Ints]:
        """PrivTree (Zhang, Xiao, Xie 2016): levels and codes of the leaves of a tree that is finer where people are.

        Roots are the cells of the deepest level that has at most four. A cell v at depth k below its root, of count c
        units, is split iff ``max(c - k delta, -delta) + noise > 0``, the noise discrete Laplace of rate a, with

            a = eps / (g W),   g = (2 beta - 1) / (beta - 1),   delta >= ln(beta) / a,   beta = 4.

        That is the authors' scale and their recommended threshold of 0. The finest cells are not split, and children
        that don't meet the domain are not made.

        *Why it is epsilon-DP, for fractional weights too.* Let S(x) = P(x + noise > 0) and q = exp(-a). For x <= 0,
        ``S(x) = q^(1-x) / (1 + q)``, so ``log S(x+1) - log S(x) = a``. For x >= 1, ``S(x) = 1 - q^x / (1 + q)``, and
        the difference is ``log(1 + q^x (1 - q) / (1 + q - q^x)) <= q^x (1 - q) <= a q^x``. So it is at most
        ``a min(1, q^x)``: the hazard of the noise, which decays above the threshold.

        Add one unit to one finest cell, and fix a tree. Only decisions on the path from a root to that cell change. Let
        ``x_k = c_k - k delta`` be the path's values before clipping. Counts don't grow on the way down, so
        ``x_(k-1) >= x_k + delta``. A cell with ``x_k < -delta`` is clipped before and after, and its decision does not
        change. Let j be the deepest *split* cell with ``x_j >= -delta``. It contributes at most a; then x_(j-1) >= 0
        contributes at most a, x_(j-2) >= delta at most ``a q^delta <= a / beta``, the next a / beta^2, and so on:
        together at most ``a (1 + beta / (beta - 1)) = a g = eps / W``. The path's last cell, if it is a leaf by
        decision, becomes less likely to stay one, by a log-ratio between -a and 0. So the tree's log-ratio lies
        between -a and eps / W. It needs neither whole people nor equal weights.
        """
        self._spend(epsilon)
        rate = epsilon * (BRANCHES - 1) / ((2 * BRANCHES - 1) * UNITS)
        noise = discrete_laplace(rate)
        delta = -(-LOG_BRANCHES // rate)
        first, finest = self.domain.first_level(BRANCHES), self.domain.depth
        cells, leaves = self.domain.codes(first), []
        for level in range(first, finest):
            value = np.maximum(self._counts.at(level, cells) - (level - first) * delta, -delta)
            split = add_noise(value + delta, noise.sample(len(cells), self._source)) > delta
            leaves.append(cells[~split])
            cells = self.domain.children(level, cells[split])
        leaves.append(cells)
        return np.repeat(np.arange(first, finest + 1), [len(c) for c in leaves]), np.concatenate(leaves)

    def _sums(self, label: Ints, count: int) -> Ints:
        """The weights of so many groups of the occupied cells; a label below 0 is no group.

        They are added up in two halves, so that no number of people is too large, and then clipped at the noise's
        limit.
        """
        weights, some = np.diff(self._counts.sums), label >= 0
        low, high = np.zeros((2, count), np.int64)
        np.add.at(low, label[some], weights[some] & HALF)
        np.add.at(high, label[some], weights[some] >> 31)
        high += low >> 31
        return np.where(high >= FARTHEST >> 31, FARTHEST, (high << 31) | (low & HALF))

    def _exact(self, levels: Ints, codes: Ints) -> Ints:
        """The weights of cells; refuses what is not a cell, so that no overlap can hide behind a number that wraps."""
        known = (levels >= 0) & (levels <= self.domain.depth)
        if not known.all() or np.any((codes < 0) | (codes >> (2 * np.clip(levels, 0, self.domain.depth)) != 0)):
            raise ParameterError(
                f"A cell must have a level from 0 to {self.domain.depth} and a code below 4^level; one has not. "
                "Ask for cells of the domain's quadtree."
            )
        counts = np.empty(len(codes), np.int64)
        for level in np.unique(levels):
            counts[levels == level] = self._counts.at(int(level), codes[levels == level])
        return counts

    def _noisy(self, counts: Ints, epsilon: Fraction) -> Ints:
        """Add noise to counts; sums are clipped at the noise's limit."""
        return add_noise(counts, self._noise(len(counts), epsilon))

    def _noise(self, size: int, epsilon: Fraction, sensitivity: int = 1) -> Ints:
        """Draw noise of rate eps / (sensitivity W), after paying for it."""
        self._spend(epsilon)
        return discrete_laplace(epsilon / (sensitivity * UNITS)).sample(size, self._source)

    def _spend(self, epsilon: Fraction) -> None:
        if not isinstance(epsilon, Fraction) or epsilon <= 0 or epsilon > self.rest:
            raise ParameterError(
                f"A question must cost a fraction above 0 and at most what is left of epsilon, {self.rest}; "
                f"it was {epsilon!r}. Split the budget first."
            )
        self.rest -= epsilon
