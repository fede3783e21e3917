"""``dpheatmap areas``: how many people are in districts, hexagons or areas of interest, from a release."""

from __future__ import annotations

from typing import Any

import click

from dpheatmap._util.parameters import check
from dpheatmap.cli.shared_options import check_outputs, json_option
from dpheatmap.cli.terminal import answer, progress, say
from dpheatmap.errors import ParameterError
from dpheatmap.releases.release import load_one
from dpheatmap.render.content.look import Look
from dpheatmap.render.formats.area_file import FORMATS, PICTURED, refuse, save

_SHOWN = 20


@click.command("areas")
@click.argument("release")
@click.argument("areas")
@click.option(
    "-o", "--output", "outputs", multiple=True, metavar="FILE",
    help=f"A file to write; the ending tells what: {', '.join(FORMATS)}. Without one, the table is printed.",
)  # fmt: skip
@click.option(
    "--confidence", type=float, default=0.9, show_default=True, help="How often an interval holds the true number."
)
@click.option("--name", metavar="COLUMN", help="The column of the areas' names; else the first of different texts.")
@click.option("--layer", help="The layer of AREAS, if it has several.")
@click.option(
    "--values", default="share", show_default=True,
    help="What pictures and pages show: share, of all people, or people.",
)  # fmt: skip
@click.option("--title", help="What stands above a picture or a page.")
@click.option("--subtitle", help="A line below the title.")
@click.option("--source", help="Whose data it is, for the small print.")
@click.option("--colours", help="light, as by default, or dark.")
@click.option("--background", metavar="FILE", help="The picture that people looked at, under the areas.")
@click.option("--no-basemap", is_flag=True, help="Draw no coast, borders and towns.")
@json_option
def command(
    release: str, areas: str, outputs: tuple[str, ...], confidence: float, name: str | None, layer: str | None,
    values: str, no_basemap: bool, as_json: bool, **words: str | None,
) -> None:  # fmt: skip
    """Estimate how many people are in AREAS, from RELEASE, a .dph.parquet file.

    AREAS is a file of polygons (.geojson, .gpkg, .shp, .parquet), for images also a picture (.png) with a colour for
    each area; or a number, the level of the release's own cells. It costs no budget. Somebody with half of their events
    in an area counts one half there. Pictures are a map of the areas with a chart of their ranks. Example:

    \b
    dpheatmap areas trips.dph.parquet districts.gpkg --name district -o districts.csv -o districts.png
    """
    given = {key: value for key, value in words.items() if value is not None}
    check(confidence=confidence, values=values, **given)
    check_outputs(outputs, FORMATS, read=(release, areas, words["background"]))
    shown = [output for output in outputs if output.lower().endswith(PICTURED)]
    if shown and confidence != 0.9:
        raise ParameterError(f"Pictures and pages have ranges of 0.9; --confidence was {confidence:g}. Leave it out.")
    look = Look(**given, basemap=not no_basemap)  # type: ignore[arg-type]
    made = load_one(release)
    for output in outputs:
        refuse(made.domain, output, look)
    with progress("Counting people in areas"):
        table = made.areas(int(areas) if areas.isdigit() else areas, confidence=confidence, name=name, layer=layer)
        for output in outputs:
            save(made, table, output, look, values=values)
    _tell(table)
    told = {
        "confidence": confidence,
        "epsilon": str(made.epsilon),
        "areas": table.drop(columns="geometry").to_dict("records"),
        "outputs": list(outputs),
    }
    answer(as_json, told, "\n".join(outputs or _lines(table)))


def _tell(table: Any) -> None:
    """Say which areas have something to note."""
    for note, rows in table[table["note"] != ""].groupby("note"):
        named = ", ".join(rows["area"].head(5)) + (" and others" if len(rows) > 5 else "")
        say(f"{len(rows):,} of {len(table):,} areas: {note} ({named}).")


def _lines(table: Any) -> list[str]:
    """The areas with the most people, in words."""
    most = table.sort_values("rank").head(_SHOWN)
    rows = [["", "area", "people", "between", "share"]]
    for row in most.to_dict("records"):
        people, low, high = (f"{row[name]:,.0f}" for name in ("people", "people_low", "people_high"))
        rows.append([f"{row['rank']}.", row["area"], people, f"{low} and {high}", f"{row['share']:.1%}"])
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ["  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    rest = len(table) - len(most)
    return [*lines, f"and {rest:,} more: write them to a file with -o"] if rest > 0 else lines
