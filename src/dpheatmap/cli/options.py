"""Options that several commands share, and what they are turned into."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from dpheatmap.domain import Domain
from dpheatmap.errors import DomainError, ParameterError, PrivacyRefusal
from dpheatmap.files import check_writable

RELEASE_SUFFIX = ".dph.parquet"

Command = TypeVar("Command", bound=Callable[..., Any])


def table_options(command: Command) -> Command:
    """--user, --x, --y, --weight, --where and --each-row-is-a-person."""
    for option in reversed(
        [
            click.option("--user", metavar="COLUMN", help="The column that tells whose a row is."),
            click.option("--x", required=True, metavar="COLUMN", help="Longitude, or x."),
            click.option("--y", required=True, metavar="COLUMN", help="Latitude, or y."),
            click.option(
                "--weight", metavar="COLUMN",
                help="An integer column: how much an event counts within a person's 1.",
            ),
            click.option(
                "--where", metavar="PREDICATE", help="A public condition on single rows, such as a date range."
            ),
            click.option(
                "--each-row-is-a-person", is_flag=True, help="There is no user column: every row is another person."
            ),
        ]
    ):  # fmt: skip
        command = option(command)
    return command


def place_options(command: Command) -> Command:
    """--bbox, --image, --unit, --resolution and --depth."""
    for option in reversed(
        [
            click.option("--bbox", metavar="W,S,E,N", help="A box in degrees: west, south, east, north."),
            click.option("--image", metavar="WxH", help="An image of so many pixels."),
            click.option("--unit", is_flag=True, help="The unit square, 0 to 1 both ways."),
            click.option("--resolution", type=float, metavar="METRES", help="The widest a cell of a box may be."),
            click.option("--depth", type=int, metavar="N", help="The finest level, instead of a resolution."),
        ]
    ):
        command = option(command)
    return command


def map_options(command: Command) -> Command:
    """-o, --sigma, --size and --method."""
    for option in reversed(
        [
            click.option(
                "-o", "--output", "outputs", multiple=True, required=True, metavar="FILE",
                help=f"A file to write; the ending tells what: {RELEASE_SUFFIX} (the release), .png, .npz, .csv.",
            ),
            click.option("--sigma", type=float, help="Smoothing in ground metres, pixels or fractions of the side."),
            click.option("--size", type=int, metavar="PIXELS", help="Pixels on the longer side of the map."),
            click.option(
                "--method", default="posterior", show_default=True,
                help="How the map is made: posterior, or paper (for that design).",
            ),
        ]
    ):  # fmt: skip
        command = option(command)
    return command


def json_option(command: Command) -> Command:
    """--json."""
    return click.option("--json", "as_json", is_flag=True, help="Answer in JSON on stdout.")(command)


def domain_from(bbox: str | None, image: str | None, unit: bool, resolution: float | None, depth: int | None) -> Domain:
    """The place that the options name; without one, a refusal: a place read off the data would tell on people."""
    if sum(map(bool, (bbox, image, unit))) > 1:
        raise DomainError("The place is one of --bbox, --image and --unit, and several were given. Keep one.")
    if resolution is not None and not bbox:
        raise DomainError("--resolution is in metres, and goes with --bbox. Use --depth instead.")
    if bbox:
        return Domain.bbox(*_numbers("--bbox", bbox, ",", 4, float), resolution=resolution, depth=depth)
    if image:
        width, height = _numbers("--image", image.lower(), "x", 2, int)
        return Domain.image(width, height, depth=depth)
    if unit:
        return Domain.unit() if depth is None else Domain.unit(depth)
    raise PrivacyRefusal(
        "No place was given, and one read off the data would tell where people are. "
        "Give --bbox W,S,E,N, --image WxH or --unit."
    )


def _numbers(option: str, text: str, separator: str, count: int, kind: Callable[[str], Any]) -> list[Any]:
    try:
        values = [kind(part) for part in text.split(separator)]
    except ValueError:
        values = []
    if len(values) != count:
        raise DomainError(f"{option} takes {count} numbers separated by {separator!r}; it was {text!r}. See --help.")
    return values


def check_outputs(outputs: tuple[str, ...]) -> None:
    """Refuse what can't be written before anything is read or spent."""
    from dpheatmap.render import FORMATS

    for output in outputs:
        path = Path(output)
        if not path.name.endswith(RELEASE_SUFFIX) and path.suffix.lower() not in FORMATS:
            known = ", ".join([RELEASE_SUFFIX, *FORMATS])
            raise ParameterError(f"An output must end in one of {known}; it was {output!r}. Choose one of these.")
        if not path.parent.is_dir():
            raise ParameterError(f"The folder of {output!r} does not exist. Make it first.")
        check_writable(path)
