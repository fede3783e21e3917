"""What a map is smoothed from: the masses that one release tells, or several together.

**Equal tables.** Releases about one table measure the same masses, each with noise of its own. All measurements enter
one likelihood.

**Alike tables.** Releases about other days, or other people of one place, measure masses that differ but look alike.
Each release has a posterior of its own, whose base measure is the mean map of others, believed as far as the evidence
says (`public_measure.py`). That map reads the others as equal: the faint signals of many days add up in one likelihood
before anything is estimated, and the evidence tells how far it holds for this one. More than `_FOLDS` releases are
dealt into so many groups, and the others are those of the other groups. The masses, in people, are added up: the map is
that of all tables together. Of slices of one table the *volumes* are known well, and may differ much; there, releases
are read as equal but for them.

Posteriors given each other's mean maps take these for certain, and the noise in one map is then in the other, too. The
sum of their draws varies too little: intervals of 90 % held the true values of 62 % of the busiest tenth of pixels of
15 cities. So draws and variances are those of each release by itself (85 %; 89 % for maps of one release, in
`benchmarks/priors.py`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Protocol

import numpy as np

from dpheatmap.design.shares import SHARES
from dpheatmap.estimate.cell_overlay import Division, overlay
from dpheatmap.estimate.distribution import Distribution
from dpheatmap.estimate.posterior.leaves import Leaves, leaves, leaves_of_posterior, std_of_shares
from dpheatmap.estimate.posterior.observations import Observations
from dpheatmap.estimate.posterior.posterior import Draws, Posterior, infer, posterior, seed_of
from dpheatmap.estimate.posterior.public_measure import PublicMeasure, public_measure, raster_of
from dpheatmap.estimate.posterior.randomness import Randomness
from dpheatmap.place.domain import Domain
from dpheatmap.releases.noise_law import LAPLACE, decision_loss
from dpheatmap.releases.release import Release

_FOLDS = 5  # with each more, all measurements enter once more


class MapEstimate(Protocol):
    """Masses with their uncertainty."""

    @property
    def total(self) -> float:
        """The estimated number of people."""

    @property
    def concentration(self) -> float:
        """The concentration of the splits: below 1, mass is in few places."""

    @property
    def strength(self) -> float:
        """The epsilon of a curator's one release with noise of the same strength."""

    @property
    def seed(self) -> list[int]:
        """A seed for draws, made of what was released."""

    def distribution(self) -> Distribution:
        """Where people are."""

    def leaves(self) -> Leaves:
        """The finest measured cells."""

    def draws(self, count: int, rng: Randomness) -> Draws:
        """Draw masses of disjoint cells that cover the domain."""


@dataclass(frozen=True, eq=False)
class EstimateOfRelease:
    """The estimate from one release; what was measured below ``level`` is folded (`folding.py`)."""

    release: Release
    method: str = "posterior"
    prior: PublicMeasure | None = None
    level: int | None = None

    @property
    def _posterior(self) -> Posterior:
        return posterior(self.release, self.prior, self.level)

    @property
    def total(self) -> float:
        """The posterior mean of the number of people."""
        return self._posterior.total

    @property
    def concentration(self) -> float:
        """The likeliest concentration."""
        return self._posterior.concentration

    @property
    def strength(self) -> float:
        """Epsilon; if no curator added the noise, the epsilon of a curator with noise of the same strength."""
        return strength_of(self.release)

    @property
    def seed(self) -> list[int]:
        """A seed made of the release's own numbers."""
        return seed_of(self.release)

    def distribution(self) -> Distribution:
        """Where people are, by the method."""
        if self.method == "posterior":
            return self._posterior.distribution()
        return self.release.distribution(method=self.method)

    def leaves(self) -> Leaves:
        """The leaves of the release."""
        return leaves(self.release, method=self.method, prior=self.prior)

    def draws(self, count: int, rng: Randomness) -> Draws:
        """Draw from the posterior."""
        return self._posterior.draws(count, rng)


@dataclass(frozen=True, eq=False)
class _Combined:
    """What the estimates from several releases of one domain have in common; ``level`` as for one release."""

    releases: tuple[Release, ...]
    level: int | None = None

    @property
    def domain(self) -> Domain:
        """The place."""
        return self.releases[0].domain

    @property
    def seed(self) -> list[int]:
        """A seed made of the releases' own numbers."""
        return [number for release in self.releases for number in seed_of(release)]


@dataclass(frozen=True, eq=False)
class EstimateOfEqual(_Combined):
    """The estimate from several releases about one table, or about tables that have its masses times ``volumes``."""

    volumes: tuple[float, ...] | None = None

    @cached_property
    def _posterior(self) -> Posterior:
        volumes = self.volumes or (1.0,) * len(self.releases)
        scaled = [Observations.of(each).per(volume) for each, volume in zip(self.releases, volumes, strict=True)]
        return infer(Observations.together(scaled), level=self.level)

    @property
    def total(self) -> float:
        """The posterior mean of the number of people."""
        return self._posterior.total

    @property
    def concentration(self) -> float:
        """The likeliest concentration."""
        return self._posterior.concentration

    @property
    def strength(self) -> float:
        """The precisions of independent measurements of one mass add up, and the epsilon goes with their root."""
        return math.hypot(*map(strength_of, self.releases))

    def distribution(self) -> Distribution:
        """The posterior mean."""
        return self._posterior.distribution()

    def leaves(self) -> Leaves:
        """The leaves of the tree of all measurements."""
        return leaves_of_posterior(replace(self, level=None)._posterior) or _without_signal(self.domain)

    def draws(self, count: int, rng: Randomness) -> Draws:
        """Draw from the posterior."""
        return self._posterior.draws(count, rng)


@dataclass(frozen=True, eq=False)
class EstimateOfAlike(_Combined):
    """The estimate of the sum of several tables, from a release about each."""

    @cached_property
    def _alone(self) -> list[Posterior]:
        """The posterior of each release by itself."""
        return [infer(Observations.of(release), level=self.level) for release in self.releases]

    @cached_property
    def _posteriors(self) -> list[Posterior]:
        """The posterior of each release, given the mean map of others."""
        measures = mean_maps_of_others(self.releases, self.level)
        return [
            infer(Observations.of(release), prior=measure, level=self.level)
            for release, measure in zip(self.releases, measures, strict=True)
        ]

    @property
    def total(self) -> float:
        """The posterior mean of the number of people in all tables."""
        return sum(found.total for found in self._posteriors)

    @property
    def concentration(self) -> float:
        """The harmonic mean of the concentrations of all releases by themselves, weighted by people."""
        people = [max(found.total, 1e-9) for found in self._alone]
        inverse = sum(n / found.concentration for n, found in zip(people, self._alone, strict=True))
        return sum(people) / inverse

    @property
    def strength(self) -> float:
        """The variances of noise in independent summands add up."""
        return 1.0 / math.hypot(*(1.0 / strength_of(release) for release in self.releases))

    def distribution(self) -> Distribution:
        """The sum of the posterior means."""
        parts = [found.layout for found in self._posteriors]
        both = overlay(self.domain, [Division(part.levels, part.codes) for part in parts])
        means = [part.masses(found.node_means) for part, found in zip(parts, self._posteriors, strict=True)]
        return Distribution.from_people(self.domain, *both.cells, both.total(means))

    def leaves(self) -> Leaves:
        """The leaves of all releases, laid over each other."""
        if self.level is not None:
            return replace(self, level=None).leaves()
        total = self.total
        if total <= 0.0:
            return _without_signal(self.domain)
        parts = [found.leaves for found in self._posteriors]
        both = overlay(self.domain, [Division(levels, codes) for levels, codes, _ in parts])
        share = both.total([means for _, _, means in parts]) / total
        variances = both.total([found.leaf_variances for found in self._alone], power=2)
        of_total = sum(float(found.node_variances[0]) for found in self._alone)
        std = std_of_shares(share, variances, of_total, total)
        return Leaves(self.domain, *both.cells, share, std, np.sqrt(variances))

    def draws(self, count: int, rng: Randomness) -> Draws:
        """Add up draws from the posteriors of all releases by themselves."""
        drawn = [found.draws(count, rng) for found in self._alone]
        both = overlay(self.domain, [Division(each.levels, each.codes) for each in drawn])
        together = zip(*(each.masses for each in drawn), strict=True)
        return Draws(*both.cells, (both.total(masses) for masses in together))


@lru_cache(maxsize=2)
def estimate_of(
    releases: tuple[Release, ...], *, same: bool, level: int | None = None
) -> EstimateOfEqual | EstimateOfAlike:
    """The estimate from several releases of one domain, about the same table or about several."""
    return EstimateOfEqual(releases, level) if same else EstimateOfAlike(releases, level)


def strength_of(release: Release) -> float:
    """Epsilon; if no curator added Laplace noise, the epsilon of one with noise of the same strength."""
    if release.design.at_once:
        return Observations.every(release).strength
    if release.noise == LAPLACE:
        return float(release.loss.epsilon)
    return float(decision_loss(release.loss, release.noise).strength(SHARES))


def mean_maps_of_others(
    releases: tuple[Release, ...], level: int | None = None, volumes: tuple[float, ...] | None = None
) -> list[PublicMeasure | None]:
    """For each release the base measure that others make; volumes, if given, are those of the tables."""
    folds, measures = min(len(releases), _FOLDS), []
    for fold in range(folds):
        others = [number for number in range(len(releases)) if number % folds != fold]
        of_others = None if volumes is None else tuple(volumes[number] for number in others)
        found = EstimateOfEqual(tuple(releases[number] for number in others), level, of_others)
        measures.append(_measure(found.domain, found))
    return [measures[number % folds] for number in range(len(releases))]


def _measure(domain: Domain, others: EstimateOfEqual) -> PublicMeasure | None:
    """The base measure that others make; None if they show no people."""
    if others.total <= 0.0:
        return None
    return public_measure(np.maximum(raster_of(others.distribution()), 0.0), domain)


def _without_signal(domain: Domain) -> Leaves:
    """The root as the only leaf."""
    even = Distribution.uniform(domain)
    return Leaves(domain, even.levels, even.codes, even.mass, None)
