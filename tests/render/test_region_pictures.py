"""Pictures and files of a place with a boundary: nothing is painted or listed outside of it."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from shapely.geometry import shape

from dpheatmap.heatmap.heatmap import Heatmap
from dpheatmap.place.domain import Domain
from dpheatmap.render.content.look import Look
from dpheatmap.render.content.picture import picture_of
from dpheatmap.render.figure.heat_figure import figure_of
from dpheatmap.render.figure.page_layout import SCALE, SIDE
from dpheatmap.render.figure.painting import mask_of_rings
from dpheatmap.render.figure.scale_bar import ScaleBar, room_of_bar
from dpheatmap.render.palette import DARK, LIGHT, rgb_of
from dpheatmap.testing import generated_people, seeded_release

BAY = {
    "type": "Polygon",
    "coordinates": [
        [[7.30, 46.90], [7.50, 46.88], [7.52, 47.02], [7.42, 46.95], [7.33, 47.03], [7.30, 46.90]],
        [[7.36, 46.91], [7.40, 46.91], [7.38, 46.93], [7.36, 46.91]],
    ],
}
DOMAIN = Domain.polygon(BAY, resolution=300)
FIJI = Domain.bbox(176, -20, -177.5, -15.5, resolution=2000)


def heat_of(domain: Domain, people: int = 5000, epsilon: float = 2) -> Heatmap:
    table = generated_people(people, extent=domain.extent)
    made = seeded_release(table, domain, seed=1, epsilon=epsilon, user="person", x="x", y="y")
    return made.heatmap()


@pytest.fixture(scope="module")
def heat() -> Heatmap:
    return heat_of(DOMAIN)


@pytest.mark.parametrize("colours", ["light", "dark"])
def test_nothing_is_painted_outside(heat: Heatmap, colours: str) -> None:
    figure = figure_of(heat, Look(colours=colours, basemap=False))
    pixels = figure.map_pixels().astype(int)
    inside = mask_of_rings(figure.outline, pixels.shape[1], pixels.shape[0])
    theme = LIGHT if colours == "light" else DARK
    land, page = (np.array(rgb_of(colour)) for colour in (theme.land, theme.page))
    veiled = land + 0.45 * (page - land)
    assert np.abs(pixels[inside == 0] - veiled).max() <= 1
    assert (np.abs(pixels[inside == 1] - land).max(axis=1) > 20).mean() > 0.2  # heat
    assert 0.3 < inside.mean() < 0.9


def test_a_map_without_signal_is_ruled_inside_alone() -> None:
    figure = figure_of(heat_of(DOMAIN, people=12, epsilon=0.1), Look(basemap=False))
    assert figure.picture.words.nothing is not None
    pixels = figure.map_pixels().astype(int)
    inside = mask_of_rings(figure.outline, pixels.shape[1], pixels.shape[0])
    assert len(np.unique(pixels[inside == 0], axis=0)) == 1
    assert len(np.unique(pixels[inside == 1], axis=0)) > 1


def test_the_legend_tells_what_the_line_is(heat: Heatmap) -> None:
    texts = [note.line.text for note in figure_of(heat).layout.notes]
    assert "Outside the line nothing was counted" in texts
    box = heat_of(Domain.bbox(7.3, 46.88, 7.52, 47.03, resolution=300))
    assert "Outside the line nothing was counted" not in [note.line.text for note in figure_of(box).layout.notes]


def test_the_scale_bar_stands_outside_of_a_boundary_that_leaves_a_corner_free(heat: Heatmap) -> None:
    assert room_of_bar(ScaleBar(80.0, "2 km"), 1440, 900, None)[:2] == (0.0, 820.0)
    for slanted in (
        [[7.3, 46.9], [7.4, 46.9], [7.5, 47.1], [7.4, 47.1]],
        [[7.4, 46.9], [7.5, 46.9], [7.4, 47.1], [7.3, 47.1]],
    ):
        domain = Domain.polygon({"type": "Polygon", "coordinates": [[*slanted, slanted[0]]]}, resolution=300)
        figure = figure_of(heat_of(domain), Look(basemap=False))
        assert figure.scale_bar is not None
        box = figure.layout.map
        inside = mask_of_rings(figure.outline, box.width, box.height)
        left, top, right, bottom = (round(at) for at in room_of_bar(figure.scale_bar, box.width, box.height, inside))
        assert inside[top:bottom, left:right].mean() < 0.05
        assert (left, right) in ((0, right), (left, box.width))


def test_a_narrow_map_stands_in_the_middle(heat: Heatmap) -> None:
    tall = Domain.bbox(7.4, 46.6, 7.45, 47.0, resolution=300)
    layout = figure_of(heat_of(tall), Look(basemap=False)).layout
    assert layout.map.left > SCALE * SIDE
    assert layout.map.left == pytest.approx(layout.width - layout.map.right, abs=1)


def test_the_takeaway_is_about_the_area_inside(heat: Heatmap) -> None:
    takeaway = picture_of(heat).words.takeaway
    lengths = Domain.bbox(7.3, 46.88, 7.52, 47.03).place.lengths_of_units
    area = shape(BAY).area * lengths[0] * lengths[1] / 1e6
    assert f"of {area:.0f} km²" in takeaway


def test_values_go_on_beyond_the_boundary_so_that_its_edge_is_sharp(heat: Heatmap) -> None:
    """Drawn between pixels, the last one inside would else be mixed with nothing."""
    picture = picture_of(heat)
    values, inside = picture.values, heat.ground > 0
    rows, columns = np.nonzero(inside[1:-1, 1:-1])
    for shift in ((0, 1), (1, 0), (0, -1), (-1, 0)):
        assert (values[rows + 1 + shift[0], columns + 1 + shift[1]] > 0).all()


@pytest.mark.parametrize("suffix", [".png", ".svg", ".pdf", ".html", ".tif", ".pmtiles", ".nc", ".npz", ".parquet"])
def test_every_format_takes_a_region_and_a_box_beyond_the_antimeridian(
    heat: Heatmap, suffix: str, tmp_path: Path
) -> None:
    for name, made in (("region", heat), ("beyond", heat_of(FIJI))):
        made.save(tmp_path / f"{name}{suffix}")
        assert (tmp_path / f"{name}{suffix}").stat().st_size > 500


def test_tables_tell_customary_longitudes(tmp_path: Path) -> None:
    made = heat_of(FIJI)
    made.save(tmp_path / "map.csv")
    with (tmp_path / "map.csv").open() as file:
        lon = np.array([float(row["lon"]) for row in csv.DictReader(file)])
    assert lon.min() < -177.4
    assert lon.max() > 179.9
    assert np.abs(lon).max() <= 180
    made.save(tmp_path / "map.geojson")
    rings = [f["geometry"]["coordinates"][0] for f in json.loads((tmp_path / "map.geojson").read_text())["features"]]
    assert max(abs(x) for ring in rings for x, _ in ring) <= 180
    assert all(max(x for x, _ in ring) - min(x for x, _ in ring) < 90 for ring in rings)
    made.save(tmp_path / "hexagons.csv", h3=4)
    with (tmp_path / "hexagons.csv").open() as file:
        assert sum(float(row["share"]) for row in csv.DictReader(file)) == pytest.approx(1.0)


def test_a_geotiff_beyond_the_antimeridian_goes_on_to_the_east(tmp_path: Path) -> None:
    import rasterio

    heat_of(FIJI).save(tmp_path / "map.tif")
    with rasterio.open(tmp_path / "map.tif") as file:
        left, _, right, _ = file.bounds
        assert file.read(3).sum() == pytest.approx(1.0, rel=1e-5)
    assert left / 20037508.34 * 180 == pytest.approx(176, abs=0.02)
    assert right / 20037508.34 * 180 == pytest.approx(182.5, abs=0.02)


def test_tiles_beyond_the_antimeridian_lie_where_maps_look_for_them(tmp_path: Path) -> None:
    from pmtiles.reader import MmapSource, Reader, all_tiles

    heat_of(FIJI).save(tmp_path / "map.pmtiles", zooms=(0, 7))
    with (tmp_path / "map.pmtiles").open("rb") as file:
        source = MmapSource(file)
        tiles = [zxy for zxy, _ in all_tiles(source)]
        world = Reader(source).get(0, 0, 0)
    columns = {x for z, x, _ in tiles if z == 7}
    assert {126, 127} & columns  # up to 180
    assert {0} & columns  # from -180 on
    assert columns <= {125, 126, 127, 0, 1}
    import io

    painted = np.any(np.asarray(Image.open(io.BytesIO(world)).convert("RGBA"))[..., 3], axis=0).tolist()
    assert any(painted[-3:])
    assert any(painted[:3])
    assert not any(painted[10:-10])


def test_hexagons_of_a_region_have_the_area_inside(heat: Heatmap) -> None:
    found = heat.to_h3(7)
    assert found["share"].sum() == pytest.approx(1.0)
    assert np.isfinite(found["per_km2"]).all()


def test_the_page_carries_the_outline(heat: Heatmap) -> None:
    import base64
    import zlib

    from dpheatmap.render.web.page import around_heat, data_of

    picture = picture_of(heat)
    data = json.loads(data_of(picture, around_heat(picture, Look())))
    rings = json.loads(zlib.decompress(base64.b64decode(data["outline"])))
    assert len(rings) == 2
    first = np.cumsum(np.array(rings[0]).reshape(-1, 2), axis=0) / 1e5
    assert (first >= -1e-3).all()
    assert (first <= 1 + 1e-3).all()
    assert (first[0] == first[-1]).all()
    assert data["kind"] == "bbox"
    box = picture_of(heat_of(Domain.bbox(7.3, 46.88, 7.52, 47.03, resolution=300)))
    assert json.loads(data_of(box, around_heat(box, Look())))["outline"] is None
