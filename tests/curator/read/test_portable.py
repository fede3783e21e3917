"""Predicates for engines that stop where a predicate fails on a value: what could fail is refused beforehand."""

from __future__ import annotations

import pytest

from dpheatmap.curator.read.predicate import row_predicate
from dpheatmap.errors import ParameterError

COLUMNS = {"n": "BIGINT", "m": "DOUBLE", "t": "TEXT", "d": "DATE", "b": "BOOLEAN", "j": "JSON", "z": '"NULL"'}


@pytest.mark.parametrize(("text", "carried"), [
    ("n > 1", '("n" > 1)'),
    ("n BETWEEN -1 AND 2", '("n" BETWEEN -1 AND 2)'),
    ("n = m AND n IN (1, 2.5)", '("n" = "m" AND "n" IN (1, 2.5))'),
    ("n = '7' OR n IS NULL", """("n" = '7' OR "n" IS NULL)"""),
    ("t = 'a' AND UPPER(t) LIKE 'A%'", """("t" = 'a' AND UPPER("t") LIKE 'A%')"""),
    ("d >= '2024-01-01'", """("d" >= '2024-01-01')"""),
    ("d >= DATE '2024-01-01'", """("d" >= CAST('2024-01-01' AS DATE))"""),
    ("EXTRACT(year FROM d) = 2024", '(EXTRACT(YEAR FROM "d") = 2024)'),
    ("NOT b", '(NOT "b")'),
    ("b = TRUE", '("b" = TRUE)'),
    ("TRUE", "(TRUE)"),
    ("n = NULL", '("n" = NULL)'),
    ("z = 1 AND z LIKE 'a%' AND z", """("z" = 1 AND "z" LIKE 'a%' AND "z")"""),
])  # fmt: skip
def test_literals_and_columns_of_their_kind_are_carried(text: str, carried: str) -> None:
    assert row_predicate(text, COLUMNS, portable=True) == carried
    assert row_predicate(text, None, portable=True) == carried, "a warehouse, whose columns are not known"


@pytest.mark.parametrize("text", [
    # A value may have no such number or date, or there may be none above it.
    "CAST(t AS DATE) >= '2024-01-01'", "CAST(n AS TINYINT) = 1", "n / 0 > 1", "-n > 1", "-t = 'a'",
    # Kinds that engines convert in their own ways, or that can't be compared.
    "t > 1", "n = t", "t IN ('a', 1)", "n BETWEEN 1 AND b", "d > 20240101", "d = TRUE", "b > 1",
    "n = CAST('1' AS TEXT)", "EXTRACT(year FROM d) = t", "j = 'a'",
    # Patterns that are not text, are not known, or escape.
    "n LIKE '1%'", "t LIKE 1", "t LIKE t", r"t LIKE 'a\_%'", r"t ILIKE 'a\_%'",
    # Functions of another kind, or of another thing than a column.
    "LOWER(n) = 'a'", "LOWER(LOWER(t)) = 'a'", "LOWER('A') = t", "EXTRACT(year FROM t) = 2024",
    "EXTRACT(year FROM '2024-01-01') = 1",
    # What is neither true nor false.
    "n", "t", "1", "NOT n", "b AND t",
])  # fmt: skip
def test_what_could_fail_on_a_value_is_refused(text: str) -> None:
    with pytest.raises(ParameterError, match="where may compare columns with literals of their own kind"):
        row_predicate(text, COLUMNS, portable=True)


TIMES = {
    **COLUMNS,
    "at": "TIMESTAMP",
    "there": "TIMESTAMP WITH TIME ZONE",
    "D": "DATE",
    "hour": "TIME",
    "price": "DECIMAL(1000,0)",
}


@pytest.mark.parametrize("text", [
    "d >= 'soon'", "d >= '2024-13-45'", "d >= '2024-02-30'", "d > '2024'", "d > '2024-1-1'", "d > 'Jan 1 2024'",
    "d >= 'today'", "d >= 'epoch'", "d IN ('2024-01-01', '')", "d BETWEEN '2024-01-01' AND 'soon'", "'soon' < d",
    "n = 1 AND NOT d > 'soon'", "at > 'soon'", "at > '2024-01-01 24:00'", "at > '2024-01-01 08:00Z'",
    "there > '2024-01-01 08:00 Mars/Olympus'", "there > 'now'", "hour > '25:00'", "n = 'seven'", "n = '7.5'",
    "n = '99999999999999999999'", "m < 'inf'", "price = 'x'", "b = 'maybe'", "EXTRACT(year FROM d) = 'x'",
])  # fmt: skip
def test_literals_that_engines_read_otherwise_or_not_at_all_are_refused(text: str) -> None:
    with pytest.raises(ParameterError, match="Literals in where must be values of the type they are compared as"):
        row_predicate(text, TIMES, portable=True)


@pytest.mark.parametrize("text", ["z > DATE 'soon'", "z > DATE '2024-02-30'", "z = CAST('x' AS DOUBLE)"])
@pytest.mark.parametrize("columns", [COLUMNS, None])
def test_so_are_those_with_a_type_of_their_own(text: str, columns: dict[str, str] | None) -> None:
    with pytest.raises(ParameterError, match="Literals in where must be values"):
        row_predicate(text, columns, portable=True)


@pytest.mark.parametrize("text", [
    "d > '2024-01-01 08:00'", "at > '2024-01-01T08:00:00.123456'", "there > '2024-01-01 08:00:00+02:00'",
    "there > '2024-01-01T08:00Z'", "hour > '08:00'", "n = '-7'", "m = '7.5e3'", "price = '7.25'", "price = '1e400'",
    "b = 'true'", "t = 'soon'", "z = 'soon'", "EXTRACT(year FROM d) = '2024'", "EXTRACT(hour FROM at) < 9",
    "d < D", "EXTRACT(isodow FROM there) = 7", "EXTRACT(minute FROM hour) = 30", "EXTRACT(dow FROM z) = 1",
])  # fmt: skip
def test_those_that_engines_read_alike_are_carried(text: str) -> None:
    assert row_predicate(text, TIMES, portable=True)


@pytest.mark.parametrize("text", ["at < d", "d < there", "there BETWEEN at AND at", "hour = d"])
def test_columns_of_different_types_of_time_are_refused(text: str) -> None:
    """Spark would stop at a day that no timestamp reaches, and only if there is such a row."""
    with pytest.raises(ParameterError, match="where may compare columns with literals of their own kind"):
        row_predicate(text, TIMES, portable=True)


@pytest.mark.parametrize("text", ["EXTRACT(hour FROM d) = 8", "EXTRACT(year FROM hour) = 1", "EXTRACT(dow FROM d) = 1"])
def test_parts_that_a_type_does_not_have_are_refused(text: str) -> None:
    """PostgreSQL would stop at them, and only if there is a row."""
    with pytest.raises(ParameterError, match="where may compare columns with literals of their own kind"):
        row_predicate(text, TIMES, portable=True)
