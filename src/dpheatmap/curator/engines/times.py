"""Microseconds since 1970 on other engines: of instants, and of what clocks showed, which is read as if it were UTC.

No expression depends on a session's time zone. In Spark a clock's time becomes an instant only by way of that zone, so
there the day and the fields of the time are taken apart. PostgreSQL's times that are infinite or far off are null,
since a cast of their microseconds would fail.
"""

from __future__ import annotations

import sqlglot
from sqlglot import exp

MICROS = "EPOCH_US"
_POSTGRES = (
    "CASE WHEN EXTRACT(EPOCH FROM {t}) BETWEEN -100000000000 AND 300000000000 "
    "THEN CAST(FLOOR(EXTRACT(EPOCH FROM {t}) * 1000000) AS BIGINT) END"
)
_FIELDS = (
    "CAST(UNIX_DATE(CAST({t} AS DATE)) AS BIGINT) * 86400000000 "
    "+ CAST(HOUR({t}) * 60 + MINUTE({t}) AS BIGINT) * 60000000 + CAST(EXTRACT(SECOND FROM {t}) * 1000000 AS BIGINT)"
)
_INSTANTS = {"postgres": _POSTGRES, "spark": "UNIX_MICROS({t})", "databricks": "UNIX_MICROS({t})"}
_CLOCKS = {"postgres": _POSTGRES, "spark": _FIELDS, "databricks": _FIELDS}


def write_times(tree: exp.Query, dialect: str) -> None:
    """Replace DuckDB's function of microseconds by an expression of the dialect."""
    for call in list(tree.find_all(exp.Anonymous)):
        if str(call.this).upper() == MICROS and dialect in _INSTANTS:
            (time,) = call.expressions
            templates = _CLOCKS if isinstance(time, exp.Cast) else _INSTANTS
            written = templates[dialect].format(t=time.sql(dialect=dialect))
            call.replace(exp.Paren(this=sqlglot.parse_one(written, dialect=dialect)))
