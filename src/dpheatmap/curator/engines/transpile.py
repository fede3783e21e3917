"""The transpilation of the aggregation to other engines' dialects, by sqlglot.

The changes beyond that alter no number:

- ``/`` stays a plain ``/``: the statement is written so that the kind of division does not matter (see `query.py`).
- PostgreSQL and its kin stop with an error when a float underflows. Coordinates nearer to 0 than `TINY`, but not 0,
  become `TINY` with their sign there. The projection multiplies at most two numbers of this size: nothing underflows.
  No point moves to another cell: 1/2 + x / 360 is 1/2 for both, x times a side is in the first cell for both, and on a
  turned world the sign tells the eastern edge, 360 + x = 360, from the western one. A 0 in its place would not.
- PostgreSQL would inline the steps of the projection and those of times, each of which uses the one before several
  times, to one expression of thousands of terms. OFFSET 0 prevents that, without storing anything.
"""

from __future__ import annotations

import sqlglot
from sqlglot import exp

from dpheatmap.curator.core.query import STEP
from dpheatmap.curator.engines.times import write_times
from dpheatmap.curator.read.sql_text import STEP as STEP_OF_TIME

TINY = "1e-100"

_KIN_OF_POSTGRES = ("postgres", "redshift")
_KNOW_MATERIALIZED = ("duckdb", "postgres")


def transpile(sql: str, dialect: str) -> str:
    """Transpile a statement of DuckDB's to another dialect, with one step a line."""
    tree = sqlglot.parse_one(sql, dialect="duckdb")
    assert isinstance(tree, exp.Query)
    for division in tree.find_all(exp.Div):
        division.set("typed", True)
        division.set("safe", False)
    write_times(tree, dialect)
    steps = tree.ctes
    for cte in steps:
        if dialect not in _KNOW_MATERIALIZED:
            cte.set("materialized", None)
        if dialect in _KIN_OF_POSTGRES and cte.alias.startswith(STEP):
            cte.set("this", _fence(cte.this))
    if dialect in _KIN_OF_POSTGRES:
        for step in list(tree.find_all(exp.Subquery)):
            if step.alias.startswith(STEP_OF_TIME) and isinstance(step.this, exp.Select):
                step.this.offset(0, copy=False)
    written = [cte.sql(dialect=dialect) for cte in steps]
    tree.set("with_", None)
    return "WITH " + ",\n".join(written) + "\n" + tree.sql(dialect=dialect)


def _fence(step: exp.Select) -> exp.Select:
    for column in step.expressions:
        if isinstance(column, exp.Alias) and isinstance(column.this, exp.Column):
            column.set("this", _snap(column.this))
    return step.offset(0)


def _snap(column: exp.Column) -> exp.Case:
    """The coordinate, away from 0 by at least `TINY` unless it is 0."""
    zero, low, high = (exp.cast(exp.Literal.string(text), "double") for text in ("0", f"-{TINY}", TINY))
    between = [
        exp.and_(exp.GT(this=column.copy(), expression=a.copy()), exp.LT(this=column.copy(), expression=b.copy()))
        for a, b in ((low, zero), (zero, high))
    ]
    return exp.Case().when(between[0], low).when(between[1], high).else_(column.copy())
