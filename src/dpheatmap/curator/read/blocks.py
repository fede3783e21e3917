"""Blocks of files of records, for many threads to read. A record is the bytes between two line feeds.

**Contract.** Wherever a file is cut, each of its records lies in exactly one block, whole. A block owns the records
that *begin* in it, and is read on to the end of the last one. So the cuts decide who reads a record, and nothing else.
Of a record that is too long to be read, a block may hold the beginning alone, which is too long all the same.
"""

from __future__ import annotations

import gzip
import os
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from dpheatmap.curator.read.kernels import LF, LONGEST, PAD
from dpheatmap.errors import DataError

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

SIZE = 1 << 20
"""Bytes of a file in which a block's records begin."""
_STEP = 64 << 10


class Block(NamedTuple):
    """Bytes that end with a line feed, the part of them in which records begin, and where in the file they are from."""

    data: NDArray[np.uint8]
    first: int
    stop: int
    origin: int

    @property
    def most_rows(self) -> int:
        """The largest number of records that can begin in the block."""
        return int(np.count_nonzero(self.data[self.first : self.stop] == LF)) + 1


class Reader(Protocol):
    """A source of bytes."""

    def read(self, size: int, /) -> bytes:
        """Read up to so many bytes; none at the end."""
        ...


def _block(data: bytearray, end: int, first: int, stop: int, origin: int) -> Block:
    """Make a block, with a line feed after its last record; data has room for it, and for what is loaded beyond."""
    data[end : end + PAD] = bytes([LF]) + bytes(PAD - 1)
    return Block(np.frombuffer(data, np.uint8), first, stop, origin)


COMPRESSED = (".gz", ".zst")
"""Endings of files that are read as one stream."""


class Opened:
    """A file's bytes from its start, decompressed if its name says so, and how many bytes of the file were taken."""

    def __init__(self, path: str) -> None:
        self._path = path
        try:
            self._raw = open(path, "rb")  # noqa: SIM115
        except OSError as error:
            raise DataError(f"{Path(path).name!r} can't be opened: {error.strerror}. Check the file.") from error
        self._file: Any = self._raw
        suffix = Path(path).suffix.lower()
        if suffix == ".gz":
            self._file = gzip.GzipFile(fileobj=self._raw)
        elif suffix == ".zst":
            self._file = zstd.ZstdFile(self._raw)

    @property
    def bytes_done(self) -> int:
        """Bytes of the file, as it lies on disk, that were taken."""
        return self._raw.tell()

    def read(self, size: int) -> bytes:
        """Read up to so many bytes; none at the end. A damaged stream is refused, since it depends on no person."""
        try:
            got: bytes = self._file.read(size)
        except (gzip.BadGzipFile, zlib.error, zstd.ZstdError, EOFError):
            got, whole = b"", False
        else:
            whole = True
        if not whole:
            raise DataError(f"{Path(self._path).name!r} can't be decompressed to its end. Make the file anew.")
        return got

    def close(self) -> None:
        """Close the file."""
        self._file.close()
        self._raw.close()


def cut(path: str, start: int, size: int = SIZE) -> Iterator[tuple[int, int]]:
    """Cut a file into parts, behind its first bytes."""
    end = os.stat(path).st_size
    yield from ((at, min(at + size, end)) for at in range(start, end, size))


def block_of_file(path: str, start: int, begin: int, end: int) -> Block:
    """The records that begin in bytes [begin, end) of a file, whose first one begins at ``start``."""
    back = 1 if begin > start else 0  # a record begins after a line feed
    origin = begin - back
    data = bytearray(end - origin + _STEP + PAD)
    with open(path, "rb", buffering=0) as file:
        file.seek(origin)
        have = stop = _fill(file, data, 0, end - origin)
        first = data.find(LF, 0, have) + 1 if back else 0
        if back and first == 0:
            first = stop
        while first < stop and data[have - 1] != LF and have - stop <= LONGEST:
            if len(data) < have + _STEP + PAD:
                data.extend(bytes(_STEP * 4))
            more = _fill(file, data, have, _STEP)
            feed = data.find(LF, have, have + more)
            have = feed + 1 if feed >= 0 else have + more
            if more == 0:
                break
    return _block(data, have, first, stop, origin)


def _fill(file: Any, data: bytearray, at: int, size: int) -> int:
    """Read up to so many bytes into data, fewer only at the end of the file."""
    got = 0
    with memoryview(data) as view:
        while got < size:
            n = file.readinto(view[at + got : at + size])
            if not n:
                break
            got += n
    return got


def blocks_of_stream(file: Reader, start: int, size: int = SIZE) -> Iterator[Block]:
    """Cut a stream into blocks, behind its first bytes and each at a line feed."""
    _pass_over(file, start)
    rest, origin, inside_long = b"", start, False
    while got := file.read(size):
        if inside_long:  # its beginning was handed on, and is broken because it is too long
            feed = got.find(b"\n") + 1
            origin += feed or len(got)
            if not feed:
                continue
            got, inside_long = got[feed:], False
        rest += got
        end = rest.rfind(b"\n") + 1
        if end:
            yield _block(bytearray(rest[:end]) + bytes(PAD), end, 0, end, origin)
            rest, origin = rest[end:], origin + end
        if len(rest) > LONGEST:
            yield _block(bytearray(rest) + bytes(PAD), len(rest), 0, len(rest), origin)
            rest, origin, inside_long = b"", origin + len(rest), True
    if rest:
        yield _block(bytearray(rest) + bytes(PAD), len(rest), 0, len(rest), origin)


def _pass_over(file: Reader, size: int) -> None:
    while size > 0 and (got := file.read(size)):
        size -= len(got)
