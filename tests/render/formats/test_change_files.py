"""Files of a difference for map tools and tables: the same numbers in each, which add up to no change."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import geopandas
import numpy as np
import pytest
import rasterio

import dpheatmap as dph
from dpheatmap.errors import ParameterError
from dpheatmap.estimate.distribution import Distribution
from dpheatmap.place.quadtree import encode
from dpheatmap.testing import generated_people, seeded_release

CITY = dph.Domain.bbox(7.30, 46.90, 7.50, 47.02, resolution=200)
SCREEN = dph.Domain.image(64, 48)


def change_of(domain: dph.Domain) -> dph.Difference:
    both = (
        seeded_release(
            generated_people(n, extent=domain.extent), domain, seed=n, epsilon=1, user="person", x="x", y="y"
        )
        for n in (800, 2000)
    )
    return dph.difference(*both, size=80)


@pytest.fixture(scope="module")
def change() -> dph.Difference:
    return change_of(CITY)


def test_a_geotiff_has_changes_that_add_up_to_none(change: dph.Difference, tmp_path: Path) -> None:
    change.save(tmp_path / "d.tif")
    with rasterio.open(tmp_path / "d.tif") as file:
        density, std, significant, share = file.read()
        assert file.descriptions[3] == "change of the share of people in the pixel: add these up over an area"
        assert file.descriptions[2].startswith("1 where the change is significant")
        tags = file.tags()
    assert change.std is not None
    assert share == pytest.approx(change.values, rel=1e-5, abs=1e-9)
    assert density == pytest.approx(change.values / change.after.pixel_areas[:, None] * 1e6, rel=1e-5, abs=1e-9)
    assert std == pytest.approx(change.std / change.after.pixel_areas[:, None] * 1e6, rel=1e-5)
    assert significant.tolist() == change.significant().astype(float).tolist()
    assert abs(share.sum()) < 1e-6
    assert (tags["EPSILON_OF_BOTH_TOGETHER"], tags["BEFORE_EPSILON"]) == ("2", "1")
    assert "Not private" in tags["AFTER_WARNING"]


def test_a_table_has_every_pixel(change: dph.Difference, tmp_path: Path) -> None:
    change.save(tmp_path / "d.csv")
    with (tmp_path / "d.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == ["lon", "lat", "change", "std", "significant"]
    assert [int(row["significant"]) for row in rows] == change.significant().ravel().astype(int).tolist()
    assert np.array([float(row["change"]) for row in rows]).reshape(change.values.shape).tolist() == (
        change.values.tolist()
    )
    assert float(rows[0]["lat"]) > float(rows[-1]["lat"])


def test_cells_are_the_smallest_of_both_releases(change: dph.Difference, tmp_path: Path) -> None:
    change.save(tmp_path / "d.geojson")
    change.save(tmp_path / "d.parquet")
    frame = geopandas.read_parquet(tmp_path / "d.parquet")
    collection = json.loads((tmp_path / "d.geojson").read_text())
    listed = [feature["properties"] for feature in collection["features"]]
    assert [each["change"] for each in listed] == frame["change"].tolist()
    assert collection["dpheatmap"]["epsilon_of_both_together"] == "2"
    assert [each["significant"] for each in listed] == frame["significant"].tolist()
    sure = frame["change"].abs() / frame["std"]
    assert frame["significant"].dtype == bool
    assert 0 < frame["significant"].sum() < len(frame)
    assert sure[frame["significant"]].min() >= sure[~frame["significant"]].max(), "the clearest changes"
    assert change.before.estimate is not None
    assert change.after.estimate is not None
    before, after = change.before.estimate.leaves(), change.after.estimate.leaves()
    assert len(frame) >= max(len(before), len(after))
    assert abs(frame["change"].sum()) < 1e-9
    area = frame.to_crs(3857).union_all().area
    assert area == pytest.approx(frame.to_crs(3857).area.sum(), rel=1e-6)  # they cover the place, and don't overlap
    level, x, y = (frame[name].to_numpy() for name in ("level", "x", "y"))
    shown = Distribution(CITY, level, encode(x, y), frame["change"].to_numpy(), 1.0).raster(40, 30)
    one, other = (
        Distribution(CITY, each.levels, each.codes, each.share, 1.0).raster(40, 30) for each in (after, before)
    )
    assert shown == pytest.approx(one - other, abs=1e-12)


def test_images_have_tables_alone(tmp_path: Path) -> None:
    change = change_of(SCREEN)
    change.save(tmp_path / "d.csv")
    change.save(tmp_path / "d.parquet")
    for suffix in (".tif", ".geojson"):
        with pytest.raises(ParameterError, match="lies on the ground"):
            change.save(tmp_path / f"d{suffix}")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["d.csv", "d.parquet"]
