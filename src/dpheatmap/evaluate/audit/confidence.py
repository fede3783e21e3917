"""A lower confidence bound on the true epsilon of a mechanism, from frequencies of events."""

from __future__ import annotations

import math

_CAUTION = 1e-9  # the distance by which a quantile is moved to the safe side, for rounding errors


def epsilon_lower_bound(hits_a: int, n_a: int, hits_b: int, n_b: int, alpha: float) -> float:
    """Compute a lower confidence bound on epsilon from runs of a mechanism on two neighbouring data sets A and B.

    Fix an event of outputs *before looking*, run the mechanism ``n_a`` times on A and ``n_b`` times on B, and count
    how often the event happens. An epsilon-DP mechanism has ``p_a <= e^epsilon p_b``, so ``epsilon >= log(p_a / p_b)``.
    Clopper and Pearson's bounds are exact for a binomial number of hits: with probability at least 1 - alpha/2 each,
    ``p_a`` is at least the alpha/2-quantile of Beta(hits, n - hits + 1), and ``p_b`` at most the (1 - alpha/2)-quantile
    of Beta(hits + 1, n - hits). So the result exceeds the true epsilon with probability at most alpha: if it exceeds
    the promised epsilon, the promise is broken. If it comes close, the noise is no larger than needed.

    >>> round(epsilon_lower_bound(1000, 1000, 0, 1000, 0.05), 3)  # log of p / (1 - p), p = 0.025^(1/1000)
    5.601
    >>> epsilon_lower_bound(0, 1000, 10, 1000, 0.05)
    -inf
    """
    if hits_a == 0:
        return -math.inf
    lower = beta_quantile(alpha / 2, hits_a, n_a - hits_a + 1) * (1 - _CAUTION)
    upper = (1 - beta_quantile(alpha / 2, n_b - hits_b, hits_b + 1)) * (1 + _CAUTION) if hits_b < n_b else 1.0
    return math.log(lower / upper)


def beta_quantile(probability: float, a: float, b: float) -> float:
    """The quantile of Beta(a, b) at a probability, by bisection.

    >>> round(beta_quantile(0.5, 1, 1), 12), round(beta_quantile(0.05, 10, 1), 12) == round(0.05**0.1, 12)
    (0.5, True)
    """
    low, high = 0.0, 1.0
    while True:
        middle = (low + high) / 2
        if middle in (low, high):
            return low
        low, high = (middle, high) if _beta_below(middle, a, b) < probability else (low, middle)


def _beta_below(x: float, a: float, b: float) -> float:
    """The distribution function of Beta(a, b): x^a (1-x)^b / (a B(a, b)) times a continued fraction.

    The fraction is 1 / (1 + d_1 / (1 + d_2 / (1 + ...))) with d_(2m+1) = -(a+m)(a+b+m) x / ((a+2m)(a+2m+1)) and
    d_(2m) = m (b-m) x / ((a+2m-1)(a+2m)), which converges fast left of the mean; right of it, a and b are swapped. It
    is evaluated from the front, as the product of ratios of successive numerators and denominators.
    """
    if x > (a + 1) / (a + b + 2):
        return 1 - _beta_below(1 - x, b, a)
    logs = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)
    value = over = 1.0
    under = 0.0  # over and under: ratios of successive numerators, and inverse ratios of successive denominators
    for step in range(1, 10_000):
        m = step // 2
        if step % 2:
            d = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        else:
            d = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        under = 1 / (1 + d * under)
        over = 1 + d / over
        value *= over * under
        if abs(over * under - 1) < 1e-15:
            break
    return math.exp(logs) / (a * value)
