"""``dpheatmap collect``: collections from devices, without a curator."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dpheatmap._util.files import replace_whole
from dpheatmap._util.parameters import check
from dpheatmap.cli.collect_devices import client, countersign, limit, show
from dpheatmap.cli.collect_options import authority_option, key_option, operator_option, present, read_collection
from dpheatmap.cli.collect_processes import analyser, server, shuffler, status
from dpheatmap.cli.shared_options import (
    check_outputs,
    domain_from,
    json_option,
    look_from,
    map_options,
    place_options,
)
from dpheatmap.cli.terminal import answer, say
from dpheatmap.errors import ParameterError

if TYPE_CHECKING:
    from dpheatmap.collect import Collection


@click.group("collect")
def command() -> None:
    """Maps without a trusted curator: people's devices send, nobody learns more than the release.

    With servers, two or more add up shares that look random; one honest one is enough. In the shuffle model a shuffler
    mixes sealed messages that an analyser opens. In the local model devices add all the noise, and one server, whom
    nobody has to trust, counts their reports. See it run with: dpheatmap collect demo -o map.png
    """


@command.command()
@click.argument("file")
def key(file: str) -> None:
    """Make a private key, FILE, and print its public part.

    The operator, each server, and shuffler and analyser need one each. An existing FILE is not overwritten.
    """
    from dpheatmap.collect import PrivateKey

    if Path(file).exists():
        raise ParameterError(f"{file} is there already, and a key that is lost can't be made again. Give a new name.")
    made = PrivateKey.make()
    made.save(file)
    click.echo(made.public.text)


@command.command("open", short_help="Open a collection, and make tickets for devices.")
@place_options
@click.option("--model", default="servers", show_default=True, help="servers, shuffle or local.")
@click.option("--epsilon", required=True, help="How much may leak about a person.")
@click.option("--delta", help="In the shuffle model, the probability that more leaks; 1e-6 if not given.")
@click.option("--n-min", type=int, required=True, metavar="N", help="The honest contributions that are waited for.")
@click.option("--n-max", type=int, required=True, metavar="N", help="The contributions that there is room for.")
@click.option(
    "--units", type=int, metavar="B", help="What a person's weight is rounded to; 256 for shuffle, 15 for servers."
)
@click.option(
    "--party", "parties", nargs=2, multiple=True, required=True, metavar="ADDRESS KEY",
    help="Where a server listens and its public key, for each; or those of the shuffler, then of the analyser.",
)  # fmt: skip
@click.option("--closes", required=True, metavar="TIME", help="When it closes, such as 2030-01-31T12:00:00Z.")
@key_option
@click.option("--tickets", metavar="FILE", help="Where to write one ticket for each of n-max devices.")
@click.option("-o", "--output", required=True, metavar="FILE", help="The collection to write, a JSON for everybody.")
def open_collection(
    model: str, epsilon: str, delta: str | None, n_min: int, n_max: int, units: int | None,
    parties: tuple[tuple[str, str], ...], closes: str, key: str, tickets: str | None, output: str, **place: Any,
) -> None:  # fmt: skip
    """Open a collection: sign its terms, and make tickets for devices.

    Example:

    \b
    dpheatmap collect open --unit --depth 6 --epsilon 1 --n-min 1000 --n-max 5000 --key operator.key \\
      --party https://one.example:8443 KEY1 --party https://two.example:8443 KEY2 \\
      --closes 2030-01-31T12:00:00Z -o collection.json
    """
    from dpheatmap.collect import Collection, PrivateKey, PublicKey, make_tickets, terms_of

    domain = domain_from(**place)
    servers = len(parties) if model == "servers" else None
    terms = terms_of(
        model, domain, epsilon=epsilon, delta=delta, n_min=n_min, n_max=n_max, units=units, servers=servers
    )
    operator = PrivateKey.read(key)
    listed = {address: PublicKey(public) for address, public in parties}
    made = Collection.open(terms, listed, _time(closes), operator)
    if tickets is not None:
        with replace_whole(tickets, private=True) as temporary:
            temporary.write_text("".join(f"{ticket}\n" for ticket in make_tickets(made, operator, terms.n_max)))
    made.save(output)
    say(f"{terms.tree.size:,} cells; a device sends {_size(made):,} bytes.")
    click.echo(output)


@command.command()
@click.argument("collection")
@key_option
@authority_option
def close(collection: str, key: str, authority: str | None) -> None:
    """Close a collection before its time, as its operator.

    Example:

    \b
    dpheatmap collect close collection.json --key operator.key
    """
    from dpheatmap.collect import Network, PrivateKey, close_early

    operator = PrivateKey.read(key)
    close_early(read_collection(collection, operator.public.text), operator, Network(authority))


@command.command(short_help="Fetch what was published; write release and maps.")
@click.argument("collection")
@operator_option
@map_options
@click.option("--wait", type=float, default=60, show_default=True, metavar="SECONDS", help="How long to ask for it.")
@authority_option
@json_option
def result(
    collection: str, operator: str, outputs: tuple[str, ...], sigma: float | None, size: int | None, method: str,
    values: str, wait: float, authority: str | None, as_json: bool, **choices: Any,
) -> None:  # fmt: skip
    """Fetch what the parties published, and write the release and maps. Anybody may.

    Example:

    \b
    dpheatmap collect result collection.json --operator KEY -o town.dph.parquet -o map.html
    """
    from dpheatmap.cli.release_command import write_outputs
    from dpheatmap.collect import Network, fetch_release

    check_outputs(outputs)
    check(values=values)
    look = look_from(choices, outputs)
    release = fetch_release(read_collection(collection, operator), Network(authority, patience=wait))
    written = write_outputs(release, outputs, look, sigma=sigma, size=size, method=method, values=values)
    answer(as_json, {"outputs": written, "label": dict(release.label)}, "\n".join(written))


@command.command(short_help="Run a whole collection on this machine.")
@click.option("--devices", type=click.IntRange(10, 10_000), default=200, show_default=True, help="How many to invent.")
@click.option("--model", default="servers", show_default=True, help="servers, shuffle or local.")
@click.option("--epsilon", default="4", show_default=True, help="How much may leak about a person.")
@map_options
@json_option
def demo(
    devices: int, model: str, epsilon: str, outputs: tuple[str, ...], sigma: float | None, size: int | None,
    method: str, values: str, as_json: bool, **choices: Any,
) -> None:  # fmt: skip
    """Run a whole collection on this machine: processes that share no files, and invented devices that send to them.

    Example:

    \b
    dpheatmap collect demo --devices 200 -o map.png
    """
    from dpheatmap.cli.release_command import write_outputs
    from dpheatmap.collect import run_demo

    check_outputs(outputs)
    check(values=values)
    look = look_from(choices, outputs)
    release = run_demo(devices, model, epsilon, say)
    written = write_outputs(release, outputs, look, sigma=sigma, size=size, method=method, values=values)
    answer(as_json, {"outputs": written, "label": dict(release.label)}, "\n".join(written))


def _size(collection: Collection) -> int:
    from dpheatmap.collect import body_size

    return sum(body_size(collection, number) for number in range(len(collection.receivers)))


def _time(text: str) -> datetime:
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        raise ParameterError(
            f"--closes takes a time such as 2030-01-31T12:00:00Z; it was {text!r}. See --help."
        ) from None
    if found.tzinfo is not None and found <= present():
        raise ParameterError(
            f"--closes must be a time to come; it was {text}, and it is {present().isoformat()}. Give a later one."
        )
    return found


for each in (show, limit, client, countersign, shuffler, analyser, server, status):
    command.add_command(each)
