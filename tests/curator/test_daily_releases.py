"""A release a day: the limit holds whatever happens, no day is paid for twice unawares, and no data decides."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from datetime import date
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import dpheatmap as dph
from dpheatmap.curator.daily_journal import Journal, lock_folder
from dpheatmap.design.privacy_loss import ConcentratedLoss, PureLoss
from dpheatmap.errors import BudgetWarning, DataError, LedgerError, ParameterError, PrivacyRefusal, ReleaseFileError
from dpheatmap.testing import generated_people

DOMAIN = dph.Domain.unit(5)
COLUMNS: dict[str, Any] = {"user": "person", "x": "x", "y": "y"}
NOWHERE = "/nonexistent/events.csv"
DELTA = "1e-6"


@pytest.fixture(scope="module")
def people(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = str(tmp_path_factory.mktemp("people") / "people.parquet")
    generated_people(200).write_parquet(path)
    return path


@pytest.fixture
def ledger(tmp_path: Path) -> dph.Ledger:
    return dph.Ledger(tmp_path / "city.ledger")


def start(folder: Path, ledger: dph.Ledger, **changes: Any) -> dph.DailyReleases:
    options: dict[str, Any] = {
        "first": "2024-06-01",
        "days": 3,
        "limit": 1,
        "users": 200,
        "population": "riders",
    } | changes
    return dph.DailyReleases.start(folder, DOMAIN, ledger=ledger, **options)


def release(days: dph.DailyReleases, events: object, day: str, ledger: dph.Ledger, **options: Any) -> dph.Release:
    return days.release(events, day=day, ledger=ledger, **COLUMNS, **options)


@pytest.mark.parametrize(
    ("delta", "days", "users", "way"),
    [(None, 3, 200, "sum"), (DELTA, 2, 200, "sum"), (DELTA, 30, 200, "gaussian"), (DELTA, 52, 100_000, "gaussian")],
)
def test_all_days_are_reserved_at_once_and_nothing_else_fits(
    tmp_path: Path, ledger: dph.Ledger, people: str, delta: str | None, days: int, users: int, way: str
) -> None:
    ledger.limit("riders", 1, delta=delta)
    made = start(tmp_path / "days", ledger, delta=delta, days=days, users=users)
    assert made.plan.way == way
    account = ledger.accounts()["riders"]
    assert account.limit is not None
    assert account.spent <= account.limit.amount
    with pytest.raises(PrivacyRefusal, match="this release asks for"):
        ledger.charge("riders", made.plan.limit / 2)
    first = release(made, people, "2024-06-01", ledger)
    assert isinstance(first.loss, ConcentratedLoss if way == "gaussian" else PureLoss)
    assert first.noise.family == ("discrete Gaussian" if way == "gaussian" else "discrete Laplace")
    assert ledger.accounts()["riders"].spent == account.spent, "a day costs nothing more"
    assert ledger.verify([first]) == 3


def test_a_whole_series_keeps_the_limit(tmp_path: Path, ledger: dph.Ledger, people: str) -> None:
    ledger.limit("riders", 1)
    days = start(tmp_path / "days", ledger)
    for day in ("2024-06-02", "2024-06-01", "2024-06-03"):
        assert release(days, people, day, ledger).epsilon == Fraction(1, 3)
    assert list(days.releases) == [date(2024, 6, day) for day in (1, 2, 3)]
    assert set(days.days.values()) == {"released"}
    assert ledger.accounts()["riders"].epsilon == 1
    (tmp_path / "days" / "2024-06-01.dph.parquet").unlink()
    with pytest.raises(PrivacyRefusal, match="was charged before"):
        release(days, NOWHERE, "2024-06-01", ledger)
    with pytest.raises(PrivacyRefusal, match="All 3 releases of the series 2"):
        release(days, people, "2024-06-01", ledger, again=True)
    assert dph.combine(days.releases.values(), same=False).epsilon == Fraction(2, 3)


def test_what_the_calendar_and_the_folder_refuse_is_refused_before_the_table_is_opened(
    tmp_path: Path, ledger: dph.Ledger, people: str
) -> None:
    ledger.limit("riders", 1)
    days = start(tmp_path / "days", ledger)
    release(days, people, "2024-06-02", ledger)
    for day, words in (
        ("2024-06-02", "is there already"),
        ("2024-05-31", "not a day of this series"),
        ("2024-06-04", "from 2024-06-01 to 2024-06-03"),
        ("June", "A day is a date"),
        (20240601, "A day is a date"),
    ):
        with pytest.raises(ParameterError, match=words):
            release(days, NOWHERE, day, ledger)  # type: ignore[arg-type]
    assert len(ledger.entries()) == 3
    with pytest.raises(LedgerError, match="does not hold the reservation"):
        release(days, NOWHERE, "2024-06-01", dph.Ledger(tmp_path / "other.ledger"))


def test_a_population_needs_a_limit_that_the_days_fit_into(tmp_path: Path, ledger: dph.Ledger) -> None:
    command = "dpheatmap ledger limit LEDGER --population riders --epsilon 1 --delta 0.000001"
    with pytest.raises(PrivacyRefusal, match=command):
        start(tmp_path / "days", ledger, delta=DELTA)
    ledger.limit("riders", "1/2")
    with pytest.raises(PrivacyRefusal, match=r"has 0\.5 of its limit of 0\.5 left"):
        start(tmp_path / "days", ledger)
    with pytest.raises(PrivacyRefusal, match="change-limit"):
        start(tmp_path / "days", ledger, delta=DELTA, days=52, users=100_000)
    assert not (tmp_path / "days" / "series.json").exists()
    assert len(ledger.entries()) == 1
    start(tmp_path / "days", ledger, limit="1/2")
    with pytest.raises(ParameterError, match="holds a series already"):
        start(tmp_path / "days", ledger, limit="1/2")


def test_a_refused_day_is_not_paid_for_and_stays_open(tmp_path: Path, ledger: dph.Ledger, people: str) -> None:
    ledger.limit("riders", 1)
    days = start(tmp_path / "days", ledger)
    with pytest.raises(DataError):
        release(days, NOWHERE, "2024-06-01", ledger)
    assert set(days.days.values()) == {"open"}
    release(days, people, "2024-06-01", ledger)
    assert ledger.accounts()["riders"].series[2].used == 1


KILLED = """
import os, signal, sys
import dpheatmap as dph
from dpheatmap.curator import publish

def kill(*given, **named):
    os.kill(os.getpid(), signal.SIGKILL)

module, name = {"reading": (publish, "count"), "paid": (publish, "measure_release"), "saving": (dph.Release, "save")}[
    sys.argv[4]
]
setattr(module, name, kill)
folder, ledger, people = sys.argv[1:4]
dph.DailyReleases(folder).release(people, day="2024-06-02", ledger=ledger, user="person", x="x", y="y")
"""


@pytest.mark.parametrize(("moment", "paid"), [("reading", False), ("paid", True), ("saving", True)])
def test_a_killed_release_is_told_before_the_day_is_paid_for_again(
    tmp_path: Path, ledger: dph.Ledger, people: str, moment: str, paid: bool
) -> None:
    ledger.limit("riders", 1)
    folder = tmp_path / "days"
    days = start(folder, ledger)
    arguments = [str(folder), str(tmp_path / "city.ledger"), people, moment]
    killed = subprocess.run([sys.executable, "-c", KILLED, *arguments], capture_output=True)
    assert killed.returncode == -signal.SIGKILL
    assert days.days[date(2024, 6, 2)] == "begun"
    assert ledger.accounts()["riders"].series[2].used == paid
    release(days, people, "2024-06-01", ledger)  # other days go on, and find out
    assert days.days[date(2024, 6, 2)] == ("lost" if paid else "open")
    if paid:
        with pytest.raises(PrivacyRefusal, match="takes the part of another day"):
            release(days, NOWHERE, "2024-06-02", ledger)
    release(days, people, "2024-06-02", ledger, again=paid)
    assert ledger.accounts()["riders"].series[2].used == 2 + paid
    if paid:
        with pytest.raises(PrivacyRefusal, match="Nothing of it is left"):
            release(days, NOWHERE, "2024-06-03", ledger)
    else:
        release(days, people, "2024-06-03", ledger)
    assert ledger.accounts()["riders"].epsilon == 1


def test_what_was_paid_for_is_kept_if_its_place_fails(
    tmp_path: Path, ledger: dph.Ledger, people: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger.limit("riders", 1)
    days, save = start(tmp_path / "days", ledger), dph.Release.save

    def fail(made: dph.Release, path: Path) -> None:
        if path.name == "2024-06-01.dph.parquet":
            raise KeyboardInterrupt
        save(made, path)

    monkeypatch.setattr(dph.Release, "save", fail)
    with pytest.warns(BudgetWarning, match="Move it to"), pytest.raises(KeyboardInterrupt):
        release(days, people, "2024-06-01", ledger)
    (kept,) = (tmp_path / "days").glob("2024-06-01-*.dph.parquet")
    with pytest.raises(PrivacyRefusal, match="Put it back"):
        release(days, NOWHERE, "2024-06-01", ledger)
    kept.rename(days.path_of("2024-06-01"))
    assert days.days[date(2024, 6, 1)] == "released"
    assert ledger.verify(days.releases.values()) == 3


def test_a_reservation_whose_folder_failed_is_taken_over(
    tmp_path: Path, ledger: dph.Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger.limit("riders", 1)

    def fail(*given: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Journal, "write", fail)
        with pytest.warns(BudgetWarning, match="Start again with series 2"), pytest.raises(KeyboardInterrupt):
            start(tmp_path / "days", ledger)
    for wrong in ({"series": 1}, {"series": 2, "days": 4}, {"series": 2, "limit": 2}):
        with pytest.raises(PrivacyRefusal, match="does not reserve these"):
            start(tmp_path / "days", ledger, **wrong)
    assert start(tmp_path / "days", ledger, series=2).entry.number == 2
    assert len(ledger.entries()) == 2


def test_an_old_copy_of_the_folder_is_told(tmp_path: Path, ledger: dph.Ledger, people: str) -> None:
    ledger.limit("riders", 1)
    days = start(tmp_path / "days", ledger)
    old = (tmp_path / "days" / "series.json").read_bytes()
    release(days, people, "2024-06-01", ledger)
    (tmp_path / "old").mkdir()
    (tmp_path / "old" / "series.json").write_bytes(old)
    copy = dph.DailyReleases(tmp_path / "old")
    with pytest.raises(PrivacyRefusal, match="1 more of the releases"):
        release(copy, NOWHERE, "2024-06-01", ledger)
    release(copy, people, "2024-06-02", ledger, again=True)
    assert ledger.accounts()["riders"].series[2].used == 2


def test_one_process_at_a_time(tmp_path: Path, ledger: dph.Ledger, people: str) -> None:
    ledger.limit("riders", 1)
    days = start(tmp_path / "days", ledger)
    with (
        lock_folder(tmp_path / "days"),
        pytest.raises(LedgerError, match="Another process is at work"),
    ):
        release(days, NOWHERE, "2024-06-01", ledger)
    release(days, people, "2024-06-01", ledger)


def test_the_file_of_the_folder_is_public_and_checked(tmp_path: Path, ledger: dph.Ledger, people: str) -> None:
    """Nothing in it depends on people: the same days of another table give the same file."""
    ledger.limit("riders", 1)
    days = start(tmp_path / "days", ledger)
    file = tmp_path / "days" / "series.json"
    release(days, people, "2024-06-01", ledger)
    values = json.loads(file.read_text())
    assert set(values) == {"format", *days.plan.to_dict(), "ledger", "begun", "paid"}
    assert values["paid"] == {"2024-06-01": 1}
    damages = [
        {"format": 2}, {"way": "guess"}, {"days": 0}, {"each": "0"}, {"ledger": None}, {"begun": "2024-07-01"},
        {"paid": {"2024-06-01": 0}}, {"paid": []}, {"domain": {}}, {"way": "gaussian"}, {"first": 3},
    ]  # fmt: skip
    for damage in damages:
        file.write_text(json.dumps(values | damage))
        with pytest.raises(ReleaseFileError, match="damaged or of another version"):
            dph.DailyReleases(tmp_path / "days")
    for text in ("", "[]", "[" * 100_000, "3"):
        file.write_text(text)
        with pytest.raises(ReleaseFileError, match="damaged or of another version"):
            dph.DailyReleases(tmp_path / "days")
    with pytest.raises(ReleaseFileError, match=r"There is no series\.json"):
        dph.DailyReleases(tmp_path)


def test_a_broken_line_refuses_no_day(tmp_path: Path, ledger: dph.Ledger) -> None:
    ledger.limit("riders", 1)
    days = start(tmp_path / "days", ledger)
    table = tmp_path / "day.csv"
    table.write_text('person,x,y\n1,0.5,0.5\n2,"0.5,0.5\n')
    release(days, str(table), "2024-06-01", ledger)
    with pytest.raises(DataError):
        release(days, str(table), "2024-06-02", ledger, bad_lines="stop")
