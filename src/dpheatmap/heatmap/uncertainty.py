"""Uncertainty of a heatmap: posterior draws, widened to cover model error.

**Draws.** Each draw has all masses in the tree, with random splits inside its leaves (`posterior.draws`), smoothed like
the map itself. The grid is as coarse as the smoothing allows, since a smoothed map has no detail much finer than its
sigma.

**Widening.** The posterior is overconfident. Its concentration is one number taken from the data, its expected shares
are taken from its own first pass, and hot spots narrower than a leaf are smoothed away. So it underestimates busy
places more often than its draws imply. Draws above the mean are moved further up by the factor

    1 + SPIKY / concentration + FAINT / (concentration sqrt(people * epsilon)),

which is larger where people are in few places and where the signal is weak. Draws below the mean are moved further down
by LOWER. If no curator added the noise, epsilon is here that of a curator with noise of the same strength.

**Room above.** At a weak signal the cells measured are large, and a map that is even at their scale may have hot spots
at a finer one. So for the upper ends of intervals, the concentration in the last term counts as UNSEEN at most.
Standard deviations and `exceeds` have no such room: it would not be noise that they then tell of.

**Nothing below.** A lower end of an interval becomes 0 where it is below NOTHING of the mean, or where it stands for
fewer than NOBODY / epsilon people within the smoothing's reach: where a map is nearly empty, it may be empty.

The constants were set on generated maps (`benchmarks/calibration.py`, which checks them and can scan others). Coverage
is reported for other maps (`benchmarks/intervals.py`; `docs/explanation/results.md` says where it holds).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dpheatmap.estimate.posterior.map_estimate import MapEstimate
from dpheatmap.heatmap.drawn_maps import DrawnMaps
from dpheatmap.place.domain import Domain, Floats

DRAWS, ROUGHLY = 200, 40
_PIXELS_PER_SIGMA = 1.5
_LARGEST = 160  # pixels on the longer side of the grid of draws
SPIKY, FAINT, UNSEEN = 0.2, 4.0, 0.35
LOWER, NOTHING, NOBODY = 1.25, 0.08, 1.0
LOWER_TOGETHER = 1.5
_RIVAL = 2.6  # standard deviations by which a pixel may be above or below its mean
_CLEAR = 0.6  # the largest relative standard deviation of what can be told from nothing
CAUTION = 0.75


class _RawDraws(NamedTuple):
    """Draws not widened, as differences from their mean in fractions of it, and what the widening depends on.

    ``signal`` is the number of people times epsilon.
    """

    relative: Floats
    mean: Floats
    concentration: float
    signal: float


@dataclass(frozen=True, eq=False)
class Uncertainty:
    """The uncertainty of the heatmap of an estimate, smoothed by ``sigma``, on a grid of pixels of ``shape``.

    ``count`` is the number of draws, which are the first ones of ``maps``. They are of shares, or of numbers of people,
    as the ``quantity`` says. All results are relative to the map: a factor for each pixel of the map, interpolated
    between the pixels of the coarser grid of the draws.
    """

    estimate: MapEstimate
    domain: Domain
    sigma: float
    shape: tuple[int, int]
    count: int = DRAWS
    maps: DrawnMaps | None = None
    quantity: str = "share"

    @cached_property
    def roughly(self) -> Uncertainty:
        """The uncertainty from fewer draws: standard deviations to within 11 %, which is enough for a colour.

        Where there are few draws anyhow, it is from all of them, so that they are made and widened once.
        """
        return self if self.count <= 2 * ROUGHLY else replace(self, count=ROUGHLY, maps=self._drawn)

    @cached_property
    def _drawn(self) -> DrawnMaps:
        total = self.estimate.total if self.quantity == "people" else None
        return self.maps or DrawnMaps(self.estimate, self.domain, self.sigma, self._coarse, total)

    @property
    def _draws(self) -> Floats:
        """Widened draws, as fractions of their mean; pixels that are 0 in all draws are 1."""
        relative = self._raw.relative
        up = self._up(self._raw.concentration)
        widened: Floats = np.maximum(1.0 + relative * np.where(relative > 0, up, LOWER), 0.0)
        return widened

    def _up(self, concentration: float) -> float:
        """How far draws above the mean are moved up, if the signal leaves open a concentration as low as this."""
        raw = self._raw
        return 1.0 + SPIKY / raw.concentration + FAINT / (concentration * math.sqrt(max(raw.signal, 10.0)))

    @cached_property
    def _raw(self) -> _RawDraws:
        """Draws, smoothed, and what they depend on."""
        found, heat = self.estimate, self._drawn.first(self.count)
        mean = heat.mean(axis=0)
        relative = np.where(mean > 0, heat / np.where(mean > 0, mean, 1.0) - 1.0, 0.0)
        return _RawDraws(relative, mean, found.concentration, found.total * found.strength)

    @property
    def _nearby(self) -> Floats:
        """People times epsilon within the smoothing's reach of each pixel of the draws' grid."""
        sigma = self.sigma / self.domain.longer_side * max(self._coarse)
        nearby: Floats = self._raw.signal * (1.0 + 4.0 * math.pi * sigma**2) * self._raw.mean
        return nearby

    @property
    def _coarse(self) -> tuple[int, int]:
        """The shape of the draws' grid."""
        rows, columns = self.shape
        fine = min(_LARGEST, math.ceil(_PIXELS_PER_SIGMA * self.domain.longer_side / self.sigma))
        scale = min(1.0, fine / max(rows, columns))
        return max(1, round(rows * scale)), max(1, round(columns * scale))

    @cached_property
    def relative_std(self) -> Floats:
        """The standard deviation of each pixel, as a fraction of its value."""
        return self._at_every_pixel(self._coarse_std)

    def std_of_change(self, before: Uncertainty, values_before: Floats, values: Floats) -> Floats:
        """The standard deviation of each pixel's change from another map whose draws belong together with these."""
        ends = [one._on_the_grid(fine) * one._draws for one, fine in ((before, values_before), (self, values))]
        return self._at_every_pixel((ends[1] - ends[0]).std(axis=0))

    def on(self, shape: tuple[int, int]) -> Uncertainty:
        """The uncertainty of the same heatmap on another grid of pixels, by the same draws if they suit it."""
        other = replace(self, shape=shape, maps=None)
        return replace(other, maps=self._drawn) if other._coarse == self._coarse else other

    def relative_std_in(self, rows: range) -> Floats:
        """The standard deviation of each pixel of some rows, as a fraction of its value."""
        return self._at_every_pixel(self._coarse_std, rows)

    def relative_interval(self, confidence: float) -> tuple[Floats, Floats]:
        """Compute the ends of the interval of each pixel, as fractions of its value."""
        tail = 0.5 * (1.0 - confidence)
        low, high = np.quantile(self._draws, [tail, 1.0 - tail], axis=0)
        low = np.where((low < NOTHING) | (low * self._nearby < NOBODY), 0.0, np.minimum(low, 1.0))
        concentration = self._raw.concentration
        room = self._up(min(concentration, UNSEEN)) / self._up(concentration)
        return self._at_every_pixel(low), self._at_every_pixel(1.0 + room * np.maximum(high - 1.0, 0.0))

    def relative_interval_together(self, confidence: float) -> tuple[Floats, Floats]:
        """Compute the ends of intervals that hold for all clear pixels at once, as fractions of each pixel's value.

        So the interval of a pixel that was chosen for being the highest holds, too. Each draw's largest distance from
        the mean, in standard deviations of its pixel, is taken; the interval reaches as far as most of these. Pixels
        that can't be told from nothing are left out: nobody chooses them.
        """
        return self._together(confidence, self._clear)

    def relative_interval_of_highest(self, confidence: float) -> tuple[Floats, Floats]:
        """Compute intervals for all clear pixels at once that may be the highest, as fractions of their values."""
        std, mean = self._coarse_std, self._raw.mean
        lowest = float(((1.0 - _RIVAL * std) * mean).max())
        return self._together(confidence, self._clear & ((1.0 + _RIVAL * std) * mean >= lowest))

    @cached_property
    def _coarse_std(self) -> Floats:
        std: Floats = np.sqrt(((self._draws - 1.0) ** 2).mean(axis=0))
        return std

    @property
    def _clear(self) -> NDArray[np.bool_]:
        """The pixels that can be told from nothing; if none can, all that have any draw."""
        std = self._coarse_std
        clear = (std > 0) & (std < _CLEAR)
        return clear if clear.any() else std > 0

    def _together(self, confidence: float, among: NDArray[np.bool_]) -> tuple[Floats, Floats]:
        """Intervals that hold for some pixels of the draws' grid at once."""
        away, std = np.abs(self._draws - 1.0), self._coarse_std
        with np.errstate(divide="ignore", invalid="ignore"):
            farthest = np.where(among, away / std, 0.0).reshape(len(away), -1).max(axis=1)
        reach = float(np.quantile(farthest, confidence)) * std
        return self._at_every_pixel(np.maximum(1.0 - reach, 0.0)), self._at_every_pixel(1.0 + reach)

    def exceeds(self, level: Floats, *, confidence: float, family: bool) -> NDArray[np.bool_]:
        """Find pixels that exceed a level, given as a fraction of each pixel's value, with a small error on the map.

        Pixels are taken in the order of their probability to exceed it. With ``family``, as many are taken as exceed it
        jointly with the confidence; otherwise, as many as contain, in expectation, a share of at most
        CAUTION * (1 - confidence) that do not. For all pixels jointly, the draws that matter are rarer than those for
        single pixels, and the posterior is even less reliable about them. So draws below the mean are moved down once
        more, by LOWER_TOGETHER.
        """
        drawn = self._draws
        if family:
            drawn = np.where(drawn < 1.0, 1.0 + LOWER_TOGETHER * (drawn - 1.0), drawn)
        above = drawn > self._on_the_grid(level)
        flat = above.reshape(len(above), -1)
        probability = flat.mean(axis=0)
        order = np.argsort(-probability, kind="stable")
        if family:
            held = np.logical_and.accumulate(flat[:, order], axis=1).mean(axis=0) >= confidence
        else:
            held = np.cumsum(1.0 - probability[order]) <= CAUTION * (1.0 - confidence) * np.arange(1, len(order) + 1)
        taken = np.zeros(len(order), np.bool_)
        taken[order[: int(np.flatnonzero(held).max(initial=-1)) + 1]] = True
        return self._at_nearest(taken.reshape(above.shape[1:]))

    def _at_every_pixel(self, coarse: Floats, rows: range | None = None) -> Floats:
        """Interpolate a field on the draws' grid bilinearly to the map's pixels, or to those of some rows."""
        for axis, size in enumerate(self.shape):
            coarse = _stretch(coarse, size, axis, range(size) if axis or rows is None else rows)
        return coarse

    def _on_the_grid(self, fine: Floats) -> Floats:
        """Sample a field of the map at the middles of the draws' pixels."""
        rows, columns = (_nearest_pixels(size, count) for size, count in zip(self._coarse, self.shape, strict=True))
        picked: Floats = fine[np.ix_(rows, columns)]
        return picked

    def _at_nearest(self, coarse: NDArray[np.bool_]) -> NDArray[np.bool_]:
        rows, columns = (_nearest_pixels(size, count) for size, count in zip(self.shape, self._coarse, strict=True))
        stretched: NDArray[np.bool_] = coarse[np.ix_(rows, columns)]
        return stretched


def _nearest_pixels(size: int, count: int) -> NDArray[np.int64]:
    """For each of ``size`` pixels of a line, the one of ``count`` pixels of the same line that holds its middle."""
    return ((2 * np.arange(size) + 1) * count) // (2 * size)


def _stretch(values: Floats, size: int, axis: int, pixels: range) -> Floats:
    """Interpolate along an axis between the middles of its pixels, at some of ``size`` pixels."""
    count = values.shape[axis]
    at = np.clip((np.array(pixels) + 0.5) * (count / size) - 0.5, 0, count - 1)
    left = np.minimum(at.astype(np.int64), max(count - 2, 0))
    part = (at - left).reshape([-1 if k == axis else 1 for k in range(values.ndim)])
    right = np.minimum(left + 1, count - 1)
    stretched: Floats = np.take(values, left, axis) * (1.0 - part) + np.take(values, right, axis) * part
    return stretched
