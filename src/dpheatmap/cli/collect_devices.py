"""Commands of ``dpheatmap collect`` for devices, and for those whom they trust."""

from __future__ import annotations

import click

from dpheatmap.cli.collect_options import (
    account_at,
    account_option,
    authority_option,
    key_option,
    known_option,
    operator_option,
    read_collection,
)
from dpheatmap.cli.shared_options import json_option
from dpheatmap.cli.terminal import answer, say
from dpheatmap.design.shares import exact_text
from dpheatmap.errors import ParameterError


@click.command(short_help="Show what a collection asks for, before sending.")
@click.argument("collection")
@operator_option
@known_option
@account_option
@json_option
def show(collection: str, operator: str, parties: tuple[str, ...], account: str | None, as_json: bool) -> None:
    """Show what a collection asks for: where, how much it costs, who gets what, and whose keys this device knows.

    Example:

    \b
    dpheatmap collect show collection.json --operator KEY --party KEY1 --party KEY2
    """
    from dpheatmap.collect import keys_of, terms_as_lines, terms_in_words

    words = terms_in_words(read_collection(collection, operator), keys_of(parties), account_at(account).balance())
    answer(as_json, words, "\n".join(terms_as_lines(words)))


@click.command(short_help="Set how much may leak from this device in all.")
@click.argument("epsilon", required=False)
@account_option
def limit(epsilon: str | None, account: str | None) -> None:
    """Set how much may leak from this device in all collections together; without EPSILON, show it.

    It can be changed at any time. What was spent stays spent.

    Example:

    \b
    dpheatmap collect limit 4
    """
    opened = account_at(account)
    if epsilon is not None:
        opened.set_limit(epsilon)
    there = opened.balance()
    allowed = "No limit, so nothing leaves this device" if there.limit is None else f"Limit {exact_text(there.limit)}"
    click.echo(f"{allowed}; {exact_text(there.spent)} spent, {exact_text(there.left)} left.")


@click.command(short_help="Send one person's contribution.")
@click.argument("collection")
@click.argument("file")
@operator_option
@known_option
@click.option("--ticket", required=True, metavar="TICKET", help="The ticket that this device was given.")
@click.option("--x", required=True, metavar="COLUMN", help="Longitude, or x.")
@click.option("--y", required=True, metavar="COLUMN", help="Latitude, or y.")
@click.option(
    "--keep", metavar="FILE",
    help="Where to write the contribution before it is sent; what is there is sent again. The local model needs it.",
)  # fmt: skip
@click.option("--later", is_flag=True, help="Only write it there, and send it by the same command without this.")
@account_option
@authority_option
def client(
    collection: str, file: str, operator: str, parties: tuple[str, ...], ticket: str, x: str, y: str, keep: str | None,
    later: bool, account: str | None, authority: str | None,
) -> None:  # fmt: skip
    """Send one person's contribution: FILE is a table of their positions, which never leaves the device.

    It is charged to this device's limit before it is sent; sending the same again, with --keep, costs nothing.

    Example:

    \b
    dpheatmap collect client collection.json mine.csv --operator KEY --party KEY1 --party KEY2 \\
      --ticket TICKET --x lon --y lat --keep sent
    """
    from dpheatmap.collect import Client, Network
    from dpheatmap.curator import aggregate

    opened = read_collection(collection, operator)
    if keep is None and (later or opened.terms.model == "local"):
        raise ParameterError(
            "A contribution that is sent later, or of the local model, needs --keep FILE. "
            "There it is sent from again: a second report of the local model would cost epsilon a second time."
        )
    device = Client(opened, ticket, parties=parties, account=account_at(account))
    bodies = None if keep is None else device.kept(keep)
    if bodies is None:
        bodies = device.contribution_of(aggregate(file, opened.terms.domain, x=x, y=y, each_row_is_a_person=True))
        if keep is not None:
            bodies = device.keep(bodies, keep)
    if not later:
        device.send(bodies, Network(authority))
    click.echo("Kept." if later else "Sent.")


@click.command(short_help="Say that a party of a collection is yours.")
@click.argument("collection")
@operator_option
@click.option("--role", required=True, help="The party that you run, such as 'server 1'.")
@key_option
def countersign(collection: str, operator: str, role: str, key: str) -> None:
    """Countersign a collection: whoever knows KEY's public part then knows that this party is yours.

    So a party can have a key of its own for each collection. The file COLLECTION gets your signature besides the
    operator's; pass it on.

    Example:

    \b
    dpheatmap collect countersign collection.json --operator KEY --role 'server 1' --key university.key
    """
    from dpheatmap.collect import PrivateKey, terms_as_lines, terms_in_words
    from dpheatmap.collect import countersign as countersign_for

    opened, own = read_collection(collection, operator), PrivateKey.read(key)
    signed = countersign_for(opened, own, role)
    for line in terms_as_lines(terms_in_words(signed, [own.public])):
        say(line)
    signed.save(collection)
    click.echo(collection)
