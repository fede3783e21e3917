"""The worked example of docs/guides/every-day.md: a release a day until the budget is spent."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import pytest

import dpheatmap as dph
from dpheatmap.cli import run
from dpheatmap.testing import generated_people
from helpers import ROOT

PAGE = (ROOT / "docs/guides/every-day.md").read_text()
DAYS = [f"2024-06-{day:02}" for day in range(3, 10)]


@pytest.fixture
def trips(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two hundred people, all of whom are there every day."""
    monkeypatch.chdir(tmp_path)
    people = generated_people(200, extent=(-74.1, 40.6, -73.8, 40.9)).project("person AS rider, x AS lon, y AS lat")
    for day in [*DAYS, "2024-06-10"]:
        (tmp_path / "trips" / f"day={day}").mkdir(parents=True)
        people.write_parquet(str(tmp_path / "trips" / f"day={day}" / "part-0.parquet"))
    return tmp_path


def block(language: str, word: str) -> str:
    """The block of the page in a language that has a word in it."""
    (found,) = [text for text in re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL) if word in text]
    return str(found)


def test_a_week_of_releases_and_no_day_more(trips: Path, capsys: pytest.CaptureFixture[str]) -> None:
    limit, loop, each, _, show, *_ = block("bash", "for day in").replace("\\\n", " ").splitlines()
    assert re.findall(r"\S+-\d\d", loop) == DAYS
    assert run(shlex.split(limit)[1:]) == 0
    for day in [*DAYS, "2024-06-10"]:
        arguments = [word.replace("$day", day) for word in shlex.split(each)[1:]]
        assert run(arguments[: arguments.index("-o") + 2]) == (0 if day in DAYS else 4)
        assert (trips / f"{day}.dph.parquet").exists() == (day in DAYS)
    assert "riders" in capsys.readouterr().err
    assert run(shlex.split(show)[1:]) == 0
    assert re.search(r"riders +3\.5 +3\.5 +0 +7 ", capsys.readouterr().out)
    assert dph.load(trips / "2024-06-03.dph.parquet").epsilon == dph.load(trips / "2024-06-09.dph.parquet").epsilon


def test_the_week_of_the_page_costs_epsilon_once(trips: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Saturday lacks a thousand of Monday's people, over ten standard deviations of noise."""
    names: dict[str, Any] = {}
    exec(block("python", "generated_people"), names)
    week, volumes = names["week"], names["maps"].volumes
    assert week.epsilon == 1
    assert len(week.slices) == 7
    assert dph.load("week.dph.parquet").label == week.label
    people = dict(zip(volumes.labels, volumes.people, strict=True))
    assert people["sat"] < people["mon"]
    assert (trips / "weekend.png").exists()
    assert "7 slices, by weekday, clocks of America/New_York." in capsys.readouterr().out


def test_the_python_of_the_page_runs(trips: Path) -> None:
    names: dict[str, object] = {}
    exec(block("python", "aggregate"), names)
    june, release = names["june"], names["release"]
    assert isinstance(june, dph.Counts)
    assert isinstance(release, dph.Release)
    assert june.report is not None
    assert june.report.people == 200
    assert june.total <= 200 * 2**30, "who is there on eight days weighs 1"
    assert (trips / "june.counts.npy").stat().st_mode & 0o777 == 0o600


def test_why_counts_are_not_added_up(trips: Path) -> None:
    """The bug that the refusal guards against: the sum of the days' weights is eight times what a person may weigh."""
    domain = dph.Domain.bbox(-74.1, 40.6, -73.8, 40.9, resolution=50)
    columns = {"user": "rider", "x": "lon", "y": "lat"}
    only = "rider = 7"
    days = [dph.aggregate("trips", domain, where=f"{only} AND day = '{day}'", **columns).total for day in DAYS]  # type: ignore[arg-type]
    assert sum(days) > 6 * 2**30
    assert dph.aggregate("trips", domain, where=only, **columns).total <= 2**30  # type: ignore[arg-type]
