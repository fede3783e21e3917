from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import shapely
from hypothesis import given
from hypothesis import strategies as st

from dpheatmap._util import extras
from dpheatmap.errors import DataError, DpheatmapError, MissingDependency, ParameterError
from dpheatmap.place.domain import Bounds
from dpheatmap.render.context import ContextLayer, context_layer, read_context
from dpheatmap.render.context.kinds import KINDS, kind_of

WINDOW = Bounds(7.3, 46.9, 7.5, 47.0)
PARK = [[[7.4, 46.94], [7.42, 46.94], [7.42, 46.96], [7.4, 46.96], [7.4, 46.94]]]
STREET = [[7.2, 46.95], [7.35, 46.95], [7.6, 46.95]]


def feature(kind: str, coordinates: Any, **tags: Any) -> dict[str, Any]:
    return {"type": "Feature", "geometry": {"type": kind, "coordinates": coordinates}, "properties": tags}


def collection(*features: dict[str, Any]) -> dict[str, Any]:
    return {"type": "FeatureCollection", "features": list(features)}


TOWN = collection(
    feature("Polygon", PARK, leisure="park", name="Rose garden"),
    feature("LineString", STREET, highway="primary", name="Main street"),
    feature("LineString", STREET, highway="residential"),
    feature("LineString", STREET, waterway="river", name="Aare"),
    feature("LineString", STREET, railway="rail"),
    feature("MultiPolygon", [PARK], admin_level="9", name="Old town"),
    feature("Point", [7.44, 46.95], place="suburb", name="Matte"),
    {"type": "Feature", "geometry": None, "properties": {}},
)


@pytest.fixture
def town(tmp_path: Path) -> Path:
    path = tmp_path / "town.geojson"
    path.write_text(json.dumps(TOWN), encoding="utf-8")
    return path


def by_kind(layers: list[ContextLayer]) -> dict[str, ContextLayer]:
    return {layer.kind: layer for layer in layers}


def test_tags_of_openstreetmap_tell_kinds(town: Path) -> None:
    layers = read_context(str(town), WINDOW)
    assert [layer.kind for layer in layers] == ["park", "water", "road", "rail", "border", "point"]
    assert {layer.name for layer in layers} == {"town"}
    roads = by_kind(layers)["road"].features
    assert [(road.name, road.rank) for road in roads] == [("Main street", 1), ("", 3)]
    assert by_kind(layers)["border"].features[0].name == "Old town"
    assert by_kind(layers)["point"].features[0].points[0].tolist() == [7.44, 46.95]


def test_what_lies_outside_is_cut_away(town: Path) -> None:
    road = by_kind(read_context(str(town), WINDOW))["road"].features[0]
    assert [line.tolist() for line in road.lines] == [[[7.3, 46.95], [7.5, 46.95]]]
    half = Bounds(7.41, 46.9, 7.5, 47.0)
    park = by_kind(read_context(str(town), half))["park"].features[0]
    assert shapely.Polygon(park.polygons[0][0]).equals(shapely.box(7.41, 46.94, 7.42, 46.96))
    drawn = shapely.union_all([shapely.LineString(line) for line in park.outlines(half)])
    assert drawn.length == pytest.approx(0.04)  # without the edge where it was cut


@pytest.mark.parametrize("kind", ["water", "park", "land", "border"])
def test_a_kind_can_be_named(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "area.geojson"
    path.write_text(json.dumps(feature("Polygon", PARK)))
    assert [layer.kind for layer in read_context(f"{path}:{kind}", WINDOW)] == [kind]
    assert [layer.kind for layer in read_context(str(path), WINDOW)] == ["border"]


def test_roads_are_lines_even_around_areas(tmp_path: Path) -> None:
    path = tmp_path / "square.geojson"
    path.write_text(json.dumps(feature("Polygon", PARK)))
    (layer,) = read_context(f"{path}:road", WINDOW)
    assert layer.features[0].polygons == []
    assert len(layer.features[0].lines) == 1


def test_a_column_of_names_can_be_named(tmp_path: Path) -> None:
    path = tmp_path / "boroughs.json"
    path.write_text(json.dumps(collection(feature("Polygon", PARK, BoroName="Kirchen\nfeld", name="other"))))
    (layer,) = read_context(f"{path}:BoroName", WINDOW)
    assert layer.features[0].name == "Kirchen feld"
    with pytest.raises(DataError, match=r"has no column 'borough'\. Name one of its columns, or how to draw it: water"):
        read_context(f"{path}:borough", WINDOW)


def test_a_colon_may_be_part_of_a_file_name(tmp_path: Path) -> None:
    path = tmp_path / "a:water.geojson"
    path.write_text(json.dumps(feature("Polygon", PARK)))
    assert read_context(str(path), WINDOW)[0].kind == "border"
    assert read_context(f"{path}:park", WINDOW)[0].kind == "park"


def test_names_stand_inside(tmp_path: Path) -> None:
    crescent = [
        [7.3, 46.9],
        [7.5, 46.9],
        [7.5, 47.0],
        [7.3, 47.0],
        [7.3, 46.99],
        [7.49, 46.99],
        [7.49, 46.91],
        [7.3, 46.91],
    ]
    path = tmp_path / "crescent.geojson"
    path.write_text(json.dumps(collection(feature("Polygon", [crescent]), feature("LineString", STREET))))
    layers = by_kind(read_context(str(path), WINDOW))
    (border,) = layers["border"].features
    assert shapely.Polygon(border.polygons[0][0]).contains(shapely.Point(border.middle()))
    assert layers["line"].features[0].middle()[1] == 46.95


def test_lines_are_simplified_to_half_a_pixel(tmp_path: Path) -> None:
    path = tmp_path / "wave.geojson"
    x = np.linspace(7.3, 7.5, 20_001)
    wave = np.column_stack([x, 46.95 + 0.01 * np.sin(80 * x) + 0.00002 * np.sin(5000 * x)])
    path.write_text(json.dumps(feature("LineString", wave.tolist())))
    (layer,) = read_context(str(path), WINDOW, pixels=1000)
    (line,) = layer.features[0].lines
    assert len(line) < 300
    assert shapely.distance(shapely.points(wave), shapely.LineString(line)).max() < 0.0002 / 2


def test_a_layer_is_geojson_with_names_and_ranks(town: Path) -> None:
    for layer in read_context(str(town), WINDOW):
        found = json.loads(json.dumps(layer.as_geojson()))
        assert found["type"] == "FeatureCollection"
        for one, own in zip(found["features"], layer.features, strict=True):
            assert one["properties"] == {"name": own.name, "rank": own.rank}
            assert shapely.from_geojson(json.dumps(one["geometry"])).is_valid


def network(count: int, rank: str, rng: np.random.Generator) -> list[dict[str, Any]]:
    starts = rng.uniform(WINDOW[:2], WINDOW[2:], (count, 1, 2))
    steps = rng.normal(0, 0.0005, (count, 20, 2))
    return [feature("LineString", line, highway=rank) for line in (starts + np.cumsum(steps, axis=1)).tolist()]


def test_too_much_for_a_page_is_thinned_and_then_refused(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    path = tmp_path / "streets.geojson"
    path.write_text(json.dumps(collection(*network(300, "primary", rng), *network(1500, "residential", rng))))
    (layer,) = read_context(str(path), WINDOW)
    assert len(layer.as_geojson()["features"]) == len(layer.features)
    thin = layer.as_geojson(most=25_000)
    assert {one["properties"]["rank"] for one in thin["features"]} == {1}
    with pytest.raises(ParameterError, match=r"too much inside the map for a page: .* Give a file with fewer features"):
        layer.as_geojson(most=100)


def test_what_can_not_get_smaller_is_refused_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Points have no detail to leave out, and straight lines neither."""
    tried: list[int] = []

    def note(collection: dict[str, Any]) -> int:
        tried.append(len(collection["features"]))
        return packed_size(collection)

    packed_size = context_layer.packed_size
    monkeypatch.setattr(context_layer, "packed_size", note)
    path = tmp_path / "points.geojson"
    points = [[7.3 + i / 5000, 46.95] for i in range(1000)]
    straight = feature("LineString", [[7.31, 46.91], [7.4, 46.95]], railway="rail")
    path.write_text(json.dumps(collection(feature("MultiPoint", points), straight)))
    for layer in read_context(str(path), WINDOW):
        tried.clear()
        with pytest.raises(ParameterError, match="too much inside the map for a page"):
            layer.as_geojson(most=10)
        assert tried == [1]


@pytest.mark.parametrize(
    ("content", "said"),
    {
        "no JSON": ("{", "can't be read as GeoJSON. Check the file."),
        "a list": ("[]", "can't be read as GeoJSON"),
        "null": ("null", "can't be read as GeoJSON"),
        "no type": ("{}", "can't be read as GeoJSON"),
        "another type": ('{"type": "Topology"}', "can't be read as GeoJSON"),
        "nested": ("[" * 100_000, "can't be read as GeoJSON"),
        "not a number": (json.dumps(feature("Point", [7.4, float("nan")])), "can't be read as GeoJSON"),
        "text": (json.dumps(feature("Point", ["7.4", "46.95"])), "can't be read as GeoJSON"),
        "truth": (json.dumps(feature("Point", [True, False])), "can't be read as GeoJSON"),
        "ragged": (json.dumps(feature("LineString", [[7.4, 46.95], [7.4]])), "can't be read as GeoJSON"),
        "too flat": (json.dumps(feature("Polygon", [7.4, 46.95])), "can't be read as GeoJSON"),
        "properties": ('{"type": "Feature", "geometry": null, "properties": [1]}', "can't be read as GeoJSON"),
        "huge": (json.dumps(feature("Point", [10**400, 1])), "can't be read as GeoJSON"),
        "metres": (
            json.dumps(feature("Point", [2600000, 1200000])),
            "no longitudes and latitudes. Convert it to EPSG:4326",
        ),
        "empty": (json.dumps(collection()), "has nothing inside the map. Check that it is of the same place"),
        "elsewhere": (json.dumps(feature("Point", [0, 0])), "has nothing inside the map"),
    }.values(),
)
def test_broken_geojson_is_refused_in_a_sentence(content: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "broken.geojson"
    path.write_text(content)
    with pytest.raises(DpheatmapError, match=r"^The context 'broken\.geojson' ") as refused:
        read_context(str(path), WINDOW)
    assert said in str(refused.value)


def test_files_that_are_none_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(DataError, match=r"There is no file .*none\.geojson' for the context\. Check the path\."):
        read_context(str(tmp_path / "none.geojson"), WINDOW)
    for spec in (str(tmp_path), "", ":", "\0", "x" * 5000):
        with pytest.raises(DataError, match="There is no file"):
            read_context(spec, WINDOW)
    (tmp_path / "map.docx").write_bytes(b"PK")
    with pytest.raises(ParameterError, match=r"has no known format\. Give GeoJSON"):
        read_context(str(tmp_path / "map.docx"), WINDOW)
    monkeypatch.setattr("dpheatmap.render.context._LARGEST", 1)
    with pytest.raises(ParameterError, match="Cut it to the place of the map first"):
        read_context(str(tmp_path / "map.docx"), WINDOW)


scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5)
values = st.recursive(scalars, lambda inner: st.lists(inner, max_size=4), max_leaves=12)
kinds = st.sampled_from(["Point", "LineString", "Polygon", "MultiPolygon", "GeometryCollection", "Feature", "x"])
geometries = st.fixed_dictionaries({}, optional={"type": kinds | values, "coordinates": values, "geometries": values})


@given(
    st.fixed_dictionaries(
        {"type": st.just("Feature"), "geometry": geometries | values}, optional={"properties": values}
    )
)
def test_whatever_a_file_says_it_is_read_or_refused(tmp_path_factory: pytest.TempPathFactory, content: object) -> None:
    path = tmp_path_factory.getbasetemp() / "any.geojson"
    path.write_text(json.dumps(content))
    try:
        layers = read_context(str(path), WINDOW)
    except (DataError, ParameterError):
        return
    assert all(layer.as_geojson()["features"] for layer in layers)


@pytest.mark.parametrize(
    ("tags", "shape", "kind"),
    [
        ({"natural": "water"}, "polygon", ("water", 1)),
        ({"natural": "wood"}, "polygon", ("park", 1)),
        ({"natural": "peak"}, "point", ("point", 1)),
        ({"natural": "cliff"}, "line", ("line", 1)),
        ({"waterway": "weir"}, "line", ("water", 1)),
        ({"landuse": "reservoir"}, "polygon", ("water", 1)),
        ({"landuse": "forest"}, "polygon", ("park", 1)),
        ({"landuse": "quarry"}, "polygon", ("land", 1)),
        ({"leisure": "park", "boundary": "protected_area"}, "polygon", ("park", 1)),
        ({"boundary": "administrative"}, "line", ("border", 1)),
        ({"boundary": "national_park"}, "polygon", ("park", 1)),
        ({"highway": "motorway_link"}, "line", ("road", 1)),
        ({"highway": "tertiary"}, "line", ("road", 2)),
        ({"highway": "steps"}, "line", ("road", 3)),
        ({"highway": "no"}, "line", ("line", 1)),
        ({"railway": "abandoned"}, "line", ("rail", 1)),
        ({"fclass": "riverbank"}, "polygon", ("water", 1)),
        ({"fclass": "residential"}, "line", ("road", 3)),
        ({"fclass": "residential"}, "polygon", ("land", 1)),
        ({"layer": "transportation", "class": "motorway"}, "line", ("road", 1)),
        ({"layer": "roads", "kind": "minor_road"}, "line", ("road", 3)),
        ({"layer": "roads", "kind": "unheard of"}, "line", ("road", 3)),
        ({"layer": "boundaries"}, "line", ("border", 1)),
        ({"layer": "earth"}, "polygon", ("land", 1)),
        ({"NATURAL": "Water"}, "polygon", ("water", 1)),
        ({"leisure": "park"}, "line", ("line", 1)),
        ({"name": "x"}, "polygon", ("border", 1)),
        ({}, "line", ("line", 1)),
    ],
)
def test_kinds(tags: dict[str, str], shape: Any, kind: tuple[str, int]) -> None:
    assert kind_of(tags, shape) == kind


@given(st.dictionaries(st.text(), scalars), st.sampled_from(["polygon", "line", "point"]))
def test_every_feature_has_a_kind(tags: dict[str, Any], shape: Any) -> None:
    assert kind_of(tags, shape).name in KINDS


def test_without_the_extra_geojson_is_read_and_others_name_it(
    town: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(module: str) -> None:
        raise ImportError(module)

    monkeypatch.setattr(extras, "import_module", missing)
    assert read_context(str(town), WINDOW)
    for name in ("a.gpkg", "a.shp", "a.parquet", "a.pmtiles"):
        (tmp_path / name).write_bytes(b"x")
        with pytest.raises(MissingDependency, match=r"needs the package .* Run: pip install 'dpheatmap\[geo\]'"):
            read_context(str(tmp_path / name), WINDOW)
