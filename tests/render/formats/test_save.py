from __future__ import annotations

import csv
import os
import re
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pytest

from dpheatmap.errors import DpheatmapError, ParameterError
from dpheatmap.heatmap.heatmap import Heatmap
from dpheatmap.place.domain import Domain
from dpheatmap.releases.release import Release
from dpheatmap.render import FORMATS, refuse
from dpheatmap.render.content.look import Look
from dpheatmap.render.formats import png
from dpheatmap.render.formats.metadata import facts
from render.conftest import released

MakeHeat = Callable[..., Heatmap]
CITY, IMAGE = Domain.bbox(6.9, 50.9, 7.3, 51.0, depth=12), Domain.image(7, 5)


@pytest.mark.parametrize("name", ["map", "map.", "map.jpg", "map.png.bak", "png"])
def test_an_unknown_suffix_gets_the_known_ones(make_heat: MakeHeat, tmp_path: Path, name: str) -> None:
    with pytest.raises(ParameterError, match=r"must be one of \.png, .*, \.html; the file was '.*"):
        make_heat(IMAGE).save(tmp_path / name)
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("suffix", [*FORMATS, ".PNG", ".Npz", ".CSV"])
def test_every_format_is_written_whole_and_again(city: Release, tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"a map{suffix}"
    city.heatmap().save(str(path))
    first = path.read_bytes()
    released(CITY).heatmap().save(path)
    assert path.read_bytes() != first
    assert os.listdir(tmp_path) == [path.name]


@pytest.mark.parametrize(
    ("name", "option", "words"),
    [
        ("map.tif", {"bare": True}, "bare is no option of .tif files"),
        ("map.png", {"h3": 8}, "h3 is no option of .png files"),
        ("map.geojson", {"zooms": (3, 4)}, "zooms is no option of .geojson files"),
        ("map.npz", {"style": "smooth"}, "style is no option of .npz files"),
        ("map.csv", {"what": "clicks"}, "what is no option of .csv files"),
        ("map.tif", {"limits": (1, 50)}, "limits is no option of .tif files"),
    ],
)
def test_an_option_that_a_format_does_not_take(
    make_heat: MakeHeat, tmp_path: Path, name: str, option: dict[str, Any], words: str
) -> None:
    with pytest.raises(ParameterError, match=re.escape(words)):
        make_heat(CITY).save(tmp_path / name, **option)
    assert os.listdir(tmp_path) == []


def test_a_failure_leaves_the_old_file(make_heat: MakeHeat, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "map.png"
    path.write_bytes(b"old")

    def fail(heat: Heatmap, path: Path, look: Look) -> None:
        path.write_bytes(b"half")
        raise MemoryError

    monkeypatch.setattr(png, "write", fail)
    with pytest.raises(MemoryError):
        make_heat(IMAGE).save(path)
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["map.png"]


@pytest.mark.parametrize("suffix", FORMATS)
def test_a_missing_folder(make_heat: MakeHeat, tmp_path: Path, suffix: str) -> None:
    with pytest.raises(DpheatmapError, match="could not be written: No such file or directory"):
        make_heat(CITY).save(tmp_path / "none" / f"map{suffix}")


def test_npz_round_trips(make_heat: MakeHeat, tmp_path: Path) -> None:
    heat = make_heat(CITY, seeded=True)
    heat.save(tmp_path / "map.npz")
    with np.load(tmp_path / "map.npz", allow_pickle=False) as data:
        assert (data["values"] == heat.values).all()
        assert (data["x"] == heat.x).all()
        assert (data["y"] == heat.y).all()
        assert tuple(data["bounds"]) == CITY.bounds
        assert Fraction(str(data["epsilon"])) == heat.epsilon
        assert float(data["sigma"]) == heat.sigma
        assert str(data["sigma_unit"]) == "m"
        assert (str(data["kind"]), str(data["crs"]), str(data["grid_crs"])) == ("bbox", "EPSG:4326", "EPSG:3857")
        assert bool(data["seeded"])
        assert not bool(data["empty"])
        assert str(data["made"]) == "2026-01-31T00:00:00+00:00"
    make_heat(IMAGE).save(tmp_path / "image.npz")
    with np.load(tmp_path / "image.npz") as data:
        assert (str(data["kind"]), str(data["crs"]), str(data["sigma_unit"])) == ("image", "", "px")


@pytest.mark.parametrize(
    ("domain", "names"), [(CITY, ("lon", "lat")), (IMAGE, ("x", "y")), (Domain.unit(3), ("x", "y"))]
)
def test_csv_read_by_pandas(make_heat: MakeHeat, tmp_path: Path, domain: Domain, names: tuple[str, str]) -> None:
    heat = make_heat(domain)
    heat.save(tmp_path / "map.csv")
    table = pd.read_csv(tmp_path / "map.csv")
    assert list(table.columns) == [*names, "share"]
    assert (table["share"].to_numpy() == heat.values.ravel()).all()
    assert (table[names[0]].to_numpy().reshape(heat.values.shape) == heat.x).all()
    assert (table[names[1]].to_numpy().reshape(heat.values.shape) == heat.y[:, None]).all()


def test_uncertainty_is_written_where_it_is_known(make_heat: MakeHeat, tmp_path: Path) -> None:
    std = np.random.default_rng(0).random((5, 7))
    heat = make_heat(Domain.image(7, 5), std=std)
    heat.save(tmp_path / "map.csv")
    heat.save(tmp_path / "map.npz")
    table = pd.read_csv(tmp_path / "map.csv")
    assert list(table.columns) == ["x", "y", "share", "std"]
    assert heat.std is not None
    assert heat.std == pytest.approx(std)
    assert (table["std"].to_numpy().reshape(5, 7) == heat.std).all()
    with np.load(tmp_path / "map.npz") as stored:
        assert (stored["std"] == heat.std).all()


def test_csv_read_by_duckdb(make_heat: MakeHeat, tmp_path: Path) -> None:
    heat = make_heat(CITY)
    heat.save(tmp_path / "map.csv")
    lon, lat, share = (
        duckdb.connect()
        .execute(f"select lon, lat, share from read_csv('{tmp_path}/map.csv') order by share desc limit 1")
        .fetchall()[0]
    )
    row, column = np.unravel_index(heat.values.argmax(), heat.values.shape)
    assert (lon, lat, share) == (heat.x[column], heat.y[row], heat.values.max())
    finest = CITY.cells(CITY.depth)
    x, y, inside = CITY.locate([lon], [lat])
    assert inside.all()
    assert (x[0] - finest.x0, y[0] - finest.y0) == (column, row)


def test_csv_has_small_shares_in_full(make_heat: MakeHeat, tmp_path: Path) -> None:
    values = np.array([[1.0, 1e-300], [np.pi * 1e-7, 5e-324]])
    make_heat(Domain.unit(1), values).save(tmp_path / "map.csv")
    with open(tmp_path / "map.csv", newline="") as file:
        shares = [float(row["share"]) for row in csv.DictReader(file)]
    assert shares == (values / values.sum()).ravel().tolist()


@pytest.mark.parametrize(
    ("domain", "title"),
    [(CITY, "Where people are"), (IMAGE, "Where people looked"), (Domain.unit(3), "Where the mass is")],
    ids=["ground", "image", "unit square"],
)
def test_metadata_name_a_map_by_its_kind_of_place(make_heat: MakeHeat, domain: Domain, title: str) -> None:
    assert facts(make_heat(domain))["title"] == title


@pytest.mark.parametrize("suffix", [".png", ".svg", ".html"])
def test_limits_that_do_not_fit_are_refused_before_anything_is_spent(tmp_path: Path, suffix: str) -> None:
    with pytest.raises(ParameterError, match="limits must have one to 6 of the steps"):
        refuse(CITY, tmp_path / f"map{suffix}", limits=(3, 4))
    refuse(CITY, tmp_path / f"map{suffix}", limits=(1, 50))
