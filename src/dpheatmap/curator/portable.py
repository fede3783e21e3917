"""Predicates that mean the same on every engine and never fail on a value.

DuckDB can be told to leave out a row on which a predicate fails (``TRY``); other engines would stop, and stopping tells
that such a row exists. So there the list of `predicate.py` is shorter: columns, LOWER, UPPER and EXTRACT of them are
compared with literals, or with columns of the same kind. What is compared is of types that are known beforehand.
"""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from dpheatmap.errors import ParameterError

_CONNECTIVES = (exp.And, exp.Or, exp.Not, exp.Paren)
_COMPARISONS = (exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.Between, exp.In, exp.Like, exp.ILike, exp.Is)
_KINDS = {
    "number": ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "FLOAT", "DOUBLE", "DECIMAL"),
    "text": ("TEXT",),
    "time": ("DATE", "TIME", "TIMESTAMP"),
    "truth": ("BOOLEAN",),
}
UNKNOWN = '"NULL"'
Kinds = Mapping[str, str] | None


def portable_predicate(tree: exp.Expr, columns: Kinds) -> str:
    """The predicate in DuckDB's dialect, from where it can be carried to others; columns have names and types."""
    _check(tree, columns)
    tree = tree.copy()
    for column in tree.find_all(exp.Column):
        column.this.set("quoted", True)
    return f"({tree.sql(dialect='duckdb', comments=False)})"


def _check(node: exp.Expr, columns: Kinds) -> None:
    if isinstance(node, _CONNECTIVES):
        for part in node.iter_expressions():
            _check(part, columns)
    elif isinstance(node, _COMPARISONS):
        kinds = {_kind(side, columns) for side in node.iter_expressions()} - {None}
        if isinstance(node, (exp.Like, exp.ILike)):
            pattern = node.expression
            if not pattern.is_string or "\\" in pattern.this or kinds - {"text"}:
                raise _refusal(node)
        if len(kinds) > 1:
            raise _refusal(node)
    elif not isinstance(node, (exp.Boolean, exp.Null)) and _kind(node, columns) not in ("truth", None):
        raise _refusal(node)


def _kind(side: exp.Expr, columns: Kinds) -> str | None:
    """What a side of a comparison is; None if it goes with any kind, or is not known."""
    if isinstance(side, exp.Column):
        return None if columns is None or columns[side.name] == UNKNOWN else _kind_of_type(columns[side.name], side)
    if isinstance(side, (exp.Lower, exp.Upper)) and isinstance(side.this, exp.Column):
        return _of(side.this, "text", columns)
    if isinstance(side, exp.Extract) and isinstance(side.expression, exp.Column):
        _of(side.expression, "time", columns)
        return "number"
    literal = side.this if isinstance(side, (exp.Neg, exp.Cast, exp.Date, exp.Timestamp)) else side
    if isinstance(literal, exp.Neg):
        literal = literal.this
    if isinstance(literal, (exp.Null, exp.Boolean)):
        return None if isinstance(literal, exp.Null) else "truth"
    if not isinstance(literal, exp.Literal):
        raise _refusal(side)
    if isinstance(side, exp.Cast):
        return _kind_of_type(side.to.sql(dialect="duckdb"), side)
    # A text goes with what it is compared with, such as a date. If it can't be read as one, that shows before any row.
    return None if literal.is_string else "number"


def _of(column: exp.Column, wanted: str, columns: Kinds) -> str:
    if _kind(column, columns) not in (wanted, None):
        raise _refusal(column.parent or column)
    return wanted


def _kind_of_type(name: str, side: exp.Expr) -> str:
    for kind, beginnings in _KINDS.items():
        if name.startswith(beginnings):
            return kind
    raise _refusal(side)


def _refusal(node: exp.Expr) -> ParameterError:
    return ParameterError(
        f"where may compare columns with literals of their own kind on this engine; it has "
        f"{node.sql(dialect='duckdb')!r}. Do the rest in a view, or in the data frame."
    )
