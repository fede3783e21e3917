"""Thumbnails of maps: small pictures of the heat on paper, for lists and where the map itself can't be shown."""

from __future__ import annotations

import io

import numpy as np
from PIL import Image

from dpheatmap.render.content.picture import Picture
from dpheatmap.render.figure.painting import diagonals, paint
from dpheatmap.render.palette import LIGHT, rgb_of


def thumbnail(picture: Picture, side: int) -> bytes:
    """Draw a PNG of ``side`` pixels on the map's longer side; a map that shows nothing has thin lines across it."""
    rows, columns = picture.values.shape
    scale = side / max(rows, columns)
    size = max(1, round(columns * scale)), max(1, round(rows * scale))
    paper = np.empty((size[1], size[0], 3), np.uint8)
    paper[:] = rgb_of(LIGHT.land)
    if picture.painted:
        shown = paint(picture, LIGHT, *size).over(paper, rgb_of(LIGHT.land))
    else:
        shown = diagonals(paper, rgb_of(LIGHT.coast), 1.0)
    packed = io.BytesIO()
    Image.fromarray(shown).quantize(64, dither=Image.Dither.NONE).save(packed, format="PNG")
    return packed.getvalue()
