"""What of a map is within the noise: places whose heat must not look as if it had been measured there."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dpheatmap.heatmap.heatmap import Heatmap
from dpheatmap.heatmap.smoothing import smooth

CONFIDENCE = 1.645
"""Standard deviations above nothing that heat must have to be drawn as heat: 95 % on one side."""

WITHIN_NOISE = "within the noise"
LEFT_OVER = "left over, spread evenly"
"""What is said of such places, in every legend."""

_LEFT_OVER = 0.5  # of a pixel's heat


def within_noise(heat: Heatmap) -> NDArray[np.bool_]:
    """The pixels whose heat can't be told from nothing: what is grey, or left out, in every picture and on every map.

    Where standard deviations are known, those with less than :data:`CONFIDENCE` of them. In the paper's reconstructions
    they are not; there, pixels whose heat is for the most part left over, that is spread evenly over coarse cells in
    which nothing was singled out.
    """
    if heat.uncertainty is not None:
        return np.asarray(CONFIDENCE * heat.uncertainty.roughly.relative_std > 1.0)
    release = heat.release
    if release is None or heat.empty:
        return np.zeros(heat.values.shape, dtype=bool)
    shown = release.distribution(method=heat.method)
    coarse = shown.levels < release.measured_levels[1]
    left_over = smooth(shown.only(coarse), heat.sigma, max(heat.values.shape))
    return np.asarray(left_over > _LEFT_OVER * heat.values)


def in_words(heat: Heatmap) -> str:
    """What is said of the pixels within the noise."""
    return LEFT_OVER if heat.uncertainty is None else WITHIN_NOISE


def noise_floor(heat: Heatmap, within: NDArray[np.bool_]) -> float | None:
    """The density that 95 % of the pixels within the noise stay below, all if none is clear; None if not known."""
    if heat.uncertainty is None or not within.any():
        return None
    return float(np.quantile(heat.density[within], 1.0 if within.all() else 0.95))
