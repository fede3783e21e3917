"""Rasters in other systems of coordinates: sums over areas are those of `Release.areas`, in QGIS, too."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import geopandas
import numpy as np
import pytest
import rasterio
import shapely
from rasterio.features import geometry_mask

import dpheatmap as dph
from dpheatmap.errors import ParameterError
from dpheatmap.testing import generated_people, seeded_release

CITY = dph.Domain.bbox(7.30, 46.90, 7.50, 47.02, resolution=50)
QUARTERS = {
    f"{k}{m}": (7.30 + 0.1 * k, 46.90 + 0.06 * m, 7.40 + 0.1 * k, 46.96 + 0.06 * m) for k in (0, 1) for m in (0, 1)
}
SYSTEMS = ("EPSG:3857", "EPSG:3035", "EPSG:2056", "EPSG:32632")


@pytest.fixture(scope="module")
def release() -> dph.Release:
    people = generated_people(5000, extent=CITY.extent)
    return seeded_release(people, CITY, seed=3, epsilon=2, user="person", x="x", y="y")


@pytest.mark.parametrize("crs", SYSTEMS)
@pytest.mark.parametrize("values", ["share", "people"])
def test_sums_over_areas_are_those_of_areas(release: dph.Release, crs: str, values: str, tmp_path: Path) -> None:
    heat = release.heatmap(sigma=30, size=600)
    heat.save(tmp_path / "map.tif", values=values, crs=None if crs == "EPSG:3857" else crs)
    table = release.areas(QUARTERS)
    with rasterio.open(tmp_path / "map.tif") as file:
        assert file.crs.to_string() == crs
        density, std, share = file.read()
        whole = 1.0 if values == "share" else release.people.mean
        assert np.nansum(share) == pytest.approx(whole, rel=1e-3)
        shapes = table.set_crs(4326, allow_override=True).to_crs(file.crs).geometry
        for shape, wanted in zip(shapes, table[values], strict=True):
            inside = ~geometry_mask([shape], share.shape, file.transform)
            assert np.nansum(share[inside]) == pytest.approx(wanted, abs=0.01 * whole)
        pixel = abs(file.transform.a * file.transform.e) / 1e6
    if crs == "EPSG:3035":  # equal areas: density is share by area, everywhere
        assert np.nansum(np.abs(density * pixel - share)) < 2e-3 * whole
    assert (std[np.isfinite(std)] >= 0).all()


def test_what_is_no_projection_is_refused(release: dph.Release, tmp_path: Path) -> None:
    heat = release.heatmap(size=50)
    for crs in ("EPSG:4326", "nonsense", "EPSG:0"):
        with pytest.raises(ParameterError, match="crs must be"):
            heat.save(tmp_path / "map.tif", crs=crs)
    with pytest.raises(ParameterError, match="Leave one of them out"):
        heat.save(tmp_path / "map.tif", crs="EPSG:3035", zooms=(5, 6))
    with pytest.raises(ParameterError, match="no option"):
        heat.save(tmp_path / "map.png", crs="EPSG:3035")
    assert not list(tmp_path.iterdir())


def test_what_lies_outside_a_boundary_has_no_data(tmp_path: Path) -> None:
    triangle = {"type": "Polygon", "coordinates": [[[7.3, 46.9], [7.5, 46.9], [7.3, 47.02], [7.3, 46.9]]]}
    domain = dph.Domain.polygon(triangle, resolution=300)
    people = generated_people(2000, extent=domain.extent)
    heat = seeded_release(people, domain, seed=1, epsilon=1, user="person", x="x", y="y").heatmap()
    heat.save(tmp_path / "map.tif")
    with rasterio.open(tmp_path / "map.tif") as file:
        layers = file.read()
    outside = heat.ground == 0.0
    assert np.isnan(layers[:, outside]).all()
    assert np.isfinite(layers[:, ~outside]).all()
    assert np.nansum(layers[2]) == pytest.approx(1.0, rel=1e-5)


@pytest.mark.long
@pytest.mark.parametrize("crs", [None, "EPSG:3035"])
def test_qgis_finds_the_same(release: dph.Release, crs: str | None, tmp_path: Path) -> None:
    """Zonal statistics of the third band, by QGIS as users have it."""
    # Debian's wrapper hands its program an option of another one; the program itself stands beside it.
    program = shutil.which("qgis_process.bin") or shutil.which("qgis_process")
    assert program is not None, "scripts/test --long installs QGIS"
    release.heatmap(sigma=30, size=800).save(tmp_path / "map.tif", crs=crs)
    frame = geopandas.GeoDataFrame(
        {"name": list(QUARTERS)}, geometry=[shapely.box(*box) for box in QUARTERS.values()], crs=4326
    )
    with rasterio.open(tmp_path / "map.tif") as file:
        frame.to_crs(file.crs).to_file(tmp_path / "quarters.gpkg", driver="GPKG")
    command = [
        program, "run", "native:zonalstatisticsfb", "--", f"INPUT={tmp_path / 'quarters.gpkg'}",
        f"INPUT_RASTER={tmp_path / 'map.tif'}", "RASTER_BAND=3", "COLUMN_PREFIX=z_", "STATISTICS=1",
        f"OUTPUT={tmp_path / 'zones.geojson'}",
    ]  # fmt: skip
    environment = {"QT_QPA_PLATFORM": "offscreen", "HOME": str(tmp_path), "PATH": "/usr/bin:/bin"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    found = json.loads((tmp_path / "zones.geojson").read_text())["features"]
    sums = {feature["properties"]["name"]: feature["properties"]["z_sum"] for feature in found}
    table = release.areas(QUARTERS)
    for name, share in zip(table["area"], table["share"], strict=True):
        assert sums[name] == pytest.approx(share, abs=0.01)
