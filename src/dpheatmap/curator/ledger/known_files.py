"""The files that were charged to each population, for a warning if one file is charged under two names.

**What is kept.** Two HMACs for each file, of its resolved path and of its device and inode, each with the name of the
population that was charged: one line each in ``city.ledger.files``. So a symbolic link, a hard link, and a file put in
the place of another are recognised. A file's content, size and times are not looked at: what is kept about a file does
not depend on the people in it. A copy is another file; copies are caught because a release must name its population.

**The key** is random and lies in ``city.ledger.key``. Only its owner can read it and the list: without the key no guess
about a path can be tried. Neither file is a part of the chain or of its export. A ledger in PostgreSQL has both in the
data folder of each user, because a path means something on one machine alone.

**Contract.** This is a convenience: if a file is missing, damaged, somebody else's or in the way, nothing is refused
and nothing fails. There is just no warning.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
import stat
from collections.abc import Iterable
from contextlib import suppress
from os import PathLike
from pathlib import Path

from dpheatmap._util.database_url import is_database
from dpheatmap._util.files import matching, replace_whole
from dpheatmap._util.parameters import RULES
from dpheatmap.errors import DpheatmapError

_KEY = 32  # bytes
_MOST = 2**26  # bytes of a list: some 100,000 files a population, for several of them
_OPENING = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
"""Flags to follow no link, wait for no pipe, and change no byte."""


def marks_of(events: object) -> list[bytes]:
    """Tell the files of an input from others: by the resolved path of each, and by its device and inode.

    Parameters
    ----------
    events : object
        What :func:`release` takes.

    Returns
    -------
    list of bytes
        Two marks a file; none of what is no file.
    """
    if is_database(events) or not isinstance(events, (str, PathLike)):
        return []
    found = []
    with suppress(OSError, ValueError):  # a name that is not valid on this system
        for path in matching(str(os.fspath(events))):
            there = os.stat(path)
            found += [b"path %s" % os.fsencode(os.path.realpath(path)), b"inode %d %d" % (there.st_dev, there.st_ino)]
    return found


class KnownFiles:
    """The files that were charged to a ledger, as HMACs."""

    def __init__(self, beside: Path) -> None:
        self._key, self._list = (beside.with_name(f"{beside.name}.{ending}") for ending in ("key", "files"))

    def populations(self, marks: Iterable[bytes]) -> list[str]:
        """The populations that any of these files were charged to, in order of their names."""
        key = _read(self._key, _KEY + 1)
        if len(key) != _KEY:
            return []
        known: dict[str, set[str]] = {}
        for line in _read(self._list, _MOST).decode("utf-8", "replace").splitlines():
            digest, _, population = line.partition(" ")
            if RULES["population"].holds(population):
                known.setdefault(digest, set()).add(population)
        return sorted(set().union(*(known.get(_digest(key, mark), ()) for mark in marks)))

    def add(self, marks: Iterable[bytes], population: str) -> None:
        """Record that these files were charged to a population."""
        marks = list(marks)
        with suppress(OSError, DpheatmapError):
            key = self._made_key() if marks else b""
            if len(key) != _KEY:
                return
            before = set(_read(self._list, _MOST).decode("utf-8", "replace").splitlines())
            new = [line for mark in marks if (line := f"{_digest(key, mark)} {population}") not in before]
            if new:
                _append(self._list, "\n".join(["", *dict.fromkeys(new), ""]).encode())

    def _made_key(self) -> bytes:
        """The key; the first process to need it makes it, whole or not at all."""
        if not os.path.lexists(self._key):
            self._key.parent.mkdir(parents=True, exist_ok=True)
            with suppress(FileExistsError), replace_whole(self._key, private=True, anew=True) as temporary:
                temporary.write_bytes(secrets.token_bytes(_KEY))
        return _read(self._key, _KEY + 1)


def _digest(key: bytes, mark: bytes) -> str:
    return hmac.new(key, mark, hashlib.sha256).hexdigest()


def _read(path: Path, most: int) -> bytes:
    """The first bytes of an ordinary file, or nothing if it can't be read."""
    with suppress(OSError):
        descriptor = os.open(path, os.O_RDONLY | _OPENING)
        with open(descriptor, "rb") as file:
            if stat.S_ISREG(os.fstat(descriptor).st_mode):
                _make_private(descriptor)
                return file.read(most)
    return b""


def _append(path: Path, text: bytes) -> None:
    """Append lines to an ordinary file with only this name, private from the first moment on."""
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | _OPENING, 0o600)
    with open(descriptor, "wb") as file:
        found = os.fstat(descriptor)
        if stat.S_ISREG(found.st_mode) and found.st_nlink == 1 and found.st_size + len(text) <= _MOST:
            _make_private(descriptor)
            file.write(text)


def _make_private(descriptor: int) -> None:
    """Keep others from reading or writing a file; one with a second name may be theirs, and is left as it is."""
    found = os.fstat(descriptor)
    if stat.S_IMODE(found.st_mode) & 0o077 and found.st_nlink == 1 and hasattr(os, "fchmod"):
        with suppress(OSError):  # the file is somebody else's
            os.fchmod(descriptor, 0o600)
