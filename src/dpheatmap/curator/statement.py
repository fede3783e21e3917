"""The aggregation as a statement to run in a warehouse by hand, and its answer as counts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from os import PathLike
from typing import TYPE_CHECKING, overload

from dpheatmap._util.parameters import check
from dpheatmap.curator.aggregation import public_domain
from dpheatmap.curator.core.counts import Counts
from dpheatmap.curator.read.reading import Reading
from dpheatmap.curator.sliced_counts import SlicedCounts
from dpheatmap.errors import ParameterError
from dpheatmap.place.domain import Domain
from dpheatmap.slicing.part import Part

if TYPE_CHECKING:
    from dpheatmap.curator.read.slice_numbers import Slices


def sql(
    domain: Domain,
    *,
    dialect: str,
    table: str,
    user: str | None = None,
    x: str,
    y: str,
    weight: str | None = None,
    where: str | None = None,
    each_row_is_a_person: bool = False,
    partition: Mapping[str, Sequence[str]] | None = None,
    part: str | None = None,
    time: str | None = None,
    time_type: str | None = None,
    every: str | None = None,
    time_zone: str | None = None,
    start: str | date | None = None,
    end: str | date | None = None,
    group: str | None = None,
    groups: Iterable[str] | None = None,
) -> str:
    """Write the aggregation as a statement to run in a warehouse; :func:`read_counts` reads its answer.

    Parameters
    ----------
    domain : Domain
        The public place.
    dialect : {"bigquery", "databricks", "duckdb", "postgres", "redshift", "snowflake", "spark", "trino"}
        Whose SQL it is.
    table : str
        The table, spelled as it is there; so are all columns.
    user, weight, where, each_row_is_a_person, partition, part
        As for :func:`aggregate`.
    x, y : str
        The columns of the coordinates, which must be numbers.
    time, every, time_zone, start, end, group, groups
        As for :func:`release`, for several slices: the answer has the number of the slice beside the cell.
    time_type : {"instant", "clock", "date", "seconds", "text"}, optional
        What the column of times holds, which can't be seen from here: times with a zone, times without one, dates,
        seconds since 1970, or such as text. In Trino times with or without a zone are refused: they have no exact
        number of microseconds there.

    Returns
    -------
    str
        The statement, below a comment that says what to do with its answer.

    Examples
    --------
    >>> import dpheatmap as dph
    >>> text = dph.sql(dph.Domain.unit(6), dialect="bigquery", table="city.trips", user="rider", x="lon", y="lat")
    >>> "COUNT(*) AS row_count" in text
    True
    """
    check(dialect=dialect, table=table, x=x, y=y)
    if time_type is not None:
        check(time_type=time_type)
    slices = _slices(time, every, time_zone, start, end, group, groups)
    if slices is None and time_type is not None:
        raise ParameterError("time_type is about a column of times. Name it: time (--time).")
    reading = Reading(
        user=user, x=x, y=y, weight=weight, where=where, each_row_is_a_person=each_row_is_a_person,
        partition=partition, part=part,
    )  # fmt: skip
    from dpheatmap.curator.engines.warehouse import statement

    return statement(public_domain(domain), dialect, table, reading, slices, time_type)


@overload
def read_counts(
    answer: str | PathLike[str],
    domain: Domain,
    *,
    partition: Mapping[str, Sequence[str]] | None = None,
    part: str | None = None,
) -> Counts: ...
@overload
def read_counts(
    answer: str | PathLike[str],
    domain: Domain,
    *,
    partition: Mapping[str, Sequence[str]] | None = None,
    part: str | None = None,
    time: str | None = None,
    every: str | None = None,
    time_zone: str | None = None,
    start: str | date | None = None,
    end: str | date | None = None,
    group: str | None = None,
    groups: Iterable[str] | None = None,
) -> Counts | SlicedCounts: ...
def read_counts(
    answer: str | PathLike[str],
    domain: Domain,
    *,
    partition: Mapping[str, Sequence[str]] | None = None,
    part: str | None = None,
    time: str | None = None,
    every: str | None = None,
    time_zone: str | None = None,
    start: str | date | None = None,
    end: str | date | None = None,
    group: str | None = None,
    groups: Iterable[str] | None = None,
) -> Counts | SlicedCounts:
    """Read the answer of a warehouse to the statement of :func:`sql` for this domain.

    It is checked as far as possible: that it is whole and about this place and these slices, that rows and people add
    up, and that people weigh at most 1 each, over all slices together.

    Parameters
    ----------
    answer : path
        The answer, saved as Parquet, CSV or JSON.
    domain : Domain
        The place that the statement was made for.
    partition, part, time, every, time_zone, start, end, group, groups
        As for :func:`sql`.

    Returns
    -------
    Counts or SlicedCounts
        For :func:`release`. Private, as all counts. With ``time`` or ``group``, the counts of all slices.
    """
    slices = _slices(time, every, time_zone, start, end, group, groups)
    from dpheatmap.curator.engines.warehouse import read_answer

    return read_answer(answer, public_domain(domain), Part.of(partition, part), slices)


def _slices(
    time: str | None,
    every: object,
    time_zone: object,
    start: object,
    end: object,
    group: str | None,
    groups: Iterable[str] | None,
) -> Slices | None:
    """The slices that options name, or None if there are none."""
    from dpheatmap.curator.sliced_publish import slices_of

    if all(option is None for option in (time, every, time_zone, start, end, group, groups)):
        return None
    return slices_of(time, every, time_zone, start, end, group, groups)
