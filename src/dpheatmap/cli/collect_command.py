"""``dpheatmap collect``: collections from devices, without a curator."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import click

from dpheatmap._util.files import replace_whole
from dpheatmap._util.parameters import check
from dpheatmap.cli.shared_options import (
    Command,
    check_outputs,
    domain_from,
    json_option,
    look_from,
    map_options,
    place_options,
)
from dpheatmap.cli.terminal import answer, say
from dpheatmap.errors import ParameterError
from dpheatmap.render import RELEASE_SUFFIX

if TYPE_CHECKING:
    from dpheatmap.collect import Collection, Role

_operator = click.option("--operator", required=True, metavar="KEY", help="The public key of whoever opened it.")
_authority = click.option(
    "--authority", metavar="FILE", help="Certificates (PEM) to trust instead of the system's, for addresses with https."
)
_key = click.option("--key", required=True, metavar="FILE", help="A private key, made by dpheatmap collect key.")


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


@command.command("open")
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
@_key
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


@command.command(short_help="Send one person's contribution.")
@click.argument("collection")
@click.argument("file")
@_operator
@click.option("--ticket", required=True, metavar="TICKET", help="The ticket that this device was given.")
@click.option("--x", required=True, metavar="COLUMN", help="Longitude, or x.")
@click.option("--y", required=True, metavar="COLUMN", help="Latitude, or y.")
@click.option(
    "--keep", metavar="FILE",
    help="Where to write the contribution before it is sent; what is there is sent again. The local model needs it.",
)  # fmt: skip
@click.option("--later", is_flag=True, help="Only write it there, and send it by the same command without this.")
@_authority
def client(
    collection: str, file: str, operator: str, ticket: str, x: str, y: str, keep: str | None, later: bool,
    authority: str | None,
) -> None:  # fmt: skip
    """Send one person's contribution: FILE is a table of their positions, which never leaves the device.

    Example:

    \b
    dpheatmap collect client collection.json mine.csv --operator KEY --ticket TICKET --x lon --y lat
    """
    from dpheatmap.collect import Client, Network
    from dpheatmap.curator import aggregate

    opened = _read(collection, operator)
    if keep is None and (later or opened.terms.model == "local"):
        raise ParameterError(
            "A contribution that is sent later, or of the local model, needs --keep FILE. "
            "There it is sent from again: a second report of the local model would cost epsilon a second time."
        )
    device = Client(opened, ticket)
    bodies = None if keep is None else device.kept(keep)
    if bodies is None:
        bodies = device.contribution_of(aggregate(file, opened.terms.domain, x=x, y=y, each_row_is_a_person=True))
        if keep is not None:
            bodies = device.keep(bodies, keep)
    if not later:
        device.send(bodies, Network(authority))
    click.echo("Kept." if later else "Sent.")


def _process_options(command: Command) -> Command:
    """Add the options of every process."""
    for option in reversed(
        [
            click.argument("collection"),
            _operator,
            _key,
            click.option("--state", required=True, metavar="FILE", help="Its memory, which a restart needs."),
            click.option("--host", default="127.0.0.1", show_default=True, help="The address of this machine to use."),
            click.option("--port", type=int, help="The port to listen at; by default that of the address."),
            click.option("--certificate", metavar="FILE", help="Its TLS certificate (PEM)."),
            click.option("--certificate-key", metavar="FILE", help="The certificate's private key (PEM)."),
            _authority,
        ]
    ):
        command = option(command)
    return command


@command.command(short_help="Run the shuffler of a collection.")
@_process_options
def shuffler(**options: Any) -> None:
    """Run the shuffler: it mixes sealed messages once n-min contributions are there, and forwards them.

    Example:

    \b
    dpheatmap collect shuffler collection.json --operator KEY --key shuffler.key --state shuffler.state
    """
    _run("shuffler", **options)


@command.command(short_help="Run the analyser of a collection.")
@_process_options
@click.option("-o", "--output", metavar="FILE", help=f"Where to write the release in the end, a {RELEASE_SUFFIX} file.")
def analyser(output: str | None, **options: Any) -> None:
    """Run the analyser: it opens what the shuffler mixed, and publishes the noisy sums.

    Example:

    \b
    dpheatmap collect analyser collection.json --operator KEY --key analyser.key --state analyser.state
    """
    from dpheatmap.collect import combine_sums

    if output is not None:
        check_outputs((output,), (RELEASE_SUFFIX,))

    def save_output(role: Role) -> None:
        if output is not None and role.phase() == "published":
            combine_sums(role.collection, [role.outcome()]).save(output)

    _run("analyser", save_output, **options)


@command.command(short_help="Run one of the servers of a collection.")
@_process_options
def server(**options: Any) -> None:
    """Run one of the servers: it adds up its shares of what reached all servers, and answers questions with noise.

    Each server chooses the questions itself, by what all of them have answered before. In the local model there is one
    server, which counts reports that have their noise already.

    Example:

    \b
    dpheatmap collect server collection.json --operator KEY --key one.key --state one.state
    """
    _run("server", **options)


@command.command()
@click.argument("collection")
@_key
@_authority
def close(collection: str, key: str, authority: str | None) -> None:
    """Close a collection before its time, as its operator.

    Example:

    \b
    dpheatmap collect close collection.json --key operator.key
    """
    from dpheatmap.collect import Network, PrivateKey, close_early

    operator = PrivateKey.read(key)
    close_early(_read(collection, operator.public.text), operator, Network(authority))


@command.command(short_help="Fetch what was published; write release and maps.")
@click.argument("collection")
@_operator
@map_options
@click.option("--wait", type=float, default=60, show_default=True, metavar="SECONDS", help="How long to ask for it.")
@_authority
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
    release = fetch_release(_read(collection, operator), Network(authority, patience=wait))
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


def _run(
    name: str, finished: Callable[[Role], None] = lambda role: None, *, collection: str, operator: str,
    key: str, state: str, host: str, port: int | None, certificate: str | None, certificate_key: str | None,
    authority: str | None,
) -> None:  # fmt: skip
    """Run a process until it is stopped."""
    from dpheatmap.collect import Network, PrivateKey, State, kind_of, serve

    opened, own = _read(collection, operator), PrivateKey.read(key)
    number = opened.index_of(own.public, name)
    address, title = opened.parties[number].address, opened.roles[number]
    port = port or urlsplit(address).port
    if port is None:
        raise ParameterError(f"The address {address} has no port. Give --port.")

    def announce() -> None:
        say(f"{title.capitalize()} of {address} listens at {host}:{port}; stop it with Ctrl-C.")
        say(f"The collection closes at {opened.closes.isoformat()}; here it is {_now().isoformat()}.")
        if certificate is None and address.startswith("https:"):
            say("It has no --certificate, so something in front of it has to speak https.")

    with closing(State(state, opened, title)) as memory:
        serve(
            kind_of(name, opened)(opened, own, memory, Network(authority)), host=host, port=port,
            certificate=certificate, key=certificate_key, listening=announce, finished=finished,
        )  # fmt: skip


def _read(path: str, operator: str) -> Collection:
    from dpheatmap.collect import Collection

    return Collection.read(path, operator)


def _size(collection: Collection) -> int:
    from dpheatmap.collect import body_size

    return sum(body_size(collection, number) for number in range(len(collection.receivers)))


def _now() -> datetime:
    return datetime.now(UTC).replace(microsecond=0)


def _time(text: str) -> datetime:
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        raise ParameterError(
            f"--closes takes a time such as 2030-01-31T12:00:00Z; it was {text!r}. See --help."
        ) from None
    if found.tzinfo is not None and found <= _now():
        raise ParameterError(
            f"--closes must be a time to come; it was {text}, and it is {_now().isoformat()}. Give a later one."
        )
    return found
