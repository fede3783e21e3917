"""The public slices of a reading: every row belongs to one slice of a public axis, or to none and does not count.

Hours, days, images and districts are cases of it. The axis is public, because one found in the data would reveal which
slices occur. A row's slice follows from the row alone: from what its own time column holds, by whole-number arithmetic,
and from its own group column, by comparison with the list. A row without a valid time has no valid place either, and
counts as invalid.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Self

from dpheatmap.curator.core.query import quotient
from dpheatmap.curator.read.clock import CLOCKS, DATES, local_reading, reading_of_column
from dpheatmap.curator.read.sql_text import literal, quote_name
from dpheatmap.curator.read.table import IDS, Table, type_of
from dpheatmap.errors import DataError, PrivacyRefusal
from dpheatmap.slicing.axis import Axis
from dpheatmap.slicing.period import CYCLES, DAY, END, Period

NUMBER = "group_number"
"""The column of a canonical relation that holds the number of a row's slice, or null."""
GROUP, SHOWN, INSTANT = "group_value", "time_shown", "time_instant"
"""The columns that decide the slice: a group's name, what a clock showed, and an instant."""
READING = "time_reading"

Role = Callable[[Table], str]


@dataclass(frozen=True)
class Slices:
    """The axis, and the columns of a table that say where on it a row is."""

    axis: Axis
    time: str | None = None
    group: str | None = None
    alone: int | None = None
    """The only slice that counts, if there is one: rows of the others are as if outside."""

    def only(self, number: int | None) -> Self:
        """The same slices, of which only one counts; all of them if the number is None."""
        return replace(self, alone=number)

    @property
    def columns(self) -> list[str]:
        """The columns that are named."""
        return [name for name in (self.time, self.group) if name is not None]

    def roles(self) -> dict[str, Role]:
        """The roles that a canonical relation has for slices."""
        found: dict[str, Role] = {}
        if self.time is not None:
            found[SHOWN] = lambda of: self._time(of)[0]
            found[INSTANT] = lambda of: self._time(of)[1]
        if self.group is not None:
            found[GROUP] = self._group
        return found

    def number(self, relation: str, columns: Iterable[str]) -> str:
        """Replace the columns of the roles in a relation that has these other columns, too, by `NUMBER`, as SQL."""
        kept = {column: f"events.{column}" for column in columns}
        numbers, joined, period = [], "", self.axis.period
        if period is not None:
            reading = local_reading(SHOWN, INSTANT, period.zone)
            relation = f"SELECT *, {reading} AS {READING} FROM ({relation}) timed"
            numbers.append(_slice_of_time(period, f"events.{READING}"))
            kept["x"] = f"CASE WHEN events.{READING} IS NOT NULL THEN events.x END AS x"
        if self.axis.groups:
            # Names are listed once each, so no event is doubled.
            public = ", ".join(f"({literal(name)}, {number})" for number, name in enumerate(self.axis.groups))
            joined = f" LEFT JOIN (VALUES {public}) listed(name, number) ON events.{GROUP} = listed.name"
            numbers.append(f"listed.number * {len(self.axis.times)}")
        found = f"CAST({' + '.join(numbers)} AS INTEGER)"
        if self.alone is not None:
            found = f"CASE WHEN {found} = {self.alone} THEN {self.alone} END"
        return f"SELECT {', '.join(kept.values())}, {found} AS {NUMBER} FROM ({relation}) events{joined}"

    def _time(self, table: Table) -> tuple[str, str]:
        assert self.time is not None
        assert self.axis.period is not None
        kind = type_of(table, "time", self.time)
        found = reading_of_column(quote_name(self.time), kind, portable=table.portable)
        if found is None:
            raise DataError(
                f"The time column {self.time!r} is of type {kind}, which holds no times. Store times, dates or seconds "
                "since 1970; other engines than files take no text."
            )
        period = self.axis.period
        if period.zone is None and kind not in DATES:
            clocks = "of clocks, whose zone it does not tell" if kind in CLOCKS else "whose hours depend on the zone"
            raise PrivacyRefusal(
                f"The time column {self.time!r} has times {clocks}, and no session's zone is taken for it. Give "
                "time_zone (--time-zone), such as Europe/Zurich."
            )
        if kind in DATES and (period.hours is not None or CYCLES.get(period.every, (DAY,))[0] < DAY):
            raise DataError(
                f"The time column {self.time!r} has dates alone, and slices of hours were asked for. Name a column "
                "with times, or choose day, week, month or weekday (--every)."
            )
        return found

    def _group(self, table: Table) -> str:
        assert self.group is not None
        kind = type_of(table, "group", self.group)
        if kind not in IDS:
            raise DataError(
                f"The group column {self.group!r} is of type {kind}, not text. Name the one with the names."
            )
        return f"CAST({quote_name(self.group)} AS VARCHAR)"


def _slice_of_time(period: Period, reading: str) -> str:
    """The number of a reading's slice, null outside of the public range."""
    low, high = 0 if period.start is None else period.start, END if period.end is None else period.end
    inside = f"{reading} >= {low} AND {reading} < {high}"
    if period.cyclic:
        step, cycle = CYCLES[period.every]
        found = quotient(f"({reading} % {cycle})", str(step))
    elif period.every == "month":
        found = _bisect(reading, [int(edge) for edge in period.edges[1:-1]], 0)
    else:
        found = quotient(f"({reading} - {low})", str(int(period.edges[1] - period.edges[0])))
    return f"CASE WHEN {inside} THEN {found} END"


def _bisect(reading: str, edges: list[int], number: int) -> str:
    """The number of edges that are not above a reading, as a tree of comparisons."""
    if not edges:
        return str(number)
    middle = len(edges) // 2
    below, above = _bisect(reading, edges[:middle], number), _bisect(reading, edges[middle + 1 :], number + middle + 1)
    return f"CASE WHEN {reading} < {edges[middle]} THEN {below} ELSE {above} END"
