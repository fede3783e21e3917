"""The options that say how much may leak, and by which noise: epsilon, or rho of Gaussian noise."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import click

from dpheatmap.design.privacy_loss import ConcentratedLoss, PureLoss, read_loss

Command = TypeVar("Command", bound=Callable[..., Any])


def loss_options(command: Command) -> Command:
    """Add --epsilon, --noise, --rho and --delta."""
    for option in (
        click.option("--delta", help="With --rho, the delta at which it is told as an epsilon; 1e-6 if left out."),
        click.option("--rho", help="How much may leak with Gaussian noise, by zero-concentrated privacy: 0.02."),
        click.option(
            "--noise",
            default="laplace",
            show_default=True,
            help="laplace, with --epsilon; or gaussian, with --rho, for many releases about the same people.",
        ),
        click.option("--epsilon", help="How much may leak: 1 is common, smaller protects more. 0.5 or 1/3."),
    ):
        command = option(command)
    return command


def loss_from(options: Mapping[str, Any]) -> PureLoss | ConcentratedLoss:
    """Read the loss that the options name; without any, say which is missing."""
    if options["rho"] is not None and options["noise"] == "laplace" and options["epsilon"] is None:
        raise click.UsageError("--rho goes with --noise gaussian.")
    missing = "--rho" if options["noise"] == "gaussian" else "--epsilon"
    if options[missing[2:]] is None and (missing == "--epsilon" or options["epsilon"] is None):
        raise click.UsageError(f"Missing option '{missing}'.")
    return read_loss(options["epsilon"], options["noise"], options["rho"], options["delta"])
