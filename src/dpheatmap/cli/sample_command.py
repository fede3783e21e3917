"""``dpheatmap sample``: synthetic points from a release."""

from __future__ import annotations

import click

from dpheatmap._util.parameters import check
from dpheatmap.cli.series_outputs import source_from, warn_of_source
from dpheatmap.cli.shared_options import check_outputs, json_option, slice_option
from dpheatmap.cli.terminal import answer, progress, say
from dpheatmap.releases.release import load
from dpheatmap.render.formats.point_file import FORMATS, refuse, save


@click.command("sample")
@click.argument("release")
@click.option("-n", "--points", "points", type=int, required=True, metavar="N", help="How many points.")
@click.option(
    "-o", "--output", "outputs", multiple=True, required=True, metavar="FILE",
    help=f"A file to write; the ending tells what: {', '.join(FORMATS)}.",
)  # fmt: skip
@slice_option
@click.option("--seed", type=int, help="Another seed gives other points; else it follows from the release.")
@click.option("--uncertain", is_flag=True, help="Draw from one of the maps that may be true, not from the likeliest.")
@json_option
def command(
    release: str,
    points: int,
    outputs: tuple[str, ...],
    slice_: str | None,
    seed: int | None,
    uncertain: bool,
    as_json: bool,
) -> None:
    """Draw synthetic points from RELEASE, a .dph.parquet file, for tools that want points.

    They are places where somebody may be. No point is a person, and there are no journeys in them. It costs no budget.
    Points of a release of several slices have a column for the slice; --slice takes one. Example:

    \b
    dpheatmap sample trips.dph.parquet -n 10000 -o points.parquet
    """
    check(sample_points=points)
    check_outputs(outputs, FORMATS, read=(release,))
    made = source_from(load(release), release, slice_)
    for output in outputs:
        refuse(made.domain, output)
    with progress("Drawing points"):
        drawn = made.sample(points, seed=seed, uncertain=uncertain)
        for output in outputs:
            save(drawn, output)
    say(drawn.attrs["about"])
    warn_of_source(made)
    answer(as_json, {"points": points, "about": drawn.attrs["about"], "outputs": list(outputs)}, "\n".join(outputs))
