"""Trips as events: both ends of a row, or points on the line between them.

**Why a row stays one person's.** The events of a row are a function of that row alone: its two ends, or the public
number of points on the straight line between them. All of them have the person of the row, so `query.py` shares that
person's W units over them as over any other events. Where rows are protected by themselves, each row gets a number of
its own in place of a person. Which number that is depends on the order of reading, but nothing is made of it except
that the events of one row have the same. The numbers must not change between two readings, so the rows are kept.
"""

from __future__ import annotations

from collections.abc import Mapping

from dpheatmap.curator.read.reading import Reading

STEPS = 16
"""Parts of equal length that a path is cut into. Powers of two are exact, so a path begins and ends at its ends."""


def events_of_trips(relation: str, roles: Mapping[str, str], reading: Reading) -> tuple[str, dict[str, str]]:
    """Replace each row of a relation, with to_x and to_y for its end, by its events; returns the new roles, too."""
    others = [role for role in roles if role not in ("x", "y", "to_x", "to_y")]
    trips = f"({relation}) trips"
    if reading.rows_alone:
        trips = f"(SELECT *, ROW_NUMBER() OVER () AS person FROM {trips}) trips"
        others.append("person")
    steps = STEPS if reading.points == "path" else 1
    places = [
        f"CASE WHEN step = 0 THEN {at} WHEN step = {steps} THEN to_{at} ELSE {at} + (to_{at} - {at}) * step / {steps} "
        f"END AS {at}"
        for at in ("x", "y")
    ]
    numbers = ", ".join(f"({step})" for step in range(steps + 1))
    events = f"SELECT {', '.join([*places, *others])} FROM {trips} CROSS JOIN (VALUES {numbers}) steps(step)"
    return events, {role: roles.get(role, role) for role in ("x", "y", *others)}
