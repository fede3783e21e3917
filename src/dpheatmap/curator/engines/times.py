"""Microseconds since 1970 on other engines: of instants, and of what clocks showed, which is read as if it were UTC.

No expression depends on a session's time zone. In Spark a clock's time becomes an instant only by way of that zone, so
there the day and the fields of the time are taken apart. Times that are infinite or far off are null: a cast or a
product of theirs would fail.
"""

from __future__ import annotations

import sqlglot
from sqlglot import exp

MICROS = "EPOCH_US"
_AS_IT_IS = "ASIS_"
"""The prefix of functions that sqlglot knows and would replace by others, which do depend on the session's zone."""
_POSTGRES = (
    "CASE WHEN EXTRACT(EPOCH FROM {t}) BETWEEN -100000000000 AND 300000000000 "
    "THEN CAST(FLOOR(EXTRACT(EPOCH FROM {t}) * 1000000) AS BIGINT) END"
)
_FIELDS = (
    "CASE WHEN {t} BETWEEN CAST('0001-01-01 00:00:00' AS TIMESTAMP_NTZ) "
    "AND CAST('9999-12-31 23:59:59.999999' AS TIMESTAMP_NTZ) "
    f"THEN CAST({_AS_IT_IS}UNIX_DATE(CAST({{t}} AS DATE)) AS BIGINT) * 86400000000 "
    f"+ CAST({_AS_IT_IS}HOUR({{t}}) * 60 + {_AS_IT_IS}MINUTE({{t}}) AS BIGINT) * 60000000 "
    "+ CAST(EXTRACT(SECOND FROM {t}) * 1000000 AS BIGINT) END"
)
_OF_SPARK = f"{_AS_IT_IS}UNIX_MICROS({{t}})"
_INSTANTS = {"postgres": _POSTGRES, "spark": _OF_SPARK, "databricks": _OF_SPARK}
_CLOCKS = {"postgres": _POSTGRES, "spark": _FIELDS, "databricks": _FIELDS}


def write_times(tree: exp.Query, dialect: str) -> None:
    """Replace DuckDB's function of microseconds by an expression of the dialect."""
    for call in list(tree.find_all(exp.Anonymous)):
        if str(call.this).upper() == MICROS and dialect in _INSTANTS:
            (time,) = call.expressions
            templates = _CLOCKS if isinstance(time, exp.Cast) else _INSTANTS
            written = sqlglot.parse_one(templates[dialect].format(t=time.sql(dialect=dialect)), dialect=dialect)
            for inner in written.find_all(exp.Anonymous):
                inner.set("this", str(inner.this).removeprefix(_AS_IT_IS))
            call.replace(exp.Paren(this=written))
