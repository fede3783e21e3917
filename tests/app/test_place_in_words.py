"""What is said about a place before it is paid for comes from the place alone."""

from __future__ import annotations

import builtins
import io
from pathlib import Path
from typing import Any

import httpx
import pytest

from dpheatmap.app.place_in_words import describe, has_land
from dpheatmap.place.domain import Bounds
from helpers.served import BOX, trips


@pytest.mark.parametrize(
    ("box", "town", "warnings"),
    [
        (BOX, "Bern", 0),
        ((-7.5, 46.9, -7.3, 47.02), "Plonéour-Lanvern", 1),  # the sign of the longitudes: in the Atlantic
        ((7.3, -47.02, 7.5, -46.9), "Constantia", 1),  # of the latitudes: 1,700 km from Cape Town
        ((-74.1, 40.6, -73.8, 40.9), "New York City", 0),
        ((74.1, 40.6, 74.4, 40.9), "Uzgen", 1),  # mountains, 80 km from a town
        ((-155.3, 19.8, -155.0, 20.0), "Hilo", 0),
        ((-180.0, -85.0, 180.0, 85.0), "Shanghai", 0),
    ],
)
def test_a_box_is_named_by_its_town(box: tuple[float, ...], town: str, warnings: int) -> None:
    found = describe(Bounds(*box))
    assert found["town"] == town
    assert town in found["words"]
    assert len(found["warnings"]) == warnings
    assert all("minus sign" in words for words in found["warnings"])


@pytest.mark.parametrize(
    ("box", "land"),
    [
        ((-30.2, 46.9, -30.0, 47.02), False),
        ((-25.55, 37.7, -25.45, 37.75), True),  # on an island
        ((-40.0, 30.0, -20.0, 45.0), True),  # islands much smaller than the box
        ((45.0, 41.5, 52.0, 45.0), True),
        ((50.0, 40.5, 50.2, 40.7), True),  # at the coast of an inland sea
        ((50.6, 41.5, 50.8, 41.7), False),  # in the middle of it
        ((8.60, 45.90, 8.61, 45.91), True),
    ],
)
def test_land_is_told_from_sea(box: tuple[float, ...], land: bool) -> None:
    assert has_land(Bounds(*box)) == land


def test_no_table_is_looked_at(client: httpx.Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The answer is the same without any table, with one in the box, and with one elsewhere; no file is opened."""
    asked = {"bounds": ",".join(str(edge) for edge in BOX)}
    before = client.get("/api/place", params=asked).json()
    for name, box in (("inside.csv", BOX), ("elsewhere.csv", (100.0, 10.0, 101.0, 11.0))):
        table = trips(tmp_path / name, 50, box)
        upload = client.put("/api/uploads", params={"name": name}, content=table.read_bytes()).json()["upload"]
        client.post("/api/inspect", json={"upload": upload})
        assert client.get("/api/place", params={**asked, "upload": upload, "path": str(table)}).json() == before
        client.delete(f"/api/uploads/{upload}")

    describe(Bounds(*BOX))  # the basemap is in memory from here on

    def refuse(*arguments: Any, **options: Any) -> Any:
        raise AssertionError("a file was opened")

    monkeypatch.setattr(builtins, "open", refuse)
    monkeypatch.setattr(io, "open", refuse)
    describe.cache_clear()
    assert describe(Bounds(*BOX)) == before


@pytest.mark.parametrize("bounds", ["", "1,2,3", "a,b,c,d", "8,46,7,47", "0,0,nan,1", "-200,0,1,1"])
def test_what_is_no_box_is_refused(client: httpx.Client, bounds: str) -> None:
    assert client.get("/api/place", params={"bounds": bounds}).status_code == 400
