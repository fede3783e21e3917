"""The public predicate of ``where=``, which judges each row by itself.

The privacy guarantee needs that one person's rows never decide about another's. A predicate may therefore use a row's
own columns, literals, comparisons, arithmetic and casts, and nothing that looks at other rows (sub-queries, aggregates,
windows) or changes between two readings of the same row (random numbers, the clock). There is a list of what is
allowed; the rest is refused.
"""

from __future__ import annotations

from collections.abc import Mapping

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from dpheatmap.curator.read.portable_predicate import portable_predicate
from dpheatmap.curator.read.predicate_constants import COMPARISONS, check_constants
from dpheatmap.errors import DataError, ParameterError, PrivacyRefusal

_ALLOWED = (
    exp.Column, exp.Identifier, exp.Literal, exp.Boolean, exp.Null, exp.Paren, exp.Neg, exp.Var,
    exp.And, exp.Or, exp.Not, exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.Between, exp.In, exp.Is,
    exp.Like, exp.ILike, exp.Add, exp.Sub, exp.Mul, exp.Mod, exp.Div,
    exp.Cast, exp.TryCast, exp.DataType, exp.Interval, exp.Date, exp.Timestamp, exp.Lower, exp.Upper, exp.Extract,
)  # fmt: skip
_TYPES = {
    exp.DataType.Type[name]
    for name in (
        "BOOLEAN", "TINYINT", "SMALLINT", "INT", "BIGINT", "INT128", "UTINYINT", "USMALLINT", "UINT", "UBIGINT",
        "UINT128", "FLOAT", "DOUBLE", "DECIMAL", "TEXT", "VARCHAR", "CHAR", "UUID", "DATE", "TIME", "DATETIME",
        "TIMESTAMP", "TIMESTAMPTZ", "TIMESTAMPNTZ", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS", "INTERVAL",
    )
}  # fmt: skip


def row_predicate(text: str, columns: Mapping[str, str] | None, *, portable: bool = False, listed: bool = True) -> str:
    """The predicate as SQL for DuckDB, checked against the list above and the table's columns (name to type).

    It never fails on a value: casts become ``TRY_CAST``, a text column compared with a number or a date is read as one,
    and whatever still goes wrong leaves the row out. Stopping the release would reveal that such a row exists. What
    goes wrong in every row, such as a literal that is not a date, is refused (see `predicate_constants.py`).
    ``columns`` is None for a table without a schema, of which nothing can be read. A ``portable`` predicate can be
    transpiled for other engines, which can't leave rows out like that, so it may use less (see
    `portable_predicate.py`). Columns that are not ``listed`` may be data, and errors don't name them.
    """
    try:
        tree, types = _safe(text, columns, listed), columns or {}
        if portable:
            return portable_predicate(tree, columns)
        _check_patterns(tree)
        check_constants(tree, types, lambda part: _forgiving(part, types))
        return f"TRY(CAST(({_forgiving(tree, types).sql(dialect='duckdb', comments=False)}) AS BOOLEAN))"
    except RecursionError:
        raise ParameterError("where is nested too deeply to be read. Write it with fewer parentheses.") from None


def columns_of(text: str) -> frozenset[str]:
    """The names of the columns that a predicate looks at, as far as it can be read."""
    try:
        return frozenset(column.name for column in _parse(text).find_all(exp.Column))
    except RecursionError:  # `row_predicate` reports it
        return frozenset()


def _parse(text: str) -> exp.Expr:
    try:
        text.encode()  # bytes from a terminal that are not text can't be passed to any engine
        parsed = sqlglot.parse(text, dialect="duckdb")
    except (SqlglotError, UnicodeEncodeError):
        parsed = []
    if len(parsed) != 1 or parsed[0] is None:
        raise ParameterError(
            f"where must be one SQL predicate; it was {text!r}. Write one such as: time >= '2024-01-01'"
        )
    return parsed[0]


def _safe(text: str, columns: Mapping[str, str] | None, listed: bool) -> exp.Expr:
    tree = _parse(text)
    for node in tree.walk():
        if not isinstance(node, _ALLOWED) or (isinstance(node, exp.DataType) and node.this not in _TYPES):
            raise PrivacyRefusal(
                f"where may look at one row at a time, and {node.sql(dialect='duckdb')!r} is not on the list of what "
                "is safe. Use columns, literals, comparisons, AND, OR, NOT, BETWEEN, IN, LIKE, arithmetic and CAST."
            )
        if isinstance(node, exp.Column) and columns is not None and (node.table or node.name not in columns):
            name = node.sql(dialect="duckdb") if node.table else repr(node.name)
            known = f"the table has {', '.join(columns)}" if listed else "the table does not have it"
            raise DataError(f"where names the column {name}, and {known}. Check it.")
    return tree


def _check_patterns(tree: exp.Expr) -> None:
    """Refuse a pattern from a column: one person could choose how long a comparison takes."""
    for node in tree.find_all(exp.Like, exp.ILike):
        if not node.expression.is_string:
            raise ParameterError(
                f"LIKE takes a pattern in quotes; it has {node.sql(dialect='duckdb')!r}. Write the pattern itself: "
                "of two columns, one person's row could take minutes."
            )


def _forgiving(tree: exp.Expr, columns: Mapping[str, str]) -> exp.Expr:
    """The predicate with casts of rows' values that return null instead of an error, and with text read as numbers."""
    tree = tree.copy()
    for comparison in list(tree.find_all(*COMPARISONS)):
        sides = list(comparison.iter_expressions())
        for wanted in [kind for kind in map(_kind, sides) if kind is not None][:1]:
            for side in sides:
                if isinstance(side, exp.Column) and columns.get(side.name) in ("VARCHAR", "JSON"):
                    side.replace(exp.TryCast(this=side.copy(), to=wanted.copy()))
    for cast in list(tree.find_all(exp.Cast)):
        if not isinstance(cast, exp.TryCast) and cast.find(exp.Column):
            new = exp.TryCast(this=cast.this, to=cast.to)
            tree = new if cast is tree else cast.replace(new).root()
    for column in list(tree.find_all(exp.Column)):
        column.this.set("quoted", True)
        if columns.get(column.name) == "JSON":  # its text, without the quotes
            text = exp.Anonymous(this="json_extract_string", expressions=[column.copy(), exp.Literal.string("$")])
            tree = text if column is tree else column.replace(text).root()
    return tree


def _kind(side: exp.Expr) -> exp.DataType | None:
    """The type that one side of a comparison requires of the other: that of a number, or of a cast, such as a date."""
    if isinstance(side, exp.Cast):
        return side.to
    literal = side.this if isinstance(side, exp.Neg) else side
    return exp.DataType.build("double") if isinstance(literal, exp.Literal) and not literal.is_string else None
