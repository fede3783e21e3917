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
from dpheatmap.cli.slice_options import names_from, range_options
from dpheatmap.cli.terminal import answer
from dpheatmap.design.privacy_loss import DEFAULT_DELTA
from dpheatmap.design.registry import DESIGNS
from dpheatmap.planning.plans import plan
from dpheatmap.planning.release_series import plan_releases


@click.command("plan")
@click.option("--epsilon", help="How much may leak: 1 is common, smaller protects more. 0.5 or 1/3.")
@click.option("--releases", type=int, metavar="N", help="For a plan of many releases about the same people: how many.")
@click.option("--limit", help="With --releases, the epsilon of all of them together.")
@click.option("--delta", help="With --releases, the delta of all of them together; 1e-6 if left out.")
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
@range_options
@click.option("--slices", type=int, metavar="N", help="The number of slices of time, instead of --every.")
@click.option("--groups", metavar="NAMES", help="The public list of groups, separated by commas.")
@click.option("--groups-file", metavar="FILE", help="A file with the public list, one name a line.")
@json_option
def command(
    epsilon: str | None,
    releases: int | None,
    limit: str | None,
    delta: str | None,
    users: int,
    groups: str | None,
    groups_file: str | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Levels, noise, expected error and advice for a release that reads no data yet.

    With --every, --slices or --groups, also how slices will be measured, and the expected error of each. Example:

    \b
    dpheatmap plan --epsilon 1 --users 5000 --bbox=-74.1,40.6,-73.8,40.9

    With --releases and --limit, which noise many releases about the same people should have, and how much each:

    \b
    dpheatmap plan --releases 52 --limit 1 --users 100000 --bbox=-74.1,40.6,-73.8,40.9
    """
    domain = domain_from(**pop_choices(options, PLACE))
    if releases is not None or limit is not None:
        if releases is None or limit is None or epsilon is not None:
            raise click.UsageError("--releases and --limit go together, without --epsilon.")
        if groups or groups_file or any(options[name] is not None for name in ("every", "slices")):
            raise click.UsageError(
                "--releases is about single maps, and slices have a plan of their own. Leave one out."
            )
        many = plan_releases(domain, releases=releases, limit=limit, users=users, delta=delta or DEFAULT_DELTA)
        answer(as_json, many.to_dict(), str(many))
        return
    if epsilon is None:
        raise click.UsageError("Missing option '--epsilon'.")
    if delta is not None:
        raise click.UsageError("--delta goes with --releases and --limit.")
    if groups is not None or groups_file is not None:
        options["groups"] = names_from(groups, groups_file, "groups")
    made = plan(domain, epsilon=epsilon, users=users, **options)
    answer(as_json, made.to_dict(), str(made))
