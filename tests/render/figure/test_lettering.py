from __future__ import annotations

import string

import numpy as np
import pytest
from PIL import Image, ImageDraw

from dpheatmap.render import basemap
from dpheatmap.render.figure.lettering import (
    FONTS,
    REGULAR,
    SEMIBOLD,
    _font,
    draw_text,
    has,
    in_letters_of_the_font,
    text_width,
)


def ink(text: str, align: float = 0.0) -> np.ndarray:
    image = Image.new("RGB", (600, 100), (255, 255, 255))
    draw_text(ImageDraw.Draw(image), 300, 60, text, size=40, colour=(0, 0, 0), align=align)
    return np.argwhere(np.asarray(image).min(axis=-1) < 128)


def test_the_font_has_every_sign_that_is_used() -> None:
    signs = string.digits + string.ascii_letters + string.punctuation
    signs += "°·²εδ×\N{EN DASH}\N{MINUS SIGN}\N{RIGHT SINGLE QUOTATION MARK}"
    assert [sign for sign in signs if not has(sign)] == []
    assert not has("東")


def test_the_font_has_every_letter_of_the_names_of_places() -> None:
    letters = set("".join(basemap.names())) - {" "}
    assert len(letters) > 200
    assert sorted(letter for letter in letters if not has(letter)) == []


@pytest.mark.parametrize("letters", ["uü", "oó", "aã", "ií", "lł", "sș", "oø", "uů"])
def test_accents_are_drawn(letters: str) -> None:
    plain, accented = (ink(letter) for letter in letters)
    assert {tuple(at) for at in plain} != {tuple(at) for at in accented}


def test_letters_that_the_font_lacks_lose_their_accents_or_are_left_out() -> None:
    assert in_letters_of_the_font("Zu\u0308rich") == "Zürich"  # two characters for one letter
    assert in_letters_of_the_font("Az\u0327 Za") == "Az Za"
    assert in_letters_of_the_font("東京 Tokyo") == " Tokyo"


@pytest.mark.parametrize("text", ["km²", "per km², here", "no square", "²"])
def test_text_is_as_wide_as_measured(text: str) -> None:
    columns = ink(text)[:, 1]
    assert text_width(text, 40) - 8 <= columns.max() - columns.min() + 1 <= text_width(text, 40) + 2


@pytest.mark.parametrize("align", [0.0, 0.5, 1.0])
def test_alignment(align: float) -> None:
    columns = ink("HHH", align)[:, 1]
    width = text_width("HHH", 40)
    assert columns.min() == pytest.approx(300 - align * width, abs=5)
    assert columns.max() == pytest.approx(300 + (1 - align) * width, abs=5)


def test_a_square_is_raised() -> None:
    assert ink("2")[:, 0].max() == pytest.approx(59, abs=1)
    assert ink("²")[:, 0].max() < 52
    assert ink("²")[:, 0].min() > ink("M")[:, 0].min() - 10


def test_both_weights_have_the_same_letters_and_the_second_is_bolder() -> None:
    assert set(FONTS) == {REGULAR, SEMIBOLD}
    missing = bytes(_font(20, SEMIBOLD).getmask("\N{REPLACEMENT CHARACTER}"))
    letters = set("".join(basemap.names())) | set(string.digits + string.ascii_letters + "·ε²×\N{MINUS SIGN}")
    assert [letter for letter in letters - {" "} if bytes(_font(20, SEMIBOLD).getmask(letter)) == missing] == []
    assert text_width("Where people are", 40, SEMIBOLD) > text_width("Where people are", 40, REGULAR)
