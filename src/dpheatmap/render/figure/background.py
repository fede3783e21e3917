"""The background under the heat: a picture that people looked at or clicked, or a football pitch drawn here."""

from __future__ import annotations

import os
from os import PathLike

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from dpheatmap.errors import DataError, ParameterError
from dpheatmap.place.domain import Domain
from dpheatmap.render.content.subject import PITCH_LENGTH, PITCH_WIDTH, is_pitch
from dpheatmap.render.palette import LIGHT, Theme, rgb_of

MOST_PIXELS = 10**8
_KINDS = ("PNG", "JPEG", "WEBP")  # Pillow reads many others, some of which it lets Ghostscript execute

_GRASS = {"light": "#EDF2EA", "dark": "#1E2924"}
_CHALK = {"light": "#6B826B", "dark": "#7F9A86"}
_COLOUR_KEPT = 0.35  # of the picture's own colours, which would compete with those of the heat
_OFF = 0.02  # by how much the shapes of picture and domain may differ


def background_of(
    domain: Domain, given: str | PathLike[str], size: tuple[int, int] = (64, 64), theme: Theme = LIGHT
) -> NDArray[np.uint8]:
    """The background of a domain, in pixels of the map: ``size`` is its width and height.

    A map consists of whole cells, so it may reach a little beyond the picture, to the right and below; this is blank.
    """
    under = np.empty((size[1], size[0], 3), np.uint8)
    under[:] = rgb_of(theme.page)
    width, height = _covered_size(domain, size)
    if is_pitch(given):
        under[:height, :width] = rgb_of(_GRASS[theme.name])
        lines = lines_over(domain, given, size)
        chalk = np.array(rgb_of(_CHALK[theme.name]))
        return np.rint(under + lines[..., None] * (chalk - under)).astype(np.uint8)
    found = _read(given, domain.extent.x1 / domain.extent.y1)
    under[:height, :width] = _quieten(found.resize((width, height), Image.Resampling.LANCZOS))
    return under


def lines_over(domain: Domain, given: str | PathLike[str], size: tuple[int, int]) -> NDArray[np.float32]:
    """How much of each pixel is a line of the background that shows over the heat: the lines of a pitch."""
    lines = np.zeros((size[1], size[0]), np.float32)
    if is_pitch(given):
        width, height = _covered_size(domain, size)
        lines[:height, :width] = np.asarray(pitch_lines(width, height), np.float32) / 255.0
    return lines


def chalk(theme: Theme) -> str:
    """The colour of a pitch's lines."""
    return _CHALK[theme.name]


def _covered_size(domain: Domain, size: tuple[int, int]) -> tuple[int, int]:
    """The pixels that the picture covers, of the map's; refuses a background on the ground."""
    if domain.geographic:
        raise ParameterError(
            "A background goes under a map of an image or a unit square; the place of this map is a box on the ground. "
            "Leave it out: coast, borders and towns are drawn."
        )
    picture, whole = domain.extent, domain.bounds
    width, height = (max(1, round(n * part / of)) for n, part, of in zip(size, picture[2:], whole[2:], strict=True))
    return width, height


def open_picture(path: str | PathLike[str]) -> Image.Image:
    """Open a picture without decoding it; raises an error of Pillow's, or ours, if it is none or an enormous one."""
    picture = Image.open(path, formats=_KINDS)
    if picture.width * picture.height > MOST_PIXELS:
        picture.close()
        raise ValueError("too many pixels")
    return picture


def _read(path: str | PathLike[str], shape: float) -> Image.Image:
    try:
        with open_picture(path) as file:
            picture = file.convert("RGB")
    except FileNotFoundError:
        raise DataError(f"There is no picture {os.fspath(path)!r}. Check the path.") from None
    except Exception:  # Pillow raises many kinds for broken and for enormous files
        raise DataError(
            f"{os.fspath(path)!r} can't be read as a picture. Give a PNG, JPEG or WebP file of up to 100 megapixels."
        ) from None
    if abs(picture.width / picture.height / shape - 1.0) > _OFF:
        raise ParameterError(
            f"background must have the shape of the domain, {shape:.3g} times as wide as high; it was "
            f"{picture.width} x {picture.height}. Crop it, or name the domain by the picture's own size."
        )
    return picture


def _quieten(picture: Image.Image) -> NDArray[np.uint8]:
    """Remove most of the picture's colour, so that colour means heat."""
    colour = np.asarray(picture, dtype=np.float64)
    grey = colour @ [0.299, 0.587, 0.114]
    return np.rint(_COLOUR_KEPT * colour + (1.0 - _COLOUR_KEPT) * grey[..., None]).astype(np.uint8)


def pitch_lines(width: int, height: int) -> Image.Image:
    """The lines of a pitch of 105 by 68 metres that fills a picture, lying along its longer side: white on black."""
    if height > width:
        return pitch_lines(height, width).transpose(Image.Transpose.ROTATE_90)
    finer = 2
    across, down = finer * width / PITCH_LENGTH, finer * height / PITCH_WIDTH  # pixels a metre
    image = Image.new("L", (finer * width, finer * height))
    draw = ImageDraw.Draw(image)
    line = max(2, round(0.25 * (across + down) / 2))

    def box(x0: float, y0: float, x1: float, y1: float) -> tuple[float, float, float, float]:
        """A rectangle in metres from the middle, on either half."""
        left, right = sorted((PITCH_LENGTH / 2 + x) * across for x in (x0, x1))
        top, bottom = sorted((PITCH_WIDTH / 2 + y) * down for y in (y0, y1))
        return left, top, right, bottom

    inset = 0.6  # metres from the picture's edge to the touchline
    draw.rectangle(box(-52.5 + inset, -34 + inset, 52.5 - inset, 34 - inset), outline=255, width=line)
    draw.line(box(0, -34 + inset, 0, 34 - inset), fill=255, width=line)
    draw.ellipse(box(-9.15, -9.15, 9.15, 9.15), outline=255, width=line)
    draw.ellipse(box(-0.4, -0.4, 0.4, 0.4), fill=255)
    for side in (-1, 1):
        edge = side * (52.5 - inset)
        for deep, wide in ((16.5, 20.16), (5.5, 9.16)):
            draw.rectangle(box(edge, -wide, edge - side * deep, wide), outline=255, width=line)
        spot = edge - side * 11
        draw.ellipse(box(spot - 0.4, -0.4, spot + 0.4, 0.4), fill=255)
        middle = 180 if side > 0 else 0
        draw.arc(box(spot - 9.15, -9.15, spot + 9.15, 9.15), middle - 53, middle + 53, fill=255, width=line)
    return image.resize((width, height), Image.Resampling.BOX)
