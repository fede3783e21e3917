"""Microseconds since 1970 on other engines: of instants, and of what clocks showed, which is read as if it were UTC.

No expression depends on a session's time zone. In Spark a clock's time becomes an instant only by way of that zone, so
there the day and the fields of the time are taken apart. Times that are infinite or far off are null: a cast or a
product of theirs would fail. Every expression is of whole numbers, or of exact decimals. In Trino there is none for a
time with microseconds, and times are refused there; what is left are days, as midnights.
"""

from __future__ import annotations

import sqlglot
from sqlglot import exp

from dpheatmap.errors import ParameterError

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
_OF_BIGQUERY = f"{_AS_IT_IS}UNIX_MICROS({{t}})"
_OF_SNOWFLAKE = f"{_AS_IT_IS}DATE_PART('EPOCH_MICROSECOND', {{t}})"
_OF_REDSHIFT = (
    "CASE WHEN {t} BETWEEN CAST('0001-01-01 00:00:00' AS TIMESTAMP) "
    "AND CAST('9999-12-31 23:59:59.999999' AS TIMESTAMP) "
    f"THEN {_AS_IT_IS}DATEDIFF(MICROSECOND, CAST('1970-01-01 00:00:00' AS TIMESTAMP), {{t}}) END"
)
_MIDNIGHTS = f"{_AS_IT_IS}DATE_DIFF('day', CAST('1970-01-01 00:00:00' AS TIMESTAMP), {{t}}) * 86400000000"
_INSTANTS = {
    "postgres": _POSTGRES, "spark": _OF_SPARK, "databricks": _OF_SPARK, "bigquery": _OF_BIGQUERY,
    "snowflake": _OF_SNOWFLAKE, "redshift": _OF_REDSHIFT.format(t="({t} AT TIME ZONE 'UTC')"),
}  # fmt: skip
_CLOCKS = {
    "postgres": _POSTGRES, "spark": _FIELDS, "databricks": _FIELDS,
    "bigquery": _OF_BIGQUERY.format(t=f"{_AS_IT_IS}TIMESTAMP({{t}}, 'UTC')"), "snowflake": _OF_SNOWFLAKE,
    "redshift": _OF_REDSHIFT, "trino": _MIDNIGHTS, "duckdb": f"{MICROS}(TRY_{{t}})",
}  # fmt: skip
_NOT_EXACT = {"trino": ("instant", "clock")}


def check_time_type(dialect: str, time_type: str) -> None:
    """Refuse a type of times of which a dialect has no exact microseconds."""
    if time_type in _NOT_EXACT.get(dialect, ()):
        raise ParameterError(
            f"{dialect} has no exact number of microseconds of a time, so time_type can't be {time_type!r} there. Make "
            "a view in which times are text or seconds since 1970, and declare that (--time-type)."
        )


def write_times(tree: exp.Query, dialect: str) -> None:
    """Replace DuckDB's function of microseconds by an expression of the dialect."""
    for call in list(tree.find_all(exp.Anonymous)):
        (time, *_) = [*call.expressions, None]
        templates = _CLOCKS if isinstance(time, exp.Cast) else _INSTANTS
        if str(call.this).upper() == MICROS and dialect in templates:
            assert time is not None
            written = sqlglot.parse_one(templates[dialect].format(t=time.sql(dialect=dialect)), dialect=dialect)
            for inner in written.find_all(exp.Anonymous):
                inner.set("this", str(inner.this).removeprefix(_AS_IT_IS))
            call.replace(exp.Paren(this=written))
