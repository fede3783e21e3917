"""Warehouses, told by hand: the aggregation as text, and its answer as counts. `engines/warehouse.py` does the work."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike

from dpheatmap.curator.aggregate import checked_domain
from dpheatmap.curator.counts import Counts
from dpheatmap.curator.ledger_chain import Part
from dpheatmap.domain import Domain
from dpheatmap.parameters import check

__all__ = ["read_counts", "sql"]


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
    """The aggregation as a statement for a warehouse, to be run there; :func:`read_counts` takes its answer back.

    ``dialect`` is one of bigquery, databricks, duckdb, postgres, redshift, snowflake, spark and trino. The other
    arguments are those of :func:`aggregate`; ``table`` and columns are spelled as they are there.

    >>> import dpheatmap as dph
    >>> text = dph.sql(dph.Domain.unit(6), dialect="bigquery", table="city.trips", user="rider", x="lon", y="lat")
    >>> "COUNT(*) AS row_count" in text
    True
    """
    from dpheatmap.curator.engines.warehouse import statement

    checked_domain(domain)
    chosen = {"user": user, "x": x, "y": y, "weight": weight, "where": where}
    check(dialect=dialect, table=table, each_row_is_a_person=each_row_is_a_person)
    check(**{name: value for name, value in chosen.items() if value is not None or name in ("x", "y")})
    of = Part.of(partition, part)
    return statement(domain, dialect, table, of, each_row_is_a_person=each_row_is_a_person, **chosen)


def read_counts(
    answer: str | PathLike[str],
    domain: Domain,
    *,
    partition: Mapping[str, Sequence[str]] | None = None,
    part: str | None = None,
) -> Counts:
    """The answer of a warehouse to the statement of :func:`sql` for this domain, saved as Parquet, CSV or JSON.

    It is checked as far as that can be done from here: that it is whole and about this place, that rows and people add
    up, and that people weigh at most 1 each. Private, as all counts.
    """
    from dpheatmap.curator.engines.warehouse import read_answer

    return read_answer(answer, checked_domain(domain), Part.of(partition, part))
