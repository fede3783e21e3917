"""A series as it is shown on every medium: maps on one scale, the words around all of them, and the volumes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from dpheatmap._util.number_words import plain
from dpheatmap.heatmap.smoothing import parts_inside
from dpheatmap.render.content.clarity import TOLD
from dpheatmap.render.content.look import Look
from dpheatmap.render.content.picture import Picture, on_one_scale
from dpheatmap.render.content.resampling import resize
from dpheatmap.render.content.slice_names import SliceNames
from dpheatmap.render.content.slice_volumes import SliceVolumes
from dpheatmap.render.content.subject import subject_of
from dpheatmap.render.content.words import NO_SIGNAL, ROUGH, LegendWords, badge_of, counting_in_slices, sentence

if TYPE_CHECKING:
    from dpheatmap.heatmap.series import Series

NOTHING = "nothing stands out"
"""What a map says that shows nothing."""

_NAMED = 3  # slices in which nothing stands out are named, if they are not more


@dataclass(frozen=True, eq=False)
class SeriesPicture:
    """The maps of the slices with these ``numbers``; ``whole`` has the words around all of them, and their scale."""

    whole: Picture
    pictures: list[Picture]
    numbers: list[int]
    names: SliceNames
    volumes: SliceVolumes


def picture_of_series(series: Series, look: Look, most: int) -> SeriesPicture:
    """A series as it is shown, by at most so many of its maps."""
    names = SliceNames(series.release.axis)
    numbers = names.choice(most)
    heats = (series[series.labels[number]] for number in numbers)
    pictures = on_one_scale(heats, [look] * len(numbers))
    subject = subject_of(series.domain, look.background, series.release.trust.unit)
    # With epsilon split, somebody counts up to once in every slice: the numbers do not add up to people.
    quantity = "people" if series.release.split == "epsilon" else series.quantity
    volumes = SliceVolumes(series.volumes, names, _plural(subject.person), quantity)
    told = [picture for picture in pictures if picture.painted]
    whole = max(told or pictures, key=lambda picture: float(picture.values.max()))
    words = replace(
        whole.words,
        subtitle=look.subtitle or _capital(series.release.axis.words),
        takeaway=_takeaway(volumes, numbers, pictures),
        badge=badge_of(
            series.release.loss, f"per {subject.person}{_together(len(series))}", seeded=series.release.seeded
        ),
        facts=(*_facts(series, subject.person, look, len(numbers)), *whole.words.facts[1:]),
        legend=_legend(whole.words.legend, told),
    )
    return SeriesPicture(replace(whole, words=words), pictures, numbers, names, volumes)


def words_on(picture: Picture) -> str:
    """What stands on a map of a series that has no colour: that nothing stands out, or that all of it is faint."""
    if not picture.painted:
        return NOTHING
    rows, columns = picture.values.shape
    shown = np.abs(picture.values) >= picture.edges[0]
    if picture.clarity is not None:
        shown &= resize(picture.clarity, columns, rows) >= TOLD
    shown &= parts_inside(picture.domain, (rows, columns)) > 0.0
    return "" if shown.any() else f"all under {plain(picture.edges[0])}"


def _together(many: int) -> str:
    return "" if many == 1 else " for both together" if many == 2 else f" for all {many} together"


def _legend(legend: LegendWords, told: list[Picture]) -> LegendWords:
    """The legend of all maps: it explains what is rough if any map has that."""
    rough = ROUGH if any(picture.hatch for picture in told) else ""
    one = "One scale for all maps" if told else ""
    return replace(legend, rough=rough, notes=(*legend.notes, *([one] if one else [])))


def _takeaway(volumes: SliceVolumes, numbers: list[int], pictures: list[Picture]) -> str:
    bare = [number for number, picture in zip(numbers, pictures, strict=True) if not picture.painted]
    if len(bare) == len(numbers):
        return f"{NO_SIGNAL} {volumes.takeaway}"
    if not bare:
        return volumes.takeaway
    names = volumes.names
    where = f"in {len(bare)} of {len(numbers)} {names.kind}"
    if len(bare) <= _NAMED:
        where = " and ".join(names.phrases[number] for number in bare)
    return f"{volumes.takeaway} No place stands out {where}."


def _facts(series: Series, person: str, look: Look, shown: int) -> tuple[str, ...]:
    """How people count in slices, what each map shows, and which slices are shown."""
    counting = counting_in_slices(series.release, person)
    of = "" if series.quantity == "people" else f"Each map shows the shares of the {_plural(person)} in its own slice."
    chosen = f"{shown} of {len(series)} slices are shown, evenly spaced." if shown < len(series) else ""
    slices = sentence(f"slices {series.release.axis.words}") if look.subtitle else ""
    return tuple(fact for fact in (counting, of, chosen, slices) if fact)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _plural(person: str) -> str:
    return "people" if person == "person" else f"{person}s"
