"""The estimate of whatever people are estimated from: a release, or one slice of a release of several."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpheatmap.estimate.posterior.map_estimate import EstimateOfRelease, MapEstimate
from dpheatmap.releases.release import Release

if TYPE_CHECKING:
    from dpheatmap.releases.estimable import Estimable


def estimate_from(source: Estimable, level: int | None = None) -> MapEstimate:
    """The estimate of a release or a slice; what was measured below ``level`` is folded."""
    if isinstance(source, Release):
        return EstimateOfRelease(source, level=level)
    from dpheatmap.estimate.slices.slice_estimate import estimate_of_slice
    from dpheatmap.releases.release_slice import Slice

    assert isinstance(source, Slice)
    return estimate_of_slice(source.release, source.number, level)
