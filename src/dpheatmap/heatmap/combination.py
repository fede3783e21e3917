"""Several releases about one place, combined into one map."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from fractions import Fraction
from functools import reduce
from operator import add

from dpheatmap._util.parameters import check
from dpheatmap.design.privacy_loss import PrivacyLoss
from dpheatmap.errors import ParameterError
from dpheatmap.estimate.distribution import Distribution
from dpheatmap.heatmap.heatmap import Heatmap
from dpheatmap.heatmap.rendering import smooth_estimate
from dpheatmap.heatmap.smoothing import sigma_of
from dpheatmap.place.domain import Domain
from dpheatmap.releases.copies import without_copies
from dpheatmap.releases.noise_law import NoiseLaw
from dpheatmap.releases.release import Release, need_release
from dpheatmap.releases.trust import Trust


@dataclass(frozen=True, eq=False)
class Combination:
    """Several releases about one place as one estimate; :func:`combine` makes one.

    Attributes
    ----------
    releases : tuple of Release
        The releases, each once, the oldest first.
    same : bool
        Whether they are about one table. Otherwise the map is that of all tables together.
    """

    releases: tuple[Release, ...]
    same: bool

    @property
    def domain(self) -> Domain:
        """The place."""
        return self.releases[0].domain

    @property
    def loss(self) -> PrivacyLoss:
        """The privacy loss of all releases together, for people who are in all of them: the sum."""
        return reduce(add, (release.loss for release in self.releases))

    @property
    def epsilon(self) -> Fraction:
        """The sum of the epsilons."""
        return self.loss.epsilon

    @property
    def delta(self) -> Fraction:
        """The sum of the deltas."""
        return self.loss.delta

    @property
    def made(self) -> datetime:
        """When the latest release was made."""
        return max(release.made for release in self.releases)

    @property
    def seeded(self) -> bool:
        """Whether the noise of any release came from a seed; then the combination is NOT PRIVATE."""
        return any(release.seeded for release in self.releases)

    @property
    def trust(self) -> Trust:
        """Who was trusted with people's data: a curator, if any release had one."""
        return self._most_trusting.trust

    @property
    def noise(self) -> NoiseLaw:
        """The law of the noise of the release that ``trust`` is of."""
        return self._most_trusting.noise

    @property
    def _most_trusting(self) -> Release:
        return min(self.releases, key=lambda release: release.trust.collected)

    def distribution(self) -> Distribution:
        """Estimate where people are, as masses of cells; this costs no budget.

        Returns
        -------
        Distribution
            Masses of disjoint cells that add up to 1, and the estimated number of people: those of the table if the
            releases are about one, else those of all tables together.
        """
        from dpheatmap.estimate.posterior.map_estimate import estimate_of

        return estimate_of(self.releases, same=self.same).distribution()

    def heatmap(self, *, sigma: float | None = None, size: int | None = None) -> Heatmap:
        """Make the smoothed map; this costs no budget.

        Parameters
        ----------
        sigma : float, optional
            The standard deviation of the Gaussian filter, as for :meth:`Release.heatmap`.
        size : int, optional
            The number of pixels on the longer side, as for :meth:`Release.heatmap`.

        Returns
        -------
        Heatmap
            The share of people in each pixel, with its uncertainty. Its label names every release.
        """
        from dpheatmap.estimate.posterior.folding import finest_level
        from dpheatmap.estimate.posterior.map_estimate import estimate_of

        sigma = sigma_of(self.domain, sigma)
        estimate = estimate_of(self.releases, same=self.same, level=finest_level(self.domain, sigma))
        heat = smooth_estimate(estimate.distribution(), estimate, self, sigma=sigma, size=size)
        return replace(heat, combined=self.releases)

    def __repr__(self) -> str:
        return (
            f"<Combination of {len(self.releases)} releases about {'one table' if self.same else 'several tables'}, "
            f"{self.domain.kind} domain, epsilon={self.epsilon}{f', delta={self.delta}' if self.delta else ''}"
            f"{', NOT PRIVATE' if self.seeded else ''}>"
        )


def combine(releases: Iterable[Release], *, same: bool) -> Combination:
    """Combine several releases about one place, each with its own noise, into one estimate. This costs no budget.

    Parameters
    ----------
    releases : iterable of Release
        Two or more different releases of one domain, with noise of one law. A release given twice counts once.
    same : bool
        Whether the releases are about the same table. If True, they measure the same people, and together they tell
        more about them. If False, they are about other days or other people: the map is that of all tables together,
        and each release helps to read the others as far as the evidence says that they are alike. Only you know which.

    Returns
    -------
    Combination
        The releases as one estimate, which makes maps as a release does.

    Raises
    ------
    ParameterError
        If there are fewer than two different releases, or if they differ in their domain or in the law of their noise.

    Examples
    --------
    >>> import dpheatmap as dph
    >>> from dpheatmap.testing import generated_people
    >>> people = generated_people(500)
    >>> a, b = (
    ...     dph.release(people, dph.Domain.unit(6), epsilon="0.5", user="person", x="x", y="y") for _ in range(2)
    ... )
    >>> both = dph.combine([a, b], same=True)
    >>> print(both.epsilon)
    1
    >>> both.heatmap(sigma=0.05, size=32).values.shape
    (32, 32)
    """
    check(same=same)
    if isinstance(releases, (Release, str)) or not isinstance(releases, Iterable):
        raise ParameterError(
            f"combine needs two or more releases; it was given a {type(releases).__name__}. Give a list of releases."
        )
    given = list(releases)
    for release in given:
        need_release(release)
    _refuse_other_places(given)
    _refuse_other_laws(given)
    found = without_copies(given)
    if len(found) < 2:
        raise ParameterError(
            f"combine needs two or more different releases; there were {len(found)}, since copies count once. "
            "Give another one, or make the map of this one."
        )
    return Combination(found, same)


def _refuse_other_places(releases: list[Release]) -> None:
    for release in releases[1:]:
        if release.domain != releases[0].domain:
            raise ParameterError(
                f"combine needs releases of one domain; they were of {releases[0].domain!r} and {release.domain!r}. "
                "Release on the same domain."
            )


def _refuse_other_laws(releases: list[Release]) -> None:
    laws = dict.fromkeys(_law_in_words(release.noise) for release in releases)
    if len(laws) > 1:
        raise ParameterError(
            f"combine needs releases with noise of one law; it was {' and '.join(laws)}. "
            "Combine those of each law by themselves."
        )


def _law_in_words(noise: NoiseLaw) -> str:
    """The law that the posterior reads noise by: its name, and how many are summed."""
    from dpheatmap.estimate.posterior.likelihood import law_of

    terms = len(law_of(noise)[0])
    return f"{noise.family}, {terms} summed" if terms > 1 else noise.family
