"""``dpheatmap export``: maps from a release that was saved earlier."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any, NamedTuple

import click

from dpheatmap._util.parameters import check
from dpheatmap.cli.coast_hint import hint_at_coast
from dpheatmap.cli.output_files import MAPS, SERIES
from dpheatmap.cli.release_command import save_maps, write_outputs
from dpheatmap.cli.series_outputs import check_series, check_slice, map_from
from dpheatmap.cli.shared_options import check_place, check_suffixes, json_option, look_from, map_options
from dpheatmap.cli.terminal import answer, progress
from dpheatmap.errors import ParameterError
from dpheatmap.heatmap.differences import Difference, difference
from dpheatmap.releases.release import Release, load
from dpheatmap.releases.sliced_release import SlicedRelease
from dpheatmap.render import RELEASE_SUFFIX, refuse_release
from dpheatmap.render.figure.change import FORMATS as CHANGES


class Maps(NamedTuple):
    """What is drawn: a release, or a slice of it; minus an earlier one, or another slice."""

    release: str
    slice: str | None
    minus: str | None
    minus_slice: str | None

    @property
    def changed(self) -> bool:
        """Whether it is what changed."""
        return self.minus is not None or self.minus_slice is not None


@click.command("export")
@click.argument("release")
@map_options
@click.option("--slice", "slice_", metavar="NAME", help="Map one slice of a release of several, such as 8 or 'mon 8'.")
@click.option("--minus", metavar="RELEASE", help="Map what changed since this earlier release of the same place.")
@click.option(
    "--minus-slice", metavar="NAME", help="Map what changed since this slice: of RELEASE itself, or of that of --minus."
)
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
    slice_: str | None,
    minus: str | None,
    minus_slice: str | None,
    names: tuple[str, str] | None,
    prior: str | None,
    as_json: bool,
    **choices: Any,
) -> None:
    """Make maps from RELEASE, a .dph.parquet file. It costs no budget: make as many as you like.

    A release of several slices becomes a series of maps; --slice takes one map of it. Example:

    \b
    dpheatmap export trips.dph.parquet -o map.png -o map.tif --sigma 300
    """
    check(values=values)
    wanted = Maps(release, slice_, minus, minus_slice)
    settings: dict[str, Any] = {"sigma": sigma, "size": size, "method": method}
    for output in outputs:
        check_place(output, read=(release, minus, prior, choices["background"]))
    if wanted.changed:
        _check_change(outputs, values, prior, choices["crs"])
    elif names is not None:
        raise ParameterError("--names goes with --minus: it names two maps. Leave it out.")
    made = load(release)
    series = isinstance(made, SlicedRelease) and slice_ is None and not wanted.changed
    if series:
        check_series(outputs, method=method, values=values, prior=prior)
    elif wanted != Maps(release, None, minus, None) or isinstance(made, SlicedRelease):
        _check_slices(made, wanted, outputs, method=method, prior=prior)
    look = _look(choices, outputs, series, wanted.changed)
    with progress("Drawing") as tick:
        if wanted.changed:
            written = write_difference(made, wanted, outputs, look, names=names, **settings)
        elif slice_ is not None:
            written = save_maps(map_from(made, slice_, **settings), outputs, look, values=values)
            hint_at_coast(made.domain, outputs, look)
        else:
            written = write_outputs(made, outputs, look, tick=tick, prior=prior, values=values, **settings)
    answer(as_json, {"outputs": written}, "\n".join(written))


def _check_change(outputs: tuple[str, ...], values: str, prior: str | None, crs: str | None) -> None:
    """Refuse what a map of what changed does not take."""
    check_suffixes(outputs, CHANGES)
    for output in outputs:
        refuse_release(output)
    if values != "share":
        raise ParameterError("A map of what changed is one of shares. Leave --values out.")
    if prior is not None:
        raise ParameterError("A map of what changed does not take --prior. Leave it out.")
    if crs is not None:
        raise ParameterError(f"A .tif of what changed is in EPSG:3857 alone; --crs was {crs!r}. Leave it out.")


def _check_slices(
    made: Release | SlicedRelease, wanted: Maps, outputs: tuple[str, ...], *, method: str, prior: str | None
) -> None:
    """Refuse slices that are not there, and what a map of one slice does not take."""
    check_slice(made, wanted.release, wanted.slice)
    check_series((), method=method, values="share", prior=prior)
    for output in outputs:
        refuse_release(output)
    if wanted.minus is None and wanted.minus_slice is not None:
        check_slice(made, wanted.release, wanted.minus_slice)


def _look(choices: dict[str, Any], outputs: tuple[str, ...], series: bool, changed: bool) -> dict[str, Any]:
    """The look of the maps, after checking that the outputs are files of their kind."""
    files, crs = SERIES if series else MAPS, choices.pop("crs")
    if not changed:
        check_suffixes(outputs, (RELEASE_SUFFIX, *files.formats))
    look = look_from(choices, outputs, files)
    if crs is None:
        return look
    if series or not any(output.lower().endswith(".tif") for output in outputs):
        raise ParameterError("--crs is for a .tif of a map. Leave it out; --help tells what it is for.")
    return look | {"crs": crs}


def write_difference(
    made: Release | SlicedRelease,
    wanted: Maps,
    outputs: tuple[str, ...],
    look: dict[str, Any],
    *,
    names: tuple[str, str] | None,
    **settings: Any,
) -> list[str]:
    """Write the maps of the difference between two releases, or between two slices."""
    for name in sorted(look.keys() - {"title", "subtitle", "source", "colours", "background", "basemap", "tiles"}):
        raise ParameterError(f"A map of what changed does not take --{name}. Leave it out.")
    change = _difference(made, wanted, names, **settings)
    for output in outputs:
        page = output.lower().endswith(".html")
        change.save(output, **{name: value for name, value in look.items() if page or name != "tiles"})
    hint_at_coast(change.domain, outputs, look)
    return list(outputs)


def _difference(
    made: Release | SlicedRelease, wanted: Maps, names: tuple[str, str] | None, *, method: str, **settings: Any
) -> Difference:
    """The difference between two releases, or between two slices; slices of one release have errors in common."""
    if wanted.minus is None:
        assert isinstance(made, SlicedRelease)
        assert wanted.slice is not None
        assert wanted.minus_slice is not None
        change = made.heatmap(**settings).difference(wanted.minus_slice, wanted.slice)
        return change if names is None else replace(change, given_names=names)
    before = load(wanted.minus)
    if isinstance(made, Release) and isinstance(before, Release):
        return difference(made, before, names=names, method=method, **settings)
    if os.path.realpath(wanted.release) == os.path.realpath(wanted.minus):
        raise ParameterError("--minus names RELEASE itself. Leave it out: --minus-slice names another slice of it.")
    other = (wanted.minus_slice or wanted.slice) if isinstance(before, SlicedRelease) else wanted.minus_slice
    check_slice(before, wanted.minus, other)
    maps = (map_from(one, label, method=method, **settings) for one, label in ((made, wanted.slice), (before, other)))
    return difference(*maps, names=names)
