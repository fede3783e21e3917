"""Reading of columns from files, with errors that reveal nothing of the rows."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
from numpy.typing import NDArray

from dpheatmap._util.duckdb_connection import connect
from dpheatmap._util.files import not_a_pattern
from dpheatmap.errors import DataError


def columns_of(path: Path, statement: str, advice: str) -> dict[str, NDArray[Any]]:
    """Run a statement and return its columns as arrays; its one parameter ``?`` is the file.

    DuckDB's messages quote the rows that failed, so the error raised here does not contain them.
    """
    with suppress(duckdb.Error), connect() as con:
        columns = con.execute(statement, [not_a_pattern(path)]).fetchnumpy()
        return {name: np.asarray(column) for name, column in columns.items()}
    raise DataError(f"{path} is damaged, cut short or not what its name says. {advice}")
