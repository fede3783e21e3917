"""Confidence bounds from frequencies of events: on probabilities, and on the true epsilon of a mechanism."""

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
    return math.log(clopper_pearson(hits_a, n_a, alpha)[0] / clopper_pearson(hits_b, n_b, alpha)[1])


def clopper_pearson(hits: int, n: int, alpha: float) -> tuple[float, float]:
    """Compute bounds on a probability from a binomial number of hits; each is wrong with probability alpha/2 at most.

    >>> [round(end, 4) for end in clopper_pearson(61, 100, 0.1)], clopper_pearson(0, 1, 0.5)[0]
    ([0.5231, 0.6919], 0.0)
    """
    lower = beta_quantile(alpha / 2, hits, n - hits + 1) * (1 - _CAUTION) if hits else 0.0
    upper = (1 - beta_quantile(alpha / 2, n - hits, hits + 1)) * (1 + _CAUTION) if hits < n else 1.0
    return lower, min(upper, 1.0)


def rho_lower_bound(hits_a: int, n_a: int, hits_b: int, n_b: int, alpha: float) -> float:
    """Compute a lower confidence bound on rho from runs of a mechanism on two neighbouring data sets A and B.

    Whether a fixed event happens is a function of the output, so a rho-zCDP mechanism has, for every order a > 1, a
    Renyi divergence of at most a rho between the two coins of probabilities ``p_a`` and ``p_b``. Where ``p_a`` is above
    ``p_b`` the divergence grows with the one and falls with the other, so Clopper and Pearson's bounds can stand for
    them, as above. Orders are a grid: any of them proves the bound.

    >>> 0.35 < rho_lower_bound(84_000, 100_000, 16_000, 100_000, 1e-6) / 2 < 1
    True
    """
    if hits_a == 0 or hits_b == n_b:
        return 0.0
    low = beta_quantile(alpha / 2, hits_a, n_a - hits_a + 1) * (1 - _CAUTION)
    high = (1 - beta_quantile(alpha / 2, n_b - hits_b, hits_b + 1)) * (1 + _CAUTION)
    if low <= high:
        return 0.0
    return max(coin_divergence(low, high, 1 + 10 ** (step / 10)) / (1 + 10 ** (step / 10)) for step in range(-30, 11))


def coin_divergence(p: float, q: float, order: float) -> float:
    """The Renyi divergence between coins of probabilities p and q, strictly between 0 and 1, less a little.

    >>> round(coin_divergence(0.5, 0.25, 2), 6)  # log(1/4 / 1/4 + 1/4 / 3/4)
    0.287682
    """
    heads = order * math.log(p) + (1 - order) * math.log(q)
    tails = order * math.log1p(-p) + (1 - order) * math.log1p(-q)
    larger = max(heads, tails)
    both = larger + math.log(math.exp(heads - larger) + math.exp(tails - larger))
    return (both / (order - 1)) * (1 - _CAUTION) - _CAUTION


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
