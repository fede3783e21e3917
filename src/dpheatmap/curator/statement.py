"""The aggregation as a statement to run in a warehouse by hand, and its answer as counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike

from dpheatmap._util.parameters import check
from dpheatmap.curator.aggregation import public_domain
from dpheatmap.curator.core.counts import Counts
from dpheatmap.curator.read.reading import Reading
from dpheatmap.place.domain import Domain
from dpheatmap.slicing.part import Part


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
    reading = Reading(
        user=user, x=x, y=y, weight=weight, where=where, each_row_is_a_person=each_row_is_a_person,
        partition=partition, part=part,
    )  # fmt: skip
    from dpheatmap.curator.engines.warehouse import statement

    return statement(public_domain(domain), dialect, table, reading)


def read_counts(
    answer: str | PathLike[str],
    domain: Domain,
    *,
    partition: Mapping[str, Sequence[str]] | None = None,
    part: str | None = None,
) -> Counts:
    """Read the answer of a warehouse to the statement of :func:`sql` for this domain.

    It is checked as far as possible: that it is whole and about this place, that rows and people add up, and that
    people weigh at most 1 each.

    Parameters
    ----------
    answer : path
        The answer, saved as Parquet, CSV or JSON.
    domain : Domain
        The place that the statement was made for.
    partition, part
        As for :func:`sql`.

    Returns
    -------
    Counts
        For :func:`release`. Private, as all counts.
    """
    from dpheatmap.curator.engines.warehouse import read_answer

    return read_answer(answer, public_domain(domain), Part.of(partition, part))
