"""``dpheatmap ledger``: limits, spending, and verification of the ledger."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from dpheatmap.cli.ledger_options import open_ledger
from dpheatmap.cli.shared_options import check_place, json_option
from dpheatmap.cli.terminal import answer, say

if TYPE_CHECKING:
    from dpheatmap.curator import Ledger

BAR = 24

where = click.argument("ledger", required=False)


@click.group("ledger")
def command() -> None:
    """What was spent on which people, and how much may be.

    LEDGER is a file, or the URL of a PostgreSQL database (postgresql://host/name). Left out, it is DPHEATMAP_LEDGER, or
    the file in your data folder that releases are charged to by default.
    """


@command.command()
@where
@click.option("--population", required=True, metavar="NAME", help="The people it is about.")
@click.option("--epsilon", required=True, help="What all releases about them may cost together.")
def limit(ledger: str | None, population: str, epsilon: str) -> None:
    """Set how much may be spent on a population, once.

    Refused with exit code 4 if it has another limit already: change-limit changes it. From the first limit on, every
    release that is charged to this ledger must name a population that has one. Example:

    \b
    dpheatmap ledger limit city.ledger --population riders --epsilon 10
    """
    opened = open_ledger(ledger)
    opened.limit(population, epsilon)
    _tell(opened, population)


@command.command("change-limit", short_help="Change how much may be spent on a population.")
@where
@click.option("--population", required=True, metavar="NAME", help="The people it is about.")
@click.option("--from", "was", required=True, metavar="EPSILON", help="The present limit; refused if it is another.")
@click.option("--to", "epsilon", required=True, metavar="EPSILON", help="The new limit.")
def change_limit(ledger: str | None, population: str, was: str, epsilon: str) -> None:
    """Change how much may be spent on a population, up or down.

    Both values stand in the ledger's chain for good. What was spent stays spent. Example:

    \b
    dpheatmap ledger change-limit city.ledger --population riders --from 10 --to 12
    """
    opened = open_ledger(ledger)
    opened.change_limit(population, epsilon, was=was)
    _tell(opened, population)


def _tell(ledger: Ledger, population: str) -> None:
    say(f"{population!r} in {ledger.name}: {ledger.accounts()[population].in_words()}.")


@command.command(short_help="What was spent on each population, and is left.")
@where
@json_option
def show(ledger: str | None, as_json: bool) -> None:
    """Every population with its limit, what was spent and what is left, as a table with bars."""
    opened = open_ledger(ledger)
    populations = _populations(opened)
    if not populations:
        say(f"Nothing was charged to {opened.name} yet.")
    answer(as_json, {"ledger": opened.name, "populations": populations}, _table(populations))


def _populations(ledger: Ledger) -> list[dict[str, Any]]:
    return [
        {
            "population": name,
            "limit": None if account.limit is None else str(account.limit),
            "spent": str(account.spent),
            "left": None if account.left is None else str(account.left),
            "releases": account.charges,
            "last": account.last,
            "share": None if account.limit is None else float(account.spent / account.limit),
            "parts": {c: {v: str(e) for v, e in of.items()} for c, of in account.parts.items()},
        }
        for name, account in ledger.accounts().items()
    ]


def _table(populations: list[dict[str, Any]]) -> str:
    from fractions import Fraction

    from dpheatmap.render.content.numbers import epsilon_in_words

    def number(text: str | None) -> str:
        return "none" if text is None else epsilon_in_words(Fraction(text)) if text != "0" else "0"

    names = ("population", "limit", "spent", "left", "releases", "last")
    rows = [
        [p["population"], number(p["limit"]), number(p["spent"]), number(p["left"]), str(p["releases"]), p["last"][:10]]
        for p in populations
    ]
    widths = [max(map(len, column)) for column in zip(names, *rows, strict=True)]
    bars = ["", *(_bar(p["share"]) for p in populations)]
    return "\n".join(
        "  ".join([*(cell.ljust(width) for cell, width in zip(row, widths, strict=True)), bar]).rstrip()
        for row, bar in zip([names, *rows], bars, strict=True)
    )


def _count_text(count: int, one: str, several: str = "") -> str:
    return f"{count} {one if count == 1 else several or one + 's'}"


def _bar(share: float | None) -> str:
    """The spent share of the limit, as a bar."""
    if share is None:
        return ""
    full = min(BAR, round(share * BAR))
    return f"{'█' * full}{'░' * (BAR - full)} {share:.0%}"


@command.command()
@where
@click.option("--against", multiple=True, metavar="RELEASE", help="A release that must be in it; may be repeated.")
@click.argument("releases", nargs=-1)
@json_option
def verify(ledger: str | None, against: tuple[str, ...], releases: tuple[str, ...], as_json: bool) -> None:
    """Check that nobody edited, removed or reordered entries.

    With releases, also that the ledger still has their entries: that shows if an old copy was put back, or its end
    cut off. Example:

    \b
    dpheatmap ledger verify city.ledger --against june.dph.parquet july.dph.parquet
    """
    from dpheatmap.releases.release import load

    opened = open_ledger(ledger)
    checked = {path: load(path) for path in (*against, *releases)}
    entries = opened.verify(checked)
    with_releases = f", the entries of {_count_text(len(checked), 'release')} among them" if checked else ""
    text = f"{opened.name} is whole: {_count_text(entries, 'entry', 'entries')}{with_releases}."
    answer(as_json, {"ledger": opened.name, "entries": entries, "releases": len(checked), "whole": True}, text)


@command.command()
@where
@click.option("-o", "--output", metavar="FILE", help="A file to write; by default stdout.")
def export(ledger: str | None, output: str | None) -> None:
    """Every entry as CSV."""
    from dpheatmap._util.csv_table import csv_table
    from dpheatmap._util.files import replace_whole
    from dpheatmap.curator import Ledger

    if output is not None:
        check_place(output, read=(ledger or Ledger.default_place(),))
    text = csv_table(Ledger.COLUMNS, open_ledger(ledger).entries())
    if output is None:
        click.echo(text, nl=False)
        return
    with replace_whole(output) as temporary:
        temporary.write_text(text, encoding="utf-8")
    click.echo(output)
