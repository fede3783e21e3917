"""Which of many changes are not noise."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from dpheatmap.place.domain import Floats


def discoveries(change: Floats, std: Floats, confidence: float = 0.95) -> NDArray[np.bool_]:
    """Find changes that are not noise, by the procedure of Benjamini and Hochberg, if they are normal.

    >>> discoveries(np.array([9.0, 0.5, -8.0]), np.ones(3)).tolist()
    [True, False, True]
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        strength = np.nan_to_num(np.abs(change) / std, nan=0.0, posinf=np.inf)
    chance = np.array([math.erfc(z / math.sqrt(2.0)) for z in strength.tolist()])
    allowed = (1.0 - confidence) * np.arange(1, len(chance) + 1) / len(chance)
    passing = np.flatnonzero(np.sort(chance) <= allowed)
    found: NDArray[np.bool_] = chance <= (np.sort(chance)[passing[-1]] if len(passing) else -1.0)
    return found
