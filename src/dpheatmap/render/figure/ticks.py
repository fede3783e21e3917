"""Round numbers along a scale."""

from __future__ import annotations

import math


def even_ticks(high: float) -> list[float]:
    """Multiples of 1, 2 or 5 times a power of ten from 0 on, at most six.

    >>> even_ticks(340.0), even_ticks(1.7)
    ([0.0, 100.0, 200.0, 300.0], [0.0, 0.5, 1.0, 1.5])
    """
    step = 10.0 ** math.floor(math.log10(high / 2))
    step = next((step * digit for digit in (1, 2, 5, 10) if high / (step * digit) <= 5), 10 * step)
    return [step * k for k in range(int(high / step) + 1)]
