"""``dpheatmap app``: the app in the browser, for users who don't write commands."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click

from dpheatmap._util.extras import import_extra
from dpheatmap._util.files import data_folder
from dpheatmap.cli.ledger_options import open_ledger
from dpheatmap.cli.terminal import say
from dpheatmap.curator import Ledger

PASSWORD = "DPHEATMAP_APP_PASSWORD"


@click.command("app")
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="The port; a free one if not given.")
@click.option("--no-open", is_flag=True, help="Don't open the browser; the address is printed.")
@click.option("--folder", metavar="FOLDER", help="Where releases are kept; by default in your data folder.")
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen at.")
@click.option(
    "--allow-network",
    is_flag=True,
    help=f"With another address than this machine's own: let others in who know the link and the password, which is "
    f"asked for, or {PASSWORD}.",
)
def command(port: int, no_open: bool, folder: str | None, host: str, allow_network: bool) -> None:
    """From a file to a published map, in the browser. Nothing leaves this machine.

    The address is printed; it works once. If the app runs already, this opens it again, as after closing the browser.
    Ctrl-C ends the app and removes what was uploaded.
    """
    for package in ("starlette", "uvicorn"):
        import_extra(package, "app", "The app")
    from dpheatmap.app.local_server import check_address, serve
    from dpheatmap.app.release_shelf import AlreadyRunning
    from dpheatmap.app.way_back import fresh_link

    password = _password(host, allow_network)
    check_address(host, allowed=allow_network, password=password)
    open_ledger(None)  # makes its folder

    def ready(address: str) -> None:
        click.echo(address)
        sys.stdout.flush()
        say("This address works once, in one browser. Run this command again for another one.")
        if not no_open:
            click.launch(address)

    place = data_folder() / "app" if folder is None else Path(folder)
    try:
        serve(place, Ledger.default_place(), ready, host=host, port=port, password=password)
    except AlreadyRunning:
        address = fresh_link(place)
        if address is None:
            raise
        say("The app is running already, and goes on where it was started. This is a new way into it.")
        ready(address)


def _password(host: str, allow_network: bool) -> str | None:
    """The password, required where others can reach the app."""
    if not allow_network:
        return None
    say("Others can read what is sent over a network without encryption. An SSH tunnel to this machine is safer.")
    given = os.environ.get(PASSWORD)
    if given is None and sys.stdin.isatty():
        given = str(click.prompt("Password", hide_input=True, confirmation_prompt=True, err=True))
    return given
