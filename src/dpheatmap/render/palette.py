"""Colours: the paper of a map, and the bands of heat on it, light and dark.

Heat is a curve in OKLab (B. Ottosson, 2020), a space in which equal distances look equally different. The curve goes
through control points of lightness, chroma and hue, by monotone cubics. It is walked at constant speed and read at even
positions, one a band, so that neighbouring bands differ as much everywhere. More is farther from the paper: darker on
light, lighter on dark. So bands keep their order in grey, and without red-green vision.

>>> band_colours(LIGHT.heat, 3)
['#F8DE96', '#DF4548', '#47175F']
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from dpheatmap.place.domain import Floats

Rgb = tuple[int, int, int]
Control = tuple[tuple[float, float, float], ...]
"""Points of a curve: lightness from 0 to 1, chroma, and hue in degrees."""

_FINE = 2000  # points on a curve, between which it is straight

# OKLab to the cube roots of cone responses, and those cubed to linear sRGB: the published matrices.
_LAB_TO_CONES = np.array(
    [
        [1.0, 0.3963377774, 0.2158037573],
        [1.0, -0.1055613458, -0.0638541728],
        [1.0, -0.0894841775, -1.2914855480],
    ]
)
_CONES_TO_RGB = np.array(
    [
        [4.0767416621, -3.3077115913, 0.2309699292],
        [-1.2684380046, 2.6097574011, -0.3413193965],
        [-0.0041960863, -0.7034186147, 1.7076147010],
    ]
)


@dataclass(frozen=True)
class Theme:
    """The colours of a map: paper, ink, and the curves of heat and of changes.

    ``opacities`` are those of the first and of the last bands of heat, and ``change_opacities`` those of changes.
    """

    name: str
    page: str
    land: str
    water: str
    coast: str
    ink: str
    soft: str
    names: str
    rules: str
    faint: str
    park: str
    road: str
    casing: str
    border: str
    badge: str
    badge_ink: str
    heat: Control
    fewer: Control
    more: Control
    opacities: tuple[float, float]
    change_opacities: tuple[float, float] = (0.70, 0.92)


LIGHT = Theme(
    name="light",
    page="#FFFFFF",
    land="#F4F2ED",
    water="#D5E1E7",
    coast="#A9BBC5",
    ink="#1D2329",
    soft="#56606A",
    names="#3C444C",
    rules="#E3E7EA",
    faint="#C9D0D5",
    park="#E4ECDD",
    road="#FFFFFF",
    casing="#DAD6CD",
    border="#6B7680",
    badge="#EAF1EC",
    badge_ink="#245C3E",
    heat=(
        (0.905, 0.095, 90.0),
        (0.825, 0.135, 74.0),
        (0.735, 0.165, 50.0),
        (0.60, 0.190, 22.0),
        (0.46, 0.165, 350.0),
        (0.32, 0.125, 312.0),
    ),
    fewer=(
        (0.93, 0.028, 230.0),
        (0.80, 0.075, 235.0),
        (0.64, 0.115, 245.0),
        (0.47, 0.125, 256.0),
        (0.33, 0.105, 262.0),
    ),
    more=((0.93, 0.040, 75.0), (0.81, 0.105, 62.0), (0.66, 0.150, 45.0), (0.50, 0.145, 35.0), (0.35, 0.105, 25.0)),
    opacities=(0.76, 0.92),
)
"""Ink on paper, as by default."""

DARK = Theme(
    name="dark",
    page="#14181C",
    land="#22282E",
    water="#171C21",
    coast="#4A5661",
    ink="#EEF1F3",
    soft="#A8B2BA",
    names="#C9D1D7",
    rules="#2C343B",
    faint="#46505A",
    park="#232F2A",
    road="#3A434B",
    casing="#1B2026",
    border="#76828C",
    badge="#1E2F27",
    badge_ink="#9AD7B4",
    heat=(
        (0.34, 0.085, 300.0),
        (0.46, 0.150, 335.0),
        (0.60, 0.190, 14.0),
        (0.735, 0.170, 48.0),
        (0.85, 0.135, 80.0),
        (0.965, 0.060, 100.0),
    ),
    fewer=(
        (0.30, 0.040, 250.0),
        (0.42, 0.100, 254.0),
        (0.57, 0.130, 247.0),
        (0.74, 0.105, 236.0),
        (0.90, 0.050, 225.0),
    ),
    more=((0.30, 0.045, 40.0), (0.43, 0.110, 34.0), (0.58, 0.150, 42.0), (0.75, 0.130, 62.0), (0.91, 0.065, 80.0)),
    opacities=(0.75, 0.95),
)
"""Light on a dark ground."""

THEMES = {theme.name: theme for theme in (LIGHT, DARK)}

OVER_A_PICTURE = (0.50, 0.74)
"""The opacities of the first and of the last bands over a picture."""

WARNING = "#B3261E"
"""The red of what is not private."""


def band_colours(curve: Control, bands: int) -> list[str]:
    """The colours of so many bands along a curve; a single one has the colour of the middle."""
    return [hex_of(colour) for colour in (_read(curve, bands) if bands > 1 else _read(curve, 3)[1:2])]


def change_colours(curve: Control, bands: int) -> list[str]:
    """The colours of so many bands of a change; the first point of the curve is the paper, which no band has."""
    return [hex_of(colour) for colour in _read(curve, bands + 1)[1:]]


def shades(curve: Control, steps: int) -> NDArray[np.uint8]:
    """Many colours along a curve, for heat without bands."""
    return np.array(_read(curve, steps), np.uint8)


def opacities(bands: int, between: tuple[float, float]) -> list[float]:
    """The opacity of each band: even steps from the first, until the last two are alike."""
    low, high = between
    return [round(low + (high - low) * min(1.0, band / max(1, bands - 2)), 3) for band in range(bands)]


def rgb_of(colour: str) -> Rgb:
    """Red, green and blue of a colour in hexadecimal.

    >>> rgb_of("#F4F2ED")
    (244, 242, 237)
    """
    red, green, blue = bytes.fromhex(colour[1:])
    return red, green, blue


def hex_of(colour: Rgb) -> str:
    """A colour in hexadecimal."""
    return "#" + bytes(colour).hex().upper()


def over(colour: str, opacity: float, ground: str) -> str:
    """A colour as it looks on a ground, for swatches in legends.

    >>> over("#000000", 0.5, "#FFFFFF")
    '#808080'
    """
    mixed = (round(opacity * a + (1.0 - opacity) * b) for a, b in zip(rgb_of(colour), rgb_of(ground), strict=True))
    red, green, blue = mixed
    return hex_of((red, green, blue))


def linear_rgb(lab: Floats) -> Floats:
    """Convert OKLab to linear sRGB; a colour that a screen can show has all three between 0 and 1."""
    rgb: Floats = (lab @ _LAB_TO_CONES.T) ** 3 @ _CONES_TO_RGB.T
    return rgb


def curve_in_oklab(control: Control, points: int) -> Floats:
    """Rows of L, a, b at equal distances along a curve."""
    lightness, chroma, hue = np.array(control).T
    lab = np.stack([lightness, chroma * np.cos(np.radians(hue)), chroma * np.sin(np.radians(hue))], axis=1)
    fine = np.stack([_through(axis, np.linspace(0.0, 1.0, _FINE)) for axis in lab.T], axis=1)
    length = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(fine, axis=0), axis=1))])
    at = np.linspace(0.0, length[-1], points)
    return np.stack([np.interp(at, length, axis) for axis in fine.T], axis=1)


def _through(values: Floats, at: Floats) -> Floats:
    """Monotone cubics through values at even positions from 0 to 1 (Fritsch and Butland, 1984)."""
    slopes = np.diff(values)
    tangents = np.array(
        [_end(slopes[0], slopes[1]), *(_between(a, b) for a, b in pairwise(slopes)), _end(slopes[-1], slopes[-2])]
    )
    scaled = at * (len(values) - 1)
    left = np.minimum(scaled.astype(np.intp), len(values) - 2)
    t = scaled - left
    a, b, da, db = values[left], values[left + 1], tangents[left], tangents[left + 1]
    found: Floats = (
        a * (1 + 2 * t) * (1 - t) ** 2 + da * t * (1 - t) ** 2 + b * t**2 * (3 - 2 * t) + db * t**2 * (t - 1)
    )
    return found


def _between(before: float, after: float) -> float:
    """The tangent between two slopes: their harmonic mean, 0 at a turn."""
    return 2.0 * before * after / (before + after) if before * after > 0 else 0.0


def _end(last: float, before: float) -> float:
    """The tangent at an end: that of a parabola, unless it would turn."""
    tangent = (3.0 * last - before) / 2.0
    if tangent * last <= 0:
        return 0.0
    return 3.0 * last if last * before <= 0 and abs(tangent) > 3.0 * abs(last) else tangent


@cache
def _read(curve: Control, points: int) -> list[Rgb]:
    linear = np.clip(linear_rgb(curve_in_oklab(curve, points)), 0.0, 1.0)
    gamma = np.where(linear <= 0.0031308, 12.92 * linear, 1.055 * linear ** (1 / 2.4) - 0.055)
    return [(int(r), int(g), int(b)) for r, g, b in np.rint(255.0 * gamma)]
