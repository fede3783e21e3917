from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from fractions import Fraction

import numpy as np
import pytest

from dpheatmap.domain import Domain
from dpheatmap.heatmap import Heatmap

MakeHeat = Callable[..., Heatmap]


@pytest.fixture
def make_heat() -> MakeHeat:
    """Builds a heatmap of a domain from values of any scale, or from random ones."""

    def make(domain: Domain, values: np.ndarray | None = None, **facts: object) -> Heatmap:
        finest = domain.cells(domain.depth)
        if values is None:
            values = np.random.default_rng(0).exponential(size=(finest.rows, finest.columns))
        about = {
            "sigma": 0.02 * domain.longer_side,
            "epsilon": Fraction(1, 3),
            "made": datetime(2026, 1, 31, tzinfo=UTC),
            "seeded": False,
            "empty": False,
        }
        return Heatmap(values / values.sum(), domain, **(about | facts))  # type: ignore[arg-type]

    return make
