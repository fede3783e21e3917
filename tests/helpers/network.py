"""Nothing here talks to anybody: every attempt to connect beyond this machine is stopped and written down.

The hook is Python's own for audits, so it sees what any Python code does, in the tests' process and, by way of
`tests/guard/sitecustomize.py`, in every Python process that they start. What libraries do below Python is seen by
`test_network.py`, which watches the system calls of a whole release.
"""

from __future__ import annotations

import ipaddress
import os
import sys

RECORD = "DPHEATMAP_TEST_CONNECTIONS"
"""The environment variable with the file in which attempts are written down."""

ADDRESSES = ("socket.connect", "socket.sendto", "socket.sendmsg")
NAMES = ("socket.getaddrinfo", "socket.gethostbyname")


def is_local(host: object) -> bool:
    """Whether this is a name or an address of this machine.

    >>> is_local("127.0.0.9"), is_local("::1"), is_local("localhost"), is_local("192.0.2.1"), is_local("example.org")
    (True, True, True, False, False)
    """
    name = host.decode() if isinstance(host, bytes) else host
    if name is None or name in ("", "localhost"):
        return True
    try:
        return ipaddress.ip_address(str(name)).is_loopback
    except ValueError:
        return False


def hook(event: str, arguments: tuple[object, ...]) -> None:
    """Stop what would leave the machine."""
    host: object = None
    if event in ADDRESSES and isinstance(arguments[1], tuple):  # a path means a socket of this machine
        host = arguments[1][0]
    elif event in NAMES:
        host = arguments[0]
    if is_local(host):
        return
    record = os.environ.get(RECORD)
    if record:
        with open(record, "a") as file:
            file.write(f"{event} {host}\n")
    raise ConnectionRefusedError(f"the tests may not talk to {host}")


def watch() -> None:
    """Watch this process from now on."""
    sys.addaudithook(hook)
