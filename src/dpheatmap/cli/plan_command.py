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
from dpheatmap.cli.slice_options import range_options
from dpheatmap.cli.terminal import answer
from dpheatmap.design.registry import DESIGNS
from dpheatmap.errors import ParameterError
from dpheatmap.planning.plans import plan
from dpheatmap.planning.slice_plans import plan_slices
from dpheatmap.slicing.period import Period


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
@range_options
@click.option("--slices", type=int, metavar="N", help="The number of slices of time, instead of --every.")
@json_option
def command(
    epsilon: str,
    users: int,
    every: str | None,
    start: str | None,
    end: str | None,
    slices: int | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Levels, noise, expected error and advice for a release that reads no data yet.

    With --every or --slices, also how slices of time will be measured. Groups are measured each by itself: plan one
    with the people of it. Example:

    \b
    dpheatmap plan --epsilon 1 --users 5000 --bbox=-74.1,40.6,-73.8,40.9
    """
    domain = domain_from(**pop_choices(options, PLACE))
    many = _number_of_slices(every, start, end, slices)
    if many is None:
        made = plan(domain, epsilon=epsilon, users=users, **options)
        answer(as_json, made.to_dict(), str(made))
    else:
        sliced = plan_slices(domain, epsilon=epsilon, users=users, slices=many, **options)
        answer(as_json, sliced.to_dict(), str(sliced))


def _number_of_slices(every: str | None, start: str | None, end: str | None, slices: int | None) -> int | None:
    """The number of slices that the options name, or None without slices."""
    if every is not None and slices is not None:
        raise ParameterError("--every and --slices both tell the number of slices. Keep one of them.")
    if every is not None:
        return len(Period.of(every, None, start, end).labels)
    if start is not None or end is not None:
        raise ParameterError("--from and --to are the range of slices of time. Say what a slice is: --every.")
    return slices
