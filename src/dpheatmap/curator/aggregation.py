"""Aggregation of people's events to counts, for one place or for several groups of events there."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Unpack

from dpheatmap._util.options import shows_options, take_options
from dpheatmap.curator.core.counts import Counts
from dpheatmap.curator.core.row_report import RowReport
from dpheatmap.curator.read.reading import Reading, ReadingOptions
from dpheatmap.design.shares import UNITS
from dpheatmap.errors import ParameterError, PrivacyRefusal
from dpheatmap.place.domain import Domain

if TYPE_CHECKING:
    from dpheatmap.curator.read.slice_numbers import Slices

Progress = Callable[[float, float], None]


@shows_options(Reading)
def aggregate(
    events: Any, domain: Domain, *, progress: Progress | None = None, **options: Unpack[ReadingOptions]
) -> Counts:
    """Aggregate people's events to integer weights per cell. The result is private: it holds exact counts.

    Parameters
    ----------
    events : path, data frame, relation or URL
        A path, glob or folder (CSV, Parquet, JSON, Excel, GeoJSON, GPX and more), a pandas, Polars or Arrow table, a
        DuckDB relation, a Spark data frame, or the URL of a PostgreSQL database.
    domain : Domain
        The public place.
    progress : callable, optional
        Called while the query runs, with the part done (below 0 if unknown) and the seconds gone by.
    **options
        How the table is read.

    Returns
    -------
    Counts
        For :func:`release`, any number of times. Never publish it.

    Examples
    --------
    >>> import dpheatmap as dph
    >>> from dpheatmap.testing import generated_people
    >>> counts = dph.aggregate(generated_people(100), dph.Domain.unit(6), user="person", x="x", y="y")
    >>> counts
    <Counts of a unit domain, private: 1073741824 units a person>
    """
    return count(events, domain, take_options(Reading, options, "aggregate"), progress=progress)[0]


def count(
    events: Any,
    domain: Domain,
    reading: Reading,
    *,
    slices: Slices | None = None,
    progress: Progress | None = None,
) -> list[Counts]:
    """The counts of each slice, or of the one place if there are none.

    Together they keep the contract of `Counts`: adding one person's data adds non-negative integers to all of them
    whose sum is at most W. The report, over all of them, is the same in each.
    """
    from dpheatmap.curator.core.query import COUNTERS, mapped_rows
    from dpheatmap.curator.engines import open_events
    from dpheatmap.curator.engines.answer import AddedUp, Answer, cells_to_add_up
    from dpheatmap.curator.read.canonical import canonical_relation
    from dpheatmap.curator.read.frames import with_own_columns
    from dpheatmap.curator.remarks import doubt_columns

    public_domain(domain)
    if reading.crs is not None and not domain.geographic:
        raise ParameterError(
            f"crs is the system of coordinates on the ground, and the place is {domain.place.words}. Leave it out."
        )
    reading = with_own_columns(events, reading)
    with open_events(events, reading, slices) as source:
        doubt_columns(source.table, reading, domain)
        relation = canonical_relation(source.table, reading, slices=slices, degrees=domain.geographic)
        grouped, groups = slices is not None, 1 if slices is None else len(slices.axis.labels)
        roles: dict[str, Any] = {
            "weighted": reading.weight is not None,
            "each_row_is_a_person": reading.rows_alone and not reading.several_points,
            "grouped": grouped,
        }
        kept_seconds = 0.0
        if source.keep is not None and domain.runs is not None:
            relation, kept_seconds = source.keep(mapped_rows(relation, domain, **roles), domain.runs, progress)
            roles["mapped"] = True
        elif source.keep is not None and source.read_once:
            relation, kept_seconds = source.keep(relation, None, progress)
        cells = cells_to_add_up(domain, groups)
        answer: Answer | AddedUp
        if source.add_up is not None and grouped and cells is not None:
            sql = source.statement(relation, domain, **roles, summed=False)
            answer, seconds = source.add_up(sql, len(COUNTERS) + cells, progress)
        else:
            answer, seconds = source.run(source.statement(relation, domain, **roles), grouped, progress)
        broken, empty = source.lines_left_out()
        unit = source.table.units.get(reading.user or "", reading.unit)
    seconds += kept_seconds
    counters = dict(zip(COUNTERS, answer.counters, strict=True))
    report = RowReport(**counters, seconds=seconds, broken_lines=broken, empty_lines=empty)
    found = answer.counts(domain, groups)
    _verify(found, report)
    return [replace(counts, part=reading.people, report=report, unit=unit) for counts in found]


def public_domain(domain: object) -> Domain:
    """Check that a domain is given, and return it."""
    if not isinstance(domain, Domain):
        raise PrivacyRefusal(
            "No public domain was given, and one taken from the data would tell where people are. "
            "Make one with Domain.bbox, Domain.polygon, Domain.image or Domain.unit."
        )
    return domain


def _verify(counts: Sequence[Counts], report: RowReport) -> None:
    """Stop if the query broke its contract, which would be a fault of the engine and not of the data."""
    adds_up = report.rows == report.without_person + report.invalid + report.outside + report.inside
    if not adds_up or sum(of_group.total for of_group in counts) > UNITS * report.people:
        raise AssertionError("the aggregation broke its contract: rows or weights don't add up; please report this")
