"""Ctrl-C in a query of DuckDB's is Ctrl-C, not an error of the runtime."""

from __future__ import annotations

import subprocess
import sys

import pytest

from dpheatmap._util.duckdb_connection import interruptible

LONG_QUERY = """
import os, signal, threading
from dpheatmap._util.duckdb_connection import connect, interruptible
signal.signal(signal.SIGINT, signal.default_int_handler)
con = connect()
threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    with interruptible():
        con.execute("SELECT COUNT(*) FROM range(1_000_000_000_000) WHERE hash(range) = 0")
except KeyboardInterrupt:
    print("interrupted")
"""


def test_ctrl_c_in_a_query_is_ctrl_c() -> None:
    done = subprocess.run([sys.executable, "-c", LONG_QUERY], capture_output=True, text=True, timeout=60)
    assert (done.stdout, done.stderr) == ("interrupted\n", "")


def test_other_errors_stay_as_they_are() -> None:
    with pytest.raises(RuntimeError, match="something else"), interruptible():
        raise RuntimeError("something else")
