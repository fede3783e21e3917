"""The pixels of maps: bands on paper as in the legend, hatching, water over heat, and other styles."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from dpheatmap.place.domain import Domain
from dpheatmap.render.content.look import Look
from dpheatmap.render.content.picture import Picture, picture_of
from dpheatmap.render.figure.background import chalk, lines_over
from dpheatmap.render.figure.figure import Figure
from dpheatmap.render.figure.heat_figure import figure_of
from dpheatmap.render.figure.painting import mask_of, mix, paint, stripes
from dpheatmap.render.palette import DARK, LIGHT, Theme, band_colours, over, rgb_of, shades
from render.conftest import HARBOUR, PITCH, SCREEN, bell, blob, heat_of

SQUARE = Domain.unit(6)
THEMES = pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])


def steps(domain: Domain = SQUARE, **facts: object) -> Figure:
    """A map of stairs from left to right, without smoothing, each stair in the middle of a band."""
    finest = domain.cells(domain.depth)
    stairs = np.array([0.3, 1.4, 3.0, 7.0, 14.0, 30.0, 70.0])
    values = np.tile(stairs[np.arange(finest.columns) * 7 // finest.columns], (finest.rows, 1))
    look = Look(**{"limits": (1, 50), **facts})  # type: ignore[arg-type]
    picture = picture_of(heat_of(domain, values, std=1e-9 * values / values.sum(), sigma=1e-9), look)
    shown: Picture = Picture(**{**vars(picture), "values": values})
    return Figure(shown, look)


def colours_in(pixels: np.ndarray) -> set[tuple[int, ...]]:
    packed = np.unique(pixels.reshape(-1, 3).astype(int) @ [1 << 16, 1 << 8, 1])
    return {(int(colour >> 16), int(colour >> 8 & 255), int(colour & 255)) for colour in packed}


@THEMES
def test_swatches_are_the_pixels_of_the_map(theme: Theme) -> None:
    """Each band over land has the colour that the legend shows, and what is under the first edge is paper."""
    figure = steps(colours=theme.name)
    pixels = figure.map_pixels()
    columns = pixels.shape[1]
    middles = [pixels[100, round((k + 0.5) * columns / 7)] for k in range(7)]
    expected = [theme.land, *(colour for _, _, colour in figure.bar)]
    for shown, wanted in zip(middles, expected, strict=True):
        assert np.abs(shown.astype(int) - rgb_of(wanted)).max() <= 1  # the opacity is rounded to a 255th
    assert len(colours_in(pixels)) == 7


def test_row_0_is_the_top() -> None:
    values = np.full((64, 64), 1e-6)
    values[0, 0] = 1.0
    pixels = figure_of(heat_of(SQUARE, values, sigma=1e-9)).map_pixels()
    painted = (pixels != rgb_of(LIGHT.land)).any(axis=-1)
    side = pixels.shape[0] // 64
    assert painted[:side, :side].all()
    assert not painted[side + 1 :].any()
    assert not painted[:, side + 1 :].any()


def test_edges_run_along_their_value() -> None:
    """Around a bell, the edge e lies at the distance s sqrt(2 log(top / e)) from the middle."""
    picture = picture_of(bell(Domain.unit(7), sigma=0.1))
    painted = paint(picture, LIGHT, 512, 512).colours[256].astype(int)
    for edge in picture.edges:
        away = 0.1 * 512 * np.sqrt(2 * np.log(picture.values.max() / edge))
        for side in (-1, 1):
            at = round(255.5 + side * away)
            inside, outside = painted[at - 3 * side], painted[at + 3 * side]
            assert (inside != outside).any(), edge
    band = {tuple(colour) for colour in painted[:, :3].tolist()}
    assert {rgb_of(colour) for colour in band_colours(LIGHT.heat, len(picture.edges))} <= band


@THEMES
def test_places_that_can_not_be_told_are_paper(theme: Theme) -> None:
    values = blob(SQUARE, 0.3)
    std = np.where(np.arange(64) < 32, 1e-9, 5.0) * values / values.sum()
    figure = figure_of(heat_of(SQUARE, values, std=std), Look(colours=theme.name))
    pixels = figure.map_pixels()
    half = pixels.shape[1] // 2
    assert (pixels[:, half + 60 :] == rgb_of(theme.land)).all()
    assert (pixels[half, half - 100 : half - 60] != rgb_of(theme.land)).any(axis=-1).all()


def test_rough_places_are_hatched() -> None:
    values = blob(SQUARE, 0.5)
    std = np.where(np.arange(64) < 32, 0.01, 0.4) * values / values.sum()
    figure = figure_of(heat_of(SQUARE, values, std=std))
    assert figure.picture.hatch
    row = figure.map_pixels()[700].astype(int)
    half = len(row) // 2
    firm, rough = row[100 : half - 100], row[half + 100 : -100]
    turns = [int((np.abs(np.diff(part.sum(axis=-1))) > 30).sum()) for part in (firm, rough)]
    assert turns[0] < 15 < 60 < turns[1], "stripes alternate with heat on the rough side only"
    light = over(figure.bar[-1][2], 1 - 0.92, LIGHT.land)
    assert np.abs(rough - rgb_of(light)).sum(axis=-1).min() < 40


def test_stripes_are_narrower_than_what_they_leave() -> None:
    found = stripes(400, 300, 2.0)
    assert found.mean() == pytest.approx(2.1 / 5.0, abs=0.01)
    assert found[:-1, 1:] == pytest.approx(found[1:, :-1]), "from lower left to upper right"


@THEMES
def test_water_lies_over_heat(theme: Theme) -> None:
    """In the open Atlantic off New York, heat shows through water; on land it is as in the legend."""
    finest = HARBOUR.cells(HARBOUR.depth)
    values = np.ones((finest.rows, finest.columns))
    look = Look(colours=theme.name, limits=(1e-3, 5e-3))
    figure = figure_of(heat_of(HARBOUR, values, sigma=1.0), look)
    shown: Picture = Picture(**{**vars(figure.picture), "values": 1.5e-3 * values})
    pixels = Figure(shown, look).map_pixels().astype(int)
    rows, columns = pixels.shape[:2]
    b = HARBOUR.bounds

    def at(lon: float, lat: float) -> np.ndarray:
        row, column = rows * (b.y1 - lat) / (b.y1 - b.y0), columns * (lon - b.x0) / (b.x1 - b.x0)
        found: np.ndarray = pixels[round(row), round(column)]
        return found

    heat = over(band_colours(theme.heat, 3)[0], theme.opacities[0], theme.land)
    assert np.abs(at(-74.6, 41.5) - rgb_of(heat)).max() <= 2
    on_sea = over(band_colours(theme.heat, 3)[0], theme.opacities[0], theme.water)
    assert np.abs(at(-72.8, 40.3) - rgb_of(over(theme.water, 0.7, on_sea))).max() <= 2
    bare = figure_of(heat_of(HARBOUR, values, sigma=1.0), Look(colours=theme.name, limits=(100, 500))).map_pixels()
    assert colours_in(bare[::7, ::7]) >= {rgb_of(theme.land), rgb_of(theme.water)}


def test_without_a_basemap_all_is_land() -> None:
    figure = figure_of(bell(HARBOUR, 0.02), Look(basemap=False))
    assert figure.ground.land is None
    assert tuple(figure.map_pixels()[5, 5].tolist()) == rgb_of(LIGHT.land)
    assert rgb_of(LIGHT.water) not in colours_in(figure.map_pixels()[::5, ::5])


def test_a_mask_has_the_area_of_its_polygons() -> None:
    ring = np.array([(10.0, 10.0), (90.0, 10.0), (90.0, 60.0), (10.0, 60.0), (10.0, 10.0)])
    hole = np.array([(20.0, 20.0), (40.0, 20.0), (40.0, 40.0), (20.0, 40.0), (20.0, 20.0)])
    mask = mask_of([[ring, hole], [ring[:2]]], 100, 80)
    assert mask.sum() == pytest.approx(80 * 50 - 20 * 20, rel=0.03)
    assert mask[30, 30] == 0.0
    assert mask[15, 15] == 1.0
    pixels = mix(np.zeros((80, 100, 3), np.uint8), (200, 100, 50), mask)
    assert pixels[15, 15].tolist() == [200, 100, 50]


# Styles


@THEMES
def test_smooth_heat_is_a_gradient_that_fades_in(theme: Theme) -> None:
    picture = picture_of(bell(Domain.unit(7), 0.2, sigma=0.1), Look(style="smooth"))
    painted = paint(picture, theme, 512, 512, style="smooth").colours
    row, values = painted[256].astype(int), picture.values[64]
    assert len(colours_in(painted[..., :3])) > 60
    opacity = row[:, 3]
    assert (np.diff(opacity[:250]) >= 0).all()
    assert opacity[256] == pytest.approx(255 * theme.opacities[1], abs=2)
    assert row[256, :3] == pytest.approx(shades(theme.heat, 256)[-1].astype(int), abs=6)
    below = np.flatnonzero(np.repeat(values, 4) < 0.75 * picture.edges[0])
    assert not opacity[below].any()


def test_smooth_maps_with_the_same_limits_have_one_scale() -> None:
    look = Look(style="smooth", limits=(1, 20))
    pictures = [picture_of(bell(Domain.unit(7), wide, sigma=0.1), look) for wide in (0.1, 0.2)]
    tops = [picture.values.max() for picture in pictures]
    assert tops[0] > 2 * tops[1]
    painted = [paint(picture, LIGHT, 128, 128, style="smooth").colours.astype(int) for picture in pictures]
    for value in (1.5, 2.0, 3.0):
        (one, other) = (
            colours.reshape(-1, 4)[np.abs(picture.values - value).argmin()]
            for picture, colours in zip(pictures, painted, strict=True)
        )
        assert one == pytest.approx(other, abs=6)
    highest = painted[0].reshape(-1, 4)[pictures[0].values.argmax()]
    assert (tops[0] >= 20) == (highest[:3].tolist() == shades(LIGHT.heat, 256)[-1].tolist())


def test_contours_are_lines_along_the_edges() -> None:
    picture = picture_of(bell(Domain.unit(7), sigma=0.1), Look(style="contour"))
    painted = paint(picture, LIGHT, 512, 512, style="contour", scale=2.0).colours
    assert painted[256, 256, 3] == 0, "see-through in the middle"
    assert 0.005 < (painted[..., 3] > 0).mean() < 0.25
    for edge, colour in zip(picture.edges, band_colours(LIGHT.heat, len(picture.edges)), strict=True):
        away = 0.1 * 512 * np.sqrt(2 * np.log(picture.values.max() / edge))
        assert painted[256, round(255.5 + away)].tolist() == pytest.approx([*rgb_of(colour), 255], abs=6)


def test_a_style_changes_the_picture_and_nothing_else() -> None:
    bands, smooth, contour = (figure_of(bell(SCREEN), Look(style=style)) for style in ("bands", "smooth", "contour"))
    assert bands.layout.map == smooth.layout.map == contour.layout.map
    assert bands.picture.words == smooth.picture.words == contour.picture.words
    assert (bands.few_colours, smooth.few_colours, contour.few_colours) == (True, False, True)
    assert (bands.map_pixels() != smooth.map_pixels()).any()


# Over pictures


def test_over_a_picture_only_the_hot_places_are_painted(tmp_path: Path) -> None:
    Image.new("RGB", (64, 48), (255, 255, 255)).save(tmp_path / "white.png")
    figure = figure_of(bell(SCREEN, 0.15), Look(background=tmp_path / "white.png"))
    pixels = figure.map_pixels()
    values = np.kron(figure.picture.values, np.ones((2, 2)))
    small = pixels[:: pixels.shape[0] // 96, :: pixels.shape[1] // 128][:96, :128]
    top = values.max()
    assert (small[values < 0.1 * top] == 255).all(), "the picture alone"
    assert (small[values > 0.6 * top] != 255).any(axis=-1).all()
    assert colours_in(small) <= {(255, 255, 255)} | around(figure), "the swatches are as on white"


def around(figure: Figure) -> set[tuple[int, ...]]:
    """The colours of the legend, those between them at soft edges, and their neighbours by rounding."""
    stops = [(255, 255, 255), *(rgb_of(colour) for _, _, colour in figure.bar)]
    found = {tuple(stop) for stop in colours_in(figure.map_pixels())}
    for stop in stops[1:]:
        assert min(max(abs(a - b) for a, b in zip(stop, one, strict=True)) for one in found) <= 1
    return found


def test_a_pitchs_lines_lie_over_the_heat() -> None:
    figure = figure_of(bell(PITCH, 0.2), Look(background="pitch"))
    pixels = figure.map_pixels().astype(int)
    lines = lines_over(PITCH, "pitch", (figure.layout.map.width, figure.layout.map.height))
    rows, columns = pixels.shape[:2]
    assert lines[rows // 4, columns // 2] == 1.0, "the halfway line, in the heat"
    assert (pixels[lines == 1.0] == rgb_of(chalk(LIGHT))).all()
    beside = pixels[rows // 2 - 60, columns // 2 + 30]
    assert (beside != rgb_of(chalk(LIGHT))).any()


# Nothing to show


@THEMES
def test_a_map_without_signal_is_paper_with_thin_lines(theme: Theme) -> None:
    """It never draws heat."""
    figure = figure_of(bell(SCREEN, spread=5.0), Look(colours=theme.name))
    pixels = figure.map_pixels().astype(int)
    land, line = (np.array(rgb_of(colour)) for colour in (theme.land, theme.coast))
    part = (pixels - land) @ (line - land) / ((line - land) @ (line - land))
    assert np.abs(pixels - land - part[..., None] * (line - land)).max() <= 2, "nothing but land and lines"
    assert 0.02 < (part > 0.4).mean() < 0.2
