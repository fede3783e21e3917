"""Options of ``dpheatmap release`` and ``dpheatmap sql`` for slices of time and groups, and what is said about them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from dpheatmap.cli.shared_options import combine_options, pop_choices
from dpheatmap.errors import ParameterError
from dpheatmap.releases.label import caution
from dpheatmap.releases.sliced_release import SlicedRelease
from dpheatmap.slicing.period import EVERY

SLICES = ("time", "every", "time_zone", "start", "end", "group", "groups", "groups_file")
IMAGES = ("image_column", "images", "images_file")
_TIMES = f"{', '.join(EVERY)}, or such as '3 hours'"

range_options = combine_options(
    click.option("--every", metavar="SLICE", help=f"What a slice of time is: {_TIMES}."),
    click.option(
        "--from", "start", metavar="TIME", help="The first day or time of the public range, on the zone's clocks."
    ),
    click.option("--to", "end", metavar="TIME", help="The last day of it, included; or the time at which it ends."),
)
"""--every, --from and --to."""

axis_options = combine_options(
    click.option(
        "--time", metavar="COLUMN", help="One release of several slices of time: the column with an event's time."
    ),
    range_options,
    click.option(
        "--time-zone", metavar="ZONE",
        help="Whose clocks tell the hour and the day, such as Europe/Zurich. Dates alone need none.",
    ),
    click.option("--group", metavar="COLUMN", help="One release of several groups: the column that names an event's."),
    click.option("--groups", metavar="NAMES", help="The public list of groups, separated by commas."),
    click.option("--groups-file", metavar="FILE", help="A file with the public list, one name a line."),
)  # fmt: skip
"""--time, --every, --from, --to, --time-zone, --group, --groups and --groups-file."""

slice_options = combine_options(
    axis_options,
    click.option(
        "--split", default="weight", show_default=True,
        help="Over slices or images: weight (a person weighs 1 in all together, which cost epsilon once) or epsilon (a "
        "person weighs 1 in each, which has an equal part of it).",
    ),
)  # fmt: skip
"""The options of the axis, and --split."""


def slices_from(choices: dict[str, Any]) -> dict[str, Any] | None:
    """The options of `release` for slices, or None without slices; they are removed from the others."""
    given = axis_from(choices)
    if given is None:
        return None
    for name, value in pop_choices(choices, IMAGES).items():
        if value is not None:
            raise ParameterError(
                f"--{name.replace('_', '-')} makes a release for each image, and slices are in one release. Name the "
                "images' column by --group, or leave slices out."
            )
    return {**given, "split": choices.pop("split")}


def axis_from(choices: dict[str, Any]) -> dict[str, Any] | None:
    """The options of an axis, or None without slices; they are removed from the others."""
    given = pop_choices(choices, SLICES)
    if all(value is None for value in given.values()):
        return None
    file = given.pop("groups_file")
    listed = given["groups"]
    if listed is not None or file is not None:
        given["groups"] = names_from(listed, file, "groups")
    return given


def names_from(listed: str | None, file: str | None, what: str) -> list[str]:
    """The names of a public list, given with commas or in a file."""
    if listed is not None and file is not None:
        raise ParameterError(f"--{what} and --{what}-file both give the list of {what}. Keep one of them.")
    if file is None:
        return [name for name in (listed or "").split(",") if name]
    if not Path(file).is_file():
        raise ParameterError(f"There is no list of {what} {file!r}. Check the path.")
    return [line for line in Path(file).read_text(encoding="utf-8").splitlines() if line]


def slices_in_words(release: SlicedRelease) -> str:
    """Describe all slices, how they were measured and what they cost, from public facts alone."""
    many, whole, period = len(release.slices), release.epsilon, release.axis.period
    lines = [release.label["slices"]]
    if release.split == "epsilon":
        lines.append(
            f"Each slice has epsilon = {whole / many}, so its noise is {many} times that of a release of its own."
        )
    together = f"All {many} slices together" if many > 1 else "The slice"
    lines.append(f"{together}: epsilon = {whole} per {release.trust.unit}.")
    return "\n".join([*lines, *(period.clock_changes if period else ()), *filter(None, [caution(whole)])])
