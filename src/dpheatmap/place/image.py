"""Images: pixels, x to the right and y down."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from dpheatmap._util.parameters import check
from dpheatmap.place.place import Bounds, Planar, Units


@dataclass(frozen=True)
class Image(Planar):
    """An image; the root square is the power of two that holds it."""

    extent: Bounds
    kind: ClassVar[str] = "image"
    words: ClassVar[str] = "an image"
    units: ClassVar[Units] = Units(
        "px", "pixels", "per_pixel", "pixel-2", 1.0,
        ((1e0, "pixel"), (1e2, "100 pixels"), (1e4, "10,000 pixels"), (1e6, "million pixels")),
    )  # fmt: skip

    @classmethod
    def of_size(cls, width: int, height: int) -> Self:
        """An image of so many pixels."""
        check(image_width=width, image_height=height)
        return cls(Bounds(0.0, 0.0, float(width), float(height)))

    @property
    def root_side(self) -> float:
        """The power of two that holds the longer side."""
        return float(2 ** (math.ceil(max(self.extent.x1, self.extent.y1)) - 1).bit_length())

    @property
    def depth_of_pixels(self) -> int:
        """The level at which a cell is a pixel."""
        return (int(max(self.extent.x1, self.extent.y1)) - 1).bit_length()

    @property
    def option(self) -> str:
        """The option ``--image`` with the size."""
        return f"--image {self.extent.x1:.0f}x{self.extent.y1:.0f}"

    @classmethod
    def from_dict(cls, description: Mapping[str, Any]) -> Self:
        """Make the image from its extent: from 0 to whole numbers of pixels."""
        x0, y0, x1, y1 = (float(v) for v in description["extent"])
        if (x0, y0) != (0, 0) or not x1.is_integer() or not y1.is_integer():
            raise ValueError("not an image's extent")
        return cls.of_size(int(x1), int(y1))
