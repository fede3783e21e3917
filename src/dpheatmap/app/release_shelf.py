"""Releases that were made or tried, one folder each: what was asked for, how it went, and the release itself.

A folder's ``job.json`` is the journal of one release. It is on disk before what it tells of happens, so that after a
crash the next start can tell how far it came (`jobs.py`). Exact numbers about people are never in it.
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

UNDER_WAY = ("waiting", "reading", "charging", "drawing")
DONE, FAILED, CANCELLED, STOPPED, LOST = "done", "failed", "cancelled", "stopped", "lost"
MAP, PLACE = "map", "place"
BACKGROUND = "background"
"""The file of the picture that people looked at, in the folder of its release."""


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
    """What is being charged or was: population, epsilon, time, and the number of the ledger's entry."""
    message: str = ""
    result: dict[str, Any] = field(default_factory=dict)


def public_fields(record: Record) -> dict[str, Any]:
    """A record as the page is told it."""
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
        self._records = {record.id: record for record in self._read()}

    def _read(self) -> Iterator[Record]:
        for journal in self._folder.glob("*/job.json"):
            with suppress(ValueError, TypeError, OSError):  # half a folder of a disk that failed is not worth a crash
                record = Record(**json.loads(journal.read_text(encoding="utf-8")))
                if record.id == journal.parent.name:
                    yield record

    def fingerprint(self, wanted: object) -> str:
        """What tells one request from another. It is keyed: without the secret no guess about a file can be tried."""
        text = json.dumps(wanted, sort_keys=True, default=str)
        return hmac.new(self._secret, text.encode(), hashlib.sha256).hexdigest()

    def find_like(self, fingerprint: str) -> Record | None:
        """The release that the same request made before, or is making."""
        with self._lock:
            same = [r for r in self._records.values() if hmac.compare_digest(r.fingerprint, fingerprint)]
            return next((record for record in same if record.state in (DONE, *UNDER_WAY)), None)

    def add(self, kind: str, file: str, wanted: dict[str, Any], fingerprint: str) -> Record:
        """A new record, on disk."""
        made = datetime.now(UTC).replace(microsecond=0).isoformat()
        record = Record(secrets.token_hex(8), kind, UNDER_WAY[0], made, file, wanted, fingerprint)
        (self._folder / record.id).mkdir(mode=0o700)
        return self._write(record)

    def change(self, id: str, **changes: Any) -> Record:
        """Another state of a record, on disk when this returns."""
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
        """Where the release itself is, or will be."""
        return self.path(id, "release.dph.parquet")

    def release(self, id: str) -> Release:
        """The release itself."""
        path = self.release_path(id)
        if not path.is_file():
            raise DataError(say("no_release"))
        return _load(path, path.stat().st_mtime_ns)

    def delete(self, id: str) -> None:
        """Put a record aside; `restore` brings it back as long as the app runs."""
        with self._lock:
            if self.get(id).state in UNDER_WAY:
                raise DataError(say("still_running"))
            (self._folder / id).replace(self._trash / id)
            del self._records[id]

    def restore(self, id: str) -> Record:
        """Undo a deletion."""
        with self._lock:
            if re.fullmatch(r"[0-9a-f]{16}", id) is None or not (self._trash / id).is_dir():
                raise DataError(say("no_release"))
            (self._trash / id).replace(self._folder / id)
            self._records |= {record.id: record for record in self._read() if record.id == id}
            return self.get(id)

    def empty_trash(self) -> None:
        """Remove what was deleted, for good."""
        shutil.rmtree(self._trash, ignore_errors=True)


@lru_cache(maxsize=4)
def _load(path: Path, stamp: int) -> Release:
    """A release file, kept for a while: its posterior is remembered with it."""
    return load(path)


def _secret_of(path: Path) -> bytes:
    if not path.exists():
        with replace_whole(path, private=True) as temporary:
            temporary.write_bytes(secrets.token_bytes(32))
    return path.read_bytes()


@contextmanager
def hold_folder(folder: Path) -> Iterator[None]:
    """Hold a folder against other apps; the system lets go of it if this one dies.

    A folder with other things in it is refused: what lies in ``uploads`` and ``trash`` there would be removed.
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
        raise DpheatmapError(say("already_running", folder=folder)) from None
    try:
        yield
    finally:
        lock.close()
