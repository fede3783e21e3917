"""DuckDB as it is used everywhere here: it shows no bar, fetches nothing, and loads nothing it did not come with."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import duckdb

OFFLINE = {"autoinstall_known_extensions": "false", "autoload_known_extensions": "false"}
"""By default DuckDB would download and load an extension when a path or a function seems to need one."""


def connect(**config: str) -> duckdb.DuckDBPyConnection:
    """A database in memory, with these settings.

    >>> with connect() as con:
    ...     con.execute("SELECT current_setting('autoinstall_known_extensions')").fetchone()
    (False,)
    """
    import duckdb

    con = duckdb.connect(config={**OFFLINE, **config})
    # In a notebook without ipywidgets there is no bar, and DuckDB refuses to be told so.
    if con.execute("SELECT current_setting('enable_progress_bar')").fetchall() == [(True,)]:
        con.execute("SET enable_progress_bar = false")
    return con
