"""The page of a series: all of its maps on one scale, a slider over them, and a chart of how many people are in each.

Slices have fewer pixels and digits than a single map, so that many of them fit into one file. Ranges and clarity have
no detail finer than the smoothing, so their grids are coarser still.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from dpheatmap.heatmap.series import Series
from dpheatmap.place.domain import Domain, Floats
from dpheatmap.render.content.look import Look
from dpheatmap.render.content.numbers import range_in_words
from dpheatmap.render.content.picture import Picture, on_one_scale
from dpheatmap.render.content.resampling import average
from dpheatmap.render.content.slice_names import SliceNames
from dpheatmap.render.content.words import NINE_IN_TEN, badge_of, counting_in_slices
from dpheatmap.render.formats import html
from dpheatmap.render.web.page import around_heat, between_tags, frame, map_data

_SIDES = (320, 256, 181, 128)  # pixels on the longer side of a slice, the first that fits
_RANGES, _CLARITY = 96, 128  # the same of its ranges and of its clarity, at most
_LEVELS, _COARSE_LEVELS = 2**12 - 1, 2**10 - 1  # of values, to half a percent; of the others, to two
_PAGE, _SLICE = 1_500_000, 38_000  # bytes that a page may have, and may have more for each slice

OF_SLICE = ("takeaway", "values", "low", "high", "clarity", "hatch", "edges", "legend", "nothing", "busiest")
"""What a slice has of its own; everything else is common to all."""


def write(series: Series, path: Path, look: Look, *, tiles: str | None = None) -> None:
    """Write the page; it loads nothing from the network but ``tiles``, if they are given."""
    path.write_text(page(series, look, tiles=tiles), encoding="utf-8", newline="\n")


def refuse(domain: Domain, look: Look, *, tiles: str | None = None) -> None:
    """Refuse what the page of a single map refuses."""
    html.refuse(domain, look, tiles=tiles)


def page(series: Series, look: Look, *, tiles: str | None = None) -> str:
    """The whole page as text."""
    pictures = pictures_of(series, look)
    before, after = frame(pictures[0].words.title, tiles)
    around = around_heat(pictures[0], look, tiles)
    text = ""
    for side in _SIDES:
        text = before + data_of(series, pictures, around, side) + after
        if len(text.encode()) <= limit_of(len(series)):
            break
    return text


def limit_of(slices: int) -> int:
    """The most bytes that the page of so many slices may have.

    >>> limit_of(24), limit_of(168)
    (2412000, 7884000)
    """
    return _PAGE + slices * _SLICE


def pictures_of(series: Series, look: Look) -> list[Picture]:
    """The maps of all slices on one scale, with coarse ranges; if one has rough places, all legends tell of them."""
    found = on_one_scale((series[label] for label in series.labels), [look] * len(series))
    rough = next((picture.words.legend.rough for picture in found if picture.hatch), "")
    return [_coarse(_with_rough(picture, rough) if picture.painted else picture) for picture in found]


def _with_rough(picture: Picture, rough: str) -> Picture:
    return replace(picture, words=replace(picture.words, legend=replace(picture.words.legend, rough=rough)))


def _coarse(picture: Picture) -> Picture:
    """A picture whose ranges and clarity are on coarser grids."""
    ranges = picture.ranges()
    known = None if ranges is None else (_at_most(ranges[0], _RANGES), _at_most(ranges[1], _RANGES))
    clarity = None if picture.clarity is None else _at_most(picture.clarity, _CLARITY)
    return replace(picture, ranges=lambda: known, clarity=clarity)


def data_of(series: Series, pictures: Sequence[Picture], around: dict[str, Any], side: int) -> str:
    """The data of a series as JSON; ``SeriesData`` in web/src/data.ts lists its fields."""
    listed = [map_data(picture.at_most(side), _LEVELS, _COARSE_LEVELS) for picture in pictures]
    common = {name: value for name, value in listed[0].items() if name not in OF_SLICE}
    person = pictures[0].unit.subject.person
    axis, volumes = series.release.axis, series.volumes
    low, high = volumes.interval(0.9)
    slices = [
        {
            "name": name,
            "label": label,
            "volume": _volume(float(volumes.people[k]), float(low[k]), float(high[k])),
            **{part: listed[k][part] for part in OF_SLICE},
        }
        for k, (name, label) in enumerate(zip(series.labels, SliceNames(axis).words, strict=True))
    ]
    whose = f"per {person} for all {len(series)} maps together"
    told = {"heading": "What the slices are", "text": series.release.label["slices"]}
    data = {
        "badge": badge_of(series.release.loss, whose, seeded=series.release.seeded),
        "label": [*common["label"], told],
        "series": {
            "of": "Group" if axis.period is None else "Time" if not axis.groups else "Group and time",
            "words": axis.words,
            "loops": axis.period is not None and axis.period.cyclic and len(axis.groups) < 2,
            "run": len(axis.times),
            "caption": f"People at each step. {counting_in_slices(series.release, person)} {NINE_IN_TEN}.",
            "slices": slices,
        },
    }
    return between_tags(common | around | data)


def _volume(people: float, low: float, high: float) -> dict[str, Any]:
    """How many people are in a slice, with the ends of the range."""
    numbers = {"people": round(people, 2), "low": round(low, 2), "high": round(high, 2)}
    return {**numbers, "words": f"{range_in_words(low, high)} people"}


def _at_most(field: Floats, pixels: int) -> Floats:
    longer = max(field.shape)
    if longer <= pixels:
        return field
    rows, columns = (max(1, round(side * pixels / longer)) for side in field.shape)
    return average(field, rows, columns)
