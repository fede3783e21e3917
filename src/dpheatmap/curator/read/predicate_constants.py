"""The check of a predicate's own constants, on which it fails whatever the data.

``day >= '2024-13-45'`` is neither true nor false of any day. It would select nobody, and the release would still be
paid for. So the predicate is computed once before anything is read, on a row in which every column is null. What fails
there fails by its constants and the columns' types alone, which are public, and never by the content of a row.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

import duckdb
from sqlglot import exp

from dpheatmap._util.duckdb_connection import connect
from dpheatmap.errors import ParameterError

COMPARISONS = (exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.Between, exp.In)
_TYPED = re.compile(
    r"BOOLEAN|U?(TINY|SMALL|BIG|HUGE)INT|U?INTEGER|FLOAT|DOUBLE|DECIMAL\(\d\d?,\d+\)|DATE|TIME[\w ]*|INTERVAL|UUID|"
    "VARCHAR|TEXT"
)


def check_constants(
    tree: exp.Expr, columns: Mapping[str, str], computed: Callable[[exp.Expr], exp.Expr] = lambda part: part.copy()
) -> None:
    """Refuse a predicate that can't be computed, naming the part of it; ``computed`` is what is run in its place."""
    types = _types(tree, columns)
    # Numbered, for names may differ in case alone, which DuckDB overlooks. Of types not listed above, such as an enum,
    # whose values are data, nothing is taken for known: any text is as good as theirs.
    new = {name: f"column{k}" for k, name in enumerate({column.name for column in tree.find_all(exp.Column)})}
    nulls = [f"CAST(NULL AS {types.get(name, 'VARCHAR')}) AS {number}" for name, number in new.items()] or ["NULL"]
    casts = (cast for cast in tree.find_all(exp.Cast, exp.Date, exp.Timestamp) if not cast.find(exp.Column))
    with connect(threads="1") as con:
        con.execute("PRAGMA disable_optimizer")  # it would see the nulls and compute nothing
        con.execute(f"CREATE TEMP TABLE nulls AS SELECT {', '.join(nulls)}")
        for part in (*tree.find_all(*COMPARISONS, exp.Is), *casts, tree):
            if not _can_be_computed(con, computed(part), new):
                raise not_of_its_type(part, columns)


def _types(part: exp.Expr, columns: Mapping[str, str]) -> dict[str, str]:
    """The types of a part's columns, as far as they are known."""
    names = (column.name for column in part.find_all(exp.Column))
    return {name: columns[name] for name in names if name in columns and _TYPED.fullmatch(columns[name])}


def _can_be_computed(con: duckdb.DuckDBPyConnection, part: exp.Expr, new: Mapping[str, str]) -> bool:
    for column in part.find_all(exp.Column):
        column.set("this", exp.to_identifier(new[column.name]))
    try:
        con.execute(f"SELECT {part.sql(dialect='duckdb', comments=False)} FROM nulls").fetchall()
    except (duckdb.ConversionException, duckdb.OutOfRangeException, duckdb.InvalidInputException):
        return False
    except duckdb.Error:  # types that don't fit each other, which the engine that reads the table reports
        pass
    return True


def not_of_its_type(part: exp.Expr, columns: Mapping[str, str]) -> ParameterError:
    """The error that names a comparison with a constant that can't be read, and the known types of its columns."""
    known = "".join(f", and {name} is of type {kind}" for name, kind in _types(part, columns).items())
    return ParameterError(
        f"Literals in where must be values of the type they are compared as; it has {part.sql(dialect='duckdb')!r}"
        f"{known}. Write days as '2024-01-31', times as '2024-01-31 08:00:00' and numbers as 7.5."
    )
