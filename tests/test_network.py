"""No telemetry: nothing connects to anything but this machine."""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import pytest

import dpheatmap as dph
from dpheatmap._util.duckdb_connection import connect
from helpers import network
from helpers.stories import story


def test_attempts_to_leave_the_machine_are_stopped_and_written_down(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    record = tmp_path / "record"
    monkeypatch.setenv(network.RECORD, str(record))
    with socket.socket() as open_socket, pytest.raises(ConnectionRefusedError, match="may not talk to"):
        open_socket.connect(("192.0.2.1", 80))
    code = "import socket; socket.getaddrinfo('dpheatmap.invalid', 80)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "may not talk to dpheatmap.invalid" in done.stderr
    assert record.read_text() == "socket.connect 192.0.2.1\nsocket.getaddrinfo dpheatmap.invalid\n"


def test_connections_on_this_machine_are_let_through(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    record = tmp_path / "record"
    monkeypatch.setenv(network.RECORD, str(record))
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()) as near:
        far, address = server.accept()
        with far:
            assert address == near.getsockname()
    assert not record.exists(), "nothing is written down"


@story("No network", "None is needed: no connection beyond the machine is tried, by Python or below it.")
def test_no_system_call_of_a_release_leaves_the_machine(tmp_path: Path) -> None:
    """Below Python, too: every connection of a whole run, threads and children included."""
    if shutil.which("strace") is None:
        pytest.skip("strace is not installed")
    calls = tmp_path / "calls"
    watch = ["strace", "-f", "-e", "trace=connect,sendto,sendmsg", "-o", str(calls)]
    demo = ["demo", "--folder", str(tmp_path / "d"), "--people", "200", "--no-open"]
    command = [*watch, sys.executable, "-m", "dpheatmap", *demo]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": ""})
    if "PTRACE" in done.stderr or "ptrace" in done.stderr:
        pytest.skip("watching system calls is not allowed here")
    assert done.returncode == 0, done.stderr
    reached = re.findall(r'sin6?_addr.*?"([^"]+)"', calls.read_text())
    assert [host for host in reached if not network.is_local(host)] == []


def test_duckdb_neither_installs_nor_loads_extensions() -> None:
    with connect() as con:
        settings = "current_setting('autoinstall_known_extensions'), current_setting('autoload_known_extensions')"
        assert con.execute(f"SELECT {settings}").fetchone() == (False, False)
    source = "\n".join(path.read_text() for path in Path(str(dph.__file__)).parent.rglob("*.py"))
    assert len(re.findall(r"duckdb\.connect\(", source)) == 1, (
        "open databases by dpheatmap._util.duckdb_connection.connect"
    )
