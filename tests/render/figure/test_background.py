"""Pictures under the heat: where they lie, which ones fit, which are none, and the pitch."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path

import numpy as np
import pytest
from PIL import EpsImagePlugin, Image

from dpheatmap.errors import DataError, ParameterError
from dpheatmap.place.domain import Domain
from dpheatmap.render.content.look import Look
from dpheatmap.render.figure.background import background_of, lines_over, pitch_lines
from dpheatmap.render.figure.heat_figure import figure_of
from dpheatmap.render.palette import DARK, LIGHT, OVER_A_PICTURE, band_colours, opacities, over, rgb_of
from render.conftest import CITY, SCREEN, MakeHeat, bell, blob, pixels_of


def test_heat_lies_over_a_background(photo: Path) -> None:
    """The picture shows through, with most of its colour taken away, so that colour means heat."""
    figure = figure_of(bell(SCREEN, 0.05), Look(background=photo))
    shown = pixels_of(figure)
    assert shown[0, 0].tolist() == [255, 255, 255]  # no heat in the corner
    right = shown[0, -1]
    assert right[2] > right[0] + 30  # still blue, but less so
    assert right[2] < 200
    many = len(figure.picture.edges)
    hot = over(band_colours(LIGHT.heat, many)[-1], opacities(many, OVER_A_PICTURE)[-1], "#FFFFFF")
    middle = shown[shown.shape[0] // 2, shown.shape[1] // 2 - 10]
    assert np.abs(middle - rgb_of(hot)).max() <= 2


def test_a_background_is_not_stretched_over_cells_beyond_it(tmp_path: Path) -> None:
    """Cells of 4 pixels: the map of a picture of 100 x 74 is one of 100 x 76, the last rows of which are blank."""
    Image.new("RGB", (100, 74), (0, 0, 0)).save(tmp_path / "black.png")
    domain = Domain.image(100, 74, depth=5)
    assert domain.bounds.y1 == 76
    under = background_of(domain, tmp_path / "black.png", (1000, 760))
    assert (under[:740] == 0).all()
    assert (under[740:] == 255).all()


def test_a_background_must_fit(make_heat: MakeHeat, photo: Path, tmp_path: Path) -> None:
    heat = make_heat(Domain.image(64, 64))
    with pytest.raises(ParameterError, match=r"must have the shape of the domain, 1 times.*it was 128 x 96"):
        heat.save(tmp_path / "map.png", background=photo)
    with pytest.raises(DataError, match="There is no picture"):
        heat.save(tmp_path / "map.png", background=tmp_path / "none.png")
    (tmp_path / "text.png").write_text("no picture")
    with pytest.raises(DataError, match="can't be read as a picture"):
        heat.save(tmp_path / "map.png", background=tmp_path / "text.png")
    with pytest.raises(ParameterError, match="the place of this map is a box"):
        make_heat(CITY).save(tmp_path / "map.png", background=photo)
    assert not (tmp_path / "map.png").exists()


def png_of(width: int, height: int) -> bytes:
    """A few bytes that claim to be a picture of that size."""

    def chunk(kind: bytes, content: bytes) -> bytes:
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(b"")) + chunk(b"IEND", b"")


@pytest.mark.parametrize(
    "content",
    [png_of(50_000, 50_000), png_of(64, 64)[:-9], b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 64 64\n"],
    ids=["enormous", "cut short", "a program"],
)
def test_a_picture_that_was_made_to_harm_is_none(
    content: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither decoded nor, as PostScript is by Pillow, run; and refused in words."""
    ran = []
    monkeypatch.setattr(EpsImagePlugin, "Ghostscript", lambda *parts, **options: ran.append(parts))
    (tmp_path / "photo.png").write_bytes(content)
    with pytest.raises(DataError, match="can't be read as a picture"):
        background_of(Domain.image(64, 64), tmp_path / "photo.png")
    assert ran == []


@pytest.mark.parametrize("size", [(1050, 680), (680, 1050)])
def test_a_pitch_is_symmetric_and_has_its_lines(size: tuple[int, int]) -> None:
    pitch = np.asarray(pitch_lines(*size)).astype(int)
    if size[0] < size[1]:
        pitch = pitch.T
    chalk = (pitch > 128).astype(int)
    assert np.abs(chalk - chalk[:, ::-1]).mean() < 0.01
    assert np.abs(chalk - chalk[::-1]).mean() < 0.01
    assert chalk[:, 525].mean() > 0.9  # the halfway line
    assert chalk[340, 525 - 92] + chalk[340, 525 - 91] + chalk[340, 525 - 90] > 0  # the circle, 9.15 m away


def test_a_pitch_as_a_background(make_heat: MakeHeat, tmp_path: Path) -> None:
    make_heat(Domain.image(105, 68), blob(Domain.image(105, 68))).save(tmp_path / "map.png", background="pitch")
    assert (tmp_path / "map.png").stat().st_size > 10_000


def test_a_pitch_is_grass_with_lines_in_both_themes() -> None:
    domain = Domain.image(105, 68)
    for theme in (LIGHT, DARK):
        under = background_of(domain, "pitch", (1050, 680), theme).astype(int)
        lines = lines_over(domain, "pitch", (1050, 680))
        grass, chalk = under[lines == 0.0], under[lines == 1.0]
        assert (grass == grass[0]).all()
        assert (chalk == chalk[0]).all()
        assert grass[0, 1] == grass[0].max(), "green"
        assert (theme is LIGHT) == (grass[0].sum() > chalk[0].sum())


def test_only_a_pitch_has_lines_over_the_heat(photo: Path) -> None:
    assert not lines_over(SCREEN, photo, (64, 48)).any()
