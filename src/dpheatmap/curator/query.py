"""The one aggregation: people's events to integer weights per cell, written once.

Each person has W units. An event inside the domain of a person with t such events weighs ``W // t``; with a weight
column, ``W * w // T`` where T is the sum of the person's weights inside. Integer division rounds down, so a person's
events weigh at most W together, exactly: this is the whole of the sensitivity argument.

**Images.** If the table is about several images, a public list of them is given, and `picture` is the number of an
event's image in it. Only events in listed images are inside, and t and T are over all of them: a person's events in
*all* listed images weigh at most W together. Each image has cells of its own.

The statement reads the table twice, once to count each person's events and once to place them, inside one statement,
so both readings see the same rows, as long as nothing changes the table meanwhile (files are checked for that; a data
frame in memory must be left alone). It ends with the occupied cells ``(cx, cy, weight)`` and, marked by ``cx = -1``,
the counters of `COUNTERS` for the data holder.

Only arithmetic that every engine rounds alike is used (see `projection.py`), constants are written as casts of exact
decimals, and there are no user-defined functions.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from dpheatmap.budget import UNITS
from dpheatmap.domain import Domain
from dpheatmap.projection import mercator_column, mercator_row

COUNTERS = ("rows", "without_person", "invalid", "outside", "inside", "people")
LARGEST_WEIGHT = 2**31
_FINITE = 1.7976931348623157e308


@dataclass(frozen=True)
class Sql:
    """An SQL expression that can be computed with like a number."""

    text: str

    def __mul__(self, other: Sql | float) -> Sql:
        return Sql(f"({self.text} * {_sql(other)})")

    def __truediv__(self, other: Sql | float) -> Sql:
        return Sql(f"({self.text} / {_sql(other)})")

    def __radd__(self, other: float) -> Sql:
        return Sql(f"({_sql(other)} + {self.text})")

    def __rsub__(self, other: float) -> Sql:
        return Sql(f"({_sql(other)} - {self.text})")

    def __rmul__(self, other: float) -> Sql:
        return Sql(f"({_sql(other)} * {self.text})")

    def __sub__(self, other: Sql | float) -> Sql:
        return Sql(f"({self.text} - {_sql(other)})")


def _sql(value: Sql | float) -> str:
    # Decimal(float) is the float's exact value; the cast reads it back to the same float on any engine.
    return value.text if isinstance(value, Sql) else f"CAST('{Decimal(value)}' AS DOUBLE)"


def aggregation(
    relation: str, domain: Domain, *, weighted: bool, each_row_is_a_person: bool, pictures: bool = False
) -> str:
    """The statement, for a relation with the columns person (unless each row is one), x, y and, if weighted, weight.

    With ``pictures`` it also has the column picture, null outside the list, and so has the answer.
    """
    listed = " AND picture IS NOT NULL" if pictures else ""
    flags = f"SELECT *, {_valid(weighted)} AS valid, {_inside(domain)}{listed} AS inside FROM ({relation})"
    place = "picture, cx, cy" if pictures else "cx, cy"
    totals, placed = (_of_rows if each_row_is_a_person else _of_people)(weighted, place)
    counters = (
        "SUM(row_count)",
        "SUM(CASE WHEN known THEN 0 ELSE row_count END)",
        "SUM(CASE WHEN known THEN row_count - valid_count ELSE 0 END)",
        "SUM(CASE WHEN known THEN valid_count - inside_count ELSE 0 END)",
        "SUM(CASE WHEN known THEN inside_count ELSE 0 END)",
        "SUM(CASE WHEN known THEN people ELSE 0 END)",
    )
    mark = "-1 AS picture, -1 AS cx" if pictures else "-1 AS cx"
    rows = "\n        UNION ALL ".join(
        f"SELECT {mark}, {k} AS cy, CAST(COALESCE({counter}, 0) AS BIGINT) AS weight FROM totals"
        for k, counter in enumerate(counters)
    )
    return f"""
        WITH events AS NOT MATERIALIZED ({flags}),
        totals AS MATERIALIZED ({totals}),
        located AS NOT MATERIALIZED ({_located(domain)}),
        placed AS NOT MATERIALIZED ({placed})
        SELECT {place}, CAST(SUM(units) AS BIGINT) AS weight FROM placed GROUP BY {place}
        UNION ALL {rows}"""


_TALLIES = """COUNT(*) AS row_count, COUNT(CASE WHEN valid THEN 1 END) AS valid_count,
            COUNT(CASE WHEN valid AND inside THEN 1 END) AS inside_count"""


def _of_people(weighted: bool, place: str) -> tuple[str, str]:
    """Each person's events and their total (the unknown person's too, for the counters), and the events' units.

    A null person equals nothing, so the join leaves their rows out.
    """
    tallies = f"SELECT person, {_TALLIES} FROM events GROUP BY person"
    total, units = "inside_count", "totals.share"
    if weighted:
        total = "total"
        tallies = f"""
            SELECT person, {_TALLIES}, COALESCE(SUM(CASE WHEN valid AND inside THEN weight END), 0) AS total
            FROM events GROUP BY person"""
        # W * weight stays below 2^62, and DuckDB sums integers in 128 bits.
        units = f"({UNITS} * located.weight) // totals.total"
    totals = f"""
        SELECT *, person IS NOT NULL AS known, CASE WHEN inside_count > 0 THEN 1 ELSE 0 END AS people,
            CASE WHEN {total} > 0 THEN {UNITS} // {total} END AS share FROM ({tallies})"""
    placed = f"""
        SELECT {place}, {units} AS units FROM located JOIN totals ON located.person = totals.person
        WHERE totals.share IS NOT NULL"""
    return totals, placed


def _of_rows(weighted: bool, place: str) -> tuple[str, str]:
    """The same where each row is a person: it has all W units, unless its weight is 0."""
    units = f"CASE WHEN weight > 0 THEN {UNITS} ELSE 0 END" if weighted else f"{UNITS}"
    totals = f"SELECT *, TRUE AS known, inside_count AS people FROM (SELECT {_TALLIES} FROM events)"
    return totals, f"SELECT {place}, {units} AS units FROM located"


def _valid(weighted: bool) -> str:
    """Finite coordinates and, if there is one, a weight in range; null counts as not valid."""
    tests = [f"{c} BETWEEN {_sql(-_FINITE)} AND {_sql(_FINITE)}" for c in ("x", "y")]
    if weighted:
        tests.append(f"weight BETWEEN 0 AND {LARGEST_WEIGHT}")
    return f"COALESCE({' AND '.join(tests)}, FALSE)"


def _inside(domain: Domain) -> str:
    e = domain.extent
    return f"x BETWEEN {_sql(e.x0)} AND {_sql(e.x1)} AND y BETWEEN {_sql(e.y0)} AND {_sql(e.y1)}"


def _located(domain: Domain) -> str:
    """The valid rows inside, with the column and row of their finest cell; `Domain.locate` does the same in NumPy."""
    query = "SELECT * FROM events WHERE valid AND inside"
    steps: list[str] = []

    def let(step: Sql) -> Sql:
        nonlocal query
        name = f"s{len(steps)}"
        steps.append(name)
        query = f"SELECT *, {step.text} AS {name} FROM ({query})"
        return Sql(name)

    x, y = Sql("x"), Sql("y")
    if domain.kind == "bbox":
        u, v = mercator_column(x), mercator_row(y, lambda step: Sql(f"SQRT({step.text})"), let)
    else:
        u, v = x / domain.root_side, y / domain.root_side
    finest, side = domain.cells(domain.depth), float(2**domain.depth)
    column = _clamped(let(Sql(f"CAST(FLOOR({(u * side).text}) AS INTEGER)")), finest.x0, finest.x1 - 1)
    row = _clamped(let(Sql(f"CAST(FLOOR({(v * side).text}) AS INTEGER)")), finest.y0, finest.y1 - 1)
    return f"SELECT *, {column} AS cx, {row} AS cy FROM ({query})"


def _clamped(value: Sql, low: int, high: int) -> str:
    return f"CASE WHEN {value.text} < {low} THEN {low} WHEN {value.text} > {high} THEN {high} ELSE {value.text} END"
