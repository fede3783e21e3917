"""People in areas that a stranger sends: the same numbers as in Python, and no request does harm."""

from __future__ import annotations

import asyncio
import csv
import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest

import dpheatmap as dph
from dpheatmap.errors import ParameterError
from dpheatmap.serve.area_requests import MOST_AREAS, AreaQuestion, AreaService, BusyError, collection_of
from dpheatmap.serve.catalogue import read_catalogue

WEST = [[[-74.1, 40.6], [-73.95, 40.6], [-73.95, 40.9], [-74.1, 40.9], [-74.1, 40.6]]]
POLYGON = {"type": "Polygon", "coordinates": WEST}
FEATURE = {"type": "Feature", "properties": {"district": "West"}, "geometry": POLYGON}
COLLECTION = {"type": "FeatureCollection", "features": [FEATURE]}
GEOJSON = {"content-type": "application/geo+json"}


def areas(client: httpx.Client, body: Any, path: str = "/collections/city/areas", **parameters: str) -> httpx.Response:
    return client.post(path, content=json.dumps(body), headers=GEOJSON, params=parameters)


@pytest.mark.parametrize("body", [POLYGON, {"type": "MultiPolygon", "coordinates": [WEST]}, FEATURE, COLLECTION])
def test_every_form_gives_what_python_gives(client: httpx.Client, releases: Path, body: Any) -> None:
    expected = dph.load(releases / "city.dph.parquet").areas({"West": (-74.1, 40.6, -73.95, 40.9)}, confidence=0.8)
    found = areas(client, body, confidence="0.8").json()
    (one,) = found["areas"]
    assert found["confidence"] == 0.8
    assert found["epsilon"] == "1"
    for column in ("share", "low", "high", "people", "people_low", "people_high"):
        assert one[column] == pytest.approx(float(expected[column][0]), rel=1e-9)
    assert "differential privacy" in found["promise"]["how_strongly"]


def test_a_table_can_be_had_as_csv(client: httpx.Client) -> None:
    for headers, parameters in (({}, {"f": "csv"}), ({"accept": "text/csv"}, {})):
        found = client.post(
            "/collections/city/areas", content=json.dumps(COLLECTION), headers={**GEOJSON, **headers}, params=parameters
        )
        assert found.headers["content-type"] == "text/csv; charset=utf-8"
        (row,) = csv.DictReader(found.text.splitlines())
        assert row["area"] == row["district"] == "West"
        assert 0 < float(row["share"]) < 1


def test_slices_and_images_are_counted_too(client: httpx.Client) -> None:
    mode = "/collections/by-mode/areas"
    shares = [areas(client, POLYGON, mode, slice=one).json()["areas"][0]["share"] for one in ("on foot", "a&b")]
    assert len(set(shares)) == 2
    assert "slice must be one of" in areas(client, POLYGON, mode).json()["detail"]
    left = {"type": "Polygon", "coordinates": [[[0, 0], [320, 0], [320, 480], [0, 480], [0, 0]]]}
    (half,) = areas(client, left, "/collections/gaze/areas").json()["areas"]
    assert half["low"] <= half["share"] <= half["high"]


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"", "not JSON"),
        (b"{", "not JSON"),
        (b"[" * 100_000, "not JSON"),
        (b"\xff\xfe", "not JSON"),
        (b'{"type":"Polygon","coordinates":[[[NaN,1],[2,3],[4,5],[NaN,1]]]}', "not JSON"),
        (b"[]", "Areas are GeoJSON"),
        (b'"Polygon"', "Areas are GeoJSON"),
        ({"type": "Point", "coordinates": [1, 2]}, "Areas are GeoJSON"),
        ({"type": ["Polygon"]}, "Areas are GeoJSON"),
        ({"type": "GeometryCollection", "geometries": [POLYGON]}, "Areas are GeoJSON"),
        ({"type": "Polygon"}, "pairs of numbers"),
        ({"type": "Polygon", "coordinates": None}, "pairs of numbers"),
        ({"type": "Polygon", "coordinates": [[["a", "b"]]]}, "pairs of numbers"),
        ({"type": "Polygon", "coordinates": [[[1]]]}, "pairs of numbers"),
        ({"type": "Polygon", "coordinates": [[[True, False]]]}, "pairs of numbers"),
        ({"type": "Polygon", "coordinates": {"a": {"b": 1}}}, "pairs of numbers"),
        ({"type": "Polygon", "coordinates": [[[0, 0], [1, 1]]]}, "can't be read as GeoJSON"),
        ({"type": "Polygon", "coordinates": [[[10**400, 0], [1, 0], [1, 1], [0, 0]]]}, "can't be read as GeoJSON"),
        ({"type": "Polygon", "coordinates": [[[1e308, 0], [1, 0], [1, 1], [1e308, 0]]]}, "not finite numbers"),
        ({"type": "Polygon", "coordinates": [[[8, 47], [9, 47], [9, 48], [8, 47]]]}, "outside the place"),
        ({"type": "Feature", "geometry": None}, "Every area must be"),
        ({"type": "Feature", "properties": "x", "geometry": POLYGON}, "must be an object"),
        ({"type": "FeatureCollection", "features": []}, "1 to 1,000 areas"),
        ({"type": "FeatureCollection", "features": [FEATURE] * (MOST_AREAS + 1)}, "1 to 1,000 areas"),
        ({"type": "FeatureCollection", "features": "abc"}, "1 to 1,000 areas"),
        ({"type": "FeatureCollection", "features": [1]}, "Every area must be"),
        ({"type": "Polygon", "coordinates": [[[0, 0]] * 50_001]}, "at most 50,000 corners"),
    ],
)
def test_bad_areas_get_a_sentence(client: httpx.Client, body: Any, words: str) -> None:
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    found = client.post("/collections/city/areas", content=content, headers=GEOJSON)
    assert found.status_code == 400, found.text
    assert words in found.json()["detail"]


def test_bad_requests_get_a_sentence(client: httpx.Client) -> None:
    path = "/collections/city/areas"
    found = client.post(path, content=json.dumps(POLYGON), headers={"content-type": "text/plain"})
    assert found.status_code == 415, "which other sites could send without asking"
    assert client.post(path, content=b" " * 2_000_001, headers=GEOJSON).status_code == 413
    assert "above 0.5" in areas(client, POLYGON, confidence="2").json()["detail"]
    assert "must be a number" in areas(client, POLYGON, confidence="most").json()["detail"]
    assert areas(client, COLLECTION, name="nothing").status_code == 400
    assert client.get(path).status_code == 405


def test_properties_are_not_needed() -> None:
    found = collection_of(json.dumps({"type": "Feature", "geometry": POLYGON}).encode())
    assert found["features"][0]["properties"] == {}
    with pytest.raises(ParameterError, match="not JSON"):
        collection_of(b'{"type": "Polygon", "coordinates": [[[1' + b"0" * 5000 + b", 0]]]}")


def star(points: int, turn: float) -> dict[str, Any]:
    """An area with many corners that crosses all others."""
    angle = np.linspace(0, 2 * np.pi, points) + turn
    radius = 0.1 + 0.04 * np.cos(25 * angle)
    ring = np.stack([-73.95 + radius * np.cos(angle), 40.75 + radius * np.sin(angle)], axis=1).tolist()
    ring[-1] = ring[0]
    return {"type": "Feature", "properties": {}, "geometry": {"type": "Polygon", "coordinates": [ring]}}


def test_work_without_end_is_stopped_and_others_go_on(releases: Path) -> None:
    """A thousand areas that all cross each other: half a million overlaps, of which the time runs out."""
    (listed,) = read_catalogue([str(releases / "city.dph.parquet")])

    async def ask() -> None:
        service = AreaService(seconds=1.0)
        many = {"type": "FeatureCollection", "features": [star(50, 0.001 * k) for k in range(1000)]}
        hard = AreaQuestion(listed, None, many, 0.9, None, False)
        with pytest.raises(BusyError, match="took too long"):
            await service.answer(hard)
        service._seconds = 180.0
        simple = AreaQuestion(listed, None, COLLECTION, 0.9, None, False)
        first = await service.answer(simple)
        assert json.loads(first)["areas"][0]["area"] == "West"
        assert await service.answer(simple) is first, "it is kept"
        service._waiting = 8
        with pytest.raises(BusyError, match="Too many"):
            await service.answer(simple._replace(confidence=0.8))
        service.close()

    with ThreadPoolExecutor(1) as apart:  # tests in a browser have a loop in the main thread
        apart.submit(lambda: asyncio.run(ask())).result()


def test_answers_that_are_kept_are_few() -> None:
    service = AreaService()
    for k in range(20):
        service._keep(bytes([k]), b"x" * 2_000_000)
    assert list(service._kept) == [bytes([k]) for k in range(12, 20)]
