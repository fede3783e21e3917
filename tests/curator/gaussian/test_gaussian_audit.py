"""The audit of Gaussian releases from outside finds planted bugs, and does not cry wolf: a false alarm in 10^6 runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpheatmap.curator.core import measure
from dpheatmap.curator.core.counts import Counts
from dpheatmap.curator.gaussian import gaussian_measure
from dpheatmap.curator.gaussian.discrete_gaussian import DiscreteGaussian, discrete_gaussian
from dpheatmap.evaluate.audit.audit import audit
from dpheatmap.evaluate.audit.confidence import coin_divergence, rho_lower_bound
from dpheatmap.evaluate.audit.gaussian_shapes import gaussian_shapes
from dpheatmap.place.quadtree import Ints

Patch = pytest.MonkeyPatch


def test_honest_releases_are_not_refuted() -> None:
    found = audit(2, only=[shape.name for shape in gaussian_shapes(2)], effort=0.4, workers=2)  # type: ignore[arg-type]
    assert len(found.findings) == 4
    assert not found.refuted
    assert found.bound > 1.3  # of 2: the audit sees most of what there is to see


def half_the_variance(patch: Patch) -> None:
    patch.setattr(gaussian_measure, "discrete_gaussian", lambda variance: discrete_gaussian(variance / 3))


def a_weight_of_two(patch: Patch) -> None:
    exact = Counts.exact
    patch.setattr(Counts, "exact", lambda self, level, cells: 2 * exact(self, level, cells))


def four_times_rho_on_each_level(patch: Patch) -> None:
    """Each level is measured as if it had four times its part."""
    honest = gaussian_measure._noise_of

    def quieter(*given: Any) -> dict[int, DiscreteGaussian]:
        return {share: discrete_gaussian(noise.variance / 4) for share, noise in honest(*given).items()}

    patch.setattr(gaussian_measure, "_noise_of", quieter)


def noise_of_a_seed(patch: Patch) -> None:
    exact = DiscreteGaussian.exact

    def repeated(self: DiscreteGaussian, size: int, source: Any) -> Ints:
        stream = np.random.default_rng(5)
        return exact(self, size, stream.bytes)

    patch.setattr(DiscreteGaussian, "exact", repeated)


@pytest.mark.parametrize(
    ("bug", "shape"),
    [
        (half_the_variance, "one cell, Gaussian"),
        (a_weight_of_two, "one cell, Gaussian"),
        (four_times_rho_on_each_level, "two levels, Gaussian"),
        (noise_of_a_seed, "one cell, Gaussian"),
    ],
)
def test_planted_bugs_are_found(bug: Callable[[Patch], None], shape: str, monkeypatch: Patch) -> None:
    bug(monkeypatch)
    measure.noise_of_shares.cache_clear()
    assert audit(2, only=[shape], effort=0.5 if shape.startswith("one") else 1, workers=1).refuted


@given(p=st.floats(0.01, 0.99), q=st.floats(0.01, 0.99), order=st.floats(1.01, 20))
def test_divergences_of_coins_are_no_larger_than_they_are(p: float, q: float, order: float) -> None:
    exact = np.log(p**order * q ** (1 - order) + (1 - p) ** order * (1 - q) ** (1 - order)) / (order - 1)
    assert exact - 1e-6 * max(1, exact) <= coin_divergence(p, q, order) <= exact + 1e-12


def test_nothing_seen_bounds_nothing() -> None:
    assert rho_lower_bound(0, 100, 0, 100, 1e-6) == 0
    assert rho_lower_bound(100, 100, 100, 100, 1e-6) == 0
    assert rho_lower_bound(10, 100, 50, 100, 1e-6) == 0
    assert rho_lower_bound(99_000, 100_000, 10, 100_000, 1e-6) > 5
