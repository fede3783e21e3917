"""Numbers as people write them: never in scientific notation."""

from __future__ import annotations

import math

MINUS = "\N{MINUS SIGN}"


def plain(value: float) -> str:
    """A number with a comma between thousands, and no decimals that it does not need.

    >>> plain(0.5), plain(20.0), plain(2000.0), plain(-5.0)
    ('0.5', '20', '2,000', '−5')
    """
    text = f"{value:,.12f}".rstrip("0").rstrip(".")
    return text.replace("-", MINUS)


def digits(value: float, count: int) -> str:
    """A number to so many digits; whole numbers keep theirs up to three.

    >>> digits(1234.5, 3), digits(0.00004567, 2), digits(816.0, 2), digits(0.0, 2), digits(14_300.0, 3)
    ('1,230', '0.000046', '820', '0', '14,300')
    """
    if value == 0.0:
        return "0"
    return plain(round(value, count - 1 - math.floor(math.log10(abs(value)))))
