"""``dpheatmap cluster``: k places near people, from a release."""

from __future__ import annotations

from typing import Any

import click

from dpheatmap._util.parameters import check
from dpheatmap.cli.coast_hint import hint_at_coast
from dpheatmap.cli.series_outputs import check_slice, source_from, warn_of_source
from dpheatmap.cli.shared_options import check_outputs, json_option, slice_option
from dpheatmap.cli.terminal import answer, progress, say
from dpheatmap.estimate.places import kmedian
from dpheatmap.releases.release import load
from dpheatmap.releases.sliced_release import SlicedRelease
from dpheatmap.render.content.numbers import length_in_words
from dpheatmap.render.figure.places_map import FORMATS, columns_of, refuse


@click.command("cluster")
@click.argument("release")
@click.option("-k", "--places", "k", type=int, required=True, metavar="K", help="How many places.")
@click.option(
    "-o", "--output", "outputs", multiple=True, metavar="FILE",
    help=f"A file to write; the ending tells what: {', '.join(FORMATS)}. Without one, the table is printed.",
)  # fmt: skip
@click.option(
    "--metric", default="l1", show_default=True, help="Distances: l1, along streets north and east, or euclidean."
)
@click.option(
    "--method", default="posterior", show_default=True, help="How people are estimated: posterior, paper or dense."
)
@slice_option
@json_option
def command(
    release: str, k: int, outputs: tuple[str, ...], metric: str, method: str, slice_: str | None, as_json: bool
) -> None:
    """Find K places that people are near to, such as where to put stations, in RELEASE, a .dph.parquet file.

    It costs no budget: the places follow from the release alone. Of a release of several
    slices, --slice takes one. Example:

    \b
    dpheatmap cluster trips.dph.parquet -k 10 -o places.geojson -o places.csv -o places.png
    """
    check(k=k, metric=metric, method=method)
    check_outputs(outputs, FORMATS, read=(release,))
    found = load(release)
    check_slice(found, release, slice_)
    made = source_from(found, release, slice_)
    assert not isinstance(made, SlicedRelease)
    for output in outputs:
        refuse(made.domain, output)
    with progress("Looking for places"):
        places = kmedian(made, k, metric=metric, method=method)
        columns = columns_of(places)
        for output in outputs:
            places.save(output)
    warn_of_source(made)
    hint_at_coast(places.domain, outputs, {})
    say(f"People are {length_in_words(places.cost, places.domain)} from the nearest place on average ({metric}).")
    values = {
        "cost": places.cost,
        "unit": places.domain.unit_name,
        "metric": metric,
        "epsilon": str(made.epsilon),
        "places": [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)],
        "outputs": list(outputs),
    }
    answer(as_json, values, "\n".join(outputs or _table(columns)))


def _table(columns: dict[str, list[Any]]) -> list[str]:
    """Format the columns with their significant digits, each as wide as needed."""
    texts = [[name, *(_figure(name, value) for value in values)] for name, values in columns.items()]
    aligned = [[text.rjust(max(map(len, column))) for text in column] for column in texts]
    return ["  ".join(row) for row in zip(*aligned, strict=True)]


def _figure(name: str, value: float) -> str:
    if name in ("lon", "lat", "x", "y"):
        return f"{value:.7g}"
    if name.startswith("people") or abs(value) >= 1000:
        return f"{value:.0f}"
    return f"{value:.4g}"
