"""The public slices of a reading: every row belongs to one slice of a public axis, or to none and does not count.

Hours, days, images and districts are cases of it. The axis is public, because one found in the data would reveal which
slices occur. A row's slice follows from the row alone: from what its own time column holds, by whole-number arithmetic,
and from its own group column, by comparison with the list. A row without a valid time has no valid place either, and
counts as invalid.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Self

from dpheatmap.curator.core.query import quotient
from dpheatmap.curator.read.clock import CLOCKS, DATES, UNWRITTEN, Reading, local_time, reading_of_column
from dpheatmap.curator.read.sql_text import STEP, literal, quote_name
from dpheatmap.curator.read.table import IDS, Table, type_of
from dpheatmap.curator.read.text_times import text_steps
from dpheatmap.errors import DataError, PrivacyRefusal
from dpheatmap.slicing.axis import Axis
from dpheatmap.slicing.period import CYCLES, DAY, Period

NUMBER, LISTED = "group_number", "is_listed"
"""The column of a canonical relation that holds the number of a row's slice, or null, and the one which says whether it
has one. Who only counts rows reads the second, which takes no arithmetic of clocks."""
GROUP, SHOWN, INSTANT, TEXT = "group_value", "time_shown", "time_instant", "time_text"
"""The columns that decide the slice: a group's name, what a clock showed, an instant, and a time as text."""
READING, TIMED, WITHIN = "time_reading", "is_timed", "is_within"
_EVENTS = f"{STEP}_events"

Role = Callable[[Table], str]


@dataclass(frozen=True)
class Slices:
    """The axis, and the columns of a table that say where on it a row is."""

    axis: Axis
    time: str | None = None
    group: str | None = None
    alone: int | None = None
    """The only slice that counts, if there is one: rows of the others are as if outside."""
    declared: str | None = None
    """The type of the time column, as DuckDB calls it, where the table's own types are not known."""

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
            found |= {
                SHOWN: lambda of: self._time(of).shown,
                INSTANT: lambda of: self._time(of).instant,
                TEXT: lambda of: self._time(of).text,
            }
        if self.group is not None:
            found[GROUP] = self._group
        return found

    def refuse_types(self, types: Mapping[str, str]) -> None:
        """Refuse columns of a file by their types alone, as reading them would; the types are those of DuckDB."""
        if self.time is not None and self.time in types:
            self._reading_of(types[self.time], portable=False)
        if self.group is not None and self.group in types:
            self._name_of(types[self.group])

    def number(self, relation: str, roles: Mapping[str, str]) -> str:
        """Replace the columns of slices by `NUMBER` in a relation that has a column for each of the roles, as SQL."""
        kept = {column: f"{_EVENTS}.{column}" for column in roles if column not in self.roles()}
        numbers, listed, joined, period = [], [], "", self.axis.period
        if period is not None:
            shown, instant = SHOWN, INSTANT
            if roles[TEXT] != UNWRITTEN:
                relation = text_steps(relation, TEXT, "text_shown", "text_instant")
                both = f"COALESCE({SHOWN}, text_shown) AS any_shown, COALESCE({INSTANT}, text_instant) AS any_instant"
                relation, shown, instant = f"SELECT *, {both} FROM ({relation}) {STEP}_text", "any_shown", "any_instant"
            low, high = period.range
            time = local_time(shown, instant, period.zone, low, high)
            known = f"COALESCE({shown}, {instant}) IS NOT NULL AS {TIMED}, {time.within} AS {WITHIN}"
            relation = f"SELECT *, {time.reading} AS {READING}, {known} FROM ({relation}) {STEP}_zone"
            numbers.append(_slice_of_time(period, f"{_EVENTS}.{READING}"))
            listed.append(f"{_EVENTS}.{WITHIN}")
            kept["x"] = f"CASE WHEN {_EVENTS}.{TIMED} THEN {_EVENTS}.x END AS x"
        if self.axis.groups:
            # Names are listed once each, so no event is doubled.
            public = ", ".join(f"({literal(name)}, {number})" for number, name in enumerate(self.axis.groups))
            joined = f" LEFT JOIN (VALUES {public}) listed(name, number) ON {_EVENTS}.{GROUP} = listed.name"
            numbers.append(f"listed.number * {len(self.axis.times)}")
            listed.append("listed.number IS NOT NULL")
        found, there = f"CAST({' + '.join(numbers)} AS INTEGER)", " AND ".join(listed)
        if self.alone is not None:
            there = f"CASE WHEN {there} THEN {found} = {self.alone} ELSE FALSE END"
        chosen = [*kept.values(), f"CASE WHEN {there} THEN {found} END AS {NUMBER}", f"{there} AS {LISTED}"]
        return f"SELECT {', '.join(chosen)} FROM ({relation}) {_EVENTS}{joined}"

    def _time(self, table: Table) -> Reading:
        assert self.time is not None
        kind = type_of(table, "time", self.time) if self.declared is None else self.declared
        return self._reading_of(kind, portable=table.portable)

    def _reading_of(self, kind: str, *, portable: bool) -> Reading:
        assert self.time is not None
        assert self.axis.period is not None
        found = reading_of_column(quote_name(self.time), kind, portable=portable)
        if found is None:
            raise DataError(
                f"The time column {self.time!r} is of type {kind}, which holds no times. Name a column of times, "
                "dates, seconds since 1970, or text that tells them."
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
        return self._name_of(type_of(table, "group", self.group))

    def _name_of(self, kind: str) -> str:
        assert self.group is not None
        if kind not in IDS:
            raise DataError(
                f"The group column {self.group!r} is of type {kind}, not text. Name the one with the names."
            )
        return f"CAST({quote_name(self.group)} AS VARCHAR)"


def _slice_of_time(period: Period, reading: str) -> str:
    """The number of a reading's slice, within the public range.

    A reading in a cycle is below 2^40. Its quotient as a float is below the next whole number as long as its true one
    is, because that is further away than floats are rounded.
    """
    if period.cyclic:
        step, cycle = CYCLES[period.every]
        return f"FLOOR(CAST({reading} % {cycle} AS DOUBLE) / CAST('{step}' AS DOUBLE))"
    if period.every == "month":
        return _bisect(reading, [int(edge) for edge in period.edges[1:-1]], 0)
    return quotient(f"({reading} - {period.range[0]})", str(int(period.edges[1] - period.edges[0])))


def _bisect(reading: str, edges: list[int], number: int) -> str:
    """The number of edges that are not above a reading, as a tree of comparisons."""
    if not edges:
        return str(number)
    middle = len(edges) // 2
    below, above = _bisect(reading, edges[:middle], number), _bisect(reading, edges[middle + 1 :], number + middle + 1)
    return f"CASE WHEN {reading} < {edges[middle]} THEN {below} ELSE {above} END"
