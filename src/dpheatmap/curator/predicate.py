"""``where=``: a public predicate that judges each row by itself.

The promise rests on one person's rows never deciding about another's. A predicate may therefore use a row's own
columns, literals, comparisons, arithmetic and casts, and nothing that looks at other rows (sub-queries, aggregates,
windows) or changes between two readings of the same row (random numbers, the clock). What is allowed is a list; the
rest is refused.
"""

from __future__ import annotations

from collections.abc import Mapping

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from dpheatmap.errors import DataError, ParameterError, PrivacyRefusal

_ALLOWED = (
    exp.Column, exp.Identifier, exp.Literal, exp.Boolean, exp.Null, exp.Paren, exp.Neg, exp.Var,
    exp.And, exp.Or, exp.Not, exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.Between, exp.In, exp.Is,
    exp.Like, exp.ILike, exp.Add, exp.Sub, exp.Mul, exp.Mod, exp.Div,
    exp.Cast, exp.TryCast, exp.DataType, exp.Interval, exp.Date, exp.Timestamp, exp.Lower, exp.Upper, exp.Extract,
)  # fmt: skip
_COMPARISONS = (exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.Between, exp.In)


def row_predicate(text: str, columns: Mapping[str, str]) -> str:
    """The predicate as SQL for DuckDB, checked against the list above and the table's columns (name to type).

    Casts become ``TRY_CAST``, and a text column compared with a number is read as a number: a value that does not
    fit leaves its row out instead of stopping the release, which would tell that such a row exists.
    """
    try:
        parsed = sqlglot.parse(text, dialect="duckdb")
    except SqlglotError:
        parsed = []
    if len(parsed) != 1 or parsed[0] is None:
        raise ParameterError(f"where must be one SQL predicate; it was {text!r}. Write one such as: time >= '2024-01-01'")
    tree = parsed[0]
    for node in tree.walk():
        if not isinstance(node, _ALLOWED):
            raise PrivacyRefusal(
                f"where may look at one row at a time, and {node.sql(dialect='duckdb')!r} is not on the list of what is "
                "safe. Use columns, literals, comparisons, AND, OR, NOT, BETWEEN, IN, LIKE, arithmetic and CAST."
            )
        if isinstance(node, exp.Column) and node.name not in columns:
            raise DataError(f"where names the column {node.name!r}, and the table has {', '.join(columns)}. Check it.")
    return tree.transform(lambda node: _forgiving(node, columns)).sql(dialect="duckdb")


def _forgiving(node: exp.Expr, columns: Mapping[str, str]) -> exp.Expr:
    if isinstance(node, exp.Cast) and not isinstance(node, exp.TryCast):
        return exp.TryCast(this=node.this, to=node.to)
    if isinstance(node, exp.Column):
        node = node.copy()
        node.this.set("quoted", True)
        return node
    if isinstance(node, _COMPARISONS) and isinstance(node.this, exp.Column) and columns[node.this.name] == "VARCHAR":
        others = [child for child in node.iter_expressions() if child is not node.this]
        if any(isinstance(other, exp.Literal) and not other.is_string for other in others):
            node.set("this", exp.TryCast(this=node.this.copy(), to=exp.DataType.build("double")))
    return node
