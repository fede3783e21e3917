"""Thumbnails of maps: small pictures of the heat on paper, for lists and where the map itself can't be shown."""

from __future__ import annotations

import io
import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from dpheatmap.render.content.picture import Picture
from dpheatmap.render.figure.painting import diagonals, paint
from dpheatmap.render.palette import LIGHT, rgb_of

_GAP = 4  # pixels between the maps of a sheet


def thumbnail(picture: Picture, side: int) -> bytes:
    """Draw a PNG of ``side`` pixels on the map's longer side; a map that shows nothing has thin lines across it."""
    return _png(Image.fromarray(_heat(picture, side)).quantize(64, dither=Image.Dither.NONE))


def thumbnail_sheet(pictures: Sequence[Picture], side: int) -> bytes:
    """Draw a PNG of small maps side by side, about ``side`` pixels wide or high; what is between them is clear."""
    columns = len(pictures) if len(pictures) < 4 else math.ceil(math.sqrt(len(pictures)))
    rows = math.ceil(len(pictures) / columns)
    maps = [Image.fromarray(_heat(picture, (side - _GAP * (columns - 1)) // columns)) for picture in pictures]
    width, height = maps[0].size
    sheet = Image.new("RGBA", (columns * (width + _GAP) - _GAP, rows * (height + _GAP) - _GAP))
    for number, drawn in enumerate(maps):
        sheet.paste(drawn, (number % columns * (width + _GAP), number // columns * (height + _GAP)))
    return _png(sheet.quantize(64, method=Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE))


def _heat(picture: Picture, side: int) -> NDArray[np.uint8]:
    rows, columns = picture.values.shape
    scale = side / max(rows, columns)
    size = max(1, round(columns * scale)), max(1, round(rows * scale))
    paper = np.empty((size[1], size[0], 3), np.uint8)
    paper[:] = rgb_of(LIGHT.land)
    if picture.painted:
        return paint(picture, LIGHT, *size).over(paper, rgb_of(LIGHT.land))
    return diagonals(paper, rgb_of(LIGHT.coast), 1.0)


def _png(image: Image.Image) -> bytes:
    packed = io.BytesIO()
    image.save(packed, format="PNG")
    return packed.getvalue()
