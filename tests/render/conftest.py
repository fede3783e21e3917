from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from fractions import Fraction
from functools import cached_property

import numpy as np
import pytest

from dpheatmap.domain import Domain, Floats
from dpheatmap.estimate.uncertainty import Uncertainty
from dpheatmap.heatmap import Heatmap
from dpheatmap.release import Release
from dpheatmap.testing import generated_people, seeded_release

MakeHeat = Callable[..., Heatmap]
CITY = Domain.bbox(7.30, 46.90, 7.50, 47.02, resolution=100)


@pytest.fixture(scope="session")
def city() -> Release:
    """A release of an invented city: measured cells of many sizes."""
    return released(CITY)


@pytest.fixture(scope="session")
def screen() -> Release:
    """A release of clicks on a screen."""
    return released(Domain.image(64, 48))


def released(domain: Domain) -> Release:
    people = generated_people(3000, extent=domain.extent)
    return seeded_release(people, domain, seed=1, epsilon=1, user="person", x="x", y="y")


@dataclass(frozen=True, eq=False)
class Given(Uncertainty):
    """An uncertainty that is given instead of drawn."""

    given: Floats = field(default_factory=lambda: np.zeros((0, 0)))

    @cached_property
    def relative_std(self) -> Floats:
        return self.given


def uncertain(heat: Heatmap, std: Floats) -> Heatmap:
    """The heatmap with these standard deviations."""
    rows, columns = heat.values.shape
    given = std / np.maximum(heat.values, 1e-300)
    return replace(heat, uncertainty=Given(heat.release, heat.sigma, (rows, columns), given=given))  # type: ignore[arg-type]


@pytest.fixture
def make_heat() -> MakeHeat:
    """Builds a heatmap of a domain from values of any scale, or from random ones; ``std`` as it is to be."""

    def make(
        domain: Domain, values: np.ndarray | None = None, std: np.ndarray | None = None, **facts: object
    ) -> Heatmap:
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
        heat = Heatmap(values / values.sum(), domain, **(about | facts))  # type: ignore[arg-type]
        return heat if std is None else uncertain(heat, std)

    return make
