"""Remarks for the data holder: after a release, why nobody is on its map; before it, doubts about columns and place.

The first depends on people. It goes to the terminal of whoever reads the table, or into the report that they named, and
nowhere else: not into Python's warnings, which are logged, nor into files. It comes after payment, and stops nothing.
The second follows from names, declared types and the public place alone. The types of a frame or relation may follow
from its rows: pandas makes floats of whole numbers if one is missing. So types are looked at only where somebody
declared them, in Parquet and databases.
"""

from __future__ import annotations

import inspect
import re
import sys
import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING

from dpheatmap.curator.core.row_report import RowReport
from dpheatmap.curator.read.reading import Reading
from dpheatmap.errors import PlaceWarning
from dpheatmap.place.domain import Domain

if TYPE_CHECKING:
    from dpheatmap.curator.read.table import Table

_NORTHWARD = re.compile(r"(?i)lat|latitude|northing|nord")
_EASTWARD = re.compile(r"(?i)lon|lng|long|longitude|easting|ost")
_METRES = re.compile(r"(?i)easting|northing|utm|lv95|lv03|e_?coord|n_?coord|.*_(2056|21781|3035|3857|27700|2154|28992)")
_WHOLE = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT")


def remark_on(report: RowReport) -> str:
    """Why nobody is on a map, for the data holder alone; nothing if somebody is."""
    if report.inside:
        return ""
    if not report.rows:
        return "Nobody is on this map. Is the file empty, or does --where leave everything out?"
    reasons = {
        "Are x and y swapped, or metres instead of degrees, or is the place another one?": report.outside,
        "No coordinates could be read: they must be numbers such as 7.45, with a point, or geometries.": report.invalid,
        "Is this the column of people?": report.without_person,
    }
    return f"Nobody is on this map. {max(reasons, key=reasons.__getitem__)}"


def tell_on_terminal(report: RowReport | None) -> None:
    """Tell whoever sits at a terminal that nobody is on a map; nothing to anybody else."""
    if report is not None and sys.stderr.isatty() and (remark := remark_on(report)):
        print(f"For your eyes only: {remark}", file=sys.stderr)


def doubt_columns(table: Table, reading: Reading, domain: Domain) -> None:
    """Warn whoever called the package if columns don't look like coordinates of the place."""
    for doubt in doubts_of_columns(table.columns if table.declared else {}, reading, domain):
        warnings.warn(doubt, PlaceWarning, stacklevel=1 + _calls_within_package())


def _calls_within_package() -> int:
    """The number of calls on the stack, up to this one's caller, since the package was called."""
    frame, calls = inspect.currentframe(), -1
    while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "dpheatmap":
        frame, calls = frame.f_back, calls + 1
    return calls


def doubts_of_columns(declared: Mapping[str, str], reading: Reading, domain: Domain) -> list[str]:
    """Sentences about columns that, by their names and declared types, don't look like coordinates of the place."""
    x, y = reading.x, reading.y
    if x is None or y is None or reading.crs is not None:
        return []
    if not domain.geographic:
        if _EASTWARD.fullmatch(x) and _NORTHWARD.fullmatch(y):
            return [f"The columns {x!r} and {y!r} look like degrees, and the place is {domain.place.words}."]
        return []
    if _NORTHWARD.fullmatch(x) and _EASTWARD.fullmatch(y):
        return [f"x is the longitude, and its column is called {x!r}; that of y is called {y!r}. Are they swapped?"]
    if _METRES.fullmatch(x) and _METRES.fullmatch(y):
        return [f"The columns {x!r} and {y!r} look like metres, and the place is in degrees. Is crs missing?"]
    whole = [name for name in (x, y) if declared.get(name) in _WHOLE]
    if whole:
        return [f"The column {whole[0]!r} holds whole numbers, and degrees have decimals. Is crs missing?"]
    return []
