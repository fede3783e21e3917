"""``dpheatmap export``: maps from a release that was saved earlier."""

from __future__ import annotations

from typing import Any

import click

from dpheatmap._util.parameters import check
from dpheatmap.cli.coast_hint import hint_at_coast
from dpheatmap.cli.release_command import write_outputs
from dpheatmap.cli.shared_options import check_outputs, json_option, look_from, map_options
from dpheatmap.cli.terminal import answer, progress
from dpheatmap.errors import ParameterError
from dpheatmap.heatmap.differences import difference
from dpheatmap.releases.release import load, load_one
from dpheatmap.render import refuse_release
from dpheatmap.render.figure.change import FORMATS as CHANGES


@click.command("export")
@click.argument("release")
@map_options
@click.option("--minus", metavar="RELEASE", help="Map what changed since this earlier release of the same place.")
@click.option("--names", nargs=2, metavar="BEFORE AFTER", help="What both maps are called: 'by day' 'at night'.")
@click.option("--crs", metavar="SYSTEM", help="The system of coordinates of a .tif, such as the equal-area EPSG:3035.")
@click.option("--prior", metavar="FILE", help="What is already public: a release, a .tif or a .geojson of the place.")
@json_option
def command(
    release: str,
    outputs: tuple[str, ...],
    sigma: float | None,
    size: int | None,
    method: str,
    values: str,
    minus: str | None,
    names: tuple[str, str] | None,
    prior: str | None,
    as_json: bool,
    **choices: Any,
) -> None:
    """Make maps from RELEASE, a .dph.parquet file. It costs no budget: make as many as you like.

    Example:

    \b
    dpheatmap export trips.dph.parquet -o map.png -o map.tif --sigma 300
    """
    check(values=values)
    settings: dict[str, Any] = {"sigma": sigma, "size": size, "method": method}
    read = (release, minus, prior, choices["background"])
    if minus is None:
        check_outputs(outputs, read=read)
        if names is not None:
            raise ParameterError("--names goes with --minus: it names two maps. Leave it out.")
    else:
        check_outputs(outputs, CHANGES, read=read)
        for output in outputs:
            refuse_release(output)
        if values != "share":
            raise ParameterError("A map of what changed is one of shares. Leave --values out.")
        if prior is not None:
            raise ParameterError("A map of what changed does not take --prior. Leave it out.")
    crs = choices.pop("crs")
    look = look_from(choices, outputs)
    if crs is not None:
        if minus is not None:
            raise ParameterError(f"A .tif of what changed is in EPSG:3857 alone; --crs was {crs!r}. Leave it out.")
        if not any(output.lower().endswith(".tif") for output in outputs):
            raise ParameterError("--crs is for a .tif of a map. Leave it out; --help tells what it is for.")
        look |= {"crs": crs}
    with progress("Drawing"):
        if minus is None:
            written = write_outputs(load(release), outputs, look, prior=prior, values=values, **settings)
        else:
            written = write_difference(release, minus, outputs, look, names=names, **settings)
    answer(as_json, {"outputs": written}, "\n".join(written))


def write_difference(
    after: str, before: str, outputs: tuple[str, ...], look: dict[str, Any], **settings: Any
) -> list[str]:
    """Write the maps of the difference between two releases."""
    for name in sorted(look.keys() - {"title", "subtitle", "source", "colours", "basemap", "tiles"}):
        raise ParameterError(f"A map of what changed does not take --{name}. Leave it out.")
    change = difference(load_one(after), load_one(before), **settings)
    for output in outputs:
        page = output.lower().endswith(".html")
        change.save(output, **{name: value for name, value in look.items() if page or name != "tiles"})
    hint_at_coast(change.domain, outputs, look)
    return list(outputs)
