"""Warehouses: the statement is written as text, somebody runs it there, and the answer is read from a file.

Nothing is known of the table beforehand, so columns are used as they are named, and a comment lists what an engine
would have refused. The answer contains a stamp of its question, so that it is not taken for that of another place.
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
from dpheatmap.curator.engines.duckdb import columns_of, connection, quietly, run
from dpheatmap.curator.engines.transpile import transpile
from dpheatmap.curator.read.canonical import canonical_relation
from dpheatmap.curator.read.event_files import open_files, refuse_changes
from dpheatmap.curator.read.reading import Reading
from dpheatmap.curator.read.record_stream import own_problem
from dpheatmap.curator.read.sql_text import quote_name
from dpheatmap.curator.read.table import Table
from dpheatmap.design.shares import UNITS
from dpheatmap.errors import DataError, ParameterError
from dpheatmap.place.domain import Domain
from dpheatmap.place.quadtree import Ints
from dpheatmap.slicing.part import Part

_NAMES = ("cx", "cy", "weight")
_COMMENT = """\
-- dpheatmap: where people are, as integer weights per cell. The answer is PRIVATE: exact numbers about people.
-- {user}
-- Coordinates must be columns of numbers{weight}. Nothing may change the table while this runs.
-- Save the whole answer as Parquet or CSV, its columns named as they are here, and release it with
--   dpheatmap release --counts ANSWER --epsilon 1 {place} -o map.html
-- and delete it afterwards. The release is charged to your ledger, and made safe by noise, there and not before.
"""
_USER = (
    "The person column must hold text or whole numbers, compared exactly: no floats, no collation that ignores case."
)


def statement(domain: Domain, dialect: str, table: str, reading: Reading) -> str:
    """The aggregation in a warehouse's dialect, below a comment that tells what to do with it."""
    theirs = Table(_table(table, dialect), _Anything(), table, portable=True)
    relation = canonical_relation(theirs, _respell(reading, dialect))
    weighted, each, part = reading.weight is not None, reading.each_row_is_a_person, reading.people
    sql = aggregation(relation, domain, weighted=weighted, each_row_is_a_person=each, stamp=stamp(domain, part))
    comment = _COMMENT.format(
        user="Each row counts as another person." if each else _USER,
        weight=", weights of whole numbers" if weighted else "",
        place=_options(domain, part),
    )
    return comment + transpile(sql, dialect)


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


def stamp(domain: Domain, part: Part | None) -> int:
    """A number that identifies the question, by the place and the part of people. It is public, as they are."""
    question = json.dumps([domain.to_dict(), str(part)])
    return int.from_bytes(hashlib.sha256(question.encode()).digest()[:7], "big")


def _options(domain: Domain, part: Part | None) -> str:
    """The place and the part as options of the command line."""
    of = (
        part
        and f"--partition {shlex.quote(f'{part.column}={chr(44).join(part.values)}')} --part {shlex.quote(part.value)}"
    )
    return " ".join(filter(None, (domain.place.option, f"--depth {domain.depth}", of)))


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


def read_answer(path: str | PathLike[str], domain: Domain, part: Part | None) -> Counts:
    """Read the counts of a warehouse's answer, after every check that is possible here.

    The checks: it answers this question, by the stamp; its columns are whole numbers; cells occur once each and are
    inside the domain; counters add up; weights are 0 or more, together at most W for each person. It can't be checked
    that this statement was run, with these columns.
    """
    with connection() as (con, folder), refuse_changes(path):
        table = open_files(con, fspath(path))
        spelled = {name.lower(): name for name in table.columns}
        missing = [name for name in _NAMES if name not in spelled]
        if missing:
            raise DataError(f"The answer {table.name} has no column {missing[0]!r}. Save it with the columns it had.")
        whole = [f"TRY_CAST({quote_name(spelled[name])} AS BIGINT) AS whole_{name}" for name in _NAMES]
        same = [f"TRY_CAST({quote_name(spelled[name])} AS DECIMAL(38, 9)) = whole_{name}" for name in _NAMES]
        relation = f"SELECT *, {', '.join(whole)} FROM {table.relation}"
        unlike = f"SELECT COUNT(*) FROM ({relation}) WHERE NOT COALESCE({' AND '.join(same)}, FALSE)"
        wanted = ", ".join(f"whole_{name} AS {name}" for name in _NAMES)
        with own_problem(table.stream):
            ((others,),) = quietly(lambda: con.execute(unlike).fetchall(), table.name)
            _check(not others, table.name, "its values are not all whole numbers")
            columns, seconds = run(con, f"SELECT {wanted} FROM ({relation})", folder, columns_of)
    return replace(_check_counts(columns, domain, stamp(domain, part), table.name, seconds), part=part)


def _check_counts(columns: dict[str, Ints], domain: Domain, expected: int, name: str, seconds: float) -> Counts:
    counted = columns["cx"] == -1
    values = dict(zip(columns["cy"][counted].tolist(), columns["weight"][counted].tolist(), strict=True))
    once = len(values) == np.count_nonzero(counted) and set(values) == set(range(len(COUNTERS) + 1))
    _check(once, name, "the rows that count rows and people are not all there, once each")
    _check(
        values[len(COUNTERS)] == expected, name, "it is about another place, another depth or another part of people"
    )
    report = RowReport(**{counter: values[k] for k, counter in enumerate(COUNTERS)}, seconds=seconds)
    x, y, weight = (columns[role][~counted] for role in _NAMES)
    _check(bool(domain.meets(domain.depth, x, y).all()), name, "it has cells outside the domain")
    _check(min(values.values()) >= 0 and np.min(weight, initial=0) >= 0, name, "it has numbers below 0")
    counts = Counts.from_cells(domain, x, y, weight, report)
    _check(bool(np.all(counts.codes[1:] > counts.codes[:-1])), name, "it has a cell twice")
    adds_up = report.rows == report.without_person + report.invalid + report.outside + report.inside
    _check(adds_up and report.people <= report.inside, name, "its numbers of rows and people don't add up")
    _check(counts.total <= UNITS * report.people, name, "its people weigh more than 1 each")
    return counts


def _check(holds: bool, name: str, why: str) -> None:
    if not holds:
        raise DataError(
            f"{name} is not the answer to the statement of dpheatmap sql: {why}. Run that again, and save all of it."
        )
