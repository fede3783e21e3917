"""DuckDB's error for Ctrl-C in a query is Ctrl-C, not an error of the runtime."""

from __future__ import annotations

import pytest

from dpheatmap._util.duckdb_connection import interruptible


def test_an_interrupted_query_is_ctrl_c() -> None:
    with pytest.raises(KeyboardInterrupt), interruptible():
        raise RuntimeError("Query interrupted")  # DuckDB's own words


def test_other_errors_stay_as_they_are() -> None:
    with pytest.raises(RuntimeError, match="something else"), interruptible():
        raise RuntimeError("something else")
