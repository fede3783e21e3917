"""Areas come from files, frames, mappings, masks, H3 cells, geohashes and the release's own cells."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import geopandas
import h3
import numpy as np
import pytest
import shapely
from PIL import Image

import dpheatmap as dph
from dpheatmap.errors import DataError, ParameterError
from dpheatmap.estimate.areas.area_source import NamedAreas, read_areas

CITY = dph.Domain.bbox(7.3, 46.9, 7.5, 47.02, resolution=200)
IMAGE = dph.Domain.image(64, 48)
BOXES = [shapely.box(7.3, 46.9, 7.4, 46.95), shapely.box(7.4, 46.9, 7.5, 47.0)]


@pytest.fixture(scope="module")
def frame() -> Any:
    return geopandas.GeoDataFrame({"kind": ["a", "a"], "number": [7, 8], "quarter": ["West", "Öst"]}, geometry=BOXES,
                                  crs=4326)  # fmt: skip


def sizes(read: NamedAreas, domain: dph.Domain = CITY) -> Any:
    return read.shapes(domain).sizes


@pytest.mark.parametrize("file", ["d.geojson", "d.gpkg", "d.shp", "d.parquet"])
@pytest.mark.parametrize("crs", [4326, 2056, 3035])
def test_files_in_any_system(tmp_path: Path, frame: Any, file: str, crs: int) -> None:
    path, there = tmp_path / file, frame.to_crs(4326).set_geometry(frame.segmentize(0.002)).to_crs(crs)
    there.to_parquet(path) if path.suffix == ".parquet" else there.to_file(path)
    read = read_areas(path, CITY)
    assert read.names == ["West", "Öst"], "the first column of text in which no two are the same"
    assert np.allclose(sizes(read), sizes(read_areas(frame, CITY)), rtol=1e-5)


def test_names_are_those_of_a_column(frame: Any) -> None:
    assert read_areas(frame, CITY, name="number").names == ["7", "8"]
    assert read_areas(frame[["kind", "geometry"]], CITY).names == ["1", "2"]
    with pytest.raises(ParameterError, match="no column 'name', but kind, number, quarter"):
        read_areas(frame, CITY, name="name")


def test_a_layer_is_named_if_there_are_several(tmp_path: Path, frame: Any) -> None:
    path = tmp_path / "d.gpkg"
    frame.to_file(path, layer="quarters")
    frame.head(1).to_file(path, layer="city")
    with pytest.raises(ParameterError, match="several layers: quarters, city"):
        read_areas(path, CITY)
    with pytest.raises(ParameterError, match="no layer 'river'"):
        read_areas(path, CITY, layer="river")
    assert read_areas(path, CITY, layer="city", name="quarter").names == ["West"]


def test_rectangles_corners_and_features(frame: Any) -> None:
    triangle = [(7.3, 46.9), (7.4, 46.9), (7.4, 46.95)]
    read = read_areas({"box": (7.3, 46.9, 7.4, 46.95), "triangle": triangle, "shape": BOXES[0]}, CITY)
    box, half, shape = sizes(read)
    assert box == pytest.approx(shape)
    assert half == pytest.approx(box / 2, rel=1e-3)
    assert read_areas(frame.__geo_interface__, CITY).names == ["West", "Öst"]


def test_geohashes_and_h3_cells() -> None:
    names = ["u4pruydqqvj", "u4pru"]
    read = read_areas(names, CITY)
    known = shapely.Point(10.40744, 57.64911)
    assert read.geometries[0].distance(known) < 1e-5, "a published example"
    assert read.geometries[1].covers(known)
    cells = [h3.latlng_to_cell(46.95, 7.4, resolution) for resolution in (7, 8)]
    larger, smaller = sizes(read_areas(cells, CITY))
    assert larger == pytest.approx(7 * smaller, rel=0.05)
    with pytest.raises(ParameterError, match="neither an H3 cell nor a geohash"):
        read_areas(["some where"], CITY)
    with pytest.raises(ParameterError, match="lie on the ground"):
        read_areas(names, IMAGE)


def test_own_cells_cover_the_place() -> None:
    read = read_areas(4, IMAGE)
    assert len(read.names) == IMAGE.count(4)
    assert sizes(read, IMAGE).sum() == pytest.approx(64 * 48)
    with pytest.raises(ParameterError, match="Give a coarser one"):
        read_areas(20, dph.Domain.unit(20))


def test_colours_of_a_mask(tmp_path: Path) -> None:
    mask = Image.new("RGBA", (32, 24))
    mask.paste((255, 0, 0, 255), (0, 0, 16, 12))
    mask.paste((0, 0, 255, 255), (16, 12, 32, 24))
    mask.paste((255, 0, 0, 255), (30, 0, 32, 2))
    mask.save(tmp_path / "mask.png")
    read = read_areas(tmp_path / "mask.png", IMAGE)
    assert read.names == ["#0000ff", "#ff0000"], "what is transparent belongs to none"
    assert sizes(read, IMAGE) == pytest.approx([4 * 16 * 12, 4 * (16 * 12 + 4)])
    with pytest.raises(ParameterError, match="is for images"):
        read_areas(tmp_path / "mask.png", CITY)


@pytest.mark.parametrize(
    "areas", [None, 3.5, True, [], ["u0", 3], "areas.txt", {"a": (1, 2, 3)}, {"a": "b"}, {}, object()]
)
def test_anything_else_is_refused(areas: Any) -> None:
    with pytest.raises(ParameterError):
        read_areas(areas, CITY)


def test_broken_files_and_unknown_systems_are_refused(tmp_path: Path, frame: Any) -> None:
    for name in ("d.gpkg", "d.shp", "d.parquet", "d.geojson"):
        (tmp_path / name).write_bytes(b"nothing of the kind")
        with pytest.raises(DataError, match="can't be read as"):
            read_areas(tmp_path / name, CITY)
    with pytest.raises(DataError, match="There is no file"):
        read_areas(tmp_path / "none.gpkg", CITY)
    with pytest.raises(DataError, match="don't tell their system"):
        read_areas(frame.set_crs(None, allow_override=True), CITY)


def test_lines_points_and_nothing_have_no_size() -> None:
    line = shapely.LineString([(7.3, 46.9), (7.4, 47)])
    found = sizes(read_areas(geopandas.GeoSeries([shapely.Point(7.4, 46.95), line, None, BOXES[0]], crs=4326), CITY))
    assert found[:3].tolist() == [0.0, 0.0, 0.0]
    assert found[3] > 0
