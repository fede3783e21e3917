"""A canvas that remembers what was drawn on it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dpheatmap.place.domain import Floats
from dpheatmap.render.figure.canvas import Area, Box
from dpheatmap.render.figure.figure import Figure
from dpheatmap.render.figure.lettering import REGULAR, text_width
from dpheatmap.render.palette import Rgb


class Text(NamedTuple):
    """A text as it was drawn."""

    x: float
    y: float
    words: str
    size: float
    colour: Rgb
    align: float
    weight: int
    halo: bool

    @property
    def area(self) -> Area:
        """Where its letters are; those that reach below the line have a fifth of the size."""
        wide = text_width(self.words, self.size, self.weight)
        left = self.x - self.align * wide
        return left, self.y - 0.74 * self.size, left + wide, self.y + 0.2 * self.size


class Record:
    """A canvas that remembers what was drawn on it, in order."""

    def __init__(self, width: int, height: int, colour: Rgb) -> None:
        self.size, self.page = (width, height), colour
        self.images: list[Box] = []
        self.fills: list[tuple[Box, Rgb]] = []
        self.strokes: list[tuple[list[Floats], float, Rgb]] = []
        self.texts: list[Text] = []

    def image(self, pixels: NDArray[np.uint8], box: Box) -> None:
        assert pixels.shape == (box.height, box.width, 3)
        self.images.append(box)

    def fill(self, box: Box, colour: Rgb, radius: float = 0.0) -> None:
        self.fills.append((box, colour))

    def lines(self, lines: Sequence[Floats], inside: Box, *, width: float, colour: Rgb, opacity: float = 1.0) -> None:
        self.strokes.append((list(lines), width, colour))

    def text(
        self, x: float, y: float, text: str, *, size: float, colour: Rgb, align: float = 0.0, weight: int = REGULAR,
        halo: Rgb | None = None,
    ) -> None:  # fmt: skip
        if text:
            self.texts.append(Text(x, y, text, size, colour, align, weight, halo is not None))

    def said(self, words: str) -> Text:
        """The last text that starts with these words."""
        return next(text for text in reversed(self.texts) if text.words.startswith(words))


class WithoutMap(Figure):
    """A figure whose map is not painted, which is quicker."""

    def map_pixels(self) -> NDArray[np.uint8]:
        return np.zeros((self.layout.map.height, self.layout.map.width, 3), np.uint8)


def record(figure: Figure) -> Record:
    """What is drawn of a figure, but for the pixels of its map."""
    return WithoutMap(figure.picture, figure.look, figure.marks, figure.chart).draw(Record)


def touch(one: Area, other: Area) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def lies_in(one: Area, other: Area) -> bool:
    return one[0] >= other[0] and one[1] >= other[1] and one[2] <= other[2] and one[3] <= other[3]
