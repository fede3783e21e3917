"""Maps as rasters: GeoTIFF, NetCDF and tiles, read back by the tools that people have."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
import rasterio
import rasterio.warp
import xarray
from PIL import Image
from pmtiles.reader import MmapSource, Reader, all_tiles
from rio_cogeo import cog_info, cog_validate

from dpheatmap.errors import ParameterError
from dpheatmap.place.domain import Domain
from dpheatmap.place.projection import EARTH_CIRCUMFERENCE
from dpheatmap.releases.release import Release
from dpheatmap.render.content.picture import picture_of
from dpheatmap.render.palette import LIGHT, band_colours, opacities, rgb_of
from render.conftest import CITY, MakeHeat, bell

LARGE = Domain.bbox(7.0, 46.7, 7.9, 47.2, resolution=100)


def some_std(domain: Domain) -> np.ndarray:
    finest = domain.cells(domain.depth)
    return np.random.default_rng(1).exponential(1e-9, (finest.rows, finest.columns))


# GeoTIFF


@pytest.mark.parametrize("domain", [CITY, LARGE, Domain.bbox(-180, -85.05, 180, 85.05, depth=3)], ids=str)
def test_a_geotiff_is_cloud_optimised(make_heat: MakeHeat, tmp_path: Path, domain: Domain) -> None:
    path = tmp_path / "map.tif"
    make_heat(domain, std=some_std(domain)).save(path)
    valid, errors, warnings = cog_validate(path, strict=True)
    assert (valid, errors, warnings) == (True, [], [])


def test_a_geotiff_lies_on_the_ground(make_heat: MakeHeat, tmp_path: Path) -> None:
    heat = make_heat(CITY, std=some_std(CITY))
    heat.save(tmp_path / "map.tif")
    with rasterio.open(tmp_path / "map.tif") as file:
        assert file.crs.to_epsg() == 3857
        assert file.descriptions == ("share of people per km2", "standard deviation of the share per km2")
        assert file.units == ("1/km2", "1/km2")
        assert file.tags()["EPSILON"] == "1/3"
        density, std = file.read()
        assert density == pytest.approx(1e6 * heat.density, rel=1e-6)
        assert heat.std is not None
        assert std == pytest.approx(1e6 * heat.std / heat.pixel_areas[:, None], rel=1e-6)
        west, south, east, north = rasterio.warp.transform_bounds(file.crs, "EPSG:4326", *file.bounds)
        assert (west, south, east, north) == pytest.approx(CITY.bounds, abs=1e-9)
        row, column = 17, 40
        (x,), (y,) = rasterio.warp.transform("EPSG:4326", file.crs, [heat.x[column]], [heat.y[row]])
        assert file.index(x, y) == (row, column)


def test_a_geotiff_without_uncertainty_has_no_data_there(make_heat: MakeHeat, tmp_path: Path) -> None:
    make_heat(CITY).save(tmp_path / "map.tif")
    with rasterio.open(tmp_path / "map.tif") as file:
        assert not file.read_masks(2).any()
        assert file.read_masks(1).all()


def test_overviews_keep_densities(make_heat: MakeHeat, tmp_path: Path) -> None:
    finest = LARGE.cells(LARGE.depth)
    make_heat(LARGE, np.ones((finest.rows, finest.columns))).save(tmp_path / "map.tif")
    assert len(cog_info(tmp_path / "map.tif").IFD) > 1
    with rasterio.open(tmp_path / "map.tif") as file:
        small = file.read(1, out_shape=(file.height // 4, file.width // 4))
        whole = file.read(1)
    assert small.mean() == pytest.approx(whole.mean(), rel=1e-3)


@pytest.mark.parametrize("suffix", [".tif", ".pmtiles"])
def test_images_are_not_on_the_ground(make_heat: MakeHeat, tmp_path: Path, suffix: str) -> None:
    with pytest.raises(ParameterError, match=r"lies? on the ground, and the place of this map is an image\. Use "):
        make_heat(Domain.image(8, 6)).save(tmp_path / f"map{suffix}")
    assert list(tmp_path.iterdir()) == []


# NetCDF and xarray


def test_netcdf_read_by_xarray(make_heat: MakeHeat, tmp_path: Path) -> None:
    heat = make_heat(CITY, std=some_std(CITY))
    heat.save(tmp_path / "map.nc")
    with xarray.open_dataset(tmp_path / "map.nc") as data:
        xarray.testing.assert_identical(data.load(), heat.to_xarray())
        assert float(data["share"].sum()) == pytest.approx(1.0)
        there = data.sel(lat=heat.y[5], lon=heat.x[9], method="nearest")
        assert float(there["share"]) == heat.values[5, 9]
        assert float(there["std"]) == heat.std[5, 9]  # type: ignore[index]
        assert float(there["per_km2"]) == pytest.approx(1e6 * heat.density[5, 9])
        assert data.attrs["privacy"] == "user-level differential privacy, epsilon = 1/3 per person"
        assert data["lat"].attrs["units"] == "degrees_north"


def test_xarray_of_an_image(make_heat: MakeHeat) -> None:
    data = make_heat(Domain.image(7, 5)).to_xarray()
    assert dict(data.sizes) == {"y": 5, "x": 7}
    assert list(data.data_vars) == ["share", "per_pixel"]
    assert data["x"].attrs["units"] == "px"


# Tiles


def tiles_of(path: Path) -> tuple[Reader, dict[tuple[int, int, int], np.ndarray]]:
    """The reader of a file, and its tiles as pixels."""
    with path.open("rb") as file:
        reader = Reader(MmapSource(file))
        tiles = {at: np.asarray(Image.open(BytesIO(data)).convert("RGBA")) for at, data in all_tiles(reader.get_bytes)}
        reader.header()
    return reader, tiles


def bands_in(pixels: np.ndarray, bands: int) -> np.ndarray:
    """Back from colours to bands, 0 where the tile is bare; every pixel has to have a colour of the palette."""
    parts = opacities(bands, LIGHT.opacities)
    known = np.array(
        [[*rgb_of(c), round(255 * part)] for c, part in zip(band_colours(LIGHT.heat, bands), parts, strict=True)]
    )
    bare = pixels[..., 3] == 0
    same = (pixels[..., None, :] == known).all(axis=-1)
    assert (same.any(axis=-1) | bare).all()
    found: np.ndarray = np.where(bare, 0, 1 + same.argmax(axis=-1))
    return found


def test_a_pixel_of_a_tile_is_a_cell(make_heat: MakeHeat, tmp_path: Path) -> None:
    """At its own zoom every pixel has the band of its cell, wherever it lies; beyond the place is none."""
    heat = make_heat(LARGE)
    picture = picture_of(heat)
    heat.save(tmp_path / "map.pmtiles")
    reader, tiles = tiles_of(tmp_path / "map.pmtiles")
    header = reader.header()
    assert (header["min_zoom"], header["max_zoom"]) == (LARGE.depth - 15, LARGE.depth - 8)
    finest, zoom = LARGE.cells(LARGE.depth), LARGE.depth - 8
    xs, ys = ([at[k] for at in tiles if at[0] == zoom] for k in (1, 2))
    shown = np.zeros((256 * (max(ys) - min(ys) + 1), 256 * (max(xs) - min(xs) + 1)), np.int64)
    for (z, x, y), pixels in tiles.items():
        if z == zoom:
            shown[256 * (y - min(ys)) :, 256 * (x - min(xs)) :][:256, :256] = bands_in(pixels, len(picture.edges))
    top, left = finest.y0 - 256 * min(ys), finest.x0 - 256 * min(xs)
    inside = shown[top : top + finest.rows, left : left + finest.columns]
    assert (inside == np.searchsorted(picture.edges, picture.values, side="right")).mean() > 0.9999
    assert shown.sum() == inside.sum()


def test_lower_zooms_add_cells_up(make_heat: MakeHeat, tmp_path: Path) -> None:
    """An even map is even on the ground at every zoom, but for pixels that the edge cuts."""
    finest = LARGE.cells(LARGE.depth)
    sides = LARGE.lengths_of_cells(LARGE.depth, finest.y0 + np.arange(finest.rows) + 0.5)
    even = np.tile((sides**2)[:, None], finest.columns)
    heat = make_heat(LARGE, even)
    heat.save(tmp_path / "map.pmtiles", zooms=(6, LARGE.depth - 8))
    many = len(picture_of(heat).edges)
    for (zoom, _, _), pixels in tiles_of(tmp_path / "map.pmtiles")[1].items():
        bands = bands_in(pixels, many)
        inner = bands[1:-1, 1:-1][(bands[:-2, 1:-1] > 0) & (bands[2:, 1:-1] > 0) & (bands[1:-1, 2:] > 0)]
        if len(inner) > 50:
            assert np.median(inner) == many, zoom


def test_deeper_zooms_repeat_cells(make_heat: MakeHeat, tmp_path: Path) -> None:
    own = CITY.depth - 8
    make_heat(CITY).save(tmp_path / "map.pmtiles", zooms=(own, own + 2))
    _, tiles = tiles_of(tmp_path / "map.pmtiles")
    assert {at[0] for at in tiles} == {own, own + 1, own + 2}
    for (zoom, x, y), pixels in tiles.items():
        if zoom > own:
            width = 2 ** (zoom - own)
            above = tiles[own, x // width, y // width]
            part = 256 // width
            corner = above[y % width * part :, x % width * part :][:part, :part]
            assert (pixels == np.repeat(np.repeat(corner, width, axis=0), width, axis=1)).all()


def test_tiles_of_a_map_with_other_pixels_than_cells(city: Release, tmp_path: Path) -> None:
    """The heat is laid out anew on cells: as many as the map has pixels, or fewer."""
    heat = city.heatmap(size=100)
    heat.save(tmp_path / "map.pmtiles")
    reader, tiles = tiles_of(tmp_path / "map.pmtiles")
    assert max(CITY.cells(CITY.depth - 1).columns, CITY.cells(CITY.depth - 1).rows) <= 100
    assert reader.header()["max_zoom"] == CITY.depth - 1 - 8
    many = len(picture_of(heat).edges)
    zoom, x, y = max(tiles, key=lambda at: (at[0], bands_in(tiles[at], many).max()))
    bands = bands_in(tiles[zoom, x, y], many)
    row, column = np.argwhere(bands == bands.max()).mean(axis=0)
    where = np.array([256 * x + column + 0.5, 256 * y + row + 0.5]) / 2.0 ** (zoom + 8)
    hot = np.unravel_index(heat.density.argmax(), heat.values.shape)
    lon, lat = heat.x[hot[1]], heat.y[hot[0]]
    u, v = CITY.to_root(np.array([lon]), np.array([lat]))
    assert np.hypot(where[0] - u[0], where[1] - v[0]) * EARTH_CIRCUMFERENCE * np.cos(np.radians(lat)) < 500


def test_tiles_say_what_their_colours_mean(make_heat: MakeHeat, tmp_path: Path) -> None:
    heat = make_heat(CITY)
    heat.save(tmp_path / "map.pmtiles")
    with (tmp_path / "map.pmtiles").open("rb") as file:
        reader = Reader(MmapSource(file))
        about, header = reader.metadata(), reader.header()
    picture = picture_of(heat)
    assert about["legend"] == {
        "title": picture.words.legend.title,
        "edges": list(picture.edges),
        "colours": band_colours(LIGHT.heat, len(picture.edges)),
    }
    assert about["name"] == "Where people are"
    assert "epsilon = 1/3 per person" in about["attribution"]
    assert header["min_lon_e7"] == round(1e7 * CITY.bounds.x0)
    assert header["clustered"]


def test_what_can_not_be_told_is_not_in_tiles(make_heat: MakeHeat, tmp_path: Path) -> None:
    finest = CITY.cells(CITY.depth)
    values = np.ones((finest.rows, finest.columns))
    std = np.where(np.arange(finest.columns) < finest.columns // 2, 1.0, 1e-9) * values
    heat = make_heat(CITY, values, std=std)
    heat.save(tmp_path / "map.pmtiles")
    _, tiles = tiles_of(tmp_path / "map.pmtiles")
    own = CITY.depth - 8
    seen = sum(int((pixels[..., 3] > 0).sum()) for at, pixels in tiles.items() if at[0] == own)
    assert seen == pytest.approx(finest.rows * (finest.columns - finest.columns // 2), rel=0.03)


def test_a_map_without_signal_has_bare_tiles_and_no_legend(tmp_path: Path) -> None:
    bell(CITY, spread=5.0).save(tmp_path / "map.pmtiles")
    reader, tiles = tiles_of(tmp_path / "map.pmtiles")
    assert not any(pixels[..., 3].any() for pixels in tiles.values())
    assert reader.metadata()["legend"]["edges"] == []


def test_too_many_tiles(make_heat: MakeHeat, tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match=r"zooms must end where the map has at most 50,000 tiles; zoom 21 has "):
        make_heat(CITY).save(tmp_path / "map.pmtiles", zooms=(3, 21))
