"""The canvas of pictures: one set of drawing operations, by Pillow here and by matplotlib in :mod:`.vector_canvas`.

Positions are in pixels from the upper left corner; for a text, y is its baseline.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from dpheatmap.place.domain import Floats
from dpheatmap.render.figure.lettering import REGULAR, draw_halo, draw_text, text_width
from dpheatmap.render.palette import Rgb

HALO = 0.82
"""The opacity of the rim around names."""

_FINER = 2  # lines are drawn larger by this factor, then reduced, for soft edges


Area = tuple[float, float, float, float]
"""Left, top, right and bottom of the area that something takes."""


class Box(NamedTuple):
    """Left, top, right and bottom; right and bottom are exclusive."""

    left: int
    top: int
    right: int
    bottom: int

    @property
    def width(self) -> int:
        """From left to right."""
        return self.right - self.left

    @property
    def height(self) -> int:
        """From top to bottom."""
        return self.bottom - self.top


class Canvas(Protocol):
    """The operations by which a picture is drawn."""

    def image(self, pixels: NDArray[np.uint8], box: Box) -> None:
        """Fill a box with colours, one a pixel."""

    def fill(self, box: Box, colour: Rgb, radius: float = 0.0) -> None:
        """Fill a box with one colour; its corners may be round."""

    def lines(self, lines: Sequence[Floats], inside: Box, *, width: float, colour: Rgb, opacity: float = 1.0) -> None:
        """Draw lines through points, clipped to a box."""

    def text(
        self, x: float, y: float, text: str, *, size: float, colour: Rgb, align: float = 0.0, weight: int = REGULAR,
        halo: Rgb | None = None,
    ) -> None:  # fmt: skip
        """Draw a text; ``align`` is the part of it left of ``x``, and ``halo`` the colour around its letters."""


class PillowCanvas:
    """A picture of pixels."""

    def __init__(self, width: int, height: int, colour: Rgb) -> None:
        self.picture = Image.new("RGB", (width, height), colour)
        self._draw = ImageDraw.Draw(self.picture)

    def image(self, pixels: NDArray[np.uint8], box: Box) -> None:
        """Paste the pixels, whose size is the box's."""
        self.picture.paste(Image.fromarray(pixels), (box.left, box.top))

    def fill(self, box: Box, colour: Rgb, radius: float = 0.0) -> None:
        """Draw a rectangle without rim; round corners are drawn larger and reduced."""
        if not radius:
            self._draw.rectangle((box.left, box.top, box.right - 1, box.bottom - 1), fill=colour)
            return
        finer = 4
        mask = Image.new("L", (finer * box.width, finer * box.height))
        ImageDraw.Draw(mask).rounded_rectangle((0, 0, mask.width - 1, mask.height - 1), finer * radius, fill=255)
        self.picture.paste(colour, (box.left, box.top), mask.resize((box.width, box.height), Image.Resampling.BOX))

    def lines(self, lines: Sequence[Floats], inside: Box, *, width: float, colour: Rgb, opacity: float = 1.0) -> None:
        """Draw the lines larger on a mask, reduce it, and paint the colour through it."""
        if not lines:
            return
        inside = _around(lines, inside, width)
        large = Image.new("L", (_FINER * inside.width, _FINER * inside.height))
        draw = ImageDraw.Draw(large)
        for line in lines:
            points = (_FINER * (line - [inside.left, inside.top])).ravel().tolist()
            draw.line(points, fill=round(255 * opacity), width=max(1, round(_FINER * width)), joint="curve")
        mask = large.resize((inside.width, inside.height), Image.Resampling.BOX)
        self.picture.paste(colour, (inside.left, inside.top), mask)

    def text(
        self, x: float, y: float, text: str, *, size: float, colour: Rgb, align: float = 0.0, weight: int = REGULAR,
        halo: Rgb | None = None,
    ) -> None:  # fmt: skip
        """Draw text in the fonts of the package."""
        if halo is not None:
            rim = size / 8
            wide = text_width(text, size, weight)
            left, top = round(x - align * wide - 2 * rim), round(y - size - rim)
            mask = Image.new("L", (round(wide + 4 * rim), round(1.4 * size + 2 * rim)))
            draw_halo(
                ImageDraw.Draw(mask), x - left, y - top, text, size=size, rim=rim, shade=round(255 * HALO),
                align=align, weight=weight,
            )  # fmt: skip
            self.picture.paste(halo, (left, top), mask)
        draw_text(self._draw, x, y, text, size=size, colour=colour, align=align, weight=weight)


def _around(lines: Sequence[Floats], inside: Box, width: float) -> Box:
    """The part of a box that lines reach, one pixel at least."""
    points = np.concatenate([np.asarray(line) for line in lines])
    low, high = np.floor(points.min(axis=0) - width), np.ceil(points.max(axis=0) + width)
    left = int(np.clip(low[0], inside.left, inside.right - 1))
    top = int(np.clip(low[1], inside.top, inside.bottom - 1))
    return Box(left, top, int(np.clip(high[0], left + 1, inside.right)), int(np.clip(high[1], top + 1, inside.bottom)))
