"""Trips: a row with a start and an end is one event or several, which weigh as much as one person together."""

from __future__ import annotations

import random
import shlex
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import dpheatmap as dph
from dpheatmap.cli import run
from dpheatmap.curator.read import trips
from dpheatmap.errors import DataError, ParameterError, PrivacyRefusal
from dpheatmap.releases.label import label_of_combination
from helpers.tables import Columns, W, as_csv, as_parquet, outcome

NEW = (
    "ride_id,rideable_type,started_at,ended_at,start_station_name,start_station_id,end_station_name,end_station_id,"
    "start_lat,start_lng,end_lat,end_lng,member_casual"
)
OLD = (
    "tripduration,starttime,stoptime,start station id,start station name,start station latitude,"
    "start station longitude,end station id,end station name,end station latitude,end station longitude,bikeid,"
    "usertype,birth year,gender"
)
TRIPS: Columns = {
    "x": ["0.1", "0.1", "0.1", "7", "no", "0.1"],
    "y": ["0.1", "0.1", "0.1", "7", "0.1", "0.1"],
    "tx": ["0.9", "0.1", None, "0.9", "0.9", "9"],
    "ty": ["0.1", "0.9", "0.1", "0.1", "0.1", "9"],
    "user": ["ann", "ann", "bob", "cleo", "dan", "dan"],
}
ALONE: dict[str, Any] = {"user": None, "each_row_is_a_trip": True}
ENDS: dict[str, Any] = {"to_x": "tx", "to_y": "ty"}
BOTH: dict[str, Any] = {**ALONE, **ENDS, "points": "both"}


@pytest.fixture(params=[as_csv, as_parquet])
def table(request: Any, tmp_path: Path) -> Path:
    path: Path = request.param(TRIPS, tmp_path / f"t.{'csv' if request.param is as_csv else 'parquet'}")
    return path


def test_the_start_or_the_end_counts(table: Path) -> None:
    for points in (None, "start"):
        assert outcome(table, **ALONE, points=points)[0] == {(0, 0): 4 * W}
    assert outcome(table, **ALONE, **ENDS, points="end")[0] == {(7, 0): 3 * W, (0, 7): W}


def test_both_ends_share_the_weight_of_their_trip(table: Path) -> None:
    cells, counters = outcome(table, **BOTH)
    # Each of six trips has a weight of 1, on both ends, or on the only one that is inside.
    assert cells == {(0, 0): W // 2 + W // 2 + W + W, (7, 0): W // 2 + W + W, (0, 7): W // 2}
    assert counters["rows"] == 12
    assert counters["people"] == 6


def test_both_ends_of_all_trips_share_the_weight_of_their_person(table: Path) -> None:
    cells, counters = outcome(table, **ENDS, points="both")
    assert cells == {(0, 0): 2 * (W // 4) + W + W // 2, (7, 0): W // 4 + W + W // 2, (0, 7): W // 4}
    assert counters["people"] == 4


def test_a_path_is_seventeen_points_on_a_line(tmp_path: Path) -> None:
    path = as_csv({"x": [0.0], "y": [0.5], "tx": [1.0], "ty": [0.5]}, tmp_path / "t.csv")
    cells, counters = outcome(path, **ALONE, **ENDS, points="path")
    assert counters["rows"] == 17
    assert cells == {(k, 4): (3 if k == 7 else 2) * (W // 17) for k in range(8)}


def test_a_path_begins_and_ends_where_its_trip_does(tmp_path: Path) -> None:
    """Though a sum of floats is rounded: 0.7 + (0.1 - 0.7) is below 0.1, and that is where this square begins."""
    assert 0.7 + (0.1 - 0.7) < 0.1
    path = as_csv({"x": [0.7], "y": [0.5], "tx": [0.1], "ty": [0.5]}, tmp_path / "t.csv")
    _, counters = outcome(path, dph.Domain.bbox(0.1, 0.1, 0.8, 0.8, depth=20), **ALONE, **ENDS, points="path")
    assert counters["inside"] == 17


def test_slices_where_and_parts_are_those_of_the_trip(tmp_path: Path) -> None:
    columns = {**TRIPS, "day": ["mon", "mon", "tue", "tue", "tue", "tue"]}
    path = as_csv(columns, tmp_path / "t.csv")
    assert outcome(path, **BOTH, where="day = 'mon'")[0] == {(0, 0): W, (7, 0): W // 2, (0, 7): W // 2}
    options: dict[str, Any] = {"partition": {"day": ["mon", "tue"]}, "part": "mon"}
    assert outcome(path, **BOTH, **options)[0] == {(0, 0): W, (7, 0): W // 2, (0, 7): W // 2}
    made = dph.release(
        path, dph.Domain.unit(3), epsilon=1, x="x", y="y", group="day", groups=["mon", "tue"],
        each_row_is_a_trip=True, points="both", **ENDS,
    )  # fmt: skip
    assert made.slices == ("mon", "tue")
    assert made.label["who"].startswith("Each trip")


ODD = ["nan", "inf", "-inf", "1e308", "-1e308", "", "0.5", '"', "x", "0,5", "1e-320"]


@pytest.mark.parametrize("points", ["both", "path", "end"])
@pytest.mark.parametrize("options", [ALONE, {"user": "user"}], ids=["trips", "people"])
def test_a_trip_adds_at_most_one_person_and_changes_nobody_else(points: str, options: Any, tmp_path: Path) -> None:
    rng = random.Random(5)
    chosen = {**options, **ENDS, "points": points}
    before, _ = outcome(as_csv(TRIPS, tmp_path / "a.csv"), **chosen)
    for _ in range(25):
        row = {**{name: rng.choice(ODD) for name in ("x", "y", "tx", "ty")}, "user": "eve"}
        place = rng.randint(0, 6)
        rows = {name: [*values[:place], row[name], *values[place:]] for name, values in TRIPS.items()}
        after, _ = outcome(as_csv(rows, tmp_path / "b.csv"), **chosen)
        assert all(after.get(at, 0) >= weight for at, weight in before.items())
        assert sum(after.values()) - sum(before.values()) <= W


def doubled(relation: str, roles: Any, reading: Any) -> tuple[str, dict[str, str]]:
    """A planted bug: each end is a person of its own."""
    events, found = trips.events_of_trips(relation, roles, reading)
    return f"SELECT * REPLACE (ROW_NUMBER() OVER () AS person) FROM ({events})", found


def test_a_planted_weight_of_each_end_is_found(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("dpheatmap.curator.read.canonical.events_of_trips", doubled)
    with pytest.raises(AssertionError):
        test_both_ends_share_the_weight_of_their_trip(as_csv(TRIPS, tmp_path / "t.csv"))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"to_x": "tx", "to_y": "ty"}, "points tells whether it counts"),
        ({"to_x": "tx", "points": "start"}, "points tells whether it counts"),
        ({"points": "both"}, "needs the columns of a trip's start and end"),
        ({"points": "end", "to_x": "tx"}, "needs the columns of a trip's start and end"),
        ({"points": "both", **ENDS, "x": None, "y": None}, "needs the columns of a trip's start and end"),
        ({"points": "middle"}, "points must be one of 'start', 'end', 'both', 'path'"),
        ({"each_row_is_a_person": True}, "both were said"),
    ],
)
def test_what_does_not_go_together_is_refused(options: Any, words: str, table: Path) -> None:
    with pytest.raises(ParameterError, match=words):
        outcome(table, **{**ALONE, **options})


def test_a_user_column_and_trips_alone_are_refused(table: Path) -> None:
    with pytest.raises(PrivacyRefusal, match="each row is a trip"):
        outcome(table, user="user", each_row_is_a_trip=True)
    with pytest.raises(PrivacyRefusal, match="--each-row-is-a-trip"):
        outcome(table, user=None)
    with pytest.raises(DataError, match="no coordinate column 'tz'"):
        outcome(table, **{**BOTH, "to_x": "tz"})


# The files that systems publish


def month(path: Path, header: str, trips_: int = 200) -> Path:
    """A monthly file as they are published, with trips that have no end."""
    rng = random.Random(1)
    lines = [header]
    for k in range(trips_):
        lat, lng, far = 40.7 + rng.random() / 10, -74 + rng.random() / 10, rng.random() / 50
        end = (f"{lat + far:.6f}", f"{lng + far:.6f}") if k % 50 else ("", "")
        if header == NEW:
            lines.append(
                f'{k:016X},electric_bike,2024-06-{k % 30 + 1:02} 08:{k % 60:02}:11.123,2024-06-30 09:00:00.5,"A, St",'
                f'"1.{k}",,,{lat},{lng},{end[0]},{end[1]},member'
            )
        else:
            lines.append(
                f'"{k}","2013-06-01 08:{k % 60:02}:01","2013-06-01 09:00:00","444","B St","{lat}","{lng}","434",'
                f'"9 Ave","{end[0]}","{end[1]}","{k % 30}","Subscriber","1983","1"'
            )
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.mark.parametrize(("header", "time"), [(NEW, "started_at"), (OLD, "starttime")], ids=["new", "old"])
def test_inspect_prints_the_command_and_the_command_runs(
    header: str, time: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = month(tmp_path / "202406-tripdata.csv", header)
    assert run(["inspect", str(path)]) == 0
    shown = capsys.readouterr()
    assert "Problem: no column tells who made a trip" in shown.out
    assert f"--time {time} " in shown.err
    command = shown.err.partition("Next: dpheatmap ")[2].partition(" --bbox=")[0]
    assert "--each-row-is-a-trip" in command
    assert "--points both" in command
    words = [w.replace("map.", f"{tmp_path}/map.") if w.startswith("map.") else w for w in shlex.split(command)]
    assert run([*words, "--bbox=-74.05,40.65,-73.85,40.85", "--resolution", "400", "--no-ledger"]) == 0
    made = dph.load(tmp_path / "map.dph.parquet")
    assert made.trust.unit == "trip"
    assert abs(made.people.mean - 200) < 100


# The label


def test_the_label_names_what_is_protected(tmp_path: Path) -> None:
    path = as_csv(TRIPS, tmp_path / "t.csv")
    made = {
        unit: dph.release(path, dph.Domain.unit(3), epsilon=1, x="x", y="y", **options)
        for unit, options in (
            ("person", {"user": "user"}),
            ("row", {"each_row_is_a_person": True}),
            ("trip", {"each_row_is_a_trip": True}),
        )
    }
    for unit, release in made.items():
        release.save(tmp_path / "r.dph.parquet")
        again = dph.load(tmp_path / "r.dph.parquet")
        assert again.trust == release.trust
        assert again.trust.unit == unit
        assert dict(again.label) == dict(release.label)
    assert "Not each person" in made["trip"].label["who"]
    assert "leaving one trip out" in made["trip"].label["how_strongly"]
    assert "every row is another" in made["row"].label["who"]
    assert "person's whole data" in made["person"].label["who"]
    assert "one person with several trips" in made["trip"].label["not_promised"].lower()
    both = label_of_combination(made["trip"], [made["person"], made["trip"]])
    assert "person's whole data" in both["who"]
    assert "Each trip" in both["who"]


def test_counts_keep_what_is_protected(tmp_path: Path) -> None:
    path = as_csv(TRIPS, tmp_path / "t.csv")
    counts = dph.aggregate(path, dph.Domain.unit(3), x="x", y="y", each_row_is_a_trip=True)
    for name in ("t.counts.npy", "t.counts.parquet"):
        counts.save(tmp_path / name)
        assert dph.release(dph.Counts.load(tmp_path / name), epsilon=1).trust.unit == "trip"
    found = dph.discover(path, epsilon=Fraction(1), x="x", y="y", each_row_is_a_trip=True)
    assert found.label["who"].startswith("Each trip")
