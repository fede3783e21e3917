"""``dpheatmap areas``: how many people are in districts, hexagons or areas of interest, from a release."""

from __future__ import annotations

from typing import Any

import click

from dpheatmap._util.parameters import check
from dpheatmap.cli.shared_options import check_outputs, json_option
from dpheatmap.cli.terminal import answer, doubts_as_lines, progress, say
from dpheatmap.releases.release import load_one
from dpheatmap.render.content.look import Look
from dpheatmap.render.formats.area_file import FORMATS, refuse, save

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
@click.option("--areas-crs", metavar="SYSTEM", help="The system of coordinates of AREAS, if it tells none: EPSG:2056.")
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
    areas_crs: str | None, values: str, no_basemap: bool, as_json: bool, **words: str | None,
) -> None:  # fmt: skip
    """Estimate how many people are in AREAS, from RELEASE, a .dph.parquet file.

    AREAS is a file of polygons (.geojson, .gpkg, .shp, .parquet), for images also a picture (.png) with a colour for
    each area; H3 cells or geohashes with commas between them; h3:7, all H3 cells of resolution 7; or a number, the
    level of the release's own cells. It costs no budget. Somebody with half of their events in an area counts one half
    there. Pictures are a map of the areas with a chart of their ranks. Example:

    \b
    dpheatmap areas trips.dph.parquet districts.gpkg --name district -o districts.csv -o districts.png
    """
    given = {key: value for key, value in words.items() if value is not None}
    check(confidence=confidence, values=values, **given)
    check_outputs(outputs, FORMATS, read=(release, areas, words["background"]))
    look = Look(**given, basemap=not no_basemap)  # type: ignore[arg-type]
    made = load_one(release)
    for output in outputs:
        refuse(made.domain, output, look)
    source: Any = int(areas) if areas.isascii() and areas.isdigit() else areas
    with progress("Counting people in areas"), doubts_as_lines("areas"):
        table = made.areas(source, confidence=confidence, name=name, layer=layer, areas_crs=areas_crs)
        for output in outputs:
            save(made, table, output, look, values=values)
    _tell(table)
    told = {
        "confidence": confidence,
        "epsilon": str(made.epsilon),
        "areas": _records(table),
        "outputs": list(outputs),
    }
    answer(as_json, told, "\n".join(outputs or _lines(table)))


def _tell(table: Any) -> None:
    """Say how the areas were read, and which have something to note."""
    for line in table.attrs["said"]:
        say(line)
    noted: dict[str, list[str]] = {}
    for name, note in zip(table["area"], table["note"], strict=True):
        for part in note.split(", ") if note else []:
            noted.setdefault(part.partition(":")[0], []).append(name)
    for note, names in noted.items():
        named = ", ".join(names[:5]) + (" and others" if len(names) > 5 else "")
        say(f"{len(names):,} of {len(table):,} areas: {note} ({named}).")


def _records(table: Any) -> list[dict[str, Any]]:
    """The numbers of the areas, None where there are none."""
    ours = table[table.attrs["columns"]].astype(object)
    records: list[dict[str, Any]] = ours.where(ours.notna(), None).to_dict("records")
    return records


def _lines(table: Any) -> list[str]:
    """The areas with the most people, in words; those outside the place come last."""
    records = sorted(_records(table), key=lambda row: (row["rank"] is None, row["rank"]))
    most = records[:_SHOWN]
    rows = [["", "area", "people", "between", "share"], *map(_row, most)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ["  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    rest = len(table) - len(most)
    return [*lines, f"and {rest:,} more: write them to a file with -o"] if rest > 0 else lines


def _row(row: dict[str, Any]) -> list[str]:
    """An area in words."""
    if row["rank"] is None:
        return ["", row["area"], "", row["note"], ""]
    people, low, high = (f"{row[name]:,.0f}" for name in ("people", "people_low", "people_high"))
    return [f"{row['rank']}.", row["area"], people, f"{low} and {high}", f"{row['share']:.1%}"]
