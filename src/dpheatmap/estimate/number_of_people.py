"""The number of all people, from every level that was measured, with its interval."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist

from dpheatmap._util.parameters import check
from dpheatmap.estimate.areas.area_estimate import WIDER, level_of_default_map
from dpheatmap.estimate.posterior.posterior import posterior
from dpheatmap.releases.release import Release


@dataclass(frozen=True)
class NumberOfPeople:
    """The estimated number of people. :attr:`Release.people` makes one.

    People are sums of weights: somebody with half of their events in the place counts one half.

    Attributes
    ----------
    mean : float
        The posterior mean.
    std : float
        The posterior standard deviation.
    """

    mean: float
    std: float

    def interval(self, confidence: float = 0.9) -> tuple[float, float]:
        """Compute an interval that holds the true number with the confidence given.

        Parameters
        ----------
        confidence : float, default 0.9
            The probability.

        Returns
        -------
        low, high : float
            The ends of the interval.

        Examples
        --------
        >>> NumberOfPeople(1000.0, 10.0).interval(0.95)
        (978.4, 1021.6)
        """
        check(confidence=confidence)
        reach = WIDER * self.std * NormalDist().inv_cdf(0.5 + 0.5 * confidence)
        return max(round(self.mean - reach, 1), 0.0), round(self.mean + reach, 1)


def number_of_people(release: Release) -> NumberOfPeople:
    """Estimate the number of people by the posterior of the default map, which is the same for every map of it."""
    found = posterior(release, None, level_of_default_map(release.domain))
    return NumberOfPeople(found.total, math.sqrt(float(found.node_variances[0])))
