"""The bounds of the audit, compared with SciPy's Beta law and with what they promise."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from dpheatmap.evaluate.audit.confidence import beta_quantile, epsilon_lower_bound


@given(
    st.integers(1, 10**6).flatmap(lambda n: st.tuples(st.just(n), st.integers(1, n))),
    st.floats(-12, -0.1).map(lambda power: 10.0**power),
)
def test_quantiles_are_scipys(hits_of: tuple[int, int], probability: float) -> None:
    n, hits = hits_of
    ours = beta_quantile(probability, hits, n - hits + 1)
    assert ours == pytest.approx(float(stats.beta.ppf(probability, hits, n - hits + 1)), rel=1e-9)


@given(st.integers(0, 1000), st.integers(0, 1000), st.floats(1e-9, 0.5))
def test_the_bound_is_that_of_clopper_and_pearson(a: int, b: int, alpha: float) -> None:
    lower = stats.beta.ppf(alpha / 2, a, 1001 - a) if a else 0.0
    upper = stats.beta.isf(alpha / 2, b + 1, 1000 - b) if b < 1000 else 1.0
    bound = epsilon_lower_bound(a, 1000, b, 1000, alpha)
    if a == 0:
        assert bound == -math.inf
    else:
        assert bound == pytest.approx(math.log(lower / upper), abs=1e-7)


def test_it_holds_as_often_as_it_says() -> None:
    """Of 20,000 bounds at alpha = 0.1 at most 10 % may exceed the truth, and six deviations more (1e-9)."""
    rng = np.random.default_rng(1)
    a, b = rng.binomial(200, 0.5, 20_000), rng.binomial(200, 0.5 * math.exp(-1), 20_000)
    pairs = list(zip(a.tolist(), b.tolist(), strict=True))
    bounds = {pair: epsilon_lower_bound(pair[0], 200, pair[1], 200, 0.1) for pair in set(pairs)}
    wrong = sum(bounds[pair] > 1 for pair in pairs)
    assert wrong <= 2000 + 6 * math.sqrt(20_000 * 0.1 * 0.9)
