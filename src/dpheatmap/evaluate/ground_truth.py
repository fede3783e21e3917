"""The true distribution, which estimates are judged by. Private: it is the data."""

from __future__ import annotations

import numpy as np

from dpheatmap.curator import Counts
from dpheatmap.estimate.distribution import Distribution


def true_distribution(counts: Counts) -> Distribution:
    """The average of people's distributions, exactly, on the finest cells; uniform and flagged if nobody is inside."""
    weights = np.diff(counts.sums).astype(np.float64)
    return Distribution.from_people(counts.domain, np.full(len(weights), counts.domain.depth), counts.codes, weights)
