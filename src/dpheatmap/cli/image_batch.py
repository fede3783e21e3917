"""Options of ``dpheatmap release`` for several images, and the output files of each."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

import click

from dpheatmap._util.parameters import check
from dpheatmap.cli.shared_options import combine_options, pop_choices
from dpheatmap.cli.slice_options import IMAGES, names_from
from dpheatmap.errors import ParameterError
from dpheatmap.releases.label import caution
from dpheatmap.releases.release import Release
from dpheatmap.releases.sliced_release import SlicedRelease

MARK = "{image}"


class Batch(NamedTuple):
    """The column that names images, their public list, and what is split over them: a person's weight, or epsilon."""

    column: str
    names: list[str]
    split: str


image_options = combine_options(
    click.option(
        "--image-column", metavar="COLUMN",
        help=f"One release for each of several images: the column that names an event's. -o needs {MARK}.",
    ),
    click.option("--images", metavar="NAMES", help="The public list of images, separated by commas."),
    click.option("--images-file", metavar="FILE", help="A file with the public list, one name a line."),
)  # fmt: skip
"""--image-column, --images and --images-file; --split is one of the options of slices."""


def batch_from(choices: dict[str, Any]) -> Batch | None:
    """The images that the options name, or None; their options are removed from the others."""
    column, listed, file, split = pop_choices(choices, (*IMAGES, "split")).values()
    if column is None and listed is None and file is None:
        check(split=split)
        if split != "weight":
            raise ParameterError(
                "--split is about slices or images, and there are none. Leave it out, or give --time, --group or "
                "--image-column."
            )
        return None
    if column is None or (listed is None) == (file is None):
        raise ParameterError(
            "Several images need --image-column and the public list, --images or --images-file. "
            "The list is not read off the data: that would tell which images were looked at."
        )
    names = names_from(listed, file, "images")
    check(images=names, split=split)
    return Batch(column, names, split)


def files_for(templates: tuple[str, ...], names: list[str]) -> dict[str, tuple[str, ...]]:
    """The files of each image: the templates with the mark replaced by its name without suffix."""
    for template in templates:
        if MARK not in template:
            raise ParameterError(
                f"An output for several images has {MARK} in its name; it was {template!r}. Put it there."
            )
    if len({_file_stem(name) for name in names}) != len(names):
        raise ParameterError(
            "Two images would be written to one file: their names differ in their folders, endings or signs only. "
            "Rename them."
        )
    return {name: tuple(template.replace(MARK, _file_stem(name)) for template in templates) for name in names}


def looks_for(look: dict[str, Any], names: Iterable[str]) -> dict[str, dict[str, Any]]:
    """The look of the maps of each image: a background may have the mark, too."""
    under = look.get("background")
    if under is None:
        return dict.fromkeys(names, look)
    return {name: look | {"background": under.replace(MARK, _file_stem(name))} for name in names}


def _file_stem(name: str) -> str:
    """An image's name for files: without folder and suffix, and with plain characters only."""
    return re.sub(r"[^\w.-]+", "_", Path(name).stem)


def batch_in_words(batch: Batch, made: Mapping[str, Release | SlicedRelease]) -> str:
    """Describe the release of each image, for people."""
    whole = sum((release.epsilon for release in made.values()), Fraction(0))
    if batch.split == "weight":
        whole = next(iter(made.values())).epsilon
        rule = "with all of epsilon; a person's weight of 1 is shared over all of them"
    else:
        rule = "with a part of epsilon; a person weighs up to 1 on each"
    lines = [f"{len(made)} images, each {rule}:"]
    lines += [f"  {name}: epsilon = {release.epsilon}" for name, release in made.items()]
    unit = next(iter(made.values())).trust.unit
    return "\n".join([*lines, f"All together: epsilon = {whole} per {unit}.", *filter(None, [caution(whole)])])
