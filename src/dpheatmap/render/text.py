"""Text on pictures, in the font that Pillow carries.

That font knows the degree sign and the middle dot but neither Greek letters nor a raised 2, so epsilon is written out
and the 2 of a square is drawn small and high.
"""

from __future__ import annotations

import unicodedata
from functools import cache

from PIL import ImageDraw, ImageFont

Colour = tuple[int, int, int]

_RAISED_SIZE = 0.62  # of the letters beside it
_RAISED_BY = 0.36


def text_width(text: str, size: float) -> float:
    """How many pixels wide a text of a size is."""
    return sum(_font(size * scale).getlength(part) for part, scale in _parts(text))


def draw_text(
    draw: ImageDraw.ImageDraw, x: float, y: float, text: str, *, size: float, colour: Colour, align: float = 0.0,
    halo: Colour | None = None,
) -> None:  # fmt: skip
    """Draw a text on the baseline ``y``; ``align`` is the part of it left of ``x``: 0, 0.5 or 1.

    With a ``halo`` its letters have a rim of that colour, so that they can be read on anything.
    """
    rim = 0 if halo is None else max(1, round(size / 10))
    x -= align * text_width(text, size)
    for part, scale in _parts(text):
        font = _font(size * scale)
        raised = 0.0 if scale == 1.0 else _RAISED_BY * size
        draw.text(
            (round(x), round(y - raised)), part, font=font, fill=colour, anchor="ls", stroke_width=rim, stroke_fill=halo
        )
        x += font.getlength(part)


def in_plain_letters(text: str) -> str:
    """A text in the signs that the font has: accents are left out, and a few letters written as two.

    >>> in_plain_letters("Køge"), in_plain_letters("Łódź"), in_plain_letters("Gießen, 5 km²")
    ('Koge', 'Lodz', 'Giessen, 5 km²')
    """
    known = [letter if letter in _KNOWN else unicodedata.normalize("NFKD", letter) for letter in text.translate(_PLAIN)]
    return "".join(letter for letter in "".join(known) if letter.isascii() or letter in _KNOWN)


_KNOWN = "°·²"
_PLAIN = str.maketrans(
    {"ß": "ss", "ø": "o", "Ø": "O", "ł": "l", "Ł": "L", "æ": "ae", "Æ": "Ae", "œ": "oe", "Œ": "Oe", "đ": "d", "Đ": "D"}
    | {"ð": "d", "þ": "th", "Þ": "Th", "ə": "e", "Ə": "E"}
    | {"\N{LATIN SMALL LETTER DOTLESS I}": "i", "\N{RIGHT SINGLE QUOTATION MARK}": "'", "\N{EN DASH}": "-"}
)


def _parts(text: str) -> list[tuple[str, float]]:
    """The text cut at its raised twos, with the size of each part."""
    plain = [(part, 1.0) for part in in_plain_letters(text).split("²")]
    return [part for pair in zip(plain, [("2", _RAISED_SIZE)] * len(plain), strict=True) for part in pair][:-1]


@cache
def _font(size: float) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    return ImageFont.load_default(size)
