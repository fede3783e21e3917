"""The owner of a connection: Linux lists the user of every connection between programs of this machine."""

from __future__ import annotations

import os
import socket
import sys
from pathlib import Path

_TABLES = ("/proc/net/tcp", "/proc/net/tcp6")
_NEAR, _FAR, _OWNER = 1, 2, 7  # columns: both ends of a connection, and the user who owns the near one

End = tuple[str, int]
"""Address and port."""


def is_another_users(near: End, far: End) -> bool:
    """Whether the near end of a connection is known to belong to another user of this machine, other than root."""
    owner = owner_of(near, far)
    return owner is not None and owner not in (0, os.getuid())


def owner_of(near: End, far: End) -> int | None:
    """The user who owns the near end; None if it is on another machine, or the system does not say."""
    wanted = _proc_address(near), _proc_address(far)
    for table in _TABLES:
        try:
            lines = Path(table).read_text(encoding="ascii").splitlines()[1:]
        except OSError:
            continue
        for fields in map(str.split, lines):
            # The second table writes IPv4 addresses in a longer form.
            if fields[_NEAR].endswith(wanted[0]) and fields[_FAR].endswith(wanted[1]):
                return int(fields[_OWNER])
    return None


def _proc_address(end: End) -> str:
    """One end as in the tables: the address in words of four bytes, each in the machine's byte order; then the port."""
    packed = socket.inet_pton(socket.AF_INET6 if ":" in end[0] else socket.AF_INET, end[0])
    words = [packed[at : at + 4] for at in range(0, len(packed), 4)]
    return (
        "".join((word[::-1] if sys.byteorder == "little" else word).hex() for word in words).upper() + f":{end[1]:04X}"
    )
