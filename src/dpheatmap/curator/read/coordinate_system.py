"""Coordinates in another system than degrees, such as EPSG:2056, converted by PROJ.

What becomes of a row depends on that row alone: PROJ converts point by point, and takes for each the operation that is
best there. A point that it can't convert is null. Its network is off, so that no grid is fetched because somebody is
where one would be needed, and it logs nothing, since what it has to say is about points.

PROJ keeps a context for each of Python's threads, and DuckDB's threads are new ones at each call. So one thread of ours
converts all points. The network is a property of the context, but pyproj sets that of new contexts for all of them. It
is off while ours is made, and then as it was.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from threading import Lock, current_thread
from typing import Any

import duckdb
import numpy as np

from dpheatmap._util.extras import import_extra
from dpheatmap._util.parameters import RULES
from dpheatmap.errors import ParameterError

_TO_DEGREES = "dpheatmap_to_degrees"
_DEGREES = "EPSG:4326"
_THREAD = "dpheatmap-proj"
_SETTING = Lock()


def check_system(crs: str) -> None:
    """Refuse a system of coordinates that PROJ does not know, or that is not on the ground."""
    pyproj = import_extra("pyproj", "geo", "Another system of coordinates")
    import_extra("pyarrow", "geo", "Another system of coordinates")
    try:
        known = pyproj.CRS.from_user_input(crs)
    except pyproj.exceptions.CRSError:
        known = None
    if known is None or not (known.is_projected or known.is_geographic):
        rule = RULES["crs"]
        raise ParameterError(f"crs must be {rule.words}; it was {crs!r}. {rule.advice}")


def in_degrees(x: str, y: str) -> tuple[str, str]:
    """The longitude and latitude of coordinates, as SQL for a connection inside `converting`."""
    both = f"{_TO_DEGREES}({x}, {y})"
    return f"{both}.lon", f"{both}.lat"


@contextmanager
def converting(con: duckdb.DuckDBPyConnection, crs: str) -> Iterator[None]:
    """Give a connection the function that `in_degrees` calls."""
    import pyproj

    with _offline_thread() as thread:
        try:
            made = thread.submit(lambda: pyproj.Transformer.from_crs(crs, _DEGREES, always_xy=True)).result()
        except pyproj.exceptions.ProjError:
            raise ParameterError(
                f"PROJ knows no way from {crs!r} to longitude and latitude. Convert them before."
            ) from None
        with _function(con, thread, made):
            yield


@contextmanager
def _offline_thread() -> Iterator[ThreadPoolExecutor]:
    """A thread of its own in which PROJ neither uses its network nor logs anything."""
    network = import_extra("pyproj.network", "geo", "Another system of coordinates")
    logging.getLogger("pyproj").addFilter(_is_not_ours)  # which is there once, however often it is added
    with ThreadPoolExecutor(1, _THREAD) as thread:
        with _SETTING, ThreadPoolExecutor(1) as another:
            before = thread.submit(network.is_network_enabled).result()
            thread.submit(network.set_network_enabled, False).result()
            another.submit(network.set_network_enabled, before).result()
        yield thread


def _is_not_ours(record: logging.LogRecord) -> bool:
    """Tell whether a message is about anything else than rows of a table; it is asked in the thread that logs."""
    return not current_thread().name.startswith(_THREAD)


@contextmanager
def _function(con: duckdb.DuckDBPyConnection, thread: ThreadPoolExecutor, transformer: Any) -> Iterator[None]:
    """Give a connection the function that converts points in a thread."""
    import pyarrow
    from duckdb.sqltypes import DOUBLE

    def to_degrees(x: Any, y: Any) -> Any:
        points = (each.to_numpy(zero_copy_only=False) for each in (x, y))
        found = thread.submit(transformer.transform, *points).result()
        unknown = ~(np.isfinite(found[0]) & np.isfinite(found[1]))
        columns = [pyarrow.array(each, mask=unknown) for each in found]
        return pyarrow.StructArray.from_arrays(columns, names=["lon", "lat"])

    point: Any = con.struct_type({"lon": DOUBLE, "lat": DOUBLE})
    how: dict[str, Any] = {"type": "arrow", "null_handling": "special", "side_effects": False}
    con.create_function(_TO_DEGREES, to_degrees, [DOUBLE, DOUBLE], point, **how)
    try:
        yield
    finally:
        con.remove_function(_TO_DEGREES)
