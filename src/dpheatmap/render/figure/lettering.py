"""Text on pictures in the font of the package: the same on every machine, with the accents of place names."""

from __future__ import annotations

import io
import unicodedata
from functools import cache
from importlib import resources

from PIL import ImageDraw, ImageFont

Colour = tuple[int, int, int]

FONT = resources.files("dpheatmap.render.figure") / "font" / "inter.ttf"
"""The font: Inter, cut by ``scripts/font`` to Latin, Greek and Cyrillic letters."""

_NO_LETTER = "\N{REPLACEMENT CHARACTER}"


def text_width(text: str, size: float) -> float:
    """The width in pixels of a text of a size."""
    return _font(size).getlength(in_letters_of_the_font(text))


def draw_text(
    draw: ImageDraw.ImageDraw, x: float, y: float, text: str, *, size: float, colour: Colour, align: float = 0.0,
    halo: Colour | None = None,
) -> None:  # fmt: skip
    """Draw a text on the baseline ``y``; ``align`` is the part of it left of ``x``: 0, 0.5 or 1.

    With a ``halo`` its letters have a rim of that colour, so that they can be read on any background.
    """
    rim = 0 if halo is None else max(1, round(size / 10))
    at = round(x - align * text_width(text, size)), round(y)
    shown = in_letters_of_the_font(text)
    draw.text(at, shown, font=_font(size), fill=colour, anchor="ls", stroke_width=rim, stroke_fill=halo)


def in_letters_of_the_font(text: str) -> str:
    """Reduce a text to the letters of the font: others lose their accents, and are dropped if that does not help.

    >>> in_letters_of_the_font("Łódź, Zürich, Αθήνα, 5 km²"), in_letters_of_the_font("Al Ghayz̧ah 東")
    ('Łódź, Zürich, Αθήνα, 5 km²', 'Al Ghayzah ')
    """
    whole = unicodedata.normalize("NFC", text)
    return "".join(
        letter if has(letter) else "".join(filter(has, unicodedata.normalize("NFKD", letter))) for letter in whole
    )


@cache
def has(letter: str) -> bool:
    """Whether the font has a letter."""
    return bytes(_font(20).getmask(letter)) != bytes(_font(20).getmask(_NO_LETTER))


@cache
def _font(size: float) -> ImageFont.FreeTypeFont:
    # Pillow's basic layout: the other is not available on every machine, and places a few letters differently.
    return ImageFont.truetype(io.BytesIO(_font_file()), size, layout_engine=ImageFont.Layout.BASIC)


@cache
def _font_file() -> bytes:
    return FONT.read_bytes()
