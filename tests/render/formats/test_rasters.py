"""Maps as rasters: GeoTIFF, NetCDF and tiles, read back by the tools that people have."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
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
from dpheatmap.heatmap.smoothing import smooth
from dpheatmap.place.domain import Domain
from dpheatmap.place.projection import EARTH_CIRCUMFERENCE
from dpheatmap.releases.release import Release
from dpheatmap.render import refuse
from dpheatmap.render.content.picture import picture_of
from dpheatmap.render.formats.cell_strips import Strip, strips_for
from dpheatmap.render.palette import LIGHT, band_colours, opacities, rgb_of
from render.conftest import CITY, MakeHeat, bell

MODULES = {".tif": "geotiff", ".pmtiles": "map_tiles"}
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
        assert file.descriptions[:2] == ("share of people per km2", "standard deviation of the share per km2")
        assert file.descriptions[2].startswith("share of people in the pixel")
        assert file.units == ("1/km2", "1/km2", "1")
        assert file.tags()["EPSILON"] == "1/3"
        density, std, share = file.read()
        assert density == pytest.approx(1e6 * heat.density, rel=1e-6)
        assert share == pytest.approx(heat.values, rel=1e-6)
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


def test_a_sum_over_an_area_is_its_share(city: Release, tmp_path: Path) -> None:
    """So is what zonal statistics of a GIS tell; a sum of densities depends on how the map stretches pixels."""
    city.heatmap(sigma=CITY.longer_side / 1000).save(tmp_path / "map.tif")
    with rasterio.open(tmp_path / "map.tif") as file:
        column = file.width // 3
        (east,), _ = rasterio.warp.transform(file.crs, "EPSG:4326", [file.xy(0, column, offset="ul")[0]], [0.0])
        density, _, share = file.read().astype(np.float64)
    true = city.areas({"west": (0.0, 40.0, east, 50.0)})["share"][0]
    assert share.sum() == pytest.approx(1.0, abs=1e-5)
    assert share[:, :column].sum() == pytest.approx(true, rel=0.01)
    assert abs(density[:, :column].sum() / true - 1.0) > 0.1


def test_overviews_keep_densities(make_heat: MakeHeat, tmp_path: Path) -> None:
    finest = LARGE.cells(LARGE.depth)
    make_heat(LARGE, np.ones((finest.rows, finest.columns))).save(tmp_path / "map.tif")
    assert len(cog_info(tmp_path / "map.tif").IFD) > 1
    with rasterio.open(tmp_path / "map.tif") as file:
        small = file.read(1, out_shape=(file.height // 4, file.width // 4))
        whole = file.read(1)
    assert small.mean() == pytest.approx(whole.mean(), rel=1e-3)


@pytest.mark.parametrize("zoom", [CITY.depth - 8, CITY.depth - 9])
@pytest.mark.parametrize("sigma", [300.0, 3000.0])
def test_a_geotiff_of_cells_is_the_map_of_that_size(city: Release, tmp_path: Path, zoom: int, sigma: float) -> None:
    domain = replace(CITY, depth=zoom + 8)
    cells = domain.cells(domain.depth)
    coarse, fine = city.heatmap(size=50, sigma=sigma), city.heatmap(size=max(cells.rows, cells.columns), sigma=sigma)
    coarse.save(tmp_path / "map.tif", zooms=(zoom - 2, zoom))
    with rasterio.open(tmp_path / "map.tif") as file:
        density, std, _ = file.read()
        assert file.overviews(1) == [2, 4]
        corner = (cells.x0 / 2.0**domain.depth - 0.5) * EARTH_CIRCUMFERENCE
        assert file.bounds.left == pytest.approx(corner)
        assert file.res[0] == pytest.approx(EARTH_CIRCUMFERENCE / 2.0**domain.depth)
    assert fine.estimate is not None
    share = smooth(fine.estimate.distribution().coarser(domain.depth), sigma, max(cells.rows, cells.columns))
    km2 = domain.lengths_of_cells(domain.depth, cells.y0 + np.arange(cells.rows) + 0.5)[:, None] ** 2 / 1e6
    assert density == pytest.approx((share / km2).astype(np.float32), rel=1e-6, abs=1e-9 * float(density.max()))
    assert fine.uncertainty is not None
    assert std == pytest.approx(density * fine.uncertainty.on(share.shape).relative_std, rel=1e-5, abs=1e-9)
    assert cog_validate(tmp_path / "map.tif", strict=True) == (True, [], [])


def test_a_geotiff_of_the_finest_cells_is_the_whole_map(city: Release, tmp_path: Path) -> None:
    heat = city.heatmap()
    heat.save(tmp_path / "whole.tif")
    heat.save(tmp_path / "cells.tif", zooms=(8, CITY.depth - 8))
    with rasterio.open(tmp_path / "whole.tif") as whole, rasterio.open(tmp_path / "cells.tif") as cells:
        assert (whole.read() == cells.read()).all()
        assert whole.bounds == cells.bounds
        assert whole.tags() == cells.tags()


def test_a_geotiff_of_lower_zooms_adds_cells_up(make_heat: MakeHeat, tmp_path: Path) -> None:
    heat = make_heat(LARGE)
    heat.save(tmp_path / "map.tif", zooms=(8, LARGE.depth - 10))
    with rasterio.open(tmp_path / "map.tif") as file:
        density = file.read(1).astype(np.float64)
        assert not file.read_masks(2).any()
    cells = LARGE.cells(LARGE.depth - 2)
    km2 = LARGE.lengths_of_cells(LARGE.depth - 2, cells.y0 + np.arange(cells.rows) + 0.5)[:, None] ** 2 / 1e6
    assert density.shape == (cells.rows, cells.columns)
    assert (density * km2).sum() == pytest.approx(1.0)


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


def test_tiles_of_a_place_with_few_levels_repeat_cells(make_heat: MakeHeat, tmp_path: Path) -> None:
    world = Domain.bbox(-180, -85.05, 180, 85.05, depth=3)
    heat = make_heat(world)
    heat.save(tmp_path / "map.pmtiles")
    _, tiles = tiles_of(tmp_path / "map.pmtiles")
    picture = picture_of(heat)
    bands = bands_in(tiles[0, 0, 0], len(picture.edges))
    assert (bands == np.repeat(np.repeat(bands[::32, ::32], 32, axis=0), 32, axis=1)).all()
    assert (bands[::32, ::32] == np.searchsorted(picture.edges, picture.values, side="right")).all()


@pytest.mark.parametrize("level", [CITY.depth, CITY.depth - 1])
@pytest.mark.parametrize("sigma", [300.0, 3000.0])
def test_tiles_go_to_the_finest_cells(city: Release, tmp_path: Path, level: int, sigma: float) -> None:
    """Each zoom has the heat that is smoothed at once on the cells of the last, and added up."""
    heat = city.heatmap(size=50, sigma=sigma, method="posterior")
    heat.save(tmp_path / "map.pmtiles", zooms=(level - 12, level - 8))
    _, tiles = tiles_of(tmp_path / "map.pmtiles")
    picture, domain = picture_of(heat), replace(CITY, depth=level)
    cells = domain.cells(level)
    assert heat.estimate is not None
    share = np.zeros([256 * 16 * (n // (256 * 16) + 2) for n in (cells.rows, cells.columns)])
    x0, y0 = (at // (256 * 16) * 256 * 16 for at in (cells.x0, cells.y0))
    at = np.ix_(cells.y0 - y0 + np.arange(cells.rows), cells.x0 - x0 + np.arange(cells.columns))
    share[at] = smooth(heat.estimate.distribution().coarser(level), sigma, max(cells.rows, cells.columns))
    told = {at[0] for at in tiles}
    assert told == set(range(level - 12, level - 7))
    for up in range(5):
        sums = share.reshape(share.shape[0] >> up, 1 << up, share.shape[1] >> up, 1 << up).sum(axis=(1, 3))
        sides = CITY.lengths_of_cells(level - up, (y0 >> up) + np.arange(len(sums)) + 0.5)
        bands = np.searchsorted(picture.edges, picture.unit.factor * sums / (sides**2)[:, None], side="right")
        for (zoom, x, y), pixels in tiles.items():
            if zoom == level - up - 8:
                found = bands_in(pixels, len(picture.edges))
                wanted = bands[256 * y - (y0 >> up) :, 256 * x - (x0 >> up) :][:256, :256]
                shown = found > 0  # what is within the noise is bare
                assert (found[shown] == wanted[shown]).all()


def test_equal_tiles_are_stored_once_and_bare_ones_never(make_heat: MakeHeat, tmp_path: Path) -> None:
    wide = Domain.bbox(0.0, -10.0, 20.0, 10.0, depth=16)
    finest = wide.cells(wide.depth)
    values = np.zeros((finest.rows, finest.columns))
    values[:, : finest.columns // 2] = 1.0
    make_heat(wide, values).save(tmp_path / "map.pmtiles", zooms=(8, 8))
    reader, tiles = tiles_of(tmp_path / "map.pmtiles")
    header = reader.header()
    assert header["addressed_tiles_count"] == len(tiles)
    assert header["tile_contents_count"] <= 12
    assert all(pixels[..., 3].any() for pixels in tiles.values())
    assert len(tiles) == pytest.approx(finest.rows * finest.columns / 2 / 256**2, rel=0.3)


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


@pytest.mark.parametrize("suffix", [".tif", ".pmtiles"])
def test_zooms_beyond_the_finest_cells(make_heat: MakeHeat, tmp_path: Path, suffix: str) -> None:
    with pytest.raises(ParameterError, match=r"zooms must end at 10 or before, .* the last was 11\."):
        make_heat(CITY).save(tmp_path / f"map{suffix}", zooms=(3, 11))
    world = Domain.bbox(-180, -85, 180, 85, depth=28)
    with pytest.raises(ParameterError, match=r"zooms must end where the map has at most 1,000,000 tiles; zoom 11 has "):
        refuse(world, tmp_path / f"map{suffix}", zooms=(3, 11))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("suffix", [".tif", ".pmtiles"])
def test_interrupted_tiles_leave_nothing(
    city: Release, tmp_path: Path, suffix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> Iterator[Strip]:
        yield next(strips_for(city.heatmap(), CITY.depth))
        raise KeyboardInterrupt

    monkeypatch.setattr(f"dpheatmap.render.formats.{MODULES[suffix]}.strips_for", interrupted)
    with pytest.raises(KeyboardInterrupt):
        city.heatmap().save(tmp_path / f"map{suffix}", zooms=(9, 10))
    assert list(tmp_path.iterdir()) == []
