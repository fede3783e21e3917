"""``dpheatmap discover``: a box around people, found privately."""

from __future__ import annotations

from typing import Any

import click

from dpheatmap.cli import terminal
from dpheatmap.cli.ledger_options import BUDGET, budget_from, budget_options, charge_note, warn_of_other_names
from dpheatmap.cli.shared_options import check_place, engine_options, json_option, pop_choices, table_options


@click.command("discover")
@click.argument("file")
@click.option("--epsilon", required=True, help="How much may leak, on top of the release's own: 0.1 or 1/20.")
@table_options
@click.option("--share", type=float, default=0.95, show_default=True, help="How much of people the box is to hold.")
@click.option("--confidence", type=float, default=0.95, show_default=True, help="With which probability it does.")
@budget_options
@click.option("--private-report", metavar="FILE", help="Write exact numbers (rows, people, left out) to this file.")
@engine_options
@click.option("--memory", type=int, metavar="MB", help="Memory of the aggregation; the rest goes to disk.")
@json_option
def command(file: str, private_report: str | None, as_json: bool, **options: Any) -> None:
    """Find a box around the people in FILE, for those who don't know where theirs are.

    x and y are longitude and latitude. The box goes to stdout as the option to give to release; it costs epsilon, and
    so does the release. Example:

    \b
    dpheatmap discover trips.parquet --epsilon 0.1 --user rider --x lon --y lat
    """
    from dpheatmap.curator import RowReport, discover

    if private_report is not None:
        check_place(private_report, read=(file, options["ledger"]))
    budget = budget_from(file, **pop_choices(options, BUDGET))
    warn_of_other_names(file, **budget)
    seen: list[RowReport] = []
    with terminal.progress("Discovering") as tick:
        found = discover(file, progress=tick, seen=seen.append, **options, **budget)
    terminal.say(found.in_words)
    terminal.say(charge_note(found, **budget))
    terminal.answer(as_json, found.to_dict(), found.bbox)
    terminal.tell_private_reports(seen, private_report)
