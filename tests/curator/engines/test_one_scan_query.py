"""One scan gives the integers of two, and nobody's weigh more than W together, whatever the table."""

from __future__ import annotations

from typing import Any

import duckdb
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dpheatmap as dph
from dpheatmap.curator.core.query import aggregation
from dpheatmap.curator.engines.answer import Answer
from dpheatmap.curator.engines.one_scan_query import aggregation_in_one_scan, with_counters
from dpheatmap.design.shares import UNITS
from helpers import nasty

SQUARE = dph.Domain.unit(3)
DOMAINS = [dph.Domain.bbox(-180, -85, 180, 85, depth=9), SQUARE, dph.Domain.image(5, 3), nasty.REGION]


def answers(relation: str, tables: dict[str, Any], domain: dph.Domain, **options: Any) -> tuple[Answer, Answer]:
    """The answers of both statements."""
    with duckdb.connect() as con:
        for name, table in tables.items():
            con.register(name, table)
        one, two = (
            {name: np.asarray(values, np.int64) for name, values in con.execute(sql).fetchnumpy().items()}
            for sql in (aggregation_in_one_scan(relation, domain, **options), aggregation(relation, domain, **options))
        )
    return Answer.of(with_counters(one)), Answer.of(two)


def same(one: Answer, two: Answer) -> bool:
    """Whether two answers are equal, but that cells of no weight may be missing."""
    found = []
    for answer in (one, two):
        kept = (answer.weights > 0) | (answer.codes < 0)
        groups = np.zeros(len(kept)) if answer.groups is None else answer.groups
        found.append((answer.codes[kept].tolist(), answer.weights[kept].tolist(), groups[kept].tolist()))
    return found[0] == found[1]


@pytest.mark.parametrize("alone", [False, True], ids=["people", "rows"])
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("domain", DOMAINS, ids=lambda domain: domain.kind)
def test_nasty_tables(domain: dph.Domain, weighted: bool, alone: bool) -> None:
    columns = f"{'' if alone else 'u AS person, '}x, y{', CAST(w AS BIGINT) AS weight' if weighted else ''}"
    relation = f"SELECT {columns} FROM nasty"
    options = {"weighted": weighted, "each_row_is_a_person": alone}
    assert same(*answers(relation, {"nasty": nasty.table(domain, 3000)}, domain, **options))


coordinates = st.sampled_from([0.1, 0.5, 0.9, 1.5, float("nan"), None])
weights = st.sampled_from([0, 1, 3, 2**31, 2**31 + 1, -1, None])
rows = st.lists(
    st.tuples(st.sampled_from(["a", "b", "c", None]), coordinates, coordinates, weights, st.sampled_from([0, 1, None])),
    min_size=1,
    max_size=30,
)


@given(rows, st.booleans(), st.booleans())
def test_any_table(given_rows: list[Any], weighted: bool, grouped: bool) -> None:
    import pyarrow as pa

    names = ("person", "x", "y", "weight", "group_number")
    types = (pa.string(), pa.float64(), pa.float64(), pa.int64(), pa.int64())
    table = pa.table(
        [pa.array(values, kind) for values, kind in zip(zip(*given_rows, strict=True), types, strict=True)], names
    )
    chosen = ["person", "x", "y", *["weight"] * weighted]
    columns = ", ".join([*chosen, *["group_number", "group_number IS NOT NULL AS is_listed"] * grouped])
    options = {"weighted": weighted, "each_row_is_a_person": False, "grouped": grouped}
    one, two = answers(f"SELECT {columns} FROM given", {"given": table}, SQUARE, **options)
    assert same(one, two)
    of_cells = one.weights[one.codes >= 0]
    assert of_cells.sum() <= UNITS * one.counters[-1]
