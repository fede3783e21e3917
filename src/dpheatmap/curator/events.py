"""Any table, file or data frame to one canonical relation: person, x, y, weight and, of several images, picture.

Whose row is it? Ids are compared byte by byte. CSV and JSON ids are read as the text they are (``007`` is not ``7``,
and in JSON ``"7"`` is not ``7``), other tables keep the type they have, floats are refused, and nothing is hashed,
trimmed, folded or cast. Coordinates that are not numbers become null and are counted as invalid.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection, Sequence
from os import PathLike, fspath
from typing import Any

import duckdb

from dpheatmap.curator.event_files import open_files
from dpheatmap.curator.geometry import coordinates
from dpheatmap.curator.ledger_chain import Part
from dpheatmap.curator.predicate import row_predicate
from dpheatmap.curator.read.frames import open_frame
from dpheatmap.curator.table import TEXT, Table, literal, quoted
from dpheatmap.errors import DataError, ParameterError, PrivacyRefusal

FLOATS = ("FLOAT", "DOUBLE")
_NUMBERS = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT",
            "UHUGEINT")  # fmt: skip
# Types whose values are equal only if they are the same; intervals, for one, are not: 30 days equal a month.
_IDS = (*_NUMBERS, "VARCHAR", TEXT, "ENUM", "BLOB", "UUID", "BOOLEAN", "DATE", "TIME", "BIT", '"NULL"')


def open_table(
    con: duckdb.DuckDBPyConnection,
    events: Any,
    folder: str,
    user: str | None = None,
    bad_lines: str = "stop",
    named: Collection[str] | None = None,
) -> Table:
    """Make a path, glob, data frame, Arrow table or DuckDB relation readable on the connection.

    ``folder`` is private and temporary; a relation, which lives on a connection of its own, is copied there. ``named``
    are the columns that will be asked for; None stands for all that there are.
    """
    if isinstance(events, (str, PathLike)):
        return open_files(con, fspath(events), user, bad_lines, named)
    return open_frame(con, events, folder, user)


def canonical(
    table: Table, *, user: str | None, x: str | None, y: str | None, geometry: str | None = None,
    weight: str | None = None, where: str | None = None, each_row_is_a_person: bool = False, image: str | None = None,
    images: Sequence[str] = (), part: Part | None = None, degrees: bool = True,
) -> str:  # fmt: skip
    """The relation person, x, y, weight as SQL, after every refusal that the table's schema calls for.

    With ``image``, the column that names an event's image, it also has picture: the place of that name in ``images``,
    which is public, and null if it is not in it. Coordinates are the columns x and y, or the points in one column; of
    GeoParquet that is found if none is named. With ``degrees`` its points must be longitude and latitude.
    """
    if each_row_is_a_person and user is not None:
        raise PrivacyRefusal(f"Either the column {user!r} tells whose a row is, or each row is a person. Choose one.")
    if not each_row_is_a_person and user is None:
        raise PrivacyRefusal(
            "No user column was named, so a person with many rows would not be protected. "
            "Name it, or say each_row_is_a_person=True (--each-row-is-a-person) if that is the truth."
        )
    chosen = [f"{sql} AS {role}" for role, sql in zip("xy", _coordinates(table, x, y, geometry, degrees), strict=True)]
    if user is not None:
        chosen.insert(0, f"{_person(table, user)} AS person")
    if weight is not None:
        chosen.append(f"{_weight(table, weight)} AS weight")
    if image is not None:
        chosen.append(f"{_image(table, image)} AS image")
    conditions = []
    if where is not None:
        conditions.append(row_predicate(where, table.columns, portable=table.portable, listed=table.listed))
    if part is not None:
        conditions.append(_of_part(table, user, part))
    only = f" WHERE {' AND '.join(conditions)}" if conditions else ""
    relation = f"SELECT {', '.join(chosen)} FROM {table.relation}{only}"
    if image is None:
        return relation
    # Names are listed once each, so no event is doubled.
    public = ", ".join(f"({literal(name)}, {number})" for number, name in enumerate(images))
    listed = f"(VALUES {public}) listed(name, picture)"
    return f"SELECT events.*, picture FROM ({relation}) events LEFT JOIN {listed} ON events.image = listed.name"


def _of_part(table: Table, user: str | None, part: Part) -> str:
    """The people of a part: those all of whose rows, wherever and whenever, have its value.

    Whoever has two values, or none in some row, is in no part. Rows that `where` leaves out count, too: otherwise a
    person could be of one part in June and of another in July, and would be paid for once instead of twice.
    """
    kind = _type_of(table, "partition", part.column)
    if not _is_id(kind):
        raise DataError(
            f"The partition column {part.column!r} is of type {kind}, in which different values can become equal. "
            "Store them as text or integers."
        )
    same = f"COALESCE(CAST({quoted(part.column)} AS VARCHAR) = {literal(part.value)}, FALSE)"
    if user is None:
        return same
    person = _person(table, user)
    return f"{person} IN (SELECT {person} FROM {table.relation} GROUP BY {person} HAVING BOOL_AND({same}))"


def _is_id(kind: str) -> bool:
    return kind in _IDS or re.fullmatch(r"DECIMAL\(\d+,\d+\)|TIMESTAMP[\w ]*", kind) is not None


def _person(table: Table, user: str) -> str:
    if user not in table.columns:
        raise PrivacyRefusal(_missing(table, "user", user))
    if user in table.folders:
        raise PrivacyRefusal(
            f"The user column {user!r} stands in the names of folders, which say where rows lie, not whose they are. "
            "Name a column that is in the files."
        )
    kind = table.columns[user]
    if not _is_id(kind):
        raise DataError(
            f"The user column {user!r} is of type {kind}, in which different people's ids can become equal. "
            "Store ids as integers or text."
        )
    return quoted(table.ids.get(user, user))


def _coordinates(table: Table, x: str | None, y: str | None, geometry: str | None, degrees: bool) -> tuple[str, str]:
    if x is not None and y is not None:
        return _number(table, x), _number(table, y)
    geometry = next(iter(table.geometries), None) if geometry is None else geometry
    if geometry is None:
        raise ParameterError(
            f"x and y must name columns; none was given, and {table.name} is not GeoParquet. Run dpheatmap inspect."
        )
    kind = _type_of(table, "geometry", geometry)
    if degrees and geometry in table.geometries:
        table.geometries[geometry].check(geometry, table.name)
    if geometry in table.points:
        return table.points[geometry]
    found = coordinates(quoted(geometry), kind)
    if found is None:
        raise DataError(
            f"The geometry column {geometry!r} is of a type that holds no points. Store them as well-known binary "
            "(WKB), or name columns for x and y."
        )
    return found


def _number(table: Table, name: str) -> str:
    kind = _type_of(table, "coordinate", name)
    if not is_number(kind):
        raise DataError(f"The coordinate column {name!r} is of type {kind}, not a number. Name a column of numbers.")
    if table.portable and kind.startswith("DECIMAL"):  # that of PostgreSQL may be beyond all floats
        middle = f"WHEN {quoted(name)} BETWEEN -1.7e308 AND 1.7e308 THEN CAST({quoted(name)} AS DOUBLE)"
        return f"CASE WHEN {quoted(name)} BETWEEN -1e-100 AND 1e-100 THEN 0 {middle} END"
    return f"TRY_CAST({quoted(name)} AS DOUBLE)"


def _weight(table: Table, name: str) -> str:
    kind = _type_of(table, "weight", name)
    if kind not in (*_NUMBERS, "VARCHAR", '"NULL"'):
        raise DataError(f"The weight column {name!r} is of type {kind}, and weights are integers. Cast it to integers.")
    if kind == "VARCHAR":  # CSV: only what is written as a whole number is one; the cast alone would round 1.5 to 2
        return f"CASE WHEN regexp_full_match({quoted(name)}, '[0-9]+') THEN TRY_CAST({quoted(name)} AS BIGINT) END"
    return f"TRY_CAST({quoted(name)} AS BIGINT)"


def _image(table: Table, name: str) -> str:
    kind = _type_of(table, "image", name)
    if kind not in _IDS:
        raise DataError(f"The image column {name!r} is of type {kind}, not text. Name the column that holds the names.")
    return f"CAST({quoted(name)} AS VARCHAR)"


def _type_of(table: Table, role: str, name: str) -> str:
    if name not in table.columns:
        raise DataError(_missing(table, role, name))
    return table.columns[name]


def _missing(table: Table, role: str, name: str) -> str:
    if not table.listed:
        return f"There is no {role} column {name!r} in {table.name}. Check its first line with dpheatmap inspect."
    near = difflib.get_close_matches(name, table.columns, 1, 0.5)
    hint = f"Did you mean {near[0]!r}?" if near else "Run dpheatmap inspect to see what fits."
    return f"There is no {role} column {name!r} in {table.name}, which has {', '.join(table.columns)}. {hint}"


def is_number(kind: str) -> bool:
    """Whether values of a type are numbers, or text that may hold them."""
    exact = re.fullmatch(r"DECIMAL\(\d+,\d+\)", kind)
    return exact is not None or kind in (*FLOATS, *_NUMBERS, "VARCHAR", '"NULL"')
