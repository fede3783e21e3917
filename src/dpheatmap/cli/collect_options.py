"""Options that commands of ``dpheatmap collect`` share, and the reading of what they name."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from dpheatmap.collect import Collection, DeviceAccount

operator_option = click.option("--operator", required=True, metavar="KEY", help="The public key of whoever opened it.")
authority_option = click.option(
    "--authority", metavar="FILE", help="Certificates (PEM) to trust instead of the system's, for addresses with https."
)
key_option = click.option("--key", required=True, metavar="FILE", help="A private key, made by dpheatmap collect key.")
known_option = click.option(
    "--party", "parties", multiple=True, metavar="KEY",
    help="The public key of an organisation that runs a party, as it publishes it itself; one for each party.",
)  # fmt: skip
account_option = click.option(
    "--account", metavar="FILE", help="What holds this device's limit and what is spent; by default one for this user."
)


def read_collection(path: str, operator: str) -> Collection:
    """Read a collection that the operator has signed."""
    from dpheatmap.collect import Collection

    return Collection.read(path, operator)


def account_at(path: str | None) -> DeviceAccount:
    """The device's account in a file, or in that of the user."""
    from dpheatmap.collect import DeviceAccount

    return DeviceAccount(DeviceAccount.default_place() if path is None else path)


def present() -> datetime:
    """The present time, in whole seconds."""
    return datetime.now(UTC).replace(microsecond=0)
