"""``dpheatmap series``: a release a day about the same people, within one limit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from dpheatmap._util.parameters import check
from dpheatmap.cli import terminal
from dpheatmap.cli.coast_hint import hint_at_coast
from dpheatmap.cli.ledger_options import charge_note, open_ledger, warn_of_other_names
from dpheatmap.cli.output_files import MAPS
from dpheatmap.cli.release_command import save_maps
from dpheatmap.cli.shared_options import (
    PLACE,
    check_maps,
    check_outputs,
    check_place,
    domain_from,
    engine_options,
    json_option,
    look_from,
    map_options,
    place_options,
    pop_choices,
    table_options,
)
from dpheatmap.errors import ParameterError
from dpheatmap.heatmap.combination import combine
from dpheatmap.heatmap.heatmap import Heatmap
from dpheatmap.render import refuse_release

if TYPE_CHECKING:
    from dpheatmap.curator import DailyReleases, RowReport


folder_argument = click.argument("folder")
ledger_option = click.option(
    "--ledger", metavar="FILE|URL", help="The ledger; by default DPHEATMAP_LEDGER, or a file in your data folder."
)


@click.group("series")
def command() -> None:
    """A release a day about the same people, within one limit whatever happens.

    FOLDER holds the plan and the releases. All of it is public.
    """


@command.command(short_help="Plan the days, and reserve all of them in the ledger.")
@folder_argument
@click.option("--from", "first", required=True, metavar="DAY", help="The first day, such as 2024-06-01.")
@click.option("--days", required=True, type=int, metavar="N", help="The number of days, up to 1000.")
@click.option("--limit", required=True, help="The epsilon of all days together.")
@click.option("--delta", help="The delta of all days together, such as 1e-6. Without it the promise is pure.")
@click.option("--users", required=True, type=int, help="A public guess of the number of people of a day.")
@ledger_option
@click.option("--population", required=True, metavar="NAME", help="The people, who must have a limit in the ledger.")
@click.option(
    "--reserved", type=int, metavar="N", help="Take over what entry N of the ledger reserved, if it is the same series."
)
@place_options
@json_option
def start(
    folder: str,
    first: str,
    days: int,
    limit: str,
    delta: str | None,
    users: int,
    ledger: str | None,
    population: str,
    reserved: int | None,
    as_json: bool,
    **place: Any,
) -> None:
    """Plan a release a day, and reserve all of them in the ledger.

    The limit is spent in full at once, so that no other release takes a day's part. With --delta, days have Gaussian
    noise where that is better. Example:

    \b
    dpheatmap ledger limit city.ledger --population riders --epsilon 1 --delta 1e-6
    dpheatmap series start june --from 2024-06-01 --days 30 --limit 1 --delta 1e-6 --users 5000 \\
      --ledger city.ledger --population riders --bbox=-74.1,40.6,-73.8,40.9
    """
    from dpheatmap.curator import DailyReleases

    domain, opened = domain_from(**pop_choices(place, PLACE)), open_ledger(ledger)
    made = DailyReleases.start(
        folder, domain, first=first, days=days, limit=limit, delta=delta, users=users, ledger=opened,
        population=population, series=reserved,
    )  # fmt: skip
    terminal.say(f"Reserved as series {made.entry.number}: {opened.accounts()[population].in_words()}.")
    terminal.answer(as_json, _facts(made), str(made.plan))


@command.command(
    short_help="Release a day with its part of the limit.", context_settings={"default_map": {"bad_lines": "skip"}}
)
@folder_argument
@click.argument("file")
@click.option("--day", required=True, metavar="DAY", help="The day that FILE, or what --where leaves of it, is about.")
@ledger_option
@click.option("--again", is_flag=True, help="Pay for a lost release again; it takes the part of another day.")
@table_options
@engine_options
@click.option("--memory", type=int, metavar="MB", help="Memory of the aggregation; the rest goes to disk.")
@click.option("--private-report", metavar="FILE", help="Write exact numbers (rows, people, left out) to this file.")
@json_option
def release(
    folder: str,
    file: str,
    day: str,
    ledger: str | None,
    again: bool,
    private_report: str | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Release a day with its part of the limit, into FOLDER.

    FILE must hold the rows of that day, or --where must choose them. A day is released once. Example:

    \b
    dpheatmap series release june trips --where "day = '2024-06-03'" --day 2024-06-03 --ledger city.ledger \\
      --user rider --x lon --y lat
    """
    from dpheatmap.curator import DailyReleases

    days, opened = DailyReleases(folder), open_ledger(ledger)
    path = str(days.path_of(day))
    if private_report is not None:
        check_place(private_report, read=(file, ledger, path))
    population = days.population_in(opened)
    warn_of_other_names(file, opened, population)
    seen: list[RowReport] = []
    with terminal.progress("Releasing") as tick:
        made = days.release(file, day=day, ledger=opened, again=again, seen=seen.append, progress=tick, **options)
    terminal.tell_private_reports(seen, private_report)
    terminal.say(made.label["how_strongly"])
    terminal.say(charge_note(made, opened, population))
    terminal.answer(as_json, {**_facts(days), "label": dict(made.label), "output": path}, path)


@command.command("map", short_help="Map all days so far, or one of them; costs no budget.")
@folder_argument
@map_options
@click.option("--day", metavar="DAY", help="Map this day, read with the help of the others as far as they are alike.")
@json_option
def draw(
    folder: str,
    outputs: tuple[str, ...],
    sigma: float | None,
    size: int | None,
    method: str,
    values: str,
    day: str | None,
    as_json: bool,
    **choices: Any,
) -> None:
    """Map all days so far together, or one day with the help of the others. It costs no budget. Examples:

    \b
    dpheatmap series map june -o june.html
    dpheatmap series map june --day 2024-06-03 -o monday.png
    """
    from dpheatmap.curator import DailyReleases

    check(values=values, **{n: v for n, v in (("sigma", sigma), ("size", size)) if v is not None})
    if method != "posterior":
        raise ParameterError(f"Days are put together by the method 'posterior'; it was {method!r}. Leave it out.")
    check_outputs(outputs, MAPS.formats, read=(choices["background"],))
    for output in outputs:
        refuse_release(output)
    days = DailyReleases(folder)
    look = look_from(choices, outputs)
    check_maps(days.plan.domain, outputs, look)
    with terminal.progress("Drawing"):
        written = save_maps(_heatmap(days, day, sigma=sigma, size=size), outputs, look, values=values)
    hint_at_coast(days.plan.domain, outputs, look)
    terminal.answer(as_json, {"outputs": written}, "\n".join(written))


def _heatmap(days: DailyReleases, day: str | None, **settings: Any) -> Heatmap:
    """The map of all days so far, or of one with the others as its prior."""
    found = days.releases
    if day is not None:
        own = found.pop(days.plan.day(day), None)
        if own is None:
            raise ParameterError(f"{days.path_of(day)} is not there. Release the day first.")
        return own.heatmap(prior=list(found.values()) or None, **settings)
    if not found:
        raise ParameterError("No day was released yet. Release one by dpheatmap series release.")
    if len(found) == 1:
        return next(iter(found.values())).heatmap(**settings)
    return combine(found.values(), same=False).heatmap(**settings)


@command.command(short_help="Which days are released, and what is left.")
@folder_argument
@json_option
def show(folder: str, as_json: bool) -> None:
    """Which days are released, which are left, and what each costs. It reads FOLDER alone."""
    from dpheatmap.curator import DailyReleases

    days = DailyReleases(folder)
    facts = _facts(days)
    lines = [
        f"{days.plan}.",
        f"Reserved by entry {days.entry.number} of the ledger: all of it is spent from the start.",
    ]
    lines += [
        f"{state.capitalize():<9} {len(facts[state]):>4}  {_first_and_last(facts[state])}".rstrip()
        for state in ("released", "open", "begun", "lost")
        if facts[state] or state in ("released", "open")
    ]
    terminal.answer(as_json, facts, "\n".join(lines))


def _first_and_last(days: list[str]) -> str:
    return "" if not days else days[0] if len(days) == 1 else f"{days[0]} to {days[-1]}"


def _facts(days: DailyReleases) -> dict[str, Any]:
    """The plan and the state of each day, for JSON."""
    states = days.days
    of_each = {
        state: [str(day) for day, found in states.items() if found == state]
        for state in ("released", "open", "begun", "lost")
    }
    return {**days.plan.to_dict(), "ledger": days.entry._asdict(), **of_each}
