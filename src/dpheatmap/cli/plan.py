"""``dpheatmap plan``: what to expect, before any data is read."""

from __future__ import annotations

from typing import Any

import click

from dpheatmap.cli.options import PLACE, domain_from, json_option, place_options, taken
from dpheatmap.cli.terminal import answer
from dpheatmap.plan import Plan, length, plan


@click.command("plan")
@click.option("--epsilon", required=True, help="How much may leak: 1 is common, smaller protects more. 0.5 or 1/3.")
@click.option("--users", type=int, required=True, help="A public guess of the number of people.")
@place_options
@click.option(
    "--design", default="adaptive", show_default=True, help="What will be measured: adaptive, paper or dense."
)
@click.option(
    "--width", type=int, default=20, show_default=True, help="Cells kept at each level by the paper's design."
)
@click.option("--places", type=int, help="About how many cells people are in, if that can be said without looking.")
@click.option(
    "--trusted", default="curator", show_default=True, help="Who is: curator, shuffler, servers (one of two) or nobody."
)
@json_option
def command(epsilon: str, users: int, as_json: bool, **options: Any) -> None:
    """Levels, noise, expected error and advice for a release that reads no data yet.

    Example: dpheatmap plan --epsilon 1 --users 5000 --bbox=-74.1,40.6,-73.8,40.9
    """
    made = plan(domain_from(**taken(options, PLACE)), epsilon=epsilon, users=users, **options)
    answer(as_json, made.to_dict(), in_words(made))


def in_words(made: Plan) -> str:
    """The plan as a table and a few sentences."""
    lines = [f"{'level':>5}  {'cell':>16}  {'epsilon':>8}  {'noise (people)':>14}  {'stands out from':>15}"]
    for level in made.levels:
        lines.append(
            f"{level.level:>5}  {length(made.domain, level.cell):>16}  "
            f"{float(level.epsilon):>8.3g}  {level.noise:>14.3g}  {level.smallest_share:>15.2%}"
        )
    side = made.expected_emd * made.domain.longer_side
    lines += ["", f"Expected error: people are misplaced by {length(made.domain, side)} on average."]
    if made.smallest_feature is not None:
        lines.append(
            f"Smallest visible feature: {length(made.domain, made.smallest_feature)}, if it holds 5 % of the people."
        )
    lines.append(made.advice)
    if made.trusted == "curator":
        lines += ["", f"Better: {made.better}. {made.why}", in_theory(made)]
    return "\n".join(lines)


def in_theory(made: Plan) -> str:
    """The bounds in a sentence or two."""

    def sides(bound: float) -> str:
        return f"{bound:.2g} of the side" if bound <= 2 else "nothing yet"

    below = f"; nobody can guarantee less than {made.bounds.lower:.2g}" if made.bounds.lower > 0 else ""
    return (
        f"In theory: for people in few places the paper's design guarantees {sides(made.bounds.sparse)}, for any "
        f"people the dense one {sides(made.bounds.dense)}{below}."
    )
