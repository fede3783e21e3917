"""What statistical tests share: a p-value."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from dpheatmap.place.quadtree import Ints


def chi_square(observed: Ints, probabilities: Sequence[float] | NDArray[np.float64]) -> float:
    """The p-value of Pearson's test that the observed numbers have this law.

    It refuses cells that expect fewer than 100, where the far tail of the chi-square law is no longer that of the
    statistic and a p-value of 1e-8 would not mean what it says.
    """
    expected = np.asarray(probabilities, np.float64) * observed.sum()
    assert expected.min() >= 100, "merge cells or draw more samples"
    return float(stats.chisquare(observed, expected).pvalue)
