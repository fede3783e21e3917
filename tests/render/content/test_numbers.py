"""Numbers for people: never in scientific notation, and no range without width."""

from __future__ import annotations

import re
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpheatmap._util.number_words import MINUS, plain
from dpheatmap.place.domain import Domain
from dpheatmap.render.content.numbers import about, area_in_words, ends, epsilon_in_words, length_in_words

CITY = Domain.bbox(6.9, 50.9, 7.3, 51.0)
ANY = st.floats(1e-9, 1e12)
NUMBER = re.compile(rf"{MINUS}?\d{{1,3}}(,\d{{3}})*(\.\d*[1-9])?")


def number(text: str) -> float:
    """The number that a text tells."""
    assert NUMBER.fullmatch(text), text
    return float(text.replace(",", "").replace(MINUS, "-"))


@given(value=ANY)
def test_no_number_is_scientific(value: float) -> None:
    assert number(plain(value)) == pytest.approx(value, abs=1e-10)
    assert number(plain(-value)) == -number(plain(value))
    assert number(about(value)) == pytest.approx(value, rel=0.06, abs=1e-10)
    for words, unit in ((area_in_words(value), r"k?m²"), (length_in_words(value, CITY), r"k?m")):
        text, _, told = words.partition(" ")
        assert re.fullmatch(unit, told)
        metres = value / (1e6 if told == "km²" else 1e3 if told == "km" else 1)
        assert number(text) == pytest.approx(metres, rel=0.06, abs=1e-10)
    for each in (Fraction(value), Fraction(1, max(1, int(value)))):
        assert re.fullmatch(r"(about )?[\d,]+(\.\d+|/\d+)?", epsilon_in_words(each))


@given(low=st.one_of(st.floats(0, 30), ANY), wider=st.one_of(st.just(0.0), st.floats(0, 30), ANY))
def test_a_range_has_two_ends_and_is_not_narrower_than_by_rounding(low: float, wider: float) -> None:
    high = low + wider
    first, last = map(number, ends(low, high))
    assert first < last
    assert first <= low + 0.5
    assert last >= high - 0.5
    if round(low) == round(high):  # rounded outwards
        assert first <= low
        assert last >= high - 1e-9
    assert last - first <= max(wider, 0.1) + 2.0 + 1e-9 * high


@given(low=st.floats(-50, 50), wider=st.floats(0, 50))
def test_ranges_of_changes_may_lie_about_zero(low: float, wider: float) -> None:
    first, last = map(number, ends(low, low + wider))
    assert first < last
    assert first - 0.5 <= low
    assert last + 0.5 >= low + wider


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
        (0.0, Domain.unit(), "0 of the side"),
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
        (Fraction(1, 10**6), "1/1000000"),
        (Fraction(1, 10**8), "about 0.00000001"),
    ],
)
def test_epsilon(epsilon: Fraction, words: str) -> None:
    assert epsilon_in_words(epsilon) == words
