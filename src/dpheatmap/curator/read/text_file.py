"""Where the records of a text file are: in a file, compressed or not, in a member of a zip, or made by a reader.

Readers of other formats (`records.py`) make one line of JSON of each record. Whoever reads such a stream can't tell it
from a file of these lines.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import NamedTuple, Protocol

from dpheatmap.curator.read.blocks import COMPRESSED, SIZE, Opened
from dpheatmap.curator.read.zip_members import OpenedMember

Lines = Callable[[], Iterator[bytes]]
"""Starts to read a file's records; each line ends with its line feed."""


class Stream(Protocol):
    """An open source of bytes."""

    @property
    def bytes_done(self) -> int:
        """Bytes of the file, as it lies on disk, that were taken."""
        ...

    def read(self, size: int, /) -> bytes:
        """Read up to so many bytes, or some more; none at the end."""
        ...

    def close(self) -> None:
        """Close the file."""
        ...


class TextFile(NamedTuple):
    """A file, and the byte at which its first record begins. It may be a ``member`` of a zip, or made by ``lines``."""

    path: str
    start: int = 0
    member: str | None = None
    lines: Lines | None = None

    @property
    def name(self) -> str:
        """What the file is called in messages."""
        return Path(self.path if self.member is None else self.member).name

    @property
    def can_be_cut(self) -> bool:
        """Whether it can be read from any byte on."""
        return self.member is None and self.lines is None and not self.path.lower().endswith(COMPRESSED)

    def open(self) -> Stream:
        """Open it at its first byte."""
        if self.lines is not None:
            return _OpenedLines(self.path, self.lines())
        return Opened(self.path) if self.member is None else OpenedMember(self.path, self.member)

    def line_number(self, at: int) -> int:
        """The number of the line that begins at a byte, counted from 1."""
        lines = 1
        with closing(self.open()) as stream:
            while at > 0 and (got := stream.read(min(at, SIZE))):
                lines += got[:at].count(b"\n")
                at -= len(got)
        return lines


class _OpenedLines:
    """Lines as a source of bytes. How far it is can't be told before its end."""

    def __init__(self, path: str, lines: Iterator[bytes]) -> None:
        self._path, self._lines = path, lines
        self.bytes_done = 0

    def read(self, size: int) -> bytes:
        got, have = [], 0
        for line in self._lines:
            got.append(line)
            have += len(line)
            if have >= size:
                return b"".join(got)
        self.bytes_done = os.stat(self._path).st_size
        return b"".join(got)

    def close(self) -> None:
        if hasattr(self._lines, "close"):
            self._lines.close()
