"""Heatmaps from estimates: smooth the masses, and attach the place, the uncertainty and the promise."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from dpheatmap.estimate.distribution import Distribution
from dpheatmap.heatmap.heatmap import Heatmap
from dpheatmap.heatmap.smoothing import default_sigma, smooth

if TYPE_CHECKING:
    from dpheatmap.estimate.posterior.map_estimate import MapEstimate
    from dpheatmap.estimate.posterior.public_measure import PublicMeasure
    from dpheatmap.heatmap.combination import Combination
    from dpheatmap.releases.release import Release


def render(
    distribution: Distribution,
    *,
    sigma: float | None = None,
    size: int | None = None,
    release: Release,
    method: str = "posterior",
    prior: PublicMeasure | None = None,
) -> Heatmap:
    """Smooth a distribution into a heatmap of the release; :meth:`Release.heatmap` calls this.

    The uncertainty comes from the posterior, so only the method "posterior" has one.
    """
    from dpheatmap.estimate.posterior.map_estimate import EstimateOfRelease

    estimate = EstimateOfRelease(release, method, prior)
    heat = smooth_estimate(distribution, estimate, release, sigma=sigma, size=size, method=method)
    return replace(heat, release=release, ledger=release.ledger, priors=() if prior is None else prior.releases)


def smooth_estimate(
    distribution: Distribution,
    estimate: MapEstimate,
    promise: Release | Combination,
    *,
    sigma: float | None = None,
    size: int | None = None,
    method: str = "posterior",
) -> Heatmap:
    """Smooth the distribution of an estimate into a heatmap; ``promise`` tells what is promised to people."""
    from dpheatmap.heatmap.uncertainty import Uncertainty

    domain, empty = distribution.domain, distribution.empty
    sigma = default_sigma(domain) if sigma is None else sigma
    values = smooth(distribution, sigma, size)
    rows, columns = values.shape
    known = None
    if method == "posterior" and not empty:
        known = Uncertainty(estimate, domain, float(sigma), (rows, columns))
    return Heatmap(
        values, domain, float(sigma), promise.loss, promise.made, promise.seeded, empty, known, None, method,
        promise.trust, promise.noise, estimate,
    )  # fmt: skip
