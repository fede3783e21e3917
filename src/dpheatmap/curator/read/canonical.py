"""The canonical relation of any table, file or data frame: person, x, y, weight and, with several groups, group.

Ids decide whose a row is, and are compared byte by byte. CSV and JSON ids are read as the text they are (``007`` is not
``7``, and in JSON ``"7"`` is not ``7``), other tables keep the type they have, floats are refused, and nothing is
hashed, trimmed, folded or cast. Coordinates that are not numbers become null and are counted as invalid.
"""

from __future__ import annotations

import re
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any

import duckdb

from dpheatmap.curator.read.coordinate_system import in_degrees
from dpheatmap.curator.read.event_files import open_files
from dpheatmap.curator.read.frames import open_frame
from dpheatmap.curator.read.geometry import coordinates
from dpheatmap.curator.read.parts import KEPT, SAME, Role, unite
from dpheatmap.curator.read.portable_predicate import float_of_decimal
from dpheatmap.curator.read.predicate import row_predicate
from dpheatmap.curator.read.question import Question
from dpheatmap.curator.read.reading import Reading
from dpheatmap.curator.read.sql_text import literal, quote_name
from dpheatmap.curator.read.table import FLOATS, WHOLE_NUMBERS, Table, is_id, missing_column, type_of
from dpheatmap.curator.read.trips import events_of_trips
from dpheatmap.curator.read.written_numbers import number_of
from dpheatmap.errors import DataError, ParameterError, PrivacyRefusal
from dpheatmap.slicing.part import Part

if TYPE_CHECKING:
    from dpheatmap.curator.read.slice_numbers import Slices


def read_events(
    con: duckdb.DuckDBPyConnection,
    events: Any,
    folder: str,
    bad_lines: str = "stop",
    question: Question | None = None,
    table: str | None = None,
) -> Table:
    """Make a path, glob, data frame, Arrow table or DuckDB relation readable on the connection.

    ``folder`` is private and temporary; a relation, which lives on a connection of its own, is copied there. Without a
    ``question`` all columns are read. ``table`` names one of several in a file.
    """
    if isinstance(events, (str, PathLike)):
        found = open_files(con, fspath(events), bad_lines, question, table)
        return found if found.narrowed is None else found.narrowed(question, folder)
    if table is not None:
        raise ParameterError("table names one of several in a file or a database, and this is a table. Leave it out.")
    return open_frame(con, events, folder, question)


def canonical_relation(table: Table, reading: Reading, *, slices: Slices | None = None, degrees: bool = True) -> str:
    """The relation person, x, y, weight as SQL; refuses a table whose schema does not fit.

    With ``slices`` it also has the number of an event's slice, null if it is in none. Coordinates are the
    columns x and y, or the points in one column; in GeoParquet that column is found if none is named. With ``degrees``
    its points must be longitude and latitude.
    """
    user, weight, where = reading.user, reading.weight, reading.where
    if table.units and user not in table.units:
        raise PrivacyRefusal(
            f"{table.name} does not tell whose its points are. Say what is to be protected: --user "
            f"{', '.join(list(table.units)[:-1])} or {list(table.units)[-1]}."
        )
    if reading.rows_alone and user is not None:
        what = "trip" if reading.each_row_is_a_trip else "person"
        raise PrivacyRefusal(f"Either the column {user!r} tells whose a row is, or each row is a {what}. Choose one.")
    if not reading.rows_alone and user is None:
        raise PrivacyRefusal(
            "No user column was named, so a person with many rows would not be protected. "
            "Name it, or say each_row_is_a_person=True (--each-row-is-a-person) if that is the truth, or "
            "each_row_is_a_trip=True (--each-row-is-a-trip) to protect trips alone."
        )
    roles: dict[str, Role] = {
        "x": lambda of: _coordinates(of, reading, degrees, end=reading.points == "end")[0],
        "y": lambda of: _coordinates(of, reading, degrees, end=reading.points == "end")[1],
    }
    if reading.several_points:
        roles["to_x"] = lambda of: _coordinates(of, reading, degrees, end=True)[0]
        roles["to_y"] = lambda of: _coordinates(of, reading, degrees, end=True)[1]
    if user is not None:
        roles["person"] = lambda of: _person(of, user)
    if weight is not None:
        roles["weight"] = lambda of: _weight(of, weight)
    if slices is not None:
        roles |= slices.roles()
    if where is not None:
        roles[KEPT] = lambda of: row_predicate(where, of.columns, portable=of.portable, listed=of.listed)
    people = reading.people
    if people is not None:
        roles[SAME] = lambda of: _is_of_part(of, people)
    rows, found = unite(table, roles, user)
    conditions = [found[KEPT]] if where is not None else []
    if people is not None:
        conditions.append(_of_part(rows, found.get("person"), found[SAME]))
    only = f" WHERE {' AND '.join(conditions)}" if conditions else ""
    chosen = [f"{sql} AS {role}" for role, sql in found.items() if role not in (KEPT, SAME)]
    relation = f"SELECT {', '.join(chosen)} FROM {rows}{only}"
    found = {role: sql for role, sql in found.items() if role not in (KEPT, SAME)}
    if reading.several_points:
        relation, found = events_of_trips(relation, found, reading)
    return relation if slices is None else slices.number(relation, found)


def _is_of_part(table: Table, part: Part) -> str:
    kind = type_of(table, "partition", part.column)
    if not is_id(kind):
        raise DataError(
            f"The partition column {part.column!r} is of type {kind}, in which different values can become equal. "
            "Store them as text or integers."
        )
    if kind.startswith(("TIMESTAMP WITH TIME ZONE", "TIMESTAMPTZ")):
        raise DataError(
            f"The partition column {part.column!r} is of type {kind}, which reads differently in each session's time "
            "zone, so that somebody could be in two parts. Store it as text."
        )
    return f"COALESCE(CAST({quote_name(part.column)} AS VARCHAR) = {literal(part.value)}, FALSE)"


def _of_part(rows: str, person: str | None, same: str) -> str:
    """Select the people of a part: those all of whose rows, wherever and whenever, have its value.

    Whoever has two values, or none in some row, is in no part. Rows that `where` leaves out count, too: otherwise a
    person could be of one part in June and of another in July, and would be paid for once instead of twice.
    """
    if person is None:
        return same
    return f"{person} IN (SELECT {person} FROM {rows} GROUP BY {person} HAVING BOOL_AND({same}))"


def _person(table: Table, user: str) -> str:
    if user not in table.columns:
        raise PrivacyRefusal(missing_column(table, "user", user))
    if user in table.folders:
        raise PrivacyRefusal(
            f"The user column {user!r} stands in the names of folders, which say where rows lie, not whose they are. "
            "Name a column that is in the files."
        )
    kind = table.columns[user]
    if not is_id(kind):
        raise DataError(
            f"The user column {user!r} is of type {kind}, in which different people's ids can become equal. "
            "Store ids as integers or text; in pandas as Int64 or string, for one missing id makes floats of all."
        )
    if kind == "JSON":  # a JSON number with a point or an exponent was a float already: no id, so its row is left out
        text = f"CAST({quote_name(user)} AS VARCHAR)"
        return f"CASE WHEN regexp_full_match({text}, '-?[0-9]+|true|false|(?s)\".*\"') THEN {text} END"
    return quote_name(table.ids.get(user, user))


def _coordinates(table: Table, reading: Reading, degrees: bool, *, end: bool) -> tuple[str, str]:
    """The coordinates of a row, or those of the ``end`` of a trip."""
    if reading.crs is not None:
        return in_degrees(*_own_coordinates(table, reading, False, end))
    return _own_coordinates(table, reading, degrees, end)


def _own_coordinates(table: Table, reading: Reading, degrees: bool, end: bool) -> tuple[str, str]:
    """The coordinates as they are in the table."""
    if end:
        assert reading.to_x is not None
        assert reading.to_y is not None
        return _number(table, reading.to_x, "x", reading.numbers), _number(table, reading.to_y, "y", reading.numbers)
    if reading.x is not None and reading.y is not None:
        return _number(table, reading.x, "x", reading.numbers), _number(table, reading.y, "y", reading.numbers)
    geometry = next(iter(table.geometries), None) if reading.geometry is None else reading.geometry
    if geometry is None:
        raise ParameterError(
            f"x and y must name columns; none was given, and {table.name} is not GeoParquet. Run dpheatmap inspect."
        )
    kind = type_of(table, "geometry", geometry)
    if degrees and geometry in table.geometries:
        table.geometries[geometry].check(geometry, table.name)
    if geometry in table.points:
        return table.points[geometry]
    found = coordinates(quote_name(geometry), kind)
    if found is None:
        raise DataError(
            f"The geometry column {geometry!r} is of a type that holds no points. Store them as well-known binary "
            "(WKB), or name columns for x and y."
        )
    return found


def _number(table: Table, name: str, axis: str, numbers: str | None) -> str:
    kind = type_of(table, "coordinate", name)
    if not is_number(kind):
        raise DataError(f"The coordinate column {name!r} is of type {kind}, not a number. Name a column of numbers.")
    if numbers is not None and kind == "VARCHAR":
        return number_of(quote_name(name), numbers, axis)
    if table.portable and kind.startswith("DECIMAL"):
        return float_of_decimal(quote_name(name))
    return f"TRY_CAST({quote_name(name)} AS DOUBLE)"


def _weight(table: Table, name: str) -> str:
    kind = type_of(table, "weight", name)
    if kind not in (*WHOLE_NUMBERS, "VARCHAR", '"NULL"'):
        raise DataError(
            f"The weight column {name!r} is of type {kind}, and weights are integers. Cast it to integers; in pandas "
            "to Int64, for one missing weight makes floats of all."
        )
    if kind == "VARCHAR":  # CSV: only what is written as a whole number is one; the cast alone would round 1.5 to 2
        return (
            f"CASE WHEN regexp_full_match({quote_name(name)}, '[0-9]+') THEN TRY_CAST({quote_name(name)} AS BIGINT) END"
        )
    return f"TRY_CAST({quote_name(name)} AS BIGINT)"


def is_number(kind: str) -> bool:
    """Whether values of a type are numbers, or text that may hold them."""
    exact = re.fullmatch(r"DECIMAL\(\d+,\d+\)", kind)
    return exact is not None or kind in (*FLOATS, *WHOLE_NUMBERS, "VARCHAR", "JSON", '"NULL"')
