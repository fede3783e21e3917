"""The aggregation query, from people's events to integer weights per cell, written once for all engines.

Each person has W units. An event inside the domain of a person with t such events weighs ``W // t``; with a weight
column, ``W * w // T`` where T is the sum of the person's weights inside. Integer division rounds down, so a person's
events weigh at most W together, exactly: this is the whole sensitivity argument.

**Groups.** If events are grouped (images, hours, districts), a public list of groups is given, and `group_number` is
the number of an event's group in it. Only events in listed groups are inside, and t and T are over all of them: a
person's events in *all* listed groups weigh at most W together. Each group has cells of its own.

**Places with a boundary.** An event is inside if its finest cell meets the boundary. These cells are given by rows, as
runs of columns (`Runs`). A cell is in at most one of them, so a join with the runs finds each event at most once. Here
the cell comes first and decides; in a rectangle, the coordinates decide.

The statement reads the table twice, once to count each person's events and once to place them. Both readings are in one
statement, so they see the same rows, as long as nothing changes the table meanwhile (files are checked for that; a data
frame in memory must be left alone). Where an engine can't promise that, as Spark can't, `engines/one_scan_query.py`
gives the same integers from one reading. The statement returns the occupied cells ``(cx, cy, weight)`` and, marked by
``cx = -1``, the counters of `COUNTERS` for the data holder.

**Any engine.** The statement is text for DuckDB, which `engines/transpile.py` transpiles for the others. All of them
return the same integers, because it uses only what they all compute alike:

- Arithmetic that IEEE 754 rounds in one way (see `projection.py`), with constants as casts of text.
- Integer division as ``FLOOR((P - P % T) / T + 1/2)``. Whether ``/`` divides integers, decimals or floats, the quotient
  is a whole number q <= W = 2^30 but for a float's rounding, below 2^-20, and the floor is q. P is at most W 2^31.
- The total T of a person's weights as a decimal, which does not overflow. People whose T is above W 2^31 are left out,
  since all of their events would weigh ``W * w // T = 0``.
- No user-defined functions, and nothing that engines know by different names.
"""

from __future__ import annotations

from collections.abc import Callable

from dpheatmap._util.sql_expression import Sql, text_of
from dpheatmap.design.shares import UNITS
from dpheatmap.errors import DomainError
from dpheatmap.place.domain import Domain
from dpheatmap.place.place import Functions

COUNTERS = ("rows", "without_person", "invalid", "outside", "inside", "people")
LARGEST_WEIGHT = 2**31
RUNS, MOST_RUNS = "dpheatmap_runs", 20_000
"""The runs of a boundary, a step of the statement or a table of the engine; the most that a statement holds."""
STEP = "step"
"""The prefix of the projection's steps. Each uses the one before several times, so none should be inlined."""

_FINITE = 1.7976931348623157e308


def aggregation(
    relation: str,
    domain: Domain,
    *,
    weighted: bool,
    each_row_is_a_person: bool,
    grouped: bool = False,
    mapped: bool = False,
    stamp: int | None = None,
    summed: bool = True,
) -> str:
    """The statement, for a relation with the columns person (unless each row is one), x, y and, if weighted, weight.

    If it is ``grouped`` it also has the columns is_listed and group_number, null outside the list, and the answer has
    the latter. A ``mapped`` relation is that of `mapped_rows`. A ``stamp`` is returned after the counters, in the form
    of one.

    If it is not ``summed``, the answer has a row (number, weight) for each event inside. Counters are numbered first,
    then the cells of the smallest rectangle that holds the domain, row by row, and those of the next group after them.
    """
    place = "group_number, cx, cy" if grouped else "cx, cy"
    totals, placed = (_of_rows if each_row_is_a_person else _of_people)(weighted, place)
    inside = "FROM events WHERE valid AND inside"
    if mapped:
        events, located = {"events": "SELECT * FROM dpheatmap_rows"}, {"located": f"SELECT * {inside}"}
    elif domain.runs is not None:
        events = {RUNS: runs_step(domain), **mask_steps(domain, weighted, grouped)}
        located = {"located": f"SELECT * {inside}"}
    else:
        events = {"events": events_step(domain, weighted, grouped)}
        conditions = f"{_valid(weighted)} AND {_inside(domain, grouped)}"
        located = location_steps(domain, f"SELECT *, x AS px, y AS py FROM dpheatmap_rows WHERE {conditions}")
    steps = {
        "dpheatmap_rows": relation, **events, **totals, **located, "placed": placed, "counters": _counters(),
    }  # fmt: skip
    known = ", ".join(f"{name} AS {_materialization(name)} ({step})" for name, step in steps.items())
    returned = [f"counter{k}" for k in range(len(COUNTERS))] + ([] if stamp is None else [f"CAST({stamp} AS BIGINT)"])
    numbers = " UNION ALL ".join(f"SELECT {k} AS number" for k in range(len(returned)))
    chosen = " ".join(f"WHEN number = {k} THEN {value}" for k, value in enumerate(returned))
    mark = "-1 AS group_number, -1 AS cx, number AS cy" if grouped else "-1 AS cx, number AS cy"
    cells = f"SELECT {place}, CAST(SUM(units) AS BIGINT) AS weight FROM placed GROUP BY {place}"
    if not summed:
        mark, cells = "number", f"SELECT {_cell_number(domain, grouped)} AS number, units AS weight FROM placed"
    return f"""
        WITH {known}, numbers AS ({numbers}) {cells}
        UNION ALL SELECT {mark}, CASE {chosen} END AS weight FROM counters CROSS JOIN numbers"""


def _cell_number(domain: Domain, grouped: bool) -> str:
    """The number of a cell after the counters."""
    of = domain.cells(domain.depth)
    row = f"(group_number * {of.y1 - of.y0} + (cy - {of.y0}))" if grouped else f"(cy - {of.y0})"
    return f"{len(COUNTERS)} + {row} * {of.x1 - of.x0} + (cx - {of.x0})"


def _materialization(name: str) -> str:
    """The hint that keeps people's totals, which are small and needed twice; other steps are not materialized."""
    return "MATERIALIZED" if name == "totals" else "NOT MATERIALIZED"


def events_step(domain: Domain, weighted: bool, grouped: bool, inside: str = "inside") -> str:
    """All rows, with whether each is valid, and inside the extent."""
    return f"SELECT *, {_valid(weighted)} AS valid, {_inside(domain, grouped)} AS {inside} FROM dpheatmap_rows"


def mapped_rows(relation: str, domain: Domain, *, weighted: bool, each_row_is_a_person: bool, grouped: bool) -> str:
    """All rows of a relation with their cells, whether each is valid, and whether its cell meets a boundary.

    The runs of the boundary are the table `RUNS`. An engine that keeps these rows locates each only once.
    """
    steps = {"dpheatmap_rows": relation, **mask_steps(domain, weighted, grouped)}
    roles = {"person": not each_row_is_a_person, "weight": weighted, "group_number": grouped}
    columns = ", ".join([role for role, there in roles.items() if there] + ["valid", "inside", "cx", "cy"])
    known = ", ".join(f"{name} AS NOT MATERIALIZED ({step})" for name, step in steps.items())
    return f"WITH {known} SELECT {columns} FROM events"


def runs_step(domain: Domain) -> str:
    """The runs of a boundary as a table of constants."""
    runs = domain.runs
    assert runs is not None
    if len(runs.row) > MOST_RUNS:
        raise DomainError(
            f"The cells of this boundary are {len(runs.row):,} pieces of rows, and a statement for a database takes at "
            f"most {MOST_RUNS:,}. Give a coarser resolution, or files to the embedded engine."
        )
    rows = zip(runs.row.tolist(), runs.first.tolist(), runs.last.tolist(), strict=True)
    values = ", ".join(f"({row}, {first}, {last})" for row, first, last in rows)
    return f"SELECT run_row, run_first, run_last FROM (VALUES {values}) AS runs(run_row, run_first, run_last)"


def mask_steps(domain: Domain, weighted: bool, grouped: bool) -> dict[str, str]:
    """All rows with their cells, whether each is valid, and whether it is inside: whether its cell is in a run."""
    corner = {"x": domain.extent.x0, "y": domain.extent.y0}  # of rows elsewhere: arithmetic on nulls is slow
    known = [
        f"CASE WHEN valid AND inside_extent THEN {c} ELSE {text_of(at)} END AS known_{c}" for c, at in corner.items()
    ]
    return {
        "checked": events_step(domain, weighted, grouped, "inside_extent"),
        "known": f"SELECT *, {', '.join(known)} FROM checked",
        **location_steps(domain, "SELECT *, known_x AS px, known_y AS py FROM known", "mapped"),
        "events": f"""SELECT mapped.*, valid AND inside_extent AND run_first IS NOT NULL AS inside
            FROM mapped LEFT JOIN {RUNS} ON mapped.cy = run_row AND mapped.cx BETWEEN run_first AND run_last""",
    }


_TALLIES = """COUNT(*) AS row_count, COUNT(CASE WHEN valid THEN 1 END) AS valid_count,
            COUNT(CASE WHEN valid AND inside THEN 1 END) AS inside_count"""


def _of_people(weighted: bool, place: str) -> tuple[dict[str, str], str]:
    """Each person's events and their total (the unknown person's too, for the counters), and the events' units.

    A null person equals nothing, so the join leaves their rows out.
    """
    tallies, sums = f"SELECT person, {_TALLIES} FROM events GROUP BY person", "inside_count"
    if weighted:
        tallies = f"""SELECT person, {_TALLIES},
            COALESCE(SUM(CASE WHEN valid AND inside THEN CAST(weight AS DECIMAL(19, 0)) END), 0) AS sum_of_weights
            FROM events GROUP BY person"""
        sums = "sum_of_weights"
    bounded = f"""SELECT *, person IS NOT NULL AS known, CASE WHEN inside_count > 0 THEN 1 ELSE 0 END AS people,
            CASE WHEN {sums} BETWEEN 1 AND {UNITS * LARGEST_WEIGHT} THEN CAST({sums} AS BIGINT) END AS total
            FROM tallies"""
    totals, units = f"SELECT *, {quotient(f'{UNITS}', 'total')} AS share FROM bounded", "totals.share"
    if weighted:
        totals, units = "SELECT * FROM bounded", quotient(f"({UNITS} * located.weight)", "totals.total")
    placed = f"""SELECT {place}, {units} AS units FROM located
            JOIN (SELECT * FROM totals WHERE total IS NOT NULL) AS totals ON located.person = totals.person"""
    return {"tallies": tallies, "bounded": bounded, "totals": totals}, placed


def _of_rows(weighted: bool, place: str) -> tuple[dict[str, str], str]:
    """The same where each row is a person, who has all W units unless the weight is 0."""
    units = f"CASE WHEN weight > 0 THEN {UNITS} ELSE 0 END" if weighted else f"{UNITS}"
    totals = f"SELECT *, TRUE AS known, inside_count AS people FROM (SELECT {_TALLIES} FROM events) AS tallies"
    return {"totals": totals}, f"SELECT {place}, {units} AS units FROM located"


def quotient(whole: str, by: str) -> str:
    """``whole // by``, for whole numbers above 0."""
    return f"CAST(FLOOR(({whole} - {whole} % {by}) / {by} + {text_of(0.5)}) AS BIGINT)"


def _counters() -> str:
    values = (
        "row_count",
        "CASE WHEN known THEN 0 ELSE row_count END",
        "CASE WHEN known THEN row_count - valid_count ELSE 0 END",
        "CASE WHEN known THEN valid_count - inside_count ELSE 0 END",
        "CASE WHEN known THEN inside_count ELSE 0 END",
        "CASE WHEN known THEN people ELSE 0 END",
    )
    sums = ", ".join(f"CAST(COALESCE(SUM({value}), 0) AS BIGINT) AS counter{k}" for k, value in enumerate(values))
    return f"SELECT {sums} FROM totals"


def _valid(weighted: bool) -> str:
    """The condition of finite coordinates and, if there is one, a weight in range; null counts as not valid."""
    tests = [f"{c} BETWEEN {text_of(-_FINITE)} AND {text_of(_FINITE)}" for c in ("x", "y")]
    if weighted:
        tests.append(f"weight BETWEEN 0 AND {LARGEST_WEIGHT}")
    return f"COALESCE({' AND '.join(tests)}, FALSE)"


def _inside(domain: Domain, grouped: bool) -> str:
    """The condition of a point in the extent and, if there are groups, in one of them."""
    within: Sql = domain.place.within(Sql("x"), Sql("y"), _functions(lambda step: step))
    return f"{within.text} AND is_listed" if grouped else within.text


def _functions(let: Callable[[Sql], Sql]) -> Functions:
    """The functions of coordinates on SQL expressions."""
    return Functions(
        lambda step: Sql(f"SQRT({step.text})"),
        let,
        lambda test, then, other: Sql(f"CASE WHEN {test.text} THEN {then.text} ELSE {other.text} END"),
    )


def location_steps(domain: Domain, start: str, last: str = "located") -> dict[str, str]:
    """Rows with the column and row of the finest cell of (px, py), from the first step that names these to the last.

    `Domain.locate` does the same in NumPy.
    """
    steps = [start]

    def let(step: Sql) -> Sql:
        name = f"s{len(steps)}"
        steps.append(f"SELECT *, {step.text} AS {name} FROM {STEP}{len(steps) - 1}")
        return Sql(name)

    x, y = Sql("px"), Sql("py")
    u, v = domain.place.to_root(x, y, _functions(let))
    finest, side = domain.cells(domain.depth), float(2**domain.depth)
    column, row = (let(Sql(f"CAST(FLOOR({(at * side).text}) AS INTEGER)")).text for at in (u, v))
    if domain.runs is None:
        column, row = _clamp(column, finest.x0, finest.x1 - 1), _clamp(row, finest.y0, finest.y1 - 1)
    found = {f"{STEP}{k}": step for k, step in enumerate(steps)}
    return {**found, last: f"SELECT *, {column} AS cx, {row} AS cy FROM {STEP}{len(steps) - 1}"}


def _clamp(value: str, low: int, high: int) -> str:
    return f"CASE WHEN {value} < {low} THEN {low} WHEN {value} > {high} THEN {high} ELSE {value} END"
