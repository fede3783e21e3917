"""Areas of an image by the colours of a mask: a picture as large as the image, with one colour for each area."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from dpheatmap.errors import DataError, ParameterError
from dpheatmap.estimate.areas.named_areas import NamedAreas
from dpheatmap.place.domain import Domain
from dpheatmap.place.quadtree import Ints

MASKS = (".png", ".bmp", ".gif")
"""Suffixes of masks: no format that changes colours."""

_MOST_COLOURS = 64
_WHITE = 0xFFFFFF


def areas_of_colours(path: Path, domain: Domain) -> NamedAreas:
    """The areas of one colour each of a mask that covers the place; white and what is transparent belong to none."""
    import shapely

    if domain.geographic:
        raise ParameterError("A mask by colours is for images, and the place is a box on the ground. Give polygons.")
    x0, y0, x1, y1 = domain.extent
    pixels = _pixels(path, (round(x1 - x0), round(y1 - y0)) if domain.kind == "image" else None)
    colours = pixels[..., 0] << 16 | pixels[..., 1] << 8 | pixels[..., 2]
    shown = (pixels[..., 3] > 0) & (colours != _WHITE)
    found = np.unique(colours[shown])
    if not 0 < len(found) <= _MOST_COLOURS:
        raise ParameterError(
            f"A mask has 1 to {_MOST_COLOURS} colours besides white; {path.name!r} had {len(found):,}. "
            "Save it without soft edges, with one colour for each area."
        )
    across, down = (x1 - x0) / pixels.shape[1], (y1 - y0) / pixels.shape[0]
    made = []
    for colour in found:
        row, first, last = _runs(shown & (colours == colour))
        left, right, top = x0 + across * first, x0 + across * last, y0 + down * row
        made.append(shapely.union_all(shapely.box(left, top, right, top + down)))
    return NamedAreas([f"#{colour:06x}" for colour in found], np.array(made, dtype=object), None, is_grid=True)


def _pixels(path: Path, size: tuple[int, int] | None) -> Any:
    """Red, green, blue and alpha of a picture; refuse one of another size than the image, None for any."""
    from PIL import Image

    try:
        with Image.open(path) as image:
            if size is not None and image.size != size:
                (wide, high), (across, down) = image.size, size
                raise ParameterError(
                    f"A mask is as large as the image, {across} x {down} pixels; {path.name!r} has {wide} x {high}. "
                    "Save it in that size, without soft edges."
                )
            return np.asarray(image.convert("RGBA")).astype(np.uint32)
    except (OSError, ValueError, Image.DecompressionBombError) as error:
        if isinstance(error, ParameterError):
            raise
        raise DataError(f"The mask {path.name!r} can't be read as a picture. Check the file.") from error


def _runs(inside: Any) -> tuple[Ints, Ints, Ints]:
    """The rows, first columns and ends of the runs of pixels inside."""
    steps = np.diff(np.pad(inside.astype(np.int8), ((0, 0), (1, 1))), axis=1)
    row, first = np.nonzero(steps == 1)
    return row, first, np.nonzero(steps == -1)[1]
