"""``dpheatmap plan``: the expected noise and error of a release, before any data is read."""

from __future__ import annotations

from typing import Any

import click

from dpheatmap.cli.shared_options import (
    PLACE,
    domain_from,
    json_option,
    people_share_option,
    place_options,
    pop_choices,
)
from dpheatmap.cli.terminal import answer
from dpheatmap.design.registry import DESIGNS
from dpheatmap.planning.plans import plan


@click.command("plan")
@click.option("--epsilon", required=True, help="How much may leak: 1 is common, smaller protects more. 0.5 or 1/3.")
@click.option("--users", type=int, required=True, help="A public guess of the number of people.")
@place_options
@click.option("--design", default="ladder", show_default=True, help=f"What will be measured: {', '.join(DESIGNS)}.")
@click.option(
    "--width", type=int, default=20, show_default=True, help="Cells kept at each level by the paper's design."
)
@click.option("--places", type=int, help="About how many cells people are in, if that can be said without looking.")
@click.option(
    "--trusted", default="curator", show_default=True, help="Who is: curator, shuffler, servers (one of two) or nobody."
)
@people_share_option
@json_option
def command(epsilon: str, users: int, as_json: bool, **options: Any) -> None:
    """Levels, noise, expected error and advice for a release that reads no data yet.

    Example:

    \b
    dpheatmap plan --epsilon 1 --users 5000 --bbox=-74.1,40.6,-73.8,40.9
    """
    made = plan(domain_from(**pop_choices(options, PLACE)), epsilon=epsilon, users=users, **options)
    answer(as_json, made.to_dict(), str(made))
