"""``dpheatmap release``: from a table of people's positions to a release and its maps."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import click

from dpheatmap._util.files import data_folder
from dpheatmap._util.number_words import digits
from dpheatmap._util.parameters import check
from dpheatmap.cli import terminal
from dpheatmap.cli.coast_hint import hint_at_coast
from dpheatmap.cli.image_batch import Batch, batch_from, batch_in_words, files_for, image_options, looks_for
from dpheatmap.cli.ledger_options import BUDGET, budget_from, budget_options, charge_note, warn_of_other_names
from dpheatmap.cli.loss_options import loss_from, loss_options
from dpheatmap.cli.output_files import MAPS, SERIES, Files
from dpheatmap.cli.series_outputs import check_series, write_series
from dpheatmap.cli.shared_options import (
    PLACE,
    check_maps,
    check_outputs,
    check_place,
    domain_from,
    engine_options,
    json_option,
    look_for,
    look_from,
    map_options,
    people_share_option,
    place_options,
    pop_choices,
    table_options,
)
from dpheatmap.cli.slice_options import SLICES, slice_options, slices_from, slices_in_words
from dpheatmap.design.privacy_loss import ConcentratedLoss
from dpheatmap.design.registry import DESIGNS, check_method
from dpheatmap.errors import DpheatmapError, ParameterError
from dpheatmap.heatmap.heatmap import Heatmap
from dpheatmap.place.domain import Domain
from dpheatmap.place.region import Region
from dpheatmap.releases.release import Release
from dpheatmap.releases.sliced_release import SlicedRelease
from dpheatmap.render import RELEASE_SUFFIX, is_release


@click.command("release")
@click.argument("file", required=False)
@loss_options
@table_options
@place_options
@slice_options
@image_options
@map_options
@budget_options
@click.option(
    "--series", type=int, metavar="N", help="The ledger's entry that reserved this release; see ledger reserve."
)
@click.option("--private-report", metavar="FILE", help="Write exact numbers (rows, people, left out) to this file.")
@click.option("--design", default="ladder", show_default=True, help=f"What is measured: {', '.join(DESIGNS)}.")
@click.option(
    "--users", type=int, help="The number of people, only if it is public: the dense design's grid follows it."
)
@click.option(
    "--width", type=int, default=20, show_default=True, help="Cells kept at each level by the paper's design."
)
@click.option("--decay", type=float, help="How fast the levels' parts of epsilon fall; the paper's 1/sqrt(2).")
@people_share_option
@engine_options
@click.option(
    "--counts", metavar="FILE", help="A warehouse's answer to dpheatmap sql, instead of FILE and its columns."
)
@click.option("--memory", type=int, metavar="MB", help="Memory of the aggregation; the rest goes to disk.")
@json_option
def command(
    file: str | None,
    outputs: tuple[str, ...],
    sigma: float | None,
    size: int | None,
    method: str,
    values: str,
    private_report: str | None,
    counts: str | None,
    design: str,
    width: int,
    decay: float | Fraction | None,
    as_json: bool,
    **rest: Any,
) -> None:
    """Measure where people are in FILE, under differential privacy.

    FILE is CSV, Parquet, JSON, Excel, SQLite, GeoPackage, GeoJSON, a shapefile, FlatGeobuf, GPX or zipped CSV, a folder
    or quoted glob of these, or postgresql://host/name with --table. Example:

    \b
    dpheatmap release trips.parquet --epsilon 1 --user rider --x lon --y lat --bbox=-74.1,40.6,-73.8,40.9 \\
      -o trips.dph.parquet -o map.html

    With --time or --group it is one release of several slices, each with a map of its own, and FILE is read once.
    """
    from dpheatmap.curator import RowReport
    from dpheatmap.design.shares import PAPER_DECAY

    inside = rest["inside"]
    loss = loss_from(rest)
    domain = domain_from(**pop_choices(rest, PLACE))
    check(design=design, values=values, **{n: v for n, v in (("sigma", sigma), ("size", size)) if v is not None})
    check_method(method, design)
    if (file is None) == (counts is None):
        raise click.UsageError("Give a FILE, or the answer of a warehouse by --counts: one of them.")
    inputs = (file, counts, inside, rest["ledger"], rest["images_file"], rest["groups_file"])
    budget = budget_from(file or str(counts), **pop_choices(rest, BUDGET))
    slices = slices_from(rest)
    batch = batch_from(rest) if slices is None else None
    if isinstance(loss, ConcentratedLoss) and (slices or batch) is not None:
        raise ParameterError(
            "Slices and images have Laplace noise and an epsilon. Leave --noise, --rho and --delta out."
        )
    if counts is not None and batch is not None:
        raise ParameterError("--counts are about one release, and --image-column is about several. Name it by --group.")
    kind = MAPS if slices is None else SERIES
    files = {"": outputs} if batch is None else files_for(outputs, batch.names)
    _check_files(files, kind, inputs, rest["background"], private_report)
    look = look_from(rest, outputs, kind)
    if slices is not None:
        check_series(outputs, method=method, values=values)
    looks = looks_for(look, files)
    for name, paths in files.items():
        check_maps(domain, paths, looks[name], kind)
    _tell_place(domain)
    warn_of_other_names(file or str(counts), **budget)
    rest |= budget
    rest |= {"design": design, "width": width, "decay": PAPER_DECAY if decay is None else decay}
    seen: list[RowReport] = []
    with terminal.progress("Releasing") as tick:
        made = _releases(file, counts, domain, batch, seen=seen.append, progress=tick, **rest, **(slices or {}))
    with terminal.progress("Drawing") as tick:
        written = write_all(made, files, looks, tick=tick, sigma=sigma, size=size, method=method, values=values)
    terminal.tell_private_reports(seen, private_report)
    first = next(iter(made.values()))
    terminal.say(_in_words(batch, made))
    terminal.say(charge_note(first, **budget))
    if not any(map(is_release, outputs)):
        terminal.say(
            f"The release itself was not saved, so another map would cost again. Keep it by -o NAME{RELEASE_SUFFIX}."
        )
    hint_at_coast(domain, outputs, look, kind)
    of_images = {name: {"epsilon": str(made[name].epsilon), "outputs": paths} for name, paths in written.items()}
    told = {
        "epsilon": str(loss.epsilon),
        **({"delta": str(loss.delta), "rho": str(loss.rho)} if isinstance(loss, ConcentratedLoss) else {}),
        "label": dict(first.label),
        **({"slices": list(first.slices), "split": first.split} if isinstance(first, SlicedRelease) else {}),
        **({"images": of_images} if batch else {"outputs": written[""]}),
    }
    terminal.answer(as_json, told, "\n".join(path for paths in written.values() for path in paths))


def _in_words(batch: Batch | None, made: Mapping[str, Release | SlicedRelease]) -> str:
    """Describe what was released and what it cost, for people."""
    if batch is not None:
        return batch_in_words(batch, made)
    (one,) = made.values()
    told = [slices_in_words(one)] if isinstance(one, SlicedRelease) else []
    return "\n".join([one.label["how_strongly"], *told])


def _tell_place(domain: Domain) -> None:
    """Say where the place is, by its nearest town, before anything is paid; from the place alone."""
    if not domain.geographic:
        return
    from dpheatmap.app.place_in_words import describe

    found = describe(domain.bounds)
    words = found["words"]
    if isinstance(domain.place, Region):
        area = digits(domain.place.enclosed / 1e6, 2)
        words = f"The boundary encloses {area} km²; {words.replace('The box', 'the box around it', 1)}"
    for sentence in (words, *found["warnings"]):
        terminal.say(sentence)


def _check_files(
    files: Mapping[str, tuple[str, ...]],
    kind: Files,
    inputs: tuple[str | None, ...],
    background: str | None,
    private_report: str | None,
) -> None:
    """Refuse outputs and a private report that can't be written, or would overwrite an input."""
    under = looks_for({"background": background}, files)
    for name, paths in files.items():
        read = (*inputs, under[name]["background"])
        check_outputs(paths, (RELEASE_SUFFIX, *kind.formats), read=read)
        if private_report is not None:
            check_place(private_report, read=(*read, *paths))


def _releases(
    file: str | None, counts: str | None, domain: Domain, batch: Batch | None, **options: Any
) -> Mapping[str, Release | SlicedRelease]:
    """Make the releases of a table's images by name; or, under an empty name, that of a table or of counts."""
    from dpheatmap.curator import read_counts, release, release_images

    if counts is not None:
        asked = {name: options.pop(name) for name in ("partition", "part", *SLICES) if name in options}
        made = release(read_counts(counts, domain, **asked), **options)
        if options.get("ledger") is not None:
            options["ledger"].note_files(options["population"], options["ledger"].marks_of(counts))
        return {"": made}
    if batch is None:
        return {"": release(file, domain, **options)}
    pop_choices(options, ("noise", "rho", "delta"))
    if options.pop("series") is not None:
        raise ParameterError("A series that was reserved is one of single maps. Leave --series or --image-column out.")
    return release_images(file, domain, image=batch.column, images=batch.names, split=batch.split, **options)


def write_all(
    made: Mapping[str, Release | SlicedRelease],
    files: Mapping[str, Sequence[str]],
    looks: Mapping[str, dict[str, Any]],
    **settings: Any,
) -> dict[str, list[str]]:
    """Write the files of each release: all releases first, because they were paid for, then their maps.

    If it is stopped, by a full disk or Ctrl-C, each release is saved somewhere, and a message says where.
    """
    written: dict[str, list[str]] = {}
    try:
        for name, release in made.items():
            written[name] = save_release(release, files[name])
        for name, release in made.items():
            written[name] += write_maps(release, files[name], looks[name], **settings)
    except BaseException:
        safe = [(written.get(name) or _rescue(release, files[name][0]))[0] for name, release in made.items()]
        terminal.say(f"What the budget bought is kept, and dpheatmap export draws it: {', '.join(safe)}")
        raise
    return written


def _rescue(release: Release | SlicedRelease, output: str) -> list[str]:
    """Save a release without an output of its own: beside its map, else in the data folder."""
    name = f"{Path(output).stem}-{secrets.token_hex(4)}{RELEASE_SUFFIX}"
    path = Path(output).with_name(name)
    try:
        release.save(path)
    except DpheatmapError:
        path = data_folder() / name
        path.parent.mkdir(parents=True, exist_ok=True)
        release.save(path)
    return [str(path)]


def write_outputs(
    release: Release | SlicedRelease, outputs: Sequence[str], look: dict[str, Any], **settings: Any
) -> list[str]:
    """Write the files of one release; returns them in the order of writing."""
    written = [*save_release(release, outputs), *write_maps(release, outputs, look, **settings)]
    hint_at_coast(release.domain, outputs, look, SERIES if isinstance(release, SlicedRelease) else MAPS)
    return written


def save_release(release: Release | SlicedRelease, outputs: Sequence[str]) -> list[str]:
    """Write the outputs that are the release itself."""
    wanted = [output for output in outputs if is_release(output)]
    for output in wanted:
        release.save(output)
    return wanted


def write_maps(
    release: Release | SlicedRelease,
    outputs: Sequence[str],
    look: dict[str, Any],
    *,
    values: str = "share",
    tick: terminal.Bar | None = None,
    **settings: Any,
) -> list[str]:
    """Write the outputs that are maps, each with the options that it takes."""
    wanted = [output for output in outputs if not is_release(output)]
    if isinstance(release, SlicedRelease):
        chosen = {name: settings[name] for name in ("sigma", "size")}
        write_series(release, wanted, look | {"values": values}, progress=tick and tick.at_slice, **chosen)
    elif wanted:
        save_maps(release.heatmap(**settings), wanted, look, values=values)
    return wanted


def save_maps(heat: Heatmap, outputs: Sequence[str], look: dict[str, Any], *, values: str) -> list[str]:
    """Write one map to each output, with the options that it takes."""
    for output in outputs:
        heat.save(output, values=values, **look_for(output, look))
    return list(outputs)
