"""The aggregation in one scan, for an engine that can't promise that two readings of a table see the same rows.

The statement of `query.py` counts each person's events in one reading and places them in another. If rows change in
between, by a file that is replaced, a function that draws lots, or a part that is computed again, somebody's events may
weigh more than W. Here the events of each person are counted by cell first, in one reading. What a person weighs in a
cell then follows from that person's own rows of this small table alone, by a window over them:

    units(person, cell) = events(person, cell) * (W // all events of the person),

and with weights ``events(person, cell, w) * (W * w // T)``. Their sum is at most W, whatever was read, because
numerator and denominator come from the same rows. The integers are those of `query.py`, where each event weighs
``W // t``.

Rows that are not placed are cells of column -1 until then. Each row of the small table is passed on four times: for its
cell, and for the counters of rows, of its kind of rows, and of people, who are counted at the first of their cells. So
the answer has three columns, as that of `query.py`.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from dpheatmap.curator.core.query import (
    COUNTERS,
    LARGEST_WEIGHT,
    RUNS,
    events_step,
    location_steps,
    mask_steps,
    quotient,
    runs_step,
)
from dpheatmap.design.shares import UNITS
from dpheatmap.place.domain import Domain
from dpheatmap.place.quadtree import Ints

WITHOUT_PERSON, INVALID, OUTSIDE, INSIDE = range(1, 5)
"""The numbers of the counters of kinds of rows in `query.COUNTERS`."""


def aggregation_in_one_scan(
    relation: str,
    domain: Domain,
    *,
    weighted: bool,
    each_row_is_a_person: bool,
    grouped: bool = False,
    stamp: int | None = None,
) -> str:
    """The statement, for a relation as in `query.aggregation`; `with_counters` reads its answer.

    With a ``stamp`` the answer has that after the counters, and all of them, as that of `query.py`.
    """
    group = "group_number, " if grouped else ""
    person = "TRUE" if each_row_is_a_person else "person IS NOT NULL"
    placed = f"{person} AND valid AND inside"
    kind = f"CASE WHEN NOT ({person}) THEN {WITHOUT_PERSON} WHEN NOT valid THEN {INVALID} ELSE {OUTSIDE} END"
    told = f"SELECT *, {placed} AS placed, {kind} AS kind"
    if domain.runs is None:
        start = f"{told}, CASE WHEN {placed} THEN x END AS px, CASE WHEN {placed} THEN y END AS py FROM events"
        located = {"events": events_step(domain, weighted, grouped), **location_steps(domain, start)}
    else:
        events = {RUNS: runs_step(domain), **mask_steps(domain, weighted, grouped)}
        located = {**events, "located": f"{told} FROM events"}
    own_group = "CASE WHEN placed THEN group_number ELSE -1 END AS group_number, " if grouped else ""
    key = f"{own_group}CASE WHEN placed THEN cx ELSE -1 END AS cx, CASE WHEN placed THEN cy ELSE kind END AS cy"
    place = f"{group}cx, cy"
    keyed, pairs, weighing = (_of_rows if each_row_is_a_person else _of_people)(weighted, key, place)
    steps = {
        "dpheatmap_rows": relation,
        **located,
        "keyed": keyed,
        "pairs": pairs,
        "weighing": weighing,
    }
    known = ", ".join(f"{name} AS ({step})" for name, step in steps.items())
    cell = "part = 0"
    to_group = f"CASE WHEN {cell} THEN group_number ELSE -1 END AS group_number, " if grouped else ""
    kind_of_cell = f"CASE WHEN cx >= 0 THEN {INSIDE} ELSE cy END"
    parts = " UNION ALL ".join(f"SELECT {part} AS part" for part in range(4))
    return f"""
        WITH {known}, parts AS ({parts}), passed AS (
            SELECT {to_group}CASE WHEN {cell} THEN cx ELSE -1 END AS cx,
                CASE part WHEN 0 THEN cy WHEN 1 THEN 0 WHEN 2 THEN {kind_of_cell} ELSE {INSIDE + 1} END AS cy,
                CASE part WHEN 0 THEN units WHEN 3 THEN first ELSE events END AS value
            FROM weighing CROSS JOIN parts WHERE part > 0 OR cx >= 0{_constants(grouped, stamp)})
        SELECT {place}, CAST(SUM(value) AS BIGINT) AS weight FROM passed GROUP BY {place}"""


def _constants(grouped: bool, stamp: int | None) -> str:
    """Rows that add nothing to each counter, and the stamp after them."""
    if stamp is None:
        return ""
    mark = "-1, -1" if grouped else "-1"
    values = enumerate([0] * len(COUNTERS) + [stamp])
    return "".join(f" UNION ALL SELECT {mark}, {number}, CAST({value} AS BIGINT)" for number, value in values)


def _of_people(weighted: bool, key: str, place: str) -> tuple[str, str, str]:
    """The rows with their keys, the events of each person by cell, and what these weigh."""
    weight = ", CASE WHEN placed THEN weight ELSE 0 END AS weight" if weighted else ""
    keyed = f"SELECT person, {key}{weight} FROM located"
    columns = f"person, {place}{', weight' if weighted else ''}"
    pairs = f"SELECT {columns}, COUNT(*) AS events FROM keyed GROUP BY {columns}"
    whole = f"({UNITS} * weight)" if weighted else f"{UNITS}"
    added = "CAST(events AS DECIMAL(19, 0)) * CAST(weight AS DECIMAL(10, 0))" if weighted else "events"
    total = f"SUM(CASE WHEN cx >= 0 THEN {added} ELSE 0 END) OVER (PARTITION BY person)"
    order = "ROW_NUMBER() OVER (PARTITION BY person ORDER BY CASE WHEN cx >= 0 THEN 0 ELSE 1 END)"
    bounded = f"CASE WHEN sums BETWEEN 1 AND {UNITS * LARGEST_WEIGHT} THEN CAST(sums AS BIGINT) END"
    weighing = f"""SELECT {place}, events, CASE WHEN number = 1 AND cx >= 0 THEN 1 ELSE 0 END AS first,
            CASE WHEN cx >= 0 AND total IS NOT NULL THEN events * {quotient(whole, "total")} ELSE 0 END AS units
            FROM (SELECT *, {bounded} AS total FROM (SELECT *, {total} AS sums, {order} AS number FROM pairs) AS summed)
            AS bounded"""
    return keyed, pairs, weighing


def _of_rows(weighted: bool, key: str, place: str) -> tuple[str, str, str]:
    """The same where each row is a person, who has all W units unless the weight is 0."""
    units = f"CASE WHEN weight > 0 THEN {UNITS} ELSE 0 END" if weighted else f"{UNITS}"
    keyed = f"SELECT {key}, CASE WHEN placed THEN {units} ELSE 0 END AS own FROM located"
    pairs = f"SELECT {place}, SUM(own) AS units, COUNT(*) AS events FROM keyed GROUP BY {place}"
    weighing = f"SELECT {place}, units, events, CASE WHEN cx >= 0 THEN events ELSE 0 END AS first FROM pairs"
    return keyed, pairs, weighing


def with_counters(columns: Mapping[str, Ints]) -> dict[str, Ints]:
    """The rows of the answer with all counters: none comes of a table that has no rows of its kind."""
    there = columns["cy"][columns["cx"] < 0]
    missing = np.setdiff1d(np.arange(len(COUNTERS)), there)
    added = {"cx": np.full(len(missing), -1), "cy": missing, "weight": np.zeros(len(missing), np.int64)}
    if "group_number" in columns:
        added["group_number"] = np.full(len(missing), -1)
    return {name: np.concatenate([columns[name], extra.astype(np.int64)]) for name, extra in added.items()}
