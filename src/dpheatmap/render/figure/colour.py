"""Colour scales of heat, from dark to light and perceptually uniform.

A scale is a curve in OKLab (B. Ottosson, 2020), a space in which equal distances look equally different. The first,
"heat", goes through six control points, given by lightness, chroma and hue, from near-black indigo through purple, red
and orange to pale yellow. Its a and b are the polynomials in lightness that pass through them, so lightness increases
throughout. The curve is sampled at equal distances, so that equal steps of value look equal. Lightness makes up most of
each step, so the scale also works in grey and without red-green vision. The same holds for "ice" and "grey".

"balance" is for differences: two such curves that meet in near-white, blue below and brown above.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.polynomial import Polynomial
from numpy.typing import ArrayLike, NDArray

from dpheatmap.place.domain import Floats

STEPS = 256
"""The number of colours in the scale."""

# Lightness from 0 to 1, chroma, and hue in degrees.
_HEAT = (  # indigo, violet, magenta, red, orange, pale yellow
    (0.16, 0.055, 286.0),
    (0.32, 0.140, 308.0),
    (0.48, 0.180, 350.0),
    (0.64, 0.195, 27.0),
    (0.80, 0.150, 67.0),
    (0.97, 0.065, 100.0),
)
_ICE = ((0.16, 0.050, 285.0), (0.36, 0.110, 268.0), (0.56, 0.125, 250.0), (0.77, 0.095, 215.0), (0.97, 0.040, 185.0))
_GREY = ((0.16, 0.0, 0.0), (0.97, 0.0, 0.0))
_BLUE = ((0.30, 0.115, 262.0), (0.55, 0.135, 255.0), (0.78, 0.080, 245.0), (0.965, 0.004, 240.0))
_BROWN = ((0.30, 0.075, 40.0), (0.55, 0.135, 50.0), (0.78, 0.095, 62.0), (0.965, 0.004, 80.0))

Control = tuple[tuple[float, float, float], ...]

SCALES: dict[str, Control] = {"heat": _HEAT, "ice": _ICE, "grey": _GREY}
"""The scales for values from 0 on, by name; the first is the default, the same on every map."""

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


def colours(values: ArrayLike, scale: str = "heat") -> NDArray[np.uint8]:
    """The sRGB colours of values between 0 and 1, with a last axis of red, green and blue.

    ``scale`` is one of :data:`SCALES`, or "balance" for values about 1/2.

    >>> colours([0.0, 0.5, 1.0]).tolist()
    [[12, 8, 35], [208, 48, 89], [255, 247, 197]]
    """
    return _table(scale)[_steps(values)]


def greys(values: ArrayLike) -> NDArray[np.uint8]:
    """Greys as light as the colours of the same values, for pixels that must not look like heat.

    >>> greys([0.0, 0.5, 1.0]).tolist()
    [[13, 13, 13], [119, 119, 119], [245, 245, 245]]
    """
    return _grey_table()[_steps(values)]


def _steps(values: ArrayLike) -> NDArray[np.intp]:
    return np.rint(np.clip(np.asarray(values, dtype=np.float64), 0.0, 1.0) * (STEPS - 1)).astype(np.intp)


def scale_in_oklab(scale: str = "heat") -> Floats:
    """A scale before rounding to 8 bits: :data:`STEPS` rows of L, a, b at equal distances along the curve."""
    if scale == "balance":
        half = STEPS // 2
        return np.concatenate([_curve(_BLUE, half), _curve(_BROWN, half)[::-1]])
    return _curve(SCALES[scale], STEPS)


def _curve(control: Control, steps: int) -> Floats:
    lightness, chroma, hue = np.array(control).T
    a, b = chroma * np.cos(np.radians(hue)), chroma * np.sin(np.radians(hue))
    along = np.linspace(lightness[0], lightness[-1], 16 * STEPS)
    through = [Polynomial.fit(lightness, axis, len(lightness) - 1)(along) for axis in (a, b)]
    curve = np.stack([along, *through], axis=1)
    length = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(curve, axis=0), axis=1))])
    at = np.linspace(0.0, length[-1], steps)
    return np.stack([np.interp(at, length, axis) for axis in curve.T], axis=1)


def linear_rgb(lab: Floats) -> Floats:
    """Convert OKLab to linear sRGB; a colour that a screen can show has all three between 0 and 1."""
    rgb: Floats = (lab @ _LAB_TO_CONES.T) ** 3 @ _CONES_TO_RGB.T
    return rgb


@cache
def _table(scale: str) -> NDArray[np.uint8]:
    return _in_8_bits(scale_in_oklab(scale))


@cache
def _grey_table() -> NDArray[np.uint8]:
    return _in_8_bits(scale_in_oklab() * [1.0, 0.0, 0.0])


def _in_8_bits(lab: Floats) -> NDArray[np.uint8]:
    linear = np.clip(linear_rgb(lab), 0.0, 1.0)
    gamma = np.where(linear <= 0.0031308, 12.92 * linear, 1.055 * linear ** (1 / 2.4) - 0.055)
    return np.rint(255.0 * gamma).astype(np.uint8)
