"""Parts of a table that have schemas of their own, as one relation.

Each part's rows are read by the part's own types, so a row is a function of its own record, which its file describes.
What a part's schema does not allow (no such column, or a type that holds no ids, numbers or names) is null in that
part's rows: they are nobody's, or invalid, or left out, and are counted as such. A table is refused only if all of its
parts are, for then not one row can be read.

**Ids of several types.** Ids that are whole numbers are equal if the numbers are, whatever their width. Ids of other
types are told apart by their type: the number 7 and the text "7" are two people, as in any other table here. No type is
preferred: if only the most frequent type counted, one more file could turn everybody else into nobody.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import duckdb

from dpheatmap._util.duckdb_connection import connect
from dpheatmap.curator.read.sql_text import literal, quote_name
from dpheatmap.curator.read.table import Table
from dpheatmap.errors import DataError, DpheatmapError

Role = Callable[[Table], str]
"""The SQL of a role, such as x, in a part's rows; an error if the part's schema does not allow it."""
KEPT, SAME = "kept", "same"
"""The roles of conditions: whether `where` keeps a row, and whether it has the value of a part of people."""
_WHOLE = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT")


def unite(table: Table, roles: Mapping[str, Role], user: str | None) -> tuple[str, dict[str, str]]:
    """Unite the parts: the SQL after FROM, and the roles as SQL."""
    if not table.parts:
        return table.relation, {name: role(table) for name, role in roles.items()}
    found = {name: _of_each(table.parts, role) for name, role in roles.items()}
    if user is not None:
        found["person"] = _told_apart(table.parts, found["person"], user)
    if KEPT in found:
        found[KEPT] = _comparable(table.parts, found[KEPT])
    selects = []
    for k, part in enumerate(table.parts):
        columns = [f"{sqls[k] or _absent(name)} AS {name}" for name, sqls in found.items()]
        selects.append(f"SELECT {', '.join(columns)} FROM {part.relation}")
    return f"({' UNION ALL '.join(selects)}) parts", {name: name for name in found}


def _absent(name: str) -> str:
    return "FALSE" if name in (KEPT, SAME) else "NULL"


def _of_each(parts: Sequence[Table], role: Role) -> list[str | None]:
    """The role of each part, None where its schema does not allow it; an error if it is None in all."""
    found: list[str | None] = []
    problems = []
    for part in parts:
        try:
            found.append(role(part))
        except DpheatmapError as problem:
            found.append(None)
            problems.append(problem)
    if len(problems) == len(parts):
        raise problems[0]
    return found


def _told_apart(parts: Sequence[Table], people: Sequence[str | None], user: str) -> list[str | None]:
    """Make ids of different types comparable, by a function that never makes two of them equal."""
    kinds = [None if person is None else part.columns[user] for part, person in zip(parts, people, strict=True)]
    types = {"a whole number" if kind in _WHOLE else kind for kind in kinds if kind is not None}

    def comparable_id(kind: str | None, person: str | None) -> str | None:
        if person is None or len({*kinds} - {None}) == 1:
            return person
        if kind in _WHOLE:
            person = f"CAST({person} AS HUGEINT)"
        if len(types) == 1:
            return person
        text = f"hex({person})" if kind == "BLOB" else f"CAST({person} AS VARCHAR)"
        return f"({literal('a whole number' if kind in _WHOLE else str(kind))} || chr(31) || {text})"

    return [comparable_id(kind, person) for kind, person in zip(kinds, people, strict=True)]


def _comparable(parts: Sequence[Table], predicates: Sequence[str | None]) -> list[str | None]:
    """The predicates whose comparisons are valid for the types of their part; None for the others."""
    with connect(threads="1") as con:
        found = [
            sql if sql is not None and _binds(con, part, sql) else None
            for part, sql in zip(parts, predicates, strict=True)
        ]
    if not any(found):
        raise DataError(
            f"where compares what can't be compared in {parts[0].name}. Cast it, as in CAST(time AS TIMESTAMP)."
        )
    return found


def _binds(con: duckdb.DuckDBPyConnection, part: Table, predicate: str) -> bool:
    known = {quote_name(name): kind for name, kind in part.columns.items() if quote_name(name) in predicate}
    nulls = ", ".join(f"CAST(NULL AS {kind}) AS {name}" for name, kind in known.items()) or "NULL"
    try:
        con.execute(f"EXPLAIN SELECT {predicate} FROM (SELECT {nulls})")
    except duckdb.Error:
        return False
    return True
