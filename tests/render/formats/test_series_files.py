"""Files of a series for map tools and tables: the same numbers in each, by slice."""

from __future__ import annotations

import csv
from pathlib import Path

import geopandas
import numpy as np
import pytest
import rasterio
import xarray

from dpheatmap.errors import ParameterError
from dpheatmap.heatmap.series import Series
from dpheatmap.place.domain import Domain
from dpheatmap.render.series_files import FORMATS
from dpheatmap.slicing.period import WEEKDAYS
from helpers.sliced import series_of_days, sliced

CITY = Domain.bbox(7.30, 46.90, 7.50, 47.02, resolution=500)
TRIANGLE = {"type": "Polygon", "coordinates": [[[7.3, 46.9], [7.5, 46.9], [7.4, 47.02], [7.3, 46.9]]]}


@pytest.fixture(scope="module")
def series() -> Series:
    return series_of_days(CITY, 48)


def test_a_geotiff_has_a_band_for_each_slice_that_adds_up_to_1(series: Series, tmp_path: Path) -> None:
    series.save(tmp_path / "week.tif")
    with rasterio.open(tmp_path / "week.tif") as file:
        assert file.descriptions == WEEKDAYS
        assert set(file.units) == {"1"}
        bands, tags = file.read(), file.tags()
        assert file.tags(7)["WARNING"].startswith("No place stands out")
        assert "WARNING" not in file.tags(5)
        assert file.tags(ns="IMAGE_STRUCTURE")["LAYOUT"] == "COG"
    assert bands.sum(axis=(1, 2)) == pytest.approx(np.ones(7), rel=1e-5)
    for band, label in zip(bands, WEEKDAYS, strict=True):
        assert band == pytest.approx(series[label].values, rel=1e-6)
    assert tags["SLICES_WITHOUT_SIGNAL"] == "sun"
    assert tags["EPSILON"] == "2"
    assert tags["VALUES"].startswith("share of the people of the slice")


def test_a_geotiff_of_people_adds_up_to_the_volumes_inside_the_boundary(tmp_path: Path) -> None:
    made = sliced(Domain.polygon(TRIANGLE, resolution=500), groups=("bike", "walk"), times=False).heatmap(size=48)
    made.save(tmp_path / "both.tif", values="people")
    with rasterio.open(tmp_path / "both.tif") as file:
        bands = file.read()
    assert np.nansum(bands, axis=(1, 2)) == pytest.approx(made.volumes.people, rel=1e-4)
    assert (np.isnan(bands) == (made["bike"].ground == 0.0)).all()


def test_geoparquet_has_the_measured_cells_of_each_slice(series: Series, tmp_path: Path) -> None:
    series.save(tmp_path / "week.parquet")
    table = geopandas.read_parquet(tmp_path / "week.parquet")
    assert list(table.columns)[:7] == ["slice", "level", "x", "y", "share", "people", "std"]
    assert list(dict.fromkeys(table["slice"])) == list(WEEKDAYS)
    sums = table.groupby("slice")[["share", "people"]].sum().loc[list(WEEKDAYS)]
    assert sums["share"].to_numpy() == pytest.approx(np.ones(7), rel=1e-6)
    assert sums["people"].to_numpy() == pytest.approx(series.volumes.people, rel=1e-6)
    friday = series["fri"].to_geopandas()
    found = table[table["slice"] == "fri"]
    assert found["share"].to_numpy() == pytest.approx(friday["share"].to_numpy())
    assert (found.geometry.to_numpy() == friday.geometry.to_numpy()).all()
    assert table.crs == "EPSG:4326"


def test_geoparquet_of_people_has_the_same_shares(series: Series, tmp_path: Path) -> None:
    for values in ("share", "people"):
        series.save(tmp_path / f"{values}.parquet", values=values)
    one, other = (geopandas.read_parquet(tmp_path / f"{values}.parquet") for values in ("share", "people"))
    told = one["people"] > 1.0
    assert other["share"][told].to_numpy() == pytest.approx(one["share"][told].to_numpy(), rel=1e-6)
    assert other["people"].to_numpy() == pytest.approx(one["people"].to_numpy(), rel=1e-6)


def test_netcdf_has_a_dimension_for_slices_and_the_volumes(series: Series, tmp_path: Path) -> None:
    series.save(tmp_path / "week.nc")
    with xarray.open_dataset(tmp_path / "week.nc", engine="h5netcdf") as data:
        assert data["slice"].to_numpy().tolist() == list(WEEKDAYS)
        assert data["share"].dims == ("slice", "lat", "lon")
        assert data["share"].sel(slice="fri").to_numpy() == pytest.approx(series["fri"].values)
        assert data["volume"].to_numpy() == pytest.approx(series.volumes.people)
        assert data.attrs["slices_without_signal"] == "sun"
        assert "7 slices" in data.attrs["slices"]


def test_a_table_has_every_pixel_of_every_slice(series: Series, tmp_path: Path) -> None:
    series.save(tmp_path / "week.csv")
    with (tmp_path / "week.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == ["slice", "lon", "lat", "share", "std"]
    assert len(rows) == sum(heat.values.size for heat in series.values())
    friday = [float(row["share"]) for row in rows if row["slice"] == "fri"]
    assert friday == series["fri"].values.ravel().tolist()


@pytest.mark.parametrize("suffix", [".npz", ".geojson", ".jpg", ""])
def test_other_files_are_refused(series: Series, tmp_path: Path, suffix: str) -> None:
    with pytest.raises(ParameterError, match=r"a series' file must .*\.png, \.svg"):
        series.save(tmp_path / f"week{suffix}")
    with pytest.raises(ParameterError, match="holds a release"):
        series.save(tmp_path / "week.dph.parquet")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("suffix", [".tif", ".nc", ".csv", ".parquet"])
def test_numbers_have_no_looks(series: Series, tmp_path: Path, suffix: str) -> None:
    with pytest.raises(ParameterError, match=rf"^title is no option of {suffix} files; .*Leave it out\.$"):
        series.save(tmp_path / f"week{suffix}", title="Week")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("suffix", FORMATS)
def test_values_outside_their_rule_are_refused_by_every_format(series: Series, tmp_path: Path, suffix: str) -> None:
    for bad in ({"values": "percent"}, {"style": "dots"}, {"basemap": 2}, {"title": "a\nb"}):
        with pytest.raises(ParameterError, match=f"^{next(iter(bad))} must be"):
            series.save(tmp_path / f"week{suffix}", **bad)
    assert not list(tmp_path.iterdir())


def test_what_is_not_on_the_ground_has_no_geotiff(tmp_path: Path) -> None:
    made = sliced(Domain.unit(3), people=100, groups=("bike",), times=False).heatmap(size=8)
    with pytest.raises(ParameterError, match="A GeoTIFF lies on the ground"):
        made.save(tmp_path / "both.tif")
    made.save(tmp_path / "both.parquet")
    assert geopandas.read_parquet(tmp_path / "both.parquet").crs is None
