"""CSV of areas in other people's charts: the specifications of the guide are drawn by Vega-Lite itself."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import vl_convert
from geopandas import GeoDataFrame
from PIL import Image
from shapely import box

import dpheatmap as dph
from dpheatmap.cli import run
from dpheatmap.testing import generated_people
from helpers import ROOT

CITY = (-74.1, 40.6, -73.8, 40.9)
SPECIFICATIONS = [json.loads(text) for text in re.findall(
    r"```json\n(.*?)```", (ROOT / "docs/guides/charts.md").read_text(), re.DOTALL
)]  # fmt: skip
ORANGE, PURPLE = (0xFA, 0xA3, 0x4B), (0x89, 0x1B, 0x65)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tables that the guide makes, by its own commands."""
    made = tmp_path_factory.mktemp("charts")
    columns: dict[str, Any] = {"user": "person", "x": "x", "y": "y"}
    city, people = dph.Domain.bbox(*CITY, resolution=200), generated_people(1000, extent=CITY)
    dph.release(people, city, epsilon=1, **columns).save(made / "trips.dph.parquet")
    by_hour = people.project("*, CAST(hash(x) % 86400 AS BIGINT) AS second")
    slices: dict[str, Any] = {"time": "second", "every": "hour-of-day", "time_zone": "UTC"}
    dph.release(by_hour, city, epsilon=2, **slices, **columns).save(made / "hours.dph.parquet")
    districts = {
        "GEOID": ["06075", "06081"],
        "district": ['West, "old"', "Öst"],
        "since": pd.to_datetime(["2024-01-01", ""]),
        "seen": pd.to_datetime(["2024-01-01 08:30", "2024-02-03 00:00"]),
        "open": [True, False],
    }
    halves = [box(-74.1, 40.6, -73.95, 40.9), box(-73.95, 40.6, -73.8, 40.9)]
    GeoDataFrame(districts, geometry=halves, crs=4326).to_file(made / "districts.gpkg")
    named = ["--name", "district"]
    for command in (["trips.dph.parquet", "districts.gpkg", *named], ["hours.dph.parquet", "0"]):
        output = "districts.csv" if named[1] in command else "hours.csv"
        assert (
            run(["areas", *(str(made / part) if "." in part else part for part in command), "-o", str(made / output)])
            == 0
        )
    return made


def test_tables_are_plain(folder: Path) -> None:
    content = (folder / "districts.csv").read_bytes()
    assert content.decode("utf-8").startswith("area,share,low,high,")
    assert b"\r" not in content
    west, east = csv.DictReader(io.StringIO(content.decode()))
    assert [west["GEOID"], west["district"], west["since"], west["open"]] == [
        "06075",
        'West, "old"',
        "2024-01-01",
        "true",
    ]
    assert [west["seen"], east["seen"]] == ["2024-01-01T08:30:00", "2024-02-03T00:00:00"]
    assert [east["since"], east["open"], east["note"]] == ["", "false", ""]
    numbers = [value for name, value in west.items() if name.startswith(("share", "low", "people", "per", "rank"))]
    assert all(re.fullmatch(r"-?\d+(\.\d+)?(e[+-]\d+)?", value) for value in numbers), numbers


def colours_in(picture: bytes) -> Callable[[tuple[int, int, int]], int]:
    pixels = np.asarray(Image.open(io.BytesIO(picture)).convert("RGB"), dtype=np.int64)
    return lambda colour: int((np.abs(pixels - np.array(colour)).sum(axis=2) < 12).sum())


@pytest.mark.parametrize("specification", SPECIFICATIONS, ids=lambda one: one["data"]["url"])
def test_vega_lite_draws_the_guides_charts(folder: Path, specification: dict[str, Any]) -> None:
    """Every field is a column of the table, and marks are drawn for all rows."""
    text = (folder / specification["data"]["url"]).read_text()
    rows = list(csv.DictReader(io.StringIO(text)))
    fields = set(re.findall(r'"field": "(\w+)"', json.dumps(specification)))
    assert fields <= set(rows[0])
    inline = {**specification, "data": {"values": text, "format": specification["data"]["format"]}}
    picture = vl_convert.vegalite_to_png(json.dumps(inline), scale=2)
    assert colours_in(picture)(PURPLE) > 100
    svg = vl_convert.vegalite_to_svg(json.dumps(inline))
    assert "NaN" not in svg
    if len(rows) == 2:
        assert colours_in(picture)(ORANGE) > 100
        assert svg.count('aria-roledescription="rule mark"') == 2
        assert "GEOID: 06075" in svg


def test_there_are_two_charts() -> None:
    assert [one["data"]["url"] for one in SPECIFICATIONS] == ["districts.csv", "hours.csv"]
