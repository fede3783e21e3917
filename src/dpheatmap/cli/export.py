"""``dpheatmap export``: maps from a release that was saved earlier."""

from __future__ import annotations

from typing import Any

import click

from dpheatmap.cli.options import check_outputs, json_option, map_options
from dpheatmap.cli.release import write_outputs
from dpheatmap.cli.terminal import answer
from dpheatmap.difference import difference
from dpheatmap.release import load


@click.command("export")
@click.argument("release")
@map_options
@click.option("--minus", metavar="RELEASE", help="Map what changed since this earlier release of the same place.")
@json_option
def command(
    release: str, outputs: tuple[str, ...], tiles: str | None, minus: str | None, as_json: bool, **settings: Any
) -> None:
    """Make maps from RELEASE, a .dph.parquet file. It costs no budget: make as many as you like.

    Example: dpheatmap export trips.dph.parquet -o map.png --sigma 300
    """
    if minus is None:
        check_outputs(outputs, tiles)
        written = write_outputs(load(release), outputs, tiles, **settings)
    else:
        written = write_difference(release, minus, outputs, tiles, **settings)
    answer(as_json, {"outputs": written}, "\n".join(written))


def write_difference(
    after: str, before: str, outputs: tuple[str, ...], tiles: str | None, **settings: Any
) -> list[str]:
    """Write the maps of what changed between two releases."""
    from dpheatmap.render.change import FORMATS

    check_outputs(outputs, tiles, FORMATS)
    change = difference(load(after), load(before), **settings)
    for output in outputs:
        change.save(output, tiles=tiles if output.lower().endswith(".html") else None)
    return list(outputs)
