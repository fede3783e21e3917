"""A look at a table for the data holder: columns, guesses by name, and what might go wrong."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import duckdb

from dpheatmap.curator.engines.duckdb import connection, quietly, readably
from dpheatmap.curator.read.canonical import is_number, read_events
from dpheatmap.curator.read.clock import CLOCKS, DATES, INSTANTS, reading_of_column
from dpheatmap.curator.read.record_stream import own_problem
from dpheatmap.curator.read.sql_text import quote_name
from dpheatmap.curator.read.table import FLOATS, Table
from dpheatmap.curator.read.text import CsvParser, looks_like_data
from dpheatmap.curator.read.written_numbers import PATTERNS, hint_of, match_of
from dpheatmap.errors import DataError

# Words that names of columns are made of, best first; "start_lng" and "userId" are split into words before.
_WORDS = {
    "user": ("user", "userid", "person", "rider", "member", "customer", "client", "participant", "subject", "visitor",
             "viewer", "observer", "patient", "passenger", "driver", "player", "device", "account", "uid", "pid", "id"),
    "x": ("lon", "lng", "long", "longitude", "x", "easting"),
    "y": ("lat", "latitude", "y", "northing"),
    "time": ("time", "timestamp", "datetime", "date", "started", "starttime", "ts", "utc", "epoch"),
}  # fmt: skip
_ALWAYS = ("user", "x", "y")
_STARTS = ("start", "from", "origin", "pickup", "departure")
_ENDS = ("end", "to", "destination", "dropoff", "arrival")
_NOBODY = ("ride", "trip", "bike", "vehicle", "station", "type", "casual", "start", "end", "from", "to")
"""Words of names that, in a table of trips, are those of a trip, of what it was made with, or of where it led."""
_LAST = 99  # the rank of a column that holds times by its type, whatever its name

_NOT_FINITE = "not finite numbers"
_EACH = 3 + len(PATTERNS)
"""Numbers about each column of coordinates."""


@dataclass(frozen=True)
class Inspection:
    """The columns of a table, and guesses. ``private`` holds exact numbers about people; the rest is names and types.

    The keys of JSON are found in people's rows, so its columns, and what is derived from them, are not ``public``.
    """

    public: bool

    columns: Mapping[str, str]
    guesses: Mapping[str, tuple[str, ...]]
    unfit_for_ids: tuple[str, ...]
    schema_problems: tuple[str, ...]
    private: Mapping[str, Any]


def inspect_table(events: Any, *, read_rows: bool, table: str | None = None) -> Inspection:
    """List columns, types and guesses; with ``read_rows`` also exact numbers, for the data holder's eyes only.

    ``table`` names one of several in a file.
    """
    with connection() as (con, folder):
        opened = read_events(con, events, folder, bad_lines="skip", table=table)
        if (
            opened.stream is not None
            and isinstance(opened.stream.parser, CsvParser)
            and looks_like_data(opened.columns)
        ):
            raise DataError(
                f"The first line of {opened.name} looks like a row, not like names. Put a header line first."
            )
        found = {role: _candidates(role, opened) for role in _WORDS}
        found |= _trips(opened, found)
        guesses = {role: names for role, names in found.items() if role in _ALWAYS or names}
        if opened.units:
            guesses["user"] = tuple(opened.units)
        if opened.geometries:
            guesses["geometry"] = tuple(opened.geometries)
        private = readably(opened, lambda: _numbers(con, opened, guesses)) if read_rows else {}
    unfit = tuple(name for name, kind in opened.columns.items() if kind in FLOATS)
    problems = tuple(_problems(opened.columns, guesses))
    return Inspection(opened.listed, opened.columns, guesses, unfit, problems, private)


def _candidates(role: str, table: Table) -> tuple[str, ...]:
    words = _WORDS[role]
    ranked = []
    for name, kind in table.columns.items():
        rank = min((words.index(part) for part in _words_of(name) if part in words), default=None)
        if role == "time":
            rank = _rank_of_time(rank, kind, table)
        if rank is not None and (role in ("user", "time") or is_number(kind)):
            ranked.append((rank, name))
    return tuple(name for _, name in sorted(ranked))


def _words_of(name: str) -> list[str]:
    return [part.lower() for part in re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+", name)]


def _trips(table: Table, found: Mapping[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
    """Guesses at the columns of trips, by their names: where they start and end, and whose they are, if it says so."""

    def of(role: str, words: Sequence[str]) -> tuple[str, ...]:
        return tuple(name for name in found[role] if set(words) & set(_words_of(name)))

    starts, ends = ({role: of(role, words) for role in ("x", "y")} for words in (_STARTS, _ENDS))
    if not all((*starts.values(), *ends.values())):
        return {}
    people = tuple(name for name in found["user"] if not set(_NOBODY) & set(_words_of(name)))
    return {"user": people, **starts, "to_x": ends["x"], "to_y": ends["y"]}


def _rank_of_time(rank: int | None, kind: str, table: Table) -> int | None:
    """The rank of a column for time: those of times by their type, and those of other types that are named so."""
    if kind in (*DATES, *CLOCKS, *INSTANTS):
        return _LAST if rank is None else rank
    held = reading_of_column("time", kind, portable=table.portable) is not None
    return _LAST + 1 + rank if rank is not None and held else None


def _problems(columns: Mapping[str, str], guesses: Mapping[str, tuple[str, ...]]) -> list[str]:
    problems = [
        f"{name!r} holds floating-point numbers, in which different ids can become equal: store ids as integers or text"
        for name in guesses["user"][:1]
        if columns[name] in FLOATS
    ]
    problems += [
        f"{name!r} is of type {columns[name]}, which tells when and not who: is another column the person's?"
        for name in guesses["user"][:1]
        if columns[name].startswith(("DATE", "TIME"))
    ]
    if not guesses["user"] and "to_x" in guesses:
        problems.append(
            "no column tells who made a trip: name one if there is, or protect each trip alone, and not the people who "
            "made several"
        )
    elif not guesses["user"]:
        problems.append("no column looks like a person's id: name it, or say that each row is another person")
    return problems


def _numbers(con: duckdb.DuckDBPyConnection, table: Table, guesses: Mapping[str, tuple[str, ...]]) -> dict[str, Any]:
    chosen = [f"COUNT(*) - COUNT({quote_name(name)}) AS nulls{k}" for k, name in enumerate(table.columns)]
    ranges = list(dict.fromkeys((*guesses["x"], *guesses["y"])))
    for k, name in enumerate(ranges):
        number = f"TRY_CAST({quote_name(name)} AS DOUBLE)"
        finite = f"CASE WHEN isfinite({number}) THEN {number} END"
        chosen += [f"MIN({finite}) AS low{k}", f"MAX({finite}) AS high{k}", f"COUNT(*) - COUNT({finite}) AS bad{k}"]
        for way in PATTERNS:
            text = f"CAST({quote_name(name)} AS VARCHAR)"
            chosen.append(f"COUNT(CASE WHEN {number} IS NULL AND {match_of(text, way)} THEN 1 END) AS {way}{k}")
    sql = f"SELECT COUNT(*) AS n, {', '.join(chosen)} FROM {table.relation}"
    with own_problem(table.stream):
        row = quietly(lambda: con.execute(sql).fetchone(), table.name)
    assert row is not None
    rows, nulls, rest = row[0], row[1 : 1 + len(table.columns)], row[1 + len(table.columns) :]
    columns: dict[str, dict[str, Any]] = {n: {"nulls": k} for n, k in zip(table.columns, nulls, strict=True)}
    written: dict[str, list[str]] = {}
    for k, name in enumerate(ranges):
        low, high, bad, *ways = rest[_EACH * k : _EACH * (k + 1)]
        columns[name] |= {"lowest": low, "highest": high, _NOT_FINITE: bad}
        found = {way: count for way, count in zip(PATTERNS, ways, strict=True) if count}
        if found:
            written.setdefault(max(found, key=found.__getitem__), []).append(name)
    told = [hint_of(names, way) for way, names in written.items()]
    hints = [*_lines(table), *(told or _hints(columns, guesses))]
    return {"rows": rows, "columns": columns, "hints": hints}


def _lines(table: Table) -> list[str]:
    """Sentences about broken lines of a text file that was read to its end."""
    if table.stream is None or not table.stream.broken:
        return []
    many = f"{table.stream.broken:,} lines are broken" if table.stream.broken > 1 else "1 line is broken"
    return [f"{many}. {table.stream.place()} A release stops there, or leaves such lines out (--bad-lines skip)"]


def _hints(columns: Mapping[str, Mapping[str, Any]], guesses: Mapping[str, tuple[str, ...]]) -> list[str]:
    if not guesses["x"] or not guesses["y"]:
        return []
    x, y = columns[guesses["x"][0]], columns[guesses["y"][0]]
    if None in (x["lowest"], y["lowest"]):
        unread = [repr(guesses[r][0]) for r, n in (("x", x), ("y", y)) if n["lowest"] is None and n[_NOT_FINITE]]
        if not unread:  # there are no rows
            return []
        return [f"no value of {' and '.join(unread)} reads as a number: write 7.45, with a point and without a unit"]
    hints = []
    if max(map(abs, (x["lowest"], x["highest"], y["lowest"], y["highest"]))) > 360:
        hints.append(
            "these are not degrees: declare an image if they are pixels, or make them longitudes and latitudes"
        )
    if max(abs(y["lowest"]), abs(y["highest"])) > 90 >= max(abs(x["lowest"]), abs(x["highest"])):
        hints.append("latitudes run from -90 to 90 and these don't: are x and y swapped?")
    if min(x["lowest"], y["lowest"]) >= 0 and max(x["highest"], y["highest"]) <= 1:
        hints.append("all coordinates lie in 0 to 1: declare the unit square")
    if sum(1 for numbers in (x, y) if numbers["lowest"] == numbers["highest"] == 0):
        hints.append("a coordinate is 0 everywhere")
    return hints
