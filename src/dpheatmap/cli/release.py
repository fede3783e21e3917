"""``dpheatmap release``: from a table of people's positions to a release and its maps."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import click

from dpheatmap.cli import terminal
from dpheatmap.cli.budget import budget_from, budget_options, charged
from dpheatmap.cli.options import (
    RELEASE_SUFFIX,
    check_outputs,
    domain_from,
    json_option,
    map_options,
    place_options,
    table_options,
)
from dpheatmap.release import Release, check_method


@click.command("release")
@click.argument("file")
@click.option("--epsilon", required=True, help="How much may leak: 1 is common, smaller protects more. 0.5 or 1/3.")
@table_options
@place_options
@map_options
@budget_options
@click.option("--private-report", metavar="FILE", help="Write exact numbers (rows, people, left out) to this file.")
@click.option("--design", default="adaptive", show_default=True, help="What is measured: adaptive or paper.")
@click.option(
    "--width", type=int, default=20, show_default=True, help="Cells kept at each level by the paper's design."
)
@click.option("--decay", type=float, help="How fast the levels' parts of epsilon fall; the paper's 1/sqrt(2).")
@click.option("--memory", type=int, metavar="MB", help="Memory of the aggregation; the rest goes to disk.")
@json_option
def command(
    file: str,
    epsilon: str,
    outputs: tuple[str, ...],
    sigma: float | None,
    size: int | None,
    method: str,
    private_report: str | None,
    design: str,
    width: int,
    decay: float | Fraction | None,
    as_json: bool,
    **rest: Any,
) -> None:
    """Measure where people are in FILE, under differential privacy.

    FILE is CSV, Parquet or JSON, or a quoted glob of such files. Example:

    dpheatmap release trips.parquet --epsilon 1 --user rider --x lon --y lat --bbox=-74.1,40.6,-73.8,40.9 -o map.png
    """
    from dpheatmap.budget import PAPER_DECAY
    from dpheatmap.curator.api import Counts, release
    from dpheatmap.parameters import check

    domain = domain_from(*(rest.pop(name) for name in ("bbox", "image", "unit", "resolution", "depth")))
    check(design=design, **{n: v for n, v in (("sigma", sigma), ("size", size)) if v is not None})
    check_method(method, design)
    budget = budget_from(file, *(rest.pop(name) for name in ("ledger", "population", "no_ledger", "partition", "part")))
    check_outputs(outputs)
    decay = PAPER_DECAY if decay is None else decay
    seen: list[Counts] = []
    with terminal.progress("Releasing") as tick:
        made = release(
            file,
            domain,
            epsilon=epsilon,
            design=design,
            width=width,
            decay=decay,
            seen=seen.append,
            progress=tick,
            **budget,
            **rest,
        )
    terminal.private_report(seen[0], private_report)
    written = write_outputs(made, outputs, sigma=sigma, size=size, method=method)
    terminal.say(made.label["how_strongly"])
    terminal.say(charged(made, **budget))
    terminal.answer(
        as_json, {"epsilon": str(made.epsilon), "outputs": written, "label": dict(made.label)}, "\n".join(written)
    )


def write_outputs(
    release: Release, outputs: tuple[str, ...], *, sigma: float | None, size: int | None, method: str
) -> list[str]:
    """Write the release itself first, so that what was paid for is safe, then its maps."""
    ordered = sorted(outputs, key=lambda output: not output.endswith(RELEASE_SUFFIX))
    heat = None
    for output in ordered:
        if output.endswith(RELEASE_SUFFIX):
            release.save(output)
        else:
            heat = heat or release.heatmap(sigma=sigma, size=size, method=method)
            heat.save(output)
    return ordered
