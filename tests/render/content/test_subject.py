"""Where trips, rows or files are protected and not people, every word on a map says so."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import dpheatmap as dph
from dpheatmap.releases.trust import UNITS
from dpheatmap.render.content.look import Look
from dpheatmap.render.content.picture import picture_of
from dpheatmap.render.content.subject import FOOTBALL, GROUND, IMAGE, SQUARE, Subject, subject_of
from dpheatmap.testing import CITY, generated_people

OTHERS = [unit for unit in UNITS if unit not in ("person", "row")]


def map_of_trips() -> dph.Heatmap:
    """The map of a release in which each row is a trip."""
    place = dph.Domain.bbox(*CITY, resolution=400)
    release = dph.release(generated_people(2000, extent=CITY), place, epsilon=2, each_row_is_a_trip=True, x="x", y="y")
    return release.heatmap(sigma=1000, size=32)


@pytest.fixture(scope="module")
def trips() -> dph.Heatmap:
    return map_of_trips()


def test_a_map_of_trips_promises_nothing_to_people(trips: dph.Heatmap) -> None:
    words = picture_of(trips, Look()).words
    assert words.badge == "Private · ε = 2 per trip"
    told = " ".join([words.title, words.takeaway, *words.facts, words.legend.title, words.reading.range])
    assert "trips" in told
    assert "people" not in told
    assert "person" not in told


def test_files_of_a_map_name_what_is_protected(trips: dph.Heatmap, tmp_path: Path) -> None:
    trips.save(tmp_path / "map.geojson")
    facts = json.loads((tmp_path / "map.geojson").read_text())["dpheatmap"]
    assert facts["privacy"] == "trip-level differential privacy, epsilon = 2 per trip"


def test_a_change_of_trips_is_one_per_trip(trips: dph.Heatmap, tmp_path: Path) -> None:
    dph.difference(trips, map_of_trips()).save(tmp_path / "change.svg")
    words = (tmp_path / "change.svg").read_text()
    assert "per trip for both maps" in words
    assert "per person" not in words


@pytest.mark.parametrize("subject", [GROUND, IMAGE, FOOTBALL, SQUARE])
@pytest.mark.parametrize("unit", OTHERS)
def test_no_number_of_people_is_told_of_others(subject: Subject, unit: str) -> None:
    told = subject.of(unit)
    assert told.person == unit
    counted = " ".join(told.counted).lower()
    assert f"{unit}s" in counted
    assert not {"people", "viewers", "players", "somebody"} & set(counted.split())


def test_a_row_that_is_somebodys_only_one_is_still_a_person(trips: dph.Heatmap) -> None:
    told = subject_of(trips.domain, unit="row")
    assert (told.title, told.person) == ("Where people are", "row")
    assert subject_of(trips.domain) is GROUND
