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
from dpheatmap.render.figure.lettering import Colour, draw_text

_FINER = 2  # lines are drawn larger by this factor, then reduced, for soft edges


Area = tuple[float, float, float, float]
"""Left, top, right and bottom of the area that something takes."""


class Box(NamedTuple):
    """Left, top, right and bottom; right and bottom are exclusive."""

    left: int
    top: int
    right: int
    bottom: int


class Canvas(Protocol):
    """The operations by which a picture is drawn."""

    def image(self, pixels: NDArray[np.uint8], box: Box) -> None:
        """Fill a box with colours, one a pixel."""

    def fill(self, box: Box, colour: Colour) -> None:
        """Fill a box with one colour."""

    def lines(self, lines: Sequence[Floats], inside: Box, *, width: float, colour: Colour, opacity: float) -> None:
        """Draw lines through points, clipped to a box."""

    def text(
        self, x: float, y: float, text: str, *, size: float, colour: Colour, align: float = 0.0,
        halo: Colour | None = None,
    ) -> None:  # fmt: skip
        """Draw a text; ``align`` is the part of it left of ``x``, and ``halo`` the colour around its letters."""


class PillowCanvas:
    """A picture of pixels."""

    def __init__(self, width: int, height: int, colour: Colour) -> None:
        self.picture = Image.new("RGB", (width, height), colour)
        self._draw = ImageDraw.Draw(self.picture)

    def image(self, pixels: NDArray[np.uint8], box: Box) -> None:
        """Paste the pixels, whose size is the box's."""
        self.picture.paste(Image.fromarray(pixels), (box.left, box.top))

    def fill(self, box: Box, colour: Colour) -> None:
        """Draw a rectangle without rim."""
        self._draw.rectangle((box.left, box.top, box.right - 1, box.bottom - 1), fill=colour)

    def lines(self, lines: Sequence[Floats], inside: Box, *, width: float, colour: Colour, opacity: float) -> None:
        """Draw the lines larger on a mask, reduce it, and paint the colour through it."""
        size = (inside.right - inside.left, inside.bottom - inside.top)
        large = Image.new("L", (_FINER * size[0], _FINER * size[1]))
        draw = ImageDraw.Draw(large)
        for line in lines:
            points = (_FINER * (line - [inside.left, inside.top])).ravel().tolist()
            draw.line(points, fill=round(255 * opacity), width=max(1, round(_FINER * width)), joint="curve")
        self.picture.paste(colour, (inside.left, inside.top), large.resize(size, Image.Resampling.BOX))

    def text(
        self, x: float, y: float, text: str, *, size: float, colour: Colour, align: float = 0.0,
        halo: Colour | None = None,
    ) -> None:  # fmt: skip
        """Draw text in the font of the package."""
        draw_text(self._draw, x, y, text, size=size, colour=colour, align=align, halo=halo)
