"""Errors that were simulated beforehand, and values between them.

Errors are earth mover's distances of heatmaps smoothed by 2 % of the side, in sides of the domain. Heatmaps are those
that a release of a design gives by default: by the posterior, which is better than the paper's own reconstructions.

Which design is better depends on the map, too. So there are errors by the number of places that people are in: on
people in so many cells of 128 x 128, some busier than others, means of 4 draws, 3 of the last.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

NUMBERS_OF_PLACES = (1, 4, 16, 64, 256, 1024, 4096)
"""The numbers of places of a design's ``errors_by_places``."""


def between(table: Sequence[tuple[float, float]], signal: float) -> float:
    """The error at a signal, by powers between the entries of a table.

    >>> between([(10, 0.2), (1000, 0.02)], 100)
    0.06324555320336758
    """
    (low, most), (high, least) = table[0], table[-1]
    if signal <= low:
        return most
    if signal >= high:
        return least
    for (a, at_a), (b, at_b) in pairwise(table):
        if signal <= b:
            return float(at_a * (at_b / at_a) ** (math.log(signal / a) / math.log(b / a)))
    raise AssertionError("the table has an end")
