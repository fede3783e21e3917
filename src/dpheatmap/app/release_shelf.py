"""The shelf of releases that were made or tried, one folder each: the request, its state, and the release itself.

A folder's ``job.json`` is the journal of one release. Each step is on disk before it happens, so that after a crash the
next start knows how far the release came (`jobs.py`). The journal never contains exact numbers about people.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import re
import secrets
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from threading import RLock
from typing import Any

from dpheatmap._util.files import replace_whole
from dpheatmap.app.texts import say
from dpheatmap.errors import DataError, DpheatmapError
from dpheatmap.releases.release import Release, load
from dpheatmap.releases.sliced_release import SlicedRelease

UNDER_WAY = ("waiting", "reading", "charging", "drawing")
DONE, FAILED, CANCELLED, STOPPED, LOST = "done", "failed", "cancelled", "stopped", "lost"
MAP, PLACE = "map", "place"
BACKGROUND = "background"
"""The name of the file, in a release's folder, of the picture that people looked at."""


class AlreadyRunning(DpheatmapError):  # noqa: N818
    """Raised for a folder that another app uses."""


@dataclass(frozen=True)
class Record:
    """The journal of one release, or of one discovery of a place."""

    id: str
    kind: str
    state: str
    made: str
    file: str
    wanted: dict[str, Any]
    fingerprint: str
    charge: dict[str, Any] | None = None
    """The coming or past charge: population, epsilon, time, and the number of the ledger's entry."""
    message: str = ""
    result: dict[str, Any] = field(default_factory=dict)
    title: str = ""
    """The title of the map in its owner's words; empty for the default one."""
    sigma: float | None = None
    """The smoothing that was chosen last; None for the default one."""
    look: dict[str, Any] = field(default_factory=dict)
    """How the map was shown last, in the page's own terms."""


def public_fields(record: Record) -> dict[str, Any]:
    """The fields of a record that the page gets."""
    return {name: value for name, value in asdict(record).items() if name != "fingerprint"}


class Shelf:
    """The folder of all records. One app at a time holds it."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._trash = folder / "releases", folder / "trash"
        self._lock = RLock()
        for place in (folder, self._folder):
            place.mkdir(mode=0o700, parents=True, exist_ok=True)
        shutil.rmtree(self._trash, ignore_errors=True)
        self._trash.mkdir(mode=0o700)
        self._secret = _secret_of(folder / "secret")
        self._deleted = folder / "deleted"
        self._deleted.mkdir(mode=0o700, exist_ok=True)
        self._records = {r.id: r for journal in self._folder.glob("*/job.json") for r in _read(journal)}

    def fingerprint(self, wanted: object) -> str:
        """The identity of a request. It is keyed: without the secret, nobody can test guesses about a file."""
        text = json.dumps(wanted, sort_keys=True, default=str)
        return hmac.new(self._secret, text.encode(), hashlib.sha256).hexdigest()

    def find_like(self, fingerprint: str) -> Record | None:
        """The release that the same request made before, or is making."""
        with self._lock:
            same = [r for r in self._records.values() if hmac.compare_digest(r.fingerprint, fingerprint)]
            return next((record for record in same if record.state in (DONE, *UNDER_WAY)), None)

    def add(self, kind: str, file: str, wanted: dict[str, Any], fingerprint: str, title: str = "") -> Record:
        """Add a new record, on disk."""
        made = datetime.now(UTC).replace(microsecond=0).isoformat()
        record = Record(secrets.token_hex(8), kind, UNDER_WAY[0], made, file, wanted, fingerprint, title=title)
        (self._folder / record.id).mkdir(mode=0o700)
        return self._write(record)

    def change(self, id: str, **changes: Any) -> Record:
        """Change a record; the change is on disk when this returns."""
        with self._lock:
            return self._write(replace(self.get(id), **changes))

    def _write(self, record: Record) -> Record:
        with self._lock:
            with replace_whole(self._folder / record.id / "job.json") as temporary:
                temporary.write_text(json.dumps(asdict(record), indent=1), encoding="utf-8")
            self._records[record.id] = record
            return record

    def get(self, id: str) -> Record:
        """A record by its id."""
        record = self._records.get(id)
        if record is None:
            raise DataError(say("no_release"))
        return record

    def all(self) -> list[Record]:
        """All records, the newest first."""
        with self._lock:
            return sorted(self._records.values(), key=lambda record: (record.made, record.id), reverse=True)

    def path(self, id: str, name: str) -> Path:
        """A file of a record."""
        return self._folder / self.get(id).id / name

    def release_path(self, id: str) -> Path:
        """The path of the release itself, written or not yet."""
        return self.path(id, "release.dph.parquet")

    def release(self, id: str) -> Release | SlicedRelease:
        """The release itself, of one map or of several slices."""
        path = self.release_path(id)
        if not path.is_file():
            raise DataError(say("no_release"))
        return _load(path, path.stat().st_mtime_ns)

    def delete(self, id: str) -> None:
        """Move a record to the trash; `restore` brings it back as long as the app runs."""
        with self._lock:
            if self.get(id).state in UNDER_WAY:
                raise DataError(say("still_running"))
            if self.get(id).charge is not None:
                shutil.copyfile(self.path(id, "job.json"), self._deleted / f"{id}.json")
            (self._folder / id).replace(self._trash / id)
            del self._records[id]

    def deleted_records(self) -> list[Record]:
        """The journals of deleted releases that were charged: what was bought is known as long as the charge is."""
        with self._lock:
            return [record for journal in self._deleted.glob("*.json") for record in _read(journal)]

    def restore(self, id: str) -> Record:
        """Undo a deletion."""
        with self._lock:
            if re.fullmatch(r"[0-9a-f]{16}", id) is None or not (self._trash / id).is_dir():
                raise DataError(say("no_release"))
            (self._trash / id).replace(self._folder / id)
            self._records |= {record.id: record for record in _read(self._folder / id / "job.json")}
            (self._deleted / f"{id}.json").unlink(missing_ok=True)
            return self.get(id)

    def empty_trash(self) -> None:
        """Remove deleted records for good."""
        shutil.rmtree(self._trash, ignore_errors=True)


@lru_cache(maxsize=4)
def _load(path: Path, stamp: int) -> Release | SlicedRelease:
    """Load a release file, cached with its posterior."""
    return load(path)


def _read(journal: Path) -> Iterator[Record]:
    """The record of a journal; none if it is damaged, as of a failed disk, or not where it belongs."""
    with suppress(ValueError, TypeError, OSError):
        record = Record(**json.loads(journal.read_text(encoding="utf-8")))
        if record.id in (journal.parent.name, journal.stem):
            yield record


def _secret_of(path: Path) -> bytes:
    if not path.exists():
        with replace_whole(path, private=True) as temporary:
            temporary.write_bytes(secrets.token_bytes(32))
    return path.read_bytes()


@contextmanager
def hold_folder(folder: Path) -> Iterator[None]:
    """Lock a folder against other apps; the system releases the lock if this one dies.

    A folder with other files is refused, because its ``uploads`` and ``trash`` would be emptied.
    """
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        there = {path.name for path in folder.iterdir()}
        if there and not there & {"lock", "secret"}:
            raise DpheatmapError(say("folder_of_others", folder=folder))
        lock = sqlite3.connect(folder / "lock", timeout=0.5, isolation_level=None)
    except (OSError, sqlite3.Error):
        raise DpheatmapError(say("folder_unusable", folder=folder)) from None
    try:
        lock.execute("BEGIN EXCLUSIVE")
    except sqlite3.Error:
        lock.close()
        raise AlreadyRunning(say("already_running", folder=folder)) from None
    try:
        yield
    finally:
        lock.close()
