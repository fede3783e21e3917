"""``dpheatmap sql``: the aggregation as SQL text, to be run by hand in a warehouse."""

from __future__ import annotations

from typing import Any

import click

from dpheatmap.cli import terminal
from dpheatmap.cli.ledger_options import partition_from
from dpheatmap.cli.shared_options import PLACE, column_options, domain_from, json_option, place_options, pop_choices
from dpheatmap.cli.slice_options import axis_from, axis_options


@click.command("sql")
@click.option(
    "--dialect", required=True, help="bigquery, databricks, duckdb, postgres, redshift, snowflake, spark or trino."
)
@click.option("--table", default="trips", show_default=True, metavar="NAME", help="The table, as it is called there.")
@column_options
@place_options
@click.option(
    "--partition", metavar="COLUMN=V1,V2,...",
    help="A public list of values that part people, not rows: one value a person.",
)  # fmt: skip
@click.option("--part", metavar="V", help="The people of this value alone.")
@axis_options
@click.option(
    "--time-type", metavar="TYPE",
    help="What the column of --time holds there: instant (times with a zone), clock (times without one), date, seconds "
    "(since 1970) or text.",
)  # fmt: skip
@json_option
def command(as_json: bool, partition: str | None, x: str | None, y: str | None, **rest: Any) -> None:
    """Print the aggregation as SQL, with a comment on what to do with the answer.

    Reads no data. Run it in your warehouse, save the answer as Parquet or CSV, and release that. Example:

    \b
    dpheatmap sql --dialect bigquery --table city.trips --user rider --x lon --y lat --bbox=-74.1,40.6,-73.8,40.9

    With --time or --group it is about several slices. Give the same options to dpheatmap release.
    """
    from dpheatmap.curator import sql

    domain = domain_from(**pop_choices(rest, PLACE))
    if x is None or y is None:
        raise click.UsageError("Name the columns of the coordinates with --x and --y.")
    slices = axis_from(rest) or {}
    text = sql(domain, x=x, y=y, partition=partition_from(partition), **rest, **slices)
    terminal.answer(as_json, {"dialect": rest["dialect"], "sql": text}, text)
