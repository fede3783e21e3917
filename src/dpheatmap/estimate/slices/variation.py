"""How slices differ from the pooled map: one normal posterior of the people in all blocks and all slices.

**Model.** The number of people in block b at slice t is ``m_b w_t (1 + u_b + h_t + g_bt) + s_bt``. Here m_b is what the
pooled map says, and w_t the slice's share of all people, roughly. All further terms are normal with mean zero:

- u_b is the error of the pooled map in b, with the variance of its posterior;
- h_t corrects w_t, and is left free;
- g_bt is how people move: its deviation is the *amplitude*, and it is alike in blocks that are near each other (within
  the *reach*) and in slices that follow each other (within the *memory*, hour 23 next to hour 0). What is the same in
  all slices is in the pooled map, so that the mean of g_bt over all slices, by people, is 0;
- s_bt is the scatter of few visits: its variance is the *scatter* times the expected number.

The noisy counts are these numbers plus noise of a known deviation, which is taken for normal: where blocks are cut,
several people's worth of signal lies above it.

**How alike?** Amplitude, reach, memory and scatter are those of the highest posterior density on a small grid, climbed
from its middle. Amplitude and scatter have exponential priors: with little evidence, slices are taken for alike. An
amplitude of nearly 0 is *no variation*; a large one without reach and memory is *each slice for itself*. For the climb,
blocks are joined until there are at most _FEW numbers.

**Draws** condition a draw of the prior and of the noise on what was measured (Matheron's rule), all slices at once. So
the errors of neighbouring slices are related as they are, and so are those of changes.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from dpheatmap.estimate.posterior.randomness import Randomness
from dpheatmap.place.domain import Floats
from dpheatmap.place.quadtree import Ints
from dpheatmap.slicing.period import Period

_GRID: tuple[tuple[float, ...], ...] = (
    (0.02, 0.05, 0.1, 0.2, 0.4, 0.7, 1.2),  # amplitude
    (0.03, 0.1, 0.3, 1.0),  # reach, in sides of the domain
    (0.0, 1.0, 3.0, 8.0),  # memory, in slices
    (0.0, 0.03, 0.1, 0.3, 1.0),  # scatter
)
_START = 3, 1, 2, 1
_USUAL_AMPLITUDE, _USUAL_SCATTER = 0.2, 0.2  # their prior means: exponential laws
_FREE = 1.0  # the variance of h
_FEW = 900
_LEAST = 1e-3  # of the expected number: what a block has at least


class Variation(NamedTuple):
    """How slices differ."""

    amplitude: float
    reach: float
    memory: float
    scatter: float

    @property
    def log_prior(self) -> float:
        """The logarithm of the probability density of so much variation, up to a constant."""
        return -self.amplitude / _USUAL_AMPLITUDE - self.scatter / _USUAL_SCATTER


@dataclass(frozen=True, eq=False)
class Measured:
    """What is known of blocks: noisy counts by slice, and the pooled map's numbers with their variances.

    ``x`` and ``y`` are the middles of the blocks, in sides of the domain; ``parents`` number the cells of
    coarser levels that blocks are in, the finest first.
    """

    noisy: Floats
    deviations: Floats
    pooled: Floats
    variances: Floats
    x: Floats
    y: Floats
    parents: list[Ints]

    @cached_property
    def expected(self) -> Floats:
        """The number in each slice and block, if slices differ in their number of people alone."""
        least = np.sqrt((self.deviations**2).sum(axis=1))
        volumes = np.maximum(self.noisy.sum(axis=1), least)
        expected: Floats = volumes[:, None] * (self.pooled / self.pooled.sum())
        return expected

    def join(self, most: int) -> Measured:
        """The same with blocks joined until there are at most so many numbers, or one block."""
        found = self
        for parent in self.parents:
            if found.noisy.size <= most:
                break
            found = self._join_in(parent)
        return found

    def _join_in(self, parent: Ints) -> Measured:
        size = int(parent.max()) + 1

        def add(values: Floats) -> Floats:
            return np.stack([np.bincount(parent, row, size) for row in np.atleast_2d(values)])

        weight = add(self.pooled)[0]
        return replace(
            self, noisy=add(self.noisy), deviations=np.sqrt(add(self.deviations**2)), pooled=weight,
            variances=add(self.variances)[0], x=add(self.x * self.pooled)[0] / weight,
            y=add(self.y * self.pooled)[0] / weight, parents=[],
        )  # fmt: skip


def in_time(period: Period | None, slices: int) -> Callable[[float], Floats]:
    """The correlation of slices, given the memory: by how far they are apart, and by the rhythm of days or weeks."""
    at = np.arange(slices)
    apart = np.abs(at[:, None] - at)
    if period is None:
        return lambda memory: np.eye(slices)
    if period.cyclic:
        apart = np.minimum(apart, slices - apart)
    rhythm = period.rhythm

    def correlation(memory: float) -> Floats:
        if memory <= 0.0:
            return np.eye(slices)
        found: Floats = np.exp(-apart / memory)
        if rhythm is not None:
            beat = apart % rhythm
            found = 0.5 * found + 0.5 * np.exp(-np.minimum(beat, rhythm - beat) / memory)
        return found

    return correlation


@dataclass(frozen=True, eq=False)
class SlicesPosterior:
    """The posterior of the numbers of people, given how slices differ."""

    measured: Measured
    in_time: Callable[[float], Floats]
    variation: Variation
    mean_scatter: float = 0.0

    @cached_property
    def _gain(self) -> Floats:
        """The matrix that takes what was measured beyond the expected numbers to what is estimated beyond them."""
        prior = self.prior_covariance
        noise = np.diag(self.measured.deviations.ravel() ** 2)
        return np.linalg.solve(prior + noise, prior).T.astype(np.float64)

    @cached_property
    def means(self) -> Floats:
        """The posterior mean: a row for each slice."""
        expected = self.measured.expected
        return self._hold(expected + (self._gain @ (self.measured.noisy - expected).ravel()).reshape(expected.shape))

    @cached_property
    def deviations(self) -> Floats:
        """The posterior standard deviations."""
        prior = self.prior_covariance
        variances = np.diag(prior) - np.einsum("ij,ji->i", self._gain, prior)
        deviations: Floats = np.sqrt(np.maximum(variances, 0.0)).reshape(self.measured.noisy.shape)
        return deviations

    def draw(self, rng: Randomness) -> Floats:
        """Draw the numbers of people in all slices and blocks."""
        known = self.measured
        drawn = self._prior_draw(rng)
        noise = rng.standard_normal(drawn.size).reshape(drawn.shape) * known.deviations
        missing = (known.noisy - drawn - noise).ravel()
        return self._hold(drawn + (self._gain @ missing).reshape(drawn.shape))

    def _hold(self, people: Floats) -> Floats:
        return np.maximum(people, _LEAST * self.measured.expected)

    @cached_property
    def _roots(self) -> tuple[Floats, Floats]:
        """Square roots of the correlations in time and in space."""
        return tuple(_root(one) for one in self._correlations)  # type: ignore[return-value]

    @property
    def _correlations(self) -> tuple[Floats, Floats]:
        known = self.measured
        apart = np.hypot(known.x[:, None] - known.x, known.y[:, None] - known.y)
        return self._moves_in_time, np.exp(-apart / self.variation.reach)

    @property
    def _moves_in_time(self) -> Floats:
        """The covariance of moves in time, whose mean over all people is 0; its own mean diagonal is 1."""
        weights = self.measured.expected.sum(axis=1)
        weights = weights / weights.sum()
        less = np.eye(len(weights)) - weights
        found: Floats = less @ self.in_time(self.variation.memory) @ less.T
        return found / max(float(weights @ np.diag(found)), 1e-9)

    def _prior_draw(self, rng: Randomness) -> Floats:
        known, (time, space) = self.measured, self._roots
        slices, blocks = known.noisy.shape
        moves = time @ rng.standard_normal(slices * blocks).reshape(slices, blocks) @ space.T
        pooled = np.sqrt(known.variances) / known.pooled * rng.standard_normal(blocks)
        volume = np.sqrt(_FREE) * rng.standard_normal(slices)[:, None]
        few = np.sqrt(self.variation.scatter * known.expected) * rng.standard_normal(slices * blocks).reshape(
            slices, blocks
        )
        drawn: Floats = known.expected * (1.0 + self.variation.amplitude * moves + pooled + volume) + few
        return drawn

    @cached_property
    def prior_covariance(self) -> Floats:
        """The covariance of the numbers before anything of single slices was measured."""
        known, (time, space) = self.measured, self._correlations
        slices, blocks = known.noisy.shape
        own = np.diag(known.variances / known.pooled**2)
        found = np.asarray(self.variation.amplitude**2 * np.kron(time, space), np.float64)
        found += np.kron(np.ones((slices, slices)), own) + np.kron(np.eye(slices), np.full((blocks, blocks), _FREE))
        expected = known.expected.ravel()
        found *= expected[:, None] * expected
        found[np.diag_indices(len(found))] += self.variation.scatter * expected
        return found

    @property
    def log_evidence(self) -> float:
        """The logarithm of the probability density of what was measured, up to a constant."""
        known = self.measured
        noise, beyond = known.deviations.ravel() ** 2, (known.noisy - known.expected).ravel()
        size = len(beyond)
        # With one more row, which has what was measured, the last row of the root is what a solution would be.
        whole = np.empty((size + 1, size + 1))
        whole[:size, :size] = self.prior_covariance
        whole[np.arange(size), np.arange(size)] += noise
        whole[size, :size] = whole[:size, size] = beyond
        whole[size, size] = 1.0 + 2.0 * beyond @ (beyond / noise)
        root = np.linalg.cholesky(whole)
        return float(-0.5 * root[size, :size] @ root[size, :size] - np.log(np.diag(root)[:size]).sum())


def infer_slices(measured: Measured, period: Period | None) -> SlicesPosterior:
    """Find how slices differ, and the posterior given that."""
    time = in_time(period, len(measured.noisy))
    few = measured.join(_FEW)
    found = _likeliest(few, time, period is not None)
    return SlicesPosterior(measured, time, found, _mean_scatter(few, time, found))


def _likeliest(measured: Measured, time: Callable[[float], Floats], ordered: bool) -> Variation:
    """Climb the grid to the highest evidence."""
    heights: dict[tuple[int, ...], float] = {}

    def height(at: tuple[int, ...]) -> float:
        if at not in heights:
            tried = Variation(*(values[k] for values, k in zip(_GRID, at, strict=True)))
            heights[at] = SlicesPosterior(measured, time, tried).log_evidence + tried.log_prior
        return heights[at]

    best: tuple[int, ...] = _START if ordered else (_START[0], _START[1], 0, _START[3])
    climbing = True
    while climbing:
        climbing = False
        for axis, values in enumerate(_GRID):
            if axis == 2 and not ordered:
                continue
            for step in (1, -1):
                while 0 <= best[axis] + step < len(values):
                    there = (*best[:axis], best[axis] + step, *best[axis + 1 :])
                    if height(there) <= height(best):
                        break
                    best, climbing = there, True
    return Variation(*(values[k] for values, k in zip(_GRID, best, strict=True)))


def _mean_scatter(measured: Measured, time: Callable[[float], Floats], at: Variation) -> float:
    """The posterior mean of the scatter, all else given: of little evidence, the prior's mean."""
    values = np.array(_GRID[3])
    between = np.append(np.sqrt(values[:-1] * values[1:]), math.inf)
    between[0] = 0.5 * values[1]
    prior = -np.diff(np.exp(-between / _USUAL_SCATTER), prepend=1.0)
    heights = [SlicesPosterior(measured, time, at._replace(scatter=one)).log_evidence for one in values.tolist()]
    weights = prior * np.exp(np.array(heights) - max(heights))
    return float(weights @ values / weights.sum())


def _root(matrix: Floats) -> Floats:
    """A square root of a correlation matrix, whose smallest eigenvalues may be below zero by rounding."""
    values, vectors = np.linalg.eigh(matrix)
    root: Floats = vectors * np.sqrt(np.maximum(values, 0.0))
    return root
