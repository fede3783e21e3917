"""Shapes of releases with Gaussian noise: the promise is rho = epsilon^2 / 2, and the runs bound rho from below."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from dpheatmap.design.composition import rho_of_pure
from dpheatmap.design.shares import SHARES, UNITS
from dpheatmap.evaluate.audit.confidence import rho_lower_bound
from dpheatmap.evaluate.audit.shapes import CHOOSING, RepeatedRelease, Sample, Shape, statistics
from dpheatmap.place.domain import Domain, Floats
from dpheatmap.place.quadtree import Ints
from dpheatmap.releases.measurements import Measurements


@dataclass(frozen=True)
class GaussianShape(Shape):
    """A shape whose releases have Gaussian noise of the rho that epsilon gives."""

    def sample(self, added: bool, epsilon: Fraction, runs: int) -> Sample:
        """Release one of the two data sets many times; the likelihood is that of Gaussian noise."""
        without, with_them = self.truth(False), self.truth(True)
        columns: dict[str, list[Any]] = {}
        with self._repeated_release(added, epsilon) as once:
            for _ in range(runs):
                made = once()
                told = {**statistics(made, without, with_them), "likelihood": likelihood(made, without, with_them)}
                for name, value in told.items():
                    columns.setdefault(name, []).append(value)
        return {name: np.array(values) for name, values in columns.items()}

    def _repeated_release(self, added: bool, epsilon: Fraction) -> RepeatedRelease:
        repeated = RepeatedRelease(self, added, epsilon)
        del repeated.options["epsilon"]
        repeated.options |= {"noise": "gaussian", "rho": rho_of_pure(epsilon)}
        return repeated

    def estimate(self, hits: Ints, otherwise: Ints, runs: int) -> Floats:
        """Estimate the bound by the divergence of order 1, with margins of five standard deviations on both sides."""
        judging = (CHOOSING - 1) * runs
        often, seldom = (CHOOSING - 1) * hits, (CHOOSING - 1) * otherwise
        p = np.clip((often - 5 * np.sqrt(often) - 1) / judging, 1e-9, 1 - 1e-9)
        q = np.clip((seldom + 5 * np.sqrt(seldom) + 18) / judging, 1e-9, 1 - 1e-9)
        guess: Floats = np.where(p > q, p * np.log(p / q) + (1 - p) * np.log((1 - p) / (1 - q)), 0.0)
        return guess

    def bound(self, hits: int, runs: int, otherwise: int, others: int, alpha: float) -> float:
        """The epsilon that gives the rho which the promise needs at least."""
        return math.sqrt(2 * rho_lower_bound(hits, runs, otherwise, others, alpha))


def likelihood(m: Measurements, without: Ints, with_them: Ints) -> float:
    """The log-likelihood ratio of the output, with the person to without, under the documented noise, but for rho."""
    places = ((1 << (2 * m.levels)) - 1) // 3 + m.codes
    c0, c1 = (row[places] / UNITS for row in (without, with_them))
    return float((m.shares / SHARES * (c1 - c0)) @ (m.counts / UNITS - (c0 + c1) / 2))


def gaussian_shapes(epsilon: Fraction) -> list[Shape]:
    """The shapes of Gaussian noise: small, so that one person is a large part of the data."""
    unit, every = Domain.unit, {"first_level": 0}
    return [
        GaussianShape("one cell, Gaussian", "nobody, and the person, in the only cell: all of rho on one count",
                      unit(0), {}, {(0, 0): 1}, runs=24_000),
        GaussianShape("two levels, Gaussian", "counts above each other, all of which the person raises", unit(1),
                      {(0, 0): 2, (1, 0): 1}, {(1, 0): 1}, every, runs=4_000),
        GaussianShape("several cells, Gaussian", "the person's weight on several paths, beside others and apart",
                      unit(2), {(0, 0): 12, (1, 1): 8, (3, 0): 7, (1, 3): 1}, {(1, 1): 0.5, (3, 0): 0.25, (0, 3): 0.25},
                      every, runs=4_000),
        GaussianShape("default, Gaussian", "no option but the noise: the person raises the total and every count below",
                      unit(3), {}, {(5, 2): 1}, runs=4_000),
    ]  # fmt: skip
