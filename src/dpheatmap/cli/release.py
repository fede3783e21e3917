"""``dpheatmap release``: from a table of people's positions to a release and its maps."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import click

from dpheatmap.budget import read_epsilon
from dpheatmap.cli import terminal
from dpheatmap.cli.budget import BUDGET, budget_from, budget_options, charged
from dpheatmap.cli.images import Batch, batch_from, files_for, image_options, in_words, looks_for
from dpheatmap.cli.options import (
    PLACE,
    check_maps,
    check_outputs,
    domain_from,
    json_option,
    look_for,
    look_from,
    map_options,
    place_options,
    table_options,
    taken,
)
from dpheatmap.domain import Domain
from dpheatmap.errors import ParameterError
from dpheatmap.parameters import check
from dpheatmap.release import Release, check_method
from dpheatmap.render import RELEASE_SUFFIX


@click.command("release")
@click.argument("file", required=False)
@click.option("--epsilon", required=True, help="How much may leak: 1 is common, smaller protects more. 0.5 or 1/3.")
@table_options
@place_options
@image_options
@map_options
@budget_options
@click.option("--private-report", metavar="FILE", help="Write exact numbers (rows, people, left out) to this file.")
@click.option("--design", default="adaptive", show_default=True, help="What is measured: adaptive, paper or dense.")
@click.option(
    "--users", type=int, help="The number of people, only if it is public: the dense design's grid follows it."
)
@click.option(
    "--width", type=int, default=20, show_default=True, help="Cells kept at each level by the paper's design."
)
@click.option("--decay", type=float, help="How fast the levels' parts of epsilon fall; the paper's 1/sqrt(2).")
@click.option("--table", metavar="NAME", help="The table of a database, if FILE is the URL of one.")
@click.option(
    "--engine", help="Who counts: duckdb, as by default, or spark, with FILE a table or a path that it knows."
)
@click.option(
    "--counts", metavar="FILE", help="A warehouse's answer to dpheatmap sql, instead of FILE and its columns."
)
@click.option("--memory", type=int, metavar="MB", help="Memory of the aggregation; the rest goes to disk.")
@json_option
def command(
    file: str | None,
    epsilon: str,
    outputs: tuple[str, ...],
    sigma: float | None,
    size: int | None,
    method: str,
    private_report: str | None,
    counts: str | None,
    design: str,
    width: int,
    decay: float | Fraction | None,
    as_json: bool,
    **rest: Any,
) -> None:
    """Measure where people are in FILE, under differential privacy.

    FILE is CSV, Parquet or JSON, a quoted glob of such files, or postgresql://host/name with --table. Example:

    dpheatmap release trips.parquet --epsilon 1 --user rider --x lon --y lat --bbox=-74.1,40.6,-73.8,40.9 -o map.png
    """
    from dpheatmap.budget import PAPER_DECAY
    from dpheatmap.curator.api import Counts

    domain = domain_from(**taken(rest, PLACE))
    check(design=design, **{n: v for n, v in (("sigma", sigma), ("size", size)) if v is not None})
    check_method(method, design)
    if (file is None) == (counts is None):
        raise click.UsageError("Give a FILE, or the answer of a warehouse by --counts: one of them.")
    budget = budget_from(file or str(counts), **taken(rest, BUDGET))
    batch = batch_from(rest)
    if counts is not None and batch is not None:
        raise ParameterError(
            "--counts are about one place, and --image-column is about several. Leave one of them out."
        )
    files = {"": outputs} if batch is None else files_for(outputs, batch.names)
    for paths in files.values():
        check_outputs(paths)
    looks = looks_for(look_from(rest, outputs), files)
    for name, paths in files.items():
        check_maps(domain, paths, looks[name])
    rest |= budget
    rest |= {"epsilon": epsilon, "design": design, "width": width, "decay": PAPER_DECAY if decay is None else decay}
    seen: list[Counts] = []
    with terminal.progress("Releasing") as tick:
        made = _releases(file, counts, domain, batch, seen=seen.append, progress=tick, **rest)
    terminal.private_reports(seen, private_report)
    written = {
        name: write_outputs(of_image, files[name], looks[name], sigma=sigma, size=size, method=method)
        for name, of_image in made.items()
    }
    first = next(iter(made.values()))
    terminal.say(in_words(batch, made) if batch else first.label["how_strongly"])
    terminal.say(charged(first, **budget))
    answer: dict[str, Any] = {"epsilon": str(read_epsilon(epsilon)), "label": dict(first.label)}
    if batch is None:
        answer["outputs"] = written[""]
    else:
        answer["images"] = {
            name: {"epsilon": str(made[name].epsilon), "outputs": paths} for name, paths in written.items()
        }
    terminal.answer(as_json, answer, "\n".join(path for paths in written.values() for path in paths))


def _releases(
    file: str | None, counts: str | None, domain: Domain, batch: Batch | None, **options: Any
) -> Mapping[str, Release]:
    """The releases of a table's images, or under no name that of a table, or of a warehouse's answer."""
    from dpheatmap.curator.api import release
    from dpheatmap.curator.images import release_images
    from dpheatmap.curator.warehouses import read_counts

    if counts is not None:
        return {"": release(read_counts(counts, domain, **taken(options, ("partition", "part"))), **options)}
    if batch is None:
        return {"": release(file, domain, **options)}
    return release_images(file, domain, image=batch.column, images=batch.names, split=batch.split, **options)


def write_outputs(
    release: Release,
    outputs: tuple[str, ...],
    look: dict[str, Any],
    *,
    sigma: float | None,
    size: int | None,
    method: str,
) -> list[str]:
    """Write the release itself first, so that what was paid for is safe, then its maps, each with its own options."""
    ordered = sorted(outputs, key=lambda output: not output.endswith(RELEASE_SUFFIX))
    heat = None
    for output in ordered:
        if output.endswith(RELEASE_SUFFIX):
            release.save(output)
        else:
            heat = heat or release.heatmap(sigma=sigma, size=size, method=method)
            heat.save(output, **look_for(output, look))
    return ordered
