from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest

from dpheatmap.heatmap.heatmap import Heatmap
from dpheatmap.place.domain import Domain
from dpheatmap.place.projection import EARTH_CIRCUMFERENCE
from dpheatmap.render.wording import density_in_words, epsilon_in_words, length_in_words

MakeHeat = Callable[..., Heatmap]
CITY, WORLD = Domain.bbox(6.9, 50.9, 7.3, 51.0), Domain.bbox(-180, -85, 180, 85, depth=3)


@pytest.mark.parametrize(
    ("domain", "unit"),
    [
        (Domain.bbox(7, 50, 7.000003, 50.000002, depth=28), "% of people per 100 cm²"),
        (Domain.bbox(7, 50, 7.00005, 50.00003, depth=26), "% of people per m²"),
        (Domain.bbox(7, 50, 7.0002, 50.0001, depth=21), "% of people per 100 m²"),
        (Domain.bbox(7, 50, 7.004, 50.002, depth=17), "% of people per hectare"),
        (Domain.bbox(7, 50, 7.05, 50.03, depth=14), "% of people per km²"),
        (Domain.bbox(7, 50, 7.4, 50.2, depth=11), "% of people per 100 km²"),
        (Domain.bbox(0, 40, 10, 50, depth=5), "% of people per 10,000 km²"),
        (WORLD, "% of people per million km²"),
        (Domain.image(12, 12), "% of people per pixel"),
        (Domain.image(100, 100), "% of people per 100 pixels"),
        (Domain.image(800, 800), "% of people per 10,000 pixels"),
        (Domain.image(3000, 3000, depth=3), "% of people per million pixels"),
        (Domain.unit(3), "density (1 = uniform)"),
    ],
)
def test_the_hottest_place_reads_well(make_heat: MakeHeat, domain: Domain, unit: str) -> None:
    finest = domain.cells(domain.depth)
    density, name = density_in_words(make_heat(domain, np.ones((finest.rows, finest.columns))))
    assert name == unit
    assert 0.3 <= density.max() <= 60


def test_shares_per_km2_add_up_over_the_ground(make_heat: MakeHeat) -> None:
    density, name = density_in_words(make_heat(WORLD))
    assert name == "% of people per million km²"
    v = (np.arange(8) + 0.5) / 8
    side = EARTH_CIRCUMFERENCE / 8 / np.cosh(np.pi * (1 - 2 * v))
    assert (density * (side**2)[:, None] / 1e12).sum() == pytest.approx(100)


def test_uniform_density_of_a_square_is_one(make_heat: MakeHeat) -> None:
    density, _ = density_in_words(make_heat(Domain.unit(4), np.ones((16, 16))))
    assert density == pytest.approx(np.ones((16, 16)))


@pytest.mark.parametrize(
    ("length", "domain", "words"),
    [
        (200, CITY, "200 m"),
        (999.4, CITY, "999 m"),
        (12_345, CITY, "12.3 km"),
        (5_000_000, CITY, "5,000 km"),
        (0.25, CITY, "0.25 m"),
        (12.8, Domain.image(9, 9), "12.8 px"),
        (1_234_567, Domain.image(9, 9), "1,230,000 px"),
        (0.02, Domain.unit(), "0.02 of the side"),
    ],
)
def test_lengths(length: float, domain: Domain, words: str) -> None:
    assert length_in_words(length, domain) == words


@pytest.mark.parametrize(
    ("epsilon", "words"),
    [
        (Fraction(1), "1"),
        (Fraction(1, 10), "0.1"),
        (Fraction(20), "20"),
        (Fraction(2, 3), "2/3"),
        (Fraction(123456789, 1000000007), "about 0.123"),
        (Fraction(10**6), "1000000"),
    ],
)
def test_epsilon(epsilon: Fraction, words: str) -> None:
    assert epsilon_in_words(epsilon) == words
