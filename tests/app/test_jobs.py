"""What is said of a release that failed is what the ledger says of it, wherever it failed."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import dpheatmap as dph
from dpheatmap.app.jobs import Jobs
from dpheatmap.app.shelf import Record, Shelf
from dpheatmap.app.wanted import Charge, Columns, Source
from dpheatmap.domain import Domain
from dpheatmap.errors import DpheatmapError
from served import trips


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


def tried(folder: Path, moment: str, *, spoilt: bool = False) -> tuple[Record, int]:
    """What is told of a release that fails at a moment, and how many charges there are."""
    ledger = folder / "l"
    dph.Ledger(ledger).limit("riders", 5)
    shelf = Stumbling(folder / "kept", moment, ledger if spoilt else None)
    jobs = Jobs(shelf, str(ledger), lambda record: None)
    table = trips(folder / "trips.csv", 50)
    source = Source(str(table), table.name, "it", str(table))
    columns = Columns("rider", "lon", "lat", None)
    record, _ = jobs.release(source, columns, Domain.unit(4), Charge(Fraction(1, 2), "riders"), {})
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
