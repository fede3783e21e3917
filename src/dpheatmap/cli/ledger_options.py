"""Options for the ledger and the population to which a release is charged."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dpheatmap._util.database_url import is_database, public_url
from dpheatmap.cli.shared_options import combine_options
from dpheatmap.cli.terminal import say
from dpheatmap.errors import LedgerError, ParameterError

if TYPE_CHECKING:
    from dpheatmap.curator import Ledger
    from dpheatmap.releases.discovery import Discovery
    from dpheatmap.releases.release import Release
    from dpheatmap.releases.sliced_release import SlicedRelease


budget_options = combine_options(
    click.option(
        "--ledger", metavar="FILE|URL",
        help="Where spending is kept account of; by default DPHEATMAP_LEDGER, or a file in your data folder.",
    ),
    click.option(
        "--population", metavar="NAME",
        help="The people this is about, who must have a limit in the ledger. May be left out as long as the ledger "
        "holds no limit for anybody: then it is the input's name.",
    ),
    click.option("--no-ledger", is_flag=True, help="Charge nobody; the label says so."),
    click.option(
        "--partition", metavar="COLUMN=V1,V2,...",
        help="A public list of values that part people, not rows: one value a person.",
    ),
    click.option("--part", metavar="V", help="Release the people of this value; parts don't add up."),
)  # fmt: skip
"""--ledger, --population, --no-ledger, --partition and --part."""
BUDGET = ("ledger", "population", "no_ledger", "partition", "part")


def budget_from(
    file: str, ledger: str | None, population: str | None, no_ledger: bool, partition: str | None, part: str | None
) -> dict[str, Any]:
    """Convert the options to those of `release`."""
    people = {"partition": partition_from(partition), "part": part}
    if no_ledger:
        if ledger is not None or population is not None:
            raise ParameterError("--no-ledger charges nobody, and a ledger or population was given. Keep one of them.")
        return people
    opened = open_ledger(ledger, limits_needed=population is not None)
    if population is None:
        population = "".join(c if c.isprintable() else "?" for c in default_name(file))[:200].strip()
        opened.check(population, 1)  # refused, for any epsilon, if any population has a limit
    return {**people, "ledger": opened, "population": population}


def default_name(file: str) -> str:
    """The default name of an input in a ledger; for a database's URL, without user, password and options."""
    return public_url(file, "database") if is_database(file) else Path(file).name


def partition_from(text: str | None) -> dict[str, list[str]] | None:
    """The column and the list of values that --partition names."""
    if text is None:
        return None
    column, equals, values = text.partition("=")
    if not equals:
        raise ParameterError(f"--partition takes COLUMN=V1,V2,...; it was {text!r}. List the values that there are.")
    return {column: values.split(",")}


def open_ledger(where: str | None, *, limits_needed: bool = True) -> Ledger:
    """Open the named ledger, or the default one, whose folder is made if needed."""
    from dpheatmap.curator import Ledger

    if where is not None:
        return Ledger(where, limits_needed=limits_needed)
    place = Ledger.default_place()
    if "://" not in place:
        try:
            Path(place).parent.mkdir(parents=True, exist_ok=True)
        except OSError:
            raise LedgerError(
                f"The folder of the ledger {place} can't be made. Name another with --ledger, or give --no-ledger."
            ) from None
    return Ledger(place, limits_needed=limits_needed)


def warn_of_other_names(file: str, ledger: Ledger | None = None, population: str = "", **_: Any) -> None:
    """Warn, before any work begins, if the same file was charged to another population."""
    told = "" if ledger is None else ledger.warning(population, default_name(file), ledger.marks_of(file))
    if told:
        say(f"Warning: {told}")


def charge_note(
    release: Release | SlicedRelease | Discovery, ledger: Ledger | None = None, population: str = "", **_: Any
) -> str:
    """The note to the data holder about the budget after a release."""
    if ledger is None:
        return release.label["budget"]
    words = ledger.accounts()[population].in_words()
    return f"Charged to {population!r} in the ledger {ledger.name}: {words}."
