"""Legends of colours: a scale of densities, a scale of changes about zero, or contours that hold a share of people.

Each paints a map and has a legend: a name, a strip, and ticks below it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from dpheatmap.heatmap.heatmap import Heatmap
from dpheatmap.place.domain import Floats
from dpheatmap.render.figure.axis import Tick, number, ticks
from dpheatmap.render.figure.colour import STEPS, colours, greys
from dpheatmap.render.figure.overlay import opacity
from dpheatmap.render.figure.within_noise import in_words, noise_floor, within_noise
from dpheatmap.render.wording import density_in_words

Pixels = NDArray[np.uint8]

DECADES = 3
"""The powers of ten that a logarithmic scale spans, down from the hottest place."""

_NOTHING = 238  # the grey of a legend's part that is not drawn
_UNCHANGED = (217, 218, 222)  # the grey of a change within the noise
_MINUS = "\N{MINUS SIGN}"
_LINES = (0.25, 0.5, 0.75, 0.9)  # of all people, inside each line
_LINE_COLOURS = (0.74, 0.58, 0.4, 0.22)  # positions on the scale


class Legend(Protocol):
    """The colours of a picture, and their legend."""

    @property
    def name(self) -> str:
        """The text above the strip."""

    def ticks(self, width: float, room: Callable[[str], float]) -> list[Tick]:
        """Labels below the strip, ``width`` pixels wide."""

    def strip(self, width: int, height: int) -> Pixels:
        """The strip itself."""

    def paint(self, values: Floats, noise: NDArray[np.bool_]) -> Pixels:
        """Red, green, blue and opacity of values in the legend's unit, some of them within the noise."""


@dataclass(frozen=True)
class Scale:
    """Colours from 0, or from a thousandth of ``top`` on a logarithmic scale, to ``top``.

    ``floor`` is the density below which most pixels within the noise stay, and ``grey`` says in words what grey means.
    With ``see_through`` there is a picture below, and pixels that would be grey are transparent.
    """

    unit: str
    top: float
    log: bool = False
    floor: float | None = None
    grey: str | None = None
    see_through: bool = False

    @property
    def name(self) -> str:
        """The unit, the kind of scale, and what grey means if there is any."""
        kind = "logarithmic" if self.log else "linear"
        instead = "left out" if self.see_through else "grey"
        return f"{self.unit}, {kind} scale" + (f"; {instead}: {self.grey}" if self.grey else "")

    def relative(self, density: Floats) -> Floats:
        """Convert densities to positions on the scale, from 0 to 1."""
        if not self.log:
            return np.clip(density / self.top, 0.0, 1.0)
        least = self.top * 10.0**-DECADES
        return 1.0 + np.log10(np.clip(density, least, self.top) / self.top) / DECADES

    def ticks(self, width: float, room: Callable[[str], float]) -> list[Tick]:
        """Round values; powers of ten on a logarithmic scale."""
        if not self.log:
            return ticks(0.0, self.top, place=lambda value: width * value / self.top, room=room)
        highest = math.floor(math.log10(self.top) + 1e-9)
        powers = range(highest - DECADES + 1, highest + 1)
        return [Tick(width * float(self.relative(np.array(10.0**k))), number(10.0**k, max(0, -k))) for k in powers]

    def strip(self, width: int, height: int) -> Pixels:
        """The colours from left to right, grey or transparent up to the noise floor."""
        at = np.linspace(0.0, 1.0, width)
        floor = -1.0 if self.floor is None else float(self.relative(np.array(self.floor)))
        noise, shown = greys(at), colours(at)
        if self.see_through:  # as on white
            part = opacity(at)[:, None] / 255.0
            noise = np.full((width, 3), _NOTHING, np.uint8)
            shown = np.rint(255.0 * (1.0 - part) + shown * part).astype(np.uint8)
        line = np.where((at <= floor)[:, None], noise, shown)
        return np.tile(line, (height, 1, 1))

    def paint(self, values: Floats, noise: NDArray[np.bool_]) -> Pixels:
        """Paint each pixel in the colour of its density, or a grey as light, or transparent."""
        steps = np.linspace(0.0, 1.0, STEPS)
        solid = np.full(STEPS, 255, np.uint8)
        coloured = np.column_stack([colours(steps), opacity(steps) if self.see_through else solid])
        grey = np.column_stack([greys(steps), np.zeros_like(solid) if self.see_through else solid])
        at = np.rint((STEPS - 1) * self.relative(values)).astype(np.uint16)
        painted: Pixels = np.concatenate([coloured, grey])[at + np.uint16(STEPS) * noise]
        return painted


@dataclass(frozen=True)
class Balance:
    """Colours of changes, from ``-top`` to ``top``: blue where there are fewer, brown where there are more.

    ``grey`` says in words what grey means.
    """

    unit: str
    top: float
    grey: str | None = None

    @property
    def name(self) -> str:
        """The unit, the kind of scale, and what grey means if there is any."""
        return f"{self.unit}, linear scale" + (f"; grey: {self.grey}" if self.grey else "")

    def relative(self, values: Floats) -> Floats:
        """Convert changes to positions on the scale, from 0 to 1; no change is in the middle."""
        return 0.5 + 0.5 * np.clip(values / self.top, -1.0, 1.0)

    def ticks(self, width: float, room: Callable[[str], float]) -> list[Tick]:
        """Round values, as far below zero as above."""
        return ticks(
            -self.top,
            self.top,
            place=lambda value: 0.5 * width * (1.0 + value / self.top),
            room=room,
            label=lambda value, decimals: number(value, decimals).replace("-", _MINUS),
        )

    def strip(self, width: int, height: int) -> Pixels:
        """The colours from left to right."""
        return np.tile(colours(np.linspace(0.0, 1.0, width), "balance"), (height, 1, 1))

    def paint(self, values: Floats, noise: NDArray[np.bool_]) -> Pixels:
        """Paint each pixel in the colour of its change, or grey if that is within the noise."""
        painted = np.full((*values.shape, 4), 255, np.uint8)
        painted[..., :3] = colours(self.relative(values), "balance")
        painted[noise, :3] = _UNCHANGED
        return painted


@dataclass(frozen=True)
class Contours:
    """Contours around the densest places, each holding a given share of all people."""

    thresholds: tuple[float, ...]
    width: float

    @classmethod
    def of(cls, heat: Heatmap, density: Floats, width: float) -> Contours:
        """The lines of a map, ``width`` pixels wide."""
        order = np.argsort(-density, axis=None)
        held = np.cumsum(heat.values.ravel()[order])
        last = np.minimum(np.searchsorted(held, _LINES), len(order) - 1)
        return cls(tuple(density.ravel()[order[last]].tolist()), width)

    @property
    def name(self) -> str:
        """The meaning of the lines."""
        return "share of all people inside each line"

    def ticks(self, width: float, room: Callable[[str], float]) -> list[Tick]:
        """The shares, each below its line."""
        return [Tick(width * (k + 0.5) / len(_LINES), f"{100 * share:.0f} %") for k, share in enumerate(_LINES)]

    def strip(self, width: int, height: int) -> Pixels:
        """A piece of each line."""
        strip = np.full((height, width, 3), 255, np.uint8)
        thick = max(2, round(height / 4))
        for k, colour in enumerate(colours(_LINE_COLOURS)):
            left, right = (round(width * (k + part) / len(_LINES)) for part in (0.2, 0.8))
            strip[(height - thick) // 2 : (height + thick) // 2, left:right] = colour
        return strip

    def paint(self, values: Floats, noise: NDArray[np.bool_]) -> Pixels:
        """Paint the lines, with soft edges and a pale rim so that they show on any background; transparent elsewhere.

        The distance of a point from the line is |value - threshold| / slope, to first order.
        """
        painted = np.zeros((*values.shape, 4))
        painted[..., :3] = 255.0  # so that the rim's soft edge is no darker than the rim
        slope = np.hypot(*np.gradient(values)) if min(values.shape) > 1 else np.zeros_like(values)
        for threshold, colour in zip(self.thresholds, colours(_LINE_COLOURS), strict=True):
            away = np.abs(values - threshold) / np.maximum(slope, 1e-9 * max(self.thresholds))
            for reach, shade in ((self.width, np.array([255, 255, 255])), (self.width / 2.0, colour)):
                cover = np.clip(reach + 0.5 - away, 0.0, 1.0)[..., None]
                painted[..., :3] = painted[..., :3] * (1.0 - cover) + shade * cover
                painted[..., 3:] = np.maximum(painted[..., 3:], 255.0 * cover)
        return np.rint(painted).astype(np.uint8)


def scale_of(
    heat: Heatmap, noise: NDArray[np.bool_], *, log: bool = False, see_through: bool = False
) -> tuple[Floats, Scale]:
    """The densities of a map in a readable unit, and their scale."""
    density, unit = density_in_words(heat)
    # A map without signal has no hot spots, so it stays in the lower part of the scale.
    top = float(density.max()) * (4.0 if heat.empty else 1.0)
    floor = noise_floor(heat, noise)
    factor = float(density.max() / heat.density.max())
    grey = in_words(heat) if noise.any() else None
    return density, Scale(unit, top, log, None if floor is None else floor * factor, grey, see_through)


def legend_of(
    heat: Heatmap, *, scale: str = "linear", style: str = "heat", line: float = 3.0, see_through: bool = False
) -> tuple[Floats, NDArray[np.bool_], Legend]:
    """The densities of a map, which pixels are within the noise, and its legend."""
    noise = within_noise(heat)
    density, shown = scale_of(heat, noise, log=scale == "log", see_through=see_through)
    return density, noise, shown if style == "heat" else Contours.of(heat, density, line)
