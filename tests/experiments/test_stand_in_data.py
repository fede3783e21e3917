"""The stand-in data, read from small files of its format and, where it is to be had, from the real ones."""

from __future__ import annotations

from pathlib import Path

import duckdb
import numpy as np
import pytest

import dpheatmap as dph
from dpheatmap.errors import DataError
from dpheatmap.experiments import stand_in_data

needs_data = pytest.mark.skipif(
    stand_in_data.folder() is None, reason="needs the stand-in data: set DPHEATMAP_DATA to its folder"
)


def write(path: Path, select: str) -> None:
    duckdb.execute(f"COPY ({select}) TO '{path}' (FORMAT parquet)")


@pytest.fixture
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two city cells, their rows mixed, and two images."""
    cells = """
        SELECT * FROM (VALUES ('foursquare', 1, 4, 0.5, 0.25, -74.0, 40.5), ('gowalla', 0, 9, 0.1, 0.2, -97.75, 30.0),
            ('gowalla', 0, 2, 0.3, 0.4, -97.75, 30.0), ('gowalla', 0, 9, 0.6, 0.7, -97.75, 30.0))
        AS t(dataset, cell, user, x, y, lon0, lat0)"""
    write(tmp_path / "geo_cells.parquet", cells)
    images = (
        "SELECT * FROM (VALUES (5, 1.0, 480.0, 1014), (6, 640.0, 1.0, 1014), (5, 3.0, 3.0, 99)) t(user, x, y, image)"
    )
    write(tmp_path / "salicon_38.parquet", images)
    monkeypatch.setenv("DPHEATMAP_DATA", str(tmp_path))
    return tmp_path


def test_the_folder_is_the_one_that_the_environment_names(small: Path) -> None:
    assert stand_in_data.folder() == small


def test_cities_come_cell_by_cell(small: Path) -> None:
    data = stand_in_data.cities(depth=4)
    assert data.stand_in
    assert "not the paper's files" in data.title
    assert [place.name for place in data.places] == ["Gowalla 30.08 N 97.62 W", "Foursquare 40.58 N 73.88 W"]
    assert [place.people for place in data.places] == [2, 1]
    assert sorted(zip(data.places[0].user.tolist(), data.places[0].x.tolist(), strict=True)) == [
        (0, 0.3), (1, 0.1), (1, 0.6),
    ]  # fmt: skip
    assert data.places[0].domain == dph.Domain.unit(4)
    assert "4 check-ins in 2 city cells, 1 of Gowalla and 1 of Foursquare" in data.notes[0]
    assert "196,071" in data.notes[0]
    assert "about 30 %" in data.notes[1]


def test_images_are_scaled(small: Path) -> None:
    data = stand_in_data.gaze()
    assert data.stand_in
    assert [place.name for place in data.places] == ["COCO 99", "COCO 1014"]
    assert sorted(data.places[1].x.tolist()) == [0.25, 319.75]
    assert sorted(data.places[1].y.tolist()) == [0.25, 239.75]
    assert all(place.domain == dph.Domain.image(320, 240) for place in data.places)
    assert "3 positions on 2 images of SALICON with 1 to 2 people each" in data.notes[0]


def test_events_come_in_one_order_whichever_thread_read_them_first(small: Path) -> None:
    """Sorted by place alone, 200,000 rows in 20 groups came in another order each time, and a seed drew others."""
    mixed = "hash(i) % 1000 AS user, hash(i + 1) % 100 AS x, hash(i + 2) % 100 AS y"
    rows = f"FROM (SELECT i, {mixed} FROM range(200000) t(i))"
    groups = "(FORMAT parquet, ROW_GROUP_SIZE 10000)"
    files = {
        "geo_cells": f"SELECT 'gowalla' AS dataset, 0 AS cell, user, x, y, -97.75 AS lon0, 30.0 AS lat0 {rows}",
        "salicon_38": f"SELECT user, x, y, 99 AS image {rows}",
        "wyscout_events": f"SELECT 2 * user + 1 AS user, x, y, 'Pass' AS event {rows}",
    }
    for name, select in files.items():
        duckdb.execute(f"COPY ({select}) TO '{small / name}.parquet' {groups}")
    for data in (stand_in_data.cities(), stand_in_data.gaze(), stand_in_data.football()):
        [place] = data.places
        order = np.lexsort((place.y, place.x, place.user))
        assert all(np.array_equal(column, column[order]) for column in (place.user, place.x, place.y))


def test_without_a_folder_it_is_told_what_to_set(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DPHEATMAP_DATA", raising=False)
    monkeypatch.chdir(tmp_path)
    assert stand_in_data.folder() is None
    with pytest.raises(DataError, match="Set DPHEATMAP_DATA to its folder, or give the official files"):
        stand_in_data.cities()


def test_a_folder_without_the_file_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DPHEATMAP_DATA", str(tmp_path))
    with pytest.raises(DataError, match=r"salicon_38\.parquet is not in") as error:
        stand_in_data.gaze()
    assert str(tmp_path) in str(error.value)


def test_a_damaged_file_is_told(small: Path) -> None:
    (small / "geo_cells.parquet").write_bytes(b"PAR1")
    with pytest.raises(DataError, match="damaged"):
        stand_in_data.cities()


@needs_data
def test_the_real_cities_are_thirty_with_people_enough() -> None:
    data = stand_in_data.cities()
    assert len(data.places) == 30
    assert sum(len(place.user) for place in data.places) == 580_747
    assert min(place.people for place in data.places) >= 200
    sizes = [len(place.user) for place in data.places]
    assert sizes == sorted(sizes, reverse=True)
    for place in data.places:
        assert place.domain.locate(place.x, place.y)[2].all()


@needs_data
def test_the_real_images_are_thirty_eight_with_people_enough() -> None:
    data = stand_in_data.gaze()
    assert len(data.places) == 38
    assert min(place.people for place in data.places) == 52
    counts = data.places[0].sample(50, np.random.default_rng(0))
    assert 0.999 * 50 * 2**30 < counts.sums[-1] <= 50 * 2**30
