"""The one aggregation against section 3 of the specification in plain Python: whole numbers and fractions only."""

from __future__ import annotations

import math
from collections import defaultdict
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dpheatmap as dph
from dpheatmap.curator.core.query import COUNTERS, LARGEST_WEIGHT, aggregation
from dpheatmap.design.shares import UNITS
from dpheatmap.place.domain import Domain
from dpheatmap.place.quadtree import decode
from helpers import nasty
from helpers.tables import Columns, outcome, people, table

settings.register_profile("patient", deadline=None)
settings.load_profile("patient")

W = 2**30
UNIT = Domain.unit(3)
Cells = dict[tuple[int, int], int]


class Row(NamedTuple):
    person: str | None
    x: float | None
    y: float | None
    weight: int | None = 1


SCHEMA = pa.schema([("person", pa.string()), ("x", pa.float64()), ("y", pa.float64()), ("weight", pa.int64())])


def in_plain_python(rows: list[Row], domain: Domain, *, weighted: bool, each: bool) -> tuple[Cells, dict[str, int]]:
    counters = dict.fromkeys(COUNTERS, 0) | {"rows": len(rows)}
    inside: defaultdict[Any, list[Row]] = defaultdict(list)
    for k, row in enumerate(rows):
        if row.person is None and not each:
            counters["without_person"] += 1
        elif not valid(row, weighted):
            counters["invalid"] += 1
        elif not within(row, domain):
            counters["outside"] += 1
        else:
            counters["inside"] += 1
            inside[k if each else row.person].append(row)
    counters["people"] = len(inside)
    cells: defaultdict[tuple[int, int], int] = defaultdict(int)
    for events in inside.values():
        weights = [row.weight if weighted else 1 for row in events]
        total = sum(w or 0 for w in weights)
        shares = [math.floor(W * Fraction(w or 0, total)) if total else 0 for w in weights]
        if not weighted:
            assert shares == [W // len(events)] * len(events)
        assert 0 <= sum(shares) <= W
        for row, share in zip(events, shares, strict=True):
            cells[cell(row, domain)] += share
    return {at: weight for at, weight in cells.items() if weight}, counters


def valid(row: Row, weighted: bool) -> bool:
    fine = all(v is not None and math.isfinite(v) for v in (row.x, row.y))
    return fine and (not weighted or (row.weight is not None and 0 <= row.weight <= 2**31))


def within(row: Row, domain: Domain) -> bool:
    e = domain.extent
    assert row.x is not None
    assert row.y is not None
    return e.x0 <= row.x <= e.x1 and e.y0 <= row.y <= e.y1


def cell(row: Row, domain: Domain) -> tuple[int, int]:
    """By exact fractions; for boxes by `Domain.locate`, which has its own tests."""
    assert row.x is not None
    assert row.y is not None
    if domain.kind == "bbox":
        column, line, _ = domain.locate(row.x, row.y)
        return int(column), int(line)
    r = domain.cells(domain.depth)
    side = Fraction(2**domain.depth) / Fraction(domain.place.widest_root)
    return min(math.floor(Fraction(row.x) * side), r.x1 - 1), min(math.floor(Fraction(row.y) * side), r.y1 - 1)


def by_the_query(rows: list[Row], domain: Domain, *, weighted: bool, each: bool) -> tuple[Cells, dict[str, int]]:
    table = pa.Table.from_pylist([row._asdict() for row in rows], schema=SCHEMA)
    counts = dph.aggregate(
        table, domain, user=None if each else "person", x="x", y="y", weight="weight" if weighted else None,
        each_row_is_a_person=each,
    )  # fmt: skip
    x, y = decode(counts.codes)
    cells = dict(zip(zip(x.tolist(), y.tolist(), strict=True), np.diff(counts.sums).tolist(), strict=True))
    assert counts.report is not None
    counters = {name: getattr(counts.report, name) for name in COUNTERS}
    return {at: weight for at, weight in cells.items() if weight}, counters


DOMAINS = [Domain.unit(2), Domain.unit(0), Domain.image(5, 3), Domain.bbox(0, 0, 5, 5, depth=8)]
COORDINATES = st.one_of(
    st.sampled_from([0.0, 1.0, 0.25, 0.5, 3.0, 5.0, -0.0, 5e-324, math.nextafter(1, 2), math.nextafter(0.25, 0)]),
    st.sampled_from([None, math.nan, math.inf, -math.inf, -1.0, 1e308, 91.0]),
    st.floats(0, 5),
)
WEIGHTS = st.one_of(st.integers(0, 5), st.sampled_from([None, -1, 2**31, 2**31 + 1, 2**31 - 1, 2**63 - 1]))
ROWS = st.lists(
    st.builds(Row, st.sampled_from([None, "a", "b", "B", "c ", "c"]), COORDINATES, COORDINATES, WEIGHTS), max_size=30
)


@settings(max_examples=50)
@given(ROWS, st.sampled_from(DOMAINS), st.booleans(), st.booleans())
def test_the_query_does_what_the_specification_says(
    rows: list[Row], domain: Domain, weighted: bool, each: bool
) -> None:
    got = by_the_query(rows, domain, weighted=weighted, each=each)
    assert got == in_plain_python(rows, domain, weighted=weighted, each=each)
    _, counters = got
    assert counters["rows"] == len(rows)
    assert counters["rows"] == sum(counters[name] for name in ("without_person", "invalid", "outside", "inside"))


@settings(max_examples=25)
@given(ROWS, ROWS, st.sampled_from([DOMAINS[0], nasty.REGION]), st.booleans(), st.randoms(use_true_random=False))
def test_one_more_person_adds_at_most_w_and_takes_nothing(
    others: list[Row], theirs: list[Row], domain: Domain, weighted: bool, random: Any
) -> None:
    """The contract that the noise rests on, with the person's rows strewn among the others'."""
    together = [*others, *(row._replace(person="newcomer") for row in theirs)]
    random.shuffle(together)
    before, _ = by_the_query(others, domain, weighted=weighted, each=False)
    after, _ = by_the_query(together, domain, weighted=weighted, each=False)
    difference = {at: after.get(at, 0) - before.get(at, 0) for at in {*before, *after}}
    assert all(change >= 0 for change in difference.values())
    assert sum(difference.values()) <= W


@settings(max_examples=25)
@given(st.lists(st.integers(0, 2**31), min_size=1, max_size=60))
def test_shares_by_weight_are_rounded_down_one_by_one(weights: list[int]) -> None:
    """Every event in a cell of its own, so that each share is seen: W w // T exactly, never above W together."""
    domain = Domain.image(64, 1)
    rows = [Row("a", k + 0.5, 0.5, w) for k, w in enumerate(weights)]
    cells, _ = by_the_query(rows, domain, weighted=True, each=False)
    total = sum(weights)
    assert cells == {(k, 0): W * w // total for k, w in enumerate(weights) if total and W * w // total}
    assert sum(cells.values()) <= W


@pytest.mark.parametrize("events", [1, 2, 3, 7, 1000, 99_991])
def test_a_person_weighs_at_most_one_however_active(events: int) -> None:
    x = np.linspace(0, 1, events)
    table = {"u": np.ones(events, dtype=np.int64), "x": x, "y": x, "w": np.full(events, 2**31)}
    plain = dph.aggregate(table, Domain.unit(6), user="u", x="x", y="y")
    assert plain.sums[-1] == W // events * events <= W
    weighted = dph.aggregate(table, Domain.unit(6), user="u", x="x", y="y", weight="w")
    assert weighted.sums[-1] == W * 2**31 // (events * 2**31) * events <= W


def test_totals_beyond_64_bits() -> None:
    """2^33 and more rows of the largest weight don't fit a test; their totals do."""
    with duckdb.connect() as con:
        kind = con.sql("SELECT SUM(w) AS total FROM (SELECT 1::BIGINT AS w)").types[0]
        assert str(kind) == "HUGEINT"
    assert UNITS * LARGEST_WEIGHT < 2**62


def test_everyone_more_active_than_w_weighs_nothing_rather_than_too_much() -> None:
    """With more than W events a share would be W // t = 0; the arithmetic is tried with totals, not with rows."""
    rows = [Row("a", 0.1, 0.1, 1), Row("a", 0.9, 0.9, 2**31)]
    cells, _ = by_the_query(rows, Domain.unit(1), weighted=True, each=False)
    assert cells == {(1, 1): W * 2**31 // (2**31 + 1)}


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("each", [False, True])
@pytest.mark.parametrize("domain", DOMAINS, ids=str)
def test_the_statement_stands_alone(domain: Domain, weighted: bool, each: bool) -> None:
    """It is plain SQL: other engines get it as text, so it runs on a bare connection and reads nothing else."""
    sql = aggregation("SELECT * FROM t", domain, weighted=weighted, each_row_is_a_person=each)
    rows = [Row("a", 0.1, 0.1, 3), Row(None, 0.1, 0.1, 1), Row("b", None, 0.1, 1), Row("b", 99.0, 0.1, 1)]
    with duckdb.connect() as con:
        con.register("t", pa.Table.from_pylist([row._asdict() for row in rows], schema=SCHEMA))
        answer = con.execute(sql).fetchall()
        assert con.execute(f"DESCRIBE {sql}").fetchall()[2][:2] == ("weight", "BIGINT")
    cells = {(x, y): weight for x, y, weight in answer if x >= 0}
    counters = dict(sorted((y, weight) for x, y, weight in answer if x < 0))
    assert list(counters) == list(range(len(COUNTERS)))
    assert (cells, dict(zip(COUNTERS, counters.values(), strict=True))) == in_plain_python(
        rows, domain, weighted=weighted, each=each
    )


# Columns of weights


def weigh(weights: list[Any], kind: str = "BIGINT") -> duckdb.DuckDBPyRelation:
    """One event each for people 0, 1, ... with these weights, as SQL literals."""
    rows = ", ".join(f"({k}, CAST({w} AS {kind}))" for k, w in enumerate(weights))
    return duckdb.connect().sql(f"SELECT u, 0.1 AS x, 0.1 AS y, w FROM (VALUES {rows}) t(u, w)")


def report(events: Any) -> tuple[int, int, int]:
    counts = dph.aggregate(events, Domain.unit(2), user="u", x="x", y="y", weight="w")
    assert counts.report is not None
    return counts.report.inside, counts.report.invalid, int(counts.sums[-1]) // W


@pytest.mark.parametrize("kind", ["DOUBLE", "FLOAT", "DECIMAL(10, 2)", "BOOLEAN", "DATE", "INTEGER[]"])
def test_weights_are_integers(kind: str) -> None:
    literal = {"DATE": "'2024-01-01'", "INTEGER[]": "[1]"}.get(kind, "1")
    with pytest.raises(dph.errors.DataError, match=r"The weight column 'w' is of type .*, and weights are integers"):
        report(weigh([literal], kind))


INTEGERS = [
    "TINYINT",
    "SMALLINT",
    "INTEGER",
    "BIGINT",
    "HUGEINT",
    "UTINYINT",
    "USMALLINT",
    "UINTEGER",
    "UBIGINT",
    "UHUGEINT",
]


@pytest.mark.parametrize("kind", INTEGERS)
def test_weights_of_every_integer_type(kind: str) -> None:
    assert report(weigh([1, 0, 127, "NULL"], kind)) == (3, 1, 2)


def test_weights_out_of_range_are_invalid() -> None:
    assert report(weigh([-1, 0, 1, 2**31, 2**31 + 1, 2**62, -(2**62)])) == (3, 4, 2)
    assert report(weigh([2**64, 2**100, -(2**100), 5], "HUGEINT")) == (1, 3, 1)
    assert report(weigh([2**64 - 1, 2**63, 5], "UBIGINT")) == (1, 2, 1)


TEXTS = {"0": True, "1": True, "007": True, str(2**31): True, str(2**31 + 1): False, str(2**200): False, "-1": False}
TEXTS |= {
    "1.5": False,
    "1.0": False,
    "1e3": False,
    "x": False,
    "": False,
    "+1": False,
    "1_0": False,
    " 1": False,
    "0x1": False,
}


def test_text_is_a_weight_if_it_is_written_as_a_whole_number() -> None:
    """A cast alone would round 1.5 to 2."""
    taken = sum(TEXTS.values())
    assert report(weigh([f"'{text}'" for text in TEXTS], "VARCHAR")) == (taken, len(TEXTS) - taken, taken - 1)


# Coordinates

BAD_COORDINATES = ["", "north", "1,5", "0.5x", "nan", "NaN", "inf", "-Infinity", "1e999", "--1", "0.1.2", "NULL"]


@pytest.mark.parametrize(
    "kind", ["csv", "csv.gz", "json lines", "json", "parquet", "pandas objects", "polars", "arrow"]
)
def test_text_that_is_no_number_is_invalid(kind: str, tmp_path: Path) -> None:
    n = len(BAD_COORDINATES)
    columns: Columns = {
        "user": [f"u{k}" for k in range(2 * n + 3)],
        "x": [*BAD_COORDINATES, *["0.1"] * n, "0.1", " 0.1 ", "1e-1"],
        "y": [*["0.1"] * n, *BAD_COORDINATES, "0.1", "0.1", "0.1"],
    }
    cells, counters = outcome(table(kind, columns, tmp_path))
    assert (counters["invalid"], counters["inside"], counters["outside"]) == (2 * n, 3, 0)
    assert cells == {(0, 0): 3 * W}


@pytest.mark.parametrize("kind", ["parquet", "pandas", "pandas nullable", "polars", "arrow", "relation"])
def test_numbers_that_are_none_are_invalid(kind: str, tmp_path: Path) -> None:
    bad = [None, math.nan, math.inf, -math.inf]
    columns: Columns = {"user": list("abcdefghi"), "x": [*bad, *[0.1] * 5], "y": [*[0.1] * 4, *bad, 0.1]}
    cells, counters = outcome(table(kind, columns, tmp_path))
    assert (counters["invalid"], counters["inside"]) == (8, 1)
    assert cells == {(0, 0): W}


@pytest.mark.parametrize("huge", [1e308, -1e308, 1e30, 91.0, -91.0])
def test_numbers_far_outside_are_outside_and_stop_nothing(huge: float) -> None:
    table = pa.table({"user": [1, 2, 3], "x": [huge, 0.1, 0.1], "y": [0.1, huge, 0.1]})
    for domain in (UNIT, dph.Domain.image(10, 10), dph.Domain.bbox(0, 0, 1, 1)):
        counters = outcome(table, domain)[1]
        assert (counters["outside"], counters["inside"], counters["invalid"]) == (2, 1, 0)


def test_integer_and_decimal_coordinates() -> None:
    query = "SELECT i AS user, i AS x, (i / 2)::DECIMAL(10, 3) AS y, i::HUGEINT AS h FROM range(5) t(i)"
    cells, _ = outcome(duckdb.connect().sql(query), dph.Domain.image(8, 8))
    assert cells == {(0, 0): W, (1, 0): W, (2, 1): W, (3, 1): W, (4, 2): W}
    assert outcome(duckdb.connect().sql(query), dph.Domain.image(8, 8), x="h")[0] == cells


@pytest.mark.parametrize(
    "kind",
    ["TIMESTAMP '2024-01-01'", "TRUE", "[1.0::DOUBLE]", "[1.0::DECIMAL(2, 1)]", "'0.1'::BLOB", "'a'::ENUM('a', 'b')"],
)
def test_columns_of_other_types_are_no_coordinates(kind: str) -> None:
    query = duckdb.connect().sql(f"SELECT 1 AS user, {kind} AS x, 0.1 AS y")
    if "ENUM" in kind:  # in a file it becomes text
        assert outcome(query)[1]["invalid"] == 1
        return
    with pytest.raises(dph.errors.DataError, match="The coordinate column 'x' is of type"):
        people(query)
