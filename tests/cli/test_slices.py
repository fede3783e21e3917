"""Slices of time and groups on the command line: one release, what it costs, its files, and what is refused."""

from __future__ import annotations

import csv
import json
import shutil
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import dpheatmap as dph
from dpheatmap.cli import run
from dpheatmap.cli.terminal import Bar
from dpheatmap.curator.ledger.ledger import Ledger
from dpheatmap.curator.sliced_publish import release_slices, slices_of
from dpheatmap.design.privacy_loss import PureLoss
from dpheatmap.errors import LedgerError
from dpheatmap.planning.slice_plans import plan_slices
from dpheatmap.releases.measurements import SliceMeasurements
from dpheatmap.releases.sliced_release import SlicedRelease
from dpheatmap.testing import SeededSource, generated_people

COLUMNS = """
    person, x, y, CAST(DATE '2024-06-03' + INTERVAL 1 HOUR * (person % 96) AS TIMESTAMP) AS started,
    CAST(started AS DATE) AS day, CAST(started AS VARCHAR) AS words,
    CASE WHEN x < 0.5 THEN 'bike' ELSE 'walk' END AS mode
"""
DAYS = ["--time", "started", "--every", "day", "--time-zone", "Europe/Zurich"]
RANGE = ["--from", "2024-06-03", "--to", "2024-06-06"]


@pytest.fixture(scope="session")
def trips(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The command for 400 people on four days, all of whom are there at one hour."""
    table = str(tmp_path_factory.mktemp("trips") / "trips.parquet")
    generated_people(400).project(COLUMNS).write_parquet(table)
    return ["release", table, "--epsilon", "1", "--user", "person", "--x", "x", "--y", "y", "--unit", "--depth", "5"]


@pytest.fixture(scope="session")
def stored(trips: list[str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A release of four days, stored."""
    path = tmp_path_factory.mktemp("stored") / "days.dph.parquet"
    assert run([*trips, "--no-ledger", *DAYS, *RANGE, "-o", str(path)]) == 0
    return path


@pytest.fixture
def days(stored: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A copy of it in a folder to be in."""
    monkeypatch.chdir(tmp_path)
    shutil.copy(stored, tmp_path / "days.dph.parquet")
    return "days.dph.parquet"


def read(path: str | Path) -> SlicedRelease:
    """A release of several slices."""
    found = dph.load(path)
    assert isinstance(found, SlicedRelease)
    return found


# Releases


def test_one_release_of_several_days(trips: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made, table = tmp_path / "days.dph.parquet", tmp_path / "days.csv"
    assert run([*trips, "--no-ledger", *DAYS, *RANGE, "-o", str(table), "-o", str(made), "--json"]) == 0
    out, err = capsys.readouterr()
    answer = json.loads(out)
    labels = ["2024-06-03", "2024-06-04", "2024-06-05", "2024-06-06"]
    assert answer["slices"] == labels
    assert (answer["epsilon"], answer["split"]) == ("1", "weight")
    assert answer["outputs"] == [str(made), str(table)]
    assert "4 slices, by day, clocks of Europe/Zurich." in err
    assert "All 4 slices together: epsilon = 1 per person." in err
    assert "A map of all slices together got" in err
    release = read(made)
    assert list(release.slices) == labels
    with table.open() as file:
        rows = list(csv.DictReader(file))
    assert {row["slice"] for row in rows} == set(labels)
    assert sum(float(row["share"]) for row in rows if row["slice"] == labels[1]) == pytest.approx(1.0)


def test_an_hour_of_the_day_needs_no_range(trips: list[str], tmp_path: Path) -> None:
    made = tmp_path / "hours.dph.parquet"
    clock = ["--time", "words", "--every", "hour-of-day", "--time-zone", "UTC"]
    assert run([*trips, "--no-ledger", *clock, "-o", str(made)]) == 0
    assert read(made).slices == tuple(map(str, range(24)))


def test_groups_of_a_list_in_a_file_and_days_at_once(
    trips: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "modes.txt").write_text("bike\nboat\n")
    groups = ["--group", "mode", "--groups-file", str(tmp_path / "modes.txt"), "--split", "epsilon"]
    made = tmp_path / "both.dph.parquet"
    assert run([*trips, "--no-ledger", *groups, *DAYS, *RANGE, "-o", str(made)]) == 0
    release = read(made)
    assert release.slices[::4] == ("bike 2024-06-03", "boat 2024-06-03")
    assert release.split == "epsilon"
    err = capsys.readouterr().err
    assert "Each slice has epsilon = 1/8, so its noise is 8 times that of a release of its own." in err
    assert "All 8 slices together: epsilon = 1 per person." in err


def test_slices_in_which_nobody_shows_are_told_from_published_values(
    trips: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    slices = slices_of(None, None, None, None, None, "mode", ["bike", "boat"])
    columns = {"user": "person", "x": "x", "y": "y"}
    seeded = release_slices(SeededSource(1), trips[1], dph.Domain.unit(5), slices, epsilon=8, **columns)  # type: ignore[arg-type]
    made = str(tmp_path / "modes.dph.parquet")
    seeded.save(made)
    assert run(["export", made, "-o", str(tmp_path / "modes.csv")]) == 0
    told = "Warning: the noise is as large as the number of people in 1 of 2 slices: boat."
    assert told in capsys.readouterr().err


def test_clocks_that_are_set_in_the_range_are_told(
    trips: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = ["-o", str(tmp_path / "a.dph.parquet")]
    assert run([*trips, "--no-ledger", *DAYS, "--from", "2024-03-30", "--to", "2024-10-31", *made]) == 0
    err = capsys.readouterr().err
    assert "Clocks of Europe/Zurich are set forward by 1 hour on 2024-03-31: what they skip has no events." in err
    assert "are set back by 1 hour on 2024-10-27: what they show twice is in one slice." in err
    assert run([*trips, "--no-ledger", *DAYS, *RANGE, *made]) == 0
    assert "Clocks of" not in capsys.readouterr().err


# Refusals


@pytest.mark.parametrize(
    ("given", "code", "words"),
    [
        (DAYS, 4, "Slices of every day need a public range"),
        (["--time", "started", "--every", "3 hours", "--time-zone", "UTC"], 4, "Slices of every 3 hours need a public"),
        ([*DAYS, "--from", "2024-06-03"], 4, "Give start and end (--from and --to)"),
        (["--group", "mode"], 4, "A group column needs the public list"),
        (["--time", "started", "--every", "weekday"], 4, "no session's zone is taken for it"),
        (["--time", "words", "--every", "weekday"], 4, "Give time_zone (--time-zone)"),
        (["--time", "day", "--every", "hour-of-day"], 3, "has dates alone, and slices of hours"),
        (["--time", "mode", "--every", "hour-of-day", "--time-zone", "Mars"], 2, "the name of a time zone"),
        (["--time", "x y", "--every", "weekday", "--time-zone", "UTC"], 3, "'x y'"),
        (["--time", "started"], 2, "time needs every"),
        (["--every", "day"], 2, "Name its column: time (--time)"),
        (["--groups", "a,b"], 2, "groups are the values of a column"),
        (["--split", "epsilon"], 2, "--split is about slices or images, and there are none"),
        (["--group", "mode", "--groups", "a", "--groups-file", "b"], 2, "both give the list of groups"),
        (["--group", "mode", "--groups-file", "/no/list"], 2, "There is no list of groups '/no/list'"),
        (["--group", "mode", "--groups", "a", "--image-column", "mode"], 2, "Name the images' column by --group"),
        ([*DAYS, *RANGE, "--images", "a"], 2, "--images makes a release for each image"),
        ([*DAYS, *RANGE, "--design", "dense"], 2, "Slices have the design 'ladder'"),
        ([*DAYS, *RANGE, "--h3", "7"], 2, "None of the outputs takes --h3"),
    ],
)
def test_what_is_refused(
    trips: list[str], tmp_path: Path, given: list[str], code: int, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    books = str(tmp_path / "books")
    output = tmp_path / "a.csv"
    assert run([*trips, "--ledger", books, *given, "-o", str(output)]) == code
    assert words in capsys.readouterr().err
    assert not output.exists()
    assert not Ledger(books, limits_needed=False).accounts(), "nothing was charged"


def test_dates_need_no_zone(trips: list[str], tmp_path: Path) -> None:
    made = tmp_path / "a.dph.parquet"
    assert run([*trips, "--no-ledger", "--time", "day", "--every", "weekday", "-o", str(made)]) == 0
    assert read(made).slices[0] == "mon"


def test_other_files_are_refused_before_anything_is_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = ["release", "/nonexistent.csv", "--epsilon", "1", "--user", "u", "--x", "x", "--y", "y", "--unit"]
    assert run([*table, *DAYS, *RANGE, "-o", str(tmp_path / "a.pmtiles")]) == 2
    assert "An output must end in one of .dph.parquet" in capsys.readouterr().err


def test_counts_have_no_images(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = ["release", "--counts", "a.csv", "--epsilon", "1", "--unit", "--image-column", "i", "--images", "a,b"]
    assert run([*options, "-o", str(tmp_path / "{image}.csv")]) == 2
    assert "--counts are about one release" in capsys.readouterr().err


# Files


def test_a_series_is_drawn_from_a_stored_release(days: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["export", days, "-o", "days.csv", "--size", "8", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"outputs": ["days.csv"]}
    with open("days.csv") as file:
        assert len(list(csv.DictReader(file))) == 4 * 8 * 8


def test_one_slice_is_an_ordinary_map(days: str) -> None:
    assert run(["export", days, "--slice", "2024-06-04", "-o", "tue.npz", "-o", "tue.png", "--size", "16"]) == 0
    with np.load("tue.npz") as found:
        assert np.allclose(found["values"], read(days).heatmap(size=16)["2024-06-04"].values)
    assert Path("tue.png").exists()


def test_the_difference_of_two_slices_is_that_of_the_series(days: str) -> None:
    both = ["--slice", "2024-06-05", "--minus-slice", "2024-06-03"]
    names = ["--names", "on Monday", "on Wednesday"]
    assert run(["export", days, *both, *names, "-o", "change.csv", "-o", "change.html", "--size", "8"]) == 0
    with open("change.csv") as file:
        rows = list(csv.DictReader(file))
    change = read(days).heatmap(size=8).difference("2024-06-03", "2024-06-05")
    assert change.std is not None
    told = np.array([[float(row["change"]), float(row["std"])] for row in rows])
    assert np.allclose(told[:, 0], change.values.ravel())
    assert np.allclose(told[:, 1], change.std.ravel()), "slices share a map, so their variances don't add up"
    page = Path("change.html").read_text()
    assert "on Wednesday" in page
    assert "ε = 1 per person for both maps" in page, "slices of one release don't cost twice"


def test_a_slice_is_compared_with_that_of_another_release(trips: list[str], days: str) -> None:
    assert run([*trips, "--no-ledger", *DAYS, *RANGE, "-o", "later.dph.parquet"]) == 0
    assert run(["export", "later.dph.parquet", "--minus", days, "--slice", "2024-06-04", "-o", "a.csv"]) == 0
    other = ["--slice", "2024-06-04", "--minus-slice", "2024-06-03"]
    assert run(["export", "later.dph.parquet", "--minus", days, *other, "-o", "b.csv"]) == 0
    assert Path("a.csv").read_text() != Path("b.csv").read_text()


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (["--slice", "2024-07-01", "-o", "a.png"], "There is no slice '2024-07-01'"),
        (["--slice", "2024-06-03", "-o", "a.dph.parquet"], "holds a release"),
        (["--slice", "2024-06-03", "-o", "a.gif"], "An output must end in one of"),
        (["--slice", "2024-06-03", "--method", "paper", "-o", "a.png"], "made by the method 'posterior'"),
        (["--slice", "2024-06-03", "--minus-slice", "2024-06-03", "-o", "a.png"], "twice"),
        (["--slice", "2024-06-03", "--minus-slice", "mon", "-o", "a.png"], "There is no slice 'mon'"),
        (["--slice", "2024-06-03", "--minus", "days.dph.parquet", "-o", "a.png"], "--minus names RELEASE itself"),
        (["--minus-slice", "2024-06-03", "-o", "a.png"], "Name it with --slice"),
        (["--minus", "one.dph.parquet", "-o", "a.png"], "Name it with --slice"),
        (["--slice", "2024-06-03", "--minus", "one.dph.parquet", "--minus-slice", "mon", "-o", "a.png"], "no slices"),
        (["--prior", "one.dph.parquet", "-o", "a.csv"], "take no --prior"),
        (["-o", "a.npz"], "An output must end in one of"),
        (["--names", "a", "b", "-o", "a.csv"], "--names goes with --minus"),
        (["--crs", "EPSG:2056", "-o", "a.csv"], "--crs is for a .tif"),
    ],
)
def test_what_export_refuses_of_slices(
    table: str, days: str, given: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    dph.release(table, dph.Domain.unit(5), epsilon=1, user="person", x="x", y="y").save("one.dph.parquet")
    assert run(["export", days, *given]) == 2
    assert words in capsys.readouterr().err


def test_a_release_of_one_map_has_no_slices(table: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one = str(tmp_path / "one.dph.parquet")
    dph.release(table, dph.Domain.unit(3), epsilon=1, user="person", x="x", y="y").save(one)
    for given in (["--slice", "8"], ["--minus-slice", "8"]):
        assert run(["export", one, *given, "-o", str(tmp_path / "a.png")]) == 2
        assert "has one map and no slices" in capsys.readouterr().err


# The ledger, plans and a look at the table


def test_all_slices_are_one_charge(trips: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    books = str(tmp_path / "city.ledger")
    assert run(["ledger", "limit", books, "--population", "riders", "--epsilon", "1"]) == 0
    charged = ["--ledger", books, "--population", "riders"]
    outputs = [str(tmp_path / f"{name}.dph.parquet") for name in ("a", "b")]
    assert run([*trips, *charged, *DAYS, *RANGE, "-o", outputs[0]]) == 0
    assert "1 of 1 spent" in capsys.readouterr().err
    assert run([*trips, *charged, *DAYS, *RANGE, "-o", outputs[1]]) == 4, "a further day costs again"
    capsys.readouterr()
    assert run(["ledger", "verify", books, outputs[0], "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"ledger": "city.ledger", "entries": 2, "releases": 1, "whole": True}
    other = str(tmp_path / "other.ledger")
    assert run(["ledger", "limit", other, "--population", "riders", "--epsilon", "1"]) == 0
    assert run(["ledger", "verify", other, outputs[0]]) == 3


def test_another_epsilon_than_the_charge_is_told_of_groups(trips: list[str], tmp_path: Path) -> None:
    """Images may have equal parts of one charge; slices are one charge, whatever part of it somebody writes there."""
    books, made = str(tmp_path / "city.ledger"), str(tmp_path / "modes.dph.parquet")
    assert run(["ledger", "limit", books, "--population", "riders", "--epsilon", "1"]) == 0
    charged = ["--ledger", books, "--population", "riders", "--group", "mode", "--groups", "bike,walk"]
    assert run([*trips, *charged, "-o", made]) == 0
    assert Ledger(books).verify([read(made)]) == 2
    for changed in (Fraction(1, 2), Fraction(1, 3), Fraction(2)):
        with pytest.raises(LedgerError, match="is not the one in its label"):
            Ledger(books).verify([replace(read(made), loss=PureLoss(changed))])


def test_a_plan_tells_how_slices_will_be_measured(capsys: pytest.CaptureFixture[str]) -> None:
    def told(users: str, *slices: str) -> dict[str, object]:
        assert run(["plan", "--epsilon", "1", "--users", users, "--unit", *slices, "--json"]) == 0
        found: dict[str, object] = json.loads(capsys.readouterr().out)["slices"]
        return found

    found = told("5000", "--every", "hour-of-day")
    assert found["signal"] == pytest.approx(5000 / 24)
    assert (found["number"], found["how"], found["blocks"]) == (24, "blocks", 26)
    assert (found["epsilon_of_map"], found["epsilon_of_slices"]) == ("99/200", "99/200")
    assert found["noise"] == pytest.approx(2**0.5 / 0.495)
    assert told("5000", "--slices", "168")["how"] == "weak"
    assert told("500000", "--every", "day", *RANGE)["how"] == "apart"
    assert run(["plan", "--epsilon", "1", "--users", "5000", "--unit", "--every", "hour-of-week"]) == 0
    out = capsys.readouterr().out
    assert "That is weak: a slice is mostly the map of all" in out
    assert "90 % of epsilon goes into the map of all. One block, the whole place, is counted slice by slice" in out
    for refused, code in ((["--every", "day"], 4), (["--slices", "1"], 2), (["--from", "2024-06-03"], 2)):
        assert run(["plan", "--epsilon", "1", "--users", "5000", "--unit", *refused]) == code


def test_the_blocks_of_a_plan_are_about_those_of_a_release() -> None:
    """The signal is far from the rule's edges: the look leads elsewhere with probability e^-152."""
    domain = dph.Domain.unit(8)
    people = generated_people(20_000).project("*, CAST(hash(x) % 86400 AS BIGINT) AS second")
    made = dph.release(
        people, domain, epsilon=1, user="person", x="x", y="y", time="second", every="hour-of-day", time_zone="UTC"
    )
    planned = plan_slices(domain, epsilon=1, users=20_000, slices=24)
    (family,) = made.families
    assert isinstance(family, SliceMeasurements)
    assert family.rule == planned.rule
    assert planned.blocks is not None
    assert family.blocks is not None
    assert planned.blocks / 2 < len(family.blocks.codes) < 2 * planned.blocks


def test_inspect_shows_the_option_for_a_time_column(
    trips: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["inspect", trips[1]]) == 0
    out, err = capsys.readouterr()
    assert "time: started, day" in out
    assert "--time started --every hour-of-day --time-zone ZONE" in err
    (tmp_path / "dates.csv").write_text("person,x,y,date,start_lng\na,1,2,2024-06-03,7.5\n")
    assert run(["inspect", str(tmp_path / "dates.csv"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["guesses"]["time"] == ["date"]


# Areas, points and places


def test_areas_of_all_slices_of_one_and_what_changed(days: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["areas", days, "1", "-o", "all.csv"]) == 0
    with Path("all.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [row["slice"] for row in rows[::4]] == list(read(days).slices)
    assert run(["areas", days, "1", "--slice", "2024-06-03", "-o", "one.csv", "-o", "one.png"]) == 0
    with Path("one.csv").open() as file:
        assert [row["share"] for row in csv.DictReader(file)] == [row["share"] for row in rows[:4]]
    capsys.readouterr()
    change = ["areas", days, "1", "--slice", "2024-06-04", "--minus-slice", "2024-06-03"]
    assert run([*change, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)["areas"]
    assert told[0]["share_after"] - told[0]["share_before"] == pytest.approx(told[0]["share_change"])
    assert run(change) == 0
    assert capsys.readouterr().out.splitlines()[0].split() == ["area", "before", "after", "change", "between"]
    assert run(["areas", days, "1"]) == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()[1::4]] == list(read(days).slices)


def test_points_and_places_of_slices(days: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["sample", days, "-n", "50", "-o", "all.csv", "-o", "all.parquet"]) == 0
    with Path("all.csv").open() as file:
        assert {row["slice"] for row in csv.DictReader(file)} <= set(read(days).slices)
    assert run(["sample", days, "-n", "5", "--slice", "2024-06-03", "-o", "one.csv"]) == 0
    assert Path("one.csv").read_text().splitlines()[0] == "x,y"
    assert run(["cluster", days, "-k", "2", "--slice", "2024-06-03", "-o", "places.csv", "-o", "places.png"]) == 0


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (["areas", "days.dph.parquet", "1", "-o", "a.png"], "Areas of 4 slices are written as tables"),
        (["areas", "days.dph.parquet", "1", "--minus-slice", "2024-06-03"], "Name that one with --slice"),
        (["areas", "days.dph.parquet", "1", "--slice", "8"], "There is no slice '8'"),
        (["cluster", "days.dph.parquet", "-k", "2"], "has 4 slices, and one is needed. Name it with --slice"),
        (["sample", "days.dph.parquet", "-n", "2", "--slice", "8", "-o", "a.csv"], "There is no slice '8'"),
    ],
)
def test_slices_of_areas_points_and_places_that_are_refused(
    days: str, given: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(given) == 2
    assert words in capsys.readouterr().err


def test_a_release_alone_warns_of_faint_slices(
    trips: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    group = ["--group", "mode", "--groups", "bike,boat,car,tram,bus,foot"]
    assert run([*trips, "--no-ledger", *group, "-o", str(tmp_path / "modes.dph.parquet")]) == 0
    assert "Warning: the noise is as large as the number of people in" in capsys.readouterr().err


def test_groups_are_planned(capsys: pytest.CaptureFixture[str]) -> None:
    options = ["plan", "--epsilon", "1", "--users", "6000", "--unit", "--depth", "6"]
    assert run([*options, "--groups", "a,b,c", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["slices"]["number"], told["slices"]["groups"], told["users"]) == (3, ["a", "b", "c"], 2000)
    assert run([*options, "--groups", "a,b", "--every", "weekday"]) == 0
    out = capsys.readouterr().out
    assert "14 slices cost epsilon 1 together" in out
    assert "Expected error of a slice: people are misplaced by" in out


def test_a_terminal_is_told_which_slice_is_drawn(days: str, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[tuple[int, int]] = []
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    monkeypatch.setattr("dpheatmap.cli.terminal.Bar.at_slice", lambda bar, number, many: told.append((number, many)))
    assert run(["export", days, "-o", "days.html", "-o", "days.csv"]) == 0
    assert told == [(1, 4), (2, 4), (3, 4), (4, 4)]


def test_a_bar_names_the_slice() -> None:
    from rich.progress import Progress

    with Progress(disable=True) as progress:
        bar = Bar(progress, "Drawing")
        bar.at_slice(3, 4)
        (task,) = progress.tasks
    assert (task.description, task.completed, task.total) == ("Drawing slice 3 of 4", 2, 4)


def test_the_map_of_one_slice_says_which_it_is(days: str) -> None:
    assert run(["export", days, "--slice", "2024-06-03", "-o", "one.svg"]) == 0
    assert "3 Jun 2024" in Path("one.svg").read_text()
    assert run(["export", days, "--slice", "2024-06-03", "--subtitle", "A Monday", "-o", "other.svg"]) == 0
    assert "3 Jun 2024" not in Path("other.svg").read_text()


def test_one_slice_is_told_in_the_singular(
    trips: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([*trips, "--no-ledger", "--group", "mode", "--groups", "car", "-o", f"{tmp_path}/car.dph.parquet"]) == 0
    err = capsys.readouterr().err
    assert "1 slice, by group" in err
    assert "The slice: epsilon = 1 per person." in err
    assert "1 slices" not in err
