"""Thumbnails of maps: small pictures of the heat alone, for lists and where the map itself can't be shown."""

from __future__ import annotations

import io

import numpy as np
from PIL import Image

from dpheatmap.render.figure.colour import colours, greys
from dpheatmap.render.web.picture import Picture


def thumbnail(picture: Picture, side: int, palette: int | None = None) -> bytes:
    """Draw a PNG of at most ``side`` pixels on its longer side, in ``palette`` colours if given.

    Pixels within the noise are grey, as on the map itself: a map without signal must not look like one with signal.
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
