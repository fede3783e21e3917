"""A PostgreSQL server of the tests' own: in a temporary folder, on a socket there, gone when they end."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest


def _programs() -> Path:
    """The folder of the newest server installed."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: int(path.parts[-3]))
    beside = shutil.which("initdb")
    if not found and beside is None:
        pytest.skip("PostgreSQL is not installed: scripts/test installs it where it may")
    return found[-1].parent if found else Path(str(beside)).parent


@contextmanager
def server() -> Iterator[str]:
    """The URL of a fresh database. PostgreSQL refuses to run as root, so it runs as nobody then.

    It does not compile statements, unless `compiling` asks for it: without nested loops their cost seems enormous, and
    compiling takes half a second or more where counting takes milliseconds. Nor does it wait for the disk: what it
    holds need not outlive the machine.
    """
    if "DPHEATMAP_TEST_DATABASE" in os.environ:  # one that runs already
        yield os.environ["DPHEATMAP_TEST_DATABASE"]
        return
    programs = _programs()
    as_nobody: dict[str, Any] = {"user": "nobody", "group": "nogroup"} if os.getuid() == 0 else {}
    with tempfile.TemporaryDirectory(prefix="dpheatmap-postgres-", dir="/tmp") as folder:
        if as_nobody:
            os.chown(folder, pwd.getpwnam("nobody").pw_uid, -1)

        def call(program: str, *arguments: str) -> None:
            done = subprocess.run(
                [str(programs / program), "-D", f"{folder}/data", *arguments],
                stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, cwd=folder, timeout=120, **as_nobody,
            )  # fmt: skip
            assert done.returncode == 0, done.stderr.decode()

        call("initdb", "-U", "tester", "-A", "trust", "-E", "UTF8", "--no-sync")
        options = f"-c listen_addresses='' -c unix_socket_directories={folder} -c max_connections=50"
        options += " -c jit=off -c fsync=off"
        call("pg_ctl", "-w", "-l", f"{folder}/log", "-o", options, "start")
        try:
            yield f"postgresql://tester:not-shown@/postgres?host={folder}"
        finally:
            call("pg_ctl", "-w", "-m", "immediate", "stop")


def compiling(url: str) -> str:
    """The same database, which compiles each statement, as servers do by default."""
    return f"{url}&options=-c%20jit%3Don"
