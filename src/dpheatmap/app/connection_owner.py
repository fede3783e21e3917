"""The owner of a connection: Linux lists the user of every connection between programs of this machine."""

from __future__ import annotations

import ipaddress
import os
import socket
import sys
from pathlib import Path

_TABLES = ("/proc/net/tcp", "/proc/net/tcp6")
_NEAR, _FAR, _OWNER, _INODE = 1, 2, 7, 9  # columns: both ends of a connection, the near one's user and its number
_CLOSED = "0"  # the number of an end that no program holds any more; its user is then given as root

End = tuple[str, int]
"""Address and port."""


def is_another_users(near: End, far: End) -> bool:
    """Whether the near end of a connection belongs to another user of this machine, other than root.

    Where Linux tells the owners, an end on this machine that has none counts as another user's.
    """
    owner = owner_of(near, far)
    if owner is None:
        return sys.platform == "linux" and (near[0] == far[0] or not _is_elsewhere(near[0]))
    return owner not in (0, os.getuid())


def owner_of(near: End, far: End) -> int | None:
    """The user who owns the near end; None if it is on another machine or closed, or the system does not say."""
    try:
        wanted = _proc_address(near), _proc_address(far)
    except OSError:  # no address
        return None
    for table in _TABLES:
        try:
            lines = Path(table).read_text(encoding="ascii").splitlines()[1:]
        except OSError:
            continue
        for fields in map(str.split, lines):
            # The second table writes IPv4 addresses in a longer form.
            if fields[_NEAR].endswith(wanted[0]) and fields[_FAR].endswith(wanted[1]):
                return None if fields[_INODE] == _CLOSED else int(fields[_OWNER])
    return None


def _is_elsewhere(address: str) -> bool:
    """Whether this is an address beyond this machine's own; what is no address is not."""
    try:
        return not ipaddress.ip_address(address).is_loopback
    except ValueError:
        return False


def _proc_address(end: End) -> str:
    """One end as in the tables: the address in words of four bytes, each in the machine's byte order; then the port."""
    address = end[0].partition("%")[0]  # without the network that a link-local one is of
    packed = socket.inet_pton(socket.AF_INET6 if ":" in address else socket.AF_INET, address)
    words = [packed[at : at + 4] for at in range(0, len(packed), 4)]
    return (
        "".join((word[::-1] if sys.byteorder == "little" else word).hex() for word in words).upper() + f":{end[1]:04X}"
    )
