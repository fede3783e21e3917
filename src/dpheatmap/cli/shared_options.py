"""Options that several commands share, and their conversion to values."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import click

from dpheatmap._util.files import check_writable, matching
from dpheatmap._util.parameters import check
from dpheatmap.cli.output_files import MAPS, Files
from dpheatmap.errors import DomainError, ParameterError, PrivacyRefusal
from dpheatmap.place.domain import Domain
from dpheatmap.render import FORMATS, RELEASE_SUFFIX, is_release

Command = TypeVar("Command", bound=Callable[..., Any])


def combine_options(*options: Callable[[Any], Any]) -> Callable[[Command], Command]:
    """Combine several options into one decorator, in the order in which --help lists them."""

    def decorate(command: Command) -> Command:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


def pop_choices(choices: dict[str, Any], names: Iterable[str]) -> dict[str, Any]:
    """Remove the choices of these names from all choices, and return them."""
    return {name: choices.pop(name) for name in names}


column_options = combine_options(
    click.option("--user", metavar="COLUMN", help="The column that tells whose a row is."),
    click.option("--x", metavar="COLUMN", help="Longitude, or x."),
    click.option("--y", metavar="COLUMN", help="Latitude, or y."),
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
)  # fmt: skip
"""--user, --x, --y, --weight, --where and --each-row-is-a-person."""


table_options = combine_options(
    column_options,
    click.option(
        "--each-row-is-a-trip", is_flag=True,
        help="There is no user column: every row is a trip. Trips are protected, not the people who made several.",
    ),
    click.option("--to-x", metavar="COLUMN", help="Longitude, or x, of a trip's end."),
    click.option("--to-y", metavar="COLUMN", help="Latitude, or y, of a trip's end."),
    click.option(
        "--points", metavar="WHICH",
        help="What of a trip counts: start, end, both, or path, 17 points on the straight line between them.",
    ),
    click.option(
        "--geometry", metavar="COLUMN", help="A column of points instead of x and y; GeoParquet tells its own."
    ),
    click.option(
        "--crs", metavar="SYSTEM", help="The system of the coordinates, such as EPSG:2056, if they are not degrees."
    ),
    click.option(
        "--numbers", metavar="WAY",
        help="How coordinates are written, if not as 7.45: comma (7,45), thousands (2,600,000.5) or degrees (73°59'W).",
    ),
    click.option(
        "--bad-lines", default="stop", show_default=True,
        help="What a broken line, row or file does: stop the release before it is paid for, or be left out (skip).",
    ),
)  # fmt: skip
"""The columns' options, those of trips, --geometry, --crs, --numbers and --bad-lines."""


table_option = click.option(
    "--table", metavar="NAME", help="The table of a database, the sheet of a workbook, or the layer of a GeoPackage."
)
"""--table."""


engine_options = combine_options(
    table_option,
    click.option(
        "--engine", help="Who counts: duckdb, as by default, or spark, with FILE a table or a path that it knows."
    ),
)
"""--table and --engine."""


slice_option = click.option(
    "--slice", "slice_", metavar="NAME", help="Take one slice of a release of several, such as 8 or 'mon 8'."
)
"""--slice."""


people_share_option = click.option(
    "--people-share", type=float, metavar="F",
    help="The part of epsilon for the number of all people: 0.01 if not given. dpheatmap plan tells what it buys.",
)  # fmt: skip
"""--people-share."""


place_options = combine_options(
    click.option("--bbox", metavar="W,S,E,N", help="A box in degrees: west, south, east, north."),
    click.option(
        "--inside", metavar="FILE",
        help="A boundary: polygons in a .geojson, .gpkg, .shp or .parquet. Public, as every place.",
    ),
    click.option("--image", metavar="WxH", help="An image of so many pixels."),
    click.option("--unit", is_flag=True, help="The unit square, 0 to 1 both ways."),
    click.option("--resolution", type=float, metavar="METRES", help="The widest a cell on the ground may be."),
    click.option("--depth", type=int, metavar="N", help="The finest level, instead of a resolution."),
)  # fmt: skip
"""--bbox, --inside, --image, --unit, --resolution and --depth."""
PLACE = ("bbox", "inside", "image", "unit", "resolution", "depth")


map_options = combine_options(
    click.option(
        "-o", "--output", "outputs", multiple=True, required=True, metavar="FILE",
        help=f"A file to write; the ending tells what: {RELEASE_SUFFIX} (the release), {', '.join(FORMATS)}.",
    ),
    click.option("--sigma", type=float, help="Smoothing in ground metres, pixels or fractions of the side."),
    click.option("--size", type=int, metavar="PIXELS", help="Pixels on the longer side of the map."),
    click.option(
        "--method", default="posterior", show_default=True,
        help="How the map is made: posterior; or the paper's way, for its designs: paper, or dense.",
    ),
    click.option("--title", help="What stands above a picture or a page."),
    click.option("--subtitle", help="A line below the title."),
    click.option("--source", help="Whose data it is, for the small print."),
    click.option("--what", metavar="NOUN", help="What people did there, such as check-ins, for the words."),
    click.option("--style", help="bands, as by default; smooth; or, of a picture, contour."),
    click.option("--colours", help="light, as pictures are by default, or dark; a page follows the reader's device."),
    click.option(
        "--limits", metavar="LOW,HIGH",
        help="The first and the last edge of the bands, for a series of maps: of every 1,000 people per km2, or of "
        "every 100 per 100 x 100 pixels.",
    ),
    click.option(
        "--background", metavar="FILE", help="A picture under the heat, of its shape; or pitch, for football."
    ),
    click.option("--no-basemap", is_flag=True, help="Draw no coast, borders and towns."),
    click.option(
        "--context", multiple=True, metavar="FILE[:KIND]",
        help="Your own map: GeoJSON, GeoPackage, Shapefile, GeoParquet or PMTiles, drawn as water, park, land, road, "
        "rail or border; or the column with names. Never a file made from the private table.",
    ),
    click.option("--context-credit", metavar="TEXT", help="Whose map that is."),
    click.option("--bare", is_flag=True, help="A .png of the heat alone, with a world file for GIS."),
    click.option(
        "--h3", type=int, metavar="RESOLUTION",
        help="List hexagons of H3 instead of measured cells or pixels, in .geojson, .parquet and .csv.",
    ),
    click.option(
        "--zooms", metavar="FIRST-LAST",
        help="The zooms of .pmtiles, eight if not given; or of the pixels of a .tif and of its overviews.",
    ),
    click.option(
        "--values", default="share", show_default=True,
        help="What numbers are shown in: share, of all people, or people.",
    ),
    click.option(
        "--tiles", metavar="URL",
        help="Map tiles for an .html, with {z}, {x} and {y}; without them it needs no network.",
    ),
)  # fmt: skip
"""-o, --sigma, --size and --method, and how maps are drawn."""


def check_maps(domain: Domain, outputs: tuple[str, ...], look: dict[str, Any], files: Files = MAPS) -> None:
    """Refuse maps of a place that can't be written, before data is read or budget spent."""
    for output in outputs:
        if not is_release(output):
            files.refuse(domain, output, **look_for(output, look, files))


def look_for(output: str, look: Mapping[str, Any], files: Files = MAPS) -> dict[str, Any]:
    """The choices that an output takes."""
    return {name: value for name, value in look.items() if name in files.options_of(output)}


def look_from(choices: dict[str, Any], outputs: tuple[str, ...], files: Files = MAPS) -> dict[str, Any]:
    """Remove the options of drawing from a command's options and return them; some output must take each."""
    plain = ("title", "subtitle", "source", "what", "style", "colours", "background", "context_credit", "h3", "tiles")
    look = {name: choices.pop(name) for name in plain}
    zooms, bare, limits = choices.pop("zooms"), choices.pop("bare"), choices.pop("limits")
    look |= {"zooms": zooms and _zooms(zooms), "bare": bare or None, "limits": limits and _limits(limits)}
    look |= {"context": choices.pop("context") or None}
    look |= {"basemap": False if choices.pop("no_basemap") else None}
    look = {name: value for name, value in look.items() if value is not None}
    check(**look)
    taken = set[str]().union(*(files.options_of(output) for output in outputs if not is_release(output)))
    for name in sorted(look.keys() - taken):
        option = "--no-basemap" if name == "basemap" else f"--{name.replace('_', '-')}"
        raise ParameterError(f"None of the outputs takes {option}. Leave it out; --help tells what it is for.")
    return look


def _limits(text: str) -> tuple[float, float]:
    try:
        low, high = (float(part) for part in text.split(","))
    except ValueError:
        raise ParameterError(f"--limits takes two numbers, as in 1,50; it was {text!r}. See --help.") from None
    return low, high


def _zooms(text: str) -> tuple[int, ...]:
    first, _, last = text.partition("-")
    if not (first.isdigit() and last.isdigit()):
        raise ParameterError(f"--zooms takes two zooms, as in 6-13; it was {text!r}. See --help.")
    return int(first), int(last)


def json_option(command: Command) -> Command:
    """--json."""
    return click.option("--json", "as_json", is_flag=True, help="Answer in JSON on stdout.")(command)


def domain_from(
    bbox: str | None, inside: str | None, image: str | None, unit: bool, resolution: float | None, depth: int | None
) -> Domain:
    """The place that the options name; refused without one, because a place taken from the data would leak."""
    if sum(map(bool, (bbox, inside, image, unit))) > 1:
        raise DomainError("The place is one of --bbox, --inside, --image and --unit, and several were given. Keep one.")
    if resolution is not None and not (bbox or inside):
        raise DomainError("--resolution is in metres, and goes with --bbox and --inside. Use --depth instead.")
    if inside:
        return Domain.polygon(inside, resolution=resolution, depth=depth)
    if bbox:
        return Domain.bbox(*_numbers("--bbox", bbox, ",", 4, float), resolution=resolution, depth=depth)
    if image:
        width, height = _numbers("--image", image.lower(), "x", 2, int)
        return Domain.image(width, height, depth=depth)
    if unit:
        return Domain.unit() if depth is None else Domain.unit(depth)
    raise PrivacyRefusal(
        "No place was given, and one read off the data would tell where people are. "
        "Give --bbox W,S,E,N, --inside FILE, --image WxH or --unit."
    )


def _numbers(option: str, text: str, separator: str, count: int, kind: Callable[[str], Any]) -> list[Any]:
    try:
        values = [kind(part) for part in text.split(separator)]
    except ValueError:
        values = []
    if len(values) != count:
        raise DomainError(f"{option} takes {count} numbers separated by {separator!r}; it was {text!r}. See --help.")
    return values


def check_outputs(
    outputs: Sequence[str], formats: Sequence[str] = (RELEASE_SUFFIX, *FORMATS), *, read: Sequence[str | None] = ()
) -> None:
    """Refuse unknown suffixes, and paths that `check_place` refuses."""
    check_suffixes(outputs, formats)
    for output in outputs:
        check_place(output, read=read)


def check_suffixes(outputs: Sequence[str], formats: Sequence[str]) -> None:
    """Refuse unknown suffixes."""
    for output in outputs:
        if not Path(output).name.lower().endswith(tuple(formats)):
            known = ", ".join(formats)
            raise ParameterError(f"An output must end in one of {known}; it was {output!r}. Choose one of these.")


def check_place(output: str, *, read: Sequence[str | None]) -> None:
    """Refuse folders that are missing or not writable, and files that the command also reads or writes."""
    if not Path(output).parent.is_dir():
        raise ParameterError(f"The folder of {output!r} does not exist. Make it first.")
    for given in read:
        if given is not None and os.path.realpath(output) in map(os.path.realpath, (given, *matching(given))):
            raise ParameterError(f"{output!r} is in use by this command itself. Give the output another name.")
    check_writable(output)
