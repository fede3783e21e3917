"""What pictures show: the ground, contours, scales, what is within the noise; as PNG, SVG and PDF."""

from __future__ import annotations

import base64
import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import numpy as np
import pytest
import rasterio
import rasterio.warp
from PIL import Image

from dpheatmap.errors import ParameterError
from dpheatmap.heatmap.heatmap import Heatmap
from dpheatmap.place.domain import Domain
from dpheatmap.releases.release import Release
from dpheatmap.render import basemap
from dpheatmap.render.basemap.ground import ground_of
from dpheatmap.render.figure.canvas import Box
from dpheatmap.render.figure.colour import colours, greys
from dpheatmap.render.figure.heat_figure import figure_of
from dpheatmap.render.figure.lettering import FONT
from dpheatmap.render.figure.scale import Contours, Scale
from dpheatmap.render.formats import png
from render.conftest import CITY, SCREEN, MakeHeat, blob, pixels_of

HARBOUR = Domain.bbox(-75.0, 40.0, -72.0, 42.0, depth=11)


def is_grey(pixels: np.ndarray) -> np.ndarray:
    grey: np.ndarray = np.ptp(pixels, axis=-1) == 0
    return grey


# The ground


def test_towns_are_where_they_are() -> None:
    box = Box(0, 0, 1000, 1000)
    ground = ground_of(HARBOUR, box, 20, lambda name: 10.0 * len(name))
    towns = {town.name: town for town in ground.towns}
    b = HARBOUR.bounds
    known = {city.name: city for city in reversed(basemap.cities(b, 300))}
    assert len(towns) == 10
    for name, town in towns.items():
        assert town.x == pytest.approx(1000 * (known[name].lon - b.x0) / (b.x1 - b.x0), abs=1e-6)
        assert town.y == pytest.approx(1000 * (b.y1 - known[name].lat) / (b.y1 - b.y0), abs=10)  # nearly straight here


def test_the_coast_is_where_it_is() -> None:
    """Sandy Hook's tip lies near 74.01 W, 40.48 N: a coast passes by, within the basemap's detail."""
    ground = ground_of(HARBOUR, Box(0, 0, 1000, 1000), 20, lambda name: 10.0 * len(name))
    b = HARBOUR.bounds
    points = np.concatenate(ground.coast)
    hook = [1000 * (-74.01 - b.x0) / (b.x1 - b.x0), 1000 * (b.y1 - 40.48) / (b.y1 - b.y0)]
    assert np.hypot(*(points - hook).T).min() < 10
    far = [1000 * (-72.8 - b.x0) / (b.x1 - b.x0), 1000 * (b.y1 - 40.3) / (b.y1 - b.y0)]  # the open Atlantic
    assert np.hypot(*(points - far).T).min() > 100


def test_names_keep_clear_of_each_other_and_of_the_edge() -> None:
    box = Box(50, 40, 900, 700)
    towns = ground_of(Domain.bbox(5, 50, 9, 53, depth=10), box, 20, lambda name: 10.0 * len(name)).towns
    areas = [(t.left, t.baseline - 20, t.left + 10 * len(t.name), t.baseline + 6) for t in towns]
    assert len(towns) == 10
    for k, a in enumerate(areas):
        assert a[0] > box.left
        assert a[2] < box.right
        assert all(a[2] <= b[0] or b[2] <= a[0] or a[3] <= b[1] or b[3] <= a[1] for b in areas[:k])


def test_towns_are_all_over_the_map() -> None:
    """Not the ten largest, most of which are in one corner of the world."""
    world = Domain.bbox(-180, -70, 180, 75, depth=6)
    towns = ground_of(world, Box(0, 0, 1000, 800), 14, lambda name: 7.0 * len(name)).towns
    assert len(towns) == 10
    assert all(np.hypot(a.x - b.x, a.y - b.y) >= 90 for k, a in enumerate(towns) for b in towns[:k])
    assert {town.x > 500 for town in towns} == {town.y > 400 for town in towns} == {False, True}


def test_a_small_place_gets_no_coast_that_is_off() -> None:
    """The lines are those of a map of 1:10 million; on a map of a city they would be wrong to the eye."""
    ground = ground_of(Domain.bbox(-74.2, 40.5, -73.7, 40.9), Box(0, 0, 9, 9), 1, lambda name: 1.0)
    assert ground.coast == []
    assert ground.borders == []


def test_the_world_has_no_line_at_its_edge(make_heat: MakeHeat) -> None:
    world = Domain.bbox(-180, -85.05, 180, 85.05, depth=6)
    ground = ground_of(world, Box(0, 0, 1000, 1000), 20, lambda name: 10.0 * len(name))
    for line in ground.coast:
        along = (np.abs(line[:-1, 0]) < 0.5) & (np.abs(line[1:, 0]) < 0.5)
        assert not along.any()


def test_the_basemap_is_drawn_and_can_be_left_out(make_heat: MakeHeat) -> None:
    heat = make_heat(HARBOUR, blob(HARBOUR))
    place = figure_of(heat).place
    with_it, without = (
        np.asarray(png.draw(heat, basemap=wanted))[place.top : place.bottom, place.left : place.right]
        for wanted in (True, False)
    )
    changed = (with_it != without).any(axis=-1)
    assert 0.005 < changed.mean() < 0.2
    assert figure_of(make_heat(SCREEN)).place.credit == ()


# Contours


def test_a_line_holds_its_share_of_people(make_heat: MakeHeat) -> None:
    domain = Domain.unit(7)
    heat = make_heat(domain, blob(domain))
    for threshold, share in zip(Contours.of(heat, heat.density, 3.0).thresholds, (0.25, 0.5, 0.75, 0.9), strict=True):
        assert heat.values[heat.density >= threshold].sum() == pytest.approx(share, abs=0.01)


def test_lines_run_along_their_threshold(make_heat: MakeHeat) -> None:
    """Around a bell of standard deviation s, half of everybody is within s * sqrt(2 log 2)."""
    domain = Domain.unit(8)
    painted = Contours.of(heat := make_heat(domain, blob(domain)), heat.density, 3.0).paint(
        heat.density, np.zeros((256, 256), dtype=bool)
    )
    row = painted[128].astype(int)
    solid = np.flatnonzero(row[:, 3] > 200)
    radius = 0.1 * 256 * np.sqrt(2 * np.log(2))
    assert np.abs(solid - (127.5 + radius)).min() < 2
    assert np.abs(solid - (127.5 - radius)).min() < 2
    assert row[128, 3] == 0  # see-through in the middle
    assert (painted[..., 3] > 0).mean() < 0.2


# Scales


def test_a_logarithmic_scale_spans_three_decades() -> None:
    scale = Scale("% of people per km²", 5.0, log=True)
    assert scale.relative(np.array([5.0, 0.5, 0.05, 0.005, 0.0])) == pytest.approx([1, 2 / 3, 1 / 3, 0, 0])
    assert [tick.label for tick in scale.ticks(300, lambda text: 20.0)] == ["0.01", "0.1", "1"]
    assert [tick.at for tick in scale.ticks(300, lambda text: 20.0)] == pytest.approx([30.1, 130.1, 230.1], abs=0.1)
    assert scale.name == "% of people per km², logarithmic scale"
    assert Scale("% of people per km²", 10.0, log=True).ticks(300, lambda text: 20.0)[-1] == (300.0, "10")


def test_the_legend_says_which_scale(make_heat: MakeHeat) -> None:
    heat = make_heat(CITY, blob(CITY))
    assert figure_of(heat).legend.name.endswith(", linear scale")
    assert figure_of(heat, scale="log").legend.name.endswith(", logarithmic scale")
    assert pixels_of(figure_of(heat, scale="log")).sum() > pixels_of(figure_of(heat)).sum()


def test_colours_mean_the_same_in_every_map(make_heat: MakeHeat) -> None:
    """Two releases' maps compare: half of the top has the same colour in both."""
    strips = [figure_of(make_heat(domain, blob(domain))).legend.strip(256, 1) for domain in (CITY, SCREEN)]
    assert (strips[0] == strips[1]).all()


# What is within the noise


def with_noise(make_heat: MakeHeat, domain: Domain) -> Heatmap:
    """The left half is surely there, the right half is not."""
    values = blob(domain, 0.3)
    std = np.full_like(values, 1e-9)
    std[:, values.shape[1] // 2 :] = 1.0
    return make_heat(domain, values, std=std)


def test_what_is_within_the_noise_is_grey_and_the_legend_says_so(make_heat: MakeHeat) -> None:
    figure = figure_of(with_noise(make_heat, CITY))
    grey = is_grey(pixels_of(figure))
    half = CITY.cells(CITY.depth).columns // 2 * figure.place.factor
    assert grey[:, half:].all()
    assert not grey[:, :half].any()
    assert figure.legend.name.endswith("linear scale; grey: within the noise")


def test_over_a_picture_what_is_within_the_noise_is_left_out(make_heat: MakeHeat, photo: Path) -> None:
    figure = figure_of(with_noise(make_heat, SCREEN), background=photo)
    half = SCREEN.cells(SCREEN.depth).columns // 2 * figure.place.factor
    right = pixels_of(figure)[:, half + 5 * figure.place.factor :]
    assert (right == right[0, 0]).all()  # the picture's blue alone
    assert figure.legend.name.endswith("linear scale; left out: within the noise")


def test_the_noise_floor_is_marked_on_the_colour_bar() -> None:
    strip = Scale("%", 10.0, floor=4.0, grey="within the noise").strip(100, 3).astype(int)
    assert is_grey(strip[0])[:40].all()
    assert not is_grey(strip[0])[41:].any()
    assert not is_grey(Scale("%", 10.0).strip(100, 3).astype(int)[0]).any()


def test_a_map_that_is_all_noise_has_a_legend_without_colour(make_heat: MakeHeat) -> None:
    values = blob(CITY)
    figure = figure_of(make_heat(CITY, values, std=np.ones_like(values)))
    assert is_grey(pixels_of(figure)).all()
    assert is_grey(figure.legend.strip(200, 2).astype(int)).all()


def test_the_legend_of_see_through_heat_looks_as_on_white(make_heat: MakeHeat, tmp_path: Path) -> None:
    Image.new("RGB", (64, 48), (255, 255, 255)).save(tmp_path / "white.png")
    figure = figure_of(make_heat(SCREEN, blob(SCREEN), sigma=1e-9), background=tmp_path / "white.png")
    strip = {tuple(colour) for colour in figure.legend.strip(4000, 1)[0].tolist()}
    assert {tuple(colour) for colour in figure.map_pixels().reshape(-1, 3).tolist()} <= strip


def test_greys_are_as_light_as_colours() -> None:
    at = np.linspace(0, 1, 50)
    lightness = [pixels.astype(float) @ [0.2126, 0.7152, 0.0722] for pixels in (colours(at), greys(at))]
    assert np.abs(lightness[0] - lightness[1]).max() < 40
    assert (np.diff(lightness[1]) > 0).all()


def test_left_over_mass_is_not_drawn_as_measured(city: Release) -> None:
    """The paper's reconstruction spreads what it can't place evenly over coarse cells: grey, and the legend says so."""
    from dpheatmap.testing import generated_people, seeded_release

    people = generated_people(3000, extent=CITY.extent)
    paper = seeded_release(people, CITY, seed=1, epsilon=0.3, user="person", x="x", y="y", design="paper")
    figure = figure_of(paper.heatmap(method="paper"))
    assert 0.05 < figure.raster.noise.mean() < 0.95
    assert figure.legend.name.endswith("; grey: left over, spread evenly")
    shown = paper.distribution(method="paper")
    hottest = np.unravel_index(figure.raster.values.argmax(), figure.raster.values.shape)
    assert not figure.raster.noise[hottest]
    assert (shown.levels == paper.design.last).any()


# Bare pictures


def test_a_bare_picture_lies_where_it_belongs(make_heat: MakeHeat, tmp_path: Path) -> None:
    """GDAL finds the world file and the coordinate system beside it."""
    heat = make_heat(CITY, blob(CITY))
    heat.save(tmp_path / "map.png", bare=True)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["map.pgw", "map.png", "map.png.aux.xml"]
    with rasterio.open(tmp_path / "map.png") as file:
        assert (file.height, file.width) == heat.values.shape
        assert file.crs.to_epsg() == 3857
        assert file.count == 4
        bounds = rasterio.warp.transform_bounds(file.crs, "EPSG:4326", *file.bounds)
        assert bounds == pytest.approx(CITY.bounds, abs=1e-9)
        opacity = file.read(4)
    assert opacity[0, 0] == 0
    assert opacity.max() > 180
    hot = np.unravel_index(opacity.argmax(), opacity.shape)
    assert heat.density[hot] > 0.3 * heat.density.max()


def test_bare_pictures_of_images_need_no_world_file(make_heat: MakeHeat, tmp_path: Path) -> None:
    make_heat(SCREEN).save(tmp_path / "map.png", bare=True)
    assert [path.name for path in tmp_path.iterdir()] == ["map.png"]
    with Image.open(tmp_path / "map.png") as picture:
        assert picture.size == (64, 48)
        assert picture.mode == "RGBA"
    with pytest.raises(ParameterError, match="nothing else, and title"):
        make_heat(SCREEN).save(tmp_path / "map.png", bare=True, title="Clicks")


# SVG and PDF


def test_svg_has_words_as_words(make_heat: MakeHeat, tmp_path: Path) -> None:
    make_heat(HARBOUR, blob(HARBOUR)).save(tmp_path / "map.svg", title="Bikes & people in $ or €")
    root = ElementTree.parse(tmp_path / "map.svg").getroot()
    words = ["".join(text.itertext()).strip() for text in root.iter("{http://www.w3.org/2000/svg}text")]
    assert "Bikes & people in $ or €" in words
    assert any(re.match("% of people per (100 )?km², linear scale", word) for word in words)
    assert "Map: Natural Earth · GeoNames, CC BY 4.0" in words
    assert len(list(root.iter("{http://www.w3.org/2000/svg}image"))) == 2  # the heat and the colour bar


@pytest.mark.parametrize("suffix", [".svg", ".pdf"])
def test_the_same_map_gives_the_same_file(make_heat: MakeHeat, tmp_path: Path, suffix: str) -> None:
    for name in ("a", "b"):
        make_heat(CITY, blob(CITY)).save(tmp_path / f"{name}{suffix}")
    first, second = ((tmp_path / f"{name}{suffix}").read_bytes() for name in ("a", "b"))
    assert first == second
    assert not re.search(rb"CreationDate|<dc:date>", first)
    assert first.startswith(b"%PDF" if suffix == ".pdf" else b"<?xml")


def test_an_svg_carries_the_font_that_its_words_were_measured_with(make_heat: MakeHeat, tmp_path: Path) -> None:
    make_heat(SCREEN, blob(SCREEN)).save(tmp_path / "map.svg", title="Zürich")
    text = (tmp_path / "map.svg").read_text("utf-8")
    carried = re.findall(r"@font-face{font-family:Inter;src:url\(data:font/ttf;base64,([^)]*)\)}", text)
    assert [base64.b64decode(data) for data in carried] == [FONT.read_bytes()]
    words = [element for element in ElementTree.fromstring(text).iter() if element.text == "Zürich"]
    assert ["Inter" in element.attrib["style"] for element in words] == [True]


def test_titles_are_drawn_in_the_letters_there_are(make_heat: MakeHeat) -> None:
    heat = make_heat(SCREEN, blob(SCREEN))
    plain, accents, unknown = (np.asarray(png.draw(heat, title=title)) for title in ("Zurich", "Zürich", "Zurich東"))
    assert (plain != accents).any()
    assert (plain == unknown).all()
