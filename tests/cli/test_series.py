"""``dpheatmap series``: the commands of docs/guides/every-day.md, and what they refuse."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest

import dpheatmap as dph
from dpheatmap.cli import run
from dpheatmap.testing import generated_people
from helpers import ROOT

PAGE = (ROOT / "docs/guides/every-day.md").read_text()
DAYS = [f"2024-06-{day:02}" for day in range(3, 6)]


@pytest.fixture
def trips(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two hundred people, all of whom are there every day."""
    monkeypatch.chdir(tmp_path)
    people = generated_people(200, extent=(-74.1, 40.6, -73.8, 40.9)).project("person AS rider, x AS lon, y AS lat")
    for day in DAYS:
        (tmp_path / "trips" / f"day={day}").mkdir(parents=True)
        people.write_parquet(str(tmp_path / "trips" / f"day={day}" / "part-0.parquet"))
    return tmp_path


def commands() -> list[list[str]]:
    """The commands of the page."""
    (text,) = [text for text in re.findall(r"```bash\n(.*?)```", PAGE, re.DOTALL) if "series start" in text]
    return [shlex.split(line)[1:] for line in text.replace("\\\n", " ").splitlines()]


def for_day(command: list[str], day: str) -> list[str]:
    return [word.replace("2024-06-03", day) for word in command]


def test_the_commands_of_the_page(trips: Path, capsys: pytest.CaptureFixture[str]) -> None:
    limit, start, release, every, one, show = commands()
    assert run(start) == 4, "no limit is set yet"
    assert "dpheatmap ledger limit LEDGER --population riders --epsilon 1 --delta 0.000001" in capsys.readouterr().err
    assert run(limit) == 0
    assert run(start) == 0
    assert "Gaussian noise" in capsys.readouterr().out
    assert run(every) == 2
    assert "No day was released yet" in capsys.readouterr().err
    for number, day in enumerate(DAYS, 1):
        assert run(for_day(release, day)) == 0
        assert capsys.readouterr().out == f"june/{day}.dph.parquet\n"
        assert run(every) == 0
        capsys.readouterr()
        assert run([*show, "--json"]) == 0
        told = json.loads(capsys.readouterr().out)
        assert told["released"] == DAYS[:number]
        assert len(told["open"]) == 30 - number
    assert run(one) == 0
    assert all((trips / name).exists() for name in ("june.html", "monday.png"))
    assert run(show) == 0
    assert re.search(r"Released +3 +2024-06-03 to 2024-06-05\nOpen +27 +2024-06-01 to", capsys.readouterr().out)
    assert dph.Ledger("june.ledger").accounts()["riders"].series[2].used == 3


def test_what_is_refused(trips: Path, capsys: pytest.CaptureFixture[str]) -> None:
    limit, start, release, *_ = commands()
    assert run(["series", "show", "june"]) != 0
    assert run(limit) == 0
    assert run(start) == 0
    assert run(start) == 2
    assert "holds a series already" in capsys.readouterr().err
    assert run(release) == 0
    capsys.readouterr()
    assert run(release) == 2
    assert "a day is released once" in capsys.readouterr().err
    assert run(for_day(release, "2024-07-01")) == 2
    assert "not a day of this series" in capsys.readouterr().err
    assert run(["series", "map", "june", "--day", "2024-06-09", "-o", "map.png"]) == 2
    assert "Release the day first" in capsys.readouterr().err
    for extra in (["-o", "all.dph.parquet"], ["-o", "a.png", "--method", "paper"]):
        assert run(["series", "map", "june", *extra]) == 2
    (trips / "june" / "2024-06-03.dph.parquet").unlink()
    assert run(release) == 4
    assert "--again" in capsys.readouterr().err
    assert run([*release, "--again"]) == 0
    assert dph.Ledger("june.ledger").accounts()["riders"].series[2].used == 2


def test_the_map_of_a_day_names_the_others(trips: Path) -> None:
    limit, start, release, *_ = commands()
    for command in (limit, start, *(for_day(release, day) for day in DAYS)):
        assert run(command) == 0
    found = list(dph.DailyReleases("june").releases.values())
    heat = found[0].heatmap(prior=found[1:])
    assert heat.priors == tuple(found[1:])


def test_a_lost_reservation_is_taken_over(trips: Path, capsys: pytest.CaptureFixture[str]) -> None:
    limit, start, *_ = commands()
    assert run(limit) == 0
    assert run(start) == 0
    (trips / "june" / "series.json").unlink()
    assert run(start) == 4
    assert run([*start, "--reserved", "2"]) == 0
    assert len(dph.Ledger("june.ledger").entries()) == 2
