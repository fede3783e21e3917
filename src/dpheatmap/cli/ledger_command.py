"""``dpheatmap ledger``: limits, spending, and verification of the ledger."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import click

from dpheatmap._util.parameters import has_digits
from dpheatmap.cli.ledger_options import open_ledger
from dpheatmap.cli.shared_options import check_place, json_option
from dpheatmap.cli.terminal import answer, say
from dpheatmap.design.composition import round_down, round_up

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
@click.option("--epsilon", help="What all releases about them may cost together.")
@click.option("--delta", help="The probability that more than epsilon leaks; with it, many releases cost less.")
@click.option("--rho", help="The limit in zero-concentrated differential privacy, in place of epsilon.")
def limit(ledger: str | None, population: str, epsilon: str | None, delta: str | None, rho: str | None) -> None:
    """Set how much may be spent on a population, once.

    Give --epsilon alone, --epsilon with --delta, or --rho. Refused with exit code 4 if it has another limit already:
    change-limit changes it. From the first limit on, every release that is charged to this ledger must name a
    population that has one. Examples:

    \b
    dpheatmap ledger limit city.ledger --population riders --epsilon 10
    dpheatmap ledger limit city.ledger --population walkers --epsilon 1 --delta 1e-6
    """
    opened = open_ledger(ledger)
    opened.limit(population, epsilon, delta=delta, rho=rho)
    _tell(opened, population)


@command.command("change-limit", short_help="Change how much may be spent on a population.")
@where
@click.option("--population", required=True, metavar="NAME", help="The people it is about.")
@click.option(
    "--from", "was", required=True, metavar="LIMIT",
    help="The present limit, such as 10, '1 at delta 0.000001' or 'rho 0.02'; refused if it is another.",
)  # fmt: skip
@click.option("--to", "epsilon", metavar="EPSILON", help="The new limit.")
@click.option("--delta", help="The new limit's delta.")
@click.option("--rho", help="The new limit as a rho, in place of --to.")
def change_limit(
    ledger: str | None, population: str, was: str, epsilon: str | None, delta: str | None, rho: str | None
) -> None:
    """Change how much may be spent on a population, up or down, or to another kind of limit.

    Both limits stand in the ledger's chain for good. What was spent stays spent. Examples:

    \b
    dpheatmap ledger change-limit city.ledger --population riders --from 10 --to 12
    dpheatmap ledger change-limit city.ledger --population riders --from 12 --to 12 --delta 1e-6
    """
    opened = open_ledger(ledger)
    opened.change_limit(population, epsilon, was=was, delta=delta, rho=rho)
    _tell(opened, population)


@command.command(short_help="Reserve a series of releases, all at one price.")
@where
@click.option("--population", required=True, metavar="NAME", help="The people it is about.")
@click.option("--releases", required=True, type=int, metavar="N", help="The number of releases, up to 1000.")
@click.option("--epsilon", help="The price of each.")
@click.option("--rho", help="The price of each with Gaussian noise, in place of epsilon.")
def reserve(ledger: str | None, population: str, releases: int, epsilon: str | None, rho: str | None) -> None:
    """Reserve a series of releases, all at one price.

    It is spent in full at once. With a limit that has a delta, a series that is reserved before anything else was
    charged may cost more each than releases that are charged one by one. Example:

    \b
    dpheatmap ledger reserve city.ledger --population riders --releases 52 --epsilon 0.0337
    """
    opened = open_ledger(ledger)
    entry = opened.reserve(population, epsilon, releases=releases, rho=rho)
    say(f"Reserved as series {entry.number}.")
    _tell(opened, population)


def _tell(ledger: Ledger, population: str) -> None:
    say(f"{population!r} in {ledger.name}: {ledger.accounts()[population].in_words()}.")


@command.command(short_help="What was spent on each population, and is left.")
@where
@json_option
def show(ledger: str | None, as_json: bool) -> None:
    """Every population with its limit, what was spent and what is left, as a table with bars.

    Below it stand, for each, the sum of epsilon, the sum of rho, both as one epsilon at a delta, what still fits, and
    the series that were reserved.
    """
    opened = open_ledger(ledger)
    accounts = opened.accounts()
    if not accounts:
        say(f"Nothing was charged to {opened.name} yet.")
    answer(as_json, {"ledger": opened.name, "populations": _populations(accounts)}, _table(accounts))


def _populations(accounts: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        {
            "population": name,
            "limit": None if account.limit is None else str(account.limit.amount),
            "kind": None if account.limit is None else account.limit.as_dict(),
            "spent": _text(account.spent),
            "left": _text(account.left, round_down),
            "releases": account.charges,
            "last": account.last,
            "share": _share(account),
            "parts": {c: {v: str(e) for v, e in of.items()} for c, of in account.parts.items()},
            "accounts": {
                "epsilon": _text(account.epsilon),
                "rho": _text(account.rho),
                "at_delta": {"delta": str(account.delta), "epsilon": _text(account.epsilon_at(account.delta))},
            },
            "fits": {"epsilon": _text(account.fits(), round_down), "rho": _text(account.fits_rho(), round_down)},
            "series": [
                {"number": number, "each": str(one.each), "releases": one.releases, "used": one.used}
                for number, one in account.series.items()
            ],
        }
        for name, account in accounts.items()
    ]


def _text(value: Fraction | None, rounded: Callable[[Fraction], Fraction] = round_up) -> str | None:
    """A number as an exact fraction; rounded if it is too long to be written out, as in ledgers of earlier versions."""
    return None if value is None else str(value if has_digits(value, 4000) else rounded(value))


def _table(accounts: dict[str, Any]) -> str:
    from dpheatmap.render.content.numbers import epsilon_in_words

    def number(value: Fraction | None) -> str:
        return "none" if value is None else epsilon_in_words(value)

    names = ("population", "limit", "spent", "left", "releases", "last")
    rows = [
        [name, str(a.limit or "none"), number(a.spent), number(a.left), str(a.charges), a.last[:10]]
        for name, a in accounts.items()
    ]
    widths = [max(map(len, column)) for column in zip(names, *rows, strict=True)]
    bars = ["", *(_bar(_share(account)) for account in accounts.values())]
    table = [
        "  ".join([*(cell.ljust(width) for cell, width in zip(row, widths, strict=True)), bar]).rstrip()
        for row, bar in zip([names, *rows], bars, strict=True)
    ]
    return "\n".join([*table, *(f"\n{name}: {a.accounts_in_words()}" for name, a in accounts.items())])


def _share(account: Any) -> float | None:
    """The part of the limit that is spent."""
    return None if account.limit is None else float(account.spent / account.limit.amount)


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
