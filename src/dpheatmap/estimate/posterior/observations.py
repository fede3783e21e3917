"""What a posterior is given: noisy counts of people in cells, with the law and the scale of their noise."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from dpheatmap.design.privacy_loss import ConcentratedLoss
from dpheatmap.design.shares import SHARES
from dpheatmap.estimate.posterior.likelihood import law_of
from dpheatmap.estimate.posterior.pruning import measurements_to_read
from dpheatmap.place.domain import Domain, Floats
from dpheatmap.place.quadtree import Ints
from dpheatmap.releases.release import Release


@dataclass(frozen=True, eq=False)
class Observations:
    """Noisy counts of people in cells, each with the scale of its noise; a cell may occur more than once."""

    domain: Domain
    levels: Ints
    codes: Ints
    people: Floats
    scales: Floats
    law: Floats

    @classmethod
    def of(cls, release: Release) -> Observations:
        """The measurements of a release; where all cells were measured at once, those worth reading."""
        every = cls.every(release)
        if not release.design.at_once:
            return every
        read = measurements_to_read(every.levels, every.codes, every.people, every.deviations)
        return cls(
            every.domain, every.levels[read], every.codes[read], every.people[read], every.scales[read], every.law
        )

    @classmethod
    def every(cls, release: Release) -> Observations:
        """All measurements of a release in people.

        One Laplace of a share of epsilon has the scale 1 / that share; other noise follows its own law. A Gaussian's
        scale is its deviation, and that of a share s of rho is 1 / sqrt(2 rho s).
        """
        m = release.measurements
        law, stretch = law_of(release.noise)
        if isinstance(release.loss, ConcentratedLoss):
            scales = np.sqrt(SHARES / (2.0 * float(release.loss.rho) * m.shares.astype(np.float64)))
        elif m.deviations is None:
            scales = stretch * SHARES / (float(release.loss.epsilon) * m.shares.astype(np.float64))
        else:
            scales = m.deviations / release.units
        return cls(release.domain, m.levels, m.codes, m.counts / release.units, scales, law)

    @classmethod
    def together(cls, several: list[Observations]) -> Observations:
        """Observations of the same masses, of one domain and one law."""
        columns = ("levels", "codes", "people", "scales")
        joined = {name: np.concatenate([getattr(each, name) for each in several]) for name in columns}
        return cls(several[0].domain, law=several[0].law, **joined)

    def per(self, volume: float) -> Observations:
        """The same in another unit, so many people."""
        return replace(self, people=self.people / volume, scales=self.scales / volume)

    @property
    def deviations(self) -> Floats:
        """The standard deviations of the noise."""
        found: Floats = self.scales * (math.sqrt(2.0 * len(self.law)) if len(self.law) else 1.0)
        return found

    @property
    def strength(self) -> float:
        """The epsilon of a curator with noise of the same strength, summed over the measurements on a path.

        A Laplace of epsilon e has the standard deviation sqrt(2) / e. So the sum of sqrt(2) / deviation is epsilon
        where every level is measured once.
        """
        of_levels = (self.deviations[self.levels == level] for level in np.unique(self.levels))
        return float(sum(math.sqrt(2.0) / deviations.mean() for deviations in of_levels))
