"""The colours of a mask are areas of an image; white and what is transparent are background."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image, ImageFilter

import dpheatmap as dph
from dpheatmap.errors import DataError, ParameterError
from dpheatmap.estimate.areas.area_source import read_areas

CITY = dph.Domain.bbox(7.3, 46.9, 7.5, 47.02, resolution=200)
IMAGE = dph.Domain.image(64, 48)


def mask_of(wide: int, high: int, ground: tuple[int, ...] = (0, 0, 0, 0)) -> Image.Image:
    mask = Image.new("RGBA", (wide, high), ground)
    mask.paste((255, 0, 0, 255), (0, 0, 16, 12))
    mask.paste((0, 0, 255, 255), (16, 12, 32, 24))
    mask.paste((255, 0, 0, 255), (30, 0, 32, 2))
    return mask


@pytest.mark.parametrize("ground", [(0, 0, 0, 0), (255, 255, 255, 255)], ids=["transparent", "white"])
def test_each_colour_is_an_area(tmp_path: Path, ground: tuple[int, ...]) -> None:
    mask_of(64, 48, ground=ground).save(tmp_path / "mask.png")
    read = read_areas(tmp_path / "mask.png", IMAGE)
    assert read.names == ["#0000ff", "#ff0000"], "the background belongs to none"
    assert np.array(read.shapes(IMAGE).sizes) == pytest.approx([16 * 12, 16 * 12 + 4])


def test_masks_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "mask.png"
    mask_of(32, 24).save(path)
    with pytest.raises(ParameterError, match=r"64 x 48 pixels; 'mask\.png' has 32 x 24"):
        read_areas(path, IMAGE)
    with pytest.raises(ParameterError, match="is for images"):
        read_areas(path, CITY)
    mask_of(64, 48, ground=(255, 255, 255, 255)).filter(ImageFilter.GaussianBlur(3)).save(path)
    with pytest.raises(ParameterError, match="without soft edges"):
        read_areas(path, IMAGE)
    Image.new("RGBA", (64, 48)).save(path)
    with pytest.raises(ParameterError, match="had 0"):
        read_areas(path, IMAGE)
    path.write_bytes(b"no picture")
    with pytest.raises(DataError, match="can't be read as a picture"):
        read_areas(path, IMAGE)
