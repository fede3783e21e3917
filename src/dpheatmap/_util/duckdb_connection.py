"""DuckDB connections that show no progress bar, download nothing, and load only built-in extensions."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import duckdb

OFFLINE = {"autoinstall_known_extensions": "false", "autoload_known_extensions": "false"}
"""By default DuckDB would download and load an extension when a path or a function seems to need one."""
SYNCHRONOUS = {"async_threads": "0"}
"""Otherwise DuckDB 2.0 sometimes waits for ever for its writing threads, if a COPY fails or is ended."""


def connect(**config: str) -> duckdb.DuckDBPyConnection:
    """Open a database in memory, with these settings.

    >>> with connect() as con:
    ...     con.execute("SELECT current_setting('autoinstall_known_extensions')").fetchone()
    (False,)
    """
    import duckdb

    with interruptible():
        con = duckdb.connect(config={**OFFLINE, **SYNCHRONOUS, **config})
        # In a notebook without ipywidgets there is no progress bar, and DuckDB refuses to switch it off.
        if con.execute("SELECT current_setting('enable_progress_bar')").fetchall() == [(True,)]:
            con.execute("SET enable_progress_bar = false")
    return con


@contextmanager
def interruptible() -> Iterator[None]:
    """Turn DuckDB's error for Ctrl-C in the main thread into Python's own."""
    try:
        yield
    except RuntimeError as error:
        if str(error) != "Query interrupted":
            raise
        raise KeyboardInterrupt from None
