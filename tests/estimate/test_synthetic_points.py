"""Synthetic points lie where the map says, inside the place, and are the same each time."""

from __future__ import annotations

import json
from pathlib import Path

import duckdb
import geopandas
import numpy as np
import pytest

import dpheatmap as dph
from dpheatmap.cli import run
from dpheatmap.estimate.areas.area_source import read_areas
from dpheatmap.estimate.areas.coverage import cover
from dpheatmap.render.formats.point_file import save
from dpheatmap.testing import CITY, generated_people, seeded_release


@pytest.fixture(scope="module")
def city() -> dph.Release:
    counts = dph.aggregate(
        generated_people(2000, extent=CITY), dph.Domain.bbox(*CITY, resolution=150), user="person", x="x", y="y"
    )
    return seeded_release(counts, seed=3, epsilon=2)


def test_points_are_where_the_map_says(city: dph.Release) -> None:
    """A chi-square of 15 degrees of freedom is above 65 with probability 4e-8."""
    points, west, south, east, north = 20_000, *CITY
    drawn = city.sample(points, seed=4)
    assert drawn["x"].between(west, east).all()
    assert drawn["y"].between(south, north).all()
    wide, high = (east - west) / 4, (north - south) / 4
    columns = np.minimum(((drawn["x"] - west) / wide).astype(int), 3)
    rows = np.minimum(((drawn["y"] - south) / high).astype(int), 3)
    across = [west - 1, *(west + k * wide for k in (1, 2, 3)), east + 1]  # the outer cells reach beyond the place
    down = [south - 1, *(south + k * high for k in (1, 2, 3)), north + 1]
    parts = {f"{j} {i}": (across[i], down[j], across[i + 1], down[j + 1]) for j in range(4) for i in range(4)}
    shown = city.distribution()
    shapes = read_areas(parts, city.domain).shapes(city.domain)
    expected = points * cover(shapes, city.domain, shown.levels, shown.codes).total(shown.mass)
    found = np.bincount(4 * rows + columns, minlength=16)
    assert np.sum((found - expected) ** 2 / expected) < 65


def test_the_same_seed_gives_the_same_points(city: dph.Release) -> None:
    assert city.sample(50).equals(city.sample(50))
    assert city.sample(50, seed=1).equals(city.sample(50, seed=1))
    assert not city.sample(50, seed=1).equals(city.sample(50, seed=2))
    assert not city.sample(50, seed=1).equals(city.sample(50, seed=1, uncertain=True))


def test_files_say_what_points_are(city: dph.Release, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    city.save(tmp_path / "city.dph.parquet")
    files = [tmp_path / f"points.{ending}" for ending in ("csv", "parquet", "geojson")]
    command = ["sample", str(tmp_path / "city.dph.parquet"), "-n", "70"]
    assert run([*command, *(word for file in files for word in ("-o", str(file)))]) == 0
    told = capsys.readouterr()
    assert told.out.split() == [str(file) for file in files]
    assert "No point is a person" in told.err
    assert len(files[0].read_text().splitlines()) == 71
    with duckdb.connect() as con:
        assert len(con.execute(f"FROM '{files[1]}'").fetchall()) == 70
        kept = con.execute(f"SELECT decode(value) FROM parquet_kv_metadata('{files[1]}')").fetchall()
    assert any("No point is a person" in value for (value,) in kept)
    assert ("2",) in kept, "epsilon"
    frame = geopandas.read_parquet(files[1])
    assert frame.crs == 4326
    assert [*frame.columns] == ["x", "y", "geometry"]
    assert frame.geometry.x.tolist() == frame["x"].tolist()
    collection = json.loads(files[2].read_text())
    assert {feature["geometry"]["type"] for feature in collection["features"]} == {"Point"}
    assert len(collection["features"]) == 70
    assert "No point is a person" in collection["dpheatmap"]["about"]
    assert collection["dpheatmap"]["epsilon"] == "2"


def test_points_of_an_image_are_a_plain_table(tmp_path: Path) -> None:
    people = generated_people(100, extent=(0, 0, 64, 48))
    made = seeded_release(people, dph.Domain.image(64, 48), seed=1, epsilon=2, user="person", x="x", y="y")
    save(made.sample(5), tmp_path / "points.parquet")
    with duckdb.connect() as con:
        found = con.execute(f"DESCRIBE FROM '{tmp_path / 'points.parquet'}'").fetchall()
    assert [row[0] for row in found] == ["x", "y"]


def test_bad_requests_are_told(city: dph.Release, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    city.save(tmp_path / "city.dph.parquet")
    command = ["sample", str(tmp_path / "city.dph.parquet"), "-o", str(tmp_path / "points.csv"), "-n"]
    assert run([*command, "0"]) != 0
    assert "points must be a whole number" in capsys.readouterr().err
    assert run([*command, "5", "--seed", "-1"]) != 0
    assert "seed must be" in capsys.readouterr().err
    assert not (tmp_path / "points.csv").exists()
