"""The parts of a map within the noise: places whose heat can't be told from nothing."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dpheatmap.heatmap.heatmap import Heatmap
from dpheatmap.heatmap.smoothing import smooth

CONFIDENCE = 1.645
"""Heat is drawn as heat if it is this many standard deviations above 0: 95 % on one side."""

WITHIN_NOISE = "within the noise"
LEFT_OVER = "left over, spread evenly"
"""The words for such places in every legend."""

_LEFT_OVER = 0.5  # of a pixel's heat


def within_noise(heat: Heatmap) -> NDArray[np.bool_]:
    """Find the pixels whose heat can't be told from nothing; every picture and map draws them grey or leaves them out.

    Where standard deviations are known, these are the pixels with less than :data:`CONFIDENCE` of them. They are not
    known for the paper's reconstructions. There, these are the pixels whose heat is mostly left over: spread evenly
    over coarse cells in which nothing was singled out.
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
    """The words for the pixels within the noise."""
    return LEFT_OVER if heat.uncertainty is None else WITHIN_NOISE


def noise_floor(heat: Heatmap, within: NDArray[np.bool_]) -> float | None:
    """The density below which 95 % of the pixels within the noise stay (all, if none is clear); None if not known."""
    if heat.uncertainty is None or not within.any():
        return None
    return float(np.quantile(heat.density[within], 1.0 if within.all() else 0.95))
