"""The engines that run the aggregation: embedded DuckDB, Spark, PostgreSQL, or a warehouse queried by hand.

An engine opens its input and answers the statement of `query.py`, transpiled to its dialect. It returns only the small
table of cells and counters. The noise is drawn afterwards, here, once. Errors of an engine are replaced by our own,
since theirs quote rows.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dpheatmap._util.database_url import is_database
from dpheatmap.curator.core.query import aggregation
from dpheatmap.errors import ParameterError

if TYPE_CHECKING:
    from dpheatmap.curator.engines.answer import AddedUp, Answer
    from dpheatmap.curator.read.reading import Reading
    from dpheatmap.curator.read.slice_numbers import Slices
    from dpheatmap.curator.read.table import Table
    from dpheatmap.place.mask import Runs

Progress = Callable[[float, float], None]

TABLE = "dpheatmap_table"
"""The name of a database's table in canonical relations."""


Keep = Callable[[str, "Runs | None", "Progress | None"], tuple[str, float]]
"""Takes a relation, and the runs of a boundary that it is joined with; returns the one that was kept, and seconds."""


@dataclass(frozen=True)
class OpenTable:
    """An open table: its columns, and ``run``, which answers an aggregation and tells how many seconds that took.

    ``run`` takes the statement in DuckDB's dialect, and whether that is about several groups; ``statement`` writes it.
    An engine with ``keep`` can read a relation once and keep its rows, which the statement reads more than once; it
    does so with what is ``read_once``, and with rows that were located for a boundary. One with ``add_up`` adds the
    rows of a statement that is not summed up by their numbers, of which there are so many. Afterwards
    ``lines_left_out`` tells how many lines of text files were broken, and how many empty.
    """

    table: Table
    run: Callable[[str, bool, Progress | None], tuple[Answer, float]]
    statement: Callable[..., str] = aggregation
    keep: Keep | None = None
    add_up: Callable[[str, int, Progress | None], tuple[AddedUp, float]] | None = None
    read_once: bool = False
    lines_left_out: Callable[[], tuple[int, int]] = lambda: (0, 0)


def open_events(events: Any, reading: Reading, slices: Slices | None = None) -> AbstractContextManager[OpenTable]:
    """Open the table with the engine for its kind."""
    if reading.engine == "spark" or _is_spark_frame(events):
        from dpheatmap.curator.engines import spark

        _refuse(
            "Spark",
            table=reading.table,
            memory=reading.memory,
            crs=reading.crs,
            points=reading.points,
            numbers=reading.numbers,
        )
        return spark.open_frame(events)
    if is_database(events):
        from dpheatmap.curator.engines import postgres

        _refuse("PostgreSQL", memory=reading.memory, engine=reading.engine, **_embedded_only(reading))
        return postgres.open_database(events, reading.table)
    from dpheatmap.curator.engines import duckdb

    return duckdb.open_table(events, reading, slices)


def _is_spark_frame(events: object) -> bool:
    return type(events).__module__.startswith("pyspark.sql.")


def _embedded_only(reading: Reading) -> dict[str, object]:
    """The options that only the embedded engine knows."""
    return {"crs": reading.crs, "points": reading.points, "numbers": reading.numbers}


def _refuse(reader: str, **options: object) -> None:
    if options.pop("crs", None) is not None:
        raise ParameterError(
            f"{reader} takes longitudes and latitudes alone, and crs names another system. Convert the coordinates "
            "there, or read files here."
        )
    for name, value in options.items():
        if value is not None:
            raise ParameterError(f"{name} means nothing to {reader}, which reads this. Leave it out.")
