"""Pictures as files: PNG of few colours, SVG and PDF with words as words, and heat alone."""

from __future__ import annotations

import base64
import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import rasterio
import rasterio.warp
from PIL import Image

from dpheatmap.errors import ParameterError
from dpheatmap.place.domain import Domain
from dpheatmap.render.content.look import Look
from dpheatmap.render.content.picture import picture_of
from dpheatmap.render.figure.heat_figure import figure_of
from dpheatmap.render.figure.lettering import FONTS
from dpheatmap.render.formats import png
from dpheatmap.render.palette import DARK, LIGHT, WARNING, band_colours, rgb_of
from render.conftest import CITY, HARBOUR, SCREEN, bell, every_kind, heat_of

TOWN = Domain.bbox(7.30, 46.90, 7.50, 47.02, resolution=800)
SVG = "{http://www.w3.org/2000/svg}"


def words_of(path: Path) -> list[str]:
    """The texts of an SVG file."""
    return ["".join(text.itertext()).strip() for text in ElementTree.parse(path).getroot().iter(f"{SVG}text")]


# PNG


@pytest.mark.parametrize(("domain", "spread", "colours"), [
    (HARBOUR, 0.05, "light"), (HARBOUR, 0.4, "dark"), (TOWN, 5.0, "light"), (SCREEN, 0.4, "light"),
])  # fmt: skip
def test_a_picture_has_at_most_256_colours_near_those_drawn(
    tmp_path: Path, domain: Domain, spread: float, colours: str
) -> None:
    heat = bell(domain, spread=spread)
    heat.save(tmp_path / "map.png", colours=colours)
    with Image.open(tmp_path / "map.png") as picture:
        assert picture.format == "PNG"
        assert picture.mode == "P"
        assert not set(picture.info) - {"transparency"}
        packed = np.asarray(picture.convert("RGB")).astype(int)
    drawn = np.asarray(png.draw(heat, Look(colours=colours))).astype(int)
    assert len(np.unique(packed.reshape(-1, 3) @ [1 << 16, 1 << 8, 1])) <= 256
    away = np.abs(packed - drawn).max(axis=-1)
    assert (away <= 4).mean() > 0.97
    assert away.max() < 60
    theme = DARK if colours == "dark" else LIGHT
    assert np.abs(packed[3, 3] - rgb_of(WARNING if heat.seeded else theme.page)).max() <= 1


def test_the_file_is_small(tmp_path: Path) -> None:
    bell(HARBOUR).save(tmp_path / "map.png")
    assert (tmp_path / "map.png").stat().st_size < 300_000


@pytest.mark.parametrize("style", ["smooth", "bands"])
def test_photographs_and_gradients_keep_their_colours(tmp_path: Path, photo: Path, style: str) -> None:
    bell(SCREEN).save(tmp_path / "map.png", style=style, **({"background": photo} if style == "bands" else {}))  # type: ignore[arg-type]
    with Image.open(tmp_path / "map.png") as picture:
        assert picture.mode == "RGB"


@every_kind
def test_nothing_is_cut_at_the_edge(domain: Domain) -> None:
    picture = np.asarray(png.draw(bell(domain)))
    for edge in (picture[:8], picture[-8:], picture[:, :8], picture[:, -8:]):
        assert (edge == 255).all()


def test_titles_are_drawn_in_the_letters_there_are() -> None:
    plain, accents, unknown = (
        np.asarray(png.draw(bell(SCREEN), Look(title=title))) for title in ("Zurich", "Zürich", "Zurich東")
    )
    assert (plain != accents).any()
    assert (plain == unknown).all()


# Heat alone


def test_a_bare_picture_lies_where_it_belongs(tmp_path: Path) -> None:
    """GDAL finds the world file and the coordinate system beside it."""
    heat = bell(CITY)
    heat.save(tmp_path / "map.png", bare=True)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["map.pgw", "map.png", "map.png.aux.xml"]
    with rasterio.open(tmp_path / "map.png") as file:
        assert (file.height, file.width) == heat.values.shape
        assert file.crs.to_epsg() == 3857
        assert file.count == 4
        bounds = rasterio.warp.transform_bounds(file.crs, "EPSG:4326", *file.bounds)
        assert bounds == pytest.approx(CITY.bounds, abs=1e-9)
        opacity = file.read(4)
    picture = picture_of(heat)
    assert not opacity[picture.values < 0.7 * picture.edges[0]].any()
    assert (opacity[picture.values > 1.3 * picture.edges[0]] >= round(255 * LIGHT.opacities[0]) - 1).all()


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
def test_a_bare_picture_has_the_bands_and_nothing_where_nothing_is_told(tmp_path: Path, theme: Any) -> None:
    values = bell(SCREEN, 0.4).values
    std = np.where(np.arange(64) < 32, 1e-6, 5.0) * values
    heat_of(SCREEN, values, std=std, sigma=1e-9).save(tmp_path / "map.png", bare=True, colours=theme.name)
    with Image.open(tmp_path / "map.png") as opened:
        pixels = np.asarray(opened)
    assert not pixels[:, 36:, 3].any()
    many = len(picture_of(heat_of(SCREEN, values, std=std)).edges)
    found = {tuple(colour) for colour in pixels[pixels[..., 3] > 150][:, :3].tolist()}
    assert found <= {rgb_of(colour) for colour in band_colours(theme.heat, many)} != set()
    bell(SCREEN, spread=5.0).save(tmp_path / "map.png", bare=True)
    with Image.open(tmp_path / "map.png") as opened:
        assert not np.asarray(opened)[..., 3].any(), "no signal, no heat"


def test_bare_pictures_of_images_need_no_world_file(tmp_path: Path) -> None:
    bell(SCREEN).save(tmp_path / "map.png", bare=True)
    assert [path.name for path in tmp_path.iterdir()] == ["map.png"]
    with Image.open(tmp_path / "map.png") as picture:
        assert picture.size == (64, 48)
        assert picture.mode == "RGBA"
    for words in ({"title": "Clicks"}, {"source": "us"}, {"basemap": False}):
        with pytest.raises(ParameterError, match="the heat and nothing else, and words, a background or a basemap"):
            bell(SCREEN).save(tmp_path / "map.png", bare=True, **words)


# SVG and PDF


def test_svg_has_words_as_words(tmp_path: Path) -> None:
    heat = bell(HARBOUR)
    heat.save(tmp_path / "map.svg", title="Bikes & people in $ or €", subtitle="In June", source="the town")
    words = words_of(tmp_path / "map.svg")
    figure = figure_of(heat, Look(title="Bikes & people in $ or €", subtitle="In June", source="the town"))
    layout = figure.layout
    for line in (*layout.head, *layout.legend_titles, *layout.small_print, *(note.line for note in layout.notes)):
        assert line.text in words
    assert {text for _, text in figure.ticks} <= set(words)
    assert {name.text for name in figure.ground.names} <= set(words)
    assert figure.picture.words.badge in words


@pytest.mark.parametrize("suffix", [".svg", ".pdf"])
def test_the_same_map_gives_the_same_file(tmp_path: Path, suffix: str) -> None:
    for name in ("a", "b"):
        bell(TOWN).save(tmp_path / f"{name}{suffix}")
    first, second = ((tmp_path / f"{name}{suffix}").read_bytes() for name in ("a", "b"))
    assert first == second
    assert not re.search(rb"CreationDate|<dc:date>", first)
    assert first.startswith(b"%PDF" if suffix == ".pdf" else b"<?xml")


def test_an_svg_carries_the_fonts_that_its_words_were_measured_with(tmp_path: Path) -> None:
    bell(SCREEN).save(tmp_path / "map.svg", title="Zürich", subtitle="Genève")
    text = (tmp_path / "map.svg").read_text("utf-8")
    face = r"@font-face{font-family:'([^']*)';font-weight:(\d+);src:url\(data:font/ttf;base64,([^)]*)\)}"
    carried = {int(weight): (name, base64.b64decode(data)) for name, weight, data in re.findall(face, text)}
    assert {weight: data for weight, (_, data) in carried.items()} == {
        weight: font.read_bytes() for weight, font in FONTS.items()
    }
    styles = {element.text: element.attrib["style"] for element in ElementTree.fromstring(text).iter(f"{SVG}text")}
    assert "Inter SemiBold" in styles["Zürich"]
    assert re.search(r"'?Inter'?(,|;|$)", styles["Genève"])


def test_a_pdf_embeds_both_fonts(tmp_path: Path) -> None:
    bell(SCREEN).save(tmp_path / "map.pdf", title="Zürich")
    names = set(re.findall(rb"/FontName\s*/([\w+-]+)", (tmp_path / "map.pdf").read_bytes()))
    assert any(name.endswith(b"SemiBold") for name in names), names
    assert any(b"Inter" in name and b"SemiBold" not in name for name in names), names
