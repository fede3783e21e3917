"""Any table, file or data frame to one canonical relation: person, x, y, weight and, of several images, picture.

Whose row is it? Ids are compared byte by byte. CSV and JSON ids are read as the text they are (``007`` is not ``7``,
and in JSON ``"7"`` is not ``7``), other tables keep the type they have, floats are refused, and nothing is hashed,
trimmed, folded or cast. Coordinates that are not numbers become null and are counted as invalid.
"""

from __future__ import annotations

import csv
import difflib
import glob
import io
import numbers
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from os import PathLike, fspath
from pathlib import Path
from typing import Any

import duckdb
import numpy as np

from dpheatmap.curator.engines.duckdb import quietly
from dpheatmap.curator.ledger_chain import Part
from dpheatmap.curator.predicate import row_predicate
from dpheatmap.errors import DataError, PrivacyRefusal
from dpheatmap.files import not_a_pattern

_FORMATS = {
    ".csv": "csv", ".tsv": "csv", ".txt": "csv", ".parquet": "parquet", ".pq": "parquet",
    ".json": "json", ".jsonl": "json", ".ndjson": "json",
}  # fmt: skip
_COMPRESSIONS = (".gz", ".zst")
FLOATS = ("FLOAT", "DOUBLE")
TEXT = "TEXT"
"""Text of engines that know the types of their columns, so that it is never taken for numbers, as a CSV file's is."""

_NUMBERS = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT",
            "UHUGEINT")  # fmt: skip
# Types whose values are equal only if they are the same; intervals, for one, are not: 30 days equal a month.
_IDS = (*_NUMBERS, "VARCHAR", TEXT, "JSON", "ENUM", "BLOB", "UUID", "BOOLEAN", "DATE", "TIME", "BIT", '"NULL"')
_NOBODY = """SELECT CAST(NULL AS VARCHAR) AS person, CAST(NULL AS DOUBLE) AS x, CAST(NULL AS DOUBLE) AS y,
    CAST(NULL AS BIGINT) AS weight, CAST(NULL AS INTEGER) AS picture WHERE FALSE"""


@dataclass(frozen=True)
class Table:
    """A relation that an engine can read: what stands after FROM, and its columns with their types, as DuckDB's.

    JSON without a single row has no columns. ``listed`` tells whether errors may list them: not if they may be data.
    ``points`` are columns that hold points, with what the relation calls their x and y. ``portable`` relations are
    carried from DuckDB's dialect to another.
    """

    relation: str
    columns: Mapping[str, str]
    name: str
    listed: bool = True
    points: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    portable: bool = False


def open_table(con: duckdb.DuckDBPyConnection, events: Any, folder: str, user: str | None = None) -> Table:
    """Make a path, glob, data frame, Arrow table or DuckDB relation readable on the connection.

    ``folder`` is private and temporary; a relation, which lives on a connection of its own, is copied there.
    """
    if isinstance(events, (str, PathLike)):
        return _open_files(con, fspath(events), user)
    if isinstance(events, duckdb.DuckDBPyRelation):
        relation = f"read_parquet({_text(not_a_pattern(_copy_relation(events, folder)))}, hive_partitioning=false)"
        return Table(relation, _describe(con, relation, "the relation"), "the relation")
    return _open_frame(con, _with_text_ids(events, user))


def canonical(
    table: Table, *, user: str | None, x: str, y: str, weight: str | None = None, where: str | None = None,
    each_row_is_a_person: bool = False, image: str | None = None, images: Sequence[str] = (), part: Part | None = None,
) -> str:  # fmt: skip
    """The relation person, x, y, weight as SQL, after every refusal that the table's schema calls for.

    With ``image``, the column that names an event's image, it also has picture: the place of that name in ``images``,
    which is public, and null if it is not in it.
    """
    if each_row_is_a_person and user is not None:
        raise PrivacyRefusal(f"Either the column {user!r} tells whose a row is, or each row is a person. Choose one.")
    if not each_row_is_a_person and user is None:
        raise PrivacyRefusal(
            "No user column was named, so a person with many rows would not be protected. "
            "Name it, or say each_row_is_a_person=True (--each-row-is-a-person) if that is the truth."
        )
    if not table.columns:  # nothing to check and nothing to read, yet released like any other table
        if where is not None:
            row_predicate(where, None)
        return _NOBODY
    chosen = [f"{_coordinate(table, name, axis)} AS {role}" for axis, (role, name) in enumerate((("x", x), ("y", y)))]
    if user is not None:
        chosen.insert(0, f"{_person(table, user)} AS person")
    if weight is not None:
        chosen.append(f"{_weight(table, weight)} AS weight")
    if image is not None:
        chosen.append(f"{_image(table, image)} AS image")
    conditions = [row_predicate(where, table.columns, portable=table.portable)] if where is not None else []
    if part is not None:
        conditions.append(_of_part(table, user, part))
    only = f" WHERE {' AND '.join(conditions)}" if conditions else ""
    relation = f"SELECT {', '.join(chosen)} FROM {table.relation}{only}"
    if image is None:
        return relation
    # Names are listed once each, so no event is doubled.
    public = ", ".join(f"({_text(name)}, {number})" for number, name in enumerate(images))
    listed = f"(VALUES {public}) listed(name, picture)"
    return f"SELECT events.*, picture FROM ({relation}) events LEFT JOIN {listed} ON events.image = listed.name"


def _of_part(table: Table, user: str | None, part: Part) -> str:
    """The people of a part: those all of whose rows, wherever and whenever, have its value.

    Whoever has two values, or none in some row, is in no part. Rows that `where` leaves out count, too: otherwise a
    person could be of one part in June and of another in July, and would be paid for once instead of twice.
    """
    if part.column not in table.columns:
        raise DataError(_missing(table, "partition", part.column))
    if not _is_id(table.columns[part.column]):
        raise DataError(
            f"The partition column {part.column!r} is of type {table.columns[part.column]}, in which different values "
            "can become equal. Store them as text or integers."
        )
    same = f"COALESCE(CAST({quoted(part.column)} AS VARCHAR) = {_text(part.value)}, FALSE)"
    if user is None:
        return same
    person = _person(table, user)
    return f"{person} IN (SELECT {person} FROM {table.relation} GROUP BY {person} HAVING BOOL_AND({same}))"


def _is_id(kind: str) -> bool:
    return kind in _IDS or re.fullmatch(r"DECIMAL\(\d+,\d+\)|TIMESTAMP[\w ]*", kind) is not None


def _person(table: Table, user: str) -> str:
    if user not in table.columns:
        raise PrivacyRefusal(_missing(table, "user", user))
    kind = table.columns[user]
    if not _is_id(kind):
        raise DataError(
            f"The user column {user!r} is of type {kind}, in which different people's ids can become equal. "
            "Store ids as integers or text."
        )
    if kind == "JSON":  # a JSON number with a point or an exponent has been a float by now: nobody's, so left out
        text = f"CAST({quoted(user)} AS VARCHAR)"
        return f"CASE WHEN regexp_full_match({text}, '-?[0-9]+|true|false|(?s)\".*\"') THEN {text} END"
    return quoted(user)


def _coordinate(table: Table, name: str, axis: int) -> str:
    return quoted(table.points[name][axis]) if name in table.points else _number(table, name)


def _number(table: Table, name: str) -> str:
    if name not in table.columns:
        raise DataError(_missing(table, "coordinate", name))
    kind = table.columns[name]
    if not is_number(kind):
        raise DataError(f"The coordinate column {name!r} is of type {kind}, not a number. Name a column of numbers.")
    return f"TRY_CAST({quoted(name)} AS DOUBLE)"


def _weight(table: Table, name: str) -> str:
    if name not in table.columns:
        raise DataError(_missing(table, "weight", name))
    kind = table.columns[name]
    if kind not in (*_NUMBERS, "VARCHAR", '"NULL"'):
        raise DataError(f"The weight column {name!r} is of type {kind}, and weights are integers. Cast it to integers.")
    if kind == "VARCHAR":  # CSV: only what is written as a whole number is one; the cast alone would round 1.5 to 2
        return f"CASE WHEN regexp_full_match({quoted(name)}, '[0-9]+') THEN TRY_CAST({quoted(name)} AS BIGINT) END"
    return f"TRY_CAST({quoted(name)} AS BIGINT)"


def _image(table: Table, name: str) -> str:
    if name not in table.columns:
        raise DataError(_missing(table, "image", name))
    kind = table.columns[name]
    if kind not in _IDS:
        raise DataError(f"The image column {name!r} is of type {kind}, not text. Name the column that holds the names.")
    return f"CAST({quoted(name)} AS VARCHAR)"


def _missing(table: Table, role: str, name: str) -> str:
    if not table.listed:
        return f"There is no {role} column {name!r} in {table.name}. Check its first line with dpheatmap inspect."
    near = difflib.get_close_matches(name, table.columns, 1, 0.5)
    hint = f"Did you mean {near[0]!r}?" if near else "Run dpheatmap inspect to see what fits."
    return f"There is no {role} column {name!r} in {table.name}, which has {', '.join(table.columns)}. {hint}"


def is_number(kind: str) -> bool:
    """Whether values of a type are numbers, or text that may hold them."""
    exact = re.fullmatch(r"DECIMAL\(\d+,\d+\)", kind)
    return exact is not None or kind in (*FLOATS, *_NUMBERS, "VARCHAR", "JSON", '"NULL"')


def quoted(name: str) -> str:
    """A column's name as SQL."""
    return '"' + name.replace('"', '""') + '"'


def _text(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"


# Files


@contextmanager
def unchanged(events: Any) -> Iterator[None]:
    """Refuse files that change while they are read: the two readings of the aggregation must see the same rows."""
    before = _stamps(events)
    yield
    if _stamps(events) != before:
        raise DataError("A file changed while it was read. Let whatever writes to it finish, and start again.")


def _stamps(events: Any) -> list[tuple[int, ...]]:
    if not isinstance(events, (str, PathLike)):
        return []
    stats = [os.stat(file) for file in _matching(fspath(events))]
    return [(stat.st_ino, stat.st_size, stat.st_mtime_ns) for stat in stats]


def _matching(path: str) -> list[str]:
    return [path] if Path(path).is_file() else sorted(glob.glob(path, recursive=True))


def _open_files(con: duckdb.DuckDBPyConnection, path: str, user: str | None) -> Table:
    files = _matching(path)
    if not files:
        raise DataError(f"No file is called {path!r} or matches it. Check the path.")
    formats = {_format(file) for file in files}
    if len(formats) != 1:
        raise DataError(f"The files that match {path!r} are of different formats. Give one format at a time.")
    # Folders called user=7 would otherwise make a column of their own, or take the place of the file's.
    names = "[" + ", ".join(_text(not_a_pattern(file)) for file in files) + "], hive_partitioning=false"
    name, kind = Path(path).name, formats.pop()
    if kind == "json":
        return _json_table(con, names, name, user)
    return (_csv_table if kind == "csv" else _parquet_table)(con, files, names, name)


def _format(file: str) -> str:
    suffixes = [s.lower() for s in Path(file).suffixes]
    if suffixes and suffixes[-1] in _COMPRESSIONS:
        suffixes.pop()
    if not suffixes or suffixes[-1] not in _FORMATS:
        raise DataError(
            f"{Path(file).name!r} has no known ending. Use one of {', '.join(_FORMATS)}, or load it yourself."
        )
    return _FORMATS[suffixes[-1]]


def _parquet_table(con: duckdb.DuckDBPyConnection, files: Sequence[str], names: str, name: str) -> Table:
    columns = _describe(con, f"read_parquet({names})", name)
    for file in files[1:]:
        # DuckDB would cast a later file to the types of the first, and ids with it.
        alone = f"read_parquet({_text(not_a_pattern(file))}, hive_partitioning=false)"
        if _describe(con, alone, Path(file).name) != columns:
            raise _unlike(files[0], file)
    return Table(f"read_parquet({names})", columns, name)


def _json_table(con: duckdb.DuckDBPyConnection, names: str, name: str, user: str | None) -> Table:
    """Every value as text: a number keeps every digit it was written with. Ids as JSON, in which text has quotes."""
    found = f"read_json({names}, sample_size=-1)"  # all rows, so that no key is missed
    keys = _describe(con, found, name)
    if [*keys] == ["json"] and quietly(lambda: con.execute(f"SELECT 1 FROM {found} LIMIT 1").fetchone(), name) is None:
        return Table(f"({_NOBODY})", {}, name)
    columns = {key: "JSON" if key == user else "VARCHAR" for key in keys}
    described = ", ".join(f"{_text(key)}: '{kind}'" for key, kind in columns.items())
    return Table(f"read_json({names}, columns={{{described}}})", columns, name, listed=False)


def _csv_table(con: duckdb.DuckDBPyConnection, files: Sequence[str], names: str, name: str) -> Table:
    """Every column as text, in the dialect of the header line: nothing is guessed from the rows."""
    header = _header_line(con, files[0])
    for file in files[1:]:
        if _header_line(con, file) != header:
            raise _unlike(files[0], file)
    outside_quotes = re.sub('"[^"]*"', "", header)
    delimiter = max(",;\t|", key=outside_quotes.count)
    columns = next(csv.reader(io.StringIO(header), delimiter=delimiter))
    if len({column.lower() for column in columns}) != len(columns) or not all(columns):
        raise DataError(f"The header of {Path(files[0]).name!r} has empty or repeated names. Give each column its own.")
    described = ", ".join(f"{_text(column)}: 'VARCHAR'" for column in columns)
    relation = (
        f"read_csv({names}, auto_detect=false, header=true, delim={_text(delimiter)}, quote='\"', escape='\"', "
        f"allow_quoted_nulls=false, columns={{{described}}})"
    )
    return Table(relation, _describe(con, relation, name), name, listed=not looks_like_data(columns))


def looks_like_data(columns: Iterable[str]) -> bool:
    """Whether a name is a number: more likely, this is the first row of a file without a header."""
    return any(re.fullmatch(r"[-+.eE\d\s]*\d[-+.eE\d\s]*", column) for column in columns)


def _unlike(first: str, other: str) -> DataError:
    return DataError(
        f"{Path(other).name!r} does not have the columns of {Path(first).name!r}, or not in the same order or of the "
        "same types. Make the files alike."
    )


def _header_line(con: duckdb.DuckDBPyConnection, file: str) -> str:
    sql = (  # a delimiter that no text has, for the rows that are read along with the first line
        f"SELECT line FROM read_csv({_text(not_a_pattern(file))}, auto_detect=false, header=false, quote='', "
        "escape='', delim='\x1c\x1d\x1e\x1f', columns={'line': 'VARCHAR'}, strict_mode=false, hive_partitioning=false) "
        "LIMIT 1"
    )
    row = quietly(lambda: con.execute(sql).fetchone(), Path(file).name)
    if row is None or not row[0]:
        raise DataError(f"{Path(file).name!r} has no header line. The first line must name the columns.")
    return str(row[0]).removeprefix("\ufeff")


def _describe(con: duckdb.DuckDBPyConnection, relation: str, name: str) -> dict[str, str]:
    rows = quietly(lambda: con.execute(f"DESCRIBE SELECT * FROM {relation}").fetchall(), name)
    return {column: re.sub(r"(?s)ENUM\(.*\)", "ENUM", kind) for column, kind, *_ in rows}  # an enum's values are data


# Tables in memory


def _open_frame(con: duckdb.DuckDBPyConnection, frame: Any) -> Table:
    try:
        con.register("people_events", frame)
    except (duckdb.Error, ImportError, TypeError):
        known = False
    else:
        known = True
    if not known:
        raise DataError(
            f"A {type(frame).__name__} can't be read, or not with these types. Give a path, a pandas, Polars or Arrow "
            "table, or a DuckDB relation."
        )
    relation = "people_events"
    if hasattr(frame, "read_next_batch"):  # a stream can be read once
        relation = "people_copied"
        quietly(lambda: con.execute(f"CREATE TEMP TABLE {relation} AS SELECT * FROM people_events"), "the table")
    return Table(relation, _describe(con, relation, "the table"), "the table")


def _copy_relation(relation: duckdb.DuckDBPyRelation, folder: str) -> str:
    """Write a relation to Parquet, batch by batch; large integers as text, for Parquet would make floats of them."""
    large = ("HUGEINT", "UHUGEINT", "BIGNUM")
    columns = [
        f"CAST({quoted(name)} AS VARCHAR) AS {quoted(name)}" if str(kind) in large else quoted(name)
        for name, kind in zip(relation.columns, relation.types, strict=True)
    ]
    path = str(Path(folder, "relation.parquet"))
    quietly(lambda: relation.project(", ".join(columns)).write_parquet(path), "the relation")
    return path


def _with_text_ids(frame: Any, user: str | None) -> Any:
    """A pandas frame, or columns of NumPy's, whose ids are plain objects gets them as text.

    DuckDB takes the text of each object, and would merge the id 7 with the id "7". Text stays as it is here; any other
    object is written after a mark with the name of its type, so that no two different ones become equal.
    """
    import narwhals as nw

    if isinstance(frame, dict) and user in frame and np.asarray(frame[user]).dtype.hasobject:
        ids = [None if value is None else _as_text(value) for value in frame[user]]
        return {**frame, user: np.array(ids, dtype=object)}
    if not nw.dependencies.is_pandas_dataframe(frame):
        return frame
    names = [str(label) for label in frame.columns]
    if len({name.lower() for name in names}) != len(names):
        raise DataError("The table has columns whose names are equal or differ in case alone. Give each its own name.")
    frame = frame.set_axis(names, axis="columns")
    if user not in names or frame[user].dtype != object:
        return frame
    return frame.assign(**{user: frame[user].map(_as_text, na_action="ignore").astype(object)})


_MARK = "\x1f"


def _as_text(value: object) -> str:
    """Ordinary text as it is; anything else, also text with what can't be printed or encoded, after a mark."""
    if isinstance(value, str) and value.isprintable():
        return value
    if not isinstance(value, bool) and isinstance(value, numbers.Integral):
        return f"{_MARK}int:{int(value)}"
    return f"{_MARK}{type(value).__name__}:{value!r}"
