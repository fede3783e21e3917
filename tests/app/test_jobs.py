"""What is said of a release that failed or was killed is what the ledger says of it, at whatever moment that was."""

from __future__ import annotations

import json
import signal
import time
from contextlib import suppress
from datetime import datetime
from fractions import Fraction
from pathlib import Path
from typing import Any

import httpx
import pytest

import dpheatmap as dph
from dpheatmap.app.jobs import Draw, Jobs, recover
from dpheatmap.app.release_request import Charge, Columns, Source
from dpheatmap.app.release_shelf import Record, Shelf
from dpheatmap.app.texts import say
from dpheatmap.errors import DpheatmapError
from dpheatmap.place.domain import Domain
from dpheatmap.render import RELEASE_SUFFIX
from helpers.served import PATIENCE, ended, serving, trips, wanted

# Failures


class Stumbling(Shelf):
    """A shelf on a disk that is full at one moment: a state, or a charge with its entry, can't be written."""

    def __init__(self, folder: Path, moment: str, meanwhile: Path | None = None) -> None:
        super().__init__(folder)
        self._moment, self._meanwhile = moment, meanwhile

    def change(self, id: str, **changes: Any) -> Record:
        if changes.get("state") == self._moment or self._moment in (changes.get("charge") or {}):
            self._moment = "never again"
            if self._meanwhile is not None:
                self._meanwhile.write_bytes(b"rubbish" * 1000)
            else:
                raise DpheatmapError("The disk is full.")
        return super().change(id, **changes)


def tried(
    folder: Path, moment: str = "never", *, spoilt: bool = False, draw: Draw = lambda record, tell: None
) -> tuple[Record, int]:
    """What is told of a release that fails at a moment, and how many charges there are."""
    ledger = folder / "l"
    dph.Ledger(ledger).limit("riders", 5)
    shelf = Stumbling(folder / "kept", moment, ledger if spoilt else None)
    jobs = Jobs(shelf, str(ledger), draw)
    table = trips(folder / "trips.csv", 50)
    source = Source(str(table), table.name, "it", str(table))
    columns = Columns("rider", "lon", "lat", None)
    place = Domain.bbox(7.3, 46.9, 7.5, 47.0, depth=12)
    record, _ = jobs.release(source, columns, place, Charge(Fraction(1, 2), "riders"), {})
    jobs._pool.shutdown(wait=True)
    return shelf.get(record.id), 0 if spoilt else dph.Ledger(ledger).accounts()["riders"].charges


def test_a_charge_that_could_not_be_noted_down_is_told(tmp_path: Path) -> None:
    """Planted in the journal: the disk is full between the ledger's entry and the note of it."""
    record, charges = tried(tmp_path, "entry")
    assert (record.state, charges) == ("lost", 1)
    assert record.message == (
        "The disk is full. Epsilon 1/2 was charged to riders (entry 2 of the ledger) and stays charged."
    )
    assert record.charge is not None
    assert record.charge["entry"] == 2


def test_what_fails_before_the_charge_costs_nothing(tmp_path: Path) -> None:
    record, charges = tried(tmp_path, "charging")
    assert (record.state, record.message, charges) == ("failed", "The disk is full. Nothing was charged.", 0)


def test_of_a_ledger_that_cannot_be_read_nothing_is_claimed(tmp_path: Path) -> None:
    record, _ = tried(tmp_path, "charging", spoilt=True)
    assert record.state == "failed"
    assert "is not a ledger, or it is damaged" in record.message
    assert "charged" not in record.message


def test_an_error_that_nobody_foresaw_quotes_no_data(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The terminal says of which kind it is and where; its own words might be somebody's row."""

    def fail(record: Record, tell: object) -> None:
        raise ValueError("ann was at 7.4, 46.9")

    record, charges = tried(tmp_path, draw=fail)
    assert (record.state, record.message, charges) == ("done", say("unexpected"), 1)
    told = capsys.readouterr()
    assert told.err.startswith("dpheatmap app: ValueError in ")
    assert "ann was at" not in told.err + told.out


# Kills


@pytest.mark.parametrize(
    ("moment", "state", "charges", "words"),
    [
        (("job.json", '"charging"'), "stopped", 0, "before anything was charged. It can be made again."),
        (("job.json", '"entry"'), "lost", 1, "after epsilon 1 was charged to riders (entry 2 of the ledger)"),
        (("release.dph.parquet", ""), "lost", 1, "after epsilon 1 was charged to riders (entry 2 of the ledger)"),
        (("job.json", '"drawing"'), "done", 1, "It is whole, and was charged once."),
    ],
    ids=["read", "charged", "noised", "written"],
)
def test_a_kill_in_mid_release_is_told_at_the_next_start(
    tmp_path: Path, moment: tuple[str, str], state: str, charges: int, words: str
) -> None:
    """Killed between any two steps: before the charge, between charge and file, and after it."""
    kept, ledger = tmp_path / "kept", str(tmp_path / "l")
    dph.Ledger(ledger).limit("riders", 5)
    body = wanted({"path": str(trips(tmp_path / "trips.csv", 50))}, "riders")
    with serving(kept, ledger, killed_at=moment) as served, served.opened() as client:
        assert client.put("/api/uploads?name=a.csv", content=b"rider,lon,lat\n1,7.4,46.9\n").status_code == 200
        with suppress(httpx.TransportError):  # the end may come before the answer
            client.post("/api/releases", json=body)
        assert served.process.wait(PATIENCE) == -signal.SIGKILL
    assert served.charges("riders") == charges
    with serving(kept, ledger) as served, served.opened() as client:
        assert list((kept / "uploads").iterdir()) == []
        (notice,) = client.get("/api/start").json()["notices"]
        assert notice["state"] == state
        assert words in notice["message"]
        assert (kept / "releases" / notice["id"] / "release.dph.parquet").is_file() == (state == "done")
        assert served.charges("riders") == charges
        again = client.post("/api/releases", json=body).json()
        assert (again["id"] == notice["id"], again["repeated"]) == (state == "done", state == "done")
        if state == "done":
            assert client.get(f"/api/releases/{notice['id']}/file/{RELEASE_SUFFIX}").status_code == 200
            dph.Ledger(ledger).verify([Shelf(kept).release(notice["id"])])
        else:
            client.post(f"/api/releases/{again['id']}/cancel")
            made = ended(client, again["id"])["state"] == "done"
            assert served.charges("riders") == charges + made


def test_kills_at_any_moment_leave_ledger_and_shelf_in_step(tmp_path: Path) -> None:
    """Whatever the moment: what the next start says of a release is what the ledger says."""
    ledger = str(tmp_path / "l")
    dph.Ledger(ledger).limit("riders", 100)
    table = trips(tmp_path / "trips.csv", 50)
    told = []
    for k in range(4):
        with serving(tmp_path / "kept", ledger) as served, served.opened() as client:
            before = served.charges("riders")
            place = {"kind": "unit"}
            body = wanted({"path": str(table)}, "riders", place=place, epsilon=f"0.{k + 1}")
            id = client.post("/api/releases", json=body).json()["id"]
            time.sleep(0.02 + 0.5 * k)
            served.process.send_signal(signal.SIGKILL)
            served.process.wait()
        recover(shelf := Shelf(tmp_path / "kept"), ledger)
        record = shelf.get(id)
        told.append(record.state)
        charged = dph.Ledger(ledger).accounts()["riders"].charges - before
        assert charged == (record.state in ("done", "lost")), told
        assert shelf.release_path(id).is_file() == (record.state == "done")
        dph.Ledger(ledger).verify([shelf.release(id)] if record.state == "done" else [])


def test_a_charge_whose_release_was_lost_is_told(tmp_path: Path) -> None:
    """Killed between the ledger's charge and the file: the next start finds the entry, and says that it stays."""
    ledger = dph.Ledger(tmp_path / "l")
    ledger.limit("riders", 5)
    shelf = Shelf(tmp_path / "kept")
    lost, early = (shelf.add("map", "t.csv", {"epsilon": "1"}, name) for name in ("a", "b"))
    journal = {"population": "riders", "epsilon": "1/2", "made": "2026-01-02T03:04:05+00:00"}
    for record in (lost, early):
        shelf.change(record.id, state="charging", charge=journal)
    assert [record.state for record in recover(Shelf(tmp_path / "kept"), str(tmp_path / "l"))] == ["stopped", "stopped"]
    shelf.change(lost.id, state="charging", charge=journal)
    ledger.charge("riders", "0.25", made=datetime.fromisoformat(journal["made"]))
    entry = ledger.charge("riders", "0.5", made=datetime.fromisoformat(journal["made"]))
    (found,) = recover(Shelf(tmp_path / "kept"), str(tmp_path / "l"))
    assert (found.id, found.state, found.charge) == (lost.id, "lost", {**journal, "entry": entry.number})
    assert f"(entry {entry.number} of the ledger)" in found.message


def test_a_damaged_record_is_left_alone(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path)
    record = shelf.add("map", "t.csv", {}, "a")
    (tmp_path / "releases" / record.id / "job.json").write_text(json.dumps({"id": 3})[:-1])
    assert Shelf(tmp_path).all() == []
