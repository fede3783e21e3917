"""Commands of ``dpheatmap collect`` for those who run a party."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import click

from dpheatmap.cli.collect_options import authority_option, key_option, operator_option, present, read_collection
from dpheatmap.cli.shared_options import Command, check_outputs, json_option
from dpheatmap.cli.terminal import answer, say
from dpheatmap.errors import ParameterError
from dpheatmap.render import RELEASE_SUFFIX

if TYPE_CHECKING:
    from dpheatmap.collect import Role


def _process_options(command: Command) -> Command:
    """Add the options of every process."""
    for option in reversed(
        [
            click.argument("collection"),
            operator_option,
            key_option,
            click.option("--state", required=True, metavar="FILE", help="Its memory, which a restart needs."),
            click.option("--host", default="127.0.0.1", show_default=True, help="The address of this machine to use."),
            click.option("--port", type=int, help="The port to listen at; by default that of the address."),
            click.option("--certificate", metavar="FILE", help="Its TLS certificate (PEM)."),
            click.option("--certificate-key", metavar="FILE", help="The certificate's private key (PEM)."),
            authority_option,
        ]
    ):
        command = option(command)
    return command


@click.command(short_help="Run the shuffler of a collection.")
@_process_options
def shuffler(**options: Any) -> None:
    """Run the shuffler: it mixes sealed messages once n-min contributions are there, and forwards them.

    Example:

    \b
    dpheatmap collect shuffler collection.json --operator KEY --key shuffler.key --state shuffler.state
    """
    _run("shuffler", **options)


@click.command(short_help="Run the analyser of a collection.")
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


@click.command(short_help="Run one of the servers of a collection.")
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


@click.command(short_help="Ask how far a collection is.")
@click.argument("collection")
@operator_option
@key_option
@authority_option
@json_option
def status(collection: str, operator: str, key: str, authority: str | None, as_json: bool) -> None:
    """Ask all parties how far they are, as the operator or one of them: strangers are not told.

    Example:

    \b
    dpheatmap collect status collection.json --operator KEY --key operator.key
    """
    from dpheatmap.collect import Network, PrivateKey, ask_progress

    opened, own, network = read_collection(collection, operator), PrivateKey.read(key), Network(authority)
    parties = zip(opened.roles, opened.parties, strict=True)
    found = {role: ask_progress(opened, party, own, network) for role, party in parties}
    answer(as_json, found, "\n".join(_progress_line(role, told) for role, told in found.items()))


def _progress_line(role: str, told: dict[str, Any] | None) -> str:
    if told is None:
        return f"{role}: no answer"
    there = f", {told['contributions']:,} of at least {told['n_min']:,}" if "contributions" in told else ""
    return f"{role}: {told['phase']}{there}"


def _run(
    name: str, finished: Callable[[Role], None] = lambda role: None, *, collection: str, operator: str,
    key: str, state: str, host: str, port: int | None, certificate: str | None, certificate_key: str | None,
    authority: str | None,
) -> None:  # fmt: skip
    """Run a process until it is stopped."""
    from dpheatmap.collect import Network, PrivateKey, State, disk_in_words, kind_of, serve

    opened, own = read_collection(collection, operator), PrivateKey.read(key)
    number = opened.index_of(own.public, name)
    address, title = opened.parties[number].address, opened.roles[number]
    port = port or urlsplit(address).port
    if port is None:
        raise ParameterError(f"The address {address} has no port. Give --port.")

    say(disk_in_words(opened, number, state))

    def announce() -> None:
        say(f"{title.capitalize()} of {address} listens at {host}:{port}; stop it with Ctrl-C.")
        say(f"The collection closes at {opened.closes.isoformat()}; here it is {present().isoformat()}.")
        if certificate is None and address.startswith("https:"):
            say("It has no --certificate, so something in front of it has to speak https.")

    with closing(State(state, opened, title)) as memory:
        serve(
            kind_of(name, opened)(opened, own, memory, Network(authority)), host=host, port=port,
            certificate=certificate, key=certificate_key, listening=announce, finished=finished,
        )  # fmt: skip
