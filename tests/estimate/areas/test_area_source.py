"""Areas come from files, frames, mappings, masks, H3 cells, geohashes and the release's own cells."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import geopandas
import numpy as np
import pytest
import shapely

import dpheatmap as dph
from dpheatmap.errors import DataError, ParameterError, PlaceWarning
from dpheatmap.estimate.areas.area_source import read_areas
from dpheatmap.estimate.areas.named_areas import NamedAreas

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
    assert read_areas(frame[["kind", "geometry"]], CITY).names == ["a", "a (2)"]
    assert read_areas(frame[["number", "geometry"]], CITY).names == ["1", "2"]
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


def test_own_cells_cover_the_place() -> None:
    read = read_areas(4, IMAGE)
    assert len(read.names) == IMAGE.count(4)
    assert sizes(read, IMAGE).sum() == pytest.approx(64 * 48)
    with pytest.raises(ParameterError, match="Give a coarser one"):
        read_areas(20, dph.Domain.unit(20))


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


def test_what_is_no_polygon_is_left_out_and_told() -> None:
    line = shapely.LineString([(7.3, 46.9), (7.4, 47)])
    mixed = geopandas.GeoSeries([shapely.Point(7.4, 46.95), line, None, shapely.Polygon(), BOXES[0]], crs=4326)
    with pytest.warns(PlaceWarning, match="4 of 5 areas are no polygons, and are left out"):
        read = read_areas(mixed, CITY)
    assert read.names == ["5"]
    assert sizes(read)[0] > 0
    with pytest.raises(DataError, match="has no polygons"):
        read_areas(mixed.head(4), CITY)


def test_a_polygon_in_a_collection_is_one() -> None:
    both = shapely.GeometryCollection([shapely.Point(7.4, 46.95), shapely.MultiPolygon([BOXES[0]])])
    assert sizes(read_areas({"a": both}, CITY)) == pytest.approx(sizes(read_areas({"a": BOXES[0]}, CITY)))


def test_names_are_kept_if_some_are_missing_or_the_same(frame: Any) -> None:
    three = geopandas.GeoDataFrame(
        {"id": ["7", "8", "9"], "district": ["x", None, "x"]}, geometry=[*BOXES, BOXES[0]], crs=4326
    )
    read = read_areas(three, CITY)
    assert read.names == ["x", "2", "x (2)"], "the numbering of features is no name"
    assert read.said == ("The areas' names are those of the column 'district'.",)
    assert read_areas(three, CITY, name="id").names == ["7", "8", "9"]
    assert read_areas(three[["id", "geometry"]], CITY).names == ["7", "8", "9"]
    assert "numbered" in read_areas(frame[["number", "geometry"]], CITY).said[0]


def test_names_that_are_nearly_all_different_are_names() -> None:
    names = [f"n{k}" for k in range(9)] + ["n8"]
    ten = geopandas.GeoDataFrame({"name": names, "code": [f"c{k}" for k in range(10)]}, geometry=BOXES * 5, crs=4326)
    assert read_areas(ten, CITY).names == [*names[:9], "n8 (2)"]


def test_metres_labelled_as_degrees_are_refused(frame: Any) -> None:
    there = frame.to_crs(2056).set_crs(4326, allow_override=True)
    with pytest.raises(DataError, match="look like metres"):
        read_areas(there, CITY)


def test_a_place_that_is_not_on_the_ground_takes_no_areas_on_it(tmp_path: Path, frame: Any) -> None:
    frame.to_file(tmp_path / "d.gpkg")
    frame.to_file(tmp_path / "told.geojson")
    for source in (frame, tmp_path / "d.gpkg", tmp_path / "told.geojson"):
        with pytest.raises(DataError, match="coordinates on the ground, and the place is"):
            read_areas(source, IMAGE)
    pixels = geopandas.GeoDataFrame({"name": ["face"]}, geometry=[shapely.box(3, 4, 13, 24)])
    (tmp_path / "pixels.geojson").write_text(pixels.to_json())
    assert sizes(read_areas(tmp_path / "pixels.geojson", IMAGE), IMAGE) == pytest.approx([200])


@pytest.mark.parametrize("level", [10, 25, 99, -1])
def test_levels_are_those_of_the_release(level: int) -> None:
    with pytest.raises(ParameterError, match="has the levels 0 to 6; the level was"):
        read_areas(level, IMAGE)


def test_coordinates_that_are_no_numbers_are_refused(tmp_path: Path) -> None:
    ring = [[0, 0], [1e308, 0], [1e308, 1e308], [0, 0]]
    feature = {"type": "Feature", "properties": {}, "geometry": {"type": "Polygon", "coordinates": [ring]}}
    (tmp_path / "huge.geojson").write_text(json.dumps({"type": "FeatureCollection", "features": [feature]}))
    with pytest.raises(DataError, match="not finite numbers"):
        read_areas(tmp_path / "huge.geojson", CITY)
    with pytest.raises(ParameterError, match="of finite numbers"):
        read_areas({"a": (7.3, 46.9, float("inf"), 47)}, CITY)
    for features in ({}, {"features": [{"type": "Feature"}]}, {"features": "text"}, {"features": [
        {**feature, "geometry": {"type": "Polygon", "coordinates": "text"}}
    ]}):  # fmt: skip
        with pytest.raises(ParameterError, match="can't be read as GeoJSON"):
            read_areas({"type": "FeatureCollection", **features}, CITY)


def test_notes_tell_of_mended_and_overlapping_areas(frame: Any) -> None:
    bow = [(7.41, 46.91), (7.43, 46.93), (7.43, 46.91), (7.41, 46.93)]
    read = read_areas({"a": BOXES[0], "b": (7.39, 46.9, 7.4, 46.95), "bow": bow}, CITY)
    assert list(read.notes) == ["overlaps with others", "overlaps with others", "crossed itself and was mended"]
    assert not any(read_areas(frame, CITY).notes), "neighbours share a border"


def test_a_system_can_be_told(frame: Any) -> None:
    there = frame.to_crs(2056)
    untold = there.set_crs(None, allow_override=True)
    told = read_areas(untold, CITY, areas_crs="EPSG:2056")
    assert sizes(told) == pytest.approx(sizes(read_areas(there, CITY)))
    with pytest.raises(DataError, match="--areas-crs"):
        read_areas(untold, CITY)
    with pytest.raises(ParameterError, match="that PROJ knows; it was 'EPSG:0'"):
        read_areas(untold, CITY, areas_crs="EPSG:0")
    with pytest.raises(ParameterError, match="and these do"):
        read_areas(there, CITY, areas_crs="EPSG:3035")
