"""Text files in a zip: its members, each read as one stream.

A member is read by the same blocks and parsers as a compressed file, so a record of it is read by itself. What a zip
lists, and how large its members are, is the work of whoever packed it.

**Bombs.** Members are stored or deflated, which makes at most 1,032 bytes of one. They must not overlap, so all of them
together are at most 1,032 times as large as the file. They are read in blocks, whatever their size. A zip inside of a
zip is no text, and not opened. Of a line that is too long, only the beginning is kept (`blocks.py`).
"""

from __future__ import annotations

import zipfile
import zlib
from pathlib import Path, PurePosixPath

from dpheatmap.errors import DataError

_MOST_MEMBERS = 100_000
_HEADER = 30
"""Bytes before the contents of a member, at least."""
_ENCRYPTED = 0x1


def _is_hidden(member: str) -> bool:
    return any(part.startswith((".", "_")) for part in PurePosixPath(member).parts)


def list_members(path: str, *, hidden: bool = False) -> list[str]:
    """The names of a zip's files, without ``hidden`` ones if not asked; refuse one that can't be read in bounded time.

    Hidden are those that systems put there for themselves.
    """
    name = Path(path).name
    try:
        with zipfile.ZipFile(path) as opened:
            infos = [info for info in opened.infolist() if not info.is_dir()]
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError, zlib.error):
        raise DataError(f"{name!r} is not a zip, or not whole. Pack the files anew.") from None
    if len(infos) > _MOST_MEMBERS:
        raise DataError(f"{name!r} has more than {_MOST_MEMBERS:,} files in it. Unpack it, and read the folder.")
    end = 0
    for info in sorted(infos, key=lambda info: info.header_offset):
        if info.header_offset < end:
            raise DataError(f"Files in {name!r} overlap. Pack them anew.")
        end = info.header_offset + _HEADER + info.compress_size
    kept = [info for info in infos if hidden or not _is_hidden(info.filename)]
    for info in kept:
        if info.flag_bits & _ENCRYPTED:
            raise DataError(f"The files in {name!r} are encrypted. Unpack it with its password, and read the files.")
        if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise DataError(f"The files in {name!r} are neither stored nor deflated. Pack them with zip.")
    if len({info.filename for info in kept}) != len(kept):
        raise DataError(f"Two files in {name!r} have one name. Pack them anew.")
    return sorted(info.filename for info in kept)


class OpenedMember:
    """A member's bytes from its start, and how many bytes of the zip were taken."""

    def __init__(self, path: str, member: str) -> None:
        self._name = Path(path).name
        self._raw = open(path, "rb")  # noqa: SIM115
        try:
            self._file = zipfile.ZipFile(self._raw).open(member)  # noqa: SIM115
        except (zipfile.BadZipFile, OSError, KeyError, RuntimeError, ValueError):
            self._raw.close()
            raise DataError(f"{self._name!r} can't be unpacked. Make the zip anew.") from None

    @property
    def bytes_done(self) -> int:
        """Bytes of the zip that were taken, or next to them."""
        return self._raw.tell()

    def read(self, size: int) -> bytes:
        """Read up to so many bytes; none at the end. A damaged member is refused, since it depends on no person."""
        try:
            return self._file.read(size)
        except (zipfile.BadZipFile, zlib.error, EOFError, OSError):
            pass
        raise DataError(f"{self._name!r} can't be unpacked to its end. Make the zip anew.")

    def close(self) -> None:
        """Close the file."""
        self._file.close()
        self._raw.close()
