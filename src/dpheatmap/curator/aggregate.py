"""People's events to counts: one door for one place, and one for several images of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from dpheatmap.budget import UNITS
from dpheatmap.curator.counts import Counts
from dpheatmap.curator.ledger_chain import Part
from dpheatmap.domain import Domain
from dpheatmap.errors import ParameterError, PrivacyRefusal
from dpheatmap.parameters import check

OPTIONAL = ("user", "x", "y", "geometry", "weight", "where")


def aggregate(
    events: Any,
    domain: Domain,
    *,
    user: str | None = None,
    x: str | None = None,
    y: str | None = None,
    geometry: str | None = None,
    weight: str | None = None,
    where: str | None = None,
    each_row_is_a_person: bool = False,
    partition: Mapping[str, Sequence[str]] | None = None,
    part: str | None = None,
    bad_lines: str = "stop",
    engine: str | None = None,
    table: str | None = None,
    memory: int | None = None,
    progress: Callable[[float, float], None] | None = None,
) -> Counts:
    """People's events to integer weights per cell. The result is private: it holds exact counts.

    ``events`` is a path, glob or folder (CSV, Parquet, GeoParquet, JSON), a pandas, Polars or Arrow table, a DuckDB
    relation, a Spark data frame, or the URL of a PostgreSQL database with the name of a ``table`` there; with
    ``engine="spark"`` it is the name of a table that Spark knows, or paths that it reads. ``user`` names the column
    that tells whose a row is, ``x`` and ``y`` the coordinates (longitude and latitude for a box), or ``geometry`` a
    column of points; of GeoParquet and PostGIS that is found if none is named. ``weight`` names an integer column;
    ``where`` is a public predicate on single rows. ``bad_lines`` of text "stop" the reading, or "skip" leaves them out.
    ``memory`` bounds the embedded engine, in megabytes. ``progress`` is called while the query runs, with the part done
    (below 0 if unknown) and the seconds gone by.

    ``partition={"district": ["north", "south"]}, part="north"`` keeps the people of one part: the column's value must
    be a function of the person, and whoever has rows with two values is left out whole.
    """
    return aggregate_pictures(
        events, domain, user=user, x=x, y=y, geometry=geometry, weight=weight, where=where,
        each_row_is_a_person=each_row_is_a_person, partition=partition, part=part, bad_lines=bad_lines, engine=engine,
        table=table, memory=memory, progress=progress,
    )[0]  # fmt: skip


def aggregate_pictures(
    events: Any,
    domain: Domain,
    *,
    image: str | None = None,
    images: Sequence[str] = ("",),
    partition: Mapping[str, Sequence[str]] | None = None,
    part: str | None = None,
    bad_lines: str = "stop",
    engine: str | None = None,
    table: str | None = None,
    memory: int | None = None,
    progress: Callable[[float, float], None] | None = None,
    **columns: Any,
) -> list[Counts]:
    """The counts of each listed image, or of the one place if no column names images; columns as for `aggregate`.

    Together they keep the contract of `Counts`: adding one person's data adds non-negative integers to all of them
    whose sum is at most W. The report, over all of them, is the same in each.
    """
    from dpheatmap.curator.engines import RowReport, opened
    from dpheatmap.curator.events import canonical
    from dpheatmap.curator.query import COUNTERS, aggregation
    from dpheatmap.curator.read.question import Question

    checked_domain(domain)
    columns = {**dict.fromkeys(OPTIONAL), "each_row_is_a_person": False, **columns}
    check(bad_lines=bad_lines)
    reading: dict[str, Any] = {"engine": engine, "table": table, "memory": memory}
    check(**{name: v for name, v in {**reading, **columns}.items() if v is not None or name == "each_row_is_a_person"})
    _check_coordinates(**{name: columns[name] for name in ("x", "y", "geometry")})
    chosen = Part.of(partition, part)
    question = Question.of(columns, image, None if chosen is None else chosen.column)
    with opened(events, question=question, bad_lines=bad_lines, **reading) as source:
        degrees = domain.kind == "bbox"
        relation = canonical(source.table, image=image, images=images, part=chosen, degrees=degrees, **columns)
        relation, reading_seconds = source.keep(relation, progress)
        weighted, alone = columns["weight"] is not None, columns["each_row_is_a_person"]
        pictures = image is not None
        sql = aggregation(relation, domain, weighted=weighted, each_row_is_a_person=alone, pictures=pictures)
        answer, seconds = source.run(sql, pictures, progress)
        broken, empty = source.lines_left_out()
    seconds += reading_seconds
    counters = dict(zip(COUNTERS, answer.counters, strict=True))
    report = RowReport(**counters, seconds=seconds, broken_lines=broken, empty_lines=empty)
    found = answer.counts(domain, len(images))
    _verify(found, report)
    return [replace(counts, part=chosen, report=report) for counts in found]


def _check_coordinates(x: str | None, y: str | None, geometry: str | None) -> None:
    """Refuse one coordinate alone, and coordinates twice."""
    missing = [name for name, column in (("x", x), ("y", y)) if column is None]
    if geometry is not None and len(missing) < 2:
        raise ParameterError("Either x and y name the coordinates, or geometry does, and both were given. Choose one.")
    if len(missing) == 1:
        raise ParameterError(f"{missing[0]} must name a column; none was given. Run dpheatmap inspect.")


def checked_domain(domain: object) -> Domain:
    """The public domain, or the refusal to go on without one."""
    if not isinstance(domain, Domain):
        raise PrivacyRefusal(
            "No public domain was given, and one taken from the data would tell where people are. "
            "Make one with Domain.bbox, Domain.image or Domain.unit."
        )
    return domain


def _verify(counts: Sequence[Counts], report: Any) -> None:
    """Stop if the query broke its contract: this is about the engine, not about the data."""
    adds_up = report.rows == report.without_person + report.invalid + report.outside + report.inside
    if not adds_up or sum(of_image.total for of_image in counts) > UNITS * report.people:
        raise AssertionError("the aggregation broke its contract: rows or weights don't add up; please report this")
