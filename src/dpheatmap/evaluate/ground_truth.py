"""The true distribution, by which estimates are judged. Private: it is the data."""

from __future__ import annotations

import numpy as np

from dpheatmap.curator import Counts
from dpheatmap.estimate.distribution import Distribution


def true_distribution(counts: Counts) -> Distribution:
    """Compute the exact average of people's distributions on the finest cells; flagged uniform if nobody is inside."""
    weights = np.diff(counts.sums).astype(np.float64)
    return Distribution.from_people(counts.domain, np.full(len(weights), counts.domain.depth), counts.codes, weights)
