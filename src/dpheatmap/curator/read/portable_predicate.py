"""Predicates that mean the same on every engine and never fail on a value.

DuckDB can leave out a row on which a predicate fails (``TRY``). Other engines would stop, which reveals that such a row
exists. So for them the list of `predicate.py` is shorter: columns, and LOWER, UPPER and EXTRACT of them, are compared
with literals or with columns of the same kind. All types are known beforehand.

Literals are written in a form that all engines read alike. ``'2024'`` is a day in Spark and not in PostgreSQL, and
``'today'`` changes with the clock in both.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TypeVar

import sqlglot
from sqlglot import exp

from dpheatmap.curator.read.predicate_constants import COMPARISONS, check_constants, not_of_its_type
from dpheatmap.errors import ParameterError

_CONNECTIVES = (exp.And, exp.Or, exp.Not, exp.Paren)
_COMPARISONS = (*COMPARISONS, exp.Like, exp.ILike, exp.Is)
_KINDS = {
    "number": ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "FLOAT", "DOUBLE", "DECIMAL"),
    "text": ("TEXT",),
    "time": ("DATE", "TIME", "TIMESTAMP"),
    "truth": ("BOOLEAN",),
}
_FLOATS = ("FLOAT", "DOUBLE", "REAL")
_DAY, _HOUR = r"(?!0000)\d{4}-\d\d-\d\d", r"([01]\d|2[0-3]):[0-5]\d(:[0-5]\d(\.\d{1,6})?)?"
_WITH_ZONE = ("TIMESTAMPTZ", "TIMESTAMP WITH TIME ZONE")
_FORMS = {  # where one type's name begins with another's, the longer one is first
    **dict.fromkeys(_WITH_ZONE, rf"{_DAY}([ T]{_HOUR}(Z|[+-]\d\d:\d\d)?)?"),
    **dict.fromkeys(("TIMESTAMP", "DATE"), rf"{_DAY}([ T]{_HOUR})?"),  # without a zone, which engines use differently
    "TIME": _HOUR,
    "BOOLEAN": "true|false",
    **dict.fromkeys(("TINYINT", "SMALLINT", "INTEGER", "BIGINT"), r"[+-]?\d+"),
    **dict.fromkeys(("FLOAT", "DOUBLE", "DECIMAL"), r"[+-]?\d+(\.\d+)?([eE][+-]?\d+)?"),
}
"""The form of a text that is compared with a value of a type."""
_DATE_UNITS = ("YEAR", "ISOYEAR", "QUARTER", "MONTH", "WEEK", "ISODOW", "DAY", "EPOCH")
_TIME_UNITS = ("HOUR", "MINUTE", "SECOND", "EPOCH")
_UNITS = {"TIMESTAMP": _DATE_UNITS + _TIME_UNITS, "DATE": _DATE_UNITS, "TIME": _TIME_UNITS}
"""The units that EXTRACT finds in every value of a type. For any other unit, PostgreSQL stops at the first row."""
UNKNOWN = '"NULL"'
Kinds = Mapping[str, str] | None
Value = TypeVar("Value")


def portable_predicate(tree: exp.Expr, columns: Kinds) -> str:
    """The predicate in DuckDB's dialect, from which it can be transpiled; columns have names and types."""
    _check(tree, columns)
    check_constants(tree, columns or {})
    tree = tree.copy()
    for column in tree.find_all(exp.Column):
        column.this.set("quoted", True)
    for comparison in list(tree.find_all(*COMPARISONS)):
        sides = list(comparison.iter_expressions())
        if any(_is_of(_FLOATS, side, columns) for side in sides):
            for side in sides:
                if isinstance(side, exp.Column) and _is_of(("DECIMAL",), side, columns):
                    side.replace(sqlglot.parse_one(float_of_decimal(side.sql(dialect="duckdb")), dialect="duckdb"))
    return f"({tree.sql(dialect='duckdb', comments=False)})"


def float_of_decimal(column: str) -> str:
    """A column of exact numbers as floats, as SQL; null beyond all floats.

    PostgreSQL's may be as large as 1e400 and as small as 1e-400. A comparison of such a number with a float would stop
    the statement, so one person's number would refuse everybody's.
    """
    middle = f"WHEN {column} BETWEEN -1.7e308 AND 1.7e308 THEN CAST({column} AS DOUBLE)"
    return f"CASE WHEN {column} BETWEEN -1e-100 AND 1e-100 THEN 0 {middle} END"


def _is_of(types: tuple[str, ...], side: exp.Expr, columns: Kinds) -> bool:
    """Whether a column or a cast is known to be of one of these types."""
    return _by_type(dict.fromkeys(types, True), side, columns) is True


def _check(node: exp.Expr, columns: Kinds) -> None:
    if isinstance(node, _CONNECTIVES):
        for part in node.iter_expressions():
            _check(part, columns)
    elif isinstance(node, _COMPARISONS):
        sides = list(node.iter_expressions())
        kinds = {_kind(side, columns) for side in sides} - {None}
        if isinstance(node, (exp.Like, exp.ILike)):
            pattern = node.expression
            if not pattern.is_string or "\\" in pattern.this or kinds - {"text"}:
                raise _refusal(node)
        if len(kinds) > 1 or _mixes_times(sides, columns):
            raise _refusal(node)
        for side in sides:
            _check_form(side, sides, columns)
    elif not isinstance(node, (exp.Boolean, exp.Null)) and _kind(node, columns) not in ("truth", None):
        raise _refusal(node)


def _mixes_times(sides: Sequence[exp.Expr], columns: Kinds) -> bool:
    """Whether columns of different types of time are compared.

    An engine casts one to the other, and for a day that no timestamp reaches Spark stops: at one person's row.
    """
    found = {(columns or {}).get(side.name) for side in sides if isinstance(side, exp.Column)} - {None, UNKNOWN}
    return len(found) > 1 and any(str(kind).startswith(_KINDS["time"]) for kind in found)


def _kind(side: exp.Expr, columns: Kinds) -> str | None:
    """The kind of a side of a comparison; None if it fits any kind, or is not known."""
    if isinstance(side, exp.Column):
        return None if columns is None or columns[side.name] == UNKNOWN else _kind_of_type(columns[side.name], side)
    if isinstance(side, (exp.Lower, exp.Upper)) and isinstance(side.this, exp.Column):
        return _of(side.this, "text", columns)
    if isinstance(side, exp.Extract) and isinstance(side.expression, exp.Column):
        _of(side.expression, "time", columns)
        units = _by_type(_UNITS, side.expression, columns)
        if units is not None and side.name.upper() not in units:
            raise _refusal(side)
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
    # A text fits what it is compared with, such as a date, if it has that form.
    return None if literal.is_string else "number"


def _check_form(side: exp.Expr, beside: Sequence[exp.Expr], columns: Kinds) -> None:
    """Refuse a text without the form of the type that it is cast to, or compared with."""
    is_cast = isinstance(side, (exp.Cast, exp.Date, exp.Timestamp))
    text, others = (side.this, [side]) if is_cast else (side, beside)
    for other in others if text.is_string else ():
        form = _by_type(_FORMS, other, columns)
        if form is not None and not re.fullmatch(form, text.this):
            raise not_of_its_type(side.parent or side, columns or {})


def _by_type(known: Mapping[str, Value], side: exp.Expr, columns: Kinds) -> Value | None:
    """Look up a side of a comparison by its type; None for text, and for an unknown type."""
    functions: dict[type[exp.Expr], str] = {exp.Extract: "BIGINT", exp.Date: "DATE", exp.Timestamp: "TIMESTAMP"}
    name = functions.get(type(side), UNKNOWN)
    if isinstance(side, exp.Column) and columns is not None:
        name = columns[side.name]
    elif isinstance(side, exp.Cast):
        name = side.to.sql(dialect="duckdb")
    return next((value for beginning, value in known.items() if name.startswith(beginning)), None)


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
