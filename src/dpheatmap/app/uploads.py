"""Files that the browser sends: written as they arrive, in a private folder, removed on exit.

No part of a file's name becomes a path, except the suffix of its format: each file gets a random name.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import shutil
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Lock

from dpheatmap.app.texts import say
from dpheatmap.errors import DataError, DpheatmapError, ParameterError

LIMIT = 10**9
"""The most bytes that uploads may have together; larger files are opened by their path."""

SPARE = 200 * 10**6
"""Bytes that must stay free on the disk."""

ENDINGS = (
    ".csv", ".csv.gz", ".tsv", ".tsv.gz", ".txt", ".parquet", ".json", ".jsonl", ".ndjson", ".json.gz",
    ".jsonl.gz", ".ndjson.gz", ".zip", ".xlsx", ".sqlite", ".geojson", ".gpkg", ".png", ".jpg", ".jpeg", ".webp",
)  # fmt: skip


class TooLarge(DpheatmapError):  # noqa: N818
    """Raised for more bytes than uploads may have, or than the disk has room for."""


@dataclass(frozen=True)
class Upload:
    """A file that arrived whole."""

    id: str
    name: str
    path: Path
    size: int
    digest: str


class Uploads:
    """The private folder and what is in it."""

    def __init__(self, folder: Path, limit: int = LIMIT) -> None:
        self.limit = limit
        self._folder = folder
        self._files: dict[str, Upload] = {}
        self._used: Counter[str] = Counter()
        self._leaving: dict[str, Upload] = {}
        self._lock = Lock()
        self._arriving = 0
        self.clear()
        folder.mkdir(mode=0o700, parents=True)

    def clear(self) -> None:
        """Remove all files, including those of an earlier run."""
        shutil.rmtree(self._folder, ignore_errors=True)
        self._files.clear()
        self._leaving.clear()

    def get(self, id: str) -> Upload:
        """An upload by its id."""
        if id not in self._files:
            raise DataError(say("upload_gone"))
        return self._files[id]

    def remove(self, id: str) -> None:
        """Remove a file; it stays on disk as long as it is in use."""
        with self._lock:
            upload = self._files.pop(id, None)
            if upload is not None:
                self._leaving[id] = upload
            self._sweep()

    @contextmanager
    def hold(self, id: str) -> Iterator[None]:
        """Keep a file on disk, even if it is removed meanwhile."""
        with self._lock:
            self._used[id] += 1
        try:
            yield
        finally:
            with self._lock:
                self._used[id] -= 1
                self._sweep()

    def _sweep(self) -> None:
        """Delete removed files that are no longer in use."""
        for id in [id for id in self._leaving if not self._used[id]]:
            self._leaving.pop(id).path.unlink(missing_ok=True)

    async def receive(self, name: str, declared: int | None, chunks: AsyncIterator[bytes]) -> Upload:
        """Write a file as it arrives; on any error, nothing of it stays."""
        ending = next((e for e in sorted(ENDINGS, key=len, reverse=True) if name.lower().endswith(e)), None)
        if ending is None:
            raise ParameterError(say("ending", name=display_name(name), endings=", ".join(ENDINGS)))
        if declared is not None:
            self._room_for(declared)
        id = secrets.token_hex(8)
        path = self._folder / f"{id}{ending}"
        size, digest = 0, hashlib.sha256()
        try:
            with os.fdopen(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb") as file:
                async for chunk in chunks:
                    self._room_for(len(chunk))
                    self._arriving += len(chunk)
                    size += len(chunk)
                    digest.update(chunk)
                    file.write(chunk)
        except BaseException:
            path.unlink(missing_ok=True)
            raise
        finally:
            self._arriving -= size
        self._files[id] = Upload(id, display_name(name), path, size, digest.hexdigest())
        return self._files[id]

    def _room_for(self, more: int) -> None:
        here = [*self._files.values(), *self._leaving.values()]
        if sum(upload.size for upload in here) + self._arriving + more > self.limit:
            raise TooLarge(say("too_large", limit=f"{self.limit / 1e6:,.0f}"))
        if shutil.disk_usage(self._folder).free < more + SPARE:
            raise TooLarge(say("disk_full"))


def display_name(name: str) -> str:
    """A file's name for people: its last part, printable, and shortened."""
    last = name.replace("\\", "/").rpartition("/")[2]
    return "".join(c if c.isprintable() else "?" for c in last).strip()[-120:] or "file"
