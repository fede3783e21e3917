"""The heat alone, small: where a map is one of many, or can't be shown itself."""

from __future__ import annotations

import io

import numpy as np
from PIL import Image

from dpheatmap.render.figure.colour import colours, greys
from dpheatmap.render.web.picture import Picture


def thumbnail(picture: Picture, side: int, palette: int | None = None) -> bytes:
    """A picture of at most so many pixels on its longer side, as PNG; in a ``palette`` of so many colours, if given.

    What is within the noise is grey, as on the map itself: a map of nothing must not look like one of something.
    """
    small = picture.at_most(side)
    part = small.values / small.top
    shown = colours(0.5 + part / 2, "balance") if small.signed else colours(part)
    if small.clear is not None and not small.signed:
        shown = np.where(small.clear[..., None], shown, greys(part))
    image = Image.fromarray(shown)
    packed = io.BytesIO()
    (image if palette is None else image.quantize(palette)).save(packed, format="PNG")
    return packed.getvalue()
