"""The heat alone, small: where a map is one of many, or can't be shown itself."""

from __future__ import annotations

import io

from PIL import Image

from dpheatmap.render.colour import colours
from dpheatmap.render.picture import Picture


def thumbnail(picture: Picture, side: int) -> bytes:
    """A picture of at most so many pixels on its longer side, as PNG."""
    small = picture.at_most(side)
    part = small.values / small.top
    shown = colours(0.5 + part / 2, "balance") if small.signed else colours(part)
    packed = io.BytesIO()
    Image.fromarray(shown).quantize(64).save(packed, format="PNG")
    return packed.getvalue()
