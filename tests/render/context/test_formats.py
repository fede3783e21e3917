from __future__ import annotations

import gzip
import math
import sqlite3
import struct
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import geopandas
import numpy as np
import pyarrow
import pyarrow.parquet
import pytest
import shapely
from hypothesis import given
from hypothesis import strategies as st
from pmtiles.tile import Compression, TileType, zxy_to_tileid
from pmtiles.writer import Writer

from dpheatmap._util.wkb_depth import DEEPEST, depth_of
from dpheatmap.errors import DataError, DpheatmapError, ParameterError
from dpheatmap.place.domain import Bounds
from dpheatmap.render.context import ContextLayer, pmtiles_file, read_context
from dpheatmap.render.context.vector_tile import decode

WINDOW = Bounds(7.3, 46.9, 7.5, 47.0)
LAKE = shapely.Polygon(
    [(7.35, 46.92), (7.45, 46.92), (7.45, 46.98), (7.35, 46.98)],
    [[(7.39, 46.94), (7.41, 46.94), (7.41, 46.96), (7.39, 46.96)]],
)
STREET = shapely.LineString([(7.2, 46.93), (7.4, 46.95), (7.6, 46.97)])
FRAME = geopandas.GeoDataFrame(
    {"natural": ["water", None], "highway": [None, "trunk"], "Name": ["Lac", "Rue"]}, geometry=[LAKE, STREET], crs=4326
)


def kinds(layers: list[ContextLayer]) -> list[tuple[str, str, int]]:
    return [(layer.kind, one.name, one.rank) for layer in layers for one in layer.features]


def lake_of(layers: list[ContextLayer]) -> shapely.Geometry:
    (polygon,) = layers[0].features[0].polygons
    return shapely.Polygon(polygon[0], polygon[1:])


WRITERS: dict[str, Callable[[geopandas.GeoDataFrame, Path], Any]] = {
    "town.gpkg": lambda frame, path: frame.to_file(path, layer="places"),
    "town.parquet": lambda frame, path: frame.to_parquet(path),
    "town.geoparquet": lambda frame, path: frame.to_parquet(path),
    "town.geojson": lambda frame, path: frame.to_file(path),
}


@pytest.mark.parametrize("crs", [4326, 2056, 3857])
@pytest.mark.parametrize("name", WRITERS)
def test_formats_and_systems_of_coordinates(name: str, crs: int, tmp_path: Path) -> None:
    """EPSG:2056 is Switzerland's own system, in metres."""
    WRITERS[name](FRAME.to_crs(crs), tmp_path / name)
    layers = read_context(str(tmp_path / name), WINDOW)
    assert kinds(layers) == [("water", "Lac", 1), ("road", "Rue", 1)]
    assert lake_of(layers).symmetric_difference(LAKE).area < 1e-3 * LAKE.area
    (street,) = layers[1].features[0].lines
    assert street[[0, -1], 0] == pytest.approx([7.3, 7.5])


def test_shapefiles_have_one_shape_each_and_may_lack_a_system(tmp_path: Path) -> None:
    FRAME.iloc[:1].to_crs(2056).to_file(tmp_path / "lake.shp")
    assert kinds(read_context(f"{tmp_path / 'lake.shp'}:Name", WINDOW)) == [("water", "Lac", 1)]
    (tmp_path / "lake.prj").unlink()
    with pytest.raises(DataError, match=r"does not tell its system of coordinates, and they are not degrees\."):
        read_context(str(tmp_path / "lake.shp"), WINDOW)
    FRAME.iloc[:1].to_file(tmp_path / "degrees.shp")
    (tmp_path / "degrees.prj").unlink()
    assert kinds(read_context(str(tmp_path / "degrees.shp"), WINDOW)) == [("water", "Lac", 1)]


def test_all_layers_of_a_geopackage_are_read(tmp_path: Path) -> None:
    path = tmp_path / "town.gpkg"
    bare = geopandas.GeoDataFrame(geometry=[LAKE], crs=4326)
    bare.to_file(path, layer="lakes")
    geopandas.GeoDataFrame(geometry=[STREET], crs=2056 and 4326).to_crs(2056).to_file(path, layer="roads")
    assert kinds(read_context(str(path), WINDOW)) == [("water", "", 1), ("road", "", 3)]


@pytest.mark.parametrize("name", ["a.gpkg", "a.shp", "a.parquet", "a.pmtiles"])
@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"<OGRVRTDataSource/>",
        b"SQLite format 3\x00",
        b"\x00\x00\x27\x0a",
        b"PAR1PAR1",
        b"PMTiles\x03" + bytes(200),
    ],
)
def test_broken_files_are_refused_in_a_sentence(name: str, content: bytes, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(DpheatmapError, match=r"^The context .*\. [A-Z][^.]*\.$"):
        read_context(str(tmp_path / name), WINDOW)


def test_a_parquet_table_without_places_is_refused(tmp_path: Path) -> None:
    FRAME.drop(columns="geometry").to_parquet(tmp_path / "a.parquet")
    with pytest.raises(DataError, match="can't be read as GeoParquet"):
        read_context(str(tmp_path / "a.parquet"), WINDOW)


# Vector tiles, written by the specification's own example and by a few lines of Protocol Buffers.


def varint(number: int) -> bytes:
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    return bytes([*out, number])


def part(number: int, data: bytes) -> bytes:
    return varint(number << 3 | 2) + varint(len(data)) + data


def packed(numbers: list[int]) -> bytes:
    return b"".join(varint(number) for number in numbers)


def commands(lines: list[np.ndarray], polygon: bool) -> list[int]:
    found: list[int] = []
    at = np.zeros(2, dtype=int)
    for line in lines:
        points = np.rint(line).astype(int)
        points = points[:-1] if polygon else points
        steps = np.diff(np.concatenate([at[None], points]), axis=0)
        zigzag = ((steps << 1) ^ (steps >> 63)).tolist()
        found += [1 << 3 | 1, *zigzag[0], (len(points) - 1) << 3 | 2, *(n for step in zigzag[1:] for n in step)]
        found += [1 << 3 | 7] if polygon else []
        at = points[-1]
    return found


def layer(name: str, features: list[tuple[int, list[np.ndarray], dict[str, Any]]], extent: int = 4096) -> bytes:
    keys = sorted({key for _, _, tags in features for key in tags})
    values = [value for _, _, tags in features for value in tags.values()]
    content = part(1, name.encode())
    for kind, lines, tags in features:
        numbers = [number for key, value in tags.items() for number in (keys.index(key), values.index(value))]
        geometry = packed(commands(lines, kind == 3))
        content += part(2, part(2, packed(numbers)) + varint(3 << 3) + varint(kind) + part(4, geometry))
    for key in keys:
        content += part(3, key.encode())
    for value in values:
        content += part(4, part(1, value.encode()) if isinstance(value, str) else varint(4 << 3) + varint(value))
    return part(3, content + varint(5 << 3) + varint(extent) + varint(15 << 3) + varint(2))


def to_tile(points: np.ndarray, zoom: int, x: int, y: int) -> np.ndarray:
    column = 2**zoom * (points[:, 0] / 360 + 0.5)
    row = 2**zoom * (0.5 - np.arcsinh(np.tan(np.radians(points[:, 1]))) / math.tau)
    return 4096 * (np.column_stack([column, row]) - [x, y])


def write_tiles(path: Path, zoom: int, **header: Any) -> None:
    """The lake and the street in all tiles that they meet, with a margin around each as all writers have it."""
    side = 2**zoom
    with path.open("wb") as file:
        writer = Writer(file)
        corner = to_tile(np.array([[7.2, 47.05], [7.6, 46.85]]), zoom, 0, 0) / 4096
        (x0, y0), (x1, y1) = np.floor(corner).astype(int).tolist()
        for y in range(y0, y1 + 1):
            for x in range(x0, x1 + 1):
                rings = [to_tile(np.array(ring.coords), zoom, x, y) for ring in (LAKE.exterior, *LAKE.interiors)]
                # Exteriors have a positive area with y downward.
                shape = shapely.Polygon(rings[0], rings[1:]).intersection(shapely.box(-80, -80, 4176, 4176))
                shape = shapely.orient_polygons(shape, exterior_cw=False) if not shape.is_empty else shape
                features: list[tuple[int, list[np.ndarray], dict[str, Any]]] = []
                for polygon in shapely.get_parts(shape) if not shape.is_empty else ():
                    lines = [np.array(ring.coords) for ring in (polygon.exterior, *polygon.interiors)]
                    features.append((3, lines, {"kind": "lake", "name": "Lac"}))
                street = to_tile(np.array(STREET.coords), zoom, x, y)
                tile = layer("water", features) + layer("roads", [(2, [street], {"kind": "major_road", "level": 7})])
                writer.write_tile(zxy_to_tileid(zoom, x % side, y), gzip.compress(tile))
        about = {"tile_type": TileType.MVT, "tile_compression": Compression.GZIP, "min_zoom": zoom, "max_zoom": zoom}
        places = {"min_lon_e7": 0, "min_lat_e7": 0, "max_lon_e7": 0, "max_lat_e7": 0}
        centre = {"center_zoom": 0, "center_lon_e7": 0, "center_lat_e7": 0}
        writer.finalize(about | places | centre | header, {})


@pytest.mark.parametrize("zoom", [8, 11, 13])
def test_vector_tiles_are_put_together(zoom: int, tmp_path: Path) -> None:
    path = tmp_path / "town.pmtiles"
    write_tiles(path, zoom)
    layers = read_context(str(path), WINDOW)
    assert set(kinds(layers)) == {("water", "Lac", 1), ("road", "", 1)}
    lake = lake_of(layers)
    assert lake.is_valid
    assert lake.symmetric_difference(LAKE).area < 0.03 * LAKE.area
    assert len(lake.interiors) == 1
    # No outline where tiles were cut: all of it lies on the lake's own shores.
    outline = shapely.union_all([shapely.LineString(line) for line in layers[0].features[0].outlines(WINDOW)])
    assert outline.length == pytest.approx(LAKE.boundary.length, rel=0.02)
    road = shapely.union_all([shapely.LineString(line) for one in layers[1].features for line in one.lines])
    assert road.length == pytest.approx(0.2 * math.hypot(1, 0.1), rel=0.01)


def test_tiles_of_pictures_and_other_packings_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "town.pmtiles"
    write_tiles(path, 8, tile_type=TileType.PNG)
    with pytest.raises(DataError, match=r"pictures as tiles\. Give PMTiles of vector tiles"):
        read_context(str(path), WINDOW)
    write_tiles(path, 8, tile_compression=Compression.BROTLI)
    with pytest.raises(DataError, match="packed in another way"):
        read_context(str(path), WINDOW)
    write_tiles(path, 13)
    with pytest.raises(DataError, match="no tiles for maps as large as this one"):
        read_context(str(path), Bounds(5.0, 45.0, 9.0, 49.0))


def write_one_tile(path: Path, tile: bytes, zoom: int = 8) -> None:
    """One tile wherever the window is."""
    with path.open("wb") as file:
        writer = Writer(file)
        (x0, y1), (x1, y0) = (
            np.floor(to_tile(np.array([WINDOW[:2], WINDOW[2:]]), zoom, 0, 0) / 4096).astype(int).tolist()
        )
        for x in range(x0, x1 + 1):
            for y in range(y0, y1 + 1):
                writer.write_tile(zxy_to_tileid(zoom, x, y), gzip.compress(tile))
        about = {"tile_type": TileType.MVT, "tile_compression": Compression.GZIP, "min_zoom": zoom, "max_zoom": zoom}
        rest = dict.fromkeys(
            ("min_lon_e7", "min_lat_e7", "max_lon_e7", "max_lat_e7", "center_zoom", "center_lon_e7", "center_lat_e7"), 0
        )
        writer.finalize(about | rest, {})


def test_a_tile_that_unpacks_without_end_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "bomb.pmtiles"
    write_one_tile(path, bytes(50_000_000))
    with pytest.raises(
        ParameterError, match=r"'bomb.pmtiles' has tiles of more than 40 MB inside the map. Give a file"
    ):
        read_context(str(path), WINDOW)


def test_tiles_are_limited_all_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "many.pmtiles"
    roads = [(2, [np.array([[2000, 2000], [2001, 2001]])], {"kind": "major_road"})] * 10
    write_one_tile(path, layer("roads", roads), zoom=12)
    tiles = pmtiles_file._count(WINDOW, 12)
    assert tiles > 3
    assert kinds(read_context(str(path), WINDOW))
    monkeypatch.setattr(pmtiles_file, "_MOST_FEATURES", 10 * tiles - 1)
    with pytest.raises(
        ParameterError, match=r"'many.pmtiles' has more than [0-9]+ features inside the map. Give a file"
    ):
        read_context(str(path), WINDOW)
    monkeypatch.undo()
    monkeypatch.setattr(pmtiles_file, "_LARGEST", tiles * len(layer("roads", roads)) - 1)
    with pytest.raises(ParameterError, match="has tiles of more than 0 MB"):
        read_context(str(path), WINDOW)


def put_root(path: Path, directory: bytes) -> None:
    """Give a file another root directory, whose place and length the header tells."""
    content = bytearray(path.read_bytes())
    content[8:24] = struct.pack("<QQ", len(content), len(directory))
    path.write_bytes(content + directory)


@pytest.mark.parametrize(
    "directory",
    [
        gzip.compress(varint(10**9) + bytes(100_000_000)),
        gzip.compress(b"\x00") + gzip.compress(bytes(100_000_000)),
        gzip.compress(varint(10**6) + bytes(10**6)),
    ],
    ids=["one that unpacks without end", "one behind another", "one with too few entries"],
)
def test_a_directory_that_is_a_bomb_is_refused(directory: bytes, tmp_path: Path) -> None:
    path = tmp_path / "bomb.pmtiles"
    write_tiles(path, 12)
    put_root(path, directory)
    tracemalloc.start()
    try:
        with pytest.raises(
            DpheatmapError, match=r"'bomb.pmtiles' (has directories of more than 4 MB|can't be read|has no)"
        ):
            read_context(str(path), WINDOW)
        assert tracemalloc.get_traced_memory()[1] < 30_000_000
    finally:
        tracemalloc.stop()


def nested(depth: int) -> bytes:
    """A point inside collections inside each other, in well-known binary."""
    return struct.pack("<BII", 1, 7, 1) * depth + struct.pack("<BIdd", 1, 1, 7.4, 46.95)


def put_wkb(path: Path, wkb: bytes) -> None:
    """Write a file with one geometry."""
    FRAME.iloc[:1].to_parquet(path)
    schema = pyarrow.parquet.read_schema(path)
    table = pyarrow.table({"geometry": pyarrow.array([wkb], pyarrow.binary())})
    pyarrow.parquet.write_table(table.replace_schema_metadata({b"geo": schema.metadata[b"geo"]}), path)


@pytest.mark.parametrize("depth", [9, 400, 2_000_000])
def test_shapes_nested_too_deep_are_refused(depth: int, tmp_path: Path) -> None:
    """GEOS would go as deep as they tell, and end the program."""
    put_wkb(tmp_path / "deep.parquet", nested(depth))
    with pytest.raises(
        ParameterError, match=r"'deep.parquet' has shapes inside each other, more than 8 deep. Save its"
    ):
        read_context(str(tmp_path / "deep.parquet"), WINDOW)
    put_wkb(tmp_path / "deep.parquet", nested(8))
    assert [one.kind for one in read_context(str(tmp_path / "deep.parquet"), WINDOW)] == ["point"]


@pytest.mark.parametrize("depth", [9, 2_000_000])
def test_a_geopackage_nested_too_deep_is_refused(depth: int, tmp_path: Path) -> None:
    path = tmp_path / "deep.gpkg"
    geopandas.GeoDataFrame(geometry=[shapely.GeometryCollection([LAKE, STREET])], crs=4326).to_file(path, layer="a")
    with sqlite3.connect(path) as con:
        for (name,) in con.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
            con.execute(f'DROP TRIGGER "{name}"')
        head = struct.pack("<2sBBi", b"GP", 0, 1, 4326)
        con.execute("UPDATE a SET geom = ?", [head + nested(depth)])
    con.close()
    with pytest.raises(DpheatmapError, match=r"^The context 'deep.gpkg' .*\. [A-Z][^.]*\.$"):
        read_context(str(path), WINDOW)


MULTI = shapely.MultiPolygon([LAKE, shapely.box(7.3, 46.9, 7.31, 46.91)])


@pytest.mark.parametrize(
    ("shape", "depth"),
    [
        (shapely.Point(1, 2), 0),
        (shapely.Point(), 0),
        (shapely.Point(1, 2, 3), 0),
        (LAKE, 0),
        (shapely.Polygon(), 0),
        (MULTI, 1),
        (shapely.MultiPoint([(1, 2), (3, 4)]), 1),
        (shapely.GeometryCollection(), 1),
        (shapely.GeometryCollection([STREET, MULTI, shapely.Point(1, 2)]), 2),
        (shapely.GeometryCollection([STREET, shapely.GeometryCollection([STREET, MULTI]), STREET]), 3),
        (shapely.force_3d(shapely.GeometryCollection([STREET, MULTI, shapely.Point(1, 2)])), 2),
    ],
)
@pytest.mark.parametrize("order", [0, 1])
@pytest.mark.parametrize("flavor", ["iso", "extended"])
def test_the_depth_of_a_shape_is_found_in_its_bytes(shape: Any, depth: int, order: int, flavor: Any) -> None:
    wkb = shapely.to_wkb(shape, byte_order=order, flavor=flavor)
    assert depth_of(wkb) == depth
    assert depth_of(shapely.to_wkb(shapely.set_srid(shape, 4326), include_srid=True, byte_order=order)) == depth
    for end in range(5, len(wkb) - 1, 7):
        assert depth_of_any(wkb[:end]) <= depth


def depth_of_any(wkb: bytes) -> int:
    """The depth of bytes that may be cut off; 0 if they are nothing."""
    try:
        return depth_of(wkb)
    except ValueError:
        return 0


@given(st.binary(max_size=60))
def test_any_bytes_have_a_depth_or_are_refused(data: bytes) -> None:
    assert 0 <= depth_of_any(data) <= DEEPEST + 1


def test_the_example_of_the_specification_is_decoded() -> None:
    """Section 4.3.5: a polygon, and a multipolygon with a hole."""
    simple = [9, 6, 12, 18, 10, 12, 24, 44, 15]
    double = [9, 0, 0, 26, 20, 0, 0, 20, 19, 0, 15, 9, 22, 2, 26, 18, 0, 0, 18, 17, 0, 15]
    double += [9, 4, 13, 26, 0, 8, 8, 0, 0, 7, 15]
    content = part(1, b"x") + part(2, varint(24) + varint(3) + part(4, packed(simple)))
    content += part(2, varint(24) + varint(3) + part(4, packed(double))) + varint(40) + varint(1)
    first, second = decode(part(3, content))
    assert [ring.tolist() for ring in first.lines] == [[[3, 6], [8, 12], [20, 34], [3, 6]]]
    assert [ring[0].tolist() for ring in second.lines] == [[0, 0], [11, 11], [13, 13]]
    assert second.lines[2].tolist() == [[13, 13], [13, 17], [17, 17], [17, 13], [13, 13]]


def test_all_kinds_of_values_are_decoded() -> None:
    values = [
        part(1, "Zürich".encode()),
        varint(2 << 3 | 5) + struct.pack("<f", 0.5),
        varint(3 << 3 | 1) + struct.pack("<d", -2.25),
        varint(4 << 3) + varint(300),
        varint(6 << 3) + varint(5),
        varint(7 << 3) + varint(1),
        b"",
    ]
    content = (
        part(1, b"x") + b"".join(part(3, key.encode()) for key in "abcdefg") + b"".join(part(4, v) for v in values)
    )
    tags = packed([number for i in range(7) for number in (i, i)])
    content += part(2, part(2, tags) + varint(24) + varint(1) + part(4, packed([9, 2, 2])))
    (found,) = decode(part(3, content))
    assert found.tags == {"layer": "x", "a": "Zürich", "b": 0.5, "c": -2.25, "d": 300, "e": -3, "f": True, "g": None}


@given(st.binary(max_size=200), st.integers(0, 400))
def test_whatever_a_tile_says_it_is_decoded_or_refused(noise: bytes, at: int) -> None:
    street = np.array([[0.0, 0.0], [100.0, 50.0]])
    whole = layer("roads", [(2, [street], {"kind": "path"})])
    for data in (noise, whole[: at % len(whole)], whole[:at] + noise + whole[at + len(noise) :], part(3, noise)):
        try:
            for feature in decode(data):
                assert all(line.shape[1] == 2 for line in feature.lines)
        except ValueError:
            pass
