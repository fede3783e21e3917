"""Heatmaps from estimates: smooth the masses, and attach the place, the uncertainty and the promise."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from dpheatmap.estimate.distribution import Distribution
from dpheatmap.heatmap.heatmap import Heatmap
from dpheatmap.heatmap.smoothing import sigma_of, smooth

if TYPE_CHECKING:
    from dpheatmap.estimate.posterior.map_estimate import MapEstimate
    from dpheatmap.estimate.posterior.public_measure import PublicMeasure
    from dpheatmap.heatmap.combination import Combination
    from dpheatmap.releases.release import Release
    from dpheatmap.releases.sliced_release import SlicedRelease


def render(
    release: Release,
    *,
    sigma: float | None = None,
    size: int | None = None,
    method: str = "posterior",
    prior: PublicMeasure | None = None,
) -> Heatmap:
    """Smooth the estimate from a release into a heatmap; :meth:`Release.heatmap` calls this."""
    sigma = sigma_of(release.domain, sigma)
    from dpheatmap.estimate.posterior.folding import finest_level
    from dpheatmap.estimate.posterior.map_estimate import EstimateOfRelease

    estimate = EstimateOfRelease(release, method, prior, finest_level(release.domain, sigma))
    heat = smooth_estimate(estimate.distribution(), estimate, release, sigma=sigma, size=size, method=method)
    return replace(heat, release=release, ledger=release.ledger, priors=() if prior is None else prior.releases)


def smooth_estimate(
    distribution: Distribution,
    estimate: MapEstimate,
    promise: Release | SlicedRelease | Combination,
    *,
    sigma: float,
    size: int | None = None,
    method: str = "posterior",
) -> Heatmap:
    """Smooth the distribution of an estimate into a heatmap; ``promise`` tells what is promised to people.

    The uncertainty comes from the posterior, so only the method "posterior" has one.
    """
    from dpheatmap.heatmap.uncertainty import Uncertainty

    domain, uniform = distribution.domain, distribution.empty
    values = smooth(distribution, sigma, size)
    rows, columns = values.shape
    known = None
    if method == "posterior" and not uniform:
        known = Uncertainty(estimate, domain, sigma, (rows, columns))
    return Heatmap(
        values, domain, sigma, promise.loss, promise.made, promise.seeded, uniform, known, None, method,
        promise.trust, promise.noise, estimate,
    )  # fmt: skip
