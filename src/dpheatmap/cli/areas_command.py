"""``dpheatmap areas``: how many people are in districts, hexagons or areas of interest, from a release."""

from __future__ import annotations

from typing import Any

import click

from dpheatmap._util.parameters import check
from dpheatmap.cli.area_lines import area_lines, change_lines, lines_by_slice
from dpheatmap.cli.series_outputs import check_slice, source_from, warn_of_source
from dpheatmap.cli.shared_options import check_outputs, json_option, slice_option
from dpheatmap.cli.terminal import answer, doubts_as_lines, progress, say
from dpheatmap.errors import ParameterError
from dpheatmap.releases.release import Release, load
from dpheatmap.releases.release_slice import Slice
from dpheatmap.releases.sliced_release import SlicedRelease
from dpheatmap.render.content.look import Look
from dpheatmap.render.formats.area_file import FORMATS, TABLES, records_of, refuse, save


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
@slice_option
@click.option("--minus-slice", metavar="NAME", help="Count what changed since this slice, up to that of --slice.")
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
    areas_crs: str | None, values: str, no_basemap: bool, slice_: str | None, minus_slice: str | None, as_json: bool,
    **words: str | None,
) -> None:  # fmt: skip
    """Estimate how many people are in AREAS, from RELEASE, a .dph.parquet file.

    AREAS is a file of polygons (.geojson, .gpkg, .shp, .parquet), for images also a picture (.png) with a colour for
    each area; H3 cells or geohashes with commas between them; h3:7, all H3 cells of resolution 7; or a number, the
    level of the release's own cells. It costs no budget. Somebody with half of their events in an area counts one half
    there. Pictures are a map of the areas with a chart of their ranks. A release of several slices has a row for each
    area in each slice; --slice takes one, of which there are pictures, too. Example:

    \b
    dpheatmap areas trips.dph.parquet districts.gpkg --name district -o districts.csv -o districts.png
    """
    given = {key: value for key, value in words.items() if value is not None}
    check(confidence=confidence, values=values, **given)
    check_outputs(outputs, FORMATS, read=(release, areas, words["background"]))
    look = Look(**given, basemap=not no_basemap)  # type: ignore[arg-type]
    made = load(release)
    source = source_from(made, release, slice_)
    _check_slices(made, release, slice_, minus_slice, outputs)
    for output in outputs:
        refuse(made.domain, output, look)
    polygons: Any = int(areas) if areas.isascii() and areas.isdigit() else areas
    options: dict[str, Any] = {"confidence": confidence, "name": name, "layer": layer, "areas_crs": areas_crs}
    with progress("Counting people in areas"), doubts_as_lines("areas"):
        if minus_slice is None:
            table = source.areas(polygons, **options)
        else:
            assert isinstance(made, SlicedRelease)
            table = made.area_changes(polygons, minus_slice, str(slice_), **options)
        for output in outputs:
            save(source, table, output, look, values=values)
    _tell(table)
    warn_of_source(made if minus_slice is not None else source)
    told = {
        "confidence": confidence,
        "epsilon": str(made.epsilon),
        "areas": records_of(table),
        "outputs": list(outputs),
    }
    lines = area_lines if isinstance(source, Release | Slice) else lines_by_slice
    printed = change_lines if minus_slice is not None else lines
    answer(as_json, told, "\n".join(outputs or printed(records_of(table))))


def _check_slices(
    made: Release | SlicedRelease, path: str, slice_: str | None, minus_slice: str | None, outputs: tuple[str, ...]
) -> None:
    """Refuse slices that there are not, and pictures of several."""
    if minus_slice is not None:
        if slice_ is None:
            raise ParameterError("--minus-slice is subtracted from a slice. Name that one with --slice.")
        check_slice(made, path, minus_slice)
    if isinstance(made, SlicedRelease) and (slice_ is None or minus_slice is not None):
        for output in outputs:
            if not output.lower().endswith(TABLES):
                many = "what changed" if minus_slice is not None else f"{len(made.slices)} slices"
                raise ParameterError(
                    f"Areas of {many} are written as tables ({', '.join(TABLES)}); the file was {output!r}. Choose one "
                    "of these, or name one slice with --slice alone."
                )


def _tell(table: Any) -> None:
    """Say how the areas were read, and which have something to note."""
    for line in table.attrs["said"]:
        say(line)
    noted: dict[str, list[str]] = {}
    by_slice = "slice" in table
    names = table["area"] + ", " + table["slice"] if by_slice else table["area"]
    for name, note in zip(names, table["note"], strict=True):
        for part in note.split(", ") if note else []:
            noted.setdefault(part.partition(":")[0], []).append(name)
    for note, found in noted.items():
        named = "; ".join(found[:5]) if by_slice else ", ".join(found[:5])
        more = " and others" if len(found) > 5 else ""
        many = f"{len(found):,} of {len(table):,} {'areas in slices' if by_slice else 'areas'}"
        say(f"{many}: {note} ({named}{more}).")
