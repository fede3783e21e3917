"""What statistical tests share: a p-value, and a lower bound on the epsilon that a mechanism really has."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from dpheatmap.quadtree import Ints


def chi_square(observed: Ints, probabilities: Sequence[float] | NDArray[np.float64]) -> float:
    """The p-value of Pearson's test that the observed numbers have this law.

    It refuses cells that expect fewer than 100, where the far tail of the chi-square law is no longer that of the
    statistic and a p-value of 1e-8 would not mean what it says.
    """
    expected = np.asarray(probabilities, np.float64) * observed.sum()
    assert expected.min() >= 100, "merge cells or draw more samples"
    return float(stats.chisquare(observed, expected).pvalue)


def epsilon_lower_bound(hits_a: int, n_a: int, hits_b: int, n_b: int, alpha: float) -> float:
    """A lower confidence bound on epsilon from runs of a mechanism on two neighbouring data sets A and B.

    Fix an event of outputs *before looking*, run the mechanism ``n_a`` times on A and ``n_b`` times on B, and count
    how often the event happens. An epsilon-DP mechanism has ``p_a <= e^epsilon p_b``, so ``epsilon >= log(p_a / p_b)``.
    Clopper and Pearson's bounds are exact for a binomial number of hits: with probability at least 1 - alpha/2 each,
    ``p_a`` is at least the alpha/2-quantile of Beta(hits, n - hits + 1), and ``p_b`` at most the (1 - alpha/2)-quantile
    of Beta(hits + 1, n - hits). So what is returned exceeds the true epsilon with probability at most alpha: if it
    exceeds the epsilon that was promised, the promise is broken. If it comes close, the noise is no larger than needed.

    >>> round(epsilon_lower_bound(1000, 1000, 0, 1000, 0.05), 3)  # log of p / (1 - p), p = 0.025^(1/1000)
    5.601
    >>> epsilon_lower_bound(0, 1000, 10, 1000, 0.05)
    -inf
    """
    lower = stats.beta.ppf(alpha / 2, hits_a, n_a - hits_a + 1) if hits_a > 0 else 0.0
    upper = stats.beta.isf(alpha / 2, hits_b + 1, n_b - hits_b) if hits_b < n_b else 1.0
    return math.log(lower / upper) if lower > 0 else -math.inf
