"""One slice of a sliced release. It offers what a release of one map does."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction
from typing import TYPE_CHECKING

from dpheatmap.design.privacy_loss import PureLoss
from dpheatmap.design.registry import check_method
from dpheatmap.place.domain import Domain
from dpheatmap.releases.estimable import Estimable
from dpheatmap.releases.noise_law import NoiseLaw
from dpheatmap.releases.release import LedgerEntry
from dpheatmap.releases.trust import Trust

if TYPE_CHECKING:
    from dpheatmap.estimate.distribution import Distribution
    from dpheatmap.heatmap.heatmap import Heatmap
    from dpheatmap.releases.sliced_release import SlicedRelease


@dataclass(frozen=True, eq=False)
class Slice(Estimable):
    """One slice of a sliced release, made by :meth:`SlicedRelease.slice`.

    It can stand where a :class:`Release` does: for maps, areas, synthetic points and :func:`kmedian`. What is promised
    to people is the promise of all slices together.

    Attributes
    ----------
    release : SlicedRelease
        The release that it is a slice of.
    name : str
        Its name, one of ``release.slices``.
    """

    release: SlicedRelease
    name: str

    @property
    def number(self) -> int:
        """Its place in ``release.slices``."""
        return self.release.number_of(self.name)

    @property
    def domain(self) -> Domain:
        """The public place."""
        return self.release.domain

    @property
    def loss(self) -> PureLoss:
        """The privacy loss of all slices together."""
        return self.release.loss

    @property
    def epsilon(self) -> Fraction:
        """The epsilon of all slices together."""
        return self.release.epsilon

    @property
    def delta(self) -> Fraction:
        """The probability that more than epsilon leaks: 0."""
        return self.release.delta

    @property
    def seeded(self) -> bool:
        """Whether the noise came from a seed; such a release is NOT PRIVATE."""
        return self.release.seeded

    @property
    def made(self) -> datetime:
        """When the release was made, with a time zone."""
        return self.release.made

    @property
    def ledger(self) -> LedgerEntry | None:
        """The entry of the ledger that all slices were charged to."""
        return self.release.ledger

    @property
    def trust(self) -> Trust:
        """Who was trusted with people's data: a curator."""
        return self.release.trust

    @property
    def noise(self) -> NoiseLaw:
        """The law of the noise."""
        return self.release.noise

    @property
    def label(self) -> Mapping[str, str]:
        """The privacy label of the release, and which of its slices this is."""
        return {**self.release.label, "slice": self.name}

    def distribution(self, *, method: str = "posterior") -> Distribution:
        """Estimate where people of the slice are, as masses of cells; this costs no budget.

        Parameters
        ----------
        method : {"posterior"}, default "posterior"
            The reconstruction; slices have no other.

        Returns
        -------
        Distribution
            Masses of disjoint cells that add up to 1, and the estimated number of people in the slice.
        """
        from dpheatmap.estimate.estimates import estimate_from

        check_method(method, self.release.design.name)
        return estimate_from(self).distribution()

    def heatmap(self, *, sigma: float | None = None, size: int | None = None, method: str = "posterior") -> Heatmap:
        """Make the smoothed map of the slice; this costs no budget.

        Parameters
        ----------
        sigma : float, optional
            The standard deviation of the Gaussian filter, as for :meth:`Release.heatmap`.
        size : int, optional
            The number of pixels on the longer side, as for :meth:`Release.heatmap`.
        method : {"posterior"}, default "posterior"
            The reconstruction; slices have no other.

        Returns
        -------
        Heatmap
            The share of the slice's people in each pixel.
        """
        check_method(method, self.release.design.name)
        return self.release.heatmap(sigma=sigma, size=size)[self.name]

    def __repr__(self) -> str:
        return f"<Slice {self.name!r} of {self.release!r}>"
