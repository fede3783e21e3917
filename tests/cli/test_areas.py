"""The command areas writes whole tables of every format, says what to note, and refuses what it can't read."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import geopandas
import h3
import pandas
import pytest
import shapely
from pyarrow import parquet

import dpheatmap as dph
from dpheatmap.cli import run
from dpheatmap.testing import CITY, generated_people


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("areas")
    domain = dph.Domain.bbox(*CITY, resolution=400)
    people = generated_people(800, extent=CITY)
    dph.release(people, domain, epsilon=2, user="person", x="x", y="y").save(folder / "city.dph.parquet")
    west, south, east, north = CITY
    middle = (west + east) / 2
    halves = [shapely.box(west, south, middle, north), shapely.box(middle, south, east + 1, north)]
    frame = geopandas.GeoDataFrame({"half": ["West", "=1+1"]}, geometry=halves, crs=4326)
    frame.to_file(folder / "halves.gpkg")
    return folder


def test_a_place_with_a_boundary_is_told_by_its_area(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    corners = [[7.3, 46.9], [7.5, 46.9], [7.4, 47.0], [7.3, 46.9]]
    (tmp_path / "city.geojson").write_text(json.dumps({"type": "Polygon", "coordinates": [corners]}))
    (tmp_path / "t.csv").write_text("u,lon,lat\na,7.4,46.95\n")
    columns = ["--epsilon", "1", "--user", "u", "--x", "lon", "--y", "lat", "-o", str(tmp_path / "m.dph.parquet")]
    assert run(["release", str(tmp_path / "t.csv"), *columns, "--inside", str(tmp_path / "city.geojson")]) == 0
    told = capsys.readouterr().err
    assert "The boundary encloses 85 km²; the box around it is 15 km wide and 11 km high." in told


def areas(desk: Path, *more: str) -> int:
    return run(["areas", str(desk / "city.dph.parquet"), str(desk / "halves.gpkg"), *more])


def test_every_format_holds_the_same_numbers(desk: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = [desk / f"out.{ending}" for ending in ("csv", "geojson", "gpkg", "parquet")]
    assert areas(desk, *(word for file in files for word in ("-o", str(file)))) == 0
    told = capsys.readouterr()
    assert told.out.split() == [str(file) for file in files]
    assert "1 of 2 areas: partly outside the place (=1+1)." in told.err
    with files[0].open() as file:
        rows = list(csv.DictReader(file))
    assert [row["area"] for row in rows] == ["West", "'=1+1"], "no spreadsheet takes a name for a formula"
    people = [float(row["people"]) for row in rows]
    assert sum(people) == pytest.approx(800, rel=0.1)
    collection = json.loads(files[1].read_text())
    assert [feature["properties"]["people"] for feature in collection["features"]] == pytest.approx(people)
    assert "epsilon" in json.dumps(collection["dpheatmap"]), "the file says how it was made"
    for frame in (geopandas.read_file(files[2]), geopandas.read_parquet(files[3])):
        assert frame["people"].tolist() == pytest.approx(people)
        assert frame.crs == 4326


def test_the_table_is_printed_most_people_first(desk: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert areas(desk) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["area", "people", "between", "share"]
    assert [line.split()[0] for line in lines[1:]] == ["1.", "2."]
    assert areas(desk, "--json") == 0
    told = json.loads(capsys.readouterr().out)
    assert {area["area"] for area in told["areas"]} == {"West", "=1+1"}
    assert run(["areas", str(desk / "city.dph.parquet"), "14"]) == 0
    assert "more: write them to a file with -o" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("more", "saying"),
    [
        (["-o", "areas.xlsx"], "must end in one of .csv, .geojson, .gpkg, .parquet"),
        (["--confidence", "1.5"], "confidence must be"),
        (["--name", "town"], "no column 'town', but half"),
        (["--layer", "towns"], "no layer 'towns'"),
    ],
)
def test_bad_options_are_told(desk: Path, more: list[str], saying: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert areas(desk, *more) != 0
    assert saying in capsys.readouterr().err


def test_an_old_file_stays_if_the_areas_are_broken(desk: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output, broken = desk / "kept.csv", desk / "broken.gpkg"
    output.write_text("old")
    broken.write_bytes(b"SQLite format 3\x00 and nothing else")
    assert run(["areas", str(desk / "city.dph.parquet"), str(broken), "-o", str(output)]) != 0
    assert "can't be read as GeoPackage" in capsys.readouterr().err
    assert output.read_text() == "old"


def test_images_have_no_place_on_the_ground(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    domain = dph.Domain.image(64, 48)
    people: Any = generated_people(100, extent=(0, 0, 64, 48))
    dph.release(people, domain, epsilon=2, user="person", x="x", y="y").save(tmp_path / "gaze.dph.parquet")
    command = ["areas", str(tmp_path / "gaze.dph.parquet"), "2", "-o"]
    assert run([*command, str(tmp_path / "cells.geojson")]) != 0
    assert "GeoJSON" in capsys.readouterr().err
    assert run([*command, str(tmp_path / "cells.csv")]) == 0
    assert run([*command, str(tmp_path / "cells.parquet")]) == 0


def test_areas_outside_the_place_have_no_numbers(desk: Path, capsys: pytest.CaptureFixture[str]) -> None:
    west, south, east, north = CITY
    shapes = [shapely.box(west, south, east, north), shapely.box(0, 0, 1, 1)]
    geopandas.GeoDataFrame({"n": ["in", "out"]}, geometry=shapes, crs=4326).to_file(desk / "far.gpkg")
    command = ["areas", str(desk / "city.dph.parquet"), str(desk / "far.gpkg")]
    files = [desk / f"far.{ending}" for ending in ("csv", "geojson", "out.gpkg", "parquet", "png", "html")]
    assert run([*command, *(word for file in files for word in ("-o", str(file)))]) == 0
    told = capsys.readouterr()
    assert "1 of 2 areas: outside the place (out)." in told.err
    assert "The areas' names are those of the column 'n'." in told.err
    row = files[0].read_text().splitlines()[2]
    assert row == f"out{',' * 13}outside the place: not counted,out"
    properties = json.loads(files[1].read_text())["features"][1]["properties"]
    assert (properties["people"], properties["rank"]) == (None, None)
    for frame in (geopandas.read_file(files[2]), geopandas.read_parquet(files[3])):
        assert frame[["share", "people", "rank"]].loc[1].isna().all()
    assert run(command) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[2].split(maxsplit=1) == ["out", "outside the place: not counted"]
    assert run([*command, "--json"]) == 0
    listed = json.loads(capsys.readouterr().out, parse_constant=pytest.fail)["areas"]
    assert (listed[1]["people"], listed[1]["rank"]) == (None, None)


def test_files_keep_the_columns_that_areas_came_with(desk: Path, capsys: pytest.CaptureFixture[str]) -> None:
    west, south, east, north = CITY
    own = {
        "half": ["x"], "People": [7], "share": ["a half"], "fid": ["f"], "when": pandas.to_datetime(["2024-05-01"]),
        "tags": [["a", "b"]],
    }  # fmt: skip
    frame = geopandas.GeoDataFrame(own, geometry=[shapely.box(west, south, east, north)], crs=4326)
    frame.to_parquet(desk / "own.parquet")
    files = [desk / f"kept.{ending}" for ending in ("csv", "geojson", "gpkg", "parquet")]
    command = ["areas", str(desk / "city.dph.parquet"), str(desk / "own.parquet"), "--name", "half"]
    assert run([*command, *(word for file in files for word in ("-o", str(file)))]) == 0
    capsys.readouterr()
    with files[0].open() as file:
        (row,) = csv.DictReader(file)
    kept = ["half", "People_input", "share_input", "fid_input", "when", "tags"]
    assert list(row)[-6:] == kept
    assert float(row["share"]) == pytest.approx(1.0, abs=0.01)
    assert (row["share_input"], row["People_input"]) == ("a half", "7")
    (feature,) = json.loads(files[1].read_text())["features"]
    assert feature["properties"]["share_input"] == "a half"
    for read in (geopandas.read_file(files[2]), geopandas.read_parquet(files[3])):
        assert read["share_input"].tolist() == ["a half"]
        assert [column for column in kept if column not in read.columns] == []


def test_geoparquet_has_the_privacy_label(desk: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert areas(desk, "-o", str(desk / "label.parquet")) == 0
    capsys.readouterr()
    told = json.loads(parquet.read_schema(desk / "label.parquet").metadata[b"dpheatmap"])
    assert told == dict(dph.load(desk / "city.dph.parquet").label)


def test_what_is_no_polygon_is_told_in_a_line(desk: Path, capsys: pytest.CaptureFixture[str]) -> None:
    west, south, east, north = CITY
    shapes = [shapely.Point(west, south), shapely.box(west, south, east, north)]
    geopandas.GeoSeries(shapes, crs=4326).to_file(desk / "mixed.geojson")
    assert run(["areas", str(desk / "city.dph.parquet"), str(desk / "mixed.geojson")]) == 0
    assert "Check the areas: 1 of 2 areas are no polygons, and are left out.\n" in capsys.readouterr().err


def test_areas_elsewhere_are_bad_data(desk: Path, capsys: pytest.CaptureFixture[str]) -> None:
    geopandas.GeoSeries([shapely.box(0, 0, 1, 1)], crs=4326).to_file(desk / "elsewhere.geojson")
    assert run(["areas", str(desk / "city.dph.parquet"), str(desk / "elsewhere.geojson")]) == 3
    assert "All of the areas lie outside the place" in capsys.readouterr().err


def test_codes_and_systems_are_taken_on_the_command_line(desk: Path, capsys: pytest.CaptureFixture[str]) -> None:
    release = str(desk / "city.dph.parquet")
    assert run(["areas", release, "h3:6"]) == 0
    west, south, east, north = CITY
    cell = h3.latlng_to_cell((south + north) / 2, (west + east) / 2, 7)
    assert run(["areas", release, cell, "--json"]) == 0
    assert run(["areas", release, "99"]) == 2
    told = capsys.readouterr()
    assert cell in told.out
    assert "levels 0 to" in told.err
    frame = geopandas.read_file(desk / "halves.gpkg").to_crs(2056).set_crs(None, allow_override=True)
    frame.to_parquet(desk / "untold.parquet")
    assert run(["areas", release, str(desk / "untold.parquet")]) == 3
    assert run(["areas", release, str(desk / "untold.parquet"), "--areas-crs", "EPSG:2056"]) == 0
