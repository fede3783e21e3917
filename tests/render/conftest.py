from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from fractions import Fraction
from functools import cached_property
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from dpheatmap.design.privacy_loss import PureLoss
from dpheatmap.heatmap.heatmap import Heatmap
from dpheatmap.heatmap.uncertainty import Uncertainty
from dpheatmap.place.domain import Domain, Floats
from dpheatmap.releases.release import Release
from dpheatmap.render.figure.figure import Figure
from dpheatmap.testing import generated_people, seeded_release

MakeHeat = Callable[..., Heatmap]
CITY = Domain.bbox(7.30, 46.90, 7.50, 47.02, resolution=200)
SCREEN = Domain.image(64, 48)
PITCH = Domain.image(105, 68)
HARBOUR = Domain.bbox(-75.0, 40.0, -72.0, 42.0, depth=11)
KINDS = {"ground": CITY, "image": SCREEN, "unit square": Domain.unit(6)}
every_kind = pytest.mark.parametrize("domain", KINDS.values(), ids=KINDS)


@pytest.fixture(scope="session")
def city() -> Release:
    """A release of an invented city: measured cells of many sizes."""
    return released(CITY)


@pytest.fixture(scope="session")
def screen() -> Release:
    """A release of clicks on a screen."""
    return released(SCREEN)


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

    def relative_interval(self, confidence: float) -> tuple[Floats, Floats]:
        return np.maximum(1.0 - 1.645 * self.given, 0.0), 1.0 + 1.645 * self.given

    def relative_interval_together(self, confidence: float) -> tuple[Floats, Floats]:
        return np.maximum(1.0 - 3.0 * self.given, 0.0), 1.0 + 3.0 * self.given

    def relative_interval_of_highest(self, confidence: float) -> tuple[Floats, Floats]:
        return self.relative_interval_together(confidence)


def uncertain(heat: Heatmap, std: Floats) -> Heatmap:
    """The heatmap with these standard deviations."""
    rows, columns = heat.values.shape
    given = std / np.maximum(heat.values, 1e-300)
    return replace(heat, uncertainty=Given(heat.estimate, heat.domain, heat.sigma, (rows, columns), given=given))  # type: ignore[arg-type]


def heat_of(
    domain: Domain, values: np.ndarray | None = None, std: np.ndarray | None = None, **facts: object
) -> Heatmap:
    """A heatmap of a domain from values of any scale, or from random ones; ``std`` as it is to be."""
    finest = domain.cells(domain.depth)
    if values is None:
        values = np.random.default_rng(0).exponential(size=(finest.rows, finest.columns))
    about = {
        "sigma": 0.02 * domain.longer_side,
        "loss": PureLoss(Fraction(1, 3)),
        "made": datetime(2026, 1, 31, tzinfo=UTC),
        "seeded": False,
        "uniform": False,
    }
    heat = Heatmap(values / values.sum(), domain, **(about | facts))  # type: ignore[arg-type]
    return heat if std is None else uncertain(heat, std)


def bell(domain: Domain, wide: float = 0.1, spread: float = 0.05, **facts: object) -> Heatmap:
    """A heatmap of a bell whose standard deviations are ``spread`` of its values."""
    values = blob(domain, wide)
    return heat_of(domain, values, std=spread * values / values.sum(), **facts)


@pytest.fixture
def make_heat() -> MakeHeat:
    """Builds heatmaps: :func:`heat_of`."""
    return heat_of


@pytest.fixture
def photo(tmp_path: Path) -> Path:
    """A picture that is white on the left and blue on the right."""
    path = tmp_path / "photo.png"
    picture = Image.new("RGB", (128, 96), (255, 255, 255))
    picture.paste((0, 0, 200), (64, 0, 128, 96))
    picture.save(path)
    return path


def blob(domain: Domain, wide: float = 0.1) -> np.ndarray:
    """A bell in the middle of a domain."""
    finest = domain.cells(domain.depth)
    y, x = np.mgrid[0 : finest.rows, 0 : finest.columns]
    away = np.hypot(x - (finest.columns - 1) / 2, y - (finest.rows - 1) / 2) / max(finest.rows, finest.columns)
    bell: np.ndarray = np.exp(-0.5 * (away / wide) ** 2)
    return bell


def pixels_of(figure: Figure) -> np.ndarray:
    return figure.map_pixels().astype(int)
