"""How unevenly people lie in buckets of cells, exactly and in integers."""

from __future__ import annotations

import numpy as np

from dpheatmap.design.shares import FARTHEST
from dpheatmap.place.quadtree import Ints


def without_overflow(weights: Ints) -> Ints:
    """The weights, as Python's integers if their sum could be too large for 64 bits."""
    return weights.astype(object) if int((weights >> 31).sum()) >= FARTHEST >> 31 else weights


def half_deviations(weights: Ints, starts: Ints) -> Ints:
    """The half deviation of each bucket, rounded down; bucket k holds the cells ``starts[k] .. starts[k + 1] - 1``.

    *What is computed.* A bucket is a set of m cells with weights x_1 .. x_m (integers, in units) and mean ``S / m``.
    Its *half deviation* is ``h = sum_j max(S/m - x_j, 0)``, which is half of ``sum_j |x_j - S/m|``, the error of
    spreading the bucket's weight evenly. It is returned rounded down.

    *Why one unit moves it by at most one.* Add a unit to x_i. The mean rises by 1/m, so each of the m - 1 other terms
    rises by 0 to 1/m, together by at most 1 - 1/m; the term of i falls by 0 to 1 - 1/m, or stays 0. So h moves by at
    most 1 - 1/m, less than one, and its floor by at most one. Disjoint buckets: only that of i moves.

    *Why it is exact.* Let c be the number of cells below the mean and B their sum. Then
    ``floor(h) = floor(c S / m) - B`` and ``floor(c S / m) = c (S // m) + c (S % m) // m``. The first product is at most
    S, the second below m^2: no overflow in 64 bits for buckets of up to 2^31 cells that hold up to 2^61 units together;
    beyond that, give Python integers.

    >>> half_deviations(np.array([0, 4, 1, 1, 1, 0, 0, 5]), np.array([0, 2, 5])).tolist()  # 2, 0 and 10/3
    [2, 0, 3]
    """
    size = np.diff(np.append(starts, len(weights)))
    total = np.add.reduceat(weights, starts)
    # A whole number is below S/m iff it is below S/m rounded up.
    below = weights < np.repeat(-(-total // size), size)
    number = np.add.reduceat(below.astype(np.int64), starts)
    held = np.add.reduceat(np.where(below, weights, 0), starts)
    deviations: Ints = number * (total // size) + number * (total % size) // size - held
    return deviations
