"""Epsilon is read as it was written, and its parts add up to it exactly."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpheatmap.design.shares import PAPER_DECAY, SHARES, UNITS, exact_text, part, read_epsilon, split_over_levels
from dpheatmap.errors import ParameterError

settings.register_profile("patient", deadline=None)
settings.load_profile("patient")

decays = st.one_of(
    st.floats(0.5, 1), st.just(1), st.fractions(Fraction(1, 2), 1, max_denominator=10**6), st.just(PAPER_DECAY)
)


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        (1, 1), (0.1, Fraction(1, 10)), ("0.1", Fraction(1, 10)), ("1/3", Fraction(1, 3)), (" 2 ", 2),
        ("1e-3", Fraction(1, 1000)),
        (Fraction(1, 7), Fraction(1, 7)), (Decimal("0.3"), Fraction(3, 10)), (np.float64(0.1), Fraction(1, 10)),
        (np.int64(3), 3), (10**6, 10**6), ("1_000", 1000), (1e-9, Fraction(1, 10**9)),
    ],
)  # fmt: skip
def test_epsilon_is_the_fraction_it_was_written_as(written: Any, meant: Fraction) -> None:
    exact = read_epsilon(written)
    assert type(exact) is Fraction
    assert exact == meant


def test_ten_times_a_tenth_is_one() -> None:
    assert sum([read_epsilon(0.1)] * 10) == 1
    assert sum([0.1] * 10) != 1


@given(st.floats(1e-300, 1e6))
def test_a_float_is_the_decimal_it_prints_as(value: float) -> None:
    assert (
        read_epsilon(value) == Fraction(repr(value)) == read_epsilon(repr(value)) == read_epsilon(Decimal(repr(value)))
    )


@pytest.mark.parametrize(
    "refused",
    [
        0, 0.0, -1, -0.5, "0", "-1/3", "1/0", "x", "", " ", "nan", "inf", math.nan, math.inf, -math.inf, None, True,
        False, 1j, b"1", [1], Decimal("NaN"), Decimal("Infinity"), Decimal("sNaN"), Decimal(0), Fraction(0), 10**6 + 1,
        10**400, "1e400", "1e999999999", Decimal("1e999999999"), "1e-999999999", np.float64("nan"), np.bool_(True),
        np.ones(2),
        "1e-401", "1e-5000", Decimal("1e-5000"), Fraction(1, 10**400), Fraction(1, 10**5000),
        Fraction(10**6000, 10**5999 + 1), "1/1" + "0" * 5000, "0." + "1" * 401, "0." + "1" * 5000,
        Decimal("0." + "1" * 10**6), "9" * 5000 + "/7",
    ],
    ids=lambda value: str(type(value).__name__),
)  # fmt: skip
def test_what_is_no_epsilon_is_refused_at_once(refused: Any) -> None:
    with pytest.raises(
        ParameterError,
        match=r"^epsilon must be a number above 0 and at most 1000000, of at most 400 digits; it was .*\. Give it",
    ):
        read_epsilon(refused)


@given(st.integers(0, 28), st.integers(0, 28), decays, st.fractions(Fraction(1, 10**6), 100))
def test_parts_sum_to_epsilon_and_fall_by_the_decay(a: int, b: int, decay: Any, epsilon: Fraction) -> None:
    first, last = sorted((a, b))
    shares = split_over_levels(first, last, decay)
    assert list(shares) == list(range(first, last + 1))
    assert sum(shares.values()) == SHARES
    assert sum(part(epsilon, share) for share in shares.values()) == epsilon
    gamma = decay if isinstance(decay, Fraction) else Fraction(repr(decay))
    for level, share in shares.items():
        ideal = gamma ** (level - first) * SHARES / sum(gamma**k for k in range(last - first + 1))
        # Rounded down, but for the first level, which gets what that leaves: less than a share for each level.
        low, high = (0, last - first + 1) if level == first else (-1, 0)
        assert low <= share - ideal <= high


def test_the_papers_decay() -> None:
    assert PAPER_DECAY**2 < Fraction(1, 2) < (PAPER_DECAY + Fraction(1, 2**64)) ** 2
    assert split_over_levels(5, 5) == {5: SHARES}
    shares = split_over_levels(2, 8)
    assert shares[4] / shares[3] == pytest.approx(1 / math.sqrt(2), rel=1e-8)


def test_a_split_is_not_shared_between_callers() -> None:
    split_over_levels(0, 3)[0] = 0
    assert sum(split_over_levels(0, 3).values()) == SHARES


@pytest.mark.parametrize("decay", [1e-12, 1e-300, Fraction(1, 2**33)])
def test_a_decay_that_leaves_a_level_nothing_is_refused(decay: Any) -> None:
    with pytest.raises(ParameterError, match="decay leaves nothing of epsilon for level 3"):
        split_over_levels(0, 3, decay)


def test_units_stay_inside_64_bits() -> None:
    """W times the largest weight, and all people of the world in one cell."""
    assert UNITS == 2**30
    assert UNITS * 2**31 < 2**62
    assert UNITS * 8 * 10**9 < 2**63


def test_the_units_are_those_of_the_file_format() -> None:
    assert (SHARES, UNITS) == (2**32, 2**30)


@pytest.mark.parametrize(
    ("epsilon", "text"),
    [("1/4", "0.25"), ("1/3", "1/3"), ("2/3", "2/3"), ("10", "10"), ("1/1024", "0.0009765625"), ("12345678901", None)],
)
def test_text_of_an_epsilon_is_exact_and_short_where_it_can_be(epsilon: str, text: str | None) -> None:
    shown = exact_text(Fraction(epsilon))
    assert Fraction(shown) == Fraction(epsilon)
    assert shown == (text or epsilon)
