"""Files of places: the table, GeoJSON whose catchments part the domain, and the map; and the command."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from shapely.geometry import Polygon, box, shape
from shapely.ops import unary_union

import dpheatmap as dph
from dpheatmap.cli import run
from dpheatmap.errors import ParameterError
from dpheatmap.estimate.places import Places, kmedian
from dpheatmap.place.domain import Domain
from dpheatmap.render.figure.canvas import Box
from dpheatmap.render.figure.catchments import catchments
from dpheatmap.render.figure.heat_figure import figure_of
from dpheatmap.render.figure.outline import outlines
from dpheatmap.render.figure.place_marks import number_spots
from dpheatmap.testing import seeded_release
from helpers.people import people_in

CITY = Domain.bbox(-74.1, 40.6, -73.8, 40.9, depth=16)


def places_in(domain: Domain, k: int = 6, metric: str = "l1") -> Places:
    return kmedian(seeded_release(people_in(domain, 1000), seed=1, epsilon=2), k, metric=metric)


@pytest.mark.parametrize("seed", range(6))
def test_outlines_enclose_what_is_marked(seed: int) -> None:
    """Against the union of squares, on regions with holes and with cells that touch at corners."""
    marked = np.random.default_rng(seed).random((9, 12)) < (0.35, 0.6, 0.8)[seed % 3]
    squares = unary_union([box(x, y, x + 1, y + 1) for y, x in zip(*np.nonzero(marked), strict=True)])
    area = 0.0
    for ring in outlines(marked):
        x, y = ring.T
        area += float(np.sum(x * np.roll(y, -1) - np.roll(x, -1) * y)) / 2
        assert Polygon(ring).is_valid
        assert Polygon(ring).exterior.buffer(1e-6).difference(squares.boundary.buffer(1e-5)).is_empty
    assert area == marked.sum()


def test_the_table(tmp_path: Path) -> None:
    places = places_in(CITY)
    places.save(tmp_path / "places.csv")
    with (tmp_path / "places.csv").open() as file:
        rows = list(csv.DictReader(file))
    sure = ["people_low", "people_high"]
    assert list(rows[0]) == ["place", "lon", "lat", "people", *sure, "share", "distance_in_metres"]
    assert [float(row["people"]) for row in rows] == pytest.approx(places.weights, rel=1e-9)
    for name, ends in zip(sure, places.intervals(), strict=True):
        assert [float(row[name]) for row in rows] == pytest.approx(ends, rel=1e-9)
    centres = [[float(row["lon"]), float(row["lat"])] for row in rows]
    np.testing.assert_allclose(centres, places.centres, rtol=1e-9)


def test_without_the_posterior_there_is_no_interval(tmp_path: Path) -> None:
    release = seeded_release(people_in(CITY, 1000), seed=1, epsilon=2, design="paper")
    kmedian(release, 3, method="paper").save(tmp_path / "places.csv")
    assert (tmp_path / "places.csv").read_text().splitlines()[0] == "place,lon,lat,people,share,distance_in_metres"


@pytest.mark.parametrize("metric", ["l1", "euclidean"])
def test_catchments_part_the_domain(metric: str, tmp_path: Path) -> None:
    places = places_in(CITY, metric=metric)
    places.save(tmp_path / "places.geojson")
    found = json.loads((tmp_path / "places.geojson").read_text())
    assert found["dpheatmap"]["epsilon"] == "2"
    assert "Not private" in found["dpheatmap"]["warning"]
    assert found["dpheatmap"]["distance_in_metres"] == places.cost
    of = {kind: [f for f in found["features"] if f["properties"]["kind"] == kind] for kind in ("centre", "catchment")}
    areas = [shape(feature["geometry"]) for feature in of["catchment"]]
    assert all(area.is_valid for area in areas)
    assert all(area.exterior.is_ccw for many in areas for area in many.geoms)
    whole = box(*CITY.bounds)
    assert sum(area.area for area in areas) == pytest.approx(whole.area, rel=1e-6)
    assert unary_union(areas).area == pytest.approx(whole.area, rel=1e-6)
    for point, area in zip(of["centre"], areas, strict=True):
        assert shape(point["geometry"]).within(area.buffer(1e-3))
        assert point["properties"]["people"] > 0


@pytest.mark.parametrize(
    "domain", [CITY, Domain.image(64, 48), Domain.unit(5), Domain.image(3, 90)], ids=lambda d: d.kind
)
def test_the_map_shows_borders_and_centres(domain: Domain, tmp_path: Path) -> None:
    places = places_in(domain, 4)
    places.save(tmp_path / "places.png")
    places.release.heatmap().save(tmp_path / "heat.png")
    box = figure_of(places.release.heatmap()).layout.map
    with Image.open(tmp_path / "places.png") as drawn, Image.open(tmp_path / "heat.png") as heat:
        assert drawn.size == heat.size
        pair = [np.asarray(one.crop(box).convert("RGB"), int) for one in (drawn, heat)]
    changed = np.abs(pair[0] - pair[1]).max(axis=2) > 40
    assert 0.002 < changed.mean() < 0.15


def test_borders_are_where_the_nearest_place_changes() -> None:
    places = places_in(Domain.image(64, 48), 3)
    nearest = catchments(places, 64, 48)
    for row, column in ((3, 4), (40, 60), (24, 30)):
        away = np.abs(places.centres - [column + 0.5, row + 0.5]).sum(axis=1)
        assert away[nearest[row, column]] == away.min()


def test_numbers_stand_where_there_is_room() -> None:
    """To the right, unless a ring is there or the picture ends; every number inside, none over another's ring."""
    box = Box(0, 0, 400, 200)
    centres = [(50.0, 50.0), (76.0, 50.0), (390.0, 50.0), (200.0, 100.0), (228.0, 100.0), (172.0, 100.0), (200.0, 72.0)]
    spots = number_spots(centres, box, 9.0, 14.0)
    sides = [
        "right" if x > at[0] + 9 else "left" if x < at[0] - 9 else "above" if y < at[1] else "below"
        for at, spot in zip(centres, spots, strict=True)
        if spot is not None
        for x, y, _ in [spot]
    ]
    assert sides == ["left", "right", "left", "below", "right", "left", "right"]
    assert spots == number_spots(centres, box, 9.0, 14.0)
    crowd = [(100.0 + 15 * (k % 5), 100.0 + 15 * (k // 5)) for k in range(25)]
    numbered = [spot is not None for spot in number_spots([*crowd, (300.0, 100.0)], box, 9.0, 14.0)]
    assert numbered[0], "the busiest at a free edge"
    assert not numbered[12], "nowhere in the middle of a crowd"
    assert numbered[-1], "where there is room"


@pytest.mark.parametrize("suffix", [".svg", ".pdf"])
def test_pictures_for_print(suffix: str, tmp_path: Path) -> None:
    places_in(CITY, 3).save(tmp_path / f"places{suffix}")
    assert (tmp_path / f"places{suffix}").read_bytes()[:5] in (b"<?xml", b"%PDF-")


@pytest.mark.parametrize(
    ("domain", "name", "words"),
    [(CITY, "places.html", "must be one of .csv"), (Domain.unit(4), "places.geojson", "lies on the ground")],
)
def test_files_that_cannot_be(domain: Domain, name: str, words: str, tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match=words):
        places_in(domain).save(tmp_path / name)
    assert not list(tmp_path.iterdir())


# The command


@pytest.fixture
def saved(tmp_path: Path) -> str:
    path = str(tmp_path / "city.dph.parquet")
    dph.release(people_in(CITY, 1000), epsilon=2).save(path)
    return path


def test_the_command_writes_and_tells(saved: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    outputs = [str(tmp_path / name) for name in ("places.geojson", "places.csv")]
    assert run(["cluster", saved, "-k", "4", *(part for path in outputs for part in ("-o", path))]) == 0
    out, err = capsys.readouterr()
    assert out.split() == outputs
    assert "from the nearest place on average (l1)" in err
    assert all(Path(path).stat().st_size > 100 for path in outputs)


def test_without_a_file_the_table_is_printed_or_json(saved: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["cluster", saved, "-k", "3"]) == 0
    out = capsys.readouterr().out
    assert len(out.splitlines()) == 4
    assert len({len(line) for line in out.splitlines()}) == 1, "aligned"
    assert run(["cluster", saved, "-k", "3", "--metric", "euclidean", "--json"]) == 0
    answer: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert answer["metric"] == "euclidean"
    assert answer["unit"] == "m"
    assert all(place["people_low"] < place["people"] < place["people_high"] for place in answer["places"])
    assert [place["place"] for place in answer["places"]] == [1, 2, 3]


@pytest.mark.parametrize(
    ("extra", "words"),
    [(["-k", "0"], "k must be"), (["-k", "2", "--metric", "manhattan"], "metric must be"),
     (["-k", "2", "-o", "map.tif"], "An output must end in one of"), (["-k", "2", "--method", "paper"], "posterior")],
)  # fmt: skip
def test_the_command_refuses(saved: str, extra: list[str], words: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["cluster", saved, *extra]) == 2
    assert words in capsys.readouterr().err
