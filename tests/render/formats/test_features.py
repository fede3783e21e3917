"""Measured cells and hexagons, as files and frames, read back by the tools that people have."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import duckdb
import geopandas
import h3
import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
import shapely

from dpheatmap.errors import ParameterError
from dpheatmap.estimate.distribution import Distribution
from dpheatmap.estimate.posterior.posterior import posterior
from dpheatmap.heatmap.smoothing import smooth
from dpheatmap.place.domain import Domain
from dpheatmap.place.projection import EARTH_CIRCUMFERENCE
from dpheatmap.releases.release import Release
from render.conftest import CITY, MakeHeat, uncertain

HOT = (7.4, 46.96)
"""Where the invented city has its centre, about."""


def test_geojson_read_by_geopandas(city: Release, tmp_path: Path) -> None:
    city.heatmap().save(tmp_path / "map.geojson")
    cells = geopandas.read_file(tmp_path / "map.geojson")
    assert cells.crs.to_epsg() == 4326
    assert cells["share"].sum() == pytest.approx(1.0)
    assert (cells["std"] > 0).all()
    polygons = cells.geometry.to_numpy()
    assert shapely.union_all(shapely.buffer(polygons, 1e-7)).area == pytest.approx(CITY_AREA, rel=1e-3)
    assert shapely.area(polygons).sum() == pytest.approx(CITY_AREA, rel=1e-4)  # so none overlap
    assert shapely.is_ccw(shapely.get_exterior_ring(polygons)).all()
    assert polygons[cells["per_km2"].argmax()].distance(shapely.Point(HOT)) < 0.05


CITY_AREA = (CITY.bounds.x1 - CITY.bounds.x0) * (CITY.bounds.y1 - CITY.bounds.y0)


def test_geojson_is_json_that_says_how_it_was_made(city: Release, tmp_path: Path) -> None:
    city.heatmap().save(tmp_path / "map.geojson")
    content = json.loads((tmp_path / "map.geojson").read_text())
    assert content["dpheatmap"]["epsilon"] == "1"
    assert "Not private" in content["dpheatmap"]["warning"]
    first = content["features"][0]
    assert first["geometry"]["coordinates"][0][0] == first["geometry"]["coordinates"][0][-1]
    assert list(first["properties"]) == ["level", "x", "y", "share", "std", "per_km2"]


def test_geoparquet_by_its_standard(city: Release, tmp_path: Path) -> None:
    path = tmp_path / "map.parquet"
    city.heatmap().save(path)
    metadata = json.loads(pq.read_metadata(path).metadata[b"geo"])
    assert metadata["version"] == "1.1.0"
    assert metadata["columns"]["geometry"]["geometry_types"] == ["Polygon"]
    assert "bbox" in metadata["columns"]["geometry"]["covering"]
    cells = geopandas.read_parquet(path, bbox=(7.39, 46.95, 7.41, 46.97))
    everything = geopandas.read_parquet(path)
    assert 0 < len(cells) < len(everything)
    pd.testing.assert_frame_equal(everything, city.heatmap().to_geopandas())
    assert everything.attrs["epsilon"] == "1"
    assert "sigma" not in everything.attrs  # measured cells are not smoothed
    assert city.heatmap(sigma=200).to_h3(7).attrs["sigma"] == 200


def test_geoparquet_read_by_duckdb(city: Release, tmp_path: Path) -> None:
    city.heatmap().save(tmp_path / "map.parquet")
    query = f"SELECT SUM(share), MAX(level) FROM '{tmp_path}/map.parquet'"
    share, level = duckdb.connect().execute(query).fetchall()[0]
    assert share == pytest.approx(1.0)
    assert level == city.heatmap().to_geopandas()["level"].max()


def test_cells_of_an_image(screen: Release, tmp_path: Path) -> None:
    """In pixels, without a coordinate system; GeoJSON is in degrees, and refuses."""
    heat = screen.heatmap()
    heat.save(tmp_path / "map.parquet")
    cells = geopandas.read_parquet(tmp_path / "map.parquet")
    assert cells.crs is None
    assert cells.total_bounds.tolist() == [0, 0, 64, 48]
    assert (cells["per_pixel"] * cells.geometry.area).sum() == pytest.approx(1.0)
    with pytest.raises(ParameterError, match=r"lies on the ground, and the place of this map is an image"):
        heat.save(tmp_path / "map.geojson")


def test_a_release_file_is_no_map(city: Release, tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match=r"ends in \.dph\.parquet holds a release"):
        city.heatmap().save(tmp_path / "map.dph.parquet")


def test_cells_need_a_release(make_heat: MakeHeat, tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="measured cells are those of a release"):
        make_heat(CITY).save(tmp_path / "map.geojson")


@pytest.mark.parametrize("resolution", [4, 7, 8, 9])
def test_hexagons_hold_all_heat(city: Release, resolution: int) -> None:
    cells = city.heatmap().to_h3(resolution)
    assert cells["share"].sum() == pytest.approx(1.0)
    assert all(h3.is_valid_cell(name) and h3.get_resolution(name) == resolution for name in cells.index)
    outline = h3.cell_to_boundary(cells.index[0])
    assert cells.geometry.iloc[0].equals(shapely.Polygon([(lon, lat) for lat, lon in outline]))


def test_hexagons_have_the_heat_of_their_place(make_heat: MakeHeat) -> None:
    """All heat in one pixel: it falls into the hexagon that this lies in."""
    finest = CITY.cells(CITY.depth)
    values = np.zeros((finest.rows, finest.columns))
    values[20, 70] = 1.0
    heat = make_heat(CITY, values)
    cells = heat.to_h3(8)
    assert cells["share"].idxmax() == h3.latlng_to_cell(heat.y[20], heat.x[70], 8)
    assert cells["share"].max() == pytest.approx(1.0)


def test_densities_of_hexagons_are_those_of_the_map(make_heat: MakeHeat) -> None:
    finest = CITY.cells(CITY.depth)
    even = make_heat(CITY, np.ones((finest.rows, finest.columns)))
    cells = even.to_h3(8)
    assert cells["per_km2"].to_numpy() == pytest.approx(1e6 * even.density.mean(), rel=0.01)
    inside = cells[cells.geometry.within(shapely.box(*CITY.bounds))]
    by_h3 = inside["share"] / [h3.cell_area(name, "km^2") for name in inside.index]
    assert by_h3.median() == pytest.approx(1e6 * even.density.mean(), rel=0.02)  # of samples, on H3's own sphere


def test_uncertainty_of_hexagons_is_that_of_draws(city: Release) -> None:
    """The formula is an approximation: its median is off by at most a quarter, and it is rather too large."""
    heat = city.heatmap(size=128)
    levels, codes, masses = posterior(city).draws(60, np.random.default_rng(0))
    drawn = [smooth(Distribution.from_people(CITY, levels, codes, row), heat.sigma, 128) for row in masses]
    known = uncertain(heat, np.std(drawn, axis=0))
    for resolution in (7, 8):
        cells = known.to_h3(resolution)
        plain = replace(heat, uncertainty=None)
        exact = np.std([replace(plain, values=values).to_h3(resolution)["share"] for values in drawn], axis=0)
        filled = cells["share"].to_numpy() > 0.2 / len(cells)
        ratio = cells["std"].to_numpy()[filled] / exact[filled]
        assert filled.sum() > 20
        assert 0.9 < np.median(ratio) < 1.25
        assert np.quantile(ratio, 0.05) > 0.7


def test_pixels_wider_than_hexagons_are_cut(make_heat: MakeHeat) -> None:
    cells = make_heat(Domain.bbox(7.3, 46.9, 7.5, 47.02, depth=12)).to_h3(8)
    assert cells["share"].sum() == pytest.approx(1.0)
    edge = EARTH_CIRCUMFERENCE / 2**12 * np.cos(np.radians(46.96)) / 1000
    assert len(cells) > 2 * edge**2 / h3.average_hexagon_area(8)


def test_too_many_hexagons(make_heat: MakeHeat) -> None:
    with pytest.raises(ParameterError, match=r"its hexagons at 13 are about 4 m wide.*Choose a smaller one"):
        make_heat(CITY).to_h3(13)
    with pytest.raises(ParameterError, match="H3 lies on the ground"):
        make_heat(Domain.unit(3)).to_h3(5)


@pytest.mark.parametrize("suffix", [".geojson", ".parquet", ".csv"])
def test_hexagons_in_files(city: Release, tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"map{suffix}"
    heat = city.heatmap()
    heat.save(path, h3=8)
    read = {".geojson": geopandas.read_file, ".parquet": geopandas.read_parquet, ".csv": pd.read_csv}[suffix]
    table = read(path).set_index("h3")
    expected = heat.to_h3(8)
    assert table["share"].to_dict() == pytest.approx(expected["share"].to_dict(), rel=1e-15)
    assert table["per_km2"].to_dict() == pytest.approx(expected["per_km2"].to_dict(), rel=1e-15)


MISSING = [
    ("geopandas", "heat.to_geopandas()"),
    ("geopandas", "heat.save(folder + '/map.parquet')"),
    ("matplotlib", "heat.save(folder + '/map.svg')"),
    ("pmtiles", "heat.save(folder + '/map.pmtiles')"),
    ("rasterio", "heat.save(folder + '/map.tif')"),
    ("h3", "heat.to_h3(8)"),
    ("xarray", "heat.to_xarray()"),
    ("h5netcdf", "heat.save(folder + '/map.nc')"),
]
"""Packages, and what needs them. None stands after something that needs another one and imports it before."""


@pytest.fixture(scope="module")
def refusals(city: Release, tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[str, list[str]]]:
    """What each call says where one package can't be imported, and which files are there afterwards.

    They are made in a Python of its own, in which a heatmap is made before any of the packages can be imported.
    """
    folder = tmp_path_factory.mktemp("missing")
    city.save(folder / "a.dph.parquet")
    code = f"""
import json, os, sys
calls, folder = {MISSING!r}, {str(folder)!r}
packages = dict(calls)
sys.modules.update(dict.fromkeys(packages))
import dpheatmap
heat = dpheatmap.load(folder + "/a.dph.parquet").heatmap(size=64)
for package in packages:
    del sys.modules[package]
said = {{}}
for package, call in calls:
    assert package not in sys.modules, package
    sys.modules[package] = None
    try:
        eval(call)
    except dpheatmap.errors.MissingDependency as error:
        said[call] = str(error), sorted(os.listdir(folder))
    del sys.modules[package]
print(json.dumps(said))
"""
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    found: dict[str, tuple[str, list[str]]] = json.loads(out)
    return found


@pytest.mark.parametrize(("package", "call"), MISSING)
def test_what_is_missing_names_its_extra(refusals: dict[str, tuple[str, list[str]]], package: str, call: str) -> None:
    said, files = refusals[call]
    extra = "plot" if package == "matplotlib" else "geo"
    assert f"needs the package {package}, which is not installed. Run: pip install 'dpheatmap[{extra}]'" in said
    assert files == ["a.dph.parquet"]
