"""Numbers for people: ranges, areas, lengths and epsilon, never in scientific notation."""

from __future__ import annotations

import math
from fractions import Fraction

from dpheatmap._util.number_words import MINUS, digits, plain
from dpheatmap.design.shares import exact_text
from dpheatmap.place.domain import Domain


def ends(low: float, high: float) -> tuple[str, str]:
    """The ends of a range: whole numbers; below 10, with a decimal if they would be equal; else rounded outwards.

    >>> ends(83.2, 87.9), ends(5.2, 5.4), ends(0.02, 0.31), ends(250.2, 250.4)
    (('83', '88'), ('5.2', '5.4'), ('0', '0.4'), ('250', '251'))
    """
    if round(low) != round(high):
        return _whole(round(low)), _whole(round(high))
    if high < 10.0:
        low_end, high_end = math.floor(10.0 * low) / 10.0, math.ceil(10.0 * high) / 10.0
        return plain(low_end), plain(high_end if high_end > low_end else low_end + 0.1)
    return _whole(math.floor(low)), _whole(max(math.ceil(high), math.floor(low) + 1))


def range_in_words(low: float, high: float, between: str = " to ") -> str:
    """A range as :func:`ends` has it, but a short one below 10 has decimals, and one near 0 has no lower end.

    >>> range_in_words(66.6, 77.0), range_in_words(2.21, 2.79), range_in_words(0.01, 0.11), range_in_words(0.2, 7.0)
    ('67 to 77', '2.2 to 2.8', 'under 0.2', '0 to 7')
    """
    if high < 1.0 and low < 0.05:
        return f"under {plain(max(math.ceil(10.0 * high), 1) / 10.0)}"
    if high < 10.0 and high - low < 2.0:
        return between.join((f"{math.floor(10.0 * low) / 10.0:.1f}", f"{math.ceil(10.0 * high) / 10.0:.1f}"))
    return between.join(ends(low, high))


def about(value: float) -> str:
    """A number to two digits.

    >>> about(12.34), about(377.2), about(0.0456), about(45_678.0)
    ('12', '380', '0.046', '46,000')
    """
    return digits(value, 2)


def area_in_words(square_metres: float) -> str:
    """An area on the ground, to two or three digits.

    >>> area_in_words(377.2e6), area_in_words(12.4e6), area_in_words(5300.0), area_in_words(41_285e6)
    ('377 km²', '12 km²', '5,300 m²', '41,300 km²')
    """
    if square_metres < 1e5:
        return f"{about(square_metres)} m²"
    square = square_metres / 1e6
    return f"{digits(square, 3 if square >= 100 else 2)} km²"


def length_in_words(length: float, domain: Domain) -> str:
    """A length on the ground, in pixels or in sides, to three digits.

    >>> length_in_words(1234.5, Domain.bbox(6, 50, 7, 51)), length_in_words(0.02, Domain.unit())
    ('1.23 km', '0.02 of the side')
    """
    number, unit = domain.place.readable_length(length)
    return f"{digits(number, 3)} {unit}"


def epsilon_in_words(epsilon: Fraction) -> str:
    """Write epsilon as a short decimal or fraction if it is one, else approximately.

    >>> epsilon_in_words(Fraction(1, 4)), epsilon_in_words(Fraction(1, 3)), epsilon_in_words(Fraction(10**9, 7**11))
    ('0.25', '1/3', 'about 0.506')
    """
    exact = exact_text(epsilon)
    return exact if len(exact) <= 9 else f"about {digits(float(epsilon), 3)}"


def _whole(value: int) -> str:
    return f"{value:,}".replace("-", MINUS)
