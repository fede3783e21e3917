"""Predicates for engines that stop where a predicate fails on a value: what could fail is refused beforehand."""

from __future__ import annotations

import pytest

from dpheatmap.curator.predicate import row_predicate
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
