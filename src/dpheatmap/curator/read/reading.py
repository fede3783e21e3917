"""The options of reading a table, as one frozen value that is checked once and passed on to the engine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypedDict

from dpheatmap._util.options import option_fields
from dpheatmap._util.parameters import check
from dpheatmap.errors import ParameterError
from dpheatmap.slicing.part import Part


class ReadingOptions(TypedDict, total=False):
    """The options of functions that read a table; `Reading` explains them."""

    user: str | None
    x: str | None
    y: str | None
    to_x: str | None
    to_y: str | None
    points: str | None
    geometry: str | None
    crs: str | None
    numbers: str | None
    weight: str | None
    where: str | None
    each_row_is_a_person: bool
    each_row_is_a_trip: bool
    partition: Mapping[str, Sequence[str]] | None
    part: str | None
    bad_lines: str
    engine: str | None
    table: str | None
    memory: int | None


@dataclass(frozen=True, kw_only=True)
class Reading:
    """The roles of a table's columns, the rows that count, and the engine that reads them.

    Parameters
    ----------
    user : str, optional
        The column that tells whose a row is. Required, unless ``each_row_is_a_person`` or ``each_row_is_a_trip``.
    x, y : str, optional
        The columns of the coordinates: longitude and latitude for a box.
    to_x, to_y : str, optional
        The columns of a trip's end, if ``x`` and ``y`` are those of its start.
    points : {"start", "end", "both", "path"}, optional
        The events that a trip is: its start, its end, both, or 17 points at equal distances on the straight line from
        start to end. A person's weight is shared over all of them.
    geometry : str, optional
        A column of points instead of ``x`` and ``y``. Of GeoParquet and PostGIS it is found if none is named.
    crs : str, optional
        The system of the coordinates, such as "EPSG:2056", if they are not degrees. Only the embedded engine takes one.
    numbers : {"comma", "thousands", "degrees"}, optional
        How coordinates are written as text, if not as 7.45: with decimal commas (7,45 or 2.600.000,5), with separators
        of thousands (2,600,000.5), or as degrees with a letter (73°59'W or 40.7N).
    weight : str, optional
        An integer column: how much an event counts within its person's weight of 1.
    where : str, optional
        A public SQL predicate on single rows, such as ``"day < '2024-07-01'"``.
    each_row_is_a_person : bool, default False
        There is no user column, and every row is another person.
    each_row_is_a_trip : bool, default False
        There is no user column, and every row is a trip. Trips are protected then, not the people who made several, and
        the label says so.
    partition : mapping of str to list of str, optional
        A public partition of people, ``{"district": ["north", "south"]}``: the column's value must be a function of
        the person, and whoever has rows with two values is left out whole.
    part : str, optional
        The value of the ``partition`` whose people are kept.
    bad_lines : {"stop", "skip"}, default "stop"
        What a broken line of CSV or JSON does: stop the reading, or be left out.
    engine : {"duckdb", "spark"}, optional
        Who counts: DuckDB by default; with "spark", ``events`` may be a table's name or paths that Spark reads.
    table : str, optional
        The table of a database or of a SQLite file, the sheet of a workbook, or the layer of a GeoPackage.
    memory : int, optional
        A bound on the embedded engine's memory, in megabytes; what does not fit goes to disk.
    """

    user: str | None = None
    x: str | None = None
    y: str | None = None
    to_x: str | None = None
    to_y: str | None = None
    points: str | None = None
    geometry: str | None = None
    crs: str | None = None
    numbers: str | None = None
    weight: str | None = None
    where: str | None = None
    each_row_is_a_person: bool = False
    each_row_is_a_trip: bool = False
    partition: Mapping[str, Sequence[str]] | None = None
    part: str | None = None
    bad_lines: str = "stop"
    engine: str | None = None
    table: str | None = None
    memory: int | None = None
    people: Part | None = field(init=False, default=None)
    """The part of the population that ``partition`` and ``part`` name."""

    def __post_init__(self) -> None:
        """Refuse everything that can be refused before a table is opened."""
        always = ("each_row_is_a_person", "each_row_is_a_trip", "bad_lines")
        given = {name: getattr(self, name) for name in option_fields(Reading) if name not in ("partition", "part")}
        check(**{name: value for name, value in given.items() if value is not None or name in always})
        missing = [name for name in ("x", "y") if getattr(self, name) is None]
        if self.geometry is not None and len(missing) < 2:
            raise ParameterError(
                "Either x and y name the coordinates, or geometry does, and both were given. Choose one."
            )
        if len(missing) == 1:
            raise ParameterError(f"{missing[0]} must name a column; none was given. Run dpheatmap inspect.")
        self._check_trips()
        if self.crs is not None:
            from dpheatmap.curator.read.coordinate_system import check_system

            check_system(self.crs)
        if self.partition is not None or self.part is not None:
            object.__setattr__(self, "people", Part.of(self.partition, self.part))

    def _check_trips(self) -> None:
        ends = [name for name in ("to_x", "to_y") if getattr(self, name) is not None]
        if self.points in (None, "start") and ends:
            raise ParameterError(
                f"{ends[0]} is of a trip's end, and points tells whether it counts. Say points='end', 'both' or 'path' "
                "(--points)."
            )
        if self.points not in (None, "start") and (len(ends) < 2 or self.x is None):
            raise ParameterError(
                f"points={self.points!r} needs the columns of a trip's start and end. Name x, y, to_x and to_y."
            )
        if self.each_row_is_a_person and self.each_row_is_a_trip:
            raise ParameterError("A row is either another person or another trip, and both were said. Choose one.")

    @property
    def rows_alone(self) -> bool:
        """Whether there is no user column, and every row is protected by itself."""
        return self.each_row_is_a_person or self.each_row_is_a_trip

    @property
    def several_points(self) -> bool:
        """Whether a row is more than one event."""
        return self.points in ("both", "path")

    @property
    def unit(self) -> str:
        """What is protected, as the label calls it."""
        return "trip" if self.each_row_is_a_trip else "row" if self.each_row_is_a_person else "person"

    @property
    def columns(self) -> list[str]:
        """The columns that are named, except those of ``where``."""
        partition = self.people and self.people.column
        named = [self.user, self.x, self.y, self.to_x, self.to_y, self.geometry, self.weight, partition]
        return [name for name in named if name is not None]

    @property
    def given(self) -> list[str]:
        """The options that differ from their defaults."""
        return [name for name, one in option_fields(Reading).items() if getattr(self, name) != one.default]
