"""The engine PostgreSQL: the database counts, and returns only cells and counters.

Ids and other text are compared byte by byte, under the collation "C", whatever the column's own collation. A table is
read twice by one statement, so both readings see one snapshot. A source that may return other rows each time is read
once and kept for both readings: a view or a policy on rows, which could be random, and a foreign table, also as a part
of another table.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from typing import Any, TypeVar

import numpy as np

from dpheatmap._util.database_url import WAIT, driver, public_url
from dpheatmap.curator.engines import TABLE, OpenTable, Progress
from dpheatmap.curator.engines.answer import Answer
from dpheatmap.curator.engines.transpile import transpile
from dpheatmap.curator.engines.waiting import wait_for
from dpheatmap.curator.read.geometry import Geometry
from dpheatmap.curator.read.sql_text import quote_name
from dpheatmap.curator.read.table import TEXT, Table
from dpheatmap.errors import DataError, ParameterError

Result = TypeVar("Result")

_TYPES = {
    "int2": "SMALLINT", "int4": "INTEGER", "int8": "BIGINT", "float4": "FLOAT", "float8": "DOUBLE",
    "numeric": "DECIMAL(1000,0)", "text": TEXT, "varchar": TEXT, "bpchar": TEXT, "name": TEXT, "uuid": "UUID",
    "bool": "BOOLEAN", "bytea": "BLOB", "date": "DATE", "time": "TIME", "timestamp": "TIMESTAMP",
    "timestamptz": "TIMESTAMP WITH TIME ZONE",
}  # fmt: skip

_FIND = """SELECT oid, oid::regclass::text, relkind IN ('r', 'p', 'm') AND NOT relrowsecurity AND NOT EXISTS (
        SELECT FROM pg_partition_tree(c.oid) JOIN pg_class part ON part.oid = relid WHERE part.relkind = 'f')
    FROM pg_class c WHERE oid = COALESCE(to_regclass(quote_ident(%s)), to_regclass(%s))"""
_POSTGIS = """SELECT quote_ident(nspname) FROM pg_extension JOIN pg_namespace n ON n.oid = extnamespace
    WHERE extname = 'postgis'"""
_COLUMNS = """
    SELECT a.attname, COALESCE(b.typname, t.typname), COALESCE(b.typtype, t.typtype) = 'e',
        format_type(a.atttypid, a.atttypmod)
    FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid LEFT JOIN pg_type b ON b.oid = t.typbasetype
        AND t.typtype = 'd'
    WHERE a.attrelid = %s AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum"""


@contextmanager
def open_database(url: str, table: str | None) -> Iterator[OpenTable]:
    """Open a table or view of the database, in a read-only transaction."""
    name = public_url(url, "database")
    if table is None:
        raise ParameterError(f"table must name a table of {name}; none was given. Give it as text, such as 'trips'.")
    psycopg = driver("Reading from PostgreSQL")
    with closing(_quietly(lambda: psycopg.connect(url, connect_timeout=WAIT), name)) as con:
        con.read_only = True
        con.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        described, relation = _quietly(lambda: _describe(con, table, name), name)

        def run(sql: str, grouped: bool, tick: Progress | None) -> tuple[Answer, float]:
            text = transpile(sql, "postgres").replace("WITH ", f"WITH {relation}, ", 1)
            work = lambda: _quietly(lambda: _answer(con, text, grouped), name)  # noqa: E731
            return wait_for(work, tick, lambda: -1.0, con.cancel)

        yield OpenTable(described, run)


def _describe(con: Any, table: str, database: str) -> tuple[Table, str]:
    """The table's columns, and the relation `TABLE` that reads it, as the first step of a statement."""
    found = con.execute(_FIND, (table, table)).fetchone()
    if found is None:
        raise DataError(f"There is no table {table!r} in {database}. Check the name, as in 'schema.table'.")
    oid, name, is_steady = found
    postgis = con.execute(_POSTGIS).fetchone()
    columns: dict[str, str] = {}
    chosen, points, systems = [], {}, {}
    for k, (column, base, is_enum, full) in enumerate(con.execute(_COLUMNS, (oid,)).fetchall()):
        at, columns[column] = quote_name(column), TEXT if is_enum else _TYPES.get(base, full)
        chosen.append(f'CAST({at} AS TEXT) COLLATE "C" AS {at}' if columns[column] == TEXT else at)
        both = _of_point(at, base, postgis[0] if postgis else None)
        if both is not None:
            points[column] = (f"dpheatmap_x{k}", f"dpheatmap_y{k}")
            chosen += [f"{sql} AS {new}" for sql, new in zip(both, points[column], strict=True)]
            system = re.search(r",(\d+)\)$", full)
            systems[column] = Geometry(base, not system or system[1] in ("0", "4326"), system and f"EPSG:{system[1]}")
    kept = "NOT MATERIALIZED" if is_steady else "MATERIALIZED"
    relation = f"{TABLE} AS {kept} (SELECT {', '.join(chosen)} FROM {name})"
    called = f"{table} of {database}"
    return Table(TABLE, columns, called, geometries=systems, points=points, portable=True, declared=True), relation


def _of_point(at: str, base: str, postgis: str | None) -> tuple[str, str] | None:
    """The x and y of a column of points, as SQL that never fails; they are null for what is not a point."""
    if base == "point":
        return f"({at})[0]", f"({at})[1]"
    if base not in ("geometry", "geography") or postgis is None:
        return None
    shape = f"CAST({at} AS {postgis}.geometry)"
    of_point = f"CASE WHEN {postgis}.ST_GeometryType({shape}) = 'ST_Point' THEN {postgis}.ST_%s({shape}) END"
    return of_point % "X", of_point % "Y"


def _answer(con: Any, sql: str, grouped: bool) -> Answer:
    """Fetch the answer in COPY's binary format: without nulls, its records have one length."""
    names = [*(["group_number"] if grouped else []), "cx", "cy", "weight"]
    # Without statistics PostgreSQL assumes a tiny table, and would go through all people for each event.
    con.execute("SET LOCAL enable_nestloop = off")
    with con.cursor() as cursor, cursor.copy(f"COPY ({sql}) TO STDOUT (FORMAT BINARY)") as copy:
        content = b"".join(copy)
    fields = [((f"bytes of {name}", ">i4"), (name, ">i8" if name == "weight" else ">i4")) for name in names]
    record = np.dtype([("fields", ">i2"), *(part for field in fields for part in field)])
    start, end = 19, 2  # the signature with its flags, and the mark of the end
    records = np.frombuffer(content[start:-end], record)
    return Answer.of({name: records[name].astype(np.int64) for name in names})


def _quietly(call: Callable[[], Result], name: str) -> Result:
    """Call PostgreSQL, and replace its own errors, so that nothing of their text stays."""
    psycopg = driver("Reading from PostgreSQL")
    problem: BaseException
    try:
        return call()
    except psycopg.errors.QueryCanceled:
        problem = DataError(f"The query on {name} was cancelled there. Ask for more time, or start again.")
    except psycopg.errors.InsufficientPrivilege:
        problem = DataError(f"The user of {name} may not read the table. Ask for the right to SELECT.")
    except (psycopg.errors.UndefinedFunction, psycopg.errors.DatatypeMismatch):
        problem = DataError(f"where compares what can't be compared in {name}. Compare columns with their own type.")
    except psycopg.Error as error:
        problem = DataError(
            f"Reading from {name} failed ({type(error).__name__}). Check the URL, the server and your rights there."
        )
    raise problem
