"""What of a map is within the noise: places whose heat must not look as if it had been measured there."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from dpheatmap.heatmap import Heatmap
from dpheatmap.smoothing import smoothed

CONFIDENCE = 1.645
"""Standard deviations above nothing that heat must have to be drawn as heat: 95 % on one side."""

_LEFT_OVER = 0.5  # of a pixel's heat
_DRAWS = 40  # tell a standard deviation to 11 %, which is enough for a colour


def within_noise(heat: Heatmap) -> NDArray[np.bool_]:
    """The pixels whose heat can't be told from nothing.

    Where standard deviations are known, those with less than :data:`CONFIDENCE` of them. In the paper's reconstructions
    they are not; there, pixels whose heat is for the most part left over, that is spread evenly over coarse cells in
    which nothing was singled out.
    """
    if heat.uncertainty is not None:
        roughly = replace(heat.uncertainty, count=_DRAWS)
        return np.asarray(CONFIDENCE * roughly.relative_std > 1.0)
    release = heat.release
    if release is None or heat.empty:
        return np.zeros(heat.values.shape, dtype=bool)
    shown = release.distribution(method=heat.method)
    coarse = shown.levels < release.measured_levels[1]
    left_over = smoothed(shown.only(coarse), heat.sigma, max(heat.values.shape))
    return np.asarray(left_over > _LEFT_OVER * heat.values)


def noise_floor(heat: Heatmap, within: NDArray[np.bool_]) -> float | None:
    """The density that 95 % of the pixels within the noise stay below; None if they are not known."""
    if heat.uncertainty is None or not within.any():
        return None
    return float(np.quantile(heat.density[within], 0.95))
