"""Releases in progress: in a thread, one after the other, with progress and cancelling, charged once.

**Once.** A request is identified by its fingerprint: the table, the columns, the place, epsilon, the population. While
the same request is in progress or its release is on the shelf, a repeated request, from another tab or by a second
click, returns that one. A further release with the same settings names its predecessor, which makes it another request.

**The order on disk.** (1) The record says that a charge is coming, with its time; (2) the ledger is charged; (3) the
record gets the entry; (4) noise is drawn and the release is written. Cancelling works up to (1). If the app is killed
before (2), nothing is charged; after it, the charge stands, because nobody can know what was seen. If (3) failed or was
not reached, the entry is found later by its time, population and epsilon.
"""

from __future__ import annotations

import shutil
import sys
import traceback
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from threading import Event, Lock
from typing import Any, Protocol

from dpheatmap._util.files import check_writable
from dpheatmap.app.release_request import Charge, Columns, Source
from dpheatmap.app.release_shelf import (
    BACKGROUND,
    CANCELLED,
    DONE,
    FAILED,
    LOST,
    MAP,
    PLACE,
    STOPPED,
    UNDER_WAY,
    Record,
    Shelf,
)
from dpheatmap.app.texts import say, without_commands
from dpheatmap.curator import Ledger, RowReport, discover, release
from dpheatmap.errors import DpheatmapError
from dpheatmap.place.domain import Domain
from dpheatmap.releases.release import LedgerEntry


class _Cancelled(BaseException):
    """Ends a release before anything was charged."""


@dataclass
class Job:
    """The state of a release in progress, beyond its record; not stored."""

    cancel: Event = field(default_factory=Event)
    part: float = -1.0
    seconds: float = 0.0
    drawn: tuple[int, int] | None = None
    """The number of the slice that is being drawn, and of how many."""
    private: dict[str, Any] | None = None
    """Exact numbers of the reading, for the data holder only."""

    def tick(self, part: float, seconds: float) -> None:
        """Record progress while the table is read."""
        self.part, self.seconds = part, seconds
        self.stop_if_cancelled()

    def tell_slice(self, number: int, of: int) -> None:
        """Record progress while slices are drawn."""
        self.drawn = number, of

    def stop_if_cancelled(self) -> None:
        """Raise if the release was cancelled."""
        if self.cancel.is_set():
            raise _Cancelled

    def keep_report(self, report: RowReport) -> None:
        """Keep the report of the reading, for the data holder."""
        self.private = vars(report)


class JournalledLedger(Ledger):
    """A ledger with callbacks before and after it charges.

    It notes a file that was given by its path, but not an upload: another upload may get the same path.
    """

    def __init__(
        self,
        where: str,
        file: str | None,
        before: Callable[[dict[str, Any]], None],
        after: Callable[[LedgerEntry], None],
    ) -> None:
        super().__init__(where)
        self._file, self._before, self._after = file, before, after

    def note_files(self, population: str, marks: Iterable[bytes]) -> None:
        """`Ledger.note_files`, for a file given by its path."""
        if self._file is not None:
            super().note_files(population, marks)

    def charge(
        self, population: str, epsilon: object = None, *, made: datetime | None = None, **more: Any
    ) -> LedgerEntry:
        """`Ledger.charge`, with the journal written around it."""
        made = made or datetime.now(UTC).replace(microsecond=0)
        self._before({"population": population, "epsilon": str(epsilon), "made": made.isoformat()})
        entry = super().charge(population, epsilon, made=made, **more)
        self._after(entry)
        return entry


Draw = Callable[[Record, Callable[[int, int], None]], None]
"""Draws what a visit begins with, and tells which slice is being drawn, and of how many."""


class Jobs:
    """All releases in progress."""

    def __init__(self, shelf: Shelf, ledger: str, draw: Draw) -> None:
        self._shelf, self._ledger, self._draw = shelf, ledger, draw
        self._jobs: dict[str, Job] = {}
        self._lock = Lock()
        self._pool = ThreadPoolExecutor(1, "release")

    def release(
        self,
        source: Source,
        columns: Columns,
        domain: Domain,
        charge: Charge,
        wanted: dict[str, Any],
        title: str = "",
        after: str | None = None,
        picture: Path | None = None,
        slices: Mapping[str, Any] | None = None,
    ) -> tuple[Record, bool]:
        """Start a release, or return the one that the same request made before; also returns whether it existed.

        The title is no part of the request: a map is not paid for again to be called otherwise.
        """
        work = _Release(source, columns, domain, charge, picture, slices or {})
        return self._begin(MAP, source, wanted, title, after, work)

    def discover(self, source: Source, columns: Columns, charge: Charge, wanted: dict[str, Any]) -> tuple[Record, bool]:
        """Start a search for a place, or return the one that the same request made before."""
        return self._begin(PLACE, source, wanted, "", None, _Discovery(source, columns, charge))

    def _begin(
        self, kind: str, source: Source, wanted: dict[str, Any], title: str, after: str | None, work: _Work
    ) -> tuple[Record, bool]:
        fingerprint = self._shelf.fingerprint([kind, source.identity, wanted, after])
        with self._lock:
            before = self._shelf.find_like(fingerprint)
            if before is not None:
                return before, True
            Ledger(self._ledger).check(work.charge.population, work.charge.epsilon)
            record = self._shelf.add(kind, source.name, wanted, fingerprint, title)
            self._jobs[record.id] = Job()
            used = ExitStack()  # held from now on, also while the job waits
            used.enter_context(source.used())
            self._pool.submit(self._run, record.id, work).add_done_callback(lambda _: used.close())
            return record, False

    def progress(self, id: str) -> Job | None:
        """The progress of a release; None for those of earlier runs."""
        return self._jobs.get(id)

    def cancel(self, id: str) -> Record:
        """Cancel a release, unless it was charged already."""
        with self._lock:
            if id in self._jobs and self._shelf.get(id).state in UNDER_WAY:
                self._jobs[id].cancel.set()
        return self._shelf.get(id)

    def close(self) -> None:
        """Cancel the jobs that can be cancelled and wait for the rest, so that no charged release is lost."""
        for job in list(self._jobs.values()):
            job.cancel.set()
        self._pool.shutdown(wait=True)

    def _run(self, id: str, work: _Work) -> None:
        job, change = self._jobs[id], self._shelf.change

        def before(charge: dict[str, Any]) -> None:
            with self._lock:  # after this, cancelling is too late
                job.stop_if_cancelled()
                change(id, state="charging", charge=charge)

        def after(entry: LedgerEntry) -> None:
            change(id, charge={**(self._shelf.get(id).charge or {}), "entry": entry.number})

        try:
            job.stop_if_cancelled()
            check_writable(self._shelf.release_path(id))
            change(id, state="reading")
            ledger = JournalledLedger(self._ledger, work.source.path, before, after)
            result = work(job, ledger, self._shelf.release_path(id))
            record = change(id, state="drawing", result=result)
            self._draw(record, job.tell_slice)
            change(id, state=DONE)
        except _Cancelled:
            change(id, state=CANCELLED, message=say("cancelled"))
        except DpheatmapError as error:
            self._end(id, without_commands(str(error)))
        except Exception as error:
            log_error(error)
            self._end(id, say("unexpected"))

    def _end(self, id: str, message: str) -> None:
        """Record how a release failed: with or without its file, and with or without a charge, by the ledger."""
        record = self._shelf.get(id)
        if self._shelf.release_path(id).is_file():
            self._shelf.change(id, state=DONE, message=message)
            return
        try:
            charge = _charge_entry(Ledger(self._ledger), record.charge)
        except DpheatmapError:  # the ledger can't be read, so nothing is said about a charge
            self._shelf.change(id, state=FAILED, message=message)
            return
        if charge is None:
            self._shelf.change(id, state=FAILED, message=f"{message} {say('not_charged')}", charge=None)
        else:
            self._shelf.change(id, state=LOST, message=f"{message} {say('charged', **charge)}", charge=charge)


class _Work(Protocol):
    """The work of a job, with its table and its charge."""

    @property
    def source(self) -> Source:
        """The table."""

    @property
    def charge(self) -> Charge:
        """The population that is charged, and the amount."""

    def __call__(self, job: Job, ledger: Ledger, path: Path) -> dict[str, Any]:
        """Read, charge and write; returns the fields to store in the record."""


@dataclass(frozen=True)
class _Release:
    """The work of one release: read, charge, draw noise, write the release."""

    source: Source
    columns: Columns
    domain: Domain
    charge: Charge
    picture: Path | None
    slices: Mapping[str, Any]
    """The options of `release` for slices; none for one map."""

    def __call__(self, job: Job, ledger: Ledger, path: Path) -> dict[str, Any]:
        """Make the release; nothing is stored in the record, because the release itself is the result."""
        if self.picture is not None:
            shutil.copyfile(self.picture, path.with_name(BACKGROUND))
        with self.source.name_in_errors():
            made = release(
                self.source.events,
                self.domain,
                epsilon=self.charge.epsilon,
                ledger=ledger,
                population=self.charge.population,
                progress=job.tick,
                seen=job.keep_report,
                **self.slices,
                **self.columns.options(),
            )
        made.save(path)
        return {}


@dataclass(frozen=True)
class _Discovery:
    """The work of a search for a place: read, charge, and find a box by noisy answers."""

    source: Source
    columns: Columns
    charge: Charge

    def __call__(self, job: Job, ledger: Ledger, path: Path) -> dict[str, Any]:
        """Find the place; the record stores it, now public, and the claim about it."""
        with self.source.name_in_errors():
            found = discover(
                self.source.events,
                epsilon=self.charge.epsilon,
                ledger=ledger,
                population=self.charge.population,
                progress=job.tick,
                seen=job.keep_report,
                **self.columns.options(),
            )
        return {"place": {"kind": "bbox", "bounds": list(found.box)}, "found": found.found, "words": found.in_words}


def recover(shelf: Shelf, ledger: str) -> list[Record]:
    """Determine the outcome of releases that were in progress when an earlier run ended, and record it."""
    found = []
    for record in shelf.all():
        if record.state not in UNDER_WAY:
            continue
        if shelf.release_path(record.id).is_file() or record.result:
            found.append(shelf.change(record.id, state=DONE, message=say("recovered")))
            continue
        charge = _charge_entry(Ledger(ledger), record.charge)
        if charge is None:
            found.append(shelf.change(record.id, state=STOPPED, message=say("stopped"), charge=None))
        else:
            found.append(shelf.change(record.id, state=LOST, message=say("lost", **charge), charge=charge))
    return found


def _charge_entry(ledger: Ledger, charge: dict[str, Any] | None) -> dict[str, Any] | None:
    """The charge that a record announces, with the number of its entry; None if the ledger has no such entry."""
    if charge is None or "entry" in charge:
        return charge
    for row in reversed(ledger.entries()):
        same = row.kind == "charge" and row.population == charge["population"] and row.made == charge["made"]
        if same and Fraction(row.epsilon) == Fraction(charge["epsilon"]):
            return {**charge, "entry": row.number}
    return None


def log_error(error: BaseException) -> None:
    """Print an unexpected error on the terminal: its type and position, without its text, which may quote data."""
    where = traceback.extract_tb(error.__traceback__)[-1]
    print(f"dpheatmap app: {type(error).__name__} in {where.filename}:{where.lineno}", file=sys.stderr)
