"""Thumbnails: the map in small, in a few kilobytes."""

from __future__ import annotations

import io

import numpy as np
import pytest
from PIL import Image

from dpheatmap.heatmap.differences import Difference
from dpheatmap.place.domain import Domain
from dpheatmap.render.content.changes import picture_of_difference
from dpheatmap.render.content.picture import Picture, picture_of
from dpheatmap.render.content.resampling import resize
from dpheatmap.render.figure.thumbnail import thumbnail
from dpheatmap.render.palette import LIGHT, rgb_of
from render.conftest import SCREEN, bell, heat_of

SQUARE = Domain.unit(6)


def pixels_of(picture: Picture, side: int = 64) -> np.ndarray:
    packed = thumbnail(picture, side)
    assert len(packed) < 12_000
    with Image.open(io.BytesIO(packed)) as opened:
        return np.asarray(opened.convert("RGB"), dtype=int)


def is_land(pixels: np.ndarray) -> np.ndarray:
    found: np.ndarray = np.abs(pixels - rgb_of(LIGHT.land)).max(axis=-1) <= 3
    return found


def test_heat_is_painted_where_it_can_be_told() -> None:
    values = bell(SQUARE, 0.3).values
    std = np.where(np.arange(64) < 32, 1e-9, 5.0) * values
    picture = picture_of(heat_of(SQUARE, values, std=std))
    assert picture.clarity is not None
    bare = (picture.values < picture.edges[0]) | (resize(picture.clarity, 64, 64) < 1.0)
    assert (is_land(pixels_of(picture)) == bare).mean() > 0.97
    assert is_land(pixels_of(picture))[:, 36:].all()


@pytest.mark.parametrize(("domain", "size"), [(SCREEN, (30, 40)), (Domain.image(3, 900, depth=9), (40, 1))], ids=str)
def test_the_longer_side_is_as_asked(domain: Domain, size: tuple[int, int]) -> None:
    assert pixels_of(picture_of(bell(domain)), 40).shape[:2] == size


def test_a_map_of_nothing_has_lines_and_no_heat() -> None:
    pixels = pixels_of(picture_of(bell(SQUARE, spread=5.0)))
    assert 0.02 < 1 - is_land(pixels).mean() < 0.5
    assert np.ptp(pixels, axis=-1).max() < 40, "no colour"


def test_changes_have_both_colours() -> None:
    a, b = (bell(SQUARE, wide) for wide in (0.1, 0.3))
    pixels = pixels_of(picture_of_difference(Difference(a, b)))
    red, blue = pixels[..., 0], pixels[..., 2]
    assert (red - blue > 60).any()
    assert (blue - red > 60).any()
    assert blue[32, 32] > red[32, 32], "fewer in the middle"
