"""Plans: arithmetic that can be checked by hand, and advice that follows it."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dpheatmap as dph


def test_levels_and_noise_are_those_of_the_release() -> None:
    domain = dph.Domain.bbox(-74.1, 40.6, -73.8, 40.9)
    plan = dph.plan(domain, epsilon="1/3", users=1000, width=30)
    nobody = np.zeros(0, dtype=np.int64)
    counts = dph.Counts.from_cells(domain, nobody, nobody, nobody)
    release = dph.release(counts, epsilon="1/3", width=30)
    assert sum(level.epsilon for level in plan.levels) == Fraction(1, 3)
    for level in plan.levels:
        assert level.epsilon == release.level_epsilon(level.level)
        assert level.noise == pytest.approx(math.sqrt(2) * release.noise_scale(level.level))
        assert level.cells_measured >= len(release.measurements.at(level.level)[0])


def test_cells_are_measured_on_the_ground() -> None:
    plan = dph.plan(dph.Domain.bbox(7, 60, 8, 61, depth=12), epsilon=1, users=100)
    finest = plan.levels[-1]
    assert finest.cell == pytest.approx(40_075_017 * math.cos(math.radians(60.5)) / 2**12, rel=1e-3)


@given(st.floats(0.01, 20), st.integers(1, 10**7))
def test_more_people_and_more_epsilon_never_show_less(epsilon: float, users: int) -> None:
    domain = dph.Domain.unit(8)
    here = dph.plan(domain, epsilon=epsilon, users=users)
    for better in (
        dph.plan(domain, epsilon=2 * epsilon, users=users),
        dph.plan(domain, epsilon=epsilon, users=2 * users),
    ):
        assert better.expected_emd <= here.expected_emd
        assert (better.smallest_feature or math.inf) <= (here.smallest_feature or math.inf)
    assert 0 < here.expected_emd <= 0.35


@pytest.mark.parametrize("south", [0, 40, 75])
def test_the_finest_level_is_said_to_be_reached_where_it_is(south: int) -> None:
    for depth in range(12, 18):
        plan = dph.plan(dph.Domain.bbox(7, south, 8, south + 0.5, depth=depth), epsilon=1, users=3000)
        assert ("finest level is reached" in plan.advice) == (plan.levels[-1].smallest_share <= 0.05)


def test_a_plan_needs_a_domain() -> None:
    with pytest.raises(dph.errors.DomainError, match=r"Domain\.bbox"):
        dph.plan("New York", epsilon=1, users=100)  # type: ignore[arg-type]


def test_advice_in_plain_words() -> None:
    domain = dph.Domain.unit(8)
    assert "little more than the outline" in dph.plan(domain, epsilon=0.1, users=200).advice
    assert "main centres" in dph.plan(domain, epsilon=1, users=300).advice
    assert "good map" in dph.plan(domain, epsilon=2, users=5000).advice
