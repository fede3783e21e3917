"""Painting of a map's pixels: paper, heat in bands on it, hatching where it is rough, and water over the heat.

An edge between bands is soft over one pixel: a pixel at a distance d from it has the part d + 1/2 of the higher band.
The distance is (value - edge) / slope, to first order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from dpheatmap.place.domain import Floats
from dpheatmap.render.content.clarity import FIRM, TOLD
from dpheatmap.render.content.picture import Picture
from dpheatmap.render.content.resampling import resize
from dpheatmap.render.inks import Inks, inks_of
from dpheatmap.render.palette import Rgb, Theme, rgb_of, shades

Pixels = NDArray[np.uint8]
Singles = NDArray[np.float32]

WATER_OVER_HEAT = 0.7
"""The opacity of water that is drawn again over the heat."""

VEIL = 0.45
"""The opacity of the page's colour over what lies outside a boundary."""

_STEPS = 16  # of a soft edge
_SHADES = 256
_STRIPE, _PERIOD, _HATCH = 2.1, 5.0, 0.92  # of hatching: width and period in pixels of the page, and opacity
_LINE, _RIM = 2.2, 1.6  # of contours, in pixels of the page
_FINER = 2


@dataclass(frozen=True, eq=False)
class Heat:
    """Painted heat: red, green, blue and opacity by pixel, and how much each pixel is hatched."""

    colours: Pixels
    hatch: Singles | None

    def inside(self, parts: Singles | None) -> Heat:
        """The heat inside a boundary, by the parts of pixels there; None for all of it."""
        if parts is None:
            return self
        colours = self.colours.copy()
        colours[..., 3] = np.rint(colours[..., 3] * parts)
        return Heat(colours, self.hatch)

    def over(self, ground: Pixels, paper: Rgb) -> Pixels:
        """Lay the heat on a ground; hatching has the colour of the paper."""
        opacity = self.colours[..., 3:].astype(np.float32) / 255.0
        mixed = ground + opacity * (self.colours[..., :3].astype(np.float32) - ground)
        if self.hatch is not None:
            part = (self.hatch * (opacity[..., 0] > 0))[..., None]
            mixed += part * (np.array(paper, np.float32) - mixed)
        found: Pixels = np.rint(mixed).astype(np.uint8)
        return found


def paint(
    picture: Picture, theme: Theme, columns: int, rows: int, *, over_a_picture: bool = False, style: str = "bands",
    scale: float = 1.0,
) -> Heat:  # fmt: skip
    """Paint the heat on a grid of pixels; ``scale`` is how many of them a pixel of the page has."""
    inks = inks_of(theme, len(picture.edges), signed=picture.signed, over_a_picture=over_a_picture)
    values = resize(picture.values, columns, rows, smooth=picture.smooth).astype(np.float32)
    told = firm = np.ones((1, 1), np.float32)
    if picture.clarity is not None:
        clarity = resize(picture.clarity, columns, rows).astype(np.float32)
        slope = _slope(clarity)
        told, firm = (_soft(clarity, edge, slope) for edge in (TOLD, FIRM))
    if picture.signed:
        colours = _paint_changes(picture, values, inks)
    elif style == "smooth":
        colours = _paint_smoothly(picture, values, theme, inks.between)
    elif style == "contour":
        colours = _paint_lines(picture, values, inks, rgb_of(theme.page), scale)
    else:
        colours = _bands(picture, values, inks.colours, inks.opacities)
    colours[..., 3] = np.rint(colours[..., 3] * told)
    hatch = None
    if picture.hatch and style != "contour":
        hatch = _HATCH * stripes(columns, rows, scale) * (1.0 - firm) * told
    return Heat(colours, hatch)


def _soft(values: Singles, edge: float, slope: Singles | None) -> Singles:
    """The part of each pixel that lies above an edge."""
    if slope is None:
        return (values >= edge).astype(np.float32)
    above: Singles = np.clip((values - np.float32(edge)) / slope + np.float32(0.5), 0.0, 1.0)
    return above


def _slope(values: Singles) -> Singles:
    """How much values change over a pixel."""
    if min(values.shape) < 2:
        return np.full(values.shape, np.float32(1e-6))
    down, across = np.gradient(values)
    slope: Singles = np.maximum(np.hypot(down, across), np.float32(1e-6) * max(float(np.abs(values).max()), 1e-30))
    return slope


def _bands(picture: Picture, values: Singles, colours: list[str], opacities: list[float]) -> Pixels:
    """Colours and opacities of values in bands."""
    edges = picture.edges
    slope = _slope(values) if picture.smooth else None
    passed = np.zeros(values.shape, np.float32)
    for edge in edges:
        passed += _soft(values, edge, slope)
    steps = np.array([[*rgb_of(colour), 255.0 * part] for colour, part in zip(colours, opacities, strict=True)])
    first = np.array([*steps[0, :3], 0.0])
    stops = np.concatenate([[first], steps])
    at = np.linspace(0.0, len(edges), _STEPS * len(edges) + 1)
    table = np.stack([np.interp(at, np.arange(len(stops)), channel) for channel in stops.T], axis=1)
    painted: Pixels = np.rint(table).astype(np.uint8)[np.rint(_STEPS * passed).astype(np.intp)]
    return painted


def _paint_changes(picture: Picture, values: Singles, inks: Inks) -> Pixels:
    """More in one row of colours, fewer in another."""
    more, fewer = (
        _bands(picture, side, colours, inks.opacities)
        for side, colours in ((values, inks.colours), (-values, inks.fewer))
    )
    return np.where((values >= 0)[..., None], more, fewer)


def _paint_smoothly(picture: Picture, values: Singles, theme: Theme, between: tuple[float, float]) -> Pixels:
    """A gradient by the ratio to the first edge, which fades in just below it."""
    first = picture.edges[0]
    along = np.log(np.maximum(values, 1e-30) / first) / max(np.log(picture.top / first), 1e-6)
    at = np.clip((values / first - 0.8) / 0.2, 0.0, 1.0)
    low, high = between
    opacity = at * at * (3.0 - 2.0 * at) * (low + (high - low) * np.minimum(1.0, 1.25 * np.clip(along, 0.0, 1.0)))
    painted = np.empty((*values.shape, 4), np.uint8)
    painted[..., :3] = shades(theme.heat, _SHADES)[np.rint((_SHADES - 1) * np.clip(along, 0.0, 1.0)).astype(np.intp)]
    painted[..., 3] = np.rint(255.0 * opacity)
    return painted


def _paint_lines(picture: Picture, values: Singles, inks: Inks, page: Rgb, scale: float) -> Pixels:
    """A line along each edge, in the colour of the band above it, with a rim of the page's colour."""
    slope = _slope(values)
    painted = np.zeros((*values.shape, 4), np.float32)
    painted[..., :3] = page
    for edge, colour in zip(picture.edges, inks.colours, strict=True):
        away = np.abs(values - np.float32(edge)) / slope
        for reach, ink in ((_LINE + _RIM, page), (_LINE, rgb_of(colour))):
            cover = np.clip(scale * reach / 2 + 0.5 - away, 0.0, 1.0)[..., None]
            painted[..., :3] += cover * (np.array(ink, np.float32) - painted[..., :3])
            painted[..., 3:] = np.maximum(painted[..., 3:], 255.0 * cover)
    return np.rint(painted).astype(np.uint8)


def stripes(columns: int, rows: int, scale: float) -> Singles:
    """Stripes from lower left to upper right, with soft edges."""
    return _slanted_lines(columns, rows, width=_STRIPE * scale, period=_PERIOD * scale)


def diagonals(pixels: Pixels, colour: Rgb, scale: float, inside: Singles | None = None) -> Pixels:
    """Thin diagonal lines over a map of which nothing is known, or over the part of it inside a boundary."""
    rows, columns = pixels.shape[:2]
    lines = 0.8 * _slanted_lines(columns, rows, width=scale, period=11.0 * scale)
    return mix(pixels, colour, lines if inside is None else lines * inside)


def _slanted_lines(columns: int, rows: int, *, width: float, period: float) -> Singles:
    """The part of each pixel on lines at 45 degrees: it depends on the sum of row and column alone."""
    along = np.arange(rows + columns - 1, dtype=np.float32) / np.sqrt(2.0)
    line = np.clip(width / 2 - np.abs(along % period - period / 2) + 0.5, 0.0, 1.0).astype(np.float32)
    slanted: Singles = np.lib.stride_tricks.sliding_window_view(line, columns)
    return slanted


def mask_of(polygons: Sequence[Sequence[Floats]], columns: int, rows: int) -> Singles:
    """The part of each pixel inside of polygons, each given by its outer ring and its holes, in pixels."""
    large = Image.new("L", (_FINER * columns, _FINER * rows))
    draw = ImageDraw.Draw(large)
    for outer, *holes in polygons:
        for ring, shade in ((outer, 255), *((hole, 0) for hole in holes)):
            if len(ring) > 2:
                draw.polygon((_FINER * ring).ravel().tolist(), fill=shade)
    reduced = large.resize((columns, rows), Image.Resampling.BOX)
    return np.asarray(reduced, np.float32) / np.float32(255.0)


def mask_of_rings(rings: Sequence[Floats], columns: int, rows: int) -> Singles:
    """The part of each pixel inside of closed rings, those of holes the other way round; large ones come first."""
    sizes = [float(np.sum((ring[:-1, 0] + ring[1:, 0]) * np.diff(ring[:, 1]))) for ring in rings]
    large = Image.new("L", (_FINER * columns, _FINER * rows))
    draw = ImageDraw.Draw(large)
    for k in sorted(range(len(rings)), key=lambda k: -abs(sizes[k])):
        draw.polygon((_FINER * rings[k]).ravel().tolist(), fill=255 if sizes[k] > 0 else 0)
    return np.asarray(large.resize((columns, rows), Image.Resampling.BOX), np.float32) / np.float32(255.0)


def dashes(line: Floats, long: float, gap: float) -> list[Floats]:
    """Cut a line into dashes with gaps between them.

    >>> [dash.tolist() for dash in dashes(np.array([[0.0, 0.0], [5.0, 0.0]]), 2.0, 1.0)]
    [[[0.0, 0.0], [2.0, 0.0]], [[3.0, 0.0], [5.0, 0.0]]]
    """
    along = np.concatenate([[0.0], np.cumsum(np.hypot(*np.diff(line, axis=0).T))])
    found = []
    for begin in np.arange(0.0, along[-1], long + gap).tolist():
        end = min(begin + long, float(along[-1]))
        at = np.concatenate([[begin], along[(along > begin) & (along < end)], [end]])
        found.append(np.stack([np.interp(at, along, line[:, axis]) for axis in (0, 1)], axis=1))
    return found


def mix(below: Pixels, colour: Rgb, part: Singles) -> Pixels:
    """Lay a colour over pixels, by parts."""
    mixed = below + part[..., None] * (np.array(colour, np.float32) - below)
    found: Pixels = np.rint(mixed).astype(np.uint8)
    return found
