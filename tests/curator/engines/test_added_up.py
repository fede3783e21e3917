"""Events of slices that are added up in an array as they come: the same integers as by the engine's own sums."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest

import dpheatmap as dph
from dpheatmap.curator.aggregation import count
from dpheatmap.curator.core.counts import Counts
from dpheatmap.curator.core.query import COUNTERS
from dpheatmap.curator.engines import answer
from dpheatmap.curator.engines.duckdb import add_up, connection
from dpheatmap.curator.read.arrow_stream import whole_numbers
from dpheatmap.curator.read.reading import Reading
from dpheatmap.curator.read.slice_numbers import Slices
from dpheatmap.errors import DataError
from dpheatmap.slicing.axis import Axis
from dpheatmap.slicing.period import Period

HOURS = Slices(Axis(Period.of("hour-of-week", "America/New_York"), ("bike", "walk")), time="t", group="mode")
SHORE = {"type": "Polygon", "coordinates": [[[-74.0, 40.6], [-73.8, 40.7], [-73.9, 40.9], [-74.1, 40.75]]]}
PLACES = {
    "unit": dph.Domain.unit(5),
    "box": dph.Domain.bbox(-74.1, 40.65, -73.8, 40.8, resolution=2000),
    "boundary": dph.Domain.polygon(SHORE, resolution=2000),
}


@pytest.fixture(scope="module")
def trips(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Trips of 300 people at all hours, some without a person, place, time or listed mode, and some with no weight."""
    path = tmp_path_factory.mktemp("trips") / "trips.parquet"
    with duckdb.connect() as con:
        con.execute("SELECT setseed(0.5)")
        con.execute(f"""COPY (
            SELECT CASE WHEN i % 97 > 0 THEN CAST(300 * random() ** 2 AS INTEGER) END AS rider,
                CASE WHEN i % 89 > 0 THEN -74.15 + 0.4 * random() ELSE 'nan'::DOUBLE END AS lon,
                40.6 + 0.3 * random() AS lat, 1.05 * random() AS x, 1.02 * random() AS y,
                CASE WHEN i % 83 > 0 THEN to_timestamp(1.7e9 + 3e7 * random()) END AS t,
                ['bike', 'walk', 'car'][1 + CAST(2 * random() AS INTEGER)] AS mode,
                CAST(4 * random() AS INTEGER) AS weight
            FROM range(20000) r(i)) TO '{path}' (FORMAT parquet)""")
    return path


def counted(path: Path, place: str, **options: Any) -> list[Counts]:
    x, y = ("x", "y") if place == "unit" else ("lon", "lat")
    return count(path, PLACES[place], Reading(x=x, y=y, **options), slices=HOURS)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize(
    "options", [{"user": "rider"}, {"user": "rider", "weight": "weight"}, {"each_row_is_a_person": True}]
)
def test_sums_are_those_of_the_engine(
    trips: Path, place: str, options: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    found = counted(trips, place, **options)
    monkeypatch.setattr(answer, "MOST_CELLS", 0)
    wanted = counted(trips, place, **options)
    assert sum(len(one.codes) for one in found) > 1000
    for one, other in zip(found, wanted, strict=True):
        assert one.report is not None
        assert other.report is not None
        assert [getattr(one.report, name) for name in COUNTERS] == [getattr(other.report, name) for name in COUNTERS]
        occupied = np.diff(other.sums) > 0
        assert np.array_equal(one.codes, other.codes[occupied])
        assert np.array_equal(np.diff(one.sums), np.diff(other.sums)[occupied])


def test_which_way_is_taken_follows_from_public_facts(monkeypatch: pytest.MonkeyPatch) -> None:
    assert answer.cells_to_add_up(dph.Domain.unit(8), 168) == 168 * 4**8
    assert answer.cells_to_add_up(dph.Domain.unit(12), 1) == 2**24
    assert answer.cells_to_add_up(dph.Domain.unit(12), 2) is None


def test_rows_come_in_many_batches() -> None:
    with connection(64) as (con, _):
        found, _ = add_up(con, "SELECT CAST(range % 7 AS INTEGER), range FROM range(1000000)", 7, None)
    assert found.sums.tolist() == [sum(range(k, 1_000_000, 7)) for k in range(7)]


@pytest.mark.parametrize(
    ("row", "error", "words"),
    [
        ("-1, 5", AssertionError, "outside of the place"),
        ("7, 5", IndexError, "out of bounds"),
        ("NULL::INTEGER, 5", AssertionError, "is missing"),
        ("CAST('of Ann' || range AS INTEGER), 5", DataError, "^Reading the table failed"),
    ],
)
def test_rows_that_are_no_cells_stop(row: str, error: type[Exception], words: str) -> None:
    with connection(64) as (con, _):
        with pytest.raises(error, match=words) as caught:
            add_up(con, f"SELECT {row} FROM range(10)", 7, None)
        assert "Ann" not in repr(caught.value)
        assert caught.value.__cause__ is None
        assert caught.value.__context__ is None
        assert add_up(con, "SELECT 1, 5", 7, None)[0].sums.tolist() == [0, 5, 0, 0, 0, 0, 0]  # nothing is left open


def test_memory_that_is_not_enough_is_told() -> None:
    with connection(64) as (con, _):
        con.execute("SET max_temp_directory_size = '0KB'")
        sql = "SELECT CAST(COUNT(*) AS INTEGER), hash(range) // 4 FROM range(30000000) GROUP BY ALL"
        with pytest.raises(DataError, match="did not fit into its memory"):
            add_up(con, sql, 7, None)


class StopError(Exception):
    pass


def test_it_ends_when_told_to() -> None:
    def stop(part: float, seconds: float) -> None:
        raise StopError

    with connection(64) as (con, _):
        with pytest.raises(StopError):
            add_up(con, "SELECT CAST(a.range % 7 AS INTEGER), 1 FROM range(10000000) a, range(10000) b", 7, stop)
        assert add_up(con, "SELECT 1, 5", 2, None)[0].sums.tolist() == [0, 5]


def test_numbers_of_both_sizes_are_read_without_pyarrow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    with duckdb.connect() as con:
        batches = [
            [column.tolist() for column in batch]
            for batch in whole_numbers(con.sql("SELECT 3::INTEGER, (-(2**40))::BIGINT"))
        ]
        assert batches == [[[3], [-(2**40)]]]
        assert list(whole_numbers(con.sql("SELECT 3 LIMIT 0"))) == []
