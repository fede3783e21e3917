"""Removal of negative counts, for methods whose authors keep them because they only add counts up.

A distribution has no negative masses. Setting them to 0 would leave all the positive noise of empty cells in place. So
the nearest non-negative counts with the same sum are taken (known as norm-sub). This favours the rivals: on city maps
of 200 people it takes an eighth to a fifth off PrivTree's EMD and about half off the adaptive grid's, against setting
to 0; at small epsilon it costs them up to a quarter more KL.
"""

from __future__ import annotations

import numpy as np

from dpheatmap.place.domain import Floats


def nearest_non_negative(counts: Floats) -> Floats:
    """Find the non-negative numbers nearest to noisy counts, by squares, with the same sum; all 0 if it is negative.

    The same amount is subtracted from each, but not more than it has. If the k largest alone compensated for the
    others, it would be (their sum - the sum) / k each; the right k is where this is largest.

    >>> nearest_non_negative(np.array([5.0, -3.0, 1.0, 0.5])).tolist()
    [3.5, 0.0, 0.0, 0.0]
    """
    held = np.maximum(counts, 0.0)
    surplus = np.cumsum(-np.sort(-held)) - max(float(counts.sum()), 0.0)
    give = (surplus / np.arange(1, len(counts) + 1)).max()
    return np.maximum(held - max(float(give), 0.0), 0.0)
