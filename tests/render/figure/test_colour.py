from __future__ import annotations

import numpy as np
import pytest

from dpheatmap.render.figure.colour import SCALES, STEPS, colours, linear_rgb, scale_in_oklab

scales = pytest.mark.parametrize("scale", SCALES)


def oklab_of_srgb(rgb: np.ndarray) -> np.ndarray:
    """Back from 8 bits, by inverting the matrices that define OKLab (XYZ with D65 to cones, cube roots to Lab)."""
    s = rgb / 255
    linear = np.where(s <= 0.04045, s / 12.92, ((s + 0.055) / 1.055) ** 2.4)
    to_xyz = [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]]
    to_cones = [
        [0.8189330101, 0.3618667424, -0.1288597137],
        [0.0329845436, 0.9293118715, 0.0361456387],
        [0.0482003018, 0.2643662691, 0.6338517070],
    ]
    to_lab = [
        [0.2104542553, 0.7936177850, -0.0040720468],
        [1.9779984951, -2.4285922050, 0.4505937099],
        [0.0259040371, 0.7827717662, -0.8086757660],
    ]
    lab: np.ndarray = np.cbrt(linear @ np.transpose(to_xyz) @ np.transpose(to_cones)) @ np.transpose(to_lab)
    return lab


@scales
def test_equal_steps_of_value_are_equal_steps_for_the_eye(scale: str) -> None:
    steps = np.linalg.norm(np.diff(scale_in_oklab(scale), axis=0), axis=1)
    assert steps.max() / steps.min() < 1.001


@scales
def test_lightness_rises_evenly(scale: str) -> None:
    lightness = scale_in_oklab(scale)[:, 0]
    steps = np.diff(lightness)
    assert steps.min() > 0
    assert steps.max() / steps.min() < 1.2
    assert lightness[0] < 0.2
    assert lightness[-1] > 0.95


def test_so_do_the_colours_as_shown() -> None:
    lab = oklab_of_srgb(colours(np.linspace(0, 1, STEPS)))
    assert lab == pytest.approx(scale_in_oklab(), abs=0.004)  # what rounding to 8 bits leaves
    assert (np.diff(lab[::2, 0]) > 0).all()
    steps = np.linalg.norm(np.diff(lab[::15], axis=0), axis=1)
    assert steps.max() / steps.min() < 1.06


@scales
def test_grey_and_red_green_blind_readers_see_it_rise(scale: str) -> None:
    s = colours(np.linspace(0, 1, 32), scale) / 255
    linear = np.where(s <= 0.04045, s / 12.92, ((s + 0.055) / 1.055) ** 2.4)
    # Luminance, and what is left of it without long-wave (protan) or medium-wave (deutan) cones, roughly.
    for weights in ([0.2126, 0.7152, 0.0722], [0.1, 0.82, 0.08], [0.35, 0.57, 0.08]):
        assert (np.diff(linear @ weights) > 0).all()


@pytest.mark.parametrize("scale", [*SCALES, "balance"])
def test_every_colour_can_be_shown(scale: str) -> None:
    rgb = linear_rgb(scale_in_oklab(scale))
    assert rgb.min() >= 0
    assert rgb.max() <= 1


def test_every_step_has_its_own_colour() -> None:
    assert len({tuple(c) for c in colours(np.linspace(0, 1, STEPS)).tolist()}) == STEPS


def test_shapes_and_values_outside() -> None:
    assert colours(np.zeros((4, 5))).shape == (4, 5, 3)
    assert colours(0.5).dtype == np.uint8
    assert (colours([-1.0, 2.0]) == colours([0.0, 1.0])).all()


def test_differences_get_darker_away_from_zero_alike_on_both_sides() -> None:
    lab = scale_in_oklab("balance")
    assert lab.shape == (STEPS, 3)
    below, above = lab[: STEPS // 2], lab[STEPS // 2 :][::-1]
    assert np.abs(below[:, 0] - above[:, 0]).max() < 0.02
    assert (np.diff(below[:, 0]) > 0).all()
    assert (np.diff(above[:, 0]) > 0).all()
    # Blue against yellow is what red-green blind readers tell apart; the middle is neither.
    assert below[: STEPS // 4, 2].max() < -0.05
    assert above[: STEPS // 4, 2].min() > 0.03
    assert np.abs(lab[STEPS // 2 - 1 : STEPS // 2 + 1, 1:]).max() < 0.01
