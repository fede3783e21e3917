"""``dpheatmap export``: maps from a release that was saved earlier."""

from __future__ import annotations

from typing import Any

import click

from dpheatmap.cli.options import check_outputs, json_option, look_from, map_options
from dpheatmap.cli.release import write_outputs
from dpheatmap.cli.terminal import answer
from dpheatmap.release import load


@click.command("export")
@click.argument("release")
@map_options
@json_option
def command(
    release: str,
    outputs: tuple[str, ...],
    sigma: float | None,
    size: int | None,
    method: str,
    as_json: bool,
    **choices: Any,
) -> None:
    """Make maps from RELEASE, a .dph.parquet file. It costs no budget: make as many as you like.

    Example: dpheatmap export trips.dph.parquet -o map.png -o map.tif --sigma 300
    """
    check_outputs(outputs)
    look = look_from(choices, outputs)
    written = write_outputs(load(release), outputs, look, sigma=sigma, size=size, method=method)
    answer(as_json, {"outputs": written}, "\n".join(written))
