"""Forecasts of a design's error before any data is read, from simulations and from the shares of its levels.

Errors are earth mover's distances of heatmaps smoothed by 2 % of the side, in sides of the domain. Heatmaps are those
that a release of a design gives by default: by the posterior, which is better than the paper's own reconstructions.

The errors of the adaptive and the dense design depend on the signal, which is people times epsilon, and hardly on
anything else. Which design is better depends on the map, too, so errors are also given by the number of places that
people are in. They are for people in so many cells of 128 x 128, some busier than others: means of 4 draws, of 3 for
the last number. All are simulated by `benchmarks/planning.py`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Protocol

from dpheatmap.design.adaptive import AdaptiveDesign
from dpheatmap.design.dense import DenseDesign, grid_level
from dpheatmap.design.ladder import LadderDesign
from dpheatmap.design.settings import Settings
from dpheatmap.design.shares import SHARES, part, split_over_levels
from dpheatmap.design.start import DEFAULT_TOTAL, FIRST_CELLS
from dpheatmap.place.domain import Domain

_SUM_OF_CELLS = 0.55  # of sqrt(people / epsilon): the deviation of the sum of all cells, with what it is off by

NUMBERS_OF_PLACES = (1, 4, 16, 64, 256, 1024, 4096)
"""The numbers of places of ``errors_by_places``."""


class Forecast(Protocol):
    """The forecast of one design."""

    why: str
    """When this design is the better one, in words."""
    errors_by_places: Mapping[int, Sequence[float]]
    """Simulated errors by signal, for people in so many places."""

    def expected_error(
        self, domain: Domain, epsilon: Fraction, users: int, settings: Settings, places: int | None
    ) -> float:
        """The expected earth mover's distance to the truth, in sides of the domain."""

    def planned_shares(self, domain: Domain, epsilon: Fraction, users: int, settings: Settings) -> dict[int, int]:
        """The shares of the levels of a path that is followed all the way down, if noisy totals are right."""

    def deviation_of_total(self, domain: Domain, epsilon: Fraction, users: int, settings: Settings) -> float:
        """The expected standard deviation of the number of all people, in people."""

    def finest_visible(self, people: Fraction, parts: Sequence[Fraction], stands_out: Sequence[bool]) -> int | None:
        """The index, among a path's levels, of the last one that shows a cell with so many people; None if none does.

        ``parts`` are the levels' parts of epsilon, and ``stands_out`` tells whether such a cell is above their noise.
        """


class _BySignal:
    """An error interpolated by signal between pairs (signal, error): means of 12 simulations, 4 for the dense
    design."""

    errors: Sequence[tuple[float, float]]

    def expected_error(
        self, domain: Domain, epsilon: Fraction, users: int, settings: Settings, places: int | None
    ) -> float:
        """The expected error with so many people times epsilon."""
        return between(self.errors, float(epsilon) * users)


class _StartedByTotal(_BySignal):
    """Forecasts of designs that count everybody first."""

    def deviation_of_total(self, domain: Domain, epsilon: Fraction, users: int, settings: Settings) -> float:
        """The deviation of two measurements: the first count, and the sum of all cells that are measured.

        The cells follow people, so there are about as many as people times epsilon, by a factor. On generated cities of
        200 to 20,000 people, at epsilon 0.5 to 5, the deviation of their sum was 0.33 to 0.87 times
        sqrt(people / epsilon), in the middle 0.45; what the posterior said of it was off by a fifth.
        """
        share = settings.people_share
        own = float(DEFAULT_TOTAL if share is None else share) * float(epsilon) / math.sqrt(2.0)
        return 1.0 / math.hypot(own, math.sqrt(float(epsilon) / users) / _SUM_OF_CELLS)


class AdaptiveForecast(_StartedByTotal):
    """The forecast of the adaptive design."""

    why = (
        "The adaptive design follows people to where they are, and goes over to a fine grid by itself where they are "
        "everywhere."
    )
    errors = (
        (10, 0.241), (30, 0.152), (100, 0.0736), (200, 0.044), (300, 0.0373), (1000, 0.0145), (3000, 0.0065),
        (10**4, 0.0029), (3 * 10**4, 0.0019), (10**5, 0.0009),
    )  # fmt: skip
    errors_by_places: Mapping[int, Sequence[float]] = {
        50: (0.033, 0.12, 0.15, 0.13, 0.11, 0.12, 0.13),
        200: (0.0079, 0.019, 0.049, 0.056, 0.066, 0.055, 0.054),
        800: (0.002, 0.006, 0.013, 0.025, 0.035, 0.026, 0.024),
        3200: (0.00034, 0.0019, 0.0037, 0.0062, 0.0099, 0.012, 0.0097),
        12_800: (0.00024, 0.00041, 0.0014, 0.0015, 0.0024, 0.0037, 0.0038),
    }

    def planned_shares(self, domain: Domain, epsilon: Fraction, users: int, settings: Settings) -> dict[int, int]:
        """The shares spent on a path that is followed to the last level."""
        design = AdaptiveDesign(min(domain.first_level(FIRST_CELLS), domain.depth), domain.depth)
        first, left = design.first, SHARES
        if design.first < design.last:
            first, left = design.start_of(domain, epsilon * users), SHARES - design.begin(domain).share
        shares = {}
        for level in range(first, design.last):
            shares[level] = int(left * design.spent)
            left -= shares[level]
        return {**shares, design.last: left}

    def finest_visible(self, people: Fraction, parts: Sequence[Fraction], stands_out: Sequence[bool]) -> int | None:
        """The index of the level at which the design's walk to a place with so many people ends, without noise."""
        left = sum(parts, Fraction(0))
        if people * left < 3 * math.sqrt(2):  # three standard deviations of a measurement with all that is left
            return None
        for k, of_level in enumerate(parts[:-1]):
            left -= of_level
            if people * left <= AdaptiveDesign.closing:
                return k
            if people * left <= AdaptiveDesign.opening:
                return k + 1
        return len(parts) - 1


class GaussianForecast(_BySignal):
    """The forecast of the adaptive design with Gaussian noise, by people times the epsilon of Laplace noise as strong.

    Parts of rho buy the square root of themselves, so levels take less from each other than with Laplace noise.
    """

    errors = (
        (10, 0.195), (30, 0.116), (100, 0.0566), (200, 0.0384), (300, 0.0251), (1000, 0.0106), (3000, 0.00439),
        (10**4, 0.00202), (3 * 10**4, 0.000867), (10**5, 0.000378),
    )  # fmt: skip


GAUSSIAN_FORECAST = GaussianForecast()


class LadderForecast(_StartedByTotal):
    """The forecast of the ladder."""

    why = (
        "The ladder follows people to where they are, by looks that cost nothing, and goes over to a fine grid by "
        "itself where they are everywhere."
    )
    errors = (
        (10, 0.21), (30, 0.13), (100, 0.0587), (200, 0.039), (300, 0.0304), (1000, 0.0133), (3000, 0.00607),
        (10**4, 0.00264), (3 * 10**4, 0.00155), (10**5, 0.000779),
    )  # fmt: skip
    errors_by_places: Mapping[int, Sequence[float]] = {
        50: (0.02, 0.1, 0.13, 0.13, 0.12, 0.1, 0.11),
        200: (0.0041, 0.014, 0.039, 0.061, 0.06, 0.052, 0.053),
        800: (0.0011, 0.0058, 0.01, 0.031, 0.025, 0.021, 0.023),
        3200: (0.00093, 0.0021, 0.003, 0.0051, 0.011, 0.011, 0.009),
        12_800: (0.00025, 0.00057, 0.0012, 0.0017, 0.0022, 0.0048, 0.004),
    }

    def planned_shares(self, domain: Domain, epsilon: Fraction, users: int, settings: Settings) -> dict[int, int]:
        """The shares spent on a path that is followed to the last level; the one above it is not measured."""
        design = LadderDesign(min(domain.first_level(FIRST_CELLS), domain.depth), domain.depth)
        first = design.first if design.first == design.last else design.start_of(domain, epsilon * users)
        opened = max(design.last - 1 - first, 0)
        shares = {first + k: rung.taken for k, rung in enumerate(design.rungs[:opened])}
        return {**shares, design.last: design.rungs[opened].left}

    def finest_visible(self, people: Fraction, parts: Sequence[Fraction], stands_out: Sequence[bool]) -> int | None:
        """The index of the level at which the walk to a place with so many people ends, without noise."""
        left = sum(parts, Fraction(0))
        if people * left < 3 * math.sqrt(2):  # three standard deviations of a measurement with all that is left
            return None
        for k, taken in enumerate(parts[:-1]):
            signal = people * left
            end = k + (signal > LadderDesign.closing) + (signal > LadderDesign.deepening)
            if signal <= LadderDesign.opening:
                return end if end < len(parts) - 1 else end - 1  # the level above the last is not among the parts
            left -= taken
        return len(parts) - 1


class DenseForecast(_BySignal):
    """The forecast of the dense design."""

    why = (
        "One grid spends all of epsilon at once and shows any number of places; the paper's design keeps a few cells a "
        "level, which is better if people are in few places."
    )
    errors = (
        (10, 0.21), (30, 0.197), (100, 0.0777), (200, 0.0541), (300, 0.0399), (1000, 0.0255), (3000, 0.0126),
        (10**4, 0.0052), (3 * 10**4, 0.00194), (10**5, 0.00086),
    )  # fmt: skip
    errors_by_places: Mapping[int, Sequence[float]] = {
        50: (0.091, 0.11, 0.14, 0.19, 0.17, 0.15, 0.15),
        200: (0.05, 0.047, 0.066, 0.073, 0.083, 0.075, 0.068),
        800: (0.021, 0.022, 0.022, 0.025, 0.035, 0.042, 0.042),
        3200: (0.0011, 0.0027, 0.0047, 0.0064, 0.011, 0.016, 0.02),
        12_800: (0.00044, 0.0011, 0.0014, 0.0022, 0.0029, 0.0063, 0.01),
    }

    def deviation_of_total(self, domain: Domain, epsilon: Fraction, users: int, settings: Settings) -> float:
        """That of the sum of the grid's cells."""
        return _deviation_of_level(domain, epsilon, self.planned_shares(domain, epsilon, users, settings))

    def planned_shares(self, domain: Domain, epsilon: Fraction, users: int, settings: Settings) -> dict[int, int]:
        """The grid's share, which is what a noisy total leaves."""
        made = DenseDesign(domain.first_level(1), domain.depth)
        level = grid_level(domain, epsilon * users, made.first, made.last)
        return {level: made.begin(domain).left or SHARES}

    def finest_visible(self, people: Fraction, parts: Sequence[Fraction], stands_out: Sequence[bool]) -> int | None:
        """The grid, if its cells stand out."""
        return _last(stands_out)


class PaperForecast:
    """The forecast of the paper's design.

    Its error is FLOOR + SCALE * (noise term / people) ^ POWER, up to CEILING, where the map is no better than a guess.
    The noise term is the paper's: the sum over levels of (side of a cell / side of the domain) * cells kept over eps_i.
    SCALE and POWER are fitted to means of 6 cities of generated people at width 20, from a signal of 10 to 10^5. The
    floor is what a tree of 20 cells a level can't show even without noise. Noise is the same on every map, but the
    floor depends on the map: from 0.002 of the side for two Gaussians to 0.014 for a net of roads. FLOOR is the mean of
    eleven kinds, real cities (0.004) among them. There is no floor for people in at most as many places as cells are
    kept.
    """

    FLOOR, SCALE, POWER, CEILING = 0.007, 0.21, 0.877, 0.26
    why = "The paper's design finds the few places that people are in and follows them down, which a grid can't."
    errors_by_places: Mapping[int, Sequence[float]] = {
        50: (0.04, 0.19, 0.2, 0.2, 0.19, 0.17, 0.16),
        200: (0.014, 0.029, 0.08, 0.086, 0.073, 0.066, 0.07),
        800: (0.002, 0.009, 0.016, 0.03, 0.037, 0.029, 0.03),
        3200: (0.00052, 0.0011, 0.0033, 0.015, 0.022, 0.018, 0.012),
        12_800: (0.00018, 0.00053, 0.00077, 0.014, 0.019, 0.013, 0.0075),
    }

    def expected_error(
        self, domain: Domain, epsilon: Fraction, users: int, settings: Settings, places: int | None
    ) -> float:
        """The error of the noise, plus the floor for people in more places than cells are kept."""
        floor = 0.0 if places is not None and places <= settings.width else self.FLOOR
        finest = domain.cells(domain.depth)
        side, width = max(finest.columns, finest.rows), int(settings.width)
        term = sum(
            2 ** (domain.depth - level) / side * min(width, domain.count(level)) / float(part(epsilon, share))
            for level, share in self.planned_shares(domain, epsilon, users, settings).items()
        )
        return float(floor + min(self.CEILING - self.FLOOR, self.SCALE * (term / users) ** self.POWER))

    def deviation_of_total(self, domain: Domain, epsilon: Fraction, users: int, settings: Settings) -> float:
        """That of the sum of the first level's cells, all of which are measured."""
        return _deviation_of_level(domain, epsilon, self.planned_shares(domain, epsilon, users, settings))

    def planned_shares(self, domain: Domain, epsilon: Fraction, users: int, settings: Settings) -> dict[int, int]:
        """The shares of the levels, which are known beforehand."""
        return split_over_levels(domain.first_level(int(settings.width)), domain.depth, settings.decay)

    def finest_visible(self, people: Fraction, parts: Sequence[Fraction], stands_out: Sequence[bool]) -> int | None:
        """The last level that stands out of its noise."""
        return _last(stands_out)


def _deviation_of_level(domain: Domain, epsilon: Fraction, shares: Mapping[int, int]) -> float:
    """The standard deviation of the sum of all cells of the first of some levels."""
    level, share = next(iter(shares.items()))
    return math.sqrt(2.0 * domain.count(level)) / float(part(epsilon, share))


def _last(stands_out: Sequence[bool]) -> int | None:
    """The index of the last level that stands out; None if none does."""
    return max((k for k, visible in enumerate(stands_out) if visible), default=None)


def between(table: Sequence[tuple[float, float]], signal: float) -> float:
    """The error at a signal, interpolated by powers between the entries of a table.

    >>> round(between([(10, 0.2), (1000, 0.02)], 100), 6)
    0.063246
    """
    (low, most), (high, least) = table[0], table[-1]
    if signal <= low:
        return most
    if signal >= high:
        return least
    for (a, at_a), (b, at_b) in pairwise(table):
        if signal <= b:
            return float(at_a * (at_b / at_a) ** (math.log(signal / a) / math.log(b / a)))
    raise AssertionError("the table has an end")
