"""``dpheatmap compare``: every method on the data holder's own file, against the true map. Private."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dpheatmap._util.files import replace_whole
from dpheatmap.cli import terminal
from dpheatmap.cli.shared_options import (
    PLACE,
    check_outputs,
    domain_from,
    engine_options,
    json_option,
    place_options,
    pop_choices,
    table_options,
)

if TYPE_CHECKING:
    from dpheatmap.evaluate.score_table import Series

PRIVATE = "PRIVATE: compared with the true map of real people. Do not publish."
NOT_COVERED = (
    "Choosing epsilon or a method by this comparison is not covered by any promise: the choice itself tells about the "
    "data. Choose on other people's data, or on generated ones."
)
LEGEND = "Means over the runs, ± half of a 95 % interval where there are several; * the best of its column."
PICTURES = (".png", ".svg", ".pdf")


@click.command("compare")
@click.argument("file")
@click.option("--epsilon", "epsilons", default="0.5,1,2,5", show_default=True, help="Epsilons, separated by commas.")
@table_options
@engine_options
@place_options
@click.option("--methods", metavar="NAMES", help="Methods, separated by commas; all by default.")
@click.option("--trials", type=click.IntRange(1, 1000), default=5, show_default=True, help="Runs of each method.")
@click.option("--sigma", type=float, help="Smoothing in ground metres, pixels or fractions of the side.")
@click.option(
    "--size", type=int, metavar="PIXELS", help="Pixels on the longer side of the maps; at most 256 by default."
)
@click.option("-o", "--output", "outputs", multiple=True, metavar="FILE", help=".csv, .json, .png, .svg or .pdf.")
@json_option
def command(
    file: str,
    epsilons: str,
    methods: str | None,
    trials: int,
    sigma: float | None,
    size: int | None,
    outputs: tuple[str, ...],
    as_json: bool,
    **rest: Any,
) -> None:
    """Judge every method on FILE by the true map. Private: for the data holder's eyes.

    Reads the truth, so everything it writes is marked private. It makes no release and charges no budget. Example:

    \b
    dpheatmap compare trips.csv --user rider --x lon --y lat --bbox=7.3,46.9,7.5,47.02 --epsilon 1,5 -o compare.png
    """
    from dpheatmap.curator import aggregate
    from dpheatmap.evaluate.chart import new_figure
    from dpheatmap.evaluate.comparison import Settings, compare
    from dpheatmap.evaluate.score_table import as_text

    domain = domain_from(**pop_choices(rest, PLACE))
    check_outputs(outputs, (".csv", ".json", *PICTURES), read=(file,))
    if any(output.lower().endswith(PICTURES) for output in outputs):
        new_figure()  # fails at once if matplotlib is missing
    settings = Settings.for_domain(
        domain,
        epsilons=epsilons.split(","),
        methods=None if methods is None else [name.strip() for name in methods.split(",")],
        trials=trials,
        sigma=sigma,
        size=size,
    )
    terminal.say(f"{PRIVATE}\n{NOT_COVERED}")
    if settings.left_out:
        terminal.say(f"Left out, because they hold every finest cell in memory: {', '.join(settings.left_out)}.")
    with terminal.progress("Reading") as tick:
        counts = aggregate(file, domain, progress=tick, **rest)
    with terminal.progress("Comparing") as tick:
        series = compare(counts, settings, progress=tick)
    for output in outputs:
        _write(output, series)
    text = f"{PRIVATE}\n\n{as_text(series, 'epsilon')}\n\n{LEGEND}"
    terminal.answer(as_json, {**_records_with_warning(series), "outputs": list(outputs)}, text)


def _records_with_warning(series: Series) -> dict[str, Any]:
    """The results as records, after the warning."""
    from dpheatmap.evaluate.score_table import records

    return {"private": PRIVATE, "caution": NOT_COVERED, "results": records(series, "epsilon")}


def _write(output: str, series: Series) -> None:
    """Write one file, readable by its owner only, with the warning at its top."""
    import json

    from dpheatmap.evaluate.chart import four_metrics
    from dpheatmap.evaluate.score_table import as_csv

    marked = _records_with_warning(series)
    with replace_whole(output, private=True) as temporary:
        match Path(output).suffix.lower():
            case ".csv":
                temporary.write_text(as_csv(marked["results"], [PRIVATE, NOT_COVERED]))
            case ".json":
                temporary.write_text(json.dumps(marked, indent=2))
            case _:
                figure = four_metrics(
                    series, axis="epsilon", title="Methods compared with the true map", notes=[NOT_COVERED],
                    warning=PRIVATE, logarithmic=True,
                )  # fmt: skip
                figure.savefig(temporary, dpi=150)
