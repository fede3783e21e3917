"""The volumes of slices: how many people are in each, and which share of all, with intervals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from dpheatmap._util.extras import import_extra
from dpheatmap._util.parameters import check
from dpheatmap.place.domain import Floats
from dpheatmap.releases.sliced_release import SlicedRelease

if TYPE_CHECKING:
    from dpheatmap.estimate.posterior.map_estimate import MapEstimate

_DRAWS = 200


@dataclass(frozen=True, eq=False)
class Volumes:
    """The numbers of people in slices, which are sums of weights: all slices together count a person once.

    Attributes
    ----------
    labels : tuple of str
        The names of the slices.
    people : array of float
        The estimated number of people in each.
    draws : array of float
        Numbers that may be true, a row for each draw.
    """

    labels: tuple[str, ...]
    people: Floats
    draws: Floats

    @property
    def share(self) -> Floats:
        """The share of all people in each slice; if epsilon was split over slices, that of the sum of all slices."""
        share: Floats = self.people / max(float(self.people.sum()), 1e-9)
        return share

    @property
    def std(self) -> Floats:
        """The standard deviation of each number of people."""
        std: Floats = self.draws.std(axis=0)
        return std

    @property
    def faint(self) -> tuple[str, ...]:
        """The slices that may be empty, as far as the published values tell: the interval of 90 % begins below 1."""
        low, _ = self.interval()
        return tuple(label for label, least in zip(self.labels, low.tolist(), strict=True) if least < 1.0)

    def interval(self, confidence: float = 0.9) -> tuple[Floats, Floats]:
        """The ends of the interval of each number of people.

        Parameters
        ----------
        confidence : float, default 0.9
            The probability with which an interval holds the true value.

        Returns
        -------
        low, high : array of float
            The ends.
        """
        return self._interval(self.draws, confidence)

    def interval_of_share(self, confidence: float = 0.9) -> tuple[Floats, Floats]:
        """The ends of the interval of each share.

        Parameters
        ----------
        confidence : float, default 0.9
            The probability with which an interval holds the true value.

        Returns
        -------
        low, high : array of float
            The ends.
        """
        return self._interval(self.draws / np.maximum(self.draws.sum(axis=1, keepdims=True), 1e-9), confidence)

    @staticmethod
    def _interval(draws: Floats, confidence: float) -> tuple[Floats, Floats]:
        check(confidence=confidence)
        tail = 0.5 * (1.0 - confidence)
        low, high = np.quantile(draws, [tail, 1.0 - tail], axis=0)
        return np.maximum(low, 0.0), high

    def to_frame(self, confidence: float = 0.9) -> Any:
        """Convert the volumes to a data frame.

        Parameters
        ----------
        confidence : float, default 0.9
            The probability with which an interval holds the true value.

        Returns
        -------
        DataFrame
            The columns slice, people, people_low, people_high, share, low and high.
        """
        pandas = import_extra("pandas", "all", "A data frame")
        people, share = self.interval(confidence), self.interval_of_share(confidence)
        return pandas.DataFrame(
            {
                "slice": self.labels, "people": self.people, "people_low": people[0], "people_high": people[1],
                "share": self.share, "low": share[0], "high": share[1],
            }
        )  # fmt: skip


def volumes_of(release: SlicedRelease, estimates: Sequence[MapEstimate]) -> Volumes:
    """The volumes of all slices of a release, from their estimates."""
    from dpheatmap.estimate.slices.slice_estimate import drawn_totals

    people = np.array([estimate.total for estimate in estimates])
    return Volumes(release.slices, people, np.stack([drawn_totals(one, _DRAWS) for one in estimates], axis=1))
