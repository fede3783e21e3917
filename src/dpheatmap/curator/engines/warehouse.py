"""Warehouses: the statement is written as text, somebody runs it there, and the answer is read from a file.

Nothing is known of the table beforehand, so columns are used as they are named, and a comment lists what an engine
would have refused. The type of a column of times is declared by whoever asks. The answer contains a stamp of its
question, so that it is not taken for that of another place or of other slices.
"""

from __future__ import annotations

import hashlib
import json
import re
import shlex
from dataclasses import replace
from os import PathLike, fspath
from typing import Any

import numpy as np
import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from dpheatmap.curator.core.counts import Counts
from dpheatmap.curator.core.query import COUNTERS, aggregation
from dpheatmap.curator.core.row_report import RowReport
from dpheatmap.curator.engines.answer import Answer
from dpheatmap.curator.engines.duckdb import columns_of, connection, quietly, run
from dpheatmap.curator.engines.one_scan_query import aggregation_in_one_scan
from dpheatmap.curator.engines.times import check_time_type
from dpheatmap.curator.engines.transpile import transpile
from dpheatmap.curator.read.canonical import canonical_relation
from dpheatmap.curator.read.event_files import open_files, refuse_changes
from dpheatmap.curator.read.reading import Reading
from dpheatmap.curator.read.record_stream import own_problem
from dpheatmap.curator.read.slice_numbers import NUMBER, Slices
from dpheatmap.curator.read.sql_text import quote_name
from dpheatmap.curator.read.table import TEXT, Table
from dpheatmap.curator.sliced_counts import SlicedCounts
from dpheatmap.design.shares import UNITS
from dpheatmap.errors import DataError, ParameterError
from dpheatmap.place.domain import Domain
from dpheatmap.place.quadtree import Ints
from dpheatmap.slicing.part import Part

_NAMES = ("cx", "cy", "weight")
_COMMENT = """\
-- dpheatmap: where people are, as integer weights per cell. The answer is PRIVATE: exact numbers about people.
-- {user}
{times}-- Coordinates must be columns of numbers{weight}. Nothing may change the table while this runs.
-- Save the whole answer as Parquet or CSV, its columns named as they are here, and release it with
--   dpheatmap release --counts ANSWER --epsilon 1 {place} -o map.html
-- and delete it afterwards. The release is charged to your ledger, and made safe by noise, there and not before.
"""
_USER = (
    "The person column must hold text or whole numbers, compared exactly: no floats, no collation that ignores case."
)
_GROUP = "The group column must hold text or whole numbers, compared in the same way."
_TYPES = {
    "instant": ("TIMESTAMP WITH TIME ZONE", "times with a zone: instants"),
    "clock": ("TIMESTAMP", "times without a zone: what clocks showed"),
    "date": ("DATE", "dates"),
    "seconds": ("DOUBLE", "seconds since 1970: whole numbers, or floats"),
    "text": (TEXT, "text such as 2024-06-03 08:15:00, with Z or +02:00 behind it if it is an instant"),
}
"""The types of times that can be declared: the type in DuckDB, and words for it."""
_KEEP_STEPS = ("duckdb", "postgres", "redshift")
"""Dialects in which the steps of slices stay steps. Elsewhere an optimizer may carry a filter of places through them,
and copy each into the next until it runs out of memory, as Spark does. The statement of one scan has no such filter."""


def statement(
    domain: Domain,
    dialect: str,
    table: str,
    reading: Reading,
    slices: Slices | None = None,
    time_type: str | None = None,
) -> str:
    """The aggregation in a warehouse's dialect, below a comment that tells what to do with it."""
    theirs = Table(_table(table, dialect), _Anything(), table, portable=True)
    sliced = None if slices is None else _respell_slices(slices, dialect, time_type)
    relation = canonical_relation(theirs, _respell(reading, dialect), slices=sliced)
    weighted, each, part = reading.weight is not None, reading.each_row_is_a_person, reading.people
    write = aggregation if slices is None or dialect in _KEEP_STEPS else aggregation_in_one_scan
    sql = write(
        relation, domain, weighted=weighted, each_row_is_a_person=each, grouped=slices is not None,
        stamp=stamp(domain, part, slices),
    )  # fmt: skip
    times = [] if time_type is None else [f"The time column must hold {_TYPES[time_type][1]}."]
    groups = [_GROUP] if slices is not None and slices.group is not None else []
    comment = _COMMENT.format(
        user="Each row counts as another person." if each else _USER,
        times="".join(f"-- {line}\n" for line in times + groups),
        weight=", weights of whole numbers" if weighted else "",
        place=_options(domain, part, slices),
    )
    return comment + transpile(sql, dialect)


def _respell_slices(slices: Slices, dialect: str, time_type: str | None) -> Slices:
    """Slices with columns as the warehouse spells them, and the declared type of times."""
    if (slices.time is None) != (time_type is None):
        raise ParameterError(
            "time and time_type go together, for the types of a warehouse's columns are not known here. Give time_type "
            f"(--time-type), one of {', '.join(_TYPES)}, or leave both out."
        )
    if time_type is not None:
        check_time_type(dialect, time_type)
    return replace(
        slices,
        time=_spelling(slices.time, dialect),
        group=_spelling(slices.group, dialect),
        declared=time_type and _TYPES[time_type][0],
    )


def _respell(reading: Reading, dialect: str) -> Reading:
    """A reading with columns as the warehouse spells them."""
    spelled: dict[str, Any] = {
        role: _spelling(getattr(reading, role), dialect) for role in ("user", "x", "y", "weight")
    }
    where = None if reading.where is None else _where(reading.where, dialect)
    partition = reading.partition and {
        _spelling(column, dialect) or "": values for column, values in reading.partition.items()
    }
    return replace(reading, **spelled, where=where, partition=partition)


def stamp(domain: Domain, part: Part | None, slices: Slices | None = None) -> int:
    """A number that identifies the question, by the place, the part of people and the slices. It is public, as these.

    Slices are the public axis, and the columns that say where on it a row is.
    """
    sliced = [] if slices is None else [[slices.axis.to_dict(), slices.time, slices.group]]
    question = json.dumps([domain.to_dict(), str(part), *sliced])
    return int.from_bytes(hashlib.sha256(question.encode()).digest()[:7], "big")


def _options(domain: Domain, part: Part | None, slices: Slices | None) -> str:
    """The place, the part and the slices as options of the command line."""
    parts = (domain.place.option, f"--depth {domain.depth}", *_part_options(part), *_slice_options(slices))
    return " ".join(parts)


def _part_options(part: Part | None) -> list[str]:
    """The part of people as options; a line feed would end the comment, and the rest of a name would run as SQL."""
    if part is None:
        return []
    listed = f"{part.column}={','.join(part.values)}"
    return [f"--partition {_on_a_line(listed, 'COLUMN=LIST')}", f"--part {_on_a_line(part.value, 'VALUE')}"]


def _slice_options(slices: Slices | None) -> list[str]:
    """The slices as options; what does not fit on the line of a comment is left to be filled in."""
    if slices is None:
        return []
    found, names = [], slices.axis.groups
    if slices.axis.period is not None:
        found += [f"--time {_on_a_line(slices.time, 'COLUMN')}", slices.axis.period.option]
    if names:
        found.append(f"--group {_on_a_line(slices.group, 'COLUMN')}")
        listed = None if any("," in name for name in names) else ",".join(names)
        found.append("--groups-file FILE" if _on_a_line(listed, "") == "" else f"--groups {_on_a_line(listed, '')}")
    return found


def _on_a_line(text: str | None, otherwise: str) -> str:
    return shlex.quote(text) if text is not None and text.isprintable() else otherwise


class _Anything(dict[str, str]):
    """The unknown types of a warehouse's columns: every column that is looked up exists and fits."""

    def __contains__(self, name: object) -> bool:
        return True

    def __bool__(self) -> bool:
        return True

    def __missing__(self, name: str) -> str:
        return '"NULL"'


def _spelling(name: str | None, dialect: str) -> str | None:
    """A column as the warehouse spells it: Snowflake knows plain names in capitals; in quotes, a name is exact."""
    exact = re.fullmatch(r'"(.+)"', name or "")
    if exact:
        return exact[1]
    plain = dialect == "snowflake" and name is not None and re.fullmatch(r"[A-Za-z_]\w*", name)
    return name.upper() if plain and name else name


def _where(text: str, dialect: str) -> str:
    """The predicate with columns as the warehouse spells them; it is checked where it is used."""
    try:
        tree = sqlglot.parse_one(text, dialect="duckdb")
    except SqlglotError:
        return text
    for column in tree.find_all(exp.Column):
        if not column.this.quoted:
            column.this.set("this", _spelling(column.name, dialect))
    return tree.sql(dialect="duckdb")


def _table(name: str, dialect: str) -> str:
    """The table's name, parsed in the warehouse's dialect and written in DuckDB's."""
    try:
        found = sqlglot.parse_one(name, into=exp.Table, dialect=dialect)
    except SqlglotError:
        found = None
    if not isinstance(found, exp.Table) or found.args.get("joins") or not isinstance(found.this, exp.Identifier):
        raise ParameterError(f"table must be the name of a table; it was {name!r}. Give it such as schema.trips.")
    for part in found.parts:
        if "-" in part.name:  # BigQuery alone allows this without quotes, in the names of projects
            part.set("quoted", True)
    return found.sql(dialect="duckdb")


# The answer


def read_answer(
    path: str | PathLike[str], domain: Domain, part: Part | None, slices: Slices | None = None
) -> Counts | SlicedCounts:
    """Read the counts of a warehouse's answer, after every check that is possible here.

    The checks: it answers this question, by the stamp; its columns are whole numbers; cells occur once in each slice
    and are inside the domain; counters add up; weights are 0 or more, over all slices together at most W for each
    person. It can't be checked that this statement was run, with these columns.
    """
    names = _NAMES if slices is None else (NUMBER, *_NAMES)
    with connection() as (con, folder), refuse_changes(path):
        table = open_files(con, fspath(path))
        spelled = {name.lower(): name for name in table.columns}
        missing = [name for name in names if name not in spelled]
        _check(missing != [NUMBER], table.name, "it is about one map, and slices were asked for")
        if missing:
            raise DataError(f"The answer {table.name} has no column {missing[0]!r}. Save it with the columns it had.")
        whole = [f"TRY_CAST({quote_name(spelled[name])} AS BIGINT) AS whole_{name}" for name in names]
        same = [f"TRY_CAST({quote_name(spelled[name])} AS DECIMAL(38, 9)) = whole_{name}" for name in names]
        relation = f"SELECT *, {', '.join(whole)} FROM {table.relation}"
        unlike = f"SELECT COUNT(*) FROM ({relation}) WHERE NOT COALESCE({' AND '.join(same)}, FALSE)"
        wanted = ", ".join(f"whole_{name} AS {name}" for name in names)
        with own_problem(table.stream):
            ((others,),) = quietly(lambda: con.execute(unlike).fetchall(), table.name)
            _check(not others, table.name, "its values are not all whole numbers")
            columns, seconds = run(con, f"SELECT {wanted} FROM ({relation})", folder, columns_of)
    many = 1 if slices is None else len(slices.axis.labels)
    found = _check_counts(columns, domain, many, stamp(domain, part, slices), table.name, seconds)
    counts = tuple(replace(one, part=part) for one in found)
    return counts[0] if slices is None else SlicedCounts(slices.axis, counts)


def _check_counts(
    columns: dict[str, Ints], domain: Domain, slices: int, expected: int, name: str, seconds: float
) -> list[Counts]:
    counted = columns["cx"] == -1
    values = dict(zip(columns["cy"][counted].tolist(), columns["weight"][counted].tolist(), strict=True))
    once = len(values) == np.count_nonzero(counted) and set(values) == set(range(len(COUNTERS) + 1))
    _check(once, name, "the rows that count rows and people are not all there, once each")
    other = "another place, another depth or another part of people, or other slices"
    _check(values[len(COUNTERS)] == expected, name, f"it is about {other}")
    report = RowReport(**{counter: values[k] for k, counter in enumerate(COUNTERS)}, seconds=seconds)
    cells = {role: column[~counted] for role, column in columns.items()}
    inside = domain.meets(domain.depth, cells["cx"], cells["cy"])
    _check(bool(inside.all()), name, "it has cells outside the domain")
    numbers = cells.get(NUMBER, np.zeros(1, np.int64))
    _check(bool(np.all((numbers >= 0) & (numbers < slices))), name, "it has slices beyond the last")
    _check(min(values.values()) >= 0 and np.min(cells["weight"], initial=0) >= 0, name, "it has numbers below 0")
    counts = [replace(one, report=report) for one in Answer.of(cells).counts(domain, slices)]
    once = all(bool(np.all(one.codes[1:] > one.codes[:-1])) for one in counts)
    _check(once, name, "it has a cell twice")
    adds_up = report.rows == report.without_person + report.invalid + report.outside + report.inside
    _check(adds_up and report.people <= report.inside, name, "its numbers of rows and people don't add up")
    _check(sum(one.total for one in counts) <= UNITS * report.people, name, "its people weigh more than 1 each")
    return counts


def _check(holds: bool, name: str, why: str) -> None:
    if not holds:
        raise DataError(
            f"{name} is not the answer to the statement of dpheatmap sql: {why}. Run that again, and save all of it."
        )
