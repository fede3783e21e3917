"""Text on pictures in the fonts of the package: the same on every machine, with the accents of place names."""

from __future__ import annotations

import io
import unicodedata
from functools import cache
from importlib import resources

from PIL import ImageDraw, ImageFont

from dpheatmap.render.palette import Rgb

REGULAR, SEMIBOLD = 400, 600
"""The weights of letters."""

FONTS = {
    weight: resources.files("dpheatmap.render.figure") / "font" / name
    for weight, name in ((REGULAR, "inter.ttf"), (SEMIBOLD, "inter-semibold.ttf"))
}
"""The fonts by weight: Inter, cut by ``scripts/font`` to Latin, Greek and Cyrillic letters."""

_NO_LETTER = "\N{REPLACEMENT CHARACTER}"


def text_width(text: str, size: float, weight: int = REGULAR) -> float:
    """The width in pixels of a text of a size."""
    return _font(size, weight).getlength(in_letters_of_the_font(text))


def lines_of(text: str, room: float, size: float, weight: int = REGULAR) -> list[str]:
    """A text broken into lines that fit the room; a word that is wider than the room is broken, too."""
    lines: list[str] = []
    for word in filter(None, text.split(" ")):
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and text_width(longer, size, weight) <= room:
            lines[-1] = longer
        else:
            lines += _pieces_of(word, room, size, weight)
    return lines


def short(text: str, room: float, size: float, weight: int = REGULAR) -> str:
    """A text that fits the room, cut with an ellipsis if need be."""
    if text_width(text, size, weight) <= room:
        return text
    while text and text_width(f"{text}…", size, weight) > room:
        text = text[:-1]
    return f"{text.rstrip()}…"


def _pieces_of(word: str, room: float, size: float, weight: int) -> list[str]:
    """A word in pieces that fit the room, each of one letter at least."""
    pieces = [""]
    for letter in word:
        if pieces[-1] and text_width(pieces[-1] + letter, size, weight) > room:
            pieces.append("")
        pieces[-1] += letter
    return pieces


def draw_text(
    draw: ImageDraw.ImageDraw, x: float, y: float, text: str, *, size: float, colour: Rgb, align: float = 0.0,
    weight: int = REGULAR,
) -> None:  # fmt: skip
    """Draw a text on the baseline ``y``; ``align`` is the part of it left of ``x``: 0, 0.5 or 1."""
    at = round(x - align * text_width(text, size, weight)), round(y)
    draw.text(at, in_letters_of_the_font(text), font=_font(size, weight), fill=colour, anchor="ls")


def draw_halo(
    draw: ImageDraw.ImageDraw, x: float, y: float, text: str, *, size: float, rim: float, shade: int,
    align: float = 0.0, weight: int = REGULAR,
) -> None:  # fmt: skip
    """Draw a text with a rim on a mask of opacities."""
    at = round(x - align * text_width(text, size, weight)), round(y)
    shown = in_letters_of_the_font(text)
    draw.text(at, shown, font=_font(size, weight), fill=shade, anchor="ls", stroke_width=rim, stroke_fill=shade)


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
    return bytes(_font(20, REGULAR).getmask(letter)) != bytes(_font(20, REGULAR).getmask(_NO_LETTER))


@cache
def _font(size: float, weight: int) -> ImageFont.FreeTypeFont:
    # Pillow's basic layout: the other is not available on every machine, and places a few letters differently.
    return ImageFont.truetype(io.BytesIO(_font_file(weight)), size, layout_engine=ImageFont.Layout.BASIC)


@cache
def _font_file(weight: int) -> bytes:
    return FONTS[weight].read_bytes()
